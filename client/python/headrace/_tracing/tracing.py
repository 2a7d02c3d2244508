"""Makes functions of a graph from Python functions."""

from __future__ import annotations

import contextlib
import inspect
import itertools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _core
from .._control_flow.rewriting import rewritten
from .._random import drawing as _drawing, python_draws as _python_draws
from .._refusals import explained
from .._specs import map_structure
from .._tensors import values as _values
from .._tensors.text import in_function, refuse_in_result
from ..errors import ArgumentError, OperatorNotAllowedInGraphError, OpError
from . import assertions


def _leaf(value: Any) -> Any:
    from .._dataset import Dataset

    if value is None:
        raise ArgumentError("it gives None; is there a `return`?")
    if isinstance(value, Dataset):
        raise TypeError("it gives a dataset among tensors; a dataset is given alone")
    if callable(value):
        raise TypeError(f"it gives {value!r}, which is no tensor")
    return _values.constant(value)


def describe(f: Any) -> str:
    """The name of a function with its file and line, for error messages."""
    code = getattr(f, "__code__", None)
    name = getattr(f, "__qualname__", None) or repr(f)
    return f"{name} ({code.co_filename}:{code.co_firstlineno})" if code is not None else name


def _check_arguments(f: Callable[..., Any], given: tuple[Any, ...], what: str) -> None:
    try:
        signature = inspect.signature(f)
    except (TypeError, ValueError):
        return  # the function is not a Python function
    try:
        signature.bind(*given)
    except TypeError as e:
        many = "1 argument, the element" if len(given) == 1 else f"{len(given)} arguments, the parts of the element"
        raise TypeError(f"{what}: {e}; it is called with {many}") from None


class _Call:
    """A function that is being traced, with the datasets of one element that it reads (``element_of``)."""

    def __init__(self, opened: Any) -> None:
        self.opened = opened
        self.read: list[tuple[_core.Graph, Any]] = []
        self.salts = itertools.count(1)
        self.asserted = assertions.Asserted()

    def element_of(self, single: _core.Graph) -> Any:
        """Tensors for the only element of a dataset that depends on the function's argument."""
        inner = _core.open_function(single)
        self.read.append((single, inner))
        return _argument(inner.argument)

    def finish(self, result: Any) -> _core.Function:
        """The traced function. If it has read elements of datasets, its result is a dataset of one element."""
        result = self.asserted.tied(result)
        if not self.read:
            return self.opened.finish(result)
        return self.finish_dataset(_core.from_tensors(result))

    def finish_dataset(self, graph: _core.Graph) -> _core.Function:
        if self.asserted:
            # The graph becomes the inner dataset of a flat_map over a dataset of one element. If an assertion fails,
            # this element fails, and so the error is given in place of the elements of the graph.
            held = _core.from_tensors(self.asserted.tied(_values.constant(True)))
            graph = _core.flat_map(held, _core.open_function(held).finish_dataset(graph))
        for single, inner in reversed(self.read):
            graph = _core.flat_map(single, inner.finish_dataset(graph))
        return self.opened.finish_dataset(graph)


class _Tracing(threading.local):
    """The functions that this thread is tracing, the innermost last: a traced function may make datasets whose
    functions are traced meanwhile.
    """

    def __init__(self) -> None:
        self.calls: list[_Call] = []


_tracing = _Tracing()
_salts = itertools.count(1)  # for random functions that are called while no function is traced


def next_salt() -> int:
    """A number that differs between the calls of random functions in one traced function. If the function is traced
    again, its calls get the same numbers.
    """
    return next(_tracing.calls[-1].salts if _tracing.calls else _salts)


def is_tracing() -> bool:
    """True if a function is being traced on this thread."""
    return bool(_tracing.calls)


def element_of(single: _core.Graph) -> Any:
    """In a traced function: the only element of a dataset that depends on the function's argument."""
    return _tracing.calls[-1].element_of(single)


def _argument(given: Any) -> Any:
    from .._dataset.windows import argument

    return argument(given)


