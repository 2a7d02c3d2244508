"""Tensors whose rows differ in length."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import _core, _values, dtypes
from .._specs import TensorShape, TensorSpec


class RaggedTensor:
    """Rows of different lengths: the values of all rows, one after another, and the rows' lengths.

    What ``ragged_batch`` gives, with numpy arrays in it; and what a traced function gets of that and may give, with
    tensors in it.

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
        """Rows of these lengths, which must add up to as many as there are values. ``values`` may be ragged too.

        Raises ``ValueError`` if they do not.

        >>> hr.RaggedTensor.from_row_lengths([1, 2, 3], [2, 1])
        RaggedTensor([[1, 2], [3]])
        """
        inner = values._ragged_parts if isinstance(values, RaggedTensor) else (values,)
        if isinstance(inner[0], _core.Tensor) or isinstance(row_lengths, _core.Tensor):
            return cls((_values.constant(inner[0]), _core.cast(_values.constant(row_lengths), "int64"), *inner[1:]))
        values, lengths = _values.as_array(inner[0]), np.asarray(row_lengths, np.int64)
        if lengths.ndim != 1 or (lengths < 0).any():
            raise ValueError(f"row_lengths must be a vector of numbers of 0 or more: {row_lengths!r}")
        rows = len(inner[1]) if len(inner) > 1 else len(values)
        if lengths.sum() != rows:
            raise ValueError(f"row_lengths add up to {lengths.sum()}; there are {rows} values")
        return cls((values, lengths, *inner[1:]))

    @classmethod
    def from_row_splits(cls, values: Any, row_splits: Any) -> RaggedTensor:
        """Rows between these borders: 0, and where each row ends.

        >>> hr.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 3])
        RaggedTensor([[1, 2], [3]])
        """
        if isinstance(row_splits, _core.Tensor):
            return cls.from_row_lengths(values, row_splits[1:] - row_splits[:-1])
        return cls.from_row_lengths(values, np.diff(np.asarray(row_splits, np.int64)))

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
        """How long the rows are; with ``axis`` 2 and more the rows of the rows, all in one vector.

        int64. Raises ``ValueError`` for another axis.

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
        """The borders of the rows.

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

    def to_tensor(self, default_value: Any = None) -> Any:
        """A tensor with all rows filled up to the longest, with zeros or empty strings if ``default_value`` is None.

        >>> hr.RaggedTensor.from_row_lengths([1, 2, 3], [2, 1]).to_tensor()
        array([[1, 2],
               [3, 0]], dtype=int32)
        """
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
        n = len(self)
        if not -n <= row < n:
            raise IndexError(f"row {row} of {n}")
        splits = self.row_splits
        return _cut(self.values, splits[row % n], splits[row % n + 1])

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        if isinstance(self.flat_values, _core.Tensor):
            return f"RaggedTensor(values={self.flat_values!r}, row_lengths={self._ragged_parts[1]!r})"
        return f"RaggedTensor({self.to_list()})"


class RaggedTensorSpec:
    """A ragged tensor's shape, dtype and number of ragged axes.

    >>> ds = Dataset.range(3).flat_map(lambda n: Dataset.range(n).batch(9))
    >>> ds.ragged_batch(2).element_spec
    RaggedTensorSpec((None, None), headrace.int64, 1, headrace.int64)
    """

    __slots__ = ("_ragged_parts",)

    def __init__(self, parts: tuple[TensorSpec, ...]) -> None:
        self._ragged_parts = parts

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
        """Rows, then None for each ragged axis, then what is known of the values.

        >>> Dataset.range(9).batch(3).ragged_batch(2).element_spec.shape
        TensorShape([None, None])
        """
        values, rows = self._ragged_parts[0].shape, self._ragged_parts[1].shape
        return TensorShape([rows[0], *[None] * self.ragged_rank, *values.as_list()[1:]])

    def _mapped(self, f: Callable[[Any], Any]) -> RaggedTensorSpec:
        return RaggedTensorSpec(tuple(f(part) for part in self._ragged_parts))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RaggedTensorSpec) and self._ragged_parts == other._ragged_parts

    def __hash__(self) -> int:
        return hash(self._ragged_parts)

    def __repr__(self) -> str:
        return f"RaggedTensorSpec({self.shape}, {self.dtype!r}, {self.ragged_rank}, {self.row_splits_dtype!r})"


def _cut(values: Any, first: int, last: int) -> Any:
    """Rows ``first`` to ``last`` of an array or a ragged tensor."""
    if not isinstance(values, RaggedTensor):
        return values[first:last]
    splits = values.row_splits
    return RaggedTensor.from_row_lengths(_cut(values.values, splits[first], splits[last]),
                                         values.row_lengths()[first:last])


def of_parts(parts: tuple[Any, ...]) -> RaggedTensor | RaggedTensorSpec:
    """The ragged tensor (or spec) with these values and row lengths."""
    return RaggedTensorSpec(parts) if isinstance(parts[0], TensorSpec) else RaggedTensor(parts)
