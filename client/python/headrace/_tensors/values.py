"""Python values as tensors of a function."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core, dtypes
from ..errors import ArgumentError
from .list_dtypes import adapted, array_as_declared, as_declared, holds_integers_of_numpy, of_list, with_exact_integers
from .mappings import refuse_mappings
from .text import is_in_function, refuse_text, refuse_texts


def _first_leaf(value: Any) -> Any:
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    return value


def holds_tensors(value: Any) -> bool:
    """True for a tensor, and for lists that contain tensors."""
    if isinstance(value, (list, tuple)):
        return any(holds_tensors(part) for part in value)
    return isinstance(value, _core.Tensor)


def as_array(value: Any, dtype: Any = None) -> Any:
    """``value`` as a numpy array. An int of Python becomes int32 if it fits, and a float becomes float32, as in
    TensorFlow. The module ``list_dtypes`` has the rules for numbers in lists.

    Raises ``TypeError`` or ``ValueError`` for a value that cannot be a tensor.
    """
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if hasattr(value, "_ragged_parts"):
        raise ArgumentError("a RaggedTensor stands where a tensor is needed: to_tensor fills its rows up; with_flat_values takes "
                            "what is computed of its flat_values")
    refuse_texts(value)
    refuse_mappings(value)
    value = _extents_as_array(value)
    try:
        # Strings are kept as objects: numpy's own strings would lose trailing NULs.
        array = np.asarray(value, dtype=np.object_ if isinstance(_first_leaf(value), (str, bytes)) else None)
    except ValueError:
        raise ValueError(f"the nested lists are no tensor, because their lengths differ: {value!r}") from None
    if array.dtype == np.object_ and any(isinstance(x, (list, tuple)) for x in array.flat):
        raise ValueError(f"the nested lists are no tensor, because their lengths differ: {value!r}")
    if wanted is None or wanted.is_integer:
        array = with_exact_integers(array, value)
    if array.dtype == np.object_ and not all(isinstance(x, (str, bytes)) for x in array.flat):
        raise ArgumentError(f"a tensor cannot hold {type(_first_leaf(value)).__name__}: {value!r}")
    if array.dtype.kind in "US" and isinstance(value, (list, tuple)) and isinstance(_first_leaf(value), (int, float)):
        raise ValueError(f"a list holds values of several types: {value!r}")
    listed = isinstance(value, (list, tuple, range, bool, int, float, complex, str, bytes)) and not isinstance(value, np.generic)
    if wanted is not None:
        return as_declared(array, wanted, _first_leaf(value)) if listed else array_as_declared(array, wanted)
    if not listed or array.dtype.kind in "iu" and holds_integers_of_numpy(value):
        return array
    return of_list(array, _first_leaf(value), is_in_function())


def _extents_as_array(value: Any) -> Any:
    """A ``TensorShape`` as an array of int32, or of int64 if an extent does not fit int32. Other values are returned
    unchanged. Raises ``ArgumentError`` for a shape with an unknown extent.
    """
    from .._tensor_shape import TensorShape

    if not isinstance(value, TensorShape):
        return value
    if not value.is_fully_defined():
        raise ArgumentError(f"the shape {value} is not wholly known, and so no tensor: headrace.shape(x) is that of each element")
    extents = np.asarray(value)
    return extents.astype(np.int32) if (extents < 2**31).all() else extents


def constant(value: Any, dtype: Any = None) -> _core.Tensor:
    """A tensor with this value."""
    if isinstance(value, _core.Tensor):
        wanted = value.dtype if dtype is None else dtypes.as_dtype(dtype)
        return value if wanted == value.dtype else _core.cast(value, wanted.name)
    if holds_tensors(value):
        return _core.stack([operand_beside(part, _first_tensor(value).dtype) if dtype is None else constant(part, dtype)
                            for part in value], 0)
    return _core.constant(as_array(value, dtype))


def of_arrays(value: Any) -> Any:
    """A list of arrays of one dtype as one array, so that a dataset that is made of the list keeps the dtype. Other
    values are returned unchanged.
    """
    kinds = _kinds(value) if isinstance(value, list) else set()
    try:
        return np.asarray(value) if len(kinds) == 1 and None not in kinds else value
    except ValueError:
        return value  # arrays of different shapes: converting the list raises the error later


def _kinds(value: Any) -> set[Any]:
    """The dtypes of the arrays in nested lists, and None if the lists contain any other value."""
    if not isinstance(value, list) or not value:
        return {value.dtype if isinstance(value, np.ndarray) else None}
    first = _kinds(value[0])
    return first if None in first else first.union(*map(_kinds, value[1:]))


def unit(value: int, dtype: Any) -> _core.Tensor:
    """``value``, which is 0 or 1, as a constant of ``dtype``: for bool False or True, for string (only 0) ``""``."""
    wanted = dtypes.as_dtype(dtype)
    return constant("", wanted) if wanted == dtypes.string and value == 0 else constant(bool(value) if wanted.is_bool else value, wanted)


def _first_tensor(value: Any) -> _core.Tensor:
    found: _core.Tensor | None = value if isinstance(value, _core.Tensor) else None
    for part in value if found is None else ():
        if holds_tensors(part):
            return _first_tensor(part)
    assert found is not None
    return found


def side_by_side(values: Any) -> list[_core.Tensor]:
    """The values of a list as tensors. If one of them is a tensor, the others are converted by ``operand_beside`` for
    the dtype of the first tensor; otherwise all are converted by ``beside`` for the dtype of the first value.
    """
    parts = list(values)
    first = next((part for part in parts if holds_tensors(part)), None)
    if first is None:
        first = constant(parts[0]) if parts else None
        return [beside(part, first.dtype) for part in parts] if first is not None else []
    dtype = _first_tensor(first).dtype
    return [part if isinstance(part, _core.Tensor) else operand_beside(part, dtype) for part in parts]


def beside(part: Any, dtype: dtypes.DType) -> _core.Tensor:
    """``part``, which stands in a list beside tensors of ``dtype``, as a tensor. Numbers of Python get this dtype if
    it is a dtype of floats or complex numbers, or if they fit it; other values keep a dtype of their own.
    """
    if holds_tensors(part):
        return constant(part)
    array = as_array(part)
    if isinstance(_first_leaf(part), (np.ndarray, np.generic)) or array.dtype.kind not in "if":
        return _core.constant(array)
    if dtype.is_floating or dtype.is_complex:
        return _core.constant(as_array(part, dtype))
    fits = dtype.is_integer and array.dtype.kind == "i" and (array.astype(dtype.as_numpy_dtype) == array).all()
    return _core.constant(as_array(part, dtype) if fits else array)


def _holds_numpy_s(value: Any) -> bool:
    """True for an array or scalar of numpy, and for lists that contain one."""
    return any(map(_holds_numpy_s, value)) if isinstance(value, (list, tuple)) else isinstance(value, (np.ndarray, np.generic))


def operand_beside(operand: Any, dtype: dtypes.DType) -> _core.Tensor:
    """``operand`` as a tensor, for an operation whose other operand is a tensor of ``dtype``. Numbers of Python are
    converted to this dtype as by ``beside``, numbers of numpy as by ``adapted``.
    """
    if not holds_tensors(operand) and _holds_numpy_s(operand):
        array = as_array(operand)
        if array.dtype.kind in "bfc":
            array = np.asarray(operand)  # as_array may narrow numpy's numbers if the list also has Python's
        return _core.constant(adapted(array, dtype, operand))
    return beside(operand, dtype)


def tensor(value: Any, argument: str) -> _core.Tensor:
    """An argument of a function as a tensor: a bool, number or string of Python becomes a literal, which takes the
    dtype of the other operand; any other value that is no tensor becomes a constant.
    """
    if isinstance(value, (bool, int, float, str, bytes)) and not isinstance(value, np.generic):
        refuse_text(value)
        return _core.literal(value)
    return named(value, argument)


def named(value: Any, argument: str) -> _core.Tensor:
    """Like ``tensor``, but the result has a dtype of its own: Python numbers become int32 and float32. Errors name the
    argument.
    """
    try:
        return constant(value)
    except (TypeError, ValueError) as e:
        raise type(e)(f"{argument}: {e}") from None


def pair(x: Any, y: Any) -> tuple[_core.Tensor, _core.Tensor]:
    """Two operands as tensors. If one operand is a tensor, and the other one a list, an array or a scalar of numpy,
    ``operand_beside`` converts the other one for the dtype of the tensor.
    """
    of_own_dtype = (list, tuple, np.ndarray, np.generic)
    if isinstance(y, of_own_dtype) and isinstance(x, _core.Tensor):
        return x, operand_beside(y, x.dtype)
    if isinstance(x, of_own_dtype) and isinstance(y, _core.Tensor):
        return operand_beside(x, y.dtype), y
    if isinstance(y, (_core.Tensor, np.ndarray, np.generic)):
        return tensor(x, "x"), tensor(y, "y")
    # `y` is a value of Python. `x` is a tensor, or gets a dtype of its own, and a literal `y` takes the dtype of `x`.
    return named(x, "x"), tensor(y, "y")


def integers(value: Any, argument: str) -> list[int]:
    """One int or several, as a list."""
    if value is None:
        raise TypeError(f"{argument} must be an int or a list of ints, not None")
    value = known(value, argument, "ints")
    parts = value if isinstance(value, (list, tuple)) or isinstance(value, np.ndarray) and value.ndim else [value]
    return [integer(part, argument) for part in parts]


def count_of(value: Any, argument: str) -> int | _core.Tensor:
    """An int, or a scalar tensor of integers that depends on an element."""
    return _scalar(value, argument) if _depends(value) else integer(value, argument)


def extents(value: Any, argument: str) -> list[int | _core.Tensor] | _core.Tensor:
    """The extents of a shape: ints and scalar tensors, or a vector of integers that depends on an element."""
    if _depends(value):
        if not value.dtype.is_integer or value.ndim not in (0, 1):
            raise TypeError(f"{argument} must be integers, not {value!r}")
        return value
    if isinstance(value, (list, tuple)) and any(_depends(part) for part in value):
        return [count_of(part, argument) for part in value]
    return list(integers(_extents_as_array(value), argument))


def is_known(value: Any) -> bool:
    """True for a tensor that is the same for all elements."""
    return isinstance(value, _core.Tensor) and _core.is_static(value)


def depends(value: Any) -> bool:
    """True for a tensor that depends on an element, and for lists that contain one."""
    if isinstance(value, (list, tuple)):
        return any(map(depends, value))
    return _depends(value)


def _depends(value: Any) -> bool:
    return isinstance(value, _core.Tensor) and not _core.is_static(value)


def _scalar(value: _core.Tensor, argument: str) -> _core.Tensor:
    if not value.dtype.is_integer or value.ndim not in (0, None):
        raise TypeError(f"{argument} must be an int or a scalar tensor of integers, not {value!r}")
    return value


def seconds(value: Any, argument: str, default: float) -> float:
    """A time in seconds. Raises ``TypeError`` or ``ValueError``, naming the argument."""
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{argument} must be a number of seconds or None, not {type(value).__name__}: {value!r}")
    if not value >= 1e-9:
        raise ValueError(f"{argument} must be more than 0 seconds, not {value!r}")
    # The engine counts nanoseconds in 64 bits, so thirty years stand for an unlimited time.
    return float(min(value, 1e9))


def known(value: Any, argument: str, what: str) -> Any:
    """The value of a tensor that is the same for all elements; other values are returned unchanged.

    Raises ``TypeError``, naming the argument, for a tensor that depends on an element.
    """
    if not isinstance(value, _core.Tensor):
        return value
    if not _core.is_static(value):
        raise TypeError(f"{argument} must be {what} that is the same for all elements: it is part of the graph, and no "
                        "tensor that depends on one")
    return next(_core.from_tensors(value).read())


def integer(value: Any, argument: str) -> int:
    """An int, which may be in a tensor or array. Raises ``TypeError``, naming the argument."""
    value = known(value, argument, "an int")
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
        raise TypeError(f"{argument} must be an int, not {type(value).__name__}: {value!r}")
    return int(value.__index__())
