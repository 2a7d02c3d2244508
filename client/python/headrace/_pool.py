"""A pool of processes that run Python functions over rows."""

from __future__ import annotations

import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
from typing import Any, NamedTuple

from . import _lifetime

_LENGTH = struct.Struct("<Q")
#: How many functions a process keeps, with what they captured.
_MOST_FUNCTIONS = 32


def send(stream: Any, message: Any) -> None:
    """One pickled message, preceded by its length."""
    data = pickle.dumps(message, protocol=5)
    stream.write(_LENGTH.pack(len(data)))
    stream.write(data)
    stream.flush()


def receive(stream: Any) -> Any:
    """The next message. Raises ``EOFError`` when the other side is gone."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    size = _LENGTH.unpack(head)[0]
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return pickle.loads(data)


def shipped(kind: str, made: Any, argument: Any, declared: Any) -> bytes:
    """A ``"function"`` or ``"generator"`` with the specs of what it takes and gives, for whoever runs it."""
    import cloudpickle

    return pickle.dumps((kind, cloudpickle.dumps(made), argument, declared), protocol=5)


class Limits(NamedTuple):
    """Bounds of a pool; None: not bounded, and as many processes as there are CPUs."""

    processes: int | None = None
    #: Bytes of data of each process.
    memory: int | None = None
    #: Seconds of one call.
    call_timeout: float | None = None


class _Process:
    """One process of the pool; it ends when its standard input does."""

    def __init__(self, limits: Limits) -> None:
        paths = [p for p in sys.path if p]
        self._limits = limits
        self._child = subprocess.Popen(
            [sys.executable, "-m", "headrace._pool_process", str(limits.memory or 0), str(limits.call_timeout or 0)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)}, start_new_session=True)
        self._known: dict[bytes, None] = {}  # the one used last at the end

    def ask(self, name: bytes, function: bytes, rows: list[Any]) -> None:
        """Begins to run a function over rows; ``answer`` gives what comes of it."""
        payload = None if name in self._known else function
        self._known.pop(name, None)
        self._known[name] = None
        forgotten = next(iter(self._known)) if len(self._known) > _MOST_FUNCTIONS else None
        if forgotten is not None:
            del self._known[forgotten]
        send(self._child.stdin, (name, payload, rows, forgotten))

    def answer(self) -> list[Any]:
        """Raises ``EOFError`` if the process died."""
        out: list[Any] = receive(self._child.stdout)
        return out

    def fate(self) -> str:
        """Ends the process, and says how it ended."""
        code = self.stop()
        if code == -signal.SIGALRM and self._limits.call_timeout:
            return f"was ended, because one call took longer than {self._limits.call_timeout:g} s"
        return f"died (ended by signal {-code})" if code < 0 else f"died (exit code {code})"

    def stop(self) -> int:
        """Ends the process, and returns its exit code."""
        for stream in (self._child.stdin, self._child.stdout):
            try:
                if stream:
                    stream.close()
            except OSError:
                pass
        try:
            return self._child.wait(0.2)
        except subprocess.TimeoutExpired:
            self._child.kill()
            return self._child.wait()


class Pool:
    """Runs functions over rows, in processes which are started when they are needed."""

    def __init__(self, limits: Limits = Limits()) -> None:
        self.limits = limits
        self._size = limits.processes or len(os.sched_getaffinity(0))
        self._changed = threading.Condition()
        self._idle: list[_Process] = []
        self._all: set[_Process] = set()
        self._starting = 0
        self._stopped = False

    def run(self, name: bytes, function: bytes, rows: list[Any]) -> list[Any]:
        """For each row a list of arrays, or a str that says why there is none. ``name``: no other function's."""
        if not rows:
            return []
        mine = self._take(len(rows))
        share = -(-len(rows) // len(mine))
        parts = [rows[i:i + share] for i in range(0, len(rows), share)]
        for spare in mine[len(parts):]:
            self._give_back(spare)
        asked: list[tuple[_Process, list[Any], bool]] = []
        for process, part in zip(mine, parts):
            asked.append((process, part, self._ask(process, name, function, part)))
        out: list[Any] = []
        for process, part, lives in asked:
            try:
                if not lives:
                    raise EOFError
                out += process.answer()
                self._give_back(process)
            except (EOFError, OSError):
                out += self._one_by_one(name, function, part, self._lost(process))
        return out

    def stop(self) -> None:
        """Ends all processes; what runs in them is lost."""
        with self._changed:
            self._stopped = True
            gone, self._all, self._idle = list(self._all), set(), []
            self._changed.notify_all()
        for process in gone:
            process.stop()

    def _one_by_one(self, name: bytes, function: bytes, rows: list[Any], fate: str) -> list[Any]:
        """After a process died: so that only the row that killed it is lost."""
        out: list[Any] = []
        for row in rows:
            if self._stopped:
                out.append("the processes that run Python functions were stopped")
                continue
            if len(rows) > 1:
                process = self._take(1)[0]
                try:
                    if not self._ask(process, name, function, [row]):
                        raise EOFError
                    out += process.answer()
                    self._give_back(process)
                    continue
                except (EOFError, OSError):
                    fate = self._lost(process)
            out.append(f"py_function: the process that ran it {fate}")
        return out

    @staticmethod
    def _ask(process: _Process, name: bytes, function: bytes, rows: list[Any]) -> bool:
        try:
            process.ask(name, function, rows)
            return True
        except OSError:
            return False

    def _take(self, wanted: int) -> list[_Process]:
        """One process at least; more, up to ``wanted``, if they are idle."""
        with self._changed:
            while True:
                if self._stopped:
                    raise RuntimeError("the processes that run Python functions were stopped")
                room = self._size - len(self._all) - self._starting
                if self._idle or room > 0:
                    break
                self._changed.wait()
            taken = [self._idle.pop() for _ in range(min(wanted, len(self._idle)))]
            fresh = min(wanted - len(taken), room)
            self._starting += fresh
        started = []
        try:
            started = [_Process(self.limits) for _ in range(fresh)]
        finally:
            with self._changed:
                self._starting -= fresh
                self._all.update(started)
                self._changed.notify_all()
        return taken + started

    def _give_back(self, process: _Process) -> None:
        with self._changed:
            if process in self._all:
                self._idle.append(process)
                self._changed.notify()

    def _lost(self, process: _Process) -> str:
        fate = process.fate()
        with self._changed:
            self._all.discard(process)
            self._changed.notify()
        return fate


class Generator:
    """Runs a generator, in a process of its own, which starts when it is first asked."""

    def __init__(self, shipped: bytes, limits: Limits) -> None:
        self._shipped = shipped
        self._limits = limits
        self._process: _Process | None = None
        self._died_at: Any = None
        self._lock = threading.Lock()

    def run(self, rows: list[Any]) -> list[Any]:
        """The elements of these numbers, ascending ones; fewer if there are no more. A str says why one failed."""
        with self._lock:
            if self._died_at is not None and rows and rows[0] > self._died_at:
                return []
            self._died_at = None
            try:
                if self._process is None:
                    self._process = _Process(self._limits)
                self._process.ask(b"generator", self._shipped, rows)
                return self._process.answer()
            except (EOFError, OSError):
                fate = "did not start" if self._process is None else self._process.fate()
                self._process = None
                self._died_at = rows[0] if rows else None
                return [f"from_generator: the process that ran the generator {fate}"]

    def __del__(self) -> None:
        if self._process is not None:
            self._process.stop()


_shared: Pool | None = None
_lock = threading.Lock()


def shared() -> Pool:
    """The pool of this process, without bounds but for the number of CPUs."""
    global _shared
    with _lock:
        if _shared is None:
            _shared = Pool()
            _lifetime.stops_at_exit(_shared)
        return _shared
