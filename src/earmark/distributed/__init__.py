"""Documents in parts: bigger than memory on one machine, or on a cluster.

``fit`` learns from a directory of files, ``predict`` labels one; both run in this
process, on Dask or on Spark, by the same code and to the same result.
"""

from earmark.distributed.fitting import fit
from earmark.distributed.local import LocalExecutor, Progress

__all__ = ["LocalExecutor", "Progress", "fit"]
