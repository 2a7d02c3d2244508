"""Assertions, for traced functions. Named as in ``tf.debugging``.

Each gives its first argument back, and is an error of the elements for which it does not hold: in a function that is
given to a dataset, whether its result is used or not. In a branch of ``headrace.cond``, or of an ``if`` over a tensor, it is
about the elements that take that branch. What depends on no element is looked at at once, and raises ``InvalidArgumentError``.

``summarize``: how many values of each tensor the message shows (-1: all; None: three).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _numerics, dtypes
from ._assertions import holds
from ._functions.complexes import absolute, real_dtype, step_at_one
from ._missing import names_of as _names_of
from ._values import constant, integer, tensor
from .errors import InvalidArgumentError, UnimplementedError

if not TYPE_CHECKING:
    __getattr__ = _names_of("debugging")

Tensor = _core.Tensor


def _held(assertion: Tensor, summarize: Any = None) -> Tensor:
    if summarize is not None:
        assertion = _core.summarized(assertion, integer(summarize, "summarize"))
    return holds(assertion)


def _two(f: Any, x: Any, y: Any, message: str | None, summarize: Any) -> Tensor:
    return _held(f(constant(x), tensor(y, "y"), message or ""), summarize)


def Assert(condition: Any, data: Any, summarize: int | None = None, name: str | None = None) -> Any:
    """``data`` if all of the bools in ``condition`` hold: a tensor, or several in a list, each of a dtype of its own.

    >>> import headrace as hr
    >>> ds = hr.Dataset.range(1).map(lambda x: tuple(Assert(x < 9, [x, "text"])))
    >>> list(ds)
    [(np.int64(0), b'text')]
    """
    several = isinstance(data, (list, tuple))
    values = [constant(x) for x in data] if several else [constant(data)]
    held = constant(condition)
    shown = [("data", x) for x in values]
    most = None if summarize is None else integer(summarize, "summarize")
    out = [_core.check(x, held, "Assert", name or "", shown, most) for x in values]
    holds(out[0] if out else _core.check(held, held, "Assert", name or "", [], None))
    return out if several else out[0]


def assert_equal(x: Any, y: Any, message: str | None = None, summarize: Any = None, name: str | None = None) -> Tensor:
    """``x`` where ``x == y``.

    >>> list(Dataset.range(2).map(lambda x: hr.debugging.assert_equal(x, x)))
    [np.int64(0), np.int64(1)]
    """
    return _two(_core.assert_equal, x, y, message, summarize)


def assert_none_equal(x: Any, y: Any, summarize: Any = None, message: str | None = None,
                      name: str | None = None) -> Tensor:
    """``x`` where ``x != y``.

    >>> list(Dataset.range(2).map(lambda x: hr.debugging.assert_none_equal(x, 9)))
    [np.int64(0), np.int64(1)]
    """
    return _two(_core.assert_none_equal, x, y, message, summarize)


def assert_less(x: Any, y: Any, message: str | None = None, summarize: Any = None, name: str | None = None) -> Tensor:
    """``x`` where ``x < y``.

    >>> import headrace as hr
    >>> ds = hr.Dataset.range(2).map(lambda x: hr.debugging.assert_less(x, 9))
    >>> list(ds.as_numpy_iterator())
    [np.int64(0), np.int64(1)]
    """
    return _two(_core.assert_less, x, y, message, summarize)


def assert_less_equal(x: Any, y: Any, message: str | None = None, summarize: Any = None,
                      name: str | None = None) -> Tensor:
    """``x`` where ``x <= y``.

    >>> list(Dataset.range(2).map(lambda x: hr.debugging.assert_less_equal(x, 1)))
    [np.int64(0), np.int64(1)]
    """
    return _two(_core.assert_less_equal, x, y, message, summarize)


def assert_greater(x: Any, y: Any, message: str | None = None, summarize: Any = None,
                   name: str | None = None) -> Tensor:
    """``x`` where ``x > y``.

    >>> list(Dataset.range(2).map(lambda x: hr.debugging.assert_greater(x, -1)))
    [np.int64(0), np.int64(1)]
    """
    return _two(_core.assert_greater, x, y, message, summarize)


def assert_greater_equal(x: Any, y: Any, message: str | None = None, summarize: Any = None,
                         name: str | None = None) -> Tensor:
    """``x`` where ``x >= y``.

    >>> list(Dataset.range(2).map(lambda x: hr.debugging.assert_greater_equal(x, 0)))
    [np.int64(0), np.int64(1)]
    """
    return _two(_core.assert_greater_equal, x, y, message, summarize)


def assert_near(x: Any, y: Any, rtol: Any = None, atol: Any = None, message: str | None = None, summarize: Any = None,
                name: str | None = None) -> Tensor:
    """``x`` where ``|x - y| < atol + rtol * |y|``; each is ten times the dtype's step at 1 if it is None.

    Floats or complex numbers. The tolerances are numbers, or tensors of the dtype of ``|x|``; for complex ``x`` of one value.

    >>> list(Dataset.from_tensor_slices([1.0]).map(lambda x: hr.debugging.assert_near(x, 1.01, atol=0.1)))
    [np.float32(1.0)]
    """
    value = constant(x)
    if not (value.dtype.is_floating or value.dtype.is_complex):
        raise TypeError(str(_refused("assert_near", f"x is {value.dtype.name}; floats or complex numbers are needed", message)))
    other = constant(y, value.dtype) if not isinstance(y, Tensor) else y
    if other.dtype != value.dtype:
        raise TypeError(str(_refused("assert_near", f"x is {value.dtype.name}, and y {other.dtype.name}", message)))
    real = real_dtype(value.dtype)
    usual = 10 * step_at_one(real)
    relative, absolute_ = (constant(usual if given is None else given, real) for given in (rtol, atol))
    difference = value - other
    # In the shape of both.
    beside = _core.where(difference == difference, other, other)
    near = absolute(difference) < absolute_ + relative * absolute(beside)
    return _held(_core.check(value, near, "assert_near", message or "x is near y", [("x", value), ("y", other)], None),
                 summarize)


def assert_positive(x: Any, message: str | None = None, summarize: Any = None, name: str | None = None) -> Tensor:
    """``x`` where ``x > 0``.

    >>> ds = Dataset.range(2).map(lambda x: hr.debugging.assert_positive(x, "a length")).ignore_errors()
    >>> list(ds)
    [np.int64(1)]
    """
    return _held(_core.assert_positive(constant(x), message or ""), summarize)


def assert_negative(x: Any, message: str | None = None, summarize: Any = None, name: str | None = None) -> Tensor:
    """``x`` where ``x < 0``.

    >>> list(Dataset.range(2).map(lambda x: hr.debugging.assert_negative(-x - 1)))
    [np.int64(-1), np.int64(-2)]
    """
    return _held(_core.assert_negative(constant(x), message or ""), summarize)


def assert_non_negative(x: Any, message: str | None = None, summarize: Any = None, name: str | None = None) -> Tensor:
    """``x`` where ``x >= 0``.

    >>> list(Dataset.range(2).map(hr.debugging.assert_non_negative))
    [np.int64(0), np.int64(1)]
    """
    return _held(_core.assert_non_negative(constant(x), message or ""), summarize)


def assert_non_positive(x: Any, message: str | None = None, summarize: Any = None, name: str | None = None) -> Tensor:
    """``x`` where ``x <= 0``.

    >>> list(Dataset.range(2).map(lambda x: hr.debugging.assert_non_positive(-x)))
    [np.int64(0), np.int64(-1)]
    """
    return _held(_core.assert_non_positive(constant(x), message or ""), summarize)


def assert_all_finite(x: Any, message: str, name: str | None = None) -> Tensor:
    """``x`` without NaN and infinities.

    >>> list(Dataset.from_tensor_slices([1.5]).map(lambda x: hr.debugging.assert_all_finite(x, "the input")))
    [np.float32(1.5)]
    """
    return _held(_core.assert_all_finite(constant(x), message))


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """``tensor`` without NaN and infinities; ``message`` says what was computed.

    >>> ds = Dataset.from_tensor_slices([4.0, -1.0]).map(lambda x: hr.debugging.check_numerics(hr.sqrt(x), "a root"))
    >>> list(ds.ignore_errors())
    [np.float32(2.0)]
    """
    return _held(_core.check_numerics(constant(tensor), message))


def enable_check_numerics(stack_height_limit: int = 30, path_length_limit: int = 50) -> None:
    """From here on, what functions compute is checked for NaN and infinities: an error of the element, which names the line.

    It holds for functions that are traced afterwards, until ``disable_check_numerics``, and for each floating result that
    another one depends on. What only moves values, as ``reshape`` and ``where``, is not checked, nor is what comes in. The
    arguments are accepted: the error names one line.

    >>> hr.debugging.enable_check_numerics()
    >>> ds = Dataset.from_tensor_slices([4.0, 0.0]).map(lambda x: 1 / x)
    >>> hr.debugging.disable_check_numerics()
    >>> list(ds.ignore_errors())
    [np.float32(0.25)]
    """
    integer(stack_height_limit, "stack_height_limit")
    integer(path_length_limit, "path_length_limit")
    _numerics.enable()


def disable_check_numerics() -> None:
    """Functions that are traced from here on are not checked any more.

    >>> hr.debugging.disable_check_numerics()
    """
    _numerics.disable()


def set_log_device_placement(enabled: bool) -> None:
    """Elements are on the CPU, and no placement is logged: raises ``UnimplementedError`` if ``enabled``.

    >>> hr.debugging.set_log_device_placement(False)
    """
    if enabled:
        raise UnimplementedError("debugging.set_log_device_placement: all elements are on the CPU, and this release logs no "
                                 "placements; Dataset.explain shows what runs")


def get_log_device_placement() -> bool:
    """Are placements logged? They never are.

    >>> hr.debugging.get_log_device_placement()
    False
    """
    return False


def disable_traceback_filtering() -> None:
    """Tracebacks are whole, so that nothing changes.

    >>> hr.debugging.disable_traceback_filtering()
    """


def is_traceback_filtering_enabled() -> bool:
    """Are lines left out of tracebacks? None are.

    >>> hr.debugging.is_traceback_filtering_enabled()
    False
    """
    return False


def _refused(name: str, what: str, message: str | None) -> InvalidArgumentError:
    return InvalidArgumentError(f"debugging.{name}: {message + ': ' if message else ''}{what}")


def _rank_is(x: Any, name: str, fits: Any, needed: str, message: str | None) -> Tensor:
    """`x` if its rank fits, which is found out at once if it is known."""
    out = constant(x)
    known = out.shape.rank
    if known is None:
        return _held(_core.assert_true(out, fits(_core.size(_core.shape_of(out))), message or needed))
    if not fits(known):
        raise _refused(name, f"the tensor has shape {out.shape}; {needed}", message)
    return out


def assert_rank(x: Any, rank: int, message: str | None = None, name: str | None = None) -> Tensor:
    """``x`` if it has so many axes: raises at once if it is known to have another number.

    >>> import headrace as hr
    >>> list(hr.Dataset.range(1).map(lambda x: hr.debugging.assert_rank(x, 0)))
    [np.int64(0)]
    """
    out = constant(x)
    asserted = _core.assert_rank(out, integer(rank, "rank"), message or "")
    return asserted if out.shape.rank is not None else _held(asserted)


def assert_rank_at_least(x: Any, rank: int, message: str | None = None, name: str | None = None) -> Tensor:
    """``x`` if it has so many axes or more: raises at once if it is known to have less.

    >>> list(Dataset.range(2).batch(2).map(lambda x: hr.debugging.assert_rank_at_least(x, 1)))
    [array([0, 1])]
    """
    least = integer(rank, "rank")
    return _rank_is(x, "assert_rank_at_least", lambda r: r >= least, f"rank {least} or more is needed", message)


def assert_rank_in(x: Any, ranks: Iterable[int], message: str | None = None, name: str | None = None) -> Tensor:
    """``x`` if the number of its axes is one of these: raises at once if it is known to be none.

    >>> list(Dataset.range(2).map(lambda x: hr.debugging.assert_rank_in(x, [0, 1])))
    [np.int64(0), np.int64(1)]
    """
    some = [integer(r, "ranks") for r in ranks]
    if not some:
        raise ValueError("ranks must hold one number at least")

    def fits(rank: Any) -> Any:
        out = rank == some[0]
        for r in some[1:]:
            out = out | (rank == r)
        return out
    return _rank_is(x, "assert_rank_in", fits, f"a rank of {some} is needed", message)


def assert_scalar(tensor: Any, message: str | None = None, name: str | None = None) -> Tensor:
    """``tensor`` if it has no axes. Raises ``InvalidArgumentError`` at once otherwise, also if that is not known.

    >>> list(Dataset.range(2).map(hr.debugging.assert_scalar))
    [np.int64(0), np.int64(1)]
    """
    out = constant(tensor)
    if out.shape.rank != 0:
        raise _refused("assert_scalar", f"the tensor has shape {out.shape}; a scalar is needed", message)
    return out


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> Tensor:
    """``x`` if it has an integer dtype. Raises ``TypeError`` at once otherwise.

    >>> list(Dataset.range(2).map(hr.debugging.assert_integer))
    [np.int64(0), np.int64(1)]
    """
    out = constant(x)
    if not out.dtype.is_integer:
        raise TypeError(str(_refused("assert_integer", f"the tensor is {out.dtype.name}; integers are needed", message)))
    return out


def assert_type(tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None) -> Tensor:
    """``tensor`` if it has this dtype. Raises ``TypeError`` at once otherwise.

    >>> import headrace as hr
    >>> list(hr.Dataset.range(1).map(lambda x: hr.debugging.assert_type(x, hr.int64)))
    [np.int64(0)]
    """
    out, wanted = constant(tensor), dtypes.as_dtype(tf_type)
    if out.dtype != wanted:
        raise TypeError(str(_refused("assert_type", f"the tensor is {out.dtype.name}; {wanted.name} is needed", message)))
    return out


def assert_same_float_dtype(tensors: Any = None, dtype: Any = None) -> dtypes.DType:
    """The floating dtype that all of these tensors have (None among them is passed over), which is ``dtype`` if given.

    Raises ``ValueError``.

    >>> hr.debugging.assert_same_float_dtype([hr.constant(1.0), None, hr.constant([2.0])])
    headrace.float32
    """
    seen = [constant(x).dtype for x in tensors or [] if x is not None]
    wanted = dtypes.float32 if dtype is None and not seen else seen[0] if dtype is None else dtypes.as_dtype(dtype)
    for other in seen:
        if other != wanted:
            raise ValueError(f"debugging.assert_same_float_dtype: a tensor is {other.name}, where {wanted.name} is needed")
    if not wanted.is_floating:
        raise ValueError(f"debugging.assert_same_float_dtype: {wanted.name} is no floating dtype")
    return wanted


def _pairs(shapes: Any) -> list[tuple[Any, Any]]:
    return list(shapes.items()) if isinstance(shapes, Mapping) else [(x, dims) for x, dims in shapes]


def _is_any(wanted: Any) -> bool:
    return wanted is None or isinstance(wanted, str) and wanted == "."


def _inner_axes(x: Tensor, dims: tuple[Any, ...], message: str | None) -> tuple[Tensor, list[Any], tuple[Any, ...]]:
    """The tensor, the extents of its axes, and what they are to be: of the last ones if ``dims`` begins with any axes."""
    if dims and (dims[0] is Ellipsis or isinstance(dims[0], str) and dims[0] == "*"):
        dims = dims[1:]
        out = assert_rank_at_least(x, len(dims), message)
        if out.shape.rank is None:
            raise _refused("assert_shapes", "the tensor has an unknown rank; say it with headrace.ensure_shape", message)
        skipped = out.shape.rank - len(dims)
    else:
        # A scalar and a tensor of one value are alike.
        dims = dims or (1,)
        if x.shape.rank == 0:
            return (x, [1], dims) if len(dims) == 1 else (assert_rank(x, len(dims), message), [], dims)
        out, skipped = assert_rank(x, len(dims), message), 0
    extents = [known if known is not None else _core.cast(_core.shape_of(out)[axis], "int64")
               for axis, known in enumerate(out.shape) if axis >= skipped]
    return out, extents, dims


def assert_shapes(shapes: Any, data: Any = None, summarize: Any = None, message: str | None = None,
                  name: str | None = None) -> list[Tensor]:
    """The tensors of ``(tensor, shape)`` pairs, if all have these shapes. ``shapes``: a list of pairs.

    A shape holds, for each axis, an extent (an int, or its digits), None or ``"."`` (any), or another value: axes of one value
    have one extent. It may begin with ``...`` or ``"*"``: any axes before the others. A scalar counts as one axis of extent 1.
    ``data``: tensors that the message shows in place of the shape. What is known when the function is traced raises
    ``InvalidArgumentError`` at once.

    >>> import headrace as hr
    >>> ds = hr.Dataset.range(4).batch(2).map(lambda x: hr.debugging.assert_shapes([(x, ("N",)), (-x, ("N",))])[0])
    >>> list(ds)
    [array([0, 1]), array([2, 3])]
    """
    out: list[Tensor] = []
    extents: dict[Any, Any] = {}  # by name: a number, or a tensor of one
    given = data if isinstance(data, (list, tuple)) else [] if data is None else [data]
    shown = [("data", constant(x)) for x in given]
    most = None if summarize is None else integer(summarize, "summarize")
    for x, shape in _pairs(shapes):
        dims = tuple(shape) if isinstance(shape, Iterable) and not isinstance(shape, (str, bytes)) else (shape,)
        t, found, wanted_of = _inner_axes(constant(x), dims, message)
        for wanted, extent in zip(wanted_of, found):
            if isinstance(wanted, str) and wanted.isdecimal():
                wanted = int(wanted)
            if _is_any(wanted):
                continue
            if not isinstance(wanted, (int, np.integer)) or isinstance(wanted, bool):
                wanted = extents.setdefault(wanted, extent)
            if wanted is extent:
                continue
            if isinstance(wanted, (int, np.integer)) and isinstance(extent, int):
                if wanted != extent:
                    raise _refused("assert_shapes", f"a tensor has shape {t.shape}; {dims} is needed", message)
            else:
                same = constant(extent, dtypes.int64) == constant(wanted, dtypes.int64)
                t = holds(_core.check(t, same, "assert_shapes", message or f"the shape is {dims}", shown, most))
        out.append(t)
    return out


def assert_proper_iterable(values: Any) -> None:
    """Raises ``TypeError`` for what is no iterable of tensors: one tensor, an array, a string, or no iterable at all.

    >>> hr.debugging.assert_proper_iterable([1, 2])
    """
    if isinstance(values, (Tensor, np.ndarray, str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"debugging.assert_proper_iterable: {type(values).__name__} is no iterable of tensors")


def is_numeric_tensor(tensor: Any) -> bool:
    """Is it a tensor of numbers (and not of strings or bools)?

    >>> import headrace as hr
    >>> is_numeric_tensor(hr.constant(1)), is_numeric_tensor(hr.constant("x")), is_numeric_tensor(1)
    (True, False, False)
    """
    return isinstance(tensor, Tensor) and tensor.dtype not in (dtypes.string, dtypes.bool)
