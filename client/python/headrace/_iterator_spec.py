"""The type of iterators, as ``tf.data.IteratorSpec``."""

from __future__ import annotations

from typing import Any

from . import _core
from ._specs import DatasetSpec


class IteratorSpec:
    """The spec of an iterator: the spec of the elements that it returns.

    >>> hr.data.IteratorSpec.from_value(iter(Dataset.range(3)))
    IteratorSpec(TensorSpec(shape=(), dtype=headrace.int64, name=None))
    """

    __slots__ = ("_elements",)

    def __init__(self, element_spec: Any) -> None:
        self._elements = DatasetSpec(element_spec)

    @property
    def element_spec(self) -> Any:
        """The spec of the elements.

        >>> hr.data.IteratorSpec(hr.TensorSpec([], hr.int64)).element_spec.dtype
        headrace.int64
        """
        return self._elements.element_spec

    @property
    def value_type(self) -> type:
        """The class of iterators.

        >>> hr.data.IteratorSpec(hr.TensorSpec([], hr.int64)).value_type is hr.data.Iterator
        True
        """
        return _core.Iterator

    @staticmethod
    def from_value(value: Any) -> IteratorSpec:
        """The spec of an iterator.

        >>> hr.data.IteratorSpec.from_value(iter(Dataset.range(3))).element_spec.dtype
        headrace.int64
        """
        return IteratorSpec(value.element_spec)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """True if an iterator with that spec, or that iterator, can have this spec.

        >>> hr.data.IteratorSpec(hr.TensorSpec([], hr.int64)).is_compatible_with(iter(Dataset.range(3)))
        True
        """
        if not isinstance(spec_or_value, (IteratorSpec, _core.Iterator)):
            return False
        return self._elements.is_compatible_with(DatasetSpec(spec_or_value.element_spec))

    def most_specific_compatible_type(self, other: IteratorSpec) -> IteratorSpec:
        """The most specific spec with which both are compatible. Raises ``ValueError`` if there is none.

        >>> one, other = (hr.data.IteratorSpec(hr.TensorSpec([n], hr.int64)) for n in (2, 3))
        >>> one.most_specific_compatible_type(other).element_spec.shape
        TensorShape([None])
        """
        if not isinstance(other, IteratorSpec):
            raise ValueError(f"no spec is compatible with {self!r} and with {other!r}")
        return IteratorSpec(self._elements.most_specific_compatible_type(other._elements).element_spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IteratorSpec) and self._elements == other._elements

    def __hash__(self) -> int:
        return hash((IteratorSpec, self._elements))

    def __repr__(self) -> str:
        return f"IteratorSpec({self.element_spec!r})"
