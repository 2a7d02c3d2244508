"""Functions of tensors of any kind, for traced functions. TensorFlow has these functions at its top level."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .. import _core, dtypes
from .._specs import arranged_as, map_structure, same_structure
from .._refusals import refuse
from .._tensor_shape import TensorShape
from .._tensors import values as _values
from .._tracing import assertions as _assertions
from .ragged import RaggedTensor
from .ragged_operators import mapped

Tensor = _core.Tensor


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Tensor:
    """A tensor with this value. Python's ints become int32 if they fit, and its floats float32.

    ``shape``: the shape of the result; a single value is repeated. Raises ``TypeError`` or ``ValueError`` for values
    that are no tensor.

    >>> Dataset.from_tensors(hr.constant([1, 2], hr.int64, shape=[2, 1])).get_single_element()
    array([[1],
           [2]])
    """
    out = _converted(value, dtype)
    if shape is not None and out.ndim == 0:
        return _core.fill(_values.extents(shape, "shape"), out)
    return out if shape is None else _core.reshape(out, _values.extents(shape, "shape"))


def convert_to_tensor(value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None) -> Tensor:
    """The same as ``constant``, except that without a ``dtype`` the result has the dtype ``dtype_hint`` if the value
    can be converted to it.

    >>> Dataset.from_tensors(hr.convert_to_tensor([1, 2], dtype_hint=hr.float32)).element_spec.dtype
    headrace.float32
    """
    if dtype is None and dtype_hint is not None and not isinstance(value, Tensor):
        try:
            return _values.constant(value, dtype_hint)
        except (TypeError, ValueError):
            pass
    return _converted(value, dtype)


def _converted(value: Any, dtype: Any) -> Tensor:
    """A tensor with this value, and with this dtype if it is not None. A tensor of another dtype is refused, not
    cast.
    """
    if isinstance(value, Tensor) and dtype is not None and value.dtype != dtypes.as_dtype(dtype):
        raise ValueError(f"a tensor of {value.dtype.name} is no tensor of {dtypes.as_dtype(dtype).name}: use headrace.cast")
    return _values.constant(value, dtype)


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """``x``, a tensor or a ragged tensor, converted to another dtype. Conversion to integers cuts off fractions; a
    value out of range is an error of the element.

    >>> import headrace as hr
    >>> list(hr.Dataset.range(2).map(lambda x: hr.cast(x, hr.float32)))
    [np.float32(0.0), np.float32(1.0)]
    """
    wanted = dtypes.as_dtype(dtype).name
    if isinstance(x, RaggedTensor):
        return mapped(lambda values: _core.cast(values, wanted), x)
    return _core.cast(_values.constant(x), wanted)


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """``x`` where ``condition`` is true, else ``y``, value by value; without ``x`` and ``y`` the places where
    ``condition`` is true.

    An element that takes no value of ``x`` cannot fail because of ``x``; the same holds for ``y``.

    The shapes of all three broadcast; ``x`` and ``y`` are of one dtype. The places are int64 of the shape [number of
    places, number of axes of ``condition``], and the number of places may differ between elements; numbers count as
    true if they are not 0. Raises ``ValueError`` if only one of ``x`` and ``y`` is given, and
    ``InvalidArgumentError`` for the places of a scalar.

    >>> list(Dataset.range(3).map(lambda x: hr.where(x > 0, 6 // x, -1)))
    [np.int64(-1), np.int64(6), np.int64(3)]
    >>> Dataset.from_tensors([5, 0, 7]).map(lambda x: hr.where(x > 0)).get_single_element()
    array([[0],
           [2]])
    """
    if (x is None) != (y is None):
        raise ValueError("where: x and y must be given both, or none of them")
    if x is None:
        mask = _values.constant(condition)
        return _core.true_places(mask if mask.dtype == dtypes.bool else mask != _core.cast(_values.constant(0), mask.dtype.name))
    return _core.where(_values.constant(condition), *_values.pair(x, y))


def cond(pred: Any, true_fn: Callable[[], Any] | None = None, false_fn: Callable[[], Any] | None = None,
         name: str | None = None) -> Any:
    """The result of ``true_fn`` if ``pred`` (one bool) is true, else that of ``false_fn``: tensors in the same structure, or
    datasets of the same elements.

    Both functions are traced; an element cannot fail because of the branch that it does not take.

    >>> import headrace as hr
    >>> list(hr.Dataset.range(3).map(lambda x: hr.cond(x > 0, lambda: 10 // x, lambda: x)))
    [np.int64(0), np.int64(10), np.int64(5)]
    """
    from .._control_flow.branches import one_dataset
    from .._dataset import Dataset

    if not callable(true_fn) or not callable(false_fn):
        raise TypeError("cond: true_fn and false_fn must be functions without arguments")
    chosen = _values.constant(pred)
    with _assertions.branch(chosen, True):
        yes = true_fn()
    with _assertions.branch(chosen, False):
        no = false_fn()
    if isinstance(yes, Dataset) and isinstance(no, Dataset):
        return one_dataset(chosen, yes, no)
    if not same_structure(yes, no):
        raise TypeError(f"cond: true_fn and false_fn must give the same structure, not {yes!r} and {no!r}")
    both = [map_structure(_values.constant, branch) for branch in (yes, arranged_as(yes, no))]
    return _core.cond(chosen, *both)


def while_loop(cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, shape_invariants: Any = None,
               parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
               maximum_iterations: int | None = None, name: str | None = None) -> Any:
    """Applies ``body`` to ``loop_vars`` as long as ``cond`` is true for them. The number of steps may differ between
    elements.

    Both functions are traced once, and ``body`` returns the variables with the same dtypes. An element that fails in
    a step leaves the loop, and cannot fail because of steps that it does not take. ``maximum_iterations``: the most
    steps of an element. ``shape_invariants``: shapes in the structure of ``loop_vars``, with None where a step may
    change an extent; if this is None, no extent may change. ``parallel_iterations``, ``back_prop`` and
    ``swap_memory`` have no effect.

    Raises ``ValueError`` for a number of iterations below 0, and ``InvalidArgumentError`` for a dtype, shape or structure
    that a step changes.

    >>> import headrace as hr
    >>> halve = lambda n: hr.while_loop(lambda x: x > 1, lambda x: (x // 2,), (n,))[0]
    >>> list(hr.Dataset.from_tensor_slices([1, 9, 20]).map(halve))
    [np.int32(1), np.int32(1), np.int32(1)]
    """
    if isinstance(loop_vars, Mapping):
        raise TypeError("while_loop: loop_vars must be a tuple or list of variables, not "
                        f"{type(loop_vars).__name__}; a dict may be one of the variables")
    steps = None if maximum_iterations is None else _values.integer(maximum_iterations, "maximum_iterations")
    if steps is not None and steps < 0:
        raise ValueError(f"while_loop: maximum_iterations must be 0 or more, not {steps}")
    first: Any = tuple(map_structure(_values.constant, v) for v in loop_vars)
    invariants = [] if shape_invariants is None else [TensorShape(getattr(x, "shape", x)).dims for x in shape_invariants]
    loop = _core.open_loop(first, steps, invariants)
    variables: Any = loop.variables
    # Assertions in the condition or the body are collected there, because each step must check them anew.
    in_condition, in_body = _assertions.Asserted(), _assertions.Asserted(of_a_step=True)
    with _assertions.collected(in_condition):
        condition = in_condition.tied(_values.constant(cond(*variables)))
    with _assertions.collected(in_body):
        after = body(*variables)
    after = tuple(after) if isinstance(after, (tuple, list)) else (after,)
    if len(after) != len(variables):
        raise ValueError(f"while_loop: body gives {len(after)} values for {len(variables)} variables")
    beside = [_values.beside(a, v.dtype) if isinstance(v, Tensor) and not isinstance(a, Tensor)
              else map_structure(_values.constant, arranged_as(v, a) if same_structure(v, a) else a)
              for v, a in zip(variables, after)]
    return loop.finish(condition, in_body.tied(tuple(beside)))


def fill(dims: Any, value: Any, name: str | None = None) -> Tensor:
    """A tensor of this shape with one value everywhere. Extents may be tensors: then each element has its own shape.

    An extent below 0 is an ``InvalidArgumentError``.

    >>> Dataset.range(1).map(lambda x: hr.fill([2], x + 7)).get_single_element()
    array([7, 7])
    >>> list(Dataset.range(3).map(lambda n: hr.fill([n], 7)))
    [array([], dtype=int32), array([7], dtype=int32), array([7, 7], dtype=int32)]
    """
    return _core.fill(_values.extents(dims, "dims"), _values.constant(value))


def zeros(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """Zeros, or empty strings. ``shape``: as ``dims`` of ``fill``.

    >>> Dataset.from_tensors(hr.zeros([2])).get_single_element()
    array([0., 0.], dtype=float32)
    """
    return fill(shape, _values.unit(0, dtype))


def ones(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """Ones. ``shape``: as ``dims`` of ``fill``.

    >>> Dataset.from_tensors(hr.ones([2], hr.int64)).get_single_element()
    array([1, 1])
    """
    return fill(shape, _values.unit(1, dtype))


@contextlib.contextmanager
def control_dependencies(control_inputs: Any) -> Iterator[None]:
    """For a ``with``: an element fails if one of these tensors fails for it. Assertions have an effect without this
    function, too.

    Raises ``TypeError`` if ``control_inputs`` is no list of tensors.

    >>> def f(x):
    ...     with hr.control_dependencies([hr.debugging.assert_less(x, 2)]):
    ...         return hr.identity(x)
    >>> list(Dataset.range(3).map(f).ignore_errors())
    [np.int64(0), np.int64(1)]
    """
    def hold(value: Any) -> None:
        if isinstance(value, (list, tuple)):
            for part in value:
                hold(part)
        elif isinstance(value, Tensor):
            _assertions.holds(value)
        else:
            raise TypeError(f"control_dependencies: control_inputs must be a list of tensors, with no {type(value).__name__} in it")

    if not isinstance(control_inputs, (list, tuple)):
        raise TypeError(f"control_dependencies: control_inputs must be a list of tensors, not {type(control_inputs).__name__}")
    hold(control_inputs)
    yield


def identity(input: Any, name: str | None = None) -> Tensor:
    """The tensor, unchanged.

    >>> list(Dataset.range(2).map(hr.identity))
    [np.int64(0), np.int64(1)]
    """
    return _values.constant(input)


def one_hot(indices: Any, depth: int | Tensor, on_value: Any = None, off_value: Any = None, axis: int | None = None,
            dtype: Any = None, name: str | None = None) -> Tensor:
    """For each index, a new axis with ``depth`` places: ``on_value`` (1) at the place with this index, ``off_value``
    (0) elsewhere.

    The dtype is float32 if neither ``dtype`` nor a value is given. An index that is not in [0, ``depth``) gives
    ``off_value`` everywhere. ``depth`` may be a scalar tensor, which may differ between elements.

    >>> Dataset.from_tensors([0, 2]).map(lambda x: hr.one_hot(x, 3, dtype=hr.int64)).get_single_element()
    array([[1, 0, 0],
           [0, 0, 1]])
    """
    kind = dtypes.as_dtype(dtype) if dtype is not None else None
    if kind is None:
        given = on_value if on_value is not None else off_value
        kind = dtypes.float32 if given is None else _values.constant(given).dtype
    places, extent = _values.constant(indices), _values.count_of(depth, "depth")
    on = _values.unit(1, kind) if on_value is None else _values.constant(on_value, kind)
    off = _values.unit(0, kind) if off_value is None else _values.constant(off_value, kind)
    along = -1 if axis is None else _values.integer(axis, "axis")
    if not isinstance(extent, Tensor):
        return _core.one_hot(places, extent, on, off, along)
    if places.ndim is None:
        refuse("one_hot of such a depth needs to know how many axes there are", "Use headrace.ensure_shape")
    if not -places.ndim - 1 <= along <= places.ndim:
        raise ValueError(f"one_hot: axis {along} is not one of {places.ndim + 1}")
    along %= places.ndim + 1
    numbers = _core.number_range(*(_core.cast(_values.constant(x), "int64") for x in (0, extent, 1)))
    for _ in range(places.ndim - along):
        numbers = _core.expand_dims(numbers, -1)
    return _core.where(_core.cast(_core.expand_dims(places, along), "int64") == numbers, on, off)


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Tensor:
    """``t`` with its values limited to these bounds; NaN stays.

    >>> list(Dataset.range(4).map(lambda x: hr.clip_by_value(x, 1, 2)))
    [np.int64(1), np.int64(1), np.int64(2), np.int64(2)]
    """
    x, least = _values.pair(_values.constant(t), clip_value_min)
    return _core.clip_by_value(x, least, _values.pair(x, clip_value_max)[1])


def matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, name: str | None = None) -> Tensor:
    """Matrix products over the last two axes; the others broadcast. The result has the same bits on every CPU.

    [..., n, k] by [..., k, m] is [..., n, m]. Raises ``InvalidArgumentError`` for extents or dtypes that do not fit.

    >>> Dataset.from_tensors([[1.0, 2.0]]).map(lambda x: hr.matmul(x, x, transpose_b=True)).get_single_element()
    array([[5.]], dtype=float32)
    """
    return _core.matmul(*_values.pair(a, b), transpose_a, transpose_b)


def sort(values: Any, axis: int = -1, direction: str = "ASCENDING", name: str | None = None) -> Tensor:
    """The values in order along ``axis``. Beside NaN they need not be in order: they are where TensorFlow has them.

    ``direction``: ``"ASCENDING"`` or ``"DESCENDING"``; raises ``ValueError`` for others.

    >>> Dataset.from_tensors([3, 1, 2]).map(lambda x: hr.sort(x, direction="DESCENDING")).get_single_element()
    array([3, 2, 1], dtype=int32)
    """
    return _core.sort(_values.constant(values), _values.integer(axis, "axis"), _descending(direction))


def argsort(values: Any, axis: int = -1, direction: str = "ASCENDING", stable: bool = False,
            name: str | None = None) -> Tensor:
    """The indices of the values in the order of ``sort``, as int32; equal values stay in their order.

    >>> Dataset.from_tensors([3, 1, 2]).map(hr.argsort).get_single_element()
    array([1, 2, 0], dtype=int32)
    """
    return _core.argsort(_values.constant(values), _values.integer(axis, "axis"), _descending(direction))


def _descending(direction: str) -> bool:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"direction must be \"ASCENDING\" or \"DESCENDING\", not {direction!r}")
    return direction == "DESCENDING"
