"""Documents in parts: bigger than memory on one machine, or on a cluster.

``fit`` learns from a directory of files, ``predict`` labels one; both run in this
process or on Dask, by the same code and to the same result.
"""

from earmark.distributed.executor import DaskExecutor as DaskExecutor
from earmark.distributed.fitting import fit, predict
from earmark.distributed.local import LocalExecutor as LocalExecutor
from earmark.distributed.local import Progress
from earmark.distributed.predicting import PredictReport as PredictReport

__all__ = ["Progress", "fit", "predict"]
