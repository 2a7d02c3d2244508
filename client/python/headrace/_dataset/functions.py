"""Operators that call a function of the elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import _core
from .._control_flow.rewriting import REWRITTEN, rewritten
from .._functions.renaming import named
from .._processes.python import PyFunction
from .._specs import DatasetSpec, element_of, flatten, spec_of_leaf
from .._tensors import values as _values
from .._tensors.labels import with_parts
from .._tensors.values import integer
from .._tracing import tracing as _tracing
from ..errors import UnimplementedError
from .arguments import AUTOTUNE, Int, flag, order, parallel_calls
from .base import Described

if TYPE_CHECKING:
    from .dataset import Dataset

#: A size with which one window contains all elements of a dataset.
_ALL = 2**31 - 1


def _twice(reduce_func: Any) -> Any:
    """A function for ``scan`` that returns the result of ``reduce_func`` as the next state and as the output."""
    if isinstance(reduce_func, PyFunction):
        return reduce_func._twice()
    if not callable(reduce_func):
        raise TypeError(f"reduce: reduce_func must be a function, not {type(reduce_func).__name__}")

    def both(state: Any, element: Any) -> Any:
        state = reduce_func(state, element)
        return state, state

    def rewritten_both() -> Any:
        other = rewritten(reduce_func)
        return None if other is None else _twice(other)
    setattr(both, REWRITTEN, rewritten_both)
    return both


def _of_state(graph: _core.Graph, initial: Any, f: Callable[..., Any], operator: str, argument: str) -> _core.Function:
    """Traces a function of (state, element). Extents of the state that the function changes become unknown in its
    argument, and the function is traced again, until it changes no further extent.
    """
    if isinstance(f, PyFunction) or not callable(f):
        return _tracing.trace(_core.zip([_core.from_tensors(initial), graph]), f, operator, argument, dataset=False)
    shapes: list[Any] = [leaf.shape.dims for leaf in flatten(initial)]
    while True:
        opened = _core.open_scan_function(initial, shapes, graph)
        out = _tracing.trace_with(opened, opened.argument, f, operator, argument, dataset=False)
        after = [_of_both(before, now) for before, now in zip(shapes, out.shapes)]
        if after == shapes:
            return out
        shapes = after


def _of_both(one: Any, other: Any) -> Any:
    """The shape that covers both shapes: extents that differ are None, and None is the result if the ranks differ."""
    if one is None or other is None or len(one) != len(other):
        return None
    return tuple(a if a == b else None for a, b in zip(one, other))


def _holds_datasets(graph: _core.Graph) -> bool:
    return any(isinstance(spec, DatasetSpec) for spec in flatten(graph.spec(spec_of_leaf)))


def _alone(element: Any) -> Any:
    """In a traced function: a dataset whose only element is ``element``. Datasets in ``element`` become windows."""
    from .dataset import Dataset

    if isinstance(element, (tuple, dict)):
        return Dataset.zip(with_parts(_alone, element))
    return element.window(_ALL) if isinstance(element, Dataset) else Dataset.from_tensors(element)


def _asked(spec: Any, predicate: Any, then: Callable[[Any, Any], Any]) -> Any:
    """A function for flat_map that gives ``then(element, result of the predicate)``. ``spec``: the elements' spec."""
    def chosen(*element: Any) -> Any:
        said = _core.ensure_shape(_values.constant(predicate(*element)), [])
        return then(element_of(spec, element), said)

    def rewritten_chosen() -> Any:
        other = rewritten(predicate)
        return None if other is None else _asked(spec, other, then)
    setattr(chosen, REWRITTEN, rewritten_chosen)
    return chosen


def _beside_element(spec: Any, predicate: Any) -> Any:
    """A function for map that gives the element and the result of the predicate. ``spec``: the elements' spec."""
    def both(*element: Any) -> Any:
        # A Python function's result may be declared without a shape, so it is checked here that it is a scalar.
        said = _core.ensure_shape(_values.constant(predicate(*element)), [])
        return element_of(spec, element), said

    def rewritten_both() -> Any:
        other = rewritten(predicate)
        return None if other is None else _beside_element(spec, other)
    setattr(both, REWRITTEN, rewritten_both)
    return both


