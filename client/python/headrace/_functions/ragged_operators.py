"""Python's operators on ragged tensors: value by value, with a scalar or a ragged tensor whose rows have the same lengths."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _core
from .._tensors import values as _values
from ..errors import ArgumentError
from .ragged import RaggedTensor

_NAMES = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor")
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def same_rows(x: RaggedTensor, y: RaggedTensor) -> None:
    """Raises ``ArgumentError`` if the numbers of ragged axes differ. If row lengths differ, the element is an
    error.
    """
    from ..debugging import assert_equal

    if x.ragged_rank != y.ragged_rank:
        raise ArgumentError(f"a RaggedTensor with {x.ragged_rank} ragged axes stands beside one with {y.ragged_rank}")
    for mine, its in zip(x.nested_row_lengths(), y.nested_row_lengths()):
        if mine is not its:
            assert_equal(mine, its, "the rows of two RaggedTensors differ in length")


def with_rows_of(x: RaggedTensor, flat: Any) -> RaggedTensor:
    """``flat`` in the rows of ``x``; an array, unless ``x`` consists of tensors of a traced function."""
    is_traced = any(isinstance(part, _core.Tensor) for part in x._ragged_parts)
    return x.with_flat_values(flat if is_traced else np.asarray(flat))


def mapped(f: Callable[[Any], Any], x: RaggedTensor) -> RaggedTensor:
    """The result of ``f`` for the flat values of ``x``, in the rows of ``x``."""
    return with_rows_of(x, f(_values.constant(x.flat_values)))


def _beside(x: RaggedTensor, y: Any) -> Any:
    """``y`` as the other operand of an operation on the flat values of ``x``."""
    if isinstance(y, RaggedTensor):
        same_rows(x, y)
        return _values.constant(y.flat_values)
    other = y if isinstance(y, _core.Tensor) else _values.operand_beside(y, x.dtype)
    if other.ndim != 0:
        raise ArgumentError("the other operand of a RaggedTensor must be a scalar, or a RaggedTensor whose rows have the same lengths, "
                            f"not {y!r}: to_tensor makes a tensor of its rows")
    return other


def _binary(f: Callable[[Any, Any], Any], reflected: bool = False) -> Callable[[RaggedTensor, Any], RaggedTensor]:
    def call(x: RaggedTensor, y: Any) -> RaggedTensor:
        other = _beside(x, y)
        return mapped(lambda flat: f(other, flat) if reflected else f(flat, other), x)
    return call


def _unary(f: Callable[[Any], Any]) -> Callable[[RaggedTensor], RaggedTensor]:
    return lambda x: mapped(f, x)


def _truth(x: RaggedTensor) -> bool:
    raise ArgumentError("a RaggedTensor has no truth value: compare its flat_values, and use headrace.reduce_all")


for _name in _NAMES:
    _operator = getattr(operator, f"{_name}_" if _name in ("and", "or") else _name)
    setattr(RaggedTensor, f"__{_name}__", _binary(_operator))
    setattr(RaggedTensor, f"__r{_name}__", _binary(_operator, reflected=True))
for _name in _COMPARISONS:
    setattr(RaggedTensor, f"__{_name}__", _binary(getattr(operator, _name)))
for _name in ("neg", "abs", "invert"):
    setattr(RaggedTensor, f"__{_name}__", _unary(getattr(operator, _name)))
setattr(RaggedTensor, "__bool__", _truth)
setattr(RaggedTensor, "__hash__", None)
setattr(RaggedTensor, "__array_ufunc__", None)  # so that `array + ragged` calls `__radd__` of the ragged tensor
