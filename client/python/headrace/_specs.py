"""The types of elements, as far as they are determined before the elements are made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from . import dtypes
from ._tensor_shape import ShapeLike, TensorShape
from ._tensors.labels import rebuilt, with_parts


class TensorSpec:
    """A tensor's shape and dtype.

    >>> import headrace as hr
    >>> hr.TensorSpec([None, 2], hr.float32)
    TensorSpec(shape=(None, 2), dtype=headrace.float32, name=None)
    """

    __slots__ = ("_dtype", "_name", "_shape")

    def __init__(self, shape: ShapeLike, dtype: Any = dtypes.float32, name: str | None = None) -> None:
        self._shape = TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._name = name

    @property
    def shape(self) -> TensorShape:
        """The shape.

        >>> Dataset.range(4).batch(2).element_spec.shape
        TensorShape([None])
        """
        return self._shape

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype.

        >>> Dataset.range(4).element_spec.dtype
        headrace.int64
        """
        return self._dtype

    @property
    def name(self) -> str | None:
        """A name for users; it has no effect.

        >>> hr.TensorSpec([], hr.int64, "label").name
        'label'
        """
        return self._name

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """True if a tensor with that spec, or that value, can have this spec.

        >>> hr.TensorSpec([None], hr.int64).is_compatible_with(np.array([1, 2]))
        True
        """
        other = spec_or_value
        if isinstance(other, Mapping):
            return False
        if not isinstance(other, TensorSpec):
            array = np.asarray(other)
            other = TensorSpec(array.shape, array.dtype)
        if self._dtype != other._dtype:
            return False
        mine, theirs = self._shape.dims, other._shape.dims
        if mine is None or theirs is None:
            return True
        return len(mine) == len(theirs) and all(
            a is None or b is None or a == b for a, b in zip(mine, theirs))

    @property
    def value_type(self) -> type:
        """The class of the tensors that functions get.

        >>> hr.TensorSpec([], hr.int64).value_type is hr.Tensor
        True
        """
        from ._core import Tensor

        return Tensor

    def most_specific_compatible_type(self, other: TensorSpec) -> TensorSpec:
        """The most specific spec with which both are compatible. Raises ``ValueError`` if their dtypes differ.

        >>> hr.TensorSpec([2, 3], hr.int64).most_specific_compatible_type(hr.TensorSpec([2, 4], hr.int64)).shape
        TensorShape([2, None])
        """
        if not isinstance(other, TensorSpec) or self._dtype != other._dtype:
            raise ValueError(f"no spec is compatible with {self!r} and with {other!r}")
        mine, theirs = self._shape.dims, other._shape.dims
        if mine is None or theirs is None or len(mine) != len(theirs):
            return TensorSpec(None, self._dtype)
        return TensorSpec([a if a == b else None for a, b in zip(mine, theirs)], self._dtype)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorSpec) and self._shape == other._shape and self._dtype == other._dtype

    def __hash__(self) -> int:
        return hash((self._shape, self._dtype))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        dims = self._shape.dims
        return TensorSpec, (None if dims is None else list(dims), self._dtype.name, self._name)


class DatasetSpec:
    """The spec of a component of elements that is a dataset, such as those of ``window``.

    >>> Dataset.range(4).window(2).element_spec
    DatasetSpec(TensorSpec(shape=(), dtype=headrace.int64, name=None))
    """

    __slots__ = ("_element_spec",)

    def __init__(self, element_spec: Any) -> None:
        self._element_spec = element_spec

    @property
    def element_spec(self) -> Any:
        """The spec of the elements.

        >>> Dataset.range(4).window(2).element_spec.element_spec.dtype
        headrace.int64
        """
        return self._element_spec

    @property
    def value_type(self) -> type:
        """The class of the values with this spec.

        >>> Dataset.range(4).window(2).element_spec.value_type is Dataset
        True
        """
        from ._dataset import Dataset

        return Dataset

    @staticmethod
    def from_value(value: Any) -> DatasetSpec:
        """The spec of a dataset.

        >>> hr.DatasetSpec.from_value(Dataset.range(4))
        DatasetSpec(TensorSpec(shape=(), dtype=headrace.int64, name=None))
        """
        return DatasetSpec(value.element_spec)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """True if a dataset with that spec, or that dataset, can have this spec.

        >>> Dataset.range(4).window(2).element_spec.is_compatible_with(Dataset.range(2))
        True
        """
        from ._dataset import Dataset

        if not isinstance(spec_or_value, (DatasetSpec, Dataset)):
            return False
        other = spec_or_value.element_spec
        return same_structure(self._element_spec, other) and all(
            type(a) is type(b) and a.is_compatible_with(b)
            for a, b in zip(flatten(self._element_spec), flatten(arranged_as(self._element_spec, other))))

    def most_specific_compatible_type(self, other: DatasetSpec) -> DatasetSpec:
        """The most specific spec with which both are compatible. Raises ``ValueError`` if there is none.

        >>> one, other = (hr.DatasetSpec(hr.TensorSpec([n], hr.int64)) for n in (2, 3))
        >>> one.most_specific_compatible_type(other)
        DatasetSpec(TensorSpec(shape=(None,), dtype=headrace.int64, name=None))
        """
        if not isinstance(other, DatasetSpec) or not same_structure(self._element_spec, other._element_spec):
            raise ValueError(f"no spec is compatible with {self!r} and with {other!r}")
        theirs = iter(flatten(arranged_as(self._element_spec, other._element_spec)))
        return DatasetSpec(map_structure(lambda mine: mine.most_specific_compatible_type(next(theirs)),
                                         self._element_spec))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DatasetSpec) and self._element_spec == other._element_spec

    def __hash__(self) -> int:
        return hash((DatasetSpec, self._element_spec))

    def __repr__(self) -> str:
        return f"DatasetSpec({self._element_spec!r})"


