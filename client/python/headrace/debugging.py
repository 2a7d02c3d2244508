"""Assertions, for traced functions. Named as in ``tf.debugging``.

Unless noted otherwise, an assertion returns its first argument. In a function that is given to a dataset, an element
for which an assertion does not hold fails, whether the result of the assertion is used or not. In a branch of
``headrace.cond``, or of an ``if`` over a tensor, an assertion applies to the elements that take that branch. An
assertion that depends on no element is checked at once, and raises ``InvalidArgumentError``.

``summarize``: the number of values of each tensor in the message (-1: all; None: three).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, dtypes
from ._functions.complexes import real_dtype, step_at_one
from ._functions.spec_assertions import assert_integer as assert_integer
from ._functions.spec_assertions import assert_rank as assert_rank
from ._functions.spec_assertions import assert_rank_at_least as assert_rank_at_least
from ._functions.spec_assertions import assert_rank_in as assert_rank_in
from ._functions.spec_assertions import assert_same_float_dtype as assert_same_float_dtype
from ._functions.spec_assertions import assert_scalar as assert_scalar
from ._functions.spec_assertions import assert_shapes as assert_shapes
from ._functions.spec_assertions import assert_type as assert_type
from ._functions.spec_assertions import does_not_hold, held
from ._missing import names_of as _names_of
from ._tensors.values import constant, integer, pair
from ._tracing import numerics as _numerics
from ._tracing.assertions import holds
from .errors import InvalidArgumentError, UnimplementedError

if not TYPE_CHECKING:
    __getattr__ = _names_of("debugging")

Tensor = _core.Tensor


def _two(f: Any, x: Any, y: Any, message: str | None, summarize: Any) -> Tensor:
    return held(f(*pair(constant(x), y), message or ""), summarize)


def Assert(condition: Any, data: Any, summarize: int | None = None, name: str | None = None) -> Any:
    """``data``, or an error of the element unless all bools in ``condition`` are true. ``data`` is a tensor, or a list
    of tensors, each with a dtype of its own.

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
    """``x``, or an error of the element unless ``x == y``.

    >>> list(Dataset.range(2).map(lambda x: hr.debugging.assert_equal(x, x)))
    [np.int64(0), np.int64(1)]
    """
    return _two(_core.assert_equal, x, y, message, summarize)


def assert_none_equal(x: Any, y: Any, summarize: Any = None, message: str | None = None,
                      name: str | None = None) -> Tensor:
    """``x``, or an error of the element unless ``x != y``.

    >>> list(Dataset.range(2).map(lambda x: hr.debugging.assert_none_equal(x, 9)))
    [np.int64(0), np.int64(1)]
    """
    return _two(_core.assert_none_equal, x, y, message, summarize)


def assert_less(x: Any, y: Any, message: str | None = None, summarize: Any = None, name: str | None = None) -> Tensor:
    """``x``, or an error of the element unless ``x < y``.

    >>> import headrace as hr
    >>> ds = hr.Dataset.range(2).map(lambda x: hr.debugging.assert_less(x, 9))
    >>> list(ds.as_numpy_iterator())
    [np.int64(0), np.int64(1)]
    """
    return _two(_core.assert_less, x, y, message, summarize)


def assert_less_equal(x: Any, y: Any, message: str | None = None, summarize: Any = None,
                      name: str | None = None) -> Tensor:
    """``x``, or an error of the element unless ``x <= y``.

    >>> list(Dataset.range(2).map(lambda x: hr.debugging.assert_less_equal(x, 1)))
    [np.int64(0), np.int64(1)]
    """
    return _two(_core.assert_less_equal, x, y, message, summarize)


def assert_greater(x: Any, y: Any, message: str | None = None, summarize: Any = None,
                   name: str | None = None) -> Tensor:
    """``x``, or an error of the element unless ``x > y``.

    >>> list(Dataset.range(2).map(lambda x: hr.debugging.assert_greater(x, -1)))
    [np.int64(0), np.int64(1)]
    """
    return _two(_core.assert_greater, x, y, message, summarize)


def assert_greater_equal(x: Any, y: Any, message: str | None = None, summarize: Any = None,
                         name: str | None = None) -> Tensor:
    """``x``, or an error of the element unless ``x >= y``.

    >>> list(Dataset.range(2).map(lambda x: hr.debugging.assert_greater_equal(x, 0)))
    [np.int64(0), np.int64(1)]
    """
    return _two(_core.assert_greater_equal, x, y, message, summarize)


def assert_near(x: Any, y: Any, rtol: Any = None, atol: Any = None, message: str | None = None, summarize: Any = None,
                name: str | None = None) -> Tensor:
    """``x``, or an error of the element unless ``|x - y| < atol + rtol * |y|``. A tolerance of None stands for ten
    times the distance from 1 to the next larger number of the dtype.

    ``x`` and ``y`` are floats or complex numbers. The tolerances are numbers, or tensors of the dtype of ``|x|``.

    >>> list(Dataset.from_tensor_slices([1.0]).map(lambda x: hr.debugging.assert_near(x, 1.01, atol=0.1)))
    [np.float32(1.0)]
    """
    value = constant(x)
    if not (value.dtype.is_floating or value.dtype.is_complex):
        raise TypeError(str(does_not_hold("assert_near", f"x is {value.dtype.name}; floats or complex numbers are needed", message)))
    other = constant(y, value.dtype) if not isinstance(y, Tensor) else y
    if other.dtype != value.dtype:
        raise TypeError(str(does_not_hold("assert_near", f"x is {value.dtype.name}, and y {other.dtype.name}", message)))
    real = real_dtype(value.dtype)
    usual = 10 * step_at_one(real)
    relative, absolute = (constant(usual if given is None else given, real) for given in (rtol, atol))
    difference = value - other
    # `other` is broadcast to the common shape of x and y, so that there is a tolerance for each difference.
    beside = _core.where(difference == difference, other, other)
    near = abs(difference) < absolute + relative * abs(beside)
    return held(_core.check(value, near, "assert_near", message or "x is near y", [("x", value), ("y", other)], None),
                 summarize)


