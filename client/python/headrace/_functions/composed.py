"""Functions of tensors that are composed of other functions. TensorFlow has these functions at its top level."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _core, dtypes
from .._refusals import refuse
from .._tensors import values as _values
from .._tensors.axes import known_axis
from ..errors import ArgumentError
from .array_ops import cast, cond, constant
from .shaping import expand_dims, gather, reshape

Tensor = _core.Tensor


def _like(input: Any, value: Any, dtype: Any) -> Tensor:
    x = _values.constant(input)
    kind = x.dtype if dtype is None else dtypes.as_dtype(dtype)
    out = _values.unit(value, kind)
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
    """``start``, ``start + delta`` ... below ``limit`` (from 0 if only one number is given).

    The result is a vector. The numbers may be scalar tensors; then the length may differ between elements, and an
    element for which ``delta`` leads away from ``limit`` is an ``InvalidArgumentError``.

    >>> Dataset.from_tensors(0).map(lambda x: x + hr.range(3)).get_single_element()
    array([0, 1, 2], dtype=int32)
    >>> list(Dataset.range(1, 4).map(hr.range))
    [array([0]), array([0, 1]), array([0, 1, 2])]
    """
    bounds = (0, start, delta) if limit is None else (start, limit, delta)
    if _values.holds_tensors(list(bounds)):
        return _computed_range(bounds, dtype)
    if dtype is None:  # the widest dtype, if numpy's numbers are among the bounds
        of_numpy = [dtypes.as_dtype(x.dtype) for x in bounds if isinstance(x, np.generic)]
        of_python = [dtypes.float32 if isinstance(x, float) else dtypes.int32 for x in bounds if not isinstance(x, np.generic)]
        if of_numpy and all(x in _ORDER for x in of_numpy):
            dtype = max((*of_numpy, *of_python), key=_ORDER.index)
    if bounds[2] == 0:
        raise ArgumentError("range: delta is 0; it must be another number")
    if any(isinstance(x, (float, np.floating)) for x in bounds):
        return constant(_float_range(bounds, dtypes.as_dtype(dtype or dtypes.float32).as_numpy_dtype), dtype or dtypes.float32)
    numbers = np.arange(*(_values.integer(x, "range") for x in bounds))
    kind = None if dtype is None else dtypes.as_dtype(dtype)
    if kind is not None and kind.is_integer and (numbers.astype(kind.as_numpy_dtype) != numbers).any():
        raise ArgumentError(f"range: the numbers from {numbers[0]} to {numbers[-1]} do not fit {kind.name}")
    return constant(numbers.tolist() or np.zeros(0, np.int32), kind)


def _float_range(bounds: tuple[Any, ...], dtype: Any) -> Any:
    """A range of floats. Like TensorFlow it computes the number of values in floats, so that rounding is the same."""
    kind: Any = np.float64 if dtype == np.float64 else np.float32
    start, limit, delta = map(kind, bounds)
    steps = np.ceil((limit - start) / delta) if delta else -1.0
    if not steps >= 0:
        raise ArgumentError(f"range: {bounds[0]} in steps of {bounds[2]} never comes to {bounds[1]}")
    return start + np.arange(int(steps), dtype=kind) * delta


#: The dtypes of ranges. The dtype of a range is the dtype among those of its bounds that comes last here.
_ORDER = (dtypes.int32, dtypes.int64, dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)


def _computed_range(bounds: tuple[Any, ...], dtype: Any) -> Tensor:
    numbers = [_values.constant(x) for x in bounds]
    if dtype is not None:
        kind = dtypes.as_dtype(dtype)
    elif all(x.dtype in _ORDER for x in numbers):
        kind = max((x.dtype for x in numbers), key=_ORDER.index)
    else:
        raise TypeError("range: the numbers must be int32, int64 or floats without dtype, not "
                        + ", ".join(x.dtype.name for x in numbers))
    return _core.number_range(*(_core.cast(x, kind.name) for x in numbers))


def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: int = 0) -> Tensor:
    """``num`` numbers from ``start`` to ``stop`` at equal distances, along the new axis ``axis``.

    Integers become float64. ``num`` may be a scalar tensor; below 0 it is an ``InvalidArgumentError``.

    >>> Dataset.from_tensors(0.0).map(lambda x: hr.linspace(x, 1.0, 3)).get_single_element()
    array([0. , 0.5, 1. ], dtype=float32)
    """
    first, last = _values.pair(start, stop)
    if not first.dtype.is_floating:
        first, last = cast(first, dtypes.float64), cast(last, dtypes.float64)
    return _core.linspace(first, last, _values.constant(num), _values.integer(axis, "axis"))


def eye(num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = dtypes.float32,
        name: str | None = None) -> Tensor:
    """Ones where the numbers of the row and the column are equal, zeros elsewhere.

    The shape is ``batch_shape + [num_rows, num_columns]``. If ``num_columns`` is None, there are as many columns as
    rows. Extents may be tensors.

    >>> Dataset.from_tensors(0).map(lambda x: hr.eye(2, dtype=hr.int32)).get_single_element()
    array([[1, 0],
           [0, 1]], dtype=int32)
    """
    rows = _values.count_of(num_rows, "num_rows")
    one = _core.eye(rows, rows if num_columns is None else _values.count_of(num_columns, "num_columns"),
                    dtypes.as_dtype(dtype).name)
    if batch_shape is None:
        return one
    batch = _values.extents(batch_shape, "batch_shape")
    times = [batch[i] for i in range(batch.shape[0])] if isinstance(batch, Tensor) else batch
    for _ in times:
        one = expand_dims(one, 0)
    return _core.tile(one, [*times, 1, 1])


def split(value: Any, num_or_size_splits: Any, axis: int = 0, num: int | None = None,
          name: str = "split") -> list[Tensor]:
    """Parts along ``axis``: a number of parts of one length, or parts of given lengths (one may be -1: the rest).

    Raises ``ValueError`` if the parts do not make up the axis. If the extent of the axis becomes known only with an
    element, and the given lengths do not make it up, that element fails. For a number of parts, the extent must be
    known.

    >>> Dataset.from_tensors([1, 2, 3]).map(lambda x: tuple(hr.split(x, [1, 2]))).get_single_element()
    (array([1], dtype=int32), array([2, 3], dtype=int32))
    """
    x = _values.constant(value)
    along = known_axis(x, axis, "split")
    lengths = _lengths(num_or_size_splits, x.shape[along], along)
    if -1 not in lengths:
        return _parts(x, lengths, along)
    rest = lengths.index(-1)
    before, after = sum(lengths[:rest]), sum(lengths[rest + 1:])
    extents = _core.shape_of(x)
    x = _core.check(x, extents[along] >= before + after, "split", f"parts of {lengths} make up axis {along}",
                    [("shape", extents)], None)
    first, middle, last = (x[(slice(None),) * along + (of,)] for of in (
        slice(before), slice(before, -after or None), slice(-after, None) if after else slice(0)))
    return [*_parts(first, lengths[:rest], along), middle, *_parts(last, lengths[rest + 1:], along)]


def _lengths(num_or_size_splits: Any, extent: int | None, axis: int) -> list[int]:
    """The lengths of the parts of ``split``. If the extent is not known, one of them may be -1."""
    given = _values.known(num_or_size_splits, "num_or_size_splits", "ints")
    if not isinstance(given, (list, tuple)) and not (isinstance(given, np.ndarray) and given.ndim):
        parts = _values.integer(given, "num_or_size_splits")
        if extent is None:
            refuse("split needs to know the extent that it splits", "Use headrace.ensure_shape, or give the lengths")
        if parts < 1 or extent % parts:
            raise ValueError(f"split: {parts} parts do not make up the {extent} of axis {axis}")
        return [extent // parts] * parts
    lengths = _values.integers(given, "num_or_size_splits")
    if min(lengths, default=0) < -1 or lengths.count(-1) > 1:
        raise ValueError(f"split: the lengths are {lengths}; they must be 0 or more, and one of them may be -1")
    if extent is None:
        return lengths
    known = sum(n for n in lengths if n != -1)
    if known > extent or (known < extent and -1 not in lengths):
        raise ValueError(f"split: parts of {lengths} do not make up the {extent} of axis {axis}")
    return [extent - known if n == -1 else n for n in lengths]


def _parts(x: Tensor, lengths: list[int], axis: int) -> list[Tensor]:
    """The parts of these lengths along ``axis``. An element with another extent than their sum fails."""
    dims = x.shape.as_list()
    if dims[axis] is None:
        x = _core.ensure_shape(x, [*dims[:axis], sum(lengths), *dims[axis + 1:]])
    ends = np.cumsum(lengths).tolist()
    return [x[(slice(None),) * axis + (slice(end - n, end),)] for n, end in zip(lengths, ends)]


def repeat(input: Any, repeats: Any, axis: int | None = None, name: str | None = None) -> Tensor:
    """Each part along ``axis`` repeated ``repeats`` times. If ``axis`` is None, each value is repeated, and the
    result is a vector.

    ``repeats``: a number, or one number for each part. They may be tensors; then the length may differ between
    elements. A number below 0 is an ``InvalidArgumentError``.

    >>> Dataset.from_tensors([1, 2]).map(lambda x: hr.repeat(x, 2)).get_single_element()
    array([1, 1, 2, 2], dtype=int32)
    >>> Dataset.from_tensors([1, 2]).map(lambda x: hr.repeat(x, x)).get_single_element()
    array([1, 2, 2], dtype=int32)
    """
    x = _values.constant(input)
    if axis is None:
        x, axis = reshape(x, [-1]), 0
    along = _values.integer(axis, "axis")
    times = _values.constant(repeats)
    if _core.is_static(times) and times.ndim == 0 and x.ndim is not None and -x.ndim <= along < x.ndim:
        return _repeated(x, _values.integer(times, "repeats"), along % x.ndim)
    return _core.repeat_parts(x, times, along)


def _repeated(x: Tensor, times: int, along: int) -> Tensor:
    """``repeat`` with one number for all parts, so that known extents stay known."""
    dims = [-1 if d is None else d for d in x.shape.as_list()]
    if times < 0 or dims.count(-1) > 1 or (dims.count(-1) == 1 and 0 in (*dims, times)):
        return _core.repeat_parts(x, _values.constant(times), along)
    if dims[along] != -1:
        dims[along] *= times
    more = _core.tile(expand_dims(x, along + 1), [1] * (along + 1) + [times] + [1] * (len(dims) - along - 1))
    return reshape(more, dims)


def boolean_mask(tensor: Any, mask: Any, axis: int | None = None, name: str = "boolean_mask") -> Tensor:
    """The parts of ``tensor`` where ``mask`` is true; their number may differ between elements. The axes of ``mask``
    correspond to the axes of ``tensor`` from ``axis`` (0) on, and become one axis.

    Raises ``ValueError`` for a mask without axes, and if its extents are known to differ from those of ``tensor``. If
    extents become known only with an element, a difference is an error of the element.

    >>> Dataset.from_tensors([5, 6, 7]).map(lambda x: hr.boolean_mask(x, x != 6)).get_single_element()
    array([5, 7], dtype=int32)
    >>> Dataset.from_tensors([[5, 6], [7, 8]]).map(lambda x: hr.boolean_mask(x, x != 6)).get_single_element()
    array([5, 7, 8], dtype=int32)
    """
    x, chosen = _values.constant(tensor), _values.constant(mask)
    if chosen.dtype != dtypes.bool:
        raise TypeError(f"boolean_mask: mask must be of bools, not {chosen.dtype.name}")
    if chosen.ndim == 0:
        raise ValueError("boolean_mask: mask must have an axis")
    axes, masked = x.ndim, chosen.ndim
    if axes is None or masked is None:
        raise ValueError("boolean_mask: the number of axes of tensor and mask must be known; see ensure_shape")
    first = 0 if axis is None else _values.integer(axis, "axis")
    first += axes if first < 0 else 0
    last = first + masked
    if first < 0 or last > axes:
        raise ValueError(f"boolean_mask: a mask of {masked} axes does not fit {axes} axes from axis {axis} on")
    own, asked = x.shape.as_list()[first:last], chosen.shape.as_list()
    if any(a is not None and b is not None and a != b for a, b in zip(own, asked)):
        raise ValueError(f"boolean_mask: mask of shape {chosen.shape} does not fit {x.shape} from axis {first} on")
    extents = [n if n is not None else _core.shape_of(x)[i] for i, n in enumerate(x.shape.as_list())]
    if None in (*own, *asked):
        same = _core.reduce_all(_core.shape_of(chosen) == _core.stack([_values.constant(n, dtypes.int64)
                                                                       for n in extents[first:last]], 0), [], False)
        chosen = _core.check(chosen, same, "boolean_mask", "mask and tensor have the same extents",
                             [("mask", _core.shape_of(chosen)), ("tensor", _core.shape_of(x))], None)
    kept = _core.reshape(_core.true_places(_core.reshape(chosen, [-1])), [-1])
    if masked > 1:
        together: Any = 1
        for n in extents[first:last]:
            together = together * n
        x = _core.reshape(x, [*extents[:first], together, *extents[last:]])
    return gather(x, kept, axis=first)


def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = dtypes.bool, name: str | None = None) -> Tensor:
    """[..., maxlen]: true in the first ``lengths`` places, which may differ from element to element.

    ``maxlen``: an int or a scalar tensor; None: the largest of the element's lengths.

    >>> Dataset.from_tensors([1, 3]).map(lambda n: hr.sequence_mask(n, 3, hr.int32)).get_single_element()
    array([[1, 0, 0],
           [1, 1, 1]], dtype=int32)
    """
    n = _values.constant(lengths)
    if not n.dtype.is_integer:
        raise TypeError(f"sequence_mask: lengths must be integers, not {n.dtype.name}")
    longest = None if maxlen is None else _values.count_of(maxlen, "maxlen")
    if longest is None or isinstance(longest, Tensor):
        return cast(_core.sequence_mask(n, longest), dtype)
    mask = range_(0, max(longest, 0), dtype=dtypes.int64) < expand_dims(cast(n, dtypes.int64), -1)
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
