"""Functions of tensors that are put together of others: what TensorFlow has at its top level."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _core, _values, dtypes
from .array_ops import argsort, cast, cond, constant
from .._refusals import refuse
from .shaping import expand_dims, gather, reshape, slice_

Tensor = _core.Tensor


def _like(input: Any, value: Any, dtype: Any) -> Tensor:
    x = _values.constant(input)
    kind = x.dtype if dtype is None else dtypes.as_dtype(dtype)
    out = _values.constant("" if kind == dtypes.string else value, kind)
    return _core.where(x == x, out, out)


def zeros_like(input: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """Zeros (or empty strings) in the shape of ``input``, of its dtype if ``dtype`` is None.

    >>> Dataset.from_tensors([4, 5]).map(hr.zeros_like).get_single_element()
    array([0, 0], dtype=int32)
    """
    return _like(input, 0, dtype)


def ones_like(input: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """Ones in the shape of ``input``, of its dtype if ``dtype`` is None. Raises ``TypeError`` for strings.

    >>> Dataset.from_tensors([4, 5]).map(lambda x: hr.ones_like(x, hr.float32)).get_single_element()
    array([1., 1.], dtype=float32)
    """
    if (_values.constant(input).dtype if dtype is None else dtypes.as_dtype(dtype)) == dtypes.string:
        raise TypeError("ones_like: there are no ones among strings")
    return _like(input, 1, dtype)


def range_(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = "range") -> Tensor:
    """``start``, ``start + delta`` ... below ``limit`` (from 0 if only one number is given): numbers, no tensors.

    >>> Dataset.from_tensors(0).map(lambda x: x + hr.range(3)).get_single_element()
    array([0, 1, 2], dtype=int32)
    """
    bounds = (0, start, delta) if limit is None else (start, limit, delta)
    if _values.holds_tensors(list(bounds)):
        refuse("headrace.range needs numbers that are known", "Use headrace.sequence_mask or Dataset.range")
    if any(isinstance(x, (float, np.floating)) for x in bounds):
        return constant(np.arange(*(float(x) for x in bounds)), dtype or dtypes.float32)
    return constant(np.arange(*(_values.integer(x, "range") for x in bounds)).tolist() or np.zeros(0, np.int32), dtype)


def split(value: Any, num_or_size_splits: Any, axis: int = 0, num: int | None = None,
          name: str = "split") -> list[Tensor]:
    """Parts along ``axis``: so many of one length, or of these lengths (one of which may be -1: what is left).

    Raises ``ValueError`` if they do not fit. The extent must be known for parts of one length.

    >>> Dataset.from_tensors([1, 2, 3]).map(lambda x: tuple(hr.split(x, [1, 2]))).get_single_element()
    (array([1], dtype=int32), array([2, 3], dtype=int32))
    """
    x = _values.constant(value)
    along = _values.integer(axis, "axis")
    if x.ndim is None:
        refuse("split needs to know how many axes there are", "Use headrace.ensure_shape")
    along = along % x.ndim if -x.ndim <= along < x.ndim else along
    extent = x.shape[along]
    sizes: list[int]
    if isinstance(num_or_size_splits, (list, tuple, np.ndarray)):
        sizes = _values.integers(num_or_size_splits, "num_or_size_splits")
        if sizes.count(-1) == 1 and extent is not None:
            sizes[sizes.index(-1)] = extent - sum(n for n in sizes if n != -1)
        if min(sizes, default=0) < 0 or extent is not None and sum(sizes) != extent:
            raise ValueError(f"split: parts of {num_or_size_splits} do not make up the {extent} of axis {axis}")
    else:
        parts = _values.integer(num_or_size_splits, "num_or_size_splits")
        if extent is None:
            refuse("split needs to know the extent that it splits", "Use headrace.ensure_shape, or give the lengths")
        if parts < 1 or extent % parts:
            raise ValueError(f"split: {parts} parts do not make up the {extent} of axis {axis}")
        sizes = [extent // parts] * parts
    out, at = [], 0
    for n in sizes:
        out.append(x[(slice(None),) * along + (slice(at, at + n),)])
        at += n
    return out


def repeat(input: Any, repeats: int, axis: int | None = None, name: str | None = None) -> Tensor:
    """Each value (or part along ``axis``) ``repeats`` times, one after another; of a vector if ``axis`` is None.

    >>> Dataset.from_tensors([1, 2]).map(lambda x: hr.repeat(x, 2)).get_single_element()
    array([1, 1, 2, 2], dtype=int32)
    """
    times = _values.integer(repeats, "repeats")
    x = _values.constant(input)
    if axis is None:
        x, axis = reshape(x, [-1]), 0
    if x.ndim is None:
        refuse("repeat needs to know how many axes there are", "Use headrace.ensure_shape")
    along = _values.integer(axis, "axis") % x.ndim
    dims = [-1 if d is None else d for d in x.shape.as_list()]
    if dims[along] != -1:
        dims[along] *= times
    if dims.count(-1) > 1:
        refuse("repeat needs to know all extents but one", "Use headrace.ensure_shape")
    more = _core.tile(expand_dims(x, along + 1), [1] * (along + 1) + [times] + [1] * (x.ndim - along - 1))
    return reshape(more, dims)


def boolean_mask(tensor: Any, mask: Any, axis: int | None = None, name: str = "boolean_mask") -> Tensor:
    """The parts along ``axis`` (0) where the vector ``mask`` is true: as many as there are in each element.

    Raises ``ValueError`` for a mask with more axes.

    >>> Dataset.from_tensors([5, 6, 7]).map(lambda x: hr.boolean_mask(x, x != 6)).get_single_element()
    array([5, 7], dtype=int32)
    """
    chosen = _values.constant(mask)
    if chosen.ndim not in (1, None):
        raise ValueError(f"boolean_mask: mask must be a vector, not of shape {chosen.shape}")
    order = argsort(cast(~chosen, dtypes.int32))
    kept = slice_(order, [0], expand_dims(_core.reduce_sum(cast(chosen, dtypes.int64), [], False), 0))
    return gather(tensor, kept, axis=0 if axis is None else _values.integer(axis, "axis"))


def sequence_mask(lengths: Any, maxlen: int | None = None, dtype: Any = dtypes.bool, name: str | None = None) -> Tensor:
    """[..., maxlen]: true in the first ``lengths`` places, which may differ from element to element.

    >>> Dataset.from_tensors([1, 3]).map(lambda n: hr.sequence_mask(n, 3, hr.int32)).get_single_element()
    array([[1, 0, 0],
           [1, 1, 1]], dtype=int32)
    """
    if maxlen is None:
        refuse("sequence_mask needs to know the longest length", "Give maxlen")
    n = cast(lengths, dtypes.int64)
    mask = range_(0, _values.integer(maxlen, "maxlen"), dtype=dtypes.int64) < expand_dims(n, -1)
    return cast(mask, dtype)


def case(pred_fn_pairs: Any, default: Callable[[], Any] | None = None, exclusive: bool = False, strict: bool = False,
         name: str = "case") -> Any:
    """The result of the function beside the first true condition, or of ``default``, which must be given.

    >>> list(Dataset.range(3).map(lambda x: hr.case([(x == 0, lambda: x - 7), (x == 1, lambda: x)], lambda: 2 * x)))
    [np.int64(-7), np.int64(1), np.int64(4)]
    """
    if not callable(default):
        raise TypeError("case: default must be a function without arguments")
    if exclusive:
        refuse("case does not check that its conditions exclude each other", "Leave exclusive out")
    out: Callable[[], Any] = default
    for condition, f in reversed(list(pred_fn_pairs)):
        out = _choice(condition, f, out)
    return out()


def _choice(condition: Any, f: Callable[[], Any], otherwise: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: cond(condition, f, otherwise)
