"""The tensor of a traced function, with the operators of Python and numpy."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import _core
from .._refusals import METHODS, refuse
from .._tensor_shape import TensorShape
from ..errors import OpError
from . import values
from .axes import reduced, transposed
from .nan_order import in_order, place
from .text import refuse_text, refuse_texts

Tensor = _core.Tensor
Tensor.__module__ = "headrace"
Tensor.__doc__ = """A tensor in a traced function: what a function given to ``Dataset.map`` computes with.

It has a dtype and a shape, and no value: operators, indexing and functions of numpy and headrace on it are recorded,
and run over whole columns of elements when the dataset is read.

>>> import headrace as hr
>>> ds = hr.Dataset.range(4).map(lambda x: (x * x + 1, x % 2 == 0))
>>> list(ds.as_numpy_iterator())[3]
(np.int64(10), np.False_)
"""

def _len(self: Tensor) -> int:
    dims = self.shape.dims
    if not dims:
        raise TypeError("a scalar tensor has no len()" if dims == () else "the rank of this tensor is not known")
    if dims[0] is None:
        refuse("the length of this tensor differs from element to element", "Use headrace.shape(x)[0]")
    return dims[0]


def _iter(self: Tensor) -> Iterator[Tensor]:
    dims = self.shape.dims
    if not dims or dims[0] is None:
        refuse("Python needs to know here how many parts a tensor has", "Use indexing and the functions of headrace")
    return iter([self[i] for i in range(dims[0])])


def _repr(self: Tensor) -> str:
    return f"<headrace.Tensor shape={self.shape} dtype={self.dtype.name}>"


def _float_first(f: Any) -> Any:
    """Lets numpy's functions of floats accept integers, too."""
    def call(x: Any, *more: Any) -> Tensor:
        t = values.constant(x)
        return f(t if t.dtype.is_floating or t.dtype.is_complex else _core.cast(t, "float64"), *more)
    return call


def _wide_first(f: Any) -> Any:
    """Lets numpy's functions that add or multiply have bools and integers as int64 or uint64, as numpy does."""
    def call(x: Tensor, *more: Any) -> Tensor:
        if x.dtype.is_bool or x.dtype.is_integer:
            x = _core.cast(x, "uint64" if x.dtype.name.startswith("uint") else "int64")
        return f(x, *more)
    return call


_UFUNCS: dict[Any, Any] = {
    np.add: lambda a, b: a + b,
    np.subtract: lambda a, b: a - b,
    np.multiply: lambda a, b: a * b,
    np.true_divide: lambda a, b: a / b,
    np.floor_divide: lambda a, b: a // b,
    np.remainder: lambda a, b: a % b,
    np.fmod: lambda a, b: _core.truncate_mod(*values.pair(a, b)),
    np.power: lambda a, b: a**b,
    np.float_power: lambda a, b: _core.cast(_t(a), "float64") ** _core.cast(_t(b), "float64"),
    np.matmul: lambda a, b: _core.matmul(*values.pair(a, b), False, False),
    np.negative: lambda x: -x,
    np.positive: lambda x: x,
    np.absolute: abs,
    np.fabs: _float_first(abs),
    np.square: lambda x: _core.square(x),
    np.sign: lambda x: _core.sign(x),
    np.sqrt: _float_first(_core.sqrt),
    np.exp: _float_first(_core.exp),
    np.log: _float_first(_core.log),
    np.tanh: _float_first(_core.tanh),
    np.sin: _float_first(_core.sin),
    np.cos: _float_first(_core.cos),
    np.reciprocal: lambda x: 1 / x,
    np.floor: lambda x: _core.floor(x),
    np.ceil: lambda x: _core.ceil(x),
    np.rint: lambda x: _core.round(x),
    np.isnan: lambda x: _core.is_nan(x),
    np.minimum: lambda a, b: _core.minimum(*values.pair(a, b)),
    np.maximum: lambda a, b: _core.maximum(*values.pair(a, b)),
    np.equal: lambda a, b: a == b,
    np.not_equal: lambda a, b: a != b,
    np.less: lambda a, b: a < b,
    np.less_equal: lambda a, b: a <= b,
    np.greater: lambda a, b: a > b,
    np.greater_equal: lambda a, b: a >= b,
    np.logical_and: lambda a, b: _truth(a) & _truth(b),
    np.logical_or: lambda a, b: _truth(a) | _truth(b),
    np.logical_xor: lambda a, b: _truth(a) ^ _truth(b),
    np.logical_not: lambda x: ~_truth(x),
    np.bitwise_and: lambda a, b: a & b,
    np.bitwise_or: lambda a, b: a | b,
    np.bitwise_xor: lambda a, b: a ^ b,
    np.invert: lambda x: ~x,
    np.left_shift: lambda a, b: a << b,
    np.right_shift: lambda a, b: a >> b,
}


def _t(x: Any) -> Tensor:
    return values.tensor(x, "operand")


def _truth(x: Any) -> Tensor:
    t = values.constant(x)
    return t if t.dtype.is_bool else _core.cast(t, "bool")


def _array_ufunc(self: Tensor, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    known = _UFUNCS.get(ufunc)
    if method != "__call__" or known is None or kwargs:
        name = f"numpy.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}")
        with_arguments = f" with {', '.join(kwargs)}" if kwargs else ""
        refuse(f"{name}{with_arguments} cannot be traced", "Use the functions of headrace.math")
    beside = next(x for x in inputs if isinstance(x, Tensor)).dtype
    operands = [x if isinstance(x, (Tensor, bool, int, float, str, bytes)) and not isinstance(x, np.generic)
                else values.operand_beside(x, beside) for x in inputs]
    return known(*operands)


