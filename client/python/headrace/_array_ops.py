"""Functions of tensors of any kind, for traced functions: what TensorFlow has at its top level."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _core, _values, dtypes
from ._specs import TensorShape, map_structure
from ._refusals import refuse

Tensor = _core.Tensor


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Tensor:
    """A tensor with this value. Python's ints become int32 if they fit, and its floats float32."""
    out = _values.constant(value, dtype)
    return out if shape is None else _core.reshape(out, _values.integers(shape, "shape"))


convert_to_tensor = constant


def cast(x: Any, dtype: Any, name: str | None = None) -> Tensor:
    """``x`` as another dtype. To an integer, fractions are cut off; what is out of range is an error of the element.

    >>> import headrace as hr
    >>> list(hr.Dataset.range(2).map(lambda x: hr.cast(x, hr.float32)))
    [np.float32(0.0), np.float32(1.0)]
    """
    return _core.cast(_values.constant(x), dtypes.as_dtype(dtype).name)


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """``x`` where ``condition``, else ``y``, element by element.

    An element that takes nothing of one side cannot fail because of that side.
    """
    if x is None or y is None:
        refuse("headrace.where needs x and y", "How many values are true differs from element to element")
    return _core.where(_values.constant(condition), _values.tensor(x, "x"), _values.tensor(y, "y"))


def cond(pred: Any, true_fn: Callable[[], Any] | None = None, false_fn: Callable[[], Any] | None = None,
         name: str | None = None) -> Any:
    """What ``true_fn`` gives where ``pred`` (one bool), else what ``false_fn`` gives: tensors in the same structure.

    Both are traced; an element cannot fail because of the branch that it does not take.

    >>> import headrace as hr
    >>> list(hr.Dataset.range(3).map(lambda x: hr.cond(x > 0, lambda: 10 // x, lambda: x)))
    [np.int64(0), np.int64(10), np.int64(5)]
    """
    if not callable(true_fn) or not callable(false_fn):
        raise TypeError("cond: true_fn and false_fn must be functions without arguments")
    chosen = _values.constant(pred)
    yes, no = true_fn(), false_fn()
    others: list[Any] = []
    shape_of_no = map_structure(lambda x: others.append(x), no)
    if shape_of_no != map_structure(lambda _: None, yes):
        raise TypeError(f"cond: true_fn and false_fn must give the same structure, not {yes!r} and {no!r}")
    both = [map_structure(_values.constant, branch) for branch in (yes, no)]
    return _core.cond(chosen, *both)


def while_loop(cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, shape_invariants: Any = None,
               parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
               maximum_iterations: int | None = None, name: str | None = None) -> Any:
    """Applies ``body`` to ``loop_vars`` as long as ``cond`` holds of them: each element as often as its values say.

    ``maximum_iterations`` (1 to 256) must be given: the steps become part of the graph one by one.

    >>> import headrace as hr
    >>> halve = lambda n: hr.while_loop(lambda x: x > 1, lambda x: (x // 2,), (n,), maximum_iterations=8)[0]
    >>> list(hr.Dataset.from_tensor_slices([1, 9, 20]).map(halve))
    [np.int32(1), np.int32(1), np.int32(1)]
    """
    if maximum_iterations is None:
        raise ValueError("while_loop: maximum_iterations must be given")
    steps = _values.integer(maximum_iterations, "maximum_iterations")
    if not 1 <= steps <= 256:
        raise ValueError(f"while_loop: maximum_iterations must be between 1 and 256, not {steps}")
    variables: Any = tuple(map_structure(_values.constant, v) for v in loop_vars)
    for _ in range(steps):
        after = body(*variables)
        after = tuple(after) if isinstance(after, (tuple, list)) else (after,)
        both = [map_structure(_values.constant, branch) for branch in (after, variables)]
        variables = _core.cond(_values.constant(cond(*variables)), *both)
    return variables


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:
    """The same values in another shape; one extent may be -1."""
    return _core.reshape(_values.constant(tensor), _values.integers(shape, "shape"))


def shape(input: Any, out_type: Any = None, name: str | None = None) -> Tensor:
    """The shape as a vector of ``out_type`` (int32)."""
    return _core.cast(_core.shape_of(_values.constant(input)), dtypes.as_dtype(out_type or dtypes.int32).name)


def size(input: Any, out_type: Any = None, name: str | None = None) -> Tensor:
    """How many values there are."""
    return _core.cast(_core.size(_values.constant(input)), dtypes.as_dtype(out_type or dtypes.int32).name)


def rank(input: Any, name: str | None = None) -> Tensor:
    """How many axes there are, as int32."""
    known = _values.constant(input).ndim
    if known is None:
        return _core.cast(_core.size(_core.shape_of(_values.constant(input))), "int32")
    return constant(known)


def stack(values: Any, axis: int = 0, name: str = "stack") -> Tensor:
    """Tensors of one shape along a new axis."""
    return _core.stack([_values.tensor(x, "values") for x in values], _values.integer(axis, "axis"))


def unstack(value: Any, num: int | None = None, axis: int = 0, name: str = "unstack") -> list[Tensor]:
    """The parts along ``axis``, whose extent must be known."""
    x = _values.constant(value)
    dims = x.shape.as_list()
    extent = dims[axis] if num is None else num
    if extent is None:
        refuse("unstack needs to know how many parts there are", "Give num")
    at = axis % len(dims)
    return [x[(slice(None),) * at + (i,)] for i in range(extent)]


