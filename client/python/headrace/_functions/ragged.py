"""Tensors whose rows differ in length."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import _core, dtypes
from .._specs import DatasetSpec, TensorSpec
from .._tensor_shape import TensorShape
from .._tensors import values as _values
from .._tensors.list_dtypes import with_exact_integers
from ..errors import UnimplementedError


class RaggedTensor:
    """Rows of different lengths: the values of all rows, one after another, and the rows' lengths.

    The ragged tensors in elements, such as those of ``ragged_batch``, are made of numpy arrays. The ragged tensors
    that a traced function is called with, and may return, are made of tensors.

    >>> r = RaggedTensor.from_row_lengths(np.array([1, 2, 3]), np.array([2, 0, 1]))
    >>> r.to_list(), r.row_splits
    ([[1, 2], [], [3]], array([0, 2, 2, 3]))
    >>> r.to_tensor(-1)
    array([[ 1,  2],
           [-1, -1],
           [ 3, -1]])
    """

    __slots__ = ("_ragged_parts",)

    def __init__(self, parts: tuple[Any, ...]) -> None:
        if len(parts) < 2:
            raise ValueError("a ragged tensor is made by RaggedTensor.from_row_lengths or from_row_splits")
        self._ragged_parts = parts

    @classmethod
    def from_row_lengths(cls, values: Any, row_lengths: Any) -> RaggedTensor:
        """Rows of these lengths, whose sum must be the number of values. ``values`` may be ragged too.

        Raises ``ValueError`` if the sum is another number. If it becomes known only with an element, that element
        fails.

        >>> hr.RaggedTensor.from_row_lengths([1, 2, 3], [2, 1])
        RaggedTensor([[1, 2], [3]])
        """
        inner = values._ragged_parts if isinstance(values, RaggedTensor) else (values,)
        if isinstance(inner[0], _core.Tensor) or isinstance(row_lengths, _core.Tensor):
            return cls((_values.constant(inner[0]), _checked_lengths(row_lengths, inner[:2][-1]), *inner[1:]))
        values, lengths = _values.as_array(inner[0]), np.asarray(row_lengths, np.int64)
        if lengths.ndim != 1 or (lengths < 0).any():
            raise ValueError(f"row_lengths must be a vector of numbers of 0 or more: {row_lengths!r}")
        rows = len(inner[1]) if len(inner) > 1 else len(values)
        if lengths.sum() != rows:
            raise ValueError(f"row_lengths add up to {lengths.sum()}; there are {rows} values")
        return cls((values, lengths, *inner[1:]))

    @classmethod
    def from_row_splits(cls, values: Any, row_splits: Any) -> RaggedTensor:
        """Rows of ``values``. ``row_splits``: 0, and then the index of the end of each row.

        >>> hr.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 3])
        RaggedTensor([[1, 2], [3]])
        """
        if isinstance(row_splits, _core.Tensor):
            from ..debugging import assert_equal

            ends = _core.cast(row_splits, "int64")
            assert_equal(ends[0], 0, "RaggedTensor.from_row_splits: row_splits begins with 0")
            return cls.from_row_lengths(values, ends[1:] - ends[:-1])
        splits = np.asarray(row_splits, np.int64)
        if splits.ndim != 1 or len(splits) == 0 or splits[0] != 0:
            raise ValueError(f"row_splits must be a vector that begins with 0: {row_splits!r}")
        return cls.from_row_lengths(values, np.diff(splits))

    @property
    def flat_values(self) -> Any:
        """The values of all rows.

        >>> hr.RaggedTensor.from_row_lengths([1, 2, 3], [2, 1]).flat_values
        array([1, 2, 3], dtype=int32)
        """
        return self._ragged_parts[0]

    @property
    def values(self) -> Any:
        """The elements of the rows: the flat values, or for rows of rows a ragged tensor.

        >>> hr.RaggedTensor.from_row_lengths([1, 2, 3], [2, 1]).values
        array([1, 2, 3], dtype=int32)
        """
        flat, _, *inner = self._ragged_parts
        return RaggedTensor((flat, *inner)) if inner else flat

    def row_lengths(self, axis: int = 1) -> Any:
        """The lengths of the rows, as int64. With ``axis`` 2 or more: the lengths of all inner rows at this depth, in
        one vector.

        Raises ``ValueError`` for another axis.

        >>> hr.RaggedTensor.from_row_lengths([1, 2, 3], [2, 1]).row_lengths()
        array([2, 1])
        """
        if not 1 <= axis <= self.ragged_rank:
            raise ValueError(f"axis must be between 1 and {self.ragged_rank}, not {axis}")
        return self._ragged_parts[axis]

    def nested_row_lengths(self) -> tuple[Any, ...]:
        """The row lengths of all ragged axes, from the outermost on.

        >>> hr.RaggedTensor.from_row_lengths([1, 2, 3], [2, 1]).nested_row_lengths()
        (array([2, 1]),)
        """
        return self._ragged_parts[1:]

    @property
    def row_splits(self) -> Any:
        """0, and the index of the end of each row.

        >>> hr.RaggedTensor.from_row_lengths([1, 2, 3], [2, 1]).row_splits
        array([0, 2, 3])
        """
        lengths = self._ragged_parts[1]
        if isinstance(lengths, _core.Tensor):
            return _core.concat([_values.constant(np.zeros(1, np.int64)), _core.cumsum(lengths, 0, False, False)], 0)
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])

    @property
    def ragged_rank(self) -> int:
        """How many axes have rows of different lengths.

        >>> hr.RaggedTensor.from_row_lengths([1, 2, 3], [2, 1]).ragged_rank
        1
        """
        return len(self._ragged_parts) - 1

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of the values.

        >>> hr.RaggedTensor.from_row_lengths([1, 2, 3], [2, 1]).dtype
        headrace.int32
        """
        flat = self.flat_values
        if isinstance(flat, _core.Tensor):
            return flat.dtype
        return dtypes.string if flat.dtype == np.object_ else dtypes.as_dtype(flat.dtype)

    def nrows(self) -> Any:
        """How many rows there are.

        >>> hr.RaggedTensor.from_row_lengths([1, 2, 3], [2, 1]).nrows()
        2
        """
        lengths = self._ragged_parts[1]
        return _core.size(lengths) if isinstance(lengths, _core.Tensor) else len(lengths)

    def with_flat_values(self, values: Any) -> RaggedTensor:
        """A ragged tensor with these values in rows of the same lengths.

        >>> r = hr.RaggedTensor.from_row_lengths([1, 2, 3], [2, 1])
        >>> r.with_flat_values(r.flat_values * 10)
        RaggedTensor([[10, 20], [30]])
        """
        return RaggedTensor((values, *self._ragged_parts[1:]))

    def to_tensor(self, default_value: Any = None, name: str | None = None, shape: Any = None) -> Any:
        """A tensor with all rows filled up to the longest, with zeros or empty strings if ``default_value`` is None.

        Raises ``UnimplementedError`` for a ``shape``.

        >>> hr.RaggedTensor.from_row_lengths([1, 2, 3], [2, 1]).to_tensor()
        array([[1, 2],
               [3, 0]], dtype=int32)
        """
        if shape is not None:
            raise UnimplementedError("RaggedTensor.to_tensor: this release has no shape: padded_batch pads rows to a shape, "
                                     "and slices of what to_tensor gives cut them")
        if isinstance(self.flat_values, _core.Tensor):
            return _core.ragged_to_tensor(
                self, None if default_value is None else _values.tensor(default_value, "default_value"))
        out = self.flat_values
        fill = default_value if default_value is not None else b"" if out.dtype == np.object_ else 0
        for lengths in reversed(self._ragged_parts[1:]):
            rows = np.full((len(lengths), max(lengths, default=0), *out.shape[1:]), fill, out.dtype)
            at = 0
            for i, n in enumerate(lengths):
                rows[i, :n] = out[at:at + n]
                at += n
            out = rows
        return out

    def to_list(self) -> list[Any]:
        """Nested lists of the values.

        >>> hr.RaggedTensor.from_row_lengths([1, 2, 3], [2, 1]).to_list()
        [[1, 2], [3]]
        """
        values = self.values
        flat = values.to_list() if isinstance(values, RaggedTensor) else values.tolist()
        splits = self.row_splits
        return [flat[a:b] for a, b in zip(splits[:-1], splits[1:])]

    def _mapped(self, f: Callable[[Any], Any]) -> RaggedTensor:
        return RaggedTensor(tuple(f(part) for part in self._ragged_parts))

    def __len__(self) -> int:
        return len(self._ragged_parts[1])

    def __getitem__(self, row: int) -> Any:
        if not isinstance(row, (int, np.integer)):
            raise UnimplementedError(f"a RaggedTensor is indexed by the number of a row, and not by {row!r}: index the row "
                                     "itself, as in r[1][0]")
        n = len(self)
        if not -n <= row < n:
            raise IndexError(f"row {row} of {n}")
        splits = self.row_splits
        return cut_rows(self.values, splits[row % n], splits[row % n + 1])

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        if isinstance(self.flat_values, _core.Tensor):
            return f"RaggedTensor(values={self.flat_values!r}, row_lengths={self._ragged_parts[1]!r})"
        return f"RaggedTensor({self.to_list()})"


