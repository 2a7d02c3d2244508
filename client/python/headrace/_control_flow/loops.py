"""The functions that rewritten functions call in place of `while` and `for`. A loop over Python values runs while the
function is traced; a loop whose condition or bounds are tensors becomes a loop of the graph.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from .. import _core
from .._functions.composed import range_
from .._refusals import refuse
from .._specs import TensorSpec, flatten, map_structure
from .._tensors import values as _values
from .._tensors.labels import rebuilt
from .._tracing import assertions as _assertions
from ..errors import InvalidArgumentError, OperatorNotAllowedInGraphError
from . import branches
from .branches import Thunk, Unset, _condition, _is_tensor, _kind
from .rewriting import callee
from .source import OPS

Put = Callable[[list[Any]], None]
_ADVICE = "Set it before the loop to a tensor with the dtype and shape that it keeps"


class Numbers:
    """``range`` with a tensor as a bound."""

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        bounds = [_values.constant(x) for x in (start, stop, step)]
        wrong = next((x.dtype.name for x in bounds if not x.dtype.is_integer), None)
        if wrong is not None:
            refuse(f"the bound of a range is {wrong}", "Use headrace.cast to an integer")
        self._dtype, *others = dict.fromkeys(x.dtype.name for x in (start, stop, step) if _is_tensor(x))
        if others:
            refuse(f"the bounds of a range are {self._dtype} and {others[0]}", "Use headrace.cast to one dtype")
        # The difference of two numbers of a dtype, and a negative step, need not fit the dtype.
        self._start, stop, self._step = (_core.cast(x, "int64") for x in bounds)
        self.zero = _values.constant(0, "int64")
        self.count = _core.maximum(-((self._start - stop) // self._step), self.zero)

    def at(self, i: Any) -> Any:
        return _core.cast(self._start + i * self._step, self._dtype)


class Rows:
    """The rows of a tensor whose number of rows differs between elements."""

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor
        self.zero = _values.constant(0, "int64")
        self.count = _core.shape_of(tensor)[0]

    def at(self, i: Any) -> Any:
        return _core.gather(self._tensor, i, 0, 0)


class Elements:
    """The elements of a dataset that depends on an argument of the function that is being traced."""

    def __init__(self, dataset: Any) -> None:
        specs = flatten(dataset.element_spec)
        if not all(isinstance(spec, TensorSpec) and spec.shape.is_fully_defined() for spec in specs):
            refuse(f"a `for` over a dataset of {dataset.element_spec} in a function needs elements of known shapes",
                   "Use its method reduce")
        if dataset._graph.cardinality() == -1:
            refuse("a `for` in a function is over a dataset that never ends", "Use take(n) of it first")
        none = map_structure(lambda spec: _core.fill([0, *spec.shape.dims], _values.unit(0, spec.dtype)), dataset.element_spec)
        batch = dataset.batch(2**31 - 1)
        self._rows = batch._with(_core.last_element(batch._graph, none, batch._graph)).get_single_element()
        self.zero = _values.constant(0, "int64")
        self.count = _core.shape_of(flatten(self._rows)[0])[0]

    def at(self, i: Any) -> Any:
        return map_structure(lambda rows: _core.gather(rows, i, 0, 0), self._rows)


def iterated(f: Any, *arguments: Any) -> Any:
    """``f(*arguments)`` after the `in` of a `for`."""
    if (f is builtins.range or f is range_) and any(_is_tensor(x) for x in arguments) and 1 <= len(arguments) <= 3:
        start, stop, step = (0, arguments[0], 1) if len(arguments) == 1 else (*arguments, 1)[:3]
        return Numbers(start, stop, step)
    return callee(f)(*arguments)


def while_(test: Thunk, body: Thunk, get: Thunk, put: Put, names: tuple[str, ...], in_place: str) -> None:
    """``while test(): body()``."""
    condition = test()
    while not _is_tensor(condition):
        if not condition:
            return
        body()
        condition = test()
    _staged(test, body, get, put, names, in_place, "a `while`")


def for_(over: Any, goes_on: Thunk, body: Callable[[Any], None], get: Thunk, put: Put, names: tuple[str, ...],
         in_place: str) -> None:
    """``for item in over: body(item)`` as long as ``goes_on()`` is true."""
    if _is_tensor(over) and over.shape.dims and over.shape.dims[0] is None:
        over = Rows(over)
    if hasattr(over, "_graph") and over._graph.is_inside_function():
        over = Elements(over)
    if not isinstance(over, (Numbers, Rows, Elements)):
        _python(over, goes_on, body, get, put, names, in_place)
        return
    place = [over.zero]

    def test() -> Any:
        return branches.and_(place[0] < over.count, goes_on)

    def step() -> None:
        body(over.at(place[0]))
        place[0] = place[0] + 1

    def put_all(given: list[Any]) -> None:
        put(given[:-1])
        place[0] = given[-1]

    _staged(test, step, lambda: [*get(), place[0]], put_all, (*names, f"{OPS}_place"), in_place, "a `for`")


def _python(over: Iterable[Any], goes_on: Thunk, body: Callable[[Any], None], get: Thunk, put: Put,
            names: tuple[str, ...], in_place: str) -> None:
    items: Iterator[Any] = iter(over)
    for item in items:
        condition = goes_on()
        if _is_tensor(condition):
            branches.branch(condition, lambda: body(item), lambda: None, get, put, names, in_place)
        elif condition:
            body(item)
        else:
            return
        if not _is_tensor(after := goes_on()) and not after:
            return


def _staged(test: Thunk, body: Thunk, get: Thunk, put: Put, names: tuple[str, ...], in_place: str, what: str) -> None:
    if in_place or not names:
        refuse(f"{what} over a tensor {in_place or 'sets no variable'}, which would happen for every element",
               "Set variables in the loop, and use them after it")
    # A loop of the graph takes tuples: a variable that is a list is read as a tuple, and set as a list again.
    lists = {i for i, value in enumerate(get()) if isinstance(value, list) and value and _is_variable(tuple(value))}

    def get_tuples() -> list[Any]:
        return [tuple(value) if i in lists and isinstance(value, list) else value for i, value in enumerate(get())]

    def put_lists(given: list[Any]) -> None:
        put([list(value) if i in lists and isinstance(value, tuple) else value for i, value in enumerate(given)])

    before = get_tuples()
    first = [value if _is_variable(value) else None for value in before]
    wide = [_widened(value) for value in first]
    try:
        _traced(test, body, get_tuples, put_lists, names, before, first, lists)
    except InvalidArgumentError as narrow:
        if all(a is b for a, b in zip(first, wide)):
            raise
        try:
            _traced(test, body, get_tuples, put_lists, names, before, wide, lists)
        except InvalidArgumentError:
            raise narrow from None


def _widened(value: Any) -> Any:
    """A Python number as a 64-bit tensor; other values are returned unchanged. A loop is first traced with Python's
    numbers as 32-bit tensors. That fails if, for instance, a step adds an int64 tensor to such a number: unlike a
    literal, a variable of a loop does not take the dtype of the other operand. Then 64-bit tensors are tried.
    """
    if isinstance(value, (int, float)) and not isinstance(value, (bool, np.generic)):
        return _values.constant(value, "int64" if isinstance(value, int) else "float64")
    return value


def _traced(test: Thunk, body: Thunk, get: Thunk, put: Put, names: tuple[str, ...], before: list[Any],
            first: list[Any], lists: set[int]) -> None:
    """Traces the loop and sets the variables to its results. ``first``: the values of the variables before the first
    step; None for a variable that is no tensor. ``lists``: the indices of the variables that are lists. If a step
    gives such a list another structure, dtype or shape, the variable has no value after the loop.
    """
    for _ in range(4):  # traced again, at most 4 times in all, until a step requires no other first values
        which = [i for i, value in enumerate(first) if value is not None]
        loop = _core.open_loop(tuple(_constants(first[i]) for i in which), None, [])
        placeholders: Any = loop.variables
        variables = dict(zip(which, placeholders))
        put([variables.get(i, value) for i, value in enumerate(before)])
        # Assertions in the condition or the body are collected there, because each step must check them anew.
        in_condition, in_body = _assertions.Asserted(), _assertions.Asserted(of_a_step=True)
        with _assertions.collected(in_condition):
            condition = test()
        condition = _condition(condition) if _is_tensor(condition) else _values.constant(bool(condition))
        condition = in_condition.tied(condition)
        with _assertions.collected(in_body):
            body()
        after = get()
        lost = {i for i in lists.intersection(which) if not _goes_on(variables[i], after[i], names[i])}
        again = _begun_anew(first, after, names)
        if again is None and not lost:
            break
        first = [None if i in lost else value for i, value in enumerate(again or first)]
    done: Any = loop.finish(condition, in_body.tied(tuple(_after(variables[i], after[i], names[i]) for i in which)))
    results = dict(zip(which, done))
    put([results[i] if i in results else value if value is after[i] else _local(names[i])
         for i, value in enumerate(before)])


def _is_variable(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(_is_variable(part) for part in value)
    if isinstance(value, Mapping):
        return all(_is_variable(part) for part in value.values())
    return _is_tensor(value) or isinstance(value, (bool, int, float, str, bytes, np.ndarray, np.generic))


def _constants(value: Any) -> Any:
    return map_structure(_values.constant, value)


def _local(name: str) -> Unset:
    return Unset(f"`{name}` has no value after a loop over a tensor that may take no step, or is no tensor there")


def _goes_on(before: Any, after: Any, name: str) -> bool:
    """True if the variable can have the value ``after`` at the end of a step."""
    try:
        _after(before, after, name)
    except OperatorNotAllowedInGraphError:
        return False
    return True


def _begun_anew(first: list[Any], after: list[Any], names: tuple[str, ...]) -> list[Any] | None:
    """The first values with changes: a Python number gets the dtype that its variable has after a step. If a step
    reaches a `return`, the variable for its value begins with zeros, and not without a value. None: there is no
    change.
    """
    out = list(first)
    for i, (a, b) in enumerate(zip(first, after)):
        if isinstance(a, (bool, int, float)) and _is_tensor(b) and _values.constant(a).dtype != b.dtype:
            fits = _values.beside(a, b.dtype)
            if fits.dtype == b.dtype:
                out[i] = fits
        elif a is None and names[i].startswith(f"{OPS}_value_") and _is_variable(b):
            out[i] = map_structure(_zeros, _constants(b))
    return None if all(a is b for a, b in zip(first, out)) else out


def _zeros(x: Any) -> Any:
    """A tensor with the spec of ``x``, as the value of a `return` that was not reached. It is never read."""
    if x.shape.dims is None or None in x.shape.dims:
        refuse(f"a `return` in a loop over a tensor gives the shape {x.shape}, which differs from element to element",
               "Set a variable, and return it after the loop")
    return _core.fill(list(x.shape.dims), _values.unit(0, x.dtype))


def _after(before: Any, after: Any, name: str) -> Any:
    """The value of a variable after a step, if it is compatible with the value before."""
    called = "what a `return` gives" if name.startswith(f"{OPS}_value_") else f"`{name}`"
    if isinstance(before, Mapping) and isinstance(after, Mapping) and before.keys() == after.keys():
        return rebuilt(before, [_after(before[key], after[key], f"{name}[{key!r}]") for key in before])
    if isinstance(before, tuple) and isinstance(after, tuple) and len(before) == len(after):
        return rebuilt(before, [_after(a, b, f"{name}[{i}]") for i, (a, b) in enumerate(zip(before, after))])
    if isinstance(before, (Mapping, tuple)) or isinstance(after, (Mapping, tuple)) or not _is_variable(after):
        refuse(f"{called} changes in a loop over a tensor from {before!r} to {_kind(after)}",
               "Give it one structure of tensors in all steps")
    value = after if _is_tensor(after) else _values.beside(after, before.dtype)
    if value.dtype != before.dtype:
        refuse(f"{called} is {before.dtype.name} before a step of a loop over a tensor and {value.dtype.name} after it",
               "Use headrace.cast")
    old, new = before.shape.dims, value.shape.dims
    if old is None or new is None or len(old) != len(new) or any(a not in (None, b) for a, b in zip(old, new)):
        refuse(f"{called} has the shape {before.shape} before a step of a loop over a tensor and {value.shape} after it",
               f"{_ADVICE}, or use headrace.while_loop with shape_invariants")
    return value
