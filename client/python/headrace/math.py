"""Functions of numbers, for traced functions. Named as in ``tf.math``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _core
from ._functions.floats import (
    divide_no_nan, is_finite, is_inf, reciprocal, reduce_std, reduce_variance, rsqrt, sigmoid, squared_difference,
)
from ._functions.composed import zeros_like
from ._missing import names_of as _names_of
from ._functions.reductions import (
    argmax, argmin, cumprod, cumsum, reduce_all, reduce_any, reduce_max, reduce_mean, reduce_min, reduce_prod, reduce_sum,
    top_k,
)
from ._tensors.values import named, pair

if not TYPE_CHECKING:
    __getattr__ = _names_of("math")

__all__ = [
    "abs", "add", "argmax", "argmin", "ceil", "cos", "cumprod", "cumsum", "divide", "divide_no_nan", "equal",
    "exp", "floor", "floordiv", "floormod", "greater", "greater_equal", "is_finite", "imag", "is_inf", "is_nan", "less",
    "less_equal", "log", "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "mod",
    "multiply", "negative", "not_equal", "pow", "real", "reciprocal", "reduce_all", "reduce_any", "reduce_max",
    "reduce_mean", "reduce_min", "reduce_prod", "reduce_std", "reduce_sum", "reduce_variance", "rint", "round",
    "rsqrt", "sigmoid", "sign", "sin", "sqrt", "square", "squared_difference", "subtract", "tanh", "top_k",
    "truediv",
]

Tensor = _core.Tensor


def _x(value: Any) -> Tensor:
    return named(value, "x")


# -- elementwise ------------------------------------------------------------------------------------


def add(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x + y``; strings are joined.

    >>> Dataset.from_tensors(([7, -7], 2)).map(add).get_single_element()
    array([ 9, -5], dtype=int32)
    """
    a, b = pair(x, y)
    return a + b


