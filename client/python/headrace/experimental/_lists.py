"""Datasets of given elements, and single elements of a dataset."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _core, dtypes
from .._dataset import Dataset
from .._dataset.ragged_rows import arranged, leaves
from .._specs import parts_along
from .._tensor_shape import TensorShape
from .._tensors import values as _values
from .._tensors.values import integer
from .._tracing.tracing import tensors
from ..errors import OutOfRangeError, UnimplementedError

#: The seed of random orders in ``at``, so that all calls in a program use the same order.
_DRAWN = secrets.randbits(64)


def from_list(elements: Any, name: str | None = None) -> Dataset:
    """A dataset of these elements: a list of tensors, tuples or dicts, which all have the same structure.

    The tensors of a component must have the same dtype and number of axes; their extents may differ. Raises
    ``ValueError`` for a value that is not a list, for an empty list, and for elements of different structures,
    ``TypeError`` for different dtypes, and ``UnimplementedError`` for different numbers of axes.

    >>> list(from_list([(1, "a"), (2, "b")]))
    [(np.int32(1), b'a'), (np.int32(2), b'b')]
    >>> list(from_list([[1], [2, 3]]))
    [array([1], dtype=int32), array([2, 3], dtype=int32)]
    """
    if not isinstance(elements, list) or not elements:
        raise ValueError(f"from_list: elements must be a list with at least one element: {elements!r:.60}")
    given = [tensors(element) for element in elements]
    first = given[0]
    rows: list[list[Any]] = []
    for i, one in enumerate(given):
        try:
            rows.append([part for _, part in parts_along(first, one, f"element {i}", "the elements before")])
        except ValueError as e:
            raise ValueError(f"from_list: element {i} is arranged otherwise than element 0: {e}") from None
    columns = [_Column(i, parts) for i, parts in enumerate(zip(*rows))]

    def element(*row: Any) -> Any:
        return arranged(first, (column.read(x) for column, x in zip(columns, row)))

    return Dataset.from_tensor_slices(tuple(column.stored for column in columns)).map(element)


class _Column:
    """One component of all elements: stacked if they have one shape; otherwise each value is written as a string."""

    def __init__(self, number: int, parts: tuple[Any, ...]) -> None:
        self.dtype = parts[0].dtype
        for i, part in enumerate(parts):
            if not isinstance(part, _core.Tensor):
                raise TypeError(f"from_list: component {number} of element {i} is a {type(part).__name__}, and no tensor")
            if part.dtype != self.dtype:
                raise TypeError(f"from_list: component {number} of element {i} is {part.dtype.name}, and of element 0 "
                                f"{self.dtype.name}")
        arrays = [_values.known(part, "from_list: elements", "tensors") for part in parts]
        shapes = [np.shape(x) for x in arrays]
        self.dims: list[int | None] | None = None
        if len(set(shapes)) == 1:
            kind = np.object_ if self.dtype == dtypes.string else self.dtype.as_numpy_dtype
            self.stored: Any = np.empty((len(arrays), *shapes[0]), kind)
            for i, x in enumerate(arrays):
                self.stored[i] = x
            return
        if len(set(map(len, shapes))) > 1:
            raise UnimplementedError(f"from_list: component {number} has different numbers of axes: shapes "
                                     f"{sorted(set(shapes))}; in this release all tensors of a component have as many")
        self.dims = [n if all(shape[axis] == n for shape in shapes) else None for axis, n in enumerate(shapes[0])]
        self.stored = np.array([*(_values.known(_core.serialize_tensor(part), "elements", "tensors") for part in parts),
                                None], np.object_)[:-1]

    def read(self, x: Any) -> Any:
        if self.dims is None:
            return x
        return _core.ensure_shape(_core.parse_tensor(x, self.dtype.name), self.dims)


def at(dataset: Dataset, index: Any) -> Any:
    """The element with this number, from 0 on. Random orders are the same in all calls of a program.

    The elements before this element are read, too, if they cannot be skipped. Raises ``OutOfRangeError`` if there is
    no such element, and the element's error if it failed.

    >>> at(Dataset.range(5).map(lambda x: x * x), 3)
    np.int64(9)
    """
    if not isinstance(dataset, Dataset):
        raise TypeError(f"at: dataset must be a Dataset, not {type(dataset).__name__}")
    number = integer(index, "index")
    if number >= 0:
        one = dataset.skip(number).take(1)._readable()
        for element in _core.give_string_values(one.read_as(_DRAWN ^ int(dataset.fingerprint()), 0)):
            return dataset._of_windows_or_tensors(element)
    raise OutOfRangeError(f"at: there is no element {number}" + (
        f" among {dataset.cardinality()}" if dataset.cardinality() >= 0 else ""))


def pad_to_cardinality(cardinality: Any, mask_key: str = "valid") -> Callable[[Dataset], Dataset]:
    """Pads a dataset to this number of elements. Its elements are dicts; after the last one, elements of zeros (and
    empty strings) are added.

    The key ``mask_key`` of each element is true if the element is not padding. Raises ``ValueError`` if the number of
    elements is not known or larger, for elements that are not dicts, and for tensors whose shape is not known.

    >>> ds = Dataset.range(1, 3).map(lambda x: {"x": x}).apply(pad_to_cardinality(3))
    >>> [(int(e["x"]), bool(e["valid"])) for e in ds]
    [(1, True), (2, True), (0, False)]
    """
    count = integer(cardinality, "cardinality")

    def transformed(dataset: Dataset) -> Dataset:
        spec, there = dataset.element_spec, dataset.cardinality()
        if there < 0:
            raise ValueError("pad_to_cardinality: the number of elements must be known; see assert_cardinality")
        if there > count:
            raise ValueError(f"pad_to_cardinality: there are {there} elements, more than {count}")
        if not isinstance(spec, dict):
            raise ValueError(f"pad_to_cardinality: the elements must be dicts, and are {spec}")

        def filler(one: Any) -> Any:
            shape = getattr(one, "shape", TensorShape(None))
            if not isinstance(shape, TensorShape) or not shape.is_fully_defined():
                raise ValueError(f"pad_to_cardinality: the shape of {one} must be known; see headrace.ensure_shape")
            if one.dtype == dtypes.string:
                return np.full(shape.as_list(), b"", np.object_)
            return np.zeros(shape.as_list(), one.dtype.as_numpy_dtype)

        marked = dataset.map(lambda element: {**element, mask_key: _values.constant(True)})
        if there == count:
            return marked
        parts = marked.element_spec
        fill = arranged(parts, iter([filler(one) for one in leaves(parts)]))
        fill[mask_key] = np.array(False)
        return marked.concatenate(Dataset.from_tensors(fill).repeat(count - there))

    return transformed
