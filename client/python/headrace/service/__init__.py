"""Runs input pipelines on the workers of a service. The module is also ``headrace.experimental.service``.

A service has one dispatcher, and workers on hosts with free cores. A trainer reads from it with ``distribute``:

>>> import headrace as hr
>>> dispatcher = hr.service.DispatchServer()
>>> worker = hr.service.WorkerServer(
...     hr.service.WorkerConfig(dispatcher_address=dispatcher.target.split("://")[1]))
>>> ds = hr.Dataset.range(5).map(lambda x: x * x)
>>> ds = ds.apply(hr.service.distribute(processing_mode=hr.service.ShardingPolicy.DYNAMIC,
...                                     service=dispatcher.target))
>>> sorted(x.item() for x in ds)
[0, 1, 4, 9, 16]
>>> worker.stop()
>>> dispatcher.stop()
"""

from .configs import DispatcherConfig, WorkerConfig
from .distributing import distribute, from_dataset_id, register_dataset
from .policies import SHARD_HINT, CrossTrainerCache, ShardingPolicy
from .securing import Session, secure
from .servers import DispatchServer, WorkerServer, drain_worker, status

COMPRESSION_AUTO = "AUTO"
COMPRESSION_NONE = None

__all__ = [
    "COMPRESSION_AUTO", "COMPRESSION_NONE", "CrossTrainerCache", "DispatchServer", "DispatcherConfig", "SHARD_HINT",
    "Session", "ShardingPolicy", "WorkerConfig", "WorkerServer", "distribute", "drain_worker", "from_dataset_id",
    "register_dataset", "secure", "status",
]
