"""Reads datasets whose elements contain datasets, such as those of ``window``.

Where the pipeline runs, the elements of each inner dataset are put together into one tensor. In this process the
tensor becomes a dataset again. Elements without a common shape are serialized: the tensor has one string for each
element.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from .. import _core
from .._functions.ragged import RaggedTensor, RaggedTensorSpec
from .._specs import DatasetSpec, TensorSpec, element_of, flatten, spec_of_leaf
from .._tensors.labels import rebuilt, with_parts
from ..errors import UnimplementedError

#: A batch size with which one batch contains all elements of a dataset.
_ALL = 2**31 - 1


def holds_datasets(graph: _core.Graph) -> bool:
    """True if the elements of the graph have components that are datasets."""
    return any(isinstance(spec, DatasetSpec) for spec in flatten(graph.spec(spec_of_leaf)))


def outside(spec: Any) -> Any:
    """A spec as users see it: the spec of a window of ragged tensors is that of a dataset of ragged tensors, and not
    a ragged spec whose parts are datasets.
    """
    if isinstance(spec, (tuple, dict)):
        return with_parts(outside, spec)
    if isinstance(spec, RaggedTensorSpec) and isinstance(spec._ragged_parts[0], DatasetSpec):
        return DatasetSpec(outside(RaggedTensorSpec._of_parts(tuple(part.element_spec for part in spec._ragged_parts))))
    return spec


def argument(value: Any) -> Any:
    """``value`` as the argument of a user's function: graphs become datasets. A window of ragged tensors becomes a
    dataset of ragged tensors, as in ``outside``.
    """
    from .base import made

    if isinstance(value, (tuple, dict)):
        return with_parts(argument, value)
    if isinstance(value, RaggedTensor) and isinstance(value._ragged_parts[0], _core.Graph):
        if any(holds_datasets(part) for part in value._ragged_parts):
            raise UnimplementedError("this release has no windows of windows of ragged tensors; make them of tensors, as "
                                     "RaggedTensor.to_tensor gives them")
        return made(_core.zip(list(value._ragged_parts))).map(lambda *parts: RaggedTensor(parts))
    return made(value) if isinstance(value, _core.Graph) else value


def _stacks(spec: Any) -> bool:
    """True if elements of this spec can be stacked to one tensor without being serialized."""
    return isinstance(spec, TensorSpec) and spec.shape.is_fully_defined()


def _together(dataset: Any) -> _core.Tensor:
    """In a function: all elements of a dataset as one tensor."""
    spec = dataset.element_spec
    if not _stacks(spec):
        dataset = dataset.map(lambda x: _written(spec, x))
    return dataset.batch(_ALL).get_single_element()


def _written(spec: Any, value: Any) -> _core.Tensor:
    """In a function: an element, serialized to one string."""
    if isinstance(spec, DatasetSpec):
        value = _together(value)
    elif isinstance(value, RaggedTensor):
        value = _core.stack([_core.serialize_tensor(part) for part in value._ragged_parts], 0)
    return _core.serialize_tensor(value)


def _read(spec: TensorSpec, text: _core.Tensor) -> _core.Tensor:
    """In a function: the tensor that was serialized to ``text``."""
    dims = spec.shape.dims
    return _core.ensure_shape(_core.parse_tensor(text, spec.dtype.name), None if dims is None else list(dims))


def stacked(dataset: Any) -> Any:
    """The dataset with one tensor in place of each dataset among its elements."""

    def one(value: Any) -> Any:
        if isinstance(value, (tuple, dict)):
            return with_parts(one, value)
        return _together(value) if hasattr(value, "_graph") else value

    spec = dataset.element_spec
    return dataset.map(lambda *element: one(element_of(spec, element)))


def _apart(spec: Any, value: Any) -> Any:
    """Reverses ``_together``: the dataset whose elements are in the tensor ``value``. ``spec``: the elements' spec."""
    from .dataset import Dataset

    if _stacks(spec):
        return Dataset.from_tensor_slices(np.asarray(value))
    strings = Dataset.from_tensor_slices(value)
    if isinstance(spec, TensorSpec):
        return strings.map(lambda text: _read(spec, text))
    if isinstance(spec, RaggedTensorSpec):
        return strings.map(lambda text: RaggedTensor(tuple(
            _read(part, _core.gather(_core.parse_tensor(text, "string"), _core.constant(np.array(i)), 0, 0))
            for i, part in enumerate(spec._ragged_parts))))
    kind = "string" if not _stacks(spec.element_spec) else spec.element_spec.dtype.name
    tensors = list(strings.map(lambda x: _core.parse_tensor(x, kind)))
    # Only ``window`` makes a dataset whose elements are datasets, and all datasets that one call of it makes have the
    # same length. So ``window`` is called for each run of consecutive tensors of equal length.
    out = None
    for length, run in itertools.groupby(tensors, len):
        windows = _apart(spec.element_spec, np.concatenate(list(run))).window(length)
        out = windows if out is None else out.concatenate(windows)
    return out


class WindowIterator(_core.Iterator):
    """One iteration over a dataset whose elements contain datasets. These are returned as ``Dataset``s."""

    __slots__ = ("_read", "_spec")

    def __init__(self, read: _core.Iterator, spec: Any) -> None:
        self._read, self._spec = read, spec

    def __iter__(self) -> WindowIterator:
        return self

    def __next__(self) -> Any:
        return with_datasets(self._spec, next(self._read))

    def get_next(self) -> Any:
        """The next element. Raises ``OutOfRangeError`` at the end."""
        return with_datasets(self._spec, self._read.get_next())

    @property
    def element_spec(self) -> Any:
        """See ``Iterator.element_spec``."""
        return self._spec

    def save(self) -> bytes:
        """See ``Iterator.save``."""
        return self._read.save()

    def restore(self, record: bytes) -> None:
        """See ``Iterator.restore``."""
        self._read.restore(record)

    @property
    def ignored(self) -> int:
        """See ``Iterator.ignored``."""
        return self._read.ignored

    def close(self) -> None:
        """See ``Iterator.close``."""
        self._read.close()


def with_datasets(spec: Any, value: Any) -> Any:
    """An element with datasets in place of the tensors that stand for them."""
    if isinstance(spec, dict):
        return rebuilt(value, [with_datasets(s, value[key]) for key, s in spec.items()])
    if isinstance(spec, tuple):
        return rebuilt(value, [with_datasets(s, x) for s, x in zip(spec, value)])
    return _apart(spec.element_spec, value) if isinstance(spec, DatasetSpec) else value