def _along(a: Any, axis: Any) -> tuple[Any, int]:
    """The tensor and the axis along which a function of numpy works. If ``axis`` is None, the tensor is a vector of all
    values.
    """
    a = values.constant(a)
    return (_core.reshape(a, [-1]), 0) if axis is None else (a, values.integer(axis, "axis"))


def _reduction(f: Any) -> Any:
    def call(a: Any, axis: Any = None, *, keepdims: bool = False) -> Tensor:
        return reduced(f, values.constant(a), axis, keepdims)
    return call


def _squeezed(a: Tensor, axes: list[int], all_of_extent_1: bool) -> Tensor:
    return _core.squeeze(a, axes) if axes or all_of_extent_1 else a


def _clipped(a: Any, least: Any, most: Any) -> Any:
    a = a if least is None else _core.maximum(*values.pair(a, least))
    return a if most is None else _core.minimum(*values.pair(a, most))


_FUNCTIONS: dict[Any, Any] = {
    np.sum: _reduction(_wide_first(_core.reduce_sum)),
    np.prod: _reduction(_wide_first(_core.reduce_prod)),
    np.max: _reduction(lambda x, *more: (_core.reduce_any if x.dtype.is_bool else _core.reduce_max)(x, *more)),
    np.min: _reduction(lambda x, *more: (_core.reduce_all if x.dtype.is_bool else _core.reduce_min)(x, *more)),
    np.all: _reduction(_core.reduce_all),
    np.any: _reduction(_core.reduce_any),
    np.mean: _reduction(_float_first(_core.reduce_mean)),
    np.where: lambda c, x, y: _core.where(values.constant(c), *values.pair(x, y)),
    np.reshape: lambda a, shape: _core.reshape(a, values.extents(shape, "shape")),
    np.transpose: lambda a, axes=None: transposed(a, axes),
    np.expand_dims: lambda a, axis: _core.expand_dims(a, values.integer(axis, "axis")),
    np.squeeze: lambda a, axis=None: _squeezed(a, [] if axis is None else values.integers(axis, "axis"), axis is None),
    np.stack: lambda arrays, axis=0: _core.stack(values.side_by_side(arrays), axis),
    np.concatenate: lambda arrays, axis=0: _core.concat(values.side_by_side(arrays), axis),
    np.clip: lambda a, a_min=None, a_max=None: _clipped(a, a_min, a_max),
    np.tile: lambda a, reps: _core.tile(a, values.extents(reps, "reps")),
    np.sort: lambda a, axis=-1: in_order(*_along(a, axis)),
    np.argsort: lambda a, axis=-1: _core.cast(_core.argsort(*_along(a, axis), False), "int64"),
    np.cumsum: lambda a, axis=None: _wide_first(_core.cumsum)(*_along(a, axis), False, False),
    np.argmax: lambda a, axis=None: place(_core.argmax, *_along(a, axis)),
    np.argmin: lambda a, axis=None: place(_core.argmin, *_along(a, axis)),
    np.size: lambda a: _core.size(a),
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: _core.size(_core.shape_of(a)) if a.ndim is None else a.ndim,
    np.round: lambda a: _core.round(a),
}


def _array_function(self: Tensor, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    known = _FUNCTIONS.get(function)
    if known is None:
        refuse(f"numpy.{function.__name__} cannot be traced", "Use the functions of headrace")
    try:
        return known(*args, **kwargs)
    except TypeError as e:
        if "argument" not in str(e) or isinstance(e, OpError):
            raise
        refuse(f"numpy.{function.__name__} with these arguments cannot be traced ({e})",
               "Use the functions of headrace")


def _get_shape(self: Tensor) -> TensorShape:
    """``shape``, by its older name.

    >>> list(Dataset.range(2).map(lambda x: x + len(x.get_shape())))
    [np.int64(0), np.int64(1)]
    """
    return self.shape


def _set_shape(self: Tensor, shape: Any) -> None:
    """Sets the shape of this tensor from here on, as ``headrace.ensure_shape`` does. An element with another shape is
    an error.

    Raises ``InvalidArgumentError`` for a shape that it is known not to have.

    >>> def f(x):
    ...     y = hr.py_function(lambda n: n + 1, [x], hr.int64)
    ...     y.set_shape([])
    ...     return y
    >>> Dataset.range(3).map(f).element_spec
    TensorSpec(shape=(), dtype=headrace.int64, name=None)
    """
    dims = TensorShape(shape).dims
    if dims is not None and self.shape.dims != dims:
        _core.replace(self, _core.ensure_shape(self, list(dims)))


def _divmod(a: Any, b: Any) -> tuple[Tensor, Tensor]:
    return a // b, a % b


def _without_texts(f: Any) -> Any:
    """An operator that raises an error if its other operand is a text that describes a tensor (its ``repr``)."""
    @functools.wraps(f)
    def operator(self: Tensor, other: Any) -> Any:
        refuse_texts(other) if isinstance(other, (list, tuple, np.ndarray)) else refuse_text(other)
        return f(self, other)
    return operator


# The comparisons are included, because an element of a string tensor never equals such a text (a ``repr``): a program
# that compares them does so by mistake.
for _name in ("__add__", "__radd__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
    setattr(Tensor, _name, _without_texts(getattr(Tensor, _name)))

for _name, _value in {
    **METHODS,
    "__divmod__": _divmod,
    "__rdivmod__": lambda b, a: _divmod(a, b),
    "__len__": _len,
    "__iter__": _iter,
    "__repr__": _repr,
    "__array_ufunc__": _array_ufunc,
    "__array_function__": _array_function,
    "get_shape": _get_shape,
    "set_shape": _set_shape,
}.items():
    setattr(Tensor, _name, _value)
