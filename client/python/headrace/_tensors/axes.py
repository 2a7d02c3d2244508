"""Functions of the axes of tensors, for headrace's functions and for those of numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core
from .._refusals import refuse
from ..errors import ArgumentError
from .values import integer, integers


def reduced(reduce: Callable[[_core.Tensor, list[int], bool], _core.Tensor], x: _core.Tensor, axis: Any,
            keepdims: bool) -> _core.Tensor:
    """``x`` reduced over ``axis``: one, several, or None for all. If ``axis`` is an empty list, each value is reduced
    by itself.
    """
    if axis is None:
        return reduce(x, [], keepdims)
    axes = integers(axis, "axis")
    return reduce(x, axes, keepdims) if axes else reduce(_core.expand_dims(x, 0), [0], False)


def transposed(x: _core.Tensor, perm: Any) -> _core.Tensor:
    """``x`` with its axes in the order ``perm``; None: in reverse order."""
    if perm is None and x.ndim is None:
        refuse("transpose needs to know how many axes there are", "Give perm, or use headrace.ensure_shape")
    order = [] if perm is None else integers(perm, "perm")
    if perm is not None and not order and x.ndim:
        raise ArgumentError(f"transpose: perm is empty for a tensor of shape {x.shape}; None reverses its axes")
    return _core.transpose(x, order)


def known_axis(x: _core.Tensor, axis: Any, function: str) -> int:
    """The number of an axis of ``x``, counted from the first one."""
    along = integer(axis, "axis")
    if x.ndim is None:
        refuse(f"{function} needs to know how many axes there are", "Use headrace.ensure_shape")
    if not -x.ndim <= along < x.ndim:
        raise ArgumentError(f"{function}: axis {along} of a tensor of shape {x.shape}")
    return along % x.ndim
