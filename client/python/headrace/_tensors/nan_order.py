"""Functions of numpy for floats of which some are NaN. In the functions of headrace with the same names, NaN is where
TensorFlow has it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .. import _core
from .values import constant


def in_order(x: _core.Tensor, axis: int) -> _core.Tensor:
    """``numpy.sort``: NaN comes after all numbers."""
    if not x.dtype.is_floating:
        return _core.sort(x, axis, False)
    is_nan = _core.is_nan(x)
    numbers = _core.sort(_core.where(is_nan, constant(np.inf, x.dtype), x), axis, False)
    one_if_nan = _core.cast(is_nan, "int64")
    places_from_the_end = _core.cumsum(one_if_nan * 0 + 1, axis, False, True)
    return _core.where(places_from_the_end <= _core.reduce_sum(one_if_nan, [axis], True), constant(np.nan, x.dtype), numbers)


def place(find: Callable[[_core.Tensor, int], _core.Tensor], x: _core.Tensor, axis: int) -> _core.Tensor:
    """``numpy.argmax`` or ``numpy.argmin``: the index that ``find`` returns, or that of the first NaN."""
    if x.dtype.is_bool:
        x = _core.cast(x, "uint8")
    if not x.dtype.is_floating:
        return find(x, axis)
    found, is_nan = find(x, axis), _core.is_nan(x)
    first_nan = _core.argmax(_core.cast(is_nan, "uint8"), axis)
    return _core.where(_core.reduce_any(is_nan, [axis], False), first_nan, found)