class Functions(Described):
    """Methods that take a function."""

    __slots__ = ()

    def map(self, map_func: Callable[..., Any], num_parallel_calls: Int | None = None,
            deterministic: bool | None = None, synchronous: bool | None = None,
            use_unbounded_threadpool: bool = False, name: str | None = None) -> Dataset:
        """``map_func`` of each element.

        The function is traced: it is called once, with tensors, and returns tensors in tuples and dicts. If elements
        are tuples, each component of the tuple is one argument. If the function fails for an element, the iterator
        raises the error at that element's place. A component that is a dataset (see ``window``) is passed as a
        ``Dataset``, whose methods ``reduce`` and ``get_single_element`` give tensors. Raises
        ``OperatorNotAllowedInGraphError``, which names the line, for an operation that cannot be traced.

        num_parallel_calls: calls at a time, or ``AUTOTUNE``; None: one after another. deterministic: true if the
        results keep the order; None: as in the dataset's options (true). synchronous: true is allowed only without
        parallel calls, and has no effect.

        >>> list(Dataset.range(3).map(lambda x: (x, x / 2)))[1]
        (np.int64(1), np.float64(0.5))
        """
        calls, ordered = parallel_calls(num_parallel_calls), order(deterministic)
        if synchronous is not None and flag(synchronous, "synchronous") and calls != 0:
            raise ValueError("map: synchronous=True goes without num_parallel_calls")
        if flag(use_unbounded_threadpool, "use_unbounded_threadpool"):
            raise UnimplementedError("map: this release has no use_unbounded_threadpool: num_parallel_calls bounds the calls "
                                     "at a time")
        f = _tracing.trace(self._graph, map_func, "map", "map_func", dataset=False)
        if not f.gives_dataset:
            return self._with(_core.map(self._graph, f, calls, ordered))
        # The function reads datasets among its arguments, so the traced function gives a dataset of one element.
        if calls == 0:
            return self._with(_core.flat_map(self._graph, f))
        return self._with(_core.interleave(self._graph, f, 16 if calls == AUTOTUNE else calls, 1, calls, ordered))

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements for which ``predicate`` gives true, as one bool.

        >>> list(Dataset.range(5).filter(lambda x: x % 2 == 0))
        [np.int64(0), np.int64(2), np.int64(4)]
        """
        f = _tracing.trace(self._graph, predicate, "filter", "predicate", dataset=False)
        if f.gives_dataset:
            spec = self._graph.spec(spec_of_leaf)
            if _holds_datasets(self._graph):
                return self.flat_map(_asked(
                    spec, predicate, lambda element, yes: _alone(element).take(_core.cast(yes, "int64"))))
            return self.map(_beside_element(spec, predicate)).filter(lambda _, yes: yes).map(lambda element, _: element)
        return self._with(_core.filter(self._graph, f))

    def map_with_legacy_function(self, map_func: Callable[..., Any], num_parallel_calls: Int | None = None,
                                 deterministic: bool | None = None) -> Dataset:
        """``map``.

        >>> list(Dataset.range(2).map_with_legacy_function(lambda x: x + 1))
        [np.int64(1), np.int64(2)]
        """
        return self.map(map_func, num_parallel_calls, deterministic)

    def filter_with_legacy_function(self, predicate: Callable[..., Any]) -> Dataset:
        """``filter``.

        >>> list(Dataset.range(5).filter_with_legacy_function(lambda x: x > 3))
        [np.int64(4)]
        """
        return self.filter(predicate)

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements of the datasets that ``map_func`` makes of the elements, one dataset after another.

        >>> list(Dataset.range(3).flat_map(lambda x: Dataset.range(x)))
        [np.int64(0), np.int64(0), np.int64(1)]
        """
        f = _tracing.trace(self._graph, map_func, "flat_map", "map_func", dataset=True)
        return self._with(_core.flat_map(self._graph, f))

    def interleave(self, map_func: Callable[..., Any], cycle_length: Int | None = None, block_length: Int | None = None,
                   num_parallel_calls: Int | None = None, deterministic: bool | None = None,
                   name: str | None = None) -> Dataset:
        """The elements of the datasets that ``map_func`` makes of the elements, several datasets in turn.

        ``cycle_length`` datasets are open at a time (16 by default), and give ``block_length`` elements in turn.
        num_parallel_calls, deterministic: as in ``map``.

        >>> ds = Dataset.range(2).interleave(lambda x: Dataset.range(2).map(lambda y: 10 * x + y), cycle_length=2)
        >>> list(ds)
        [np.int64(0), np.int64(10), np.int64(1), np.int64(11)]
        """
        f = _tracing.trace(self._graph, map_func, "interleave", "map_func", dataset=True)
        cycle = 16 if cycle_length is None or cycle_length == AUTOTUNE else integer(cycle_length, "cycle_length")
        length = 1 if block_length is None else integer(block_length, "block_length")
        return self._with(_core.interleave(self._graph, f, cycle, length, parallel_calls(num_parallel_calls),
                                           order(deterministic)))

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None) -> Any:
        """The last state after ``reduce_func(state, element)`` of all elements. In ``reduce_func``, extents of the
        state that it changes are unknown.

        It runs in this process. If the dataset depends on an argument of a traced function, it runs where the
        function runs.

        >>> Dataset.range(5).reduce(np.int64(0), lambda total, x: total + x)
        np.int64(10)
        """
        initial = _tracing.tensors(initial_state)
        f = _of_state(self._graph, initial, _twice(reduce_func), "reduce", "reduce_func")
        with named("reduce", "scan"):
            states = _core.scan(self._graph, initial, f)
            return self._with(_core.last_element(states, initial, self._graph)).get_single_element()

    def scan(self, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """``map`` with a state: ``scan_func(state, element)`` gives the next state and an output. In ``scan_func``,
        extents of the state that it changes are unknown.

        >>> list(Dataset.range(4).scan(np.int64(0), lambda total, x: (total + x, total + x)))
        [np.int64(0), np.int64(1), np.int64(3), np.int64(6)]
        """
        initial = _tracing.tensors(initial_state)
        f = _of_state(self._graph, initial, scan_func, "scan", "scan_func")
        return self._with(_core.scan(self._graph, initial, f))

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements before the first for which ``predicate`` is false.

        >>> list(Dataset.range(5).take_while(lambda x: x < 2))
        [np.int64(0), np.int64(1)]
        """
        f = _tracing.trace(self._graph, predicate, "take_while", "predicate", dataset=False)
        if f.gives_dataset:
            spec = self._graph.spec(spec_of_leaf)
            if _holds_datasets(self._graph):
                said = self.flat_map(_asked(spec, predicate, lambda element, yes: _alone((element, yes))))
                return said.take_while(lambda _, yes: yes).flat_map(lambda element, _: _alone(element))
            said = self.map(_beside_element(spec, predicate))
            return said.take_while(lambda _, yes: yes).map(lambda element, _: element)
        return self._with(_core.take_while(self._graph, f))
