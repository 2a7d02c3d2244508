"""Generators whose arguments depend on the element: a Python function makes all elements of such a generator at
once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from .._specs import TensorSpec, flatten, map_structure
from .._tensors import values as _values
from ..dtypes import string
from ..errors import UnimplementedError
from .declared import checked

if TYPE_CHECKING:
    from .._dataset import Dataset

#: The most elements that a generator may give if its arguments depend on the element.
_MOST = 1 << 20


def columns_of(declared: Any) -> list[TensorSpec]:
    """The specs of the results of ``WholeGenerator``: for each component a tensor of its values in all elements, or, if
    its shape is not fully defined, a vector of serialized tensors.
    """
    leaves = flatten(declared)
    if not all(isinstance(spec, TensorSpec) for spec in leaves):
        raise UnimplementedError("from_generator: args that depend on the element go with components that are tensors")
    return [TensorSpec([None, *spec.shape.as_list()], spec.dtype) if spec.shape.is_fully_defined()
            else TensorSpec([None], string) for spec in leaves]


class WholeGenerator:
    """A function that gives all elements of ``generator(*args)``, in columns with the specs of ``columns_of``."""

    def __init__(self, generator: Callable[..., Any], declared: Any) -> None:
        self._generator = generator
        self._declared = declared
        self.__qualname__ = getattr(generator, "__qualname__", type(generator).__qualname__)

    def __call__(self, *args: Any) -> Any:
        plain = map_structure(lambda spec: [spec.dtype.name, spec.shape.dims], self._declared)
        check = checked(plain)
        rows: list[list[Any]] = []
        for element in self._generator(*args):
            if len(rows) == _MOST:
                raise ValueError(f"it gives more than {_MOST} elements; with args that depend on the element all are made at "
                                 "once, so that there must be an end")
            rows.append(check(element))
        return tuple(_column(i, spec, rows) for i, spec in enumerate(flatten(self._declared)))


def _column(i: int, spec: TensorSpec, rows: list[list[Any]]) -> Any:
    values = [row[i] for row in rows]
    out: Any
    if not spec.shape.is_fully_defined():
        out = np.empty(len(rows), np.object_)
        for at, value in enumerate(values):
            out[at] = _values.known(_core.serialize_tensor(_values.constant(value)), "element", "a value")
        return out
    kind = np.object_ if spec.dtype == string else spec.dtype.as_numpy_dtype
    dims: Any = (len(rows), *spec.shape.as_list())
    out = np.empty(dims, kind)
    for at, value in enumerate(values):
        out[at] = value if value.ndim else value[()]
    return out


def elements_of(columns: Any, declared: Any) -> Dataset:
    """The dataset of the elements in columns that ``WholeGenerator`` made."""
    from .._dataset import Dataset

    def arranged(*parts: Any) -> Any:
        rest = iter(parts)

        def leaf(spec: TensorSpec) -> Any:
            value = next(rest)
            if spec.shape.is_fully_defined():
                return value
            dims = spec.shape.dims
            if dims is None:
                raise UnimplementedError("from_generator: args that depend on the element go with components whose number "
                                         "of axes is declared")
            return _core.ensure_shape(_core.parse_tensor(value, spec.dtype.name), list(dims))
        return map_structure(leaf, declared)

    return Dataset.from_tensor_slices(tuple(columns)).map(arranged)
