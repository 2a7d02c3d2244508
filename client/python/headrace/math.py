"""Functions of numbers, for traced functions. Named as in ``tf.math``."""

from __future__ import annotations

from typing import Any

from . import _core
from ._values import integer, integers, tensor

Tensor = _core.Tensor


def _x(value: Any) -> Tensor:
    return tensor(value, "x")


# -- elementwise ------------------------------------------------------------------------------------


def add(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x + y``; joins strings."""
    return _x(x) + tensor(y, "y")


def subtract(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x - y``."""
    return _x(x) - tensor(y, "y")


def multiply(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x * y``."""
    return _x(x) * tensor(y, "y")


def divide(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x / y``; of integers, a float."""
    return _x(x) / tensor(y, "y")


truediv = divide


def floordiv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x // y``, rounded towards minus infinity. An integer divisor of zero is an error of the element."""
    return _x(x) // tensor(y, "y")


def floormod(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x % y`` with the sign of ``y``."""
    return _x(x) % tensor(y, "y")


mod = floormod


def pow(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x ** y``."""
    return _x(x) ** tensor(y, "y")


def negative(x: Any, name: str | None = None) -> Tensor:
    """``-x``."""
    return -_x(x)


def abs(x: Any, name: str | None = None) -> Tensor:
    """The absolute value."""
    return _x(x).__abs__()


def square(x: Any, name: str | None = None) -> Tensor:
    """``x * x``."""
    return _core.square(_x(x))


def sign(x: Any, name: str | None = None) -> Tensor:
    """-1, 0 or 1; NaN stays."""
    return _core.sign(_x(x))


def sqrt(x: Any, name: str | None = None) -> Tensor:
    """The square root of floats."""
    return _core.sqrt(_x(x))


def exp(x: Any, name: str | None = None) -> Tensor:
    """e to the ``x``, of floats."""
    return _core.exp(_x(x))


def log(x: Any, name: str | None = None) -> Tensor:
    """The natural logarithm of floats."""
    return _core.log(_x(x))


def tanh(x: Any, name: str | None = None) -> Tensor:
    """The hyperbolic tangent of floats."""
    return _core.tanh(_x(x))


def sin(x: Any, name: str | None = None) -> Tensor:
    """The sine of floats."""
    return _core.sin(_x(x))


def cos(x: Any, name: str | None = None) -> Tensor:
    """The cosine of floats."""
    return _core.cos(_x(x))


def floor(x: Any, name: str | None = None) -> Tensor:
    """Rounds floats down."""
    return _core.floor(_x(x))


def ceil(x: Any, name: str | None = None) -> Tensor:
    """Rounds floats up."""
    return _core.ceil(_x(x))


def round(x: Any, name: str | None = None) -> Tensor:
    """Rounds floats to the nearest; halves to even."""
    return _core.round(_x(x))


rint = round


def is_nan(x: Any, name: str | None = None) -> Tensor:
    """Is it not a number?"""
    return _core.is_nan(_x(x))


def minimum(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The smaller, element by element; NaN if either is."""
    return _core.minimum(_x(x), tensor(y, "y"))


def maximum(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The larger, element by element; NaN if either is."""
    return _core.maximum(_x(x), tensor(y, "y"))


# -- comparison and logic -----------------------------------------------------------------------------


def equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x == y``."""
    return _x(x) == tensor(y, "y")


def not_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x != y``."""
    return _x(x) != tensor(y, "y")


def less(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x < y``."""
    return _x(x) < tensor(y, "y")


def less_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x <= y``."""
    return _x(x) <= tensor(y, "y")


def greater(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x > y``."""
    return _x(x) > tensor(y, "y")


def greater_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x >= y``."""
    return _x(x) >= tensor(y, "y")


def logical_and(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x & y`` of bools."""
    return _x(x) & tensor(y, "y")


def logical_or(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x | y`` of bools."""
    return _x(x) | tensor(y, "y")


def logical_xor(x: Any, y: Any, name: str | None = "LogicalXor") -> Tensor:
    """``x ^ y`` of bools."""
    return _x(x) ^ tensor(y, "y")


def logical_not(x: Any, name: str | None = None) -> Tensor:
    """``~x`` of bools."""
    return ~_x(x)


# -- reductions -----------------------------------------------------------------------------------------


def reduce_sum(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """The sum over ``axis`` (one, several, or None for all). Floats are added in one fixed order on every CPU."""
    return _core.reduce_sum(tensor(input_tensor, "input_tensor"), integers(axis, "axis"), keepdims)


def reduce_mean(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """The mean over ``axis``."""
    return _core.reduce_mean(tensor(input_tensor, "input_tensor"), integers(axis, "axis"), keepdims)


def reduce_max(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """The largest over ``axis``."""
    return _core.reduce_max(tensor(input_tensor, "input_tensor"), integers(axis, "axis"), keepdims)


def reduce_min(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """The smallest over ``axis``."""
    return _core.reduce_min(tensor(input_tensor, "input_tensor"), integers(axis, "axis"), keepdims)


def reduce_prod(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """The product over ``axis``."""
    return _core.reduce_prod(tensor(input_tensor, "input_tensor"), integers(axis, "axis"), keepdims)


def reduce_all(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """Are all true over ``axis``?"""
    return _core.reduce_all(tensor(input_tensor, "input_tensor"), integers(axis, "axis"), keepdims)


def reduce_any(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """Is any true over ``axis``?"""
    return _core.reduce_any(tensor(input_tensor, "input_tensor"), integers(axis, "axis"), keepdims)


def argmax(input: Any, axis: Any = None, output_type: Any = "int64", name: str | None = None) -> Tensor:
    """Where the first largest along ``axis`` (0 by default) is."""
    out = _core.argmax(tensor(input, "input"), 0 if axis is None else integer(axis, "axis"))
    return _core.cast(out, _name(output_type))


def argmin(input: Any, axis: Any = None, output_type: Any = "int64", name: str | None = None) -> Tensor:
    """Where the first smallest along ``axis`` (0 by default) is."""
    out = _core.argmin(tensor(input, "input"), 0 if axis is None else integer(axis, "axis"))
    return _core.cast(out, _name(output_type))


# -- order and algebra ---------------------------------------------------------------------------------------


def top_k(input: Any, k: int = 1, sorted: bool = True, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The ``k`` largest of the last axis in descending order, and where they are (int32)."""
    out: tuple[Tensor, Tensor] = _core.top_k(tensor(input, "input"), integer(k, "k"))
    return out


def cumsum(x: Any, axis: int = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Tensor:
    """Running sums along ``axis``; ``exclusive``: of what comes before; ``reverse``: from the end."""
    return _core.cumsum(_x(x), integer(axis, "axis"), exclusive, reverse)


def cumprod(x: Any, axis: int = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Tensor:
    """Running products along ``axis``."""
    return _core.cumprod(_x(x), integer(axis, "axis"), exclusive, reverse)


def _name(dtype: Any) -> str:
    from .dtypes import as_dtype

    return as_dtype(dtype).name