def concat(values: Any, axis: int, name: str = "concat") -> Tensor:
    """Tensors one after another along ``axis``."""
    return _core.concat([_values.tensor(x, "values") for x in values], _values.integer(axis, "axis"))


def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str = "transpose") -> Tensor:
    """With its axes in the order ``perm``; in reverse without."""
    if conjugate:
        refuse("transpose has no conjugate", "Use real tensors")
    return _core.transpose(_values.constant(a), _values.integers(perm, "perm"))


def expand_dims(input: Any, axis: int, name: str | None = None) -> Tensor:
    """With an axis of extent 1 at ``axis``."""
    return _core.expand_dims(_values.constant(input), _values.integer(axis, "axis"))


def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """Without these axes of extent 1, or without all such."""
    return _core.squeeze(_values.constant(input), _values.integers(axis, "axis"))


def gather(params: Any, indices: Any, validate_indices: Any = None, axis: Any = None, batch_dims: int = 0,
           name: str | None = None) -> Tensor:
    """The parts of ``params`` at ``indices`` along ``axis``. An index that is not there is an error of the element."""
    if batch_dims != 0:
        from .errors import UnimplementedError

        raise UnimplementedError("gather: this release has no batch_dims")
    return _core.gather(_values.constant(params), _values.constant(indices),
                        0 if axis is None else _values.integer(axis, "axis"))


def fill(dims: Any, value: Any, name: str | None = None) -> Tensor:
    """A tensor of this shape with one value everywhere."""
    return _core.fill(_values.integers(dims, "dims"), _values.constant(value))


def zeros(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """Zeros, or empty strings."""
    kind = dtypes.as_dtype(dtype)
    return fill(shape, _values.constant("" if kind == dtypes.string else 0, kind))


def ones(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """Ones."""
    return fill(shape, _values.constant(1, dtype))


def identity(input: Any, name: str | None = None) -> Tensor:
    """The tensor itself."""
    return _values.constant(input)


def tile(input: Any, multiples: Any, name: str | None = None) -> Tensor:
    """``input`` repeated ``multiples[i]`` times along axis ``i``."""
    return _core.tile(_values.constant(input), _values.integers(multiples, "multiples"))


def pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0,
        name: str | None = None) -> Tensor:
    """``tensor`` with ``paddings[i]`` = (before, after) more values along axis ``i``."""
    x = _values.constant(tensor)
    around = [(int(a), int(b)) for a, b in paddings]
    if mode.upper() in ("REFLECT", "SYMMETRIC"):
        return _core.pad(x, around, mode.upper())
    if mode.upper() != "CONSTANT":
        raise ValueError(f"pad: mode must be \"CONSTANT\", \"REFLECT\" or \"SYMMETRIC\", not {mode!r}")
    fill = "" if x.dtype == dtypes.string and constant_values == 0 else constant_values
    return _core.pad_with(x, around, fill if isinstance(fill, Tensor) else _values.constant(fill, x.dtype))


def reverse(tensor: Any, axis: Any, name: str | None = None) -> Tensor:
    """In the opposite order along each of these axes."""
    return _core.reverse(_values.constant(tensor), _values.integers(axis, "axis"))


def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Tensor:
    """Values move by ``shift`` along ``axis``; what leaves at one end comes in at the other."""
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
    """``x``, whose shape is this from here on; an element with another one is an error."""
    dims = TensorShape(shape).dims
    return _core.ensure_shape(_values.constant(x), None if dims is None else list(dims))


def one_hot(indices: Any, depth: int, on_value: Any = None, off_value: Any = None, axis: int | None = None,
            dtype: Any = None, name: str | None = None) -> Tensor:
    """``on_value`` (1) at the place that each index names along a new axis of ``depth`` places, ``off_value`` (0)
    elsewhere.
    """
    kind = dtypes.as_dtype(dtype) if dtype is not None else None
    if kind is None:
        given = on_value if on_value is not None else off_value
        kind = dtypes.float32 if given is None else _values.constant(given).dtype
    return _core.one_hot(_values.constant(indices), _values.integer(depth, "depth"),
                         _values.constant(1 if on_value is None else on_value, kind),
                         _values.constant(0 if off_value is None else off_value, kind),
                         -1 if axis is None else _values.integer(axis, "axis"))


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Tensor:
    """``t`` within these bounds; NaN stays."""
    return _core.clip_by_value(_values.constant(t), _values.tensor(clip_value_min, "clip_value_min"),
                               _values.tensor(clip_value_max, "clip_value_max"))


def matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, name: str | None = None) -> Tensor:
    """Matrix products over the last two axes; the others broadcast. The same bits on every CPU."""
    return _core.matmul(_values.constant(a), _values.constant(b), transpose_a, transpose_b)


def sort(values: Any, axis: int = -1, direction: str = "ASCENDING", name: str | None = None) -> Tensor:
    """In order along ``axis``. NaN counts as greater than every number."""
    return _core.sort(_values.constant(values), _values.integer(axis, "axis"), _descending(direction))


def argsort(values: Any, axis: int = -1, direction: str = "ASCENDING", stable: bool = False,
            name: str | None = None) -> Tensor:
    """Where the values of ``sort`` come from, as int32; of equal ones the first comes first."""
    return _core.argsort(_values.constant(values), _values.integer(axis, "axis"), _descending(direction))


def _descending(direction: str) -> bool:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"direction must be \"ASCENDING\" or \"DESCENDING\", not {direction!r}")
    return direction == "DESCENDING"