def spec_of_leaf(dtype: str, dims: tuple[int | None, ...] | None, nesting: int = 0) -> Any:
    """The spec of a tensor, or that of a dataset of tensors if ``nesting`` is 1, and so on."""
    out: Any = TensorSpec(dims, dtype)
    for _ in range(nesting):
        out = DatasetSpec(out)
    return out


def element_of(spec: Any, arguments: tuple[Any, ...]) -> Any:
    """The element with which a user's function is called, made of the function's arguments. ``spec``: the spec of the
    elements. A function of tuples is called with their parts, also if there is one part.
    """
    return arguments if type(spec) is tuple else arguments[0]


def map_structure(f: Callable[[Any], Any], value: Any) -> Any:
    """Nested tuples and dicts of the same classes, with the result of ``f`` in place of each leaf, and of each part of
    a ragged tensor. Mappings that are not dicts become dicts.
    """
    if isinstance(value, (tuple, Mapping)):
        return with_parts(lambda part: map_structure(f, part), value)
    if hasattr(value, "_ragged_parts"):
        return value._mapped(f)
    return f(value)


def same_structure(one: Any, other: Any) -> bool:
    """True if two nests of tuples and dicts have the same structure. Keys may be in another order."""
    return bool(_structure(one) == _structure(other))


def _structure(value: Any) -> Any:
    if hasattr(value, "_ragged_parts"):
        return len(value._ragged_parts)
    if isinstance(value, Mapping):
        return {name: _structure(part) for name, part in value.items()}
    return tuple(map(_structure, value)) if isinstance(value, tuple) else 0


def arranged_as(one: Any, other: Any) -> Any:
    """``other``, whose structure is the same, with dicts of the classes in ``one``, and with their keys in the order of
    ``one``.
    """
    if isinstance(one, Mapping):
        return rebuilt(one, [arranged_as(part, other[name]) for name, part in one.items()])
    return rebuilt(other, list(map(arranged_as, one, other))) if isinstance(one, tuple) else other


def parts_along(nest: Any, given: Any, name: str, whose: str,
                is_leaf: Callable[[Any], bool] = lambda value: not isinstance(value, (tuple, Mapping))
                ) -> Iterator[tuple[Any, Any]]:
    """Each leaf of ``nest`` with the part of ``given`` at the same place: in dicts the part with the same key, in
    tuples the part with the same number. A ragged tensor, or its spec, is one leaf, and in ``given`` a list may stand
    in place of a tuple.

    Raises ``ValueError`` if ``given`` lacks parts of ``nest``, or has others, or if ``is_leaf`` is false for the part
    of a leaf. ``name`` and ``whose`` are the words of the error for ``given`` and for the things (plural) that have
    the structure of ``nest``.
    """
    if isinstance(nest, Mapping):
        if not isinstance(given, Mapping) or given.keys() != nest.keys():
            raise ValueError(_difference(nest, given, name, whose))
        for key, part in nest.items():
            yield from parts_along(part, given[key], f"{name}[{key!r}]", whose, is_leaf)
    elif isinstance(nest, tuple):
        if not isinstance(given, (tuple, list)) or len(given) != len(nest):
            raise ValueError(_difference(nest, given, name, whose))
        for i, part in enumerate(nest):
            yield from parts_along(part, given[i], f"{name}[{i}]", whose, is_leaf)
    elif is_leaf(given):
        yield nest, given
    else:
        raise ValueError(_difference(nest, given, name, whose))


def _difference(nest: Any, given: Any, name: str, whose: str) -> str:
    def looks(value: Any) -> str:
        if isinstance(value, Mapping):
            return f"a dict with the keys {list(value)!r}"
        return f"a tuple of {len(value)} parts" if isinstance(value, tuple) else f"{value!r:.60}"

    both_dicts = isinstance(nest, Mapping) and isinstance(given, Mapping)
    both_tuples = isinstance(nest, tuple) and isinstance(given, (tuple, list))
    if (both_dicts or both_tuples) and len(given) != len(nest):
        keys = f": the keys {list(given)!r}, and not {list(nest)!r}" if both_dicts else ""
        return f"{name} has {len(given)} parts; {whose} have {len(nest)} there{keys}"
    return f"{name} is {looks(given)}; {whose} have {looks(nest)} there"


def flatten(value: Any) -> list[Any]:
    """The leaves of nested tuples and dicts, depth first."""
    out: list[Any] = []
    map_structure(out.append, value)
    return out
