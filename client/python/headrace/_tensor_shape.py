"""The shapes of tensors, as far as they are known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Union

import numpy as np

from ._tensors.values import integer

ShapeLike = Union["TensorShape", Sequence[Union[int, None]], int, None]


class TensorShape:
    """The extents of a tensor, ``None`` for unknown ones; ``TensorShape(None)`` has an unknown rank.

    >>> s = TensorShape([None, 3])
    >>> s, s.rank, s[1], s == (None, 3)
    (TensorShape([None, 3]), 2, 3, True)
    """

    __slots__ = ("_dims",)

    def __init__(self, dims: ShapeLike) -> None:
        self._dims: tuple[int | None, ...] | None
        if isinstance(dims, TensorShape):
            self._dims = dims._dims
        elif dims is None:
            self._dims = None
        elif isinstance(dims, (int, np.integer)):
            self._dims = (integer(dims, "shape"),)
        else:
            if isinstance(dims, (str, bytes)) or not hasattr(dims, "__iter__"):
                raise TypeError(f"shape must be None, or ints and None for its extents, not {type(dims).__name__}: "
                                f"{dims!r}")
            extents = [None if d is None else integer(d, "shape: an extent") for d in dims]
            self._dims = tuple(None if d == -1 else d for d in extents)
        if self._dims is not None and any(d is not None and d < 0 for d in self._dims):
            raise ValueError(f"shape: extents must be 0 or more, or None: {list(self._dims)}")

    @property
    def rank(self) -> int | None:
        """The number of axes, or None.

        >>> hr.TensorShape([None, 3]).rank, hr.TensorShape(None).rank
        (2, None)
        """
        return None if self._dims is None else len(self._dims)

    ndims = rank

    @property
    def dims(self) -> tuple[int | None, ...] | None:
        """The extents, or None without a rank.

        >>> hr.TensorShape([None, 3]).dims
        (None, 3)
        """
        return self._dims

    def as_list(self) -> list[int | None]:
        """The extents. Raises ``ValueError`` without a rank.

        >>> hr.TensorShape([None, 3]).as_list()
        [None, 3]
        """
        return list(self._known())

    def is_fully_defined(self) -> bool:
        """True if the rank and all extents are known.

        >>> hr.TensorShape([2, 3]).is_fully_defined(), hr.TensorShape([None]).is_fully_defined()
        (True, False)
        """
        return self._dims is not None and None not in self._dims

    def num_elements(self) -> int | None:
        """The number of values, or None.

        >>> hr.TensorShape([2, 3]).num_elements()
        6
        """
        if self._dims is None:
            return None
        out = 1
        for d in self._dims:
            if d is None:
                return None
            out *= d
        return out

    def is_compatible_with(self, other: ShapeLike) -> bool:
        """True if one tensor may have both shapes.

        >>> hr.TensorShape([None, 3]).is_compatible_with([2, 3]), hr.TensorShape([2]).is_compatible_with([3])
        (True, False)
        """
        theirs = TensorShape(other)._dims
        return self._dims is None or theirs is None or len(self._dims) == len(theirs) and all(
            a is None or b is None or a == b for a, b in zip(self._dims, theirs))

    def merge_with(self, other: ShapeLike) -> TensorShape:
        """The shape with the extents that are known in either shape. Raises ``ValueError`` if they are not compatible.

        >>> hr.TensorShape([None, 3]).merge_with([2, None])
        TensorShape([2, 3])
        """
        theirs = TensorShape(other)
        if not self.is_compatible_with(theirs):
            raise ValueError(f"shapes {self} and {theirs} are not compatible")
        if self._dims is None or theirs._dims is None:
            return theirs if self._dims is None else self
        return TensorShape([b if a is None else a for a, b in zip(self._dims, theirs._dims)])

    def most_specific_compatible_shape(self, other: ShapeLike) -> TensorShape:
        """The most specific shape with which both shapes are compatible.

        >>> hr.TensorShape([2, 3]).most_specific_compatible_shape([2, 4])
        TensorShape([2, None])
        """
        theirs = TensorShape(other)._dims
        if self._dims is None or theirs is None or len(self._dims) != len(theirs):
            return TensorShape(None)
        return TensorShape([a if a == b else None for a, b in zip(self._dims, theirs)])

    def concatenate(self, other: ShapeLike) -> TensorShape:
        """The axes of this shape, followed by the axes of ``other``. The operator ``+`` does the same.

        >>> hr.TensorShape([2]).concatenate([3, None]), [1] + hr.TensorShape([2])
        (TensorShape([2, 3, None]), TensorShape([1, 2]))
        """
        theirs = TensorShape(other)._dims
        return TensorShape(None if self._dims is None or theirs is None else (*self._dims, *theirs))

    def with_rank(self, rank: int) -> TensorShape:
        """This shape; ``rank`` unknown extents if its rank is unknown. Raises ``ValueError`` if it has another rank.

        >>> hr.TensorShape(None).with_rank(2)
        TensorShape([None, None])
        """
        wanted = integer(rank, "rank")
        if self._dims is None:
            return TensorShape([None] * wanted)
        self._check(len(self._dims) == wanted, f"rank {wanted}")
        return self

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """This shape. Raises ``ValueError`` if it is known to have fewer axes.

        >>> hr.TensorShape([2, 3]).with_rank_at_least(1)
        TensorShape([2, 3])
        """
        least = integer(rank, "rank")
        self._check(self._dims is None or len(self._dims) >= least, f"rank {least} or more")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """This shape. Raises ``ValueError`` if it is known to have more axes.

        >>> hr.TensorShape([2, 3]).with_rank_at_most(2)
        TensorShape([2, 3])
        """
        most = integer(rank, "rank")
        self._check(self._dims is None or len(self._dims) <= most, f"rank {most} or less")
        return self

    def assert_has_rank(self, rank: int) -> None:
        """Raises ``ValueError`` if the shape is known to have another number of axes.

        >>> hr.TensorShape([2, 3]).assert_has_rank(2)
        """
        self.with_rank(rank)

    def assert_same_rank(self, other: ShapeLike) -> None:
        """Raises ``ValueError`` if the two are known to have different numbers of axes.

        >>> hr.TensorShape([2, 3]).assert_same_rank([None, 4])
        """
        theirs = TensorShape(other)
        if theirs._dims is not None:
            self.with_rank(len(theirs._dims))

    def assert_is_compatible_with(self, other: ShapeLike) -> None:
        """Raises ``ValueError`` if no tensor can have both shapes.

        >>> hr.TensorShape([2, None]).assert_is_compatible_with([2, 3])
        """
        self.merge_with(other)

    def assert_is_fully_defined(self) -> None:
        """Raises ``ValueError`` if the rank or an extent is not known.

        >>> hr.TensorShape([2, 3]).assert_is_fully_defined()
        """
        self._check(self.is_fully_defined(), "all extents known")

    def _check(self, holds: bool, what: str) -> None:
        if not holds:
            raise ValueError(f"the shape {self} must have {what}")

    def __add__(self, other: ShapeLike) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: ShapeLike) -> TensorShape:
        return TensorShape(other).concatenate(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """The extents: int64."""
        self.assert_is_fully_defined()
        return np.array(self._dims, dtype or np.int64)

    def _known(self) -> tuple[int | None, ...]:
        if self._dims is None:
            raise ValueError("the rank of this shape is not known")
        return self._dims

    def __getitem__(self, index: Any) -> Any:
        if self._dims is None:
            return self._part_of_unknown(index) if isinstance(index, slice) else None
        part = self._dims[index]
        return TensorShape(part) if isinstance(index, slice) else part

    @staticmethod
    def _part_of_unknown(part: slice) -> TensorShape:
        """A slice of a shape without a rank: the unknown extents between the bounds, if these count from the first
        axis, and else a shape without a rank.
        """
        start, stop = part.start or 0, part.stop
        if stop is None or stop < 0 or start < 0 or part.step not in (None, 1):
            return TensorShape(None)
        return TensorShape([None] * max(0, stop - start))

    def __len__(self) -> int:
        return len(self._known())

    def __iter__(self) -> Iterator[int | None]:
        return iter(self._known())

    def __bool__(self) -> bool:
        return self._dims is not None

    def __eq__(self, other: object) -> bool:
        try:
            return self._dims == TensorShape(other)._dims  # type: ignore[arg-type]
        except (TypeError, ValueError):
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self._dims)

    def __repr__(self) -> str:
        return f"TensorShape({None if self._dims is None else list(self._dims)})"

    def __str__(self) -> str:
        if self._dims is None:
            return "<unknown>"
        inner = ", ".join(map(str, self._dims))
        return f"({inner},)" if len(self._dims) == 1 else f"({inner})"
