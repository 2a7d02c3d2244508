"""Makes elements of the rows of ragged tensors, and batches of elements that are ragged tensors, by means of other
operators.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from .._functions.ragged import RaggedTensor, RaggedTensorSpec
from .._specs import element_of
from .._tensors.labels import with_parts
from ..errors import UnimplementedError

if TYPE_CHECKING:
    from .dataset import Dataset


def leaves(value: Any) -> Iterator[Any]:
    """The leaves of nested tuples and dicts. A ragged tensor, or the spec of a ragged tensor, is one leaf."""
    if isinstance(value, (tuple, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from leaves(part)
    else:
        yield value


def arranged(value: Any, rest: Iterator[Any]) -> Any:
    """The nest ``value`` with its leaves replaced by those of ``rest``, in their order."""
    return with_parts(lambda part: arranged(part, rest), value) if isinstance(value, (tuple, dict)) else next(rest)


def holds_ragged(value: Any) -> bool:
    """True if a leaf is a ragged tensor, or the spec of one."""
    return any(isinstance(leaf, (RaggedTensor, RaggedTensorSpec)) for leaf in leaves(value))


def _part(x: Any, begin: Any, count: Any) -> Any:
    """``count`` rows from row ``begin`` on."""
    inner = x.ndim - 1
    zeros, all_of_it = np.zeros(inner, np.int64), np.full(inner, -1, np.int64)
    out = _core.slice_of_sizes(x, _core.concat([_core.reshape(begin, [1]), _core.constant(zeros)], 0),
                               _core.concat([_core.reshape(count, [1]), _core.constant(all_of_it)], 0))
    return _core.ensure_shape(out, [None, *x.shape[1:]])


def slices(given: Any) -> Dataset:
    """A dataset of the rows of tensors and ragged tensors. Rows of a ragged tensor with one ragged axis are
    tensors.
    """
    from .base import made

    columns: list[Any] = []
    for leaf in leaves(given):
        if isinstance(leaf, RaggedTensor):
            # `places` gets, for each row, the index at which the row begins and the number of its values: first in each
            # inner vector of row lengths, and then in the flat values.
            places = []
            splits = leaf.row_splits
            first, last = splits[:-1], splits[1:]
            for lengths in leaf.nested_row_lengths()[1:]:
                places += [first, last - first]
                inner = RaggedTensor((leaf.flat_values, lengths)).row_splits
                first, last = _core.gather(inner, first, 0, 0), _core.gather(inner, last, 0, 0)
            columns.append((*places, first, last - first))
        else:
            columns.append(leaf)

    def rows(*row: Any) -> Any:
        def one(leaf: Any, column: Any) -> Any:
            if not isinstance(leaf, RaggedTensor):
                return column
            flat, _, *lengths = leaf._ragged_parts
            parts = [_part(part, *column[2 * i:2 * i + 2]) for i, part in enumerate([*lengths, flat])]
            return RaggedTensor((parts[-1], *parts[:-1])) if lengths else parts[0]
        return arranged(given, (one(leaf, column) for leaf, column in zip(leaves(given), row)))

    return made(_core.from_tensor_slices(tuple(columns))).map(rows)


def batched(dataset: Dataset, batch_size: int | _core.Tensor, drop_remainder: bool, *, ragged: bool) -> Dataset:
    """Batches of elements that contain ragged tensors. A batch of ragged tensors has one more ragged axis.

    ragged: true if the other tensors may differ in shape between elements; then their batches are ragged tensors,
    too.
    """
    spec = dataset.element_spec
    specs = list(leaves(spec))
    for one in specs:
        if not isinstance(one, RaggedTensorSpec) and not ragged and not one.shape.is_fully_defined():
            raise UnimplementedError(f"batch: beside ragged tensors, this release batches tensors of one shape that is "
                                     f"known, and not {one}; use ragged_batch, or headrace.ensure_shape before")

    def apart(*element: Any) -> Any:
        return tuple(leaf._ragged_parts if isinstance(leaf, RaggedTensor) else leaf
                     for leaf in leaves(element_of(spec, element)))

    def together(*columns: Any) -> Any:
        return arranged(spec, (
            RaggedTensor(_joined(column)) if isinstance(one, RaggedTensorSpec) else column
            for one, column in zip(specs, columns)))

    parts = dataset.map(apart)
    return parts._with(_core.ragged_batch(parts._graph, batch_size, drop_remainder)).map(together)


def _joined(parts: Any) -> tuple[Any, ...]:
    """The parts of a ragged tensor with one axis more, made of batches of the parts of its rows."""
    flat, *lengths = [_end_to_end(part) for part in parts]
    return (flat, _rows_of(parts[1]), *lengths)


def _end_to_end(part: Any) -> Any:
    if isinstance(part, RaggedTensor):
        return part.flat_values
    return _core.reshape(part, [-1, *part.shape[2:]])


def _rows_of(part: Any) -> Any:
    if isinstance(part, RaggedTensor):
        return part.row_lengths()
    return _core.reduce_sum(part * 0 + 1, [1], False)