def trace(graph: _core.Graph, f: Callable[..., Any], operator: str, argument: str, *, dataset: bool) -> _core.Function:
    """Calls ``f`` once with tensors for the graph's elements, and returns the traced function.

    Raises ``TypeError`` if ``f`` is no function, if it returns a dataset and ``dataset`` is false, or if it returns
    tensors and ``dataset`` is true.
    """
    from .._processes.python import PyFunction

    if isinstance(f, PyFunction):
        if dataset:
            raise TypeError(f"{operator}: {argument} must give a Dataset, which py_function cannot; use a function "
                            "that is traced")
        return f._function(graph)
    opened = _core.open_function(graph) if callable(f) else None
    return trace_with(opened, None if opened is None else opened.argument, f, operator, argument, dataset=dataset)


def _called(f: Callable[..., Any], given: tuple[Any, ...], opened: Any) -> tuple[_Call, Any]:
    """The result of ``f`` for tensors. If its control flow needs the value of a tensor, it is rewritten and called
    again.
    """
    try:
        return _called_as_it_is(f, given, opened)
    except OperatorNotAllowedInGraphError:
        other = rewritten(f)
        if other is None:
            raise
    return _called_as_it_is(other, given, opened)


def _called_as_it_is(f: Callable[..., Any], given: tuple[Any, ...], opened: Any) -> tuple[_Call, Any]:
    call = _Call(opened)
    _tracing.calls.append(call)
    try:
        with assertions.collected(call.asserted), in_function():
            result = f(*given)
            refuse_in_result(result)
            return call, result
    except Exception as e:
        better = explained(e)
        if better is None:
            raise
        raise better from e
    finally:
        _tracing.calls.pop()


def trace_with(opened: Any, given: Any, f: Callable[..., Any], operator: str, argument: str, *,
               dataset: bool) -> _core.Function:
    """Like ``trace``, but ``f`` is called with ``given``, the argument of the engine's open function ``opened``."""
    from .._dataset import Dataset
    from .._processes.python import PyFunction

    if isinstance(f, PyFunction):
        raise TypeError(f"{operator}: {argument} cannot be a py_function; use a function that is traced")
    if not callable(f):
        raise ArgumentError(f"{operator}: {argument} must be a function, not {type(f).__name__}")
    given = _argument(given)
    given = given if type(given) is tuple else (given,)  # a named tuple is one argument
    _check_arguments(f, given, f"{operator}: {argument} {describe(f)}")
    with _drawing.traced(), contextlib.nullcontext() if _tracing.calls else _python_draws.warned_of(f"{operator}: {argument} {describe(f)}"):
        call, result = _called(f, given, opened)
    if call.read and operator not in ("map", "flat_map", "interleave", "group_by_window", "filter", "take_while"):
        raise TypeError(f"{operator}: {argument} {describe(f)} reads a dataset, or calls a Python function with tensors; do "
                        "so in a map before")
    if isinstance(result, Dataset):
        if not dataset:
            raise TypeError(f"{operator}: {argument} {describe(f)} must give tensors, not a dataset; use flat_map")
        return call.finish_dataset(result._graph)
    if dataset:
        raise TypeError(f"{operator}: {argument} {describe(f)} must give a Dataset, not {type(result).__name__}")
    if isinstance(result, list):  # a list inside a tuple or dict is a tensor
        result = tuple(result)
    try:
        leaves = map_structure(_leaf, result)
    except (TypeError, ValueError) as e:
        if isinstance(e, OperatorNotAllowedInGraphError):
            raise
        raise type(e)(f"{operator}: {argument} {describe(f)}: {e}") from None
    try:
        return call.finish(leaves)
    except (TypeError, ValueError) as e:
        if isinstance(e, (OperatorNotAllowedInGraphError, OpError)):
            raise
        raise type(e)(f"{operator}: {argument} {describe(f)}: {e}") from None


def tensors(value: Any) -> Any:
    """Converts each value in nested tuples and dicts to a constant tensor."""
    def leaf(part: Any) -> Any:
        if part is None or callable(part) and not isinstance(part, (np.ndarray, np.generic)):
            raise ArgumentError(f"{part!r} is no tensor")
        return _values.constant(_values.of_arrays(part))
    return map_structure(leaf, value)
