"""Checks the results of Python functions against their declared specs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._functions.ragged import of_lists
from .._specs import flatten, map_structure
from .._tensors.list_dtypes import with_exact_integers
from .._tensors.mappings import refuse_mappings
from ..dtypes import as_dtype


def _as_declared(value: Any, kind: str, dims: list[int | None] | None, where: str) -> Any:
    dtype = as_dtype(kind)
    refuse_mappings(value)
    # Strings are kept as objects: numpy's own strings would lose NULs at their ends.
    array = np.asarray(value, np.object_ if isinstance(value, (str, bytes, list, tuple)) and kind == "string" else None)
    if dtype.is_integer:
        array = with_exact_integers(array, value)
    if kind == "string":
        array = array.astype(object)
        if not all(isinstance(x, (str, bytes)) for x in array.flat):
            raise TypeError(f"{where} must be str or bytes, as declared")
    elif array.dtype != dtype.as_numpy_dtype:
        # Numbers are converted to the declared dtype, except floats to integers, and integers that do not fit.
        python_s = isinstance(value, (bool, int, float, list, tuple)) and array.dtype.kind in "biuf" and (
            array.dtype.kind != "f" or array.size == 0 or dtype.is_floating or dtype.is_complex)
        ints = array.dtype.kind in "iu" and dtype.is_integer
        if not python_s and not ints and not np.can_cast(array.dtype, dtype.as_numpy_dtype, "same_kind"):
            raise TypeError(f"{where} is {array.dtype}, but declared is {kind}")
        converted = array.astype(dtype.as_numpy_dtype)
        if dtype.is_integer and not (converted == array).all():
            raise TypeError(f"{where} is {array.dtype}, with numbers that the declared {kind} does not hold")
        array = converted
    if dims is not None and (len(dims) != array.ndim or any(d is not None and d != n for d, n in zip(dims, array.shape))):
        raise ValueError(f"{where} has the shape {array.shape}, but declared is {tuple(dims)}")
    return np.ascontiguousarray(array).reshape(array.shape)


def _with_parts(value: Any, declared: Any) -> Any:
    """``value``, in which each component that is declared as ragged (a RaggedTensor or nested lists) is replaced by a
    tuple of its flat values and row lengths.
    """
    if hasattr(declared, "_ragged_parts"):
        if isinstance(value, (list, np.ndarray)):
            value = of_lists(list(value), len(declared._ragged_parts) - 1, declared._ragged_parts[0][0])
        return tuple(getattr(value, "_ragged_parts", (value,)))
    if isinstance(declared, tuple) and isinstance(value, tuple) and len(value) == len(declared):
        return tuple(map(_with_parts, value, declared))
    if isinstance(declared, dict) and isinstance(value, Mapping) and value.keys() == declared.keys():
        return {name: _with_parts(value[name], part) for name, part in declared.items()}
    return value


def checked(declared: Any) -> Callable[[Any], list[Any]]:
    """A function that returns the arrays of a Python value, one for each leaf of ``declared``, and raises an error if
    the value does not fit.
    """
    leaves = flatten(declared)
    layout = map_structure(lambda _: None, _with_parts(declared, declared))

    def check(given: Any) -> list[Any]:
        given = _with_parts(given, declared)
        if map_structure(lambda _: None, given) != layout:
            raise TypeError(f"it gave {given!r}, which is not arranged as it was declared")
        return [_as_declared(value, kind, dims, "what it gave" if len(leaves) == 1 else f"component {i}")
                for i, (value, (kind, dims)) in enumerate(zip(flatten(given), leaves))]

    return check
