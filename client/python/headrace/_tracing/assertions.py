"""Assertions that have an effect whether their results are used or not, as in TensorFlow's functions."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from .. import _core
from .._specs import map_structure

Tensor = _core.Tensor


class Asserted:
    """The assertions of one function that is being traced, each with the branches in which it was made."""

    def __init__(self, *, of_a_step: bool = False) -> None:
        self._all: list[tuple[Tensor, tuple[tuple[Tensor, bool], ...]]] = []
        self._branches: list[tuple[Tensor, bool]] = []
        self._of_a_step = of_a_step

    @property
    def conditional(self) -> bool:
        """True if an assertion that is made now applies to some elements only: in a branch, or in a step of a loop."""
        return self._of_a_step or bool(self._branches)

    def add(self, assertion: Tensor) -> None:
        self._all.append((assertion, tuple(self._branches)))

    @contextlib.contextmanager
    def within(self, condition: Tensor, taken: bool) -> Iterator[None]:
        """Assertions that are made in the body of the ``with`` apply only to the elements for which ``condition`` is
        ``taken``.
        """
        self._branches.append((condition, taken))
        try:
            yield
        finally:
            self._branches.pop()

    def __bool__(self) -> bool:
        return bool(self._all)

    def tied(self, result: Any) -> Any:
        """The tensors of ``result``; the first of them fails if an assertion fails."""
        pending = self._all
        self._all = []

        def with_all(first: Tensor) -> Tensor:
            nonlocal pending
            for assertion, branches in pending:
                out: Any = _core.tied(first, assertion)
                for condition, taken in reversed(branches):
                    out = _core.cond(condition, out, first) if taken else _core.cond(condition, first, out)
                first = out
            pending = []
            return first

        return map_structure(with_all, result)


class _OfThread(threading.local):
    def __init__(self) -> None:
        self.functions: list[Asserted] = []


_of_thread = _OfThread()


@contextlib.contextmanager
def collected(by: Asserted) -> Iterator[None]:
    """Adds the assertions that this thread makes in the body of the ``with`` to ``by``."""
    _of_thread.functions.append(by)
    try:
        yield
    finally:
        _of_thread.functions.pop()


@contextlib.contextmanager
def branch(condition: Any, taken: bool) -> Iterator[None]:
    """Assertions that are made in the body of the ``with`` apply only to elements for which the tensor ``condition`` is
    ``taken``.
    """
    if _of_thread.functions and isinstance(condition, Tensor):
        with _of_thread.functions[-1].within(condition, taken):
            yield
    else:
        yield


def is_conditional() -> bool:
    """True if a branch, or a step of a loop, is being traced on this thread."""
    return any(function.conditional for function in _of_thread.functions)


def holds(assertion: Tensor) -> Tensor:
    """``assertion``, the result of an assertion, which becomes part of the function that is being traced.

    If it depends on no element, and is in no branch or loop, it is evaluated at once: raises ``InvalidArgumentError``
    if it does not hold.
    """
    within = _of_thread.functions[-1] if _of_thread.functions else None
    if (within is None or not within.conditional) and _core.is_static(assertion):
        next(_core.from_tensors(assertion).read())
    elif within is not None:
        within.add(assertion)
    return assertion
