"""The dtypes of tensors that are made of Python's numbers and lists.

Numbers of Python follow TensorFlow's rules: integers are int32 if they fit, floats float32. Outside of traced
functions, a list with floats has the dtype of its first value. In traced functions, the dtype of such a list follows
numpy's rules, with float32 for Python's floats. Arrays, and numpy's scalars, keep their dtypes, in lists too, because
elements of a dataset are numpy's scalars, which would lose bits otherwise. (TensorFlow, whose elements are tensors,
narrows numpy's scalars.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..errors import ArgumentError

_INT32 = np.iinfo(np.int32)


def holds_integers_of_numpy(value: Any) -> bool:
    """True if a list, however nested, contains an integer or an array of integers of numpy."""
    if not isinstance(value, (list, tuple)):
        return isinstance(value, (np.generic, np.ndarray)) and value.dtype.kind in "iu"
    kinds = set(map(type, value))
    return any(issubclass(kind, (list, tuple, np.integer, np.ndarray)) for kind in kinds) and any(
        map(holds_integers_of_numpy, value))


def with_exact_integers(array: Any, value: Any) -> Any:
    """``array``, which numpy made of ``value``. If ``value`` is an int, or a list of ints and integers of numpy, and
    numpy made floats or objects of them (as of 1 and 2**63), the result is an array of these integers: of uint64, or of
    int64 if there are negative ones.

    Raises ``ArgumentError`` if neither dtype holds all of them.
    """
    if array.dtype.kind not in "fO" or not _is_of_integers(value):
        return array
    whole = np.asarray(value, np.object_)
    integers = [int(x) for x in whole.flat]
    if not integers:
        return array
    least, most = min(integers), max(integers)
    for dtype in (np.uint64, np.int64):
        if least >= np.iinfo(dtype).min and most <= np.iinfo(dtype).max:
            return np.array(integers, dtype).reshape(whole.shape)
    if least < np.iinfo(np.int64).min:
        raise ArgumentError(f"an integer is out of the range of int64: {least}")
    widest = "int64, which negative ones need" if least < 0 else "uint64"
    raise ArgumentError(f"an integer is out of the range of {widest}: {most}")


def _is_of_integers(value: Any) -> bool:
    """True for an integer, and for lists and arrays of integers. Python's bools are integers."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind in "iu"
    if not isinstance(value, (list, tuple)):
        return isinstance(value, int)
    kinds = set(map(type, value))
    return all(issubclass(kind, (int, list, tuple, np.integer, np.ndarray)) for kind in kinds) and (
        not any(issubclass(kind, (list, tuple, np.ndarray)) for kind in kinds) or all(map(_is_of_integers, value)))


def of_list(array: Any, first: Any, in_function: bool) -> Any:
    """``array``, which numpy made of a list (or of a number of Python), in the dtype that a tensor of this list has.

    ``first``: the first value of the list. Raises ``ValueError`` for values of several kinds, and for floats that
    float32 cannot hold.
    """
    kind = array.dtype.kind
    if array.size == 0:
        return array.astype(np.float32) if kind in "iufb" else array
    if kind in "iu" and (not in_function or array.dtype == np.int64):
        fits = array.min() >= _INT32.min and array.max() <= _INT32.max
        return array.astype(np.int32) if fits else array if array.dtype == np.uint64 else array.astype(np.int64)
    if kind == "c":
        return array if in_function else array.astype(np.complex128)
    if kind != "f":
        return array
    if in_function:
        of_python = not isinstance(first, (np.generic, np.ndarray)) or first.dtype != np.float64
        return array.astype(np.float32) if array.dtype == np.float64 and of_python else array
    if isinstance(first, (bool, np.bool_)) or isinstance(first, np.ndarray) and first.dtype == np.bool_:
        raise ValueError("a list holds values of several types: bools and numbers")
    of_numpy = getattr(first, "dtype", None)
    if of_numpy in (np.float16, np.float64):
        return array.astype(of_numpy)
    with np.errstate(over="ignore"):
        out = array.astype(np.float32)
    if (np.isinf(out) != np.isinf(array)).any():
        raise ValueError(f"a float is out of the range of float32: {array!r}; numpy.float64({array.flat[0]!r}) is a float64")
    return out


def as_declared(array: Any, wanted: dtypes.DType, first: Any) -> Any:
    """The array in the dtype ``wanted``. Raises ``TypeError`` for values of a kind that this dtype does not take, such
    as floats for integers, and ``ValueError`` for an integer that is too large.

    ``first``: the first value of the list.
    """
    kind = array.dtype.kind
    if array.size == 0:
        return array.astype(wanted.as_numpy_dtype)
    if wanted == dtypes.string:
        fits = kind in "OSU"
    elif wanted.is_bool:
        fits = kind == "b"
    elif wanted.is_integer:
        fits = kind in "iu" or kind == "b" and not isinstance(first, np.bool_)
    else:
        fits = kind in "iubf" or wanted.is_complex and kind == "c"
    if not fits:
        raise TypeError(f"a tensor of {wanted.name} cannot hold {first!r}")
    if wanted.is_integer and kind == "u" and array.max() > np.iinfo(np.int64).max and wanted != dtypes.uint64:
        raise ValueError(f"an integer is out of the range of {wanted.name}: {array.max()}")
    with np.errstate(over="ignore"):
        return array.astype(wanted.as_numpy_dtype)


def adapted(array: Any, wanted: dtypes.DType, operand: Any) -> Any:
    """Converts the numpy numbers of an operand to ``wanted``, the dtype of the tensor that is the other operand.
    Floats are rounded. Raises ``ArgumentError`` if a number would change otherwise, for instance a fraction to an
    integer.
    """
    kind = array.dtype.kind
    if array.dtype == wanted.as_numpy_dtype or kind not in "biufcV" or wanted == dtypes.string:
        return array
    fits: Any = False
    if not wanted.is_bool and (wanted.is_complex or kind != "c"):
        with np.errstate(all="ignore"):
            out = array.astype(wanted.as_numpy_dtype)
            if wanted.is_integer:
                fits = ((out.astype(array.dtype) == array) & ((out < 0) == (array < 0))).all()
            else:
                fits = (np.isfinite(out) | ~np.isfinite(array)).all()
    if fits:
        return out
    text = " ".join(repr(operand).split())
    raise ArgumentError(f"{text if len(text) < 80 else text[:76] + '...'} does not fit the other operand, which is {wanted.name}; "
                        "cast one")


def array_as_declared(array: Any, wanted: dtypes.DType) -> Any:
    """An array of numpy's in the dtype ``wanted``: numbers are converted as numpy does. Raises ``TypeError`` if
    ``wanted`` is string and the array has other values.
    """
    if wanted == dtypes.string and array.dtype.kind not in "OSU":
        if array.size:
            raise TypeError(f"a tensor of string cannot hold {array.dtype.name}")
        return array.astype(np.object_)
    return array if wanted == dtypes.string else array.astype(wanted.as_numpy_dtype)
