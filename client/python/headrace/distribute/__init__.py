"""The input side of tf.distribute: it divides the input among replicas and processes. It trains nothing.

>>> strategy = hr.distribute.LocalStrategy(2)
>>> for x in strategy.experimental_distribute_dataset(Dataset.range(8).batch(4)):
...     print([part.tolist() for part in strategy.experimental_local_results(x)])
[[0, 1], [2, 3]]
[[4, 5], [6, 7]]
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from .._missing import names_of as _names_of
from . import cluster_resolver
from .context import InputContext, InputOptions, InputReplicationMode
from .datasets import DistributedDataset, DistributedIterator
from .strategy import LocalStrategy, ProcessStrategy, Strategy, ValueContext
from .values import DistributedValues

if not _TYPE_CHECKING:
    __getattr__ = _names_of("distribute")

__all__ = [
    "DistributedDataset", "DistributedIterator", "DistributedValues", "InputContext", "InputOptions",
    "InputReplicationMode", "LocalStrategy", "ProcessStrategy", "Strategy", "ValueContext", "cluster_resolver",
]