def assert_positive(x: Any, message: str | None = None, summarize: Any = None, name: str | None = None) -> Tensor:
    """``x``, or an error of the element unless ``x > 0``.

    >>> ds = Dataset.range(2).map(lambda x: hr.debugging.assert_positive(x, "a length")).ignore_errors()
    >>> list(ds)
    [np.int64(1)]
    """
    return held(_core.assert_positive(constant(x), message or ""), summarize)


def assert_negative(x: Any, message: str | None = None, summarize: Any = None, name: str | None = None) -> Tensor:
    """``x``, or an error of the element unless ``x < 0``.

    >>> list(Dataset.range(2).map(lambda x: hr.debugging.assert_negative(-x - 1)))
    [np.int64(-1), np.int64(-2)]
    """
    return held(_core.assert_negative(constant(x), message or ""), summarize)


def assert_non_negative(x: Any, message: str | None = None, summarize: Any = None, name: str | None = None) -> Tensor:
    """``x``, or an error of the element unless ``x >= 0``.

    >>> list(Dataset.range(2).map(hr.debugging.assert_non_negative))
    [np.int64(0), np.int64(1)]
    """
    return held(_core.assert_non_negative(constant(x), message or ""), summarize)


def assert_non_positive(x: Any, message: str | None = None, summarize: Any = None, name: str | None = None) -> Tensor:
    """``x``, or an error of the element unless ``x <= 0``.

    >>> list(Dataset.range(2).map(lambda x: hr.debugging.assert_non_positive(-x)))
    [np.int64(0), np.int64(-1)]
    """
    return held(_core.assert_non_positive(constant(x), message or ""), summarize)


def assert_all_finite(x: Any, message: str, name: str | None = None) -> Tensor:
    """``x``, or an error if it has NaN or infinite values.

    >>> list(Dataset.from_tensor_slices([1.5]).map(lambda x: hr.debugging.assert_all_finite(x, "the input")))
    [np.float32(1.5)]
    """
    return held(_core.assert_all_finite(constant(x), message))


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """``tensor``, or an error if it has NaN or infinite values; ``message`` names the computation in the error.

    >>> ds = Dataset.from_tensor_slices([4.0, -1.0]).map(lambda x: hr.debugging.check_numerics(hr.sqrt(x), "a root"))
    >>> list(ds.ignore_errors())
    [np.float32(2.0)]
    """
    return held(_core.check_numerics(constant(tensor), message))


def enable_check_numerics(stack_height_limit: int = 30, path_length_limit: int = 50) -> None:
    """From now on, the results of functions are checked for NaN and infinite values. An element with such a result
    fails, with an error that names the line in the user's function.

    The checks apply to functions that are traced afterwards, until ``disable_check_numerics``, and to each
    floating-point result that is used. Functions that only move values, such as ``reshape`` and ``where``, are not
    checked, nor are the tensors that the traced function is given. The arguments are accepted without effect, because
    the error names only one line.

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
    """Functions that are traced later are no longer checked.

    >>> hr.debugging.disable_check_numerics()
    """
    _numerics.disable()


def set_log_device_placement(enabled: bool) -> None:
    """Elements are on the CPU, and placements are never logged: raises ``UnimplementedError`` if ``enabled``.

    >>> hr.debugging.set_log_device_placement(False)
    """
    if enabled:
        raise UnimplementedError("debugging.set_log_device_placement: all elements are on the CPU, and this release logs no "
                                 "placements; Dataset.explain shows what runs")


def get_log_device_placement() -> bool:
    """Whether placements are logged: always False.

    >>> hr.debugging.get_log_device_placement()
    False
    """
    return False


def disable_traceback_filtering() -> None:
    """Tracebacks are never filtered, so this has no effect.

    >>> hr.debugging.disable_traceback_filtering()
    """


def is_traceback_filtering_enabled() -> bool:
    """Whether lines are left out of tracebacks: always False.

    >>> hr.debugging.is_traceback_filtering_enabled()
    False
    """
    return False


def assert_proper_iterable(values: Any) -> None:
    """Raises ``TypeError`` for a value that is not an iterable of tensors: one tensor, an array, a string, or an object
    that cannot be iterated.

    >>> hr.debugging.assert_proper_iterable([1, 2])
    """
    if isinstance(values, (Tensor, np.ndarray, str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"debugging.assert_proper_iterable: {type(values).__name__} is no iterable of tensors")


def is_numeric_tensor(tensor: Any) -> bool:
    """True for a tensor of numbers (and not of strings or bools).

    >>> import headrace as hr
    >>> is_numeric_tensor(hr.constant(1)), is_numeric_tensor(hr.constant("x")), is_numeric_tensor(1)
    (True, False, False)
    """
    return isinstance(tensor, Tensor) and tensor.dtype not in (dtypes.string, dtypes.bool)
