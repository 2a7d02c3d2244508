"""Batches whose sizes are taken from a list in turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core, dtypes
from .._specs import flatten, map_structure
from .._tensors.values import integer, known

if TYPE_CHECKING:
    from .dataset import Dataset


def sizes_of(value: Any) -> int | list[int]:
    """One batch size, or a list of sizes that are used in turn. Raises ``ValueError`` for negative sizes, an empty
    list, and lists of lists.
    """
    value = known(value, "batch_size", "an int or a list of ints")
    if isinstance(value, np.ndarray) and value.ndim or isinstance(value, (list, tuple)):
        if any(isinstance(part, (list, tuple)) or np.ndim(part) for part in value):
            raise ValueError(f"rebatch: batch_size must be an int or a list of ints, and no list of lists: {value!r}")
        if len(value) == 0:
            raise ValueError("rebatch: batch_size is an empty list; it needs at least one size")
        out = [integer(part, "batch_size") for part in value]
    else:
        out = [integer(value, "batch_size")]
    if min(out) < 0:
        raise ValueError(f"rebatch: batch_size must be 0 or more, not {min(out)}")
    return out[0] if len(set(out)) == 1 else out


def check_rows(dataset: Dataset) -> None:
    """Raises ``ValueError`` if the elements have no rows."""
    for spec in flatten(dataset.element_spec):
        if spec.shape.rank == 0:
            raise ValueError(f"rebatch: the elements must be batches, and one of their parts is a scalar: {spec}. Use "
                             "batch")


def empty_batches(dataset: Dataset) -> Dataset:
    """A dataset with one element: a batch without rows that has the structure and dtypes of ``dataset``."""
    from .dataset import Dataset

    def empty(spec: Any) -> Any:
        dims = spec.shape.dims or (None,)  # without a rank, any shape will do
        kind = np.object_ if spec.dtype == dtypes.string else spec.dtype.as_numpy_dtype
        return np.zeros([0, *(d or 0 for d in dims[1:])], kind)
    return Dataset.from_tensors(map_structure(empty, dataset.element_spec))


def in_turn(dataset: Dataset, sizes: list[int], drop_remainder: bool) -> Dataset:
    """The rows of a dataset in batches of these sizes, again and again; a size of 0 gives a batch of no rows.

    An empty batch comes after a batch that is full, or at the beginning: none follows an incomplete batch at the end.
    """
    from .dataset import Dataset

    # The rows are first put into batches of the sum of all sizes, called turns. Each turn is then cut into parts, one
    # for each size. Sizes of 0 at the beginning are moved to the end of the turn, and for the first turn that many
    # batches without rows are put before the result (at the end of this function).
    first = next(at for at, size in enumerate(sizes) if size > 0)
    turn = sizes[first:] + sizes[:first]
    lengths = _int64(turn)
    starts, ends = (_int64(np.cumsum(turn) - x) for x in (turn, 0))
    numbers = _int64(np.arange(sum(turn)))

    def rows_of(part: Any, count: Any) -> Any:
        """The indices of the rows of part number ``part`` in a turn. ``count``: the number of rows of the turn."""
        begin = _core.gather(starts, part, 0, 0)
        most = _core.minimum(_core.gather(lengths, part, 0, 0), count - begin)
        return _core.slice_of_sizes(numbers, _core.stack([begin], 0), _core.stack([most], 0))

    def parts(number: Any, batch: Any) -> Dataset:
        count = _core.cast(_core.size(number), "int64")
        there = ends <= count if drop_remainder else (ends <= count) | (starts < count)
        many = _core.reduce_sum(_core.cast(there, "int64"), [0], False)

        def cut(part: Any) -> Any:
            rows = rows_of(part, count)
            return map_structure(lambda x: _core.gather(x, rows, 0, 0), batch)
        return Dataset.range(many).map(cut)

    out = dataset.unbatch().enumerate().batch(sum(turn)).flat_map(parts)
    if first == 0:
        return out
    return empty_batches(dataset.unbatch().batch(1)).repeat(first).concatenate(out)


def _int64(values: Any) -> _core.Tensor:
    return _core.constant(np.asarray(values, np.int64))
