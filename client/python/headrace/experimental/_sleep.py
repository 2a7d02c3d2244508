"""A pause before every element."""

from __future__ import annotations

from collections.abc import Callable

from .. import _core
from .._dataset import Dataset
from .._dataset.arguments import Int
from .._tensors.values import count_of


def sleep(micros: Int) -> Callable[[Dataset], Dataset]:
    """For ``Dataset.apply``: pauses before every element, in the process that runs the pipeline, to simulate a slow
    pipeline.

    ``micros``: microseconds; in a function that gives a dataset also a scalar tensor.

    Raises ``InvalidArgumentError`` for less than 0 and for more than a day.

    >>> list(Dataset.range(2).apply(sleep(100)))
    [np.int64(0), np.int64(1)]
    """
    pause = count_of(micros, "micros")

    def apply(dataset: Dataset) -> Dataset:
        if not isinstance(dataset, Dataset):
            raise TypeError(f"sleep: the input must be a Dataset, not {type(dataset).__name__}")
        return dataset._with(_core.sleep(dataset._graph, pause))

    return apply
