"""Documents in parts: bigger than memory on one machine, or on a cluster.

``fit`` learns from a directory of files, ``predict`` labels one; both run in this
process or on Dask, by the same code and to the same result.
"""

from earmark.distributed.fitting import fit, predict

__all__ = ["fit", "predict"]
