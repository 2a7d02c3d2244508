"""A pool of processes that run Python functions over rows."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any

from ..errors import CancelledError
from .child import Answer, Child, Limits, end
from .generators import Generator, Generators, Key

__all__ = ["Limits", "Pool", "shared"]


def _were_stopped() -> CancelledError:
    # This error makes no error row: `ignore_errors` must not leave out an element because a worker was stopped.
    return CancelledError("the processes that run Python functions were stopped")


class Pool:
    """Runs functions over rows, in processes which are started when they are needed."""

    def __init__(self, limits: Limits = Limits(), accepts: Callable[[str, bytes], None] = lambda *_: None) -> None:
        self.limits = limits
        #: Called with the label and the shipped form of a function. Raises if the function must not run here.
        self.accepts = accepts
        self._size = limits.processes or len(os.sched_getaffinity(0))
        self._changed = threading.Condition()
        self._idle: list[Child] = []
        self._all: set[Child] = set()
        self._starting = 0
        self._stopped = False
        self._generators: weakref.WeakSet[Generator] = weakref.WeakSet()
        self._of_generators = Generators(limits)

    def run(self, name: bytes, function: bytes, rows: list[Any], again: bool = True) -> list[Answer]:
        """The results of the rows, in their order. ``name``: identifies the function. ``again``: rows that could not be
        sent, because their process had died, are sent to another process.
        """
        if not rows:
            return []
        mine = self._take(len(rows))
        unused = set(mine)  # the processes that were neither given back nor lost
        share = -(-len(rows) // len(mine))
        parts = [rows[i:i + share] for i in range(0, len(rows), share)]
        out: list[Answer] = []
        try:
            for spare in mine[len(parts):]:
                self._give_back(spare)
                unused.remove(spare)
            asked = [(process, part, self._ask(process, name, function, part)) for process, part in zip(mine, parts)]
            for process, part, unsent in asked:
                try:
                    if unsent is not None:
                        raise unsent
                    out.append(self._answer(process, part))
                    self._give_back(process)
                    unused.remove(process)
                except (EOFError, OSError, MemoryError):
                    unused.remove(process)
                    send_again = again and isinstance(unsent, (EOFError, OSError))
                    out += self._one_by_one(name, function, part, self._lost(process), send_again)
        finally:
            for process in unused:
                self._lost(process)
        return out

    def stop(self) -> None:
        """Ends all processes; the results of calls that they run are lost."""
        with self._changed:
            self._stopped = True
            gone, self._all, self._idle = list(self._all), set(), []
            generators = list(self._generators)
            self._changed.notify_all()
        end(gone)
        for generator in generators:
            generator.stop()
        self._of_generators.stop()

    def generator(self, shipped: bytes, key: Key | None = None) -> Generator:
        """The runner of the generator ``shipped`` for one pass, which is stopped with the pool.

        key: see ``Generator``.
        """
        out = Generator(shipped, self._of_generators, key)
        with self._changed:
            self._generators.add(out)
            stopped = self._stopped
        if stopped:
            out.stop()
        return out

    @staticmethod
    def _answer(process: Child, rows: list[Any]) -> Answer:
        out = process.answer()
        if out.rows != len(rows):
            process.kill()
            raise EOFError
        return out

    def _one_by_one(self, name: bytes, function: bytes, rows: list[Any], fate: str, unsent: bool) -> list[Answer]:
        """The results of rows whose process died. They run one at a time, so that only a row that ends its process
        fails; a single row is not run again, unless it was not sent.

        fate: how the process ended. unsent: the function cannot have run on the rows, because they were not sent.
        """
        out: list[Answer] = []
        for row in rows:
            if self._stopped:
                raise _were_stopped()
            if len(rows) > 1 or unsent:
                try:
                    out += self.run(name, function, [row], again=not unsent)
                    continue
                except (OSError, MemoryError) as e:
                    fate = f"could not be started: {e}"
            out.append(Answer(1, f"py_function: the process that ran it {fate}"))
        return out

    @staticmethod
    def _ask(process: Child, name: bytes, function: bytes, rows: list[Any]) -> Exception | None:
        """Sends a request. Returns the error if the process did not get all of it, and so runs none of it."""
        try:
            process.ask(name, function, rows)
            return None
        except (EOFError, OSError, MemoryError) as e:
            return e

    def _take(self, wanted: int) -> list[Child]:
        """At least one process; up to ``wanted`` if they are idle or may be started. Idle processes that have died
        meanwhile are dropped.
        """
        taken: list[Child] = []
        dead: list[Child] = []
        with self._changed:
            while True:
                if self._stopped:
                    raise _were_stopped()
                room = self._size - len(self._all) - self._starting
                if self._idle or room > 0:
                    break
                self._changed.wait()
            while self._idle and len(taken) < wanted:
                process = self._idle.pop()
                (taken if process.lives() else dead).append(process)
            self._all.difference_update(dead)
            fresh = min(wanted - len(taken), room + len(dead))
            self._starting += fresh
        started: list[Child] = []
        try:
            for process in dead:
                process.fate()
            for _ in range(fresh):
                started.append(Child(self.limits))
        except BaseException:
            with self._changed:
                self._idle += taken + started
            raise
        finally:
            with self._changed:
                self._starting -= fresh
                self._all.update(started)
                stopped = self._stopped
                self._changed.notify_all()
            if stopped:
                end(started)
        return taken + started

    def _give_back(self, process: Child) -> None:
        with self._changed:
            if process in self._all:
                self._idle.append(process)
                self._changed.notify()

    def _lost(self, process: Child) -> str:
        fate = process.fate()
        with self._changed:
            self._all.discard(process)
            self._changed.notify()
        return fate


_shared: Pool | None = None
_lock = threading.Lock()


def shared() -> Pool:
    """The pool of this process. It has at most as many processes as there are CPUs, and no other bounds."""
    global _shared
    with _lock:
        if _shared is None:
            _shared = Pool()
        return _shared
