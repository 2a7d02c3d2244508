"""Checks of the results of functions: while they are enabled, each floating-point result of a function must be finite.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

from .. import _core
from .._refusals import users_line
from .._tensors.labels import with_parts
from .assertions import holds

_F = TypeVar("_F", bound=Callable[..., Any])

#: Functions that only move values, choose among them or check them: the result has NaN only if an argument has it. As
#: in TensorFlow, their results are not checked, so that a NaN is reported where it first occurs.
_MOVING = frozenset((
    "central_crop", "check", "check_numerics", "clip_by_value", "concat", "cond", "constant", "crop_to_bounding_box",
    "ensure_shape", "expand_dims", "fill", "flip_left_right", "flip_up_down", "gather", "image_transpose", "imag", "literal",
    "maximum", "minimum", "pad", "pad_to_bounding_box", "pad_with", "ragged_to_tensor", "real", "reshape",
    "resize_with_crop_or_pad", "reverse", "roll", "rot90", "slice", "slice_of_sizes", "sort", "squeeze", "stack", "stateless_random_crop",
    "stateless_random_flip_left_right", "stateless_random_flip_up_down", "summarized", "tied", "tile", "top_k", "transpose",
    "where",
))
_OPERATORS = {
    "__add__": "+", "__radd__": "+", "__sub__": "-", "__rsub__": "-", "__mul__": "*", "__rmul__": "*", "__truediv__": "/",
    "__rtruediv__": "/", "__floordiv__": "//", "__rfloordiv__": "//", "__mod__": "%", "__rmod__": "%", "__pow__": "**",
    "__rpow__": "**", "__matmul__": "@", "__rmatmul__": "@",
    # The methods by which functions of numpy run on tensors.
    "__array_ufunc__": "numpy's function", "__array_function__": "numpy's function",
}



class _Inside(threading.local):
    """The number of running functions of which only the final result is checked (``as_one``)."""

    depth = 0


_inside = _Inside()
#: The functions that are replaced while the checks are enabled, with the originals.
_replaced: list[tuple[Any, str, Any]] = []


def enable() -> None:
    """Enables the checks for functions that are traced later."""
    if _replaced:
        return
    for name in dir(_core):
        f = getattr(_core, name)
        if type(f).__name__ == "nb_func" and name not in _MOVING and not name.startswith("assert_"):
            _replaced.append((_core, name, f))
    _replaced.extend((_core.Tensor, name, getattr(_core.Tensor, name)) for name in _OPERATORS)
    for where, name, f in _replaced:
        setattr(where, name, _checked(f, _OPERATORS.get(name, name)))


def disable() -> None:
    """Disables the checks."""
    for where, name, f in _replaced:
        setattr(where, name, f)
    _replaced.clear()


def as_one(f: _F) -> _F:
    """Decorates a function that is composed of others: its result is checked, and intermediate results are not."""
    @functools.wraps(f)
    def call(*args: Any, **given: Any) -> Any:
        _inside.depth += 1
        try:
            out = f(*args, **given)
        finally:
            _inside.depth -= 1
        return _finite(out, f.__name__) if _replaced else out
    return cast("_F", call)


def _checked(f: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(f)
    def call(*args: Any, **given: Any) -> Any:
        return _finite(f(*args, **given), name)
    return call


def _finite(result: Any, name: str) -> Any:
    """The result, with a check in its floating-point tensors: an element for which a value is not finite fails."""
    if isinstance(result, list):
        return [_finite(part, name) for part in result]
    if isinstance(result, (tuple, dict)):
        return with_parts(lambda part: _finite(part, name), result)
    if _inside.depth or not isinstance(result, _core.Tensor) or not result.dtype.is_floating:
        return result
    out = _core.check_numerics(result, f"{users_line()}: the result of {name}, {result.dtype.name} of shape {result.shape}")
    # A result that depends on no element is checked at once.
    return holds(out) if _core.is_static(out) else out
