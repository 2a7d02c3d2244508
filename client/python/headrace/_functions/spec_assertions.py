"""Assertions about shapes and dtypes, for ``headrace.debugging``. If a shape or dtype is known when the function is
traced, the assertion is checked then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .. import _core, dtypes
from .._tensors.values import constant, integer
from .._tracing.assertions import holds
from ..errors import InvalidArgumentError

Tensor = _core.Tensor


def held(assertion: Tensor, summarize: Any = None) -> Tensor:
    """The assertion as a part of the function that is being traced; its message shows ``summarize`` values of a tensor."""
    if summarize is not None:
        assertion = _core.summarized(assertion, integer(summarize, "summarize"))
    return holds(assertion)


def does_not_hold(name: str, what: str, message: str | None) -> InvalidArgumentError:
    """The error of an assertion that is known not to hold."""
    return InvalidArgumentError(f"debugging.{name}: {message + ': ' if message else ''}{what}")


def _rank_is(x: Any, name: str, fits: Any, needed: str, message: str | None) -> Tensor:
    """`x` if its rank fits, which is checked at once if the rank is known."""
    out = constant(x)
    known = out.shape.rank
    if known is None:
        return held(_core.assert_true(out, fits(_core.size(_core.shape_of(out))), message or needed))
    if not fits(known):
        raise does_not_hold(name, f"the tensor has shape {out.shape}; {needed}", message)
    return out


def assert_rank(x: Any, rank: int, message: str | None = None, name: str | None = None) -> Tensor:
    """``x`` if it has ``rank`` axes. Raises an error at once if it is known to have another number of axes.

    >>> import headrace as hr
    >>> list(hr.Dataset.range(1).map(lambda x: hr.debugging.assert_rank(x, 0)))
    [np.int64(0)]
    """
    out = constant(x)
    asserted = _core.assert_rank(out, integer(rank, "rank"), message or "")
    return asserted if out.shape.rank is not None else held(asserted)


def assert_rank_at_least(x: Any, rank: int, message: str | None = None, name: str | None = None) -> Tensor:
    """``x`` if it has ``rank`` axes or more. Raises an error at once if it is known to have fewer.

    >>> list(Dataset.range(2).batch(2).map(lambda x: hr.debugging.assert_rank_at_least(x, 1)))
    [array([0, 1])]
    """
    least = integer(rank, "rank")
    return _rank_is(x, "assert_rank_at_least", lambda r: r >= least, f"rank {least} or more is needed", message)


def assert_rank_in(x: Any, ranks: Iterable[int], message: str | None = None, name: str | None = None) -> Tensor:
    """``x`` if the number of its axes is one of ``ranks``. Raises an error at once if it is known to be another
    number.

    >>> list(Dataset.range(2).map(lambda x: hr.debugging.assert_rank_in(x, [0, 1])))
    [np.int64(0), np.int64(1)]
    """
    some = [integer(r, "ranks") for r in ranks]
    if not some:
        raise ValueError("ranks must hold one number at least")

    def fits(rank: Any) -> Any:
        out = rank == some[0]
        for r in some[1:]:
            out = out | (rank == r)
        return out
    return _rank_is(x, "assert_rank_in", fits, f"a rank of {some} is needed", message)


def assert_scalar(tensor: Any, message: str | None = None, name: str | None = None) -> Tensor:
    """``tensor`` if it has no axes. Raises ``InvalidArgumentError`` at once otherwise, also if the number of axes is
    not known.

    >>> list(Dataset.range(2).map(hr.debugging.assert_scalar))
    [np.int64(0), np.int64(1)]
    """
    out = constant(tensor)
    if out.shape.rank != 0:
        raise does_not_hold("assert_scalar", f"the tensor has shape {out.shape}; a scalar is needed", message)
    return out


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> Tensor:
    """``x`` if it has an integer dtype. Raises ``TypeError`` at once otherwise.

    >>> list(Dataset.range(2).map(hr.debugging.assert_integer))
    [np.int64(0), np.int64(1)]
    """
    out = constant(x)
    if not out.dtype.is_integer:
        raise TypeError(str(does_not_hold("assert_integer", f"the tensor is {out.dtype.name}; integers are needed", message)))
    return out


def assert_type(tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None) -> Tensor:
    """``tensor`` if it has this dtype. Raises ``TypeError`` at once otherwise.

    >>> import headrace as hr
    >>> list(hr.Dataset.range(1).map(lambda x: hr.debugging.assert_type(x, hr.int64)))
    [np.int64(0)]
    """
    out, wanted = constant(tensor), dtypes.as_dtype(tf_type)
    if out.dtype != wanted:
        raise TypeError(str(does_not_hold("assert_type", f"the tensor is {out.dtype.name}; {wanted.name} is needed", message)))
    return out


def assert_same_float_dtype(tensors: Any = None, dtype: Any = None) -> dtypes.DType:
    """The floating dtype that all of these tensors have. If ``dtype`` is given, they must have this one. A None among
    the tensors is ignored.

    Raises ``ValueError`` if the dtypes differ, or are not floating.

    >>> hr.debugging.assert_same_float_dtype([hr.constant(1.0), None, hr.constant([2.0])])
    headrace.float32
    """
    seen = [constant(x).dtype for x in tensors or [] if x is not None]
    wanted = dtypes.float32 if dtype is None and not seen else seen[0] if dtype is None else dtypes.as_dtype(dtype)
    for other in seen:
        if other != wanted:
            raise ValueError(f"debugging.assert_same_float_dtype: a tensor is {other.name}, where {wanted.name} is needed")
    if not wanted.is_floating:
        raise ValueError(f"debugging.assert_same_float_dtype: {wanted.name} is no floating dtype")
    return wanted


def _pairs(shapes: Any, message: str | None) -> list[tuple[Any, tuple[Any, ...]]]:
    """The tensors with their wanted shapes, without those whose shape is None."""
    out = []
    for x, shape in shapes.items() if isinstance(shapes, Mapping) else shapes:
        if shape is None:
            continue
        if not isinstance(shape, Iterable):
            raise does_not_hold("assert_shapes", f"a shape is an iterable of extents and names, as (2, 'N'), not {shape!r}",
                                message)
        dims = tuple(shape)
        if any(_is_prefix(wanted) for wanted in dims[1:]):
            raise does_not_hold("assert_shapes", f"in {dims} ... or '*' stands behind other axes; it may only begin a shape",
                                message)
        out.append((x, dims))
    return out


def _is_prefix(wanted: Any) -> bool:
    return wanted is Ellipsis or isinstance(wanted, str) and wanted == "*"


def _is_any(wanted: Any) -> bool:
    return wanted is None or isinstance(wanted, str) and wanted == "."


def _extent(wanted: Any) -> Any:
    """An int, if `wanted` can be converted to one, otherwise `wanted` itself, a name."""
    try:
        return int(wanted)
    except (ValueError, TypeError):
        return wanted


def _inner_axes(x: Tensor, dims: tuple[Any, ...], message: str | None) -> tuple[Tensor, list[Any], tuple[Any, ...]]:
    """The tensor, the extents of its axes, and the wanted extents ``dims``. If ``dims`` begins with ``...`` or ``"*"``,
    which stands for any number of axes, the result has the extents of the axes after these only.
    """
    if dims and _is_prefix(dims[0]):
        dims = dims[1:]
        if x.shape.rank == 0 and len(dims) <= 1:
            return x, [1], dims
        out = assert_rank_at_least(x, len(dims), message)
        if out.shape.rank is None:
            raise does_not_hold("assert_shapes", "the tensor has an unknown rank; say it with headrace.ensure_shape", message)
        skipped = out.shape.rank - len(dims)
    else:
        # A scalar is treated as a vector of one value.
        dims = dims or (1,)
        if x.shape.rank == 0:
            return (x, [1], dims) if len(dims) == 1 else (assert_rank(x, len(dims), message), [], dims)
        out, skipped = assert_rank(x, len(dims), message), 0
    extents = [known if known is not None else _core.cast(_core.shape_of(out)[axis], "int64")
               for axis, known in enumerate(out.shape) if axis >= skipped]
    return out, extents, dims


def assert_shapes(shapes: Any, data: Any = None, summarize: Any = None, message: str | None = None,
                  name: str | None = None) -> list[Tensor]:
    """The tensors of ``(tensor, shape)`` pairs, if all have these shapes. ``shapes``: a list of pairs.

    A shape has, for each axis, an extent (any value that ``int`` converts: 4, ``"4"``, 4.0), None or ``"."`` (any
    extent), or another value as a name: axes with one name have one extent. ``"NM"`` is ``("N", "M")``. A shape may
    begin with ``...`` or ``"*"``, which stands for any number of axes. A scalar counts as one axis of extent 1. A
    tensor whose shape is None is not checked. ``data``: tensors that the message shows in place of the shape. If the
    shape of a tensor is known to differ when the function is traced, ``InvalidArgumentError`` is raised at once.

    >>> import headrace as hr
    >>> ds = hr.Dataset.range(4).batch(2).map(lambda x: hr.debugging.assert_shapes([(x, ("N",)), (-x, ("N",))])[0])
    >>> list(ds)
    [array([0, 1]), array([2, 3])]
    """
    out: list[Tensor] = []
    extents: dict[Any, Any] = {}  # by the names of extents: a number, or a scalar tensor
    given = data if isinstance(data, (list, tuple)) else [] if data is None else [data]
    shown = [("data", constant(x)) for x in given]
    most = None if summarize is None else integer(summarize, "summarize")
    for x, dims in _pairs(shapes, message):
        t, found, wanted_of = _inner_axes(constant(x), dims, message)
        for wanted, extent in zip(wanted_of, found):
            if _is_any(wanted):
                continue
            wanted = _extent(wanted)
            if not isinstance(wanted, int):
                wanted = extents.setdefault(wanted, extent)
            if wanted is extent:
                continue
            if isinstance(wanted, int) and isinstance(extent, int):
                if wanted != extent:
                    raise does_not_hold("assert_shapes", f"a tensor has shape {t.shape}; {dims} is needed", message)
            else:
                same = constant(extent, dtypes.int64) == constant(wanted, dtypes.int64)
                t = holds(_core.check(t, same, "assert_shapes", message or f"the shape is {dims}", shown, most))
        out.append(t)
    return out
