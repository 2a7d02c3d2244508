"""Functions of strings, for traced functions. Named as in ``tf.strings``. Strings are bytes of any encoding."""

from __future__ import annotations

from typing import Any

from . import _core, dtypes
from ._values import tensor
from .errors import UnimplementedError

Tensor = _core.Tensor


def _text(value: Any, argument: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{argument} must be a str, not {type(value).__name__}")
    return value


def length(input: Any, unit: str = "BYTE", name: str | None = None) -> Tensor:
    """Bytes of each string, as int32."""
    if unit != "BYTE":
        raise UnimplementedError(f"strings.length: this release has no unit {unit!r}, only 'BYTE'")
    return _core.string_length(tensor(input, "input"))


def upper(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """ASCII letters as capitals."""
    _ascii("upper", encoding)
    return _core.string_upper(tensor(input, "input"))


def lower(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """ASCII letters as small ones."""
    _ascii("lower", encoding)
    return _core.string_lower(tensor(input, "input"))


def _ascii(function: str, encoding: str) -> None:
    if encoding:
        raise UnimplementedError(f"strings.{function}: this release has no encoding {encoding!r}, only ''")


def strip(input: Any, name: str | None = None) -> Tensor:
    """Without white space at both ends."""
    return _core.string_strip(tensor(input, "input"))


def split(input: Any, sep: str | None = None, maxsplit: int = -1, name: str | None = None) -> Tensor:
    """The parts of a scalar string between separators; between runs of white space without one.

    A vector of as many strings as there are: where TensorFlow gives a ragged tensor.
    """
    if maxsplit != -1:
        raise UnimplementedError("strings.split: this release has no maxsplit")
    return _core.string_split(tensor(input, "input"), "" if sep is None else _text(sep, "sep"))


def join(inputs: Any, separator: str = "", name: str | None = None) -> Tensor:
    """Element by element: the strings of all ``inputs`` with ``separator`` between them."""
    return _core.string_join([tensor(x, "inputs") for x in inputs], _text(separator, "separator"))


def reduce_join(inputs: Any, axis: Any = None, keepdims: bool = False, separator: str = "",
                name: str | None = None) -> Tensor:
    """The strings along the last axis with ``separator`` between them."""
    x = tensor(inputs, "inputs")
    if keepdims or (axis not in (None, -1) and axis != (x.ndim or 0) - 1) or (axis is None and x.ndim != 1):
        raise UnimplementedError("strings.reduce_join: this release joins along the last axis only")
    return _core.string_reduce_join(x, _text(separator, "separator"))


def to_number(input: Any, out_type: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """The number that each string spells. Anything else in it is an error of the element."""
    return _core.string_to_number(tensor(input, "input"), dtypes.as_dtype(out_type).name)


def as_string(input: Any, name: str | None = None) -> Tensor:
    """Integers in decimal, floats with six digits after the point, bools as ``true`` and ``false``."""
    return _core.as_string(tensor(input, "input"))
