"""Functions of floats that are composed of other functions: part of ``headrace.math``."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._tensors.values import constant, operand_beside, pair
from .._tracing.numerics import as_one
from .reductions import reduce_mean

Tensor = _core.Tensor


def _float(value: Any, function: str) -> Tensor:
    x = constant(value)
    if not x.dtype.is_floating:
        raise TypeError(f"math.{function}: the tensor is {x.dtype.name}; floats are needed: use headrace.cast")
    return x


@as_one  # only the final result is checked, because the intermediate result of exp may be infinite
def sigmoid(x: Any, name: str | None = None) -> Tensor:
    """``1 / (1 + exp(-x))`` of floats.

    >>> Dataset.from_tensors([0.0]).map(hr.math.sigmoid).get_single_element()
    array([0.5], dtype=float32)
    """
    return 1 / (1 + _core.exp(-_float(x, "sigmoid")))


def rsqrt(x: Any, name: str | None = None) -> Tensor:
    """``1 / sqrt(x)`` of floats.

    >>> Dataset.from_tensors([4.0]).map(hr.math.rsqrt).get_single_element()
    array([0.5], dtype=float32)
    """
    return 1 / _core.sqrt(_float(x, "rsqrt"))


def reciprocal(x: Any, name: str | None = None) -> Tensor:
    """``1 / x`` of floats.

    >>> Dataset.from_tensors([4.0]).map(hr.math.reciprocal).get_single_element()
    array([0.25], dtype=float32)
    """
    return 1 / _float(x, "reciprocal")


def squared_difference(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``(x - y) * (x - y)``.

    >>> Dataset.from_tensors([1, 5]).map(lambda x: hr.math.squared_difference(x, 2)).get_single_element()
    array([1, 9], dtype=int32)
    """
    a, b = pair(x, y)
    return _core.square(a - b)


def divide_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """``x / y`` of floats, and 0 where ``y`` is 0.

    >>> Dataset.from_tensors([1.0, 0.0]).map(lambda y: hr.math.divide_no_nan(3.0, y)).get_single_element()
    array([3., 0.], dtype=float32)
    """
    a, b = (x, operand_beside(y, x.dtype)) if isinstance(x, Tensor) and not isinstance(y, Tensor) else pair(x, y)
    by = _float(b, "divide_no_nan")
    zero = by == 0
    return _core.where(zero, _core.literal(0), a / _core.where(zero, _core.literal(1), by))


def is_finite(x: Any, name: str | None = None) -> Tensor:
    """True where ``x`` is neither infinite nor NaN.

    >>> Dataset.from_tensors([1.0, float("inf")]).map(hr.math.is_finite).get_single_element()
    array([ True, False])
    """
    return abs(_float(x, "is_finite")) < np.inf


def is_inf(x: Any, name: str | None = None) -> Tensor:
    """True where ``x`` is infinite.

    >>> Dataset.from_tensors([1.0, -float("inf")]).map(hr.math.is_inf).get_single_element()
    array([False,  True])
    """
    return abs(_float(x, "is_inf")) == np.inf


def reduce_variance(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """The mean of the squared differences from the mean, of floats over ``axis``.

    >>> Dataset.from_tensors([1.0, 3.0]).map(hr.math.reduce_variance).get_single_element()
    np.float32(1.0)
    """
    x = _float(input_tensor, "reduce_variance")
    return reduce_mean(_core.square(x - reduce_mean(x, axis, True)), axis, keepdims)


def reduce_std(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """The square root of ``reduce_variance``.

    >>> Dataset.from_tensors([1.0, 3.0]).map(hr.math.reduce_std).get_single_element()
    np.float32(1.0)
    """
    return _core.sqrt(reduce_variance(_float(input_tensor, "reduce_std"), axis, keepdims))
