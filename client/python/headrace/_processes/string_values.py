"""Strings that equal str and bytes, as TensorFlow's tensors of strings do, for Python functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _core
from .._functions.ragged import RaggedTensor
from .._specs import flatten
from .._tensors.labels import with_parts

_String: Callable[[bytes], bytes] = getattr(_core, "String")  # nanobind does not define String: the stub lacks it


def _with_values(x: Any) -> Any:
    if isinstance(x, bytes):
        return _String(x)
    if isinstance(x, np.ndarray) and x.dtype == np.object_:
        out = np.empty(x.shape, np.object_)
        for i, value in enumerate(x.flat):
            out.flat[i] = _String(value)
        out.flags.writeable = False
        return out
    if isinstance(x, RaggedTensor):
        return RaggedTensor(tuple(map(_with_values, x._ragged_parts)))
    return with_parts(_with_values, x) if isinstance(x, (tuple, dict)) else x


def _holds_strings(spec: Any) -> bool:
    if hasattr(spec, "_ragged_parts"):
        return any(map(_holds_strings, spec._ragged_parts))
    return bool(spec[0] == "string")


def with_string_values(spec: Any) -> Callable[[Any], Any] | None:
    """A function that converts the strings in an element of this spec to ``String``, which is ``bytes`` that also equal
    the ``str``. None if the spec has no strings.
    """
    return _with_values if any(map(_holds_strings, flatten(spec))) else None
