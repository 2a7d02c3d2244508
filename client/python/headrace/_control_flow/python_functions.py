"""The functions that rewritten functions call in place of Python's `len`, `int`, `float`, `range` and `sorted`. They
accept tensors whose values are not known when the function is traced. As in AutoGraph, the dtypes of `int` and
`float` are int32 and float32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core
from .._tensors.values import depends, known


def _len(x: Any) -> Any:
    """``len(x)``. For a dataset, whose length may differ from element to element, the result is its cardinality."""
    from .._dataset import Dataset
    from ..debugging import assert_non_negative

    if isinstance(x, Dataset):
        return assert_non_negative(x.cardinality(), "len: the dataset never ends")
    if isinstance(x, _core.Tensor) and x.shape.dims and x.shape.dims[0] is None:
        return _core.cast(_core.shape_of(x)[0], "int32")
    return len(x)


def _number(name: str, to: Callable[..., Any]) -> Callable[..., Any]:
    def number(*arguments: Any, **named: Any) -> Any:
        x = arguments[0] if len(arguments) == 1 and not named else None
        if not isinstance(x, _core.Tensor) or not depends(x):
            return to(*arguments, **named)
        return _core.string_to_number(x, name) if x.dtype.name == "string" else _core.cast(x, name)
    return number


def _range(*bounds: Any) -> Any:
    from .._functions.composed import range_

    return range_(*bounds) if any(map(depends, bounds)) else range(*bounds)


def _sorted(x: Any, /, *, key: Any = None, reverse: Any = False) -> Any:
    if not isinstance(x, _core.Tensor) or not depends(x):
        return sorted(x, key=key, reverse=reverse)
    if x.ndim != 1:
        raise ValueError(f"sorted: a tensor of shape {x.shape} is no vector; headrace.sort sorts along an axis")
    if key is not None:
        raise ValueError("sorted: there is no key for a tensor: headrace.gather(x, headrace.argsort(keys))")
    return _core.sort(x, -1, bool(known(reverse, "reverse", "a bool")))


#: Python's functions, each with its replacement.
REPLACED: tuple[tuple[Any, Callable[..., Any]], ...] = (
    (len, _len), (int, _number("int32", int)), (float, _number("float32", float)), (range, _range), (sorted, _sorted),
)
