"""Datasets whose elements have a part for each replica of a process."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .. import _core, _options
from .._dataset import Dataset
from .._epochs import mixed
from .._functions.ragged import RaggedTensor, RaggedTensorSpec
from .._tensors.labels import with_parts
from ..errors import OpError, OutOfRangeError
from .values import per_replica

#: Moves the leaves of one replica's element to the replica's device.
Mover = Callable[[Any], Any]


#: Stands for the missing element of a dataset that has ended.
_NOTHING = object()


class DistributedDataset:
    """The result of ``experimental_distribute_dataset`` and ``distribute_datasets_from_function``: it can be iterated
    over, and has an ``element_spec``. Each element has a part for each replica of this process.

    An iteration ends when the dataset of this process ends. In the last step, a replica for which no batch is left
    gets a batch without rows.

    >>> numbers = hr.distribute.LocalStrategy(2).experimental_distribute_dataset(Dataset.range(3).batch(2))
    >>> for x in numbers:
    ...     print([v.tolist() for v in x.values])
    [[0], [1]]
    [[2], []]
    """

    def __init__(self, datasets: Sequence[Dataset], movers: Sequence[Mover], ahead: int, seed: int | None) -> None:
        self._datasets = tuple(datasets)
        self._movers = tuple(movers)
        self._ahead = ahead
        self._seed = seed
        self._epoch = 0

    @property
    def element_spec(self) -> Any:
        """The spec of an element: the spec of a replica's part if there is one replica, else ``DistributedValues``
        that contain this spec once for each replica.

        >>> hr.distribute.LocalStrategy(1).experimental_distribute_dataset(Dataset.range(3).batch(2)).element_spec
        TensorSpec(shape=(None,), dtype=headrace.int64, name=None)
        """
        return per_replica([self._datasets[0].element_spec] * len(self._movers))

    def __iter__(self) -> DistributedIterator:
        epoch, self._epoch = self._epoch, self._epoch + 1
        seed = None if self._seed is None else mixed(self._seed, epoch)
        reads = [iter(ds) if seed is None else _core.give_string_values(
            ds._graph.read_as(seed, epoch, _options.measured(ds._given_options))) for ds in self._datasets]
        return DistributedIterator(self, reads)


class DistributedIterator:
    """One iteration over a ``DistributedDataset``.

    >>> it = iter(hr.distribute.LocalStrategy(2).experimental_distribute_dataset(Dataset.range(4).batch(4)))
    >>> it.get_next().values
    (array([0, 1]), array([2, 3]))
    """

    def __init__(self, dataset: DistributedDataset, reads: Sequence[Iterator[Any]]) -> None:
        self._dataset = dataset
        self._reads = tuple(reads)
        self._ready: collections.deque[Any] = collections.deque()  # steps, or the error in place of a step
        self._parts: list[Any] = []  # the elements that were read for the next step
        self._over = False

    @property
    def element_spec(self) -> Any:
        """The spec of the dataset's elements.

        >>> iter(hr.distribute.LocalStrategy(1).experimental_distribute_dataset(Dataset.range(3))).element_spec
        TensorSpec(shape=(), dtype=headrace.int64, name=None)
        """
        return self._dataset.element_spec

    def __iter__(self) -> DistributedIterator:
        return self

    def __next__(self) -> Any:
        while len(self._ready) <= self._dataset._ahead and not self._over:
            self._fetch()
        if not self._ready:
            raise StopIteration
        step = self._ready.popleft()
        if isinstance(step, OpError):
            raise step
        return per_replica(step)

    def get_next_as_optional(self) -> Any:
        """The next element as an ``Optional``, which has no value at the end.

        >>> it = iter(hr.distribute.LocalStrategy(1).experimental_distribute_dataset(Dataset.range(1)))
        >>> [it.get_next_as_optional().has_value() for _ in range(2)]
        [True, False]
        """
        from .._optional import Optional

        nothing = object()
        value = next(self, nothing)
        return Optional.empty(self.element_spec) if value is nothing else Optional._made(self.element_spec, True, value)

    def get_next(self) -> Any:
        """The next element. Raises ``OutOfRangeError`` at the end.

        >>> it = iter(hr.distribute.LocalStrategy(1).experimental_distribute_dataset(Dataset.range(1)))
        >>> it.get_next()
        np.int64(0)
        >>> it.get_next()
        Traceback (most recent call last):
        headrace.errors.OutOfRangeError: the distributed dataset is over
        """
        try:
            return next(self)
        except StopIteration:
            raise OutOfRangeError("the distributed dataset is over") from None

    def _fetch(self) -> None:
        """Reads one more step, and moves it to the devices."""
        # If an element fails, its error takes the place of one step. The elements that were read before it for this
        # step are kept in `_parts`, and the next call adds the following elements to them.
        parts = self._parts
        while len(parts) < len(self._dataset._movers):
            try:
                parts.append(next(self._reads[len(parts) % len(self._reads)], _NOTHING))
            except OpError as e:
                self._ready.append(e)
                return
        self._parts = []
        if all(x is _NOTHING for x in parts):
            self._over = True
            return
        spec = self._dataset._datasets[0].element_spec
        parts = [_no_rows(spec) if x is _NOTHING else x for x in parts]
        self._ready.append([move(x) for move, x in zip(self._dataset._movers, parts)])


def _no_rows(spec: Any) -> Any:
    """A batch without rows for elements of this spec."""
    if isinstance(spec, (tuple, dict)):
        return with_parts(_no_rows, spec)
    if isinstance(spec, RaggedTensorSpec):
        return RaggedTensor(tuple(map(_no_rows, spec._ragged_parts)))
    if not spec.shape.rank:
        raise ValueError(f"the dataset ended in the middle of a step, and elements of {spec} cannot be empty: batch the "
                         "dataset, or let its number of elements be a multiple of the number of replicas")
    rest = [0 if n is None else n for n in spec.shape.dims[1:]]
    return np.empty([0, *rest], np.object_ if spec.dtype.name == "string" else spec.dtype.as_numpy_dtype)
