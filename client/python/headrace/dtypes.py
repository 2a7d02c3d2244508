"""The types of values in tensors."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np


class DType:
    """A dtype: ``headrace.int64``, ``headrace.string`` and so on. It is equal to its name and to numpy's dtype.

    >>> import headrace as hr
    >>> hr.int64, hr.int64 == np.int64, hr.float32.size
    (headrace.int64, True, 4)
    """

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def name(self) -> str:
        """The name, such as ``"int64"``.

        >>> hr.int64.name
        'int64'
        """
        return self._name

    @property
    def as_numpy_dtype(self) -> Any:
        """The numpy scalar type; ``numpy.object_`` for strings, whose values are ``bytes``.

        >>> hr.int64.as_numpy_dtype, hr.string.as_numpy_dtype
        (<class 'numpy.int64'>, <class 'numpy.object_'>)
        """
        if self._name == "string":
            return np.object_
        if self._name == "bfloat16":
            import ml_dtypes

            return ml_dtypes.bfloat16
        return np.dtype(self._name).type

    @property
    def size(self) -> int:
        """Bytes of one value; 0 for strings.

        >>> hr.float16.size
        2
        """
        if self._name == "string":
            return 0
        return 2 if self._name == "bfloat16" else np.dtype(self._name).itemsize

    @property
    def is_integer(self) -> builtins.bool:
        """True for an integer, with a sign or without.

        >>> hr.uint8.is_integer, hr.bool.is_integer
        (True, False)
        """
        return "int" in self._name

    @property
    def is_floating(self) -> builtins.bool:
        """True for a float of any size.

        >>> hr.bfloat16.is_floating
        True
        """
        return "float" in self._name

    @property
    def is_complex(self) -> builtins.bool:
        """True for a complex dtype.

        >>> hr.complex64.is_complex
        True
        """
        return self._name.startswith("complex")

    @property
    def is_bool(self) -> builtins.bool:
        """True for bool.

        >>> hr.bool.is_bool
        True
        """
        return self._name == "bool"

    def _range(self, what: str) -> Any:
        if self.is_integer:
            return np.iinfo(self._name)
        if self._name == "bfloat16":
            largest = float.fromhex("0x1.fep127")
            return type("range", (), {"min": -largest, "max": largest})
        if self.is_floating:
            return np.finfo(self._name)
        raise TypeError(f"{self!r} has no {what}")

    @property
    def min(self) -> Any:
        """The smallest value, which for floats is negative. Raises ``TypeError`` for bool, strings and complex
        numbers.

        >>> hr.int8.min
        -128
        """
        return self._range("smallest value").min

    @property
    def max(self) -> Any:
        """The largest value. Raises ``TypeError`` for bool, strings and complex numbers.

        >>> hr.int64.max
        9223372036854775807
        """
        return self._range("largest value").max

    @property
    def limits(self) -> tuple[Any, Any]:
        """The least and the greatest intensity in an image of this dtype.

        >>> hr.uint8.limits, hr.float32.limits
        ((0, 255), (0, 1))
        """
        if self.is_bool:
            return 0, True
        return 0, 1 if self.is_floating else self.max

    def __eq__(self, other: object) -> builtins.bool:
        if other is None:
            return False
        try:
            return self._name == as_dtype(other)._name
        except TypeError:
            return False

    def __hash__(self) -> builtins.int:
        # A numpy dtype is equal to the DType of the same name. Their hashes are equal, too, so that a dict with a key
        # of one kind can be searched with the other kind. The hashes differ for bfloat16, which numpy itself lacks.
        return hash(self._name if self._name == "bfloat16" else np.dtype(self.as_numpy_dtype))

    def __repr__(self) -> str:
        return f"headrace.{self._name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self._name,)


int8 = DType("int8")
int16 = DType("int16")
int32 = DType("int32")
int64 = DType("int64")
uint8 = DType("uint8")
uint16 = DType("uint16")
uint32 = DType("uint32")
uint64 = DType("uint64")
float16 = half = DType("float16")
bfloat16 = DType("bfloat16")
float32 = DType("float32")
float64 = double = DType("float64")
complex64 = DType("complex64")
complex128 = DType("complex128")
bool = DType("bool")
string = DType("string")

_ALL = {
    t._name: t
    for t in (bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16, float32, float64,
              complex64, complex128, string)
}
_PYTHON: dict[object, DType] = {
    builtins.bool: bool, builtins.int: int32, builtins.float: float32, str: string, bytes: string,
}


def as_dtype(type_value: Any) -> DType:
    """The dtype for ``type_value``: a dtype of headrace, a name, a numpy dtype or type, or a Python type (``int`` is
    int32 and ``float`` is float32, as in TensorFlow). Raises ``TypeError`` for anything else.

    >>> hr.as_dtype(np.uint8), hr.as_dtype("string"), hr.as_dtype(int)
    (headrace.uint8, headrace.string, headrace.int32)
    """
    if isinstance(type_value, DType):
        return type_value
    if isinstance(type_value, str) and type_value in _ALL:
        return _ALL[type_value]
    try:
        if type_value in _PYTHON:
            return _PYTHON[type_value]
        name = type_value.name if not isinstance(type_value, type) and isinstance(
            getattr(type_value, "name", None), str) else np.dtype(type_value).name
    except TypeError:
        raise TypeError(f"{type_value!r} is no dtype; there are {', '.join(_ALL)}") from None
    if name in _ALL:
        return _ALL[name]
    if name == "object" or name.startswith(("bytes", "str")):
        return string
    raise TypeError(f"{type_value!r} is no dtype; there are {', '.join(_ALL)}")
