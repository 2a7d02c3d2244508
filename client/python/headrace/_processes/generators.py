"""Generators in processes of their own.

In TensorFlow all passes share the state of a generator function (a counter, a random generator). So all passes of one
function run in one process, which is kept for later passes.
"""

from __future__ import annotations

import collections
import itertools
import threading
import warnings
from typing import Any

from . import origins
from ..errors import CancelledError, UnknownError
from .child import Answer, Child, Limits, Steps, end

#: Identifies the passes that share the state of a generator function: the number of the function (``origins``), and a
#: digest of its shipped form.
Key = tuple[int, bytes]

#: The most processes that are kept, unless more processes have a pass. Of the processes without a pass, the least
#: recently used one is ended first, and its state is lost. Each takes about 25 MB.
_MOST = 32
#: Seconds for which a pass that begins waits while the process makes an element of another pass. Then a new process
#: is started for this pass and for later ones.
_PATIENCE = 10.0


class _Process:
    """A process, and the passes that run in it. Only one pass at a time sends a request to it."""

    def __init__(self, limits: Limits) -> None:
        self.child = Child(limits)
        self.lock = threading.Lock()
        #: The numbers of the passes that run in the process. Numbers are added and removed without holding ``lock``.
        self.passes: set[int] = set()
        #: The numbers of passes that are over, which were not sent to the process yet. ``Generator.__del__`` appends
        #: them without the lock, as it may run anywhere, also while its thread holds the lock.
        self.over: collections.deque[int] = collections.deque()

    def ask(self, shipped: bytes, number: int, rows: list[Any]) -> Answer:
        """Elements of a pass. Raises ``EOFError`` or ``OSError`` if the process died. @pre the lock is held"""
        over = [self.over.popleft() for _ in range(len(self.over))]
        self.child.ask(b"generator", shipped, Steps(number, over, rows))
        return self.child.answer()


class Generators:
    """The processes of generators, by the ``Key`` of their passes."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._lock = threading.Lock()
        self._all: dict[Key, _Process] = {}  # in the order of their last use
        # ``_gone``: the numbers of functions that were destroyed, which are appended without the lock. ``_leaving``:
        # the processes that were requested to end because their function was destroyed.
        self._gone: collections.deque[int] = collections.deque()
        self._leaving: collections.deque[Child] = collections.deque()
        self._warned = False
        origins.when_gone(self._forget)

    def process_for(self, number: int, key: Key | None) -> _Process:
        """The process in which the pass with this number begins, with its lock acquired. ``key`` None: a new process
        for this pass alone.
        """
        if key is None:
            out = _Process(self.limits)
            out.lock.acquire()
            return out
        there = self._kept(number, key)
        if not there.lock.acquire(timeout=_PATIENCE):
            there.passes.discard(number)
            there = self._kept(number, key, instead_of=there)
            there.lock.acquire()
        return there

    def _kept(self, number: int, key: Key, instead_of: _Process | None = None) -> _Process:
        with self._lock:
            there = before = self._all.get(key)
            # ``Generator.__del__`` takes no lock, and ends a process that is not in ``_all`` and has no pass. Below,
            # the process is removed from ``_all`` for a moment, to be put at the end. So the number of the new pass is
            # added before that.
            if there is not None:
                there.passes.add(number)
                if there is instead_of or not there.child.lives():
                    there.passes.discard(number)
                    there = None
            self._all.pop(key, None)
            if there is None:
                there = _Process(self.limits)
                there.passes.add(number)
            self._all[key] = there
            idle = [k for k, other in self._all.items() if not other.passes]
            dropped = idle[:max(0, len(self._all) - _MOST)]
            gone = [self._all.pop(k).child for k in dropped]
            self._end_gone()
            gone += [self._leaving.popleft() for _ in range(len(self._leaving))]
            if before is not None and before is not there and not before.passes:
                gone.append(before.child)
        end(gone)
        try:
            self._warn_of(dropped)
        except RuntimeWarning:  # the program has made errors of warnings, so the pass does not begin
            there.passes.discard(number)
            raise
        return there

    def _warn_of(self, dropped: list[Key]) -> None:
        """Warns once if a generator that a dataset still contains has lost its process."""
        if self._warned or not any(origins.is_used(*key) for key in dropped):
            return
        self._warned = True
        warnings.warn(f"from_generator: the processes of {_MOST} generators are kept from pass to pass, and this "
                      "program reads more generators in turn. The others begin anew in each pass: what they keep "
                      "themselves (a counter, a random generator) is lost. Use variables that the program changes, or "
                      "fewer generators", RuntimeWarning, stacklevel=2)

    def _forget(self, function: int) -> None:
        """Called when a function was destroyed. Ends the processes of the function, each as soon as it has no pass.
        May be called anywhere, also while the calling thread holds the lock.
        """
        self._gone.append(function)
        if self._lock.acquire(blocking=False):
            try:
                self._end_gone()
            finally:
                self._lock.release()

    def _end_gone(self) -> None:
        while self._gone:
            function = self._gone.popleft()
            for key in [key for key in self._all if key[0] == function]:
                process = self._all.pop(key)
                if not process.passes:  # otherwise the process is ended after its last pass
                    process.child.leave()
                    self._leaving.append(process.child)

    def holds(self, process: _Process, key: Key) -> bool:
        """True if later passes with this key will run in the process."""
        return self._all.get(key) is process

    def stop(self) -> None:
        """Ends all processes that are kept for later passes."""
        with self._lock:
            gone, self._all = [*(process.child for process in self._all.values()), *self._leaving], {}
            self._leaving.clear()
        end(gone)


_numbers = itertools.count()


def _was_stopped() -> CancelledError:
    return CancelledError("from_generator: the process that ran the generator was stopped")


class Generator:
    """Runs a generator for one pass. The first call of ``run`` starts a process, or takes one that is kept.

    key: identifies the passes that share the state of the generator function. None: this pass has a process of its own.
    """

    def __init__(self, shipped: bytes, among: Generators, key: Key | None = None) -> None:
        self._shipped = shipped
        self._among = among
        self._key = key
        self._process: _Process | None = None
        self._number = next(_numbers)
        self._stopped = False
        self._lock = threading.Lock()

    def run(self, rows: list[Any]) -> list[Answer]:
        """The elements with the numbers ``rows``, which ascend; fewer if the generator ends.

        Raises ``UnknownError`` if the process died: the next call begins the generator anew in another process.
        Raises ``CancelledError`` if it was stopped.
        """
        with self._lock:
            if self._stopped:
                raise _was_stopped()
            process = None
            try:
                if self._process is None:
                    self._process = process = self._among.process_for(self._number, self._key)
                else:
                    process = self._process
                    process.lock.acquire()
                try:
                    return [process.ask(self._shipped, self._number, rows)]
                finally:
                    process.lock.release()
            except (EOFError, OSError, MemoryError):
                fate = "did not start" if process is None else process.child.fate()
                if process is not None:
                    process.passes.discard(self._number)
                self._process = None
                if self._stopped:
                    raise _was_stopped() from None
                raise UnknownError(f"from_generator: the process that ran the generator {fate}") from None

    def stop(self) -> None:
        """Ends the process; the elements that it is making are lost."""
        self._stopped = True
        process = self._process
        if process is not None:
            end([process.child])

    def __del__(self) -> None:
        process = self._process
        if process is None:
            return
        process.over.append(self._number)
        process.passes.discard(self._number)
        kept = self._key is not None and self._among.holds(process, self._key)
        if self._stopped or not kept and not process.passes:
            end([process.child])
