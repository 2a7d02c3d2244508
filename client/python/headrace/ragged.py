"""Makes ragged tensors of Python lists. Named as in ``tf.ragged``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, dtypes
from ._functions.array_ops import constant as tensor_of
from ._functions.ragged import RaggedTensor
from ._functions.ragged_operators import same_rows, with_rows_of
from ._missing import names_of as _names_of
from ._tensors import values as _values
from .errors import UnimplementedError

__all__ = ["constant", "map_flat_values"]

if not TYPE_CHECKING:
    __getattr__ = _names_of("ragged")


def constant(pylist: Any, dtype: Any = None, ragged_rank: int | None = None, inner_shape: Any = None,
             name: str | None = None, row_splits_dtype: Any = dtypes.int64) -> RaggedTensor | _core.Tensor:
    """The ragged tensor of nested lists, whose values are all nested equally deep; a tensor if no axis is ragged.

    ragged_rank: the number of ragged axes (None: all axes except the first one and those of ``inner_shape``).
    inner_shape: the shape of each value in the innermost rows (None: the shape that the values have).
    row_splits_dtype: must be int64.

    Raises ``ValueError`` for lists that cannot be a ragged tensor, and ``TypeError`` for values that are not of the
    dtype.

    >>> hr.ragged.constant([[1, 2], [], [3]])
    RaggedTensor([[1, 2], [], [3]])
    >>> hr.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1).flat_values.shape
    (3, 2)
    """
    if dtypes.as_dtype(row_splits_dtype) != dtypes.int64:
        raise UnimplementedError("ragged.constant: row_splits_dtype must be int64 in this release; headrace.cast gives the "
                                 "row lengths another dtype")
    lists = _as_lists(pylist)
    inner = None if inner_shape is None else tuple(_values.integers(inner_shape, "inner_shape"))
    depths = set(_depths(lists, 0, scalars=True))
    deepest = max(_depths(lists, 0, scalars=False))
    if len(depths) > 1 or depths and deepest > min(depths):
        raise ValueError(f"ragged.constant: the values of pylist must all be nested equally deep: {pylist!r}")
    rank = _values.integer(ragged_rank, "ragged_rank") if ragged_rank is not None else max(
        0, deepest - 1 - len(inner or ()))
    if rank < 0 or depths and rank >= deepest and deepest > 0:
        raise ValueError(f"ragged.constant: ragged_rank is {rank}; with values that are nested {deepest} deep it must be "
                         f"between 0 and {deepest - 1}")
    if deepest == 0 or rank == 0:
        return tensor_of(lists, dtype, inner if inner and deepest == 0 else None)
    lengths = []
    for _ in range(rank):
        lengths.append(np.array([len(row) for row in lists], np.int64))
        lists = [part for row in lists for part in row]
    return RaggedTensor((_flat(lists, None if dtype is None else dtypes.as_dtype(dtype), inner), *lengths))


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> RaggedTensor:
    """Calls ``op`` with the flat values in place of the ragged tensors among its arguments, and divides the result
    into rows of the same lengths.

    Raises ``ValueError`` if no argument is ragged. If the row lengths of two arguments differ, the element fails.

    >>> r = hr.ragged.constant([[1, 2], [3]])
    >>> hr.ragged.map_flat_values(lambda x, y: x * y, r, 10)
    RaggedTensor([[10, 20], [30]])
    """
    given = [x for x in (*args, *kwargs.values()) if isinstance(x, RaggedTensor)]
    if not given:
        raise ValueError("ragged.map_flat_values: no argument is a RaggedTensor: call the function itself")
    for other in given[1:]:
        same_rows(given[0], other)

    def flat(x: Any) -> Any:
        return _values.constant(x.flat_values) if isinstance(x, RaggedTensor) else x
    return with_rows_of(given[0], op(*map(flat, args), **{name: flat(x) for name, x in kwargs.items()}))


def _as_lists(value: Any) -> Any:
    """Converts arrays and tuples to lists."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return [_as_lists(part) for part in value] if isinstance(value, (list, tuple)) else value


def _depths(value: Any, depth: int, *, scalars: bool) -> Iterator[int]:
    """The depth of each value in nested lists; if ``scalars`` is false, also of each empty list, as if it had a
    value.
    """
    if not isinstance(value, list):
        yield depth
        return
    if not value and not scalars:
        yield depth + 1
    for part in value:
        yield from _depths(part, depth + 1, scalars=scalars)


def _flat(values: list[Any], dtype: dtypes.DType | None, inner: tuple[int, ...] | None) -> Any:
    """The values of all rows as an array."""
    kind = dtype or dtypes.float32
    if not values:
        return np.zeros((0, *(inner or ())), np.object_ if kind == dtypes.string else kind.as_numpy_dtype)
    array = _values.as_array(values)
    if inner is not None and array.shape[1:] != inner:
        raise ValueError(f"ragged.constant: the values have shape {array.shape[1:]}, and inner_shape is {inner}")
    if array.dtype.kind in "US":
        raise ValueError(f"ragged.constant: the values are of several types: {values!r:.80}")
    if array.dtype == np.object_:
        texts = [x.encode() if isinstance(x, str) else x for x in array.flat]
        array = np.array([*texts, None], np.object_)[:-1].reshape(array.shape)
    if dtype is None:
        return array
    if (array.dtype == np.object_) != (dtype == dtypes.string) or dtype.is_integer and array.dtype.kind not in "iu":
        raise TypeError(f"ragged.constant: {values[0]!r} is no {dtype.name}")
    out = array if dtype == dtypes.string else array.astype(dtype.as_numpy_dtype)
    if dtype.is_integer and (out.astype(array.dtype) != array).any():
        raise ValueError(f"ragged.constant: a value is out of the range of {dtype.name}")
    return out
