"""Datasets among the elements of a dataset, as ``window`` gives: how they are read here."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._specs import DatasetSpec, flatten, spec_of_leaf
from ..errors import UnimplementedError

#: More elements than any window has.
_ALL = 2**31 - 1


def holds_datasets(graph: _core.Graph) -> bool:
    """True if it has components that are datasets."""
    return any(isinstance(spec, DatasetSpec) for spec in flatten(graph.spec(spec_of_leaf)))


def stacked(dataset: Any) -> Any:
    """The spec with one tensor in place of each dataset: its elements, stacked."""
    for spec in flatten(dataset.element_spec):
        if isinstance(spec, DatasetSpec) and isinstance(spec.element_spec, DatasetSpec):
            raise UnimplementedError("this release cannot iterate over windows of windows; read them in a function, as "
                                     "in flat_map(lambda w: w.flat_map(lambda v: v.batch(9)))")

    def one(value: Any) -> Any:
        if isinstance(value, (tuple, dict)):
            parts = value.items() if isinstance(value, dict) else enumerate(value)
            made = {key: one(part) for key, part in parts}
            return made if isinstance(value, dict) else tuple(made.values())
        return value.batch(_ALL).get_single_element() if hasattr(value, "_graph") else value

    return dataset.map(lambda *parts: one(parts if len(parts) > 1 else parts[0]))


class WindowIterator:
    """One pass over a dataset with datasets in its elements, which come as ``Dataset``s."""

    __slots__ = ("_read", "_spec")

    def __init__(self, read: _core.Iterator, spec: Any) -> None:
        self._read, self._spec = read, spec

    def __iter__(self) -> WindowIterator:
        return self

    def __next__(self) -> Any:
        return _with_datasets(self._spec, next(self._read))

    def get_next(self) -> Any:
        """The next element. Raises ``OutOfRangeError`` at the end."""
        return _with_datasets(self._spec, self._read.get_next())

    def get_next_as_optional(self) -> Any:
        """As for other iterators."""
        from .._optional import get_next_as_optional

        return get_next_as_optional(self)

    @property
    def element_spec(self) -> Any:
        """As for other iterators."""
        return self._spec

    def save(self) -> bytes:
        """As for other iterators."""
        return self._read.save()

    def restore(self, record: bytes) -> None:
        """As for other iterators."""
        self._read.restore(record)

    @property
    def ignored(self) -> int:
        """As for other iterators."""
        return self._read.ignored

    def close(self) -> None:
        """As for other iterators."""
        self._read.close()


def _with_datasets(spec: Any, value: Any) -> Any:
    if isinstance(spec, tuple):
        return tuple(_with_datasets(s, x) for s, x in zip(spec, value))
    if isinstance(spec, dict):
        return {key: _with_datasets(s, value[key]) for key, s in spec.items()}
    if not isinstance(spec, DatasetSpec):
        return value
    from .dataset import Dataset

    return Dataset.from_tensor_slices(np.asarray(value))
