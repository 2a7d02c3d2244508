"""Functions that rearrange the values of tensors. TensorFlow has these functions at its top level."""

from __future__ import annotations

from typing import Any

from .. import _core, dtypes
from .._refusals import refuse
from .._tensor_shape import TensorShape
from .._tensors import values as _values
from .._tensors.axes import known_axis, transposed
from ..errors import ArgumentError

Tensor = _core.Tensor


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:
    """The same values in another shape. One extent may be -1: it is determined by the number of values. Extents may be
    tensors: then each element has its own shape.

    Raises ``InvalidArgumentError`` if the extents that are known do not fit. If extents that become known only with an
    element do not fit, that element fails.

    >>> Dataset.range(6).batch(6).map(lambda x: hr.reshape(x, [2, -1])).get_single_element()
    array([[0, 1, 2],
           [3, 4, 5]])
    """
    return _core.reshape(_values.constant(tensor), _values.extents(shape, "shape"))


def shape(input: Any, out_type: Any = None, name: str | None = None) -> Tensor:
    """The shape as a vector of ``out_type`` (int32).

    >>> Dataset.range(3).batch(3).map(hr.shape).get_single_element()
    array([3], dtype=int32)
    """
    return _core.cast(_core.shape_of(_values.constant(input)), dtypes.as_dtype(out_type or dtypes.int32).name)


def size(input: Any, out_type: Any = None, name: str | None = None) -> Tensor:
    """The number of values, as a scalar of ``out_type`` (int32).

    >>> Dataset.range(3).batch(3).map(hr.size).get_single_element()
    np.int32(3)
    """
    return _core.cast(_core.size(_values.constant(input)), dtypes.as_dtype(out_type or dtypes.int32).name)


def rank(input: Any, name: str | None = None) -> Tensor:
    """The number of axes, as int32.

    >>> Dataset.range(3).batch(3).map(hr.rank).get_single_element()
    np.int32(1)
    """
    known = _values.constant(input).ndim
    if known is None:
        return _core.cast(_core.size(_core.shape_of(_values.constant(input))), "int32")
    return _values.constant(known)


def stack(values: Any, axis: int = 0, name: str = "stack") -> Tensor:
    """Tensors of one shape along a new axis.

    For ``axis`` 0 the shape is [n, ...]. Raises ``InvalidArgumentError`` for shapes or dtypes that differ.

    >>> list(Dataset.range(2).map(lambda x: hr.stack([x, 10 * x])))
    [array([0, 0]), array([ 1, 10])]
    """
    return _core.stack(_values.side_by_side(values), _values.integer(axis, "axis"))


def unstack(value: Any, num: int | None = None, axis: int = 0, name: str = "unstack") -> list[Tensor]:
    """The parts along ``axis``. ``num``: the number of parts, which must be the extent of the axis; None: that extent.

    Raises ``OperatorNotAllowedInGraphError`` if ``num`` is None and the extent is not known, and ``InvalidArgumentError``
    if the extent is known and is not ``num``. If it becomes known only with an element and is not ``num``, that element
    fails.

    >>> Dataset.from_tensors([[1, 2], [3, 4]]).map(lambda x: tuple(hr.unstack(x, axis=1))).get_single_element()
    (array([1, 3], dtype=int32), array([2, 4], dtype=int32))
    """
    x = _values.constant(value)
    at = known_axis(x, axis, "unstack")
    dims = x.shape.as_list()
    extent = dims[at] if num is None else _values.integer(num, "num")
    if extent is None:
        refuse("unstack needs to know how many parts there are", "Give num")
    if extent < 0 or (extent == 0 and dims[at] is None):
        raise ArgumentError(f"unstack: num is {extent}; for an axis whose extent is not known it must be 1 or more")
    if dims[at] is None:
        x = _core.ensure_shape(x, dims[:at] + [extent] + dims[at + 1:])
    elif extent != dims[at]:
        raise ArgumentError(f"unstack: num is {extent}, and axis {axis} of a tensor of shape {x.shape} has {dims[at]} parts")
    return [x[(slice(None),) * at + (i,)] for i in range(extent)]


