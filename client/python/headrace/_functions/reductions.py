"""Functions of numbers that reduce axes, or order or sum up values along an axis: part of ``headrace.math``."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import _core
from .._tensors.axes import reduced
from .._tensors.values import integer, named, tensor

Tensor = _core.Tensor


def _name(dtype: Any) -> str:
    from ..dtypes import as_dtype

    return as_dtype(dtype).name


# -- reductions -----------------------------------------------------------------------------------------


def reduce_sum(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """The sum over ``axis`` (one, several, or None for all; of an empty list, each value is its own sum). Floats are
    added in one fixed order on every CPU.

    >>> Dataset.from_tensors([[1, 2], [3, 4]]).map(lambda x: reduce_sum(x, axis=0)).get_single_element()
    array([4, 6], dtype=int32)
    """
    return reduced(_core.reduce_sum, named(input_tensor, "input_tensor"), axis, keepdims)


def reduce_mean(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """The mean over ``axis``.

    >>> Dataset.from_tensors([[1.0, 2.0], [3.0, 4.0]]).map(lambda x: reduce_mean(x, axis=0)).get_single_element()
    array([2., 3.], dtype=float32)
    """
    return reduced(_core.reduce_mean, named(input_tensor, "input_tensor"), axis, keepdims)


def reduce_max(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """The largest value over ``axis``.

    >>> Dataset.from_tensors([[1, 2], [3, 4]]).map(lambda x: reduce_max(x, axis=0)).get_single_element()
    array([3, 4], dtype=int32)
    """
    return reduced(_core.reduce_max, named(input_tensor, "input_tensor"), axis, keepdims)


def reduce_min(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """The smallest value over ``axis``.

    >>> Dataset.from_tensors([[1, 2], [3, 4]]).map(lambda x: reduce_min(x, axis=0)).get_single_element()
    array([1, 2], dtype=int32)
    """
    return reduced(_core.reduce_min, named(input_tensor, "input_tensor"), axis, keepdims)


def reduce_prod(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """The product over ``axis``.

    >>> Dataset.from_tensors([[1, 2], [3, 4]]).map(lambda x: reduce_prod(x, axis=0)).get_single_element()
    array([3, 8], dtype=int32)
    """
    return reduced(_core.reduce_prod, named(input_tensor, "input_tensor"), axis, keepdims)


def reduce_all(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """True where all values over ``axis`` are true.

    >>> Dataset.from_tensors([[True, False], [True, True]]).map(lambda x: reduce_all(x, axis=1)).get_single_element()
    array([False,  True])
    """
    return reduced(_core.reduce_all, named(input_tensor, "input_tensor"), axis, keepdims)


def reduce_any(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """True where any value over ``axis`` is true.

    >>> Dataset.from_tensors([[True, False], [True, True]]).map(lambda x: reduce_any(x, axis=1)).get_single_element()
    array([ True,  True])
    """
    return reduced(_core.reduce_any, named(input_tensor, "input_tensor"), axis, keepdims)


def _numbers(input: Any) -> Tensor:
    x = tensor(input, "input")
    return _core.cast(x, "uint8") if x.dtype.is_bool else x


def argmax(input: Any, axis: Any = None, output_type: Any = "int64", name: str | None = None) -> Tensor:
    """The index of the first of the largest values along ``axis`` (0 by default).

    >>> Dataset.from_tensors([[1, 5], [3, 4]]).map(lambda x: argmax(x, axis=1)).get_single_element()
    array([1, 1])
    """
    out = _core.argmax(_numbers(input), 0 if axis is None else integer(axis, "axis"))
    return _core.cast(out, _name(output_type))


def argmin(input: Any, axis: Any = None, output_type: Any = "int64", name: str | None = None) -> Tensor:
    """The index of the first of the smallest values along ``axis`` (0 by default).

    >>> Dataset.from_tensors([[1, 5], [3, 4]]).map(lambda x: argmin(x, axis=1)).get_single_element()
    array([0, 0])
    """
    out = _core.argmin(_numbers(input), 0 if axis is None else integer(axis, "axis"))
    return _core.cast(out, _name(output_type))


# -- order and algebra ---------------------------------------------------------------------------------------


class TopKV2(NamedTuple):
    """The result of ``top_k``."""

    values: Any
    indices: Any


def top_k(input: Any, k: int = 1, sorted: bool = True, name: str | None = None) -> TopKV2:
    """A named tuple: the ``k`` largest values along the last axis in descending order, and their indices (int32).

    >>> Dataset.from_tensors([4, 9, 7]).map(lambda x: top_k(x, 2)).get_single_element()
    TopKV2(values=array([9, 7], dtype=int32), indices=array([1, 2], dtype=int32))
    """
    return TopKV2(*_core.top_k(tensor(input, "input"), integer(k, "k")))


def cumsum(x: Any, axis: int = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Tensor:
    """Running sums along ``axis``. ``exclusive``: each sum leaves out the value at its own place. ``reverse``: the
    sums begin at the end.

    >>> Dataset.from_tensors([1, 2, 3]).map(cumsum).get_single_element()
    array([1, 3, 6], dtype=int32)
    """
    return _core.cumsum(tensor(x, "x"), integer(axis, "axis"), exclusive, reverse)


def cumprod(x: Any, axis: int = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Tensor:
    """Running products along ``axis``.

    >>> Dataset.from_tensors([1, 2, 3]).map(cumprod).get_single_element()
    array([1, 2, 6], dtype=int32)
    """
    return _core.cumprod(tensor(x, "x"), integer(axis, "axis"), exclusive, reverse)
