"""Functions of the axes of tensors, for headrace's functions and for those of numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core
from .._refusals import refuse
from ..errors import ArgumentError
from .values import integers


def reduced(reduce: Callable[[_core.Tensor, list[int], bool], _core.Tensor], x: _core.Tensor, axis: Any,
            keepdims: bool) -> _core.Tensor:
    """``x`` reduced over ``axis``: one, several, or None for all. If ``axis`` is an empty list, each value is reduced
    by itself.
    """
    axes = integers(axis, "axis")
    if axis is not None and not axes:  # for `reduce`, no axes are all axes
        return reduce(_core.expand_dims(x, 0), [0], False)
    return reduce(x, axes, keepdims)


def transposed(x: _core.Tensor, perm: Any) -> _core.Tensor:
    """``x`` with its axes in the order ``perm``; None: in reverse order."""
    order = integers(perm, "perm")
    if perm is not None and not order and x.ndim:
        raise ArgumentError(f"transpose: perm is empty for a tensor of shape {x.shape}; None reverses its axes")
    if perm is None and x.ndim is None:
        refuse("transpose needs to know how many axes there are", "Give perm, or use headrace.ensure_shape")
    return _core.transpose(x, order)