class RaggedTensorSpec:
    """A ragged tensor's shape, dtype and number of ragged axes.

    shape: the number of rows, then None for each ragged axis, then the extents of the values; None: any extent.
    ragged_rank: how many axes have rows of different lengths; None: all but the first.
    row_splits_dtype: must be int64.
    flat_values_spec: the ``TensorSpec`` of the values, in place of ``dtype``.

    Raises ``ValueError`` for a shape without a rank, a ``ragged_rank`` that does not fit, or another ``row_splits_dtype``.

    >>> hr.RaggedTensorSpec([3, None], hr.int64)
    RaggedTensorSpec((3, None), headrace.int64, 1, headrace.int64)
    >>> ds = Dataset.range(3).flat_map(lambda n: Dataset.range(n).batch(9))
    >>> ds.ragged_batch(2).element_spec
    RaggedTensorSpec((None, None), headrace.int64, 1, headrace.int64)
    """

    __slots__ = ("_ragged_parts",)

    def __init__(self, shape: Any = None, dtype: Any = dtypes.float32, ragged_rank: int | None = None,
                 row_splits_dtype: Any = dtypes.int64, flat_values_spec: TensorSpec | None = None) -> None:
        if dtypes.as_dtype(row_splits_dtype) != dtypes.int64:
            raise ValueError(f"RaggedTensorSpec: row_splits_dtype must be int64, not {row_splits_dtype}")
        if flat_values_spec is not None and shape is None and ragged_rank is not None:
            inner = flat_values_spec.shape.as_list()[1:]
            shape = [None] * (ragged_rank + 1) + inner
        dims = TensorShape(shape)
        if dims.rank is None:
            raise ValueError("RaggedTensorSpec: shape must have a rank, as [None, None]")
        if ragged_rank is None:
            ragged_rank = dims.rank - 1
        if not 1 <= ragged_rank < dims.rank:
            raise ValueError(f"RaggedTensorSpec: ragged_rank is {ragged_rank}; with shape {dims} it must be between 1 and "
                             f"{dims.rank - 1}: a tensor without ragged axes has a TensorSpec")
        extents = dims.as_list()
        if any(extent is not None for extent in extents[1:ragged_rank + 1]):
            raise ValueError(f"RaggedTensorSpec: the ragged axes of shape {dims} must be None (axes 1 to {ragged_rank})")
        kind = dtypes.as_dtype(dtype) if flat_values_spec is None else flat_values_spec.dtype
        self._ragged_parts: tuple[TensorSpec, ...] = (
            TensorSpec([None, *extents[ragged_rank + 1:]], kind), TensorSpec(extents[:1], dtypes.int64),
            *[TensorSpec([None], dtypes.int64)] * (ragged_rank - 1))

    @classmethod
    def _of_parts(cls, parts: tuple[Any, ...]) -> RaggedTensorSpec:
        out: RaggedTensorSpec = object.__new__(cls)
        out._ragged_parts = parts
        return out

    @property
    def value_type(self) -> type:
        """The class of the values that have this spec.

        >>> hr.RaggedTensorSpec([None, None]).value_type is hr.RaggedTensor
        True
        """
        return RaggedTensor

    @property
    def flat_values_spec(self) -> TensorSpec:
        """The spec of the values of all rows.

        >>> hr.RaggedTensorSpec([None, None, 3], hr.int64, ragged_rank=1).flat_values_spec
        TensorSpec(shape=(None, 3), dtype=headrace.int64, name=None)
        """
        return self._ragged_parts[0]

    @classmethod
    def from_value(cls, value: RaggedTensor) -> RaggedTensorSpec:
        """The spec of a ragged tensor.

        >>> hr.RaggedTensorSpec.from_value(hr.RaggedTensor.from_row_lengths([1, 2, 3], [2, 1]))
        RaggedTensorSpec((2, None), headrace.int32, 1, headrace.int64)
        """
        return cls([value.nrows(), *[None] * value.ragged_rank, *value.flat_values.shape[1:]], value.dtype,
                   value.ragged_rank)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """True if a ragged tensor of the given spec (or the given ragged tensor) may have this spec.

        >>> r = hr.RaggedTensor.from_row_lengths([1, 2, 3], [2, 1])
        >>> hr.RaggedTensorSpec([None, None], hr.int32).is_compatible_with(r)
        True
        """
        other = self.from_value(spec_or_value) if isinstance(spec_or_value, RaggedTensor) else spec_or_value
        return isinstance(other, RaggedTensorSpec) and self.ragged_rank == other.ragged_rank and all(
            a.is_compatible_with(b) for a, b in zip(self._ragged_parts, other._ragged_parts))

    def most_specific_compatible_type(self, other: Any) -> RaggedTensorSpec:
        """The most specific spec with which both specs are compatible. Raises ``ValueError`` if there is none.

        >>> one, other = (hr.RaggedTensorSpec([n, None], hr.int32) for n in (2, 3))
        >>> one.most_specific_compatible_type(other)
        RaggedTensorSpec((None, None), headrace.int32, 1, headrace.int64)
        """
        if not isinstance(other, RaggedTensorSpec) or self.ragged_rank != other.ragged_rank:
            raise ValueError(f"no spec is compatible with {self!r} and with {other!r}")
        return self._of_parts(tuple(a.most_specific_compatible_type(b)
                                    for a, b in zip(self._ragged_parts, other._ragged_parts)))

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of the values.

        >>> Dataset.range(9).batch(3).ragged_batch(2).element_spec.dtype
        headrace.int64
        """
        return self._ragged_parts[0].dtype

    @property
    def row_splits_dtype(self) -> dtypes.DType:
        """The dtype of the row lengths.

        >>> Dataset.range(9).batch(3).ragged_batch(2).element_spec.row_splits_dtype
        headrace.int64
        """
        return self._ragged_parts[1].dtype

    @property
    def ragged_rank(self) -> int:
        """How many axes have rows of different lengths.

        >>> Dataset.range(9).batch(3).ragged_batch(2).element_spec.ragged_rank
        1
        """
        return len(self._ragged_parts) - 1

    @property
    def shape(self) -> TensorShape:
        """The number of rows, then None for each ragged axis, then the extents of the values; None: an unknown
        extent.

        >>> Dataset.range(9).batch(3).ragged_batch(2).element_spec.shape
        TensorShape([None, None])
        """
        values, rows = self._ragged_parts[0].shape, self._ragged_parts[1].shape
        return TensorShape([rows[0], *[None] * self.ragged_rank, *values.as_list()[1:]])

    def _mapped(self, f: Callable[[Any], Any]) -> RaggedTensorSpec:
        return self._of_parts(tuple(f(part) for part in self._ragged_parts))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RaggedTensorSpec) and self._ragged_parts == other._ragged_parts

    def __hash__(self) -> int:
        return hash(self._ragged_parts)

    def __repr__(self) -> str:
        return f"RaggedTensorSpec({self.shape}, {self.dtype!r}, {self.ragged_rank}, {self.row_splits_dtype!r})"


def _checked_lengths(row_lengths: Any, values: Any) -> _core.Tensor:
    """Row lengths that are tensors. An element fails if they do not add up to the first extent of ``values``, which
    are the values, or the row lengths of the values if these are ragged.
    """
    from ..debugging import assert_equal, assert_non_negative

    lengths = _core.ensure_shape(_core.cast(_values.constant(row_lengths), "int64"), [None])
    assert_non_negative(lengths, "RaggedTensor: row lengths are 0 or more")
    rows, sum_of_lengths = _core.shape_of(_values.constant(values))[0], _core.reduce_sum(lengths, [0], False)
    assert_equal(sum_of_lengths, rows, "RaggedTensor: row lengths add up to the number of values")
    return lengths


def cut_rows(values: Any, first: int, last: int) -> Any:
    """The rows from ``first`` up to ``last``, exclusive, of an array, a tensor or a ragged tensor with enough
    rows.
    """
    if not isinstance(values, RaggedTensor):
        return values[first:last]
    splits = values.row_splits
    cut = cut_rows(values.values, splits[first], splits[last])
    flat, *inner = cut._ragged_parts if isinstance(cut, RaggedTensor) else (cut,)
    return RaggedTensor((flat, values.row_lengths()[first:last], *inner))


def of_parts(parts: tuple[Any, ...]) -> RaggedTensor | RaggedTensorSpec:
    """The ragged tensor (or spec) with these values and row lengths."""
    return RaggedTensorSpec._of_parts(parts) if isinstance(parts[0], (TensorSpec, DatasetSpec)) else RaggedTensor(parts)


def of_lists(value: Any, ragged_rank: int, dtype: Any = None) -> RaggedTensor:
    """The ragged tensor of nested lists: rows of rows of ... arrays. Raises ``ValueError`` if they are not nested so deep.

    ``dtype``: the dtype of the result if there are no values. Otherwise the result has the dtype of the values.

    >>> of_lists([[1, 2], [], [3]], 1).row_lengths()
    array([2, 0, 1])
    """
    lengths = []
    for _ in range(ragged_rank):
        if not all(isinstance(row, (list, tuple, np.ndarray)) for row in value):
            raise ValueError(f"a ragged tensor has rows of rows, {ragged_rank + 1} deep")
        lengths.append(np.array([len(row) for row in value], np.int64))
        value = [part for row in value for part in row]
    kind = None if dtype is None else dtypes.as_dtype(dtype)
    if not value and kind is not None:
        flat = np.zeros(0, np.object_ if kind == dtypes.string else kind.as_numpy_dtype)
    else:
        # No dtype is given for numbers, so that floats keep their precision until they are converted.
        flat = np.asarray(value, np.object_ if isinstance(value[0], (str, bytes)) else None) if value else np.zeros(0)
        flat = with_exact_integers(flat, value)
    return RaggedTensor((flat, *lengths))