def concat(values: Any, axis: int, name: str = "concat") -> Tensor:
    """Tensors one after another along ``axis``.

    The other axes must have equal extents. Raises ``InvalidArgumentError`` otherwise, and for dtypes that differ;
    Python's numbers take the dtype of the first tensor.

    >>> Dataset.from_tensors([1, 2]).map(lambda x: hr.concat([x, [9]], 0)).get_single_element()
    array([1, 2, 9], dtype=int32)
    """
    return _core.concat(_values.side_by_side(values), _values.integer(axis, "axis"))


def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str = "transpose") -> Tensor:
    """The tensor with its axes in the order ``perm``; None: in reverse order.

    If ``perm`` is None, the number of axes must be known; raises ``OperatorNotAllowedInGraphError`` otherwise.

    >>> Dataset.from_tensors([[1, 2], [3, 4]]).map(hr.transpose).get_single_element()
    array([[1, 3],
           [2, 4]], dtype=int32)
    """
    if conjugate:
        refuse("transpose has no conjugate", "Use real tensors")
    return transposed(_values.constant(a), perm)


def expand_dims(input: Any, axis: int, name: str | None = None) -> Tensor:
    """The tensor with an additional axis of extent 1 at ``axis``.

    >>> Dataset.from_tensors([1, 2]).map(lambda x: hr.expand_dims(x, -1)).get_single_element()
    array([[1],
           [2]], dtype=int32)
    """
    return _core.expand_dims(_values.constant(input), _values.integer(axis, "axis"))


def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """The tensor without the axes in ``axis``, whose extents must be 1. If ``axis`` is None, all axes of extent 1 are
    left out, and all extents must be known.

    Raises ``InvalidArgumentError`` if the extent of such an axis is known to be another number.

    >>> Dataset.from_tensors([[1, 2]]).map(hr.squeeze).get_single_element()
    array([1, 2], dtype=int32)
    """
    return _core.squeeze(_values.constant(input), [] if axis is None else _values.integers(axis, "axis"))


def gather(params: Any, indices: Any, validate_indices: Any = None, axis: Any = None, batch_dims: int = 0,
           name: str | None = None) -> Tensor:
    """The parts of ``params`` at ``indices`` along ``axis``. An index that is not there is an error of the element.

    The shape is ``params.shape[:axis] + indices.shape[batch_dims:] + params.shape[axis + 1:]``. The first
    ``batch_dims`` axes of ``params`` and of ``indices`` have equal extents: the indices at one place in these axes
    select from ``params`` at the same place. ``axis`` comes after these axes; by default it is the first axis after
    them.

    >>> Dataset.from_tensors([5, 6, 7]).map(lambda x: hr.gather(x, [2, 0])).get_single_element()
    array([7, 5], dtype=int32)
    >>> Dataset.from_tensors([[5, 6], [7, 8]]).map(lambda x: hr.gather(x, [1, 0], batch_dims=1)).get_single_element()
    array([6, 7], dtype=int32)
    """
    x, at = _values.constant(params), _values.constant(indices)
    common = _values.integer(batch_dims, "batch_dims")
    if common < 0 and at.ndim is not None:
        common += at.ndim
    along = common if axis is None else _values.integer(axis, "axis")
    if along < 0 and common != 0 and x.ndim is not None:
        along += x.ndim
    return _core.gather(x, at, along, common)


def tile(input: Any, multiples: Any, name: str | None = None) -> Tensor:
    """``input`` repeated ``multiples[i]`` times along axis ``i``. Multiples may be tensors.

    >>> Dataset.from_tensors([1, 2]).map(lambda x: hr.tile(x, [2])).get_single_element()
    array([1, 2, 1, 2], dtype=int32)
    """
    return _core.tile(_values.constant(input), _values.extents(multiples, "multiples"))


def pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0,
        name: str | None = None) -> Tensor:
    """``tensor`` with ``paddings[i]`` = (before, after) more values along axis ``i``.

    ``mode``: ``"CONSTANT"`` fills with ``constant_values`` (zeros, False, empty strings), ``"REFLECT"`` with the
    mirrored values without the value at the border, ``"SYMMETRIC"`` with the mirrored values including it. Raises
    ``ValueError`` for other modes. For ``"CONSTANT"`` the numbers in ``paddings`` may be scalar tensors; then the
    shape may differ between elements.

    >>> Dataset.from_tensors([1, 2]).map(lambda x: hr.pad(x, [(1, 2)], constant_values=9)).get_single_element()
    array([9, 1, 2, 9, 9], dtype=int32)
    """
    x = _values.constant(tensor)
    kind = mode.upper()
    if kind not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        raise ValueError(f"pad: mode must be \"CONSTANT\", \"REFLECT\" or \"SYMMETRIC\", not {mode!r}")
    around = _around(paddings)
    fixed = [(a, b) for a, b in around if not isinstance(a, Tensor) and not isinstance(b, Tensor)]
    if kind != "CONSTANT":
        if len(fixed) != len(around):
            refuse("pad mirrors as many values in all elements", "Use headrace.concat and headrace.reverse")
        return _core.pad(x, fixed, kind)
    if isinstance(constant_values, Tensor):
        fill = constant_values
    elif isinstance(constant_values, int) and constant_values == 0:
        fill = _values.unit(0, x.dtype)
    else:
        fill = _values.constant(constant_values, x.dtype)
    if len(fixed) == len(around):
        return _core.pad_with(x, fixed, fill)
    if x.ndim not in (None, len(around)):
        raise ValueError(f"pad: there are paddings for {len(around)} axes; the tensor has {x.ndim}")
    for axis, (before, after) in enumerate(around):
        extents = [n if n is not None else _core.shape_of(x)[i] for i, n in enumerate(x.shape.as_list())]
        sides = [_core.fill([*extents[:axis], n, *extents[axis + 1:]], fill) for n in (before, after)]
        x = _core.concat([sides[0], x, sides[1]], axis)
    return x


def _around(paddings: Any) -> list[tuple[Any, Any]]:
    """``paddings`` as pairs, whose members are ints or scalar tensors."""
    given = _values.known(paddings, "paddings", "ints") if _values.is_known(paddings) else paddings
    if isinstance(given, Tensor):
        rows = given.shape[0] if given.ndim == 2 else None
        if rows is None:
            refuse("pad needs to know how many axes there are", "Give a list of pairs")
        given = [(given[i, 0], given[i, 1]) for i in range(rows)]
    pairs = [(pair[0], pair[1]) if isinstance(pair, Tensor) else tuple(pair) if hasattr(pair, "__iter__") else (pair,)
             for pair in given]
    if any(len(pair) != 2 for pair in pairs):
        raise ValueError("pad: each axis has two paddings, before and after")
    return [(_values.count_of(a, "paddings"), _values.count_of(b, "paddings")) for a, b in pairs]


def reverse(tensor: Any, axis: Any, name: str | None = None) -> Tensor:
    """The tensor in the opposite order along each of these axes.

    >>> Dataset.from_tensors([1, 2, 3]).map(lambda x: hr.reverse(x, [0])).get_single_element()
    array([3, 2, 1], dtype=int32)
    """
    return _core.reverse(_values.constant(tensor), _values.integers(axis, "axis"))


def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Tensor:
    """The tensor with its values moved by ``shift`` along ``axis``. Values that leave at one end enter at the other
    end.

    >>> Dataset.from_tensors([1, 2, 3]).map(lambda x: hr.roll(x, 1, 0)).get_single_element()
    array([3, 1, 2], dtype=int32)
    """
    return _core.roll(_values.constant(input), _values.integers(shift, "shift"), _values.integers(axis, "axis"))


def slice_(input_: Any, begin: Any, size: Any, name: str | None = None) -> Tensor:
    """The part with ``size[i]`` values (-1: all that follow) from ``begin[i]`` on along axis ``i``.

    ``begin`` and ``size`` may be computed for each element.

    >>> import headrace as hr
    >>> list(hr.Dataset.range(2).map(lambda x: hr.slice([5, 6, 7], [1], hr.stack([x + 1]))))
    [array([6], dtype=int32), array([6, 7], dtype=int32)]
    """
    if isinstance(size, Tensor) or _values.holds_tensors(size):
        return _core.slice_of_sizes(_values.constant(input_), _values.constant(begin), _values.constant(size))
    return _core.slice(_values.constant(input_), _values.constant(begin), _values.integers(size, "size"))


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Tensor:
    """``x``, with ``shape`` as its known shape; an element with another shape is an error.

    >>> ds = Dataset.range(4).batch(2).map(lambda x: hr.ensure_shape(x, [2]))
    >>> ds.element_spec
    TensorSpec(shape=(2,), dtype=headrace.int64, name=None)
    """
    dims = TensorShape(shape).dims
    return _core.ensure_shape(_values.constant(x), None if dims is None else list(dims))