def subtract(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x - y``.

    >>> Dataset.from_tensors(([7, -7], 2)).map(subtract).get_single_element()
    array([ 5, -9], dtype=int32)
    """
    a, b = pair(x, y)
    return a - b


def multiply(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x * y``.

    >>> Dataset.from_tensors(([7, -7], 2)).map(multiply).get_single_element()
    array([ 14, -14], dtype=int32)
    """
    a, b = pair(x, y)
    return a * b


def divide(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x / y``; the quotient of integers is a float.

    >>> Dataset.from_tensors(([7, -7], 2)).map(divide).get_single_element()
    array([ 3.5, -3.5])
    """
    a, b = pair(x, y)
    return a / b


truediv = divide


def floordiv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x // y``, rounded towards minus infinity. An integer divisor of zero is an error of the element.

    >>> Dataset.from_tensors(([7, -7], 2)).map(floordiv).get_single_element()
    array([ 3, -4], dtype=int32)
    """
    a, b = pair(x, y)
    return a // b


def floormod(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x % y`` with the sign of ``y``.

    >>> Dataset.from_tensors(([7, -7], 2)).map(floormod).get_single_element()
    array([1, 1], dtype=int32)
    """
    a, b = pair(x, y)
    return a % b


mod = floormod


def pow(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x ** y``.

    >>> Dataset.from_tensors(([7, -7], 2)).map(pow).get_single_element()
    array([49, 49], dtype=int32)
    """
    a, b = pair(x, y)
    return a ** b


def negative(x: Any, name: str | None = None) -> Tensor:
    """``-x``.

    >>> Dataset.from_tensors([-2, 0, 3]).map(negative).get_single_element()
    array([ 2,  0, -3], dtype=int32)
    """
    return -_x(x)


def abs(x: Any, name: str | None = None) -> Tensor:
    """The absolute value; for complex numbers the magnitude, which is a float.

    >>> Dataset.from_tensors([-2, 0, 3]).map(abs).get_single_element()
    array([2, 0, 3], dtype=int32)
    >>> Dataset.from_tensors(np.array([3 + 4j])).map(abs).get_single_element()
    array([5.])
    """
    return _x(x).__abs__()


def real(input: Any, name: str | None = None) -> Tensor:
    """The real part of complex numbers: float32 for complex64, float64 for complex128. Other numbers are unchanged.

    >>> Dataset.from_tensors(np.array([3 + 4j])).map(real).get_single_element()
    array([3.])
    """
    return _core.real(named(input, "input"))


def imag(input: Any, name: str | None = None) -> Tensor:
    """The imaginary part of complex numbers: float32 for complex64, float64 for complex128. For other numbers 0.

    >>> Dataset.from_tensors(np.array([3 + 4j])).map(imag).get_single_element()
    array([4.])
    """
    x = named(input, "input")
    return _core.imag(x) if x.dtype.is_complex else zeros_like(x)


def square(x: Any, name: str | None = None) -> Tensor:
    """``x * x``.

    >>> Dataset.from_tensors([-2, 3]).map(square).get_single_element()
    array([4, 9], dtype=int32)
    """
    return _core.square(_x(x))


def sign(x: Any, name: str | None = None) -> Tensor:
    """-1, 0 or 1; NaN for NaN.

    >>> Dataset.from_tensors([-2, 0, 3]).map(sign).get_single_element()
    array([-1,  0,  1], dtype=int32)
    """
    return _core.sign(_x(x))


def sqrt(x: Any, name: str | None = None) -> Tensor:
    """The square root of floats.

    >>> Dataset.from_tensors([1.0, 4.0]).map(sqrt).get_single_element()
    array([1., 2.], dtype=float32)
    """
    return _core.sqrt(_x(x))


def exp(x: Any, name: str | None = None) -> Tensor:
    """e to the power of ``x``, for floats.

    >>> Dataset.from_tensors([0.0]).map(exp).get_single_element()
    array([1.], dtype=float32)
    """
    return _core.exp(_x(x))


def log(x: Any, name: str | None = None) -> Tensor:
    """The natural logarithm of floats.

    >>> Dataset.from_tensors([1.0]).map(log).get_single_element()
    array([0.], dtype=float32)
    """
    return _core.log(_x(x))


def tanh(x: Any, name: str | None = None) -> Tensor:
    """The hyperbolic tangent of floats.

    >>> Dataset.from_tensors([0.0]).map(tanh).get_single_element()
    array([0.], dtype=float32)
    """
    return _core.tanh(_x(x))


def sin(x: Any, name: str | None = None) -> Tensor:
    """The sine of floats.

    >>> Dataset.from_tensors([0.0]).map(sin).get_single_element()
    array([0.], dtype=float32)
    """
    return _core.sin(_x(x))


def cos(x: Any, name: str | None = None) -> Tensor:
    """The cosine of floats.

    >>> Dataset.from_tensors([0.0]).map(cos).get_single_element()
    array([1.], dtype=float32)
    """
    return _core.cos(_x(x))


def floor(x: Any, name: str | None = None) -> Tensor:
    """Rounds floats down.

    >>> Dataset.from_tensors([1.5, -1.5, 2.5]).map(floor).get_single_element()
    array([ 1., -2.,  2.], dtype=float32)
    """
    return _core.floor(_x(x))


def ceil(x: Any, name: str | None = None) -> Tensor:
    """Rounds floats up.

    >>> Dataset.from_tensors([1.5, -1.5, 2.5]).map(ceil).get_single_element()
    array([ 2., -1.,  3.], dtype=float32)
    """
    return _core.ceil(_x(x))


def round(x: Any, name: str | None = None) -> Tensor:
    """Rounds floats to the nearest integer; halves are rounded to the even one.

    >>> Dataset.from_tensors([1.5, -1.5, 2.5]).map(round).get_single_element()
    array([ 2., -2.,  2.], dtype=float32)
    """
    return _core.round(_x(x))


rint = round


def is_nan(x: Any, name: str | None = None) -> Tensor:
    """True for NaN.

    >>> Dataset.from_tensors([1.0, float("nan")]).map(is_nan).get_single_element()
    array([False,  True])
    """
    return _core.is_nan(_x(x))


def minimum(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The smaller one of each two values; NaN if one of them is NaN.

    >>> Dataset.from_tensors(([7, -7], 2)).map(minimum).get_single_element()
    array([ 2, -7], dtype=int32)
    """
    return _core.minimum(*pair(x, y))


def maximum(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The larger one of each two values; NaN if one of them is NaN.

    >>> Dataset.from_tensors(([7, -7], 2)).map(maximum).get_single_element()
    array([7, 2], dtype=int32)
    """
    return _core.maximum(*pair(x, y))


# -- comparison and logic -----------------------------------------------------------------------------


def equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x == y``.

    >>> Dataset.from_tensors(([1, 2, 3], 2)).map(equal).get_single_element()
    array([False,  True, False])
    """
    a, b = pair(x, y)
    return a == b


def not_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x != y``.

    >>> Dataset.from_tensors(([1, 2, 3], 2)).map(not_equal).get_single_element()
    array([ True, False,  True])
    """
    a, b = pair(x, y)
    return a != b


def less(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x < y``.

    >>> Dataset.from_tensors(([1, 2, 3], 2)).map(less).get_single_element()
    array([ True, False, False])
    """
    a, b = pair(x, y)
    return a < b


def less_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x <= y``.

    >>> Dataset.from_tensors(([1, 2, 3], 2)).map(less_equal).get_single_element()
    array([ True,  True, False])
    """
    a, b = pair(x, y)
    return a <= b


def greater(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x > y``.

    >>> Dataset.from_tensors(([1, 2, 3], 2)).map(greater).get_single_element()
    array([False, False,  True])
    """
    a, b = pair(x, y)
    return a > b


def greater_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x >= y``.

    >>> Dataset.from_tensors(([1, 2, 3], 2)).map(greater_equal).get_single_element()
    array([False,  True,  True])
    """
    a, b = pair(x, y)
    return a >= b


def _bools(function: str, *operands: Tensor) -> tuple[Tensor, ...]:
    for operand in operands:
        if not operand.dtype.is_bool:
            raise TypeError(f"math.{function}: an operand is {operand.dtype.name}; it must be bools; compare with "
                            "something first")
    return operands


def logical_and(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x & y`` of bools. Raises ``TypeError`` for other tensors.

    >>> Dataset.from_tensors(([True, False], True)).map(logical_and).get_single_element()
    array([ True, False])
    """
    a, b = _bools("logical_and", *pair(x, y))
    return a & b


def logical_or(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x | y`` of bools. Raises ``TypeError`` for other tensors.

    >>> Dataset.from_tensors(([True, False], True)).map(logical_or).get_single_element()
    array([ True,  True])
    """
    a, b = _bools("logical_or", *pair(x, y))
    return a | b


def logical_xor(x: Any, y: Any, name: str | None = "LogicalXor") -> Tensor:
    """``x ^ y`` of bools. Raises ``TypeError`` for other tensors.

    >>> Dataset.from_tensors(([True, False], True)).map(logical_xor).get_single_element()
    array([False,  True])
    """
    a, b = _bools("logical_xor", *pair(x, y))
    return a ^ b


def logical_not(x: Any, name: str | None = None) -> Tensor:
    """``~x`` of bools. Raises ``TypeError`` for other tensors.

    >>> Dataset.from_tensors([True, False]).map(logical_not).get_single_element()
    array([False,  True])
    """
    return ~_bools("logical_not", _x(x))[0]
