"""A value that may be missing, as ``tf.experimental.Optional``."""

from __future__ import annotations

from typing import Any

from . import _core
from ._functions.ragged import RaggedTensor, RaggedTensorSpec
from ._specs import DatasetSpec, TensorSpec, map_structure
from ._tensors import values as _values
from ._tensors.labels import with_parts
from .errors import InvalidArgumentError


class Optional:
    """An element, or the record that there is none. It is made by ``from_value``, ``empty``, or an iterator.

    >>> it = iter(Dataset.range(1))
    >>> [hr.experimental.get_next_as_optional(it).has_value() for _ in range(2)]
    [True, False]
    """

    __slots__ = ("_element_spec", "_has_value", "_value")
    _element_spec: Any
    _has_value: bool
    _value: Any

    def __init__(self) -> None:
        raise TypeError("an Optional is made by Optional.from_value, Optional.empty or get_next_as_optional")

    @classmethod
    def _made(cls, element_spec: Any, has_value: bool, value: Any) -> Optional:
        out = object.__new__(cls)
        out._element_spec, out._has_value, out._value = element_spec, has_value, value
        return out

    @staticmethod
    def from_value(value: Any) -> Optional:
        """An ``Optional`` with this value: nested tuples and dicts of tensors, and of values that numpy converts to
        arrays. Raises ``TypeError`` for a tensor that depends on an element.

        >>> hr.experimental.Optional.from_value({"x": 3}).get_value()
        {'x': np.int32(3)}
        """
        arrays = map_structure(_as_element, value)
        return Optional._made(_spec_of(arrays), True, arrays)

    @staticmethod
    def empty(element_spec: Any) -> Optional:
        """An ``Optional`` without a value, with this spec.

        >>> hr.experimental.Optional.empty(hr.TensorSpec([], hr.int64)).has_value()
        False
        """
        return Optional._made(element_spec, False, None)

    def has_value(self, name: str | None = None) -> bool:
        """True if there is a value.

        >>> hr.experimental.Optional.from_value(1).has_value()
        True
        """
        return self._has_value

    def get_value(self, name: str | None = None) -> Any:
        """The value. Raises ``InvalidArgumentError`` if there is none.

        >>> hr.experimental.Optional.from_value(1).get_value()
        np.int32(1)
        """
        if not self._has_value:
            raise InvalidArgumentError("Optional.get_value: it has no value; has_value() tells whether it does")
        return self._value

    @property
    def element_spec(self) -> Any:
        """The spec of the value, whether there is one or not.

        >>> hr.experimental.Optional.from_value([1, 2]).element_spec
        TensorSpec(shape=(2,), dtype=headrace.int32, name=None)
        """
        return self._element_spec

    def __repr__(self) -> str:
        return f"Optional({self._value!r})" if self._has_value else f"Optional.empty({self._element_spec!r})"


def get_next_as_optional(iterator: Any) -> Optional:
    """An iterator's next element, or an ``Optional`` without a value at the end.

    Raises the element's error if the element failed, and ``TypeError`` for a value that is no iterator of a dataset.

    >>> hr.experimental.get_next_as_optional(iter(Dataset.range(3)))
    Optional(np.int64(0))
    """
    if not isinstance(iterator, _core.Iterator):
        raise TypeError(f"get_next_as_optional: iterator must be an iterator of a dataset, not "
                        f"{type(iterator).__name__}")
    nothing = object()
    value = next(iterator, nothing)
    if value is nothing:
        return Optional.empty(iterator.element_spec)
    return Optional._made(iterator.element_spec, True, value)


def _as_element(value: Any) -> Any:
    if hasattr(value, "element_spec"):  # a dataset
        return value
    if isinstance(value, _core.Tensor):
        return _values.known(value, "Optional.from_value: value", "a tensor")
    array = _values.as_array(value)
    return array[()] if array.ndim == 0 else array


def _spec_of(value: Any) -> Any:
    if isinstance(value, (tuple, dict)):
        return with_parts(_spec_of, value)
    if hasattr(value, "element_spec"):
        return DatasetSpec(value.element_spec)
    if isinstance(value, RaggedTensor):
        return RaggedTensorSpec.from_value(value)
    array = _values.as_array(value)
    return TensorSpec(array.shape, "string" if array.dtype == object else array.dtype)
