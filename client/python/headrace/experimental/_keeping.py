"""Functions that write elements to files and read them again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._dataset import Dataset


def snapshot(path: Any, compression: Any = "AUTO", reader_func: Any = None,
             shard_func: Any = None) -> Callable[[Dataset], Dataset]:
    """``Dataset.snapshot`` as a transformation, for ``Dataset.apply``.

    >>> list(Dataset.range(2).apply(snapshot(f"{folder}/snapshots")))
    [np.int64(0), np.int64(1)]
    """
    return lambda dataset: dataset.snapshot(path, compression, reader_func, shard_func)


def save(dataset: Dataset, path: Any, compression: Any = None, shard_func: Any = None,
         checkpoint_args: Any = None) -> None:
    """``Dataset.save``.

    >>> save(Dataset.range(2), f"{folder}/saved")
    """
    dataset.save(path, compression, shard_func, checkpoint_args)


def load(path: Any, element_spec: Any = None, compression: Any = None, reader_func: Any = None) -> Dataset:
    """``Dataset.load``.

    >>> save(Dataset.range(2), f"{folder}/saved")
    >>> list(load(f"{folder}/saved"))
    [np.int64(0), np.int64(1)]
    """
    return Dataset.load(path, element_spec, compression, reader_func)
