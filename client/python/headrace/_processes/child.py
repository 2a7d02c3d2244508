"""A child process that runs Python functions: the parent's side."""

from __future__ import annotations

import fcntl
import os
import pickle
import select
import signal
import struct
import subprocess
import threading
import time
import weakref
from collections.abc import Iterable
from typing import Any, NamedTuple

from . import interpreter as _interpreter

_LENGTH = struct.Struct("<Q")
#: The header of an answer: the number of the request, and the number of rows.
ANSWER = struct.Struct("<QI")
#: The capacity of the pipe of answers. With a smaller capacity, the two processes would wait for each other many times
#: during one answer.
_PIPE_BYTES = 1 << 20
#: The most processes with pipes of ``_PIPE_BYTES`` at a time: a user who is not root has 64 MiB for all pipes.
_MOST_WIDE = 16
#: The most bytes of one read.
_PIECE = 1 << 24
#: The most functions that a process keeps, with the values that they captured.
_MOST_FUNCTIONS = 32
#: Seconds that a process may take to end after a request to do so.
_GRACE = 0.2


def send(stream: Any, *parts: bytes | bytearray) -> None:
    """Sends one message, preceded by its length. Raises ``EOFError`` if another thread has closed the stream."""
    if stream.closed:
        raise EOFError
    stream.write(_LENGTH.pack(sum(map(len, parts))))
    for part in parts:
        stream.write(part)
    stream.flush()


def receive(stream: Any) -> bytes:
    """Receives the next message. Raises ``EOFError`` if the other side is gone, or if another thread has closed the
    stream. Memory grows only as bytes arrive.
    """
    if stream.closed:
        raise EOFError
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    left = _LENGTH.unpack(head)[0]
    parts = []
    while left:
        part = stream.read(min(left, _PIECE))
        if not part:
            raise EOFError
        parts.append(part)
        left -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


class Answer(NamedTuple):
    """The results of ``rows`` rows: bytes, which only ``_core`` decodes and checks (src/pool_answer.hpp), or a str
    with the reason why none of the rows succeeded.
    """

    rows: int
    content: bytes | str


class Steps(NamedTuple):
    """A request to the process of a generator, for elements of a pass."""

    #: The number of the pass, which no other pass has.
    of_pass: int
    #: The numbers of passes that are over.
    over: list[int]
    #: The numbers of the elements, in ascending order.
    numbers: list[Any]


class Limits(NamedTuple):
    """Bounds of a pool. None: as many processes as there are CPUs, and no bound of memory or time."""

    processes: int | None = None
    #: The most bytes of data of each process.
    memory: int | None = None
    #: The most seconds of one call.
    call_timeout: float | None = None


def _handle_of(pid: int) -> int | None:
    """A descriptor that is readable when the process has ended; None if the system has none."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):  # some builds of Python, and old kernels, lack pidfd_open
        return None


class Child:
    """One process. It ends when its standard input is closed, and when this process dies, even while it runs a
    function. Processes that it has started end with it, unless they are in another session.
    """

    _life: int | None = None
    _handle: int | None = None

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._reaping = threading.Lock()
        self._busy = False
        self._request = 0
        self._known: dict[bytes, None] = {}  # names of the functions that the process keeps, the last used one last
        if _leaving:
            raise RuntimeError("the interpreter is about to end")
        theirs, self._life = os.pipe()
        try:
            self._child = subprocess.Popen(
                [*_interpreter.command("headrace._processes.pool_process"), str(limits.memory or 0),
                 str(limits.call_timeout or 0), str(theirs)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=(theirs,),
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, _interpreter.paths()))},
                start_new_session=True)
        finally:
            os.close(theirs)
        self._handle = _handle_of(self._child.pid)
        try:
            if self._child.stdout and len(_all) < _MOST_WIDE:
                fcntl.fcntl(self._child.stdout, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        except OSError:
            pass  # the user's pipes together have the largest capacity that the system allows
        with _lock:
            _all.add(self)
            late = _leaving
        if late:
            self.kill()

    def __del__(self) -> None:
        for mine in (self._life, self._handle):
            if mine is not None:
                os.close(mine)

    def ask(self, name: bytes, function: bytes, rows: list[Any] | Steps) -> None:
        """Begins to run a function over rows, or a generator; ``answer`` returns the result."""
        known = self._known.copy()
        payload = None if name in known else function
        known.pop(name, None)
        known[name] = None
        forgotten = next(iter(known)) if len(known) > _MOST_FUNCTIONS else None
        if forgotten is not None:
            del known[forgotten]
        self._request += 1
        # Requests are pickles, because the child process trusts this process. Answers are not
        # pickles, because this process does not trust the code that runs in the child process.
        request = pickle.dumps((self._request, name, payload, rows, forgotten), protocol=5)
        self._busy = True
        send(self._child.stdin, request)
        self._known = known

    def answer(self) -> Answer:
        """The answer to the last request. Raises ``EOFError`` if the process died, or was killed here for a wrong
        answer.
        """
        content = receive(self._child.stdout)
        if len(content) < ANSWER.size or ANSWER.unpack_from(content)[0] != self._request:
            self.kill()
            raise EOFError
        self._busy = False
        return Answer(ANSWER.unpack_from(content)[1], content)

    def fate(self) -> str:
        """Ends the process, and returns how it ended. To be called by the thread that used it."""
        self._close(self._child.stdin)
        code = self.wait(_GRACE)
        self._close(self._child.stdout)
        if code == -signal.SIGALRM and self._limits.call_timeout:
            return f"was ended, because one call took longer than {self._limits.call_timeout:g} s"
        return f"died (ended by signal {-code})" if code < 0 else f"died (exit code {code})"

    def leave(self) -> None:
        """Requests the process to end, or kills it if it runs a function. Does not wait."""
        # A stream that another thread reads or writes cannot be closed here before that thread is
        # done.
        if self._busy:
            self.kill()
        else:
            self._close(self._child.stdin)

    def lives(self) -> bool:
        """True if the process has not ended."""
        return self._child.poll() is None if self._handle is None else not self._ends_within(0)

    def kill(self) -> None:
        """Ends the process and the processes that it started."""
        # The lock prevents that another thread reaps the process meanwhile: after that, the system could give the
        # number of its process group to other processes, which would be killed here.
        with self._reaping:
            if self._child.returncode is None:
                try:
                    os.killpg(self._child.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass

    def wait(self, limit: float) -> int:
        """The exit code; after ``limit`` seconds the process is killed. Processes that it started are killed in any
        case, if the system has handles of processes.
        """
        if self._child.returncode is None:
            self._ends_within(limit)
            self.kill()
        with self._reaping:
            return self._child.wait()

    def _ends_within(self, seconds: float) -> bool:
        """Waits until the process has ended, for at most so many seconds. If the system has handles of processes, the
        process is not reaped, so that its process group can still be killed.
        """
        if self._handle is None:
            try:
                self._child.wait(seconds)
                return True
            except subprocess.TimeoutExpired:
                return False
        ended = select.poll()
        ended.register(self._handle, select.POLLIN)
        return bool(ended.poll(seconds * 1000))

    @staticmethod
    def _close(stream: Any) -> None:
        try:
            stream.close()
        except OSError:
            pass


_lock = threading.Lock()
_all: weakref.WeakSet[Child] = weakref.WeakSet()
_leaving = False


def end(children: Iterable[Child]) -> None:
    """Ends processes; the results of calls that they run are lost. Takes about as long as the end of one process."""
    gone = list(children)
    for child in gone:
        child.leave()
    limit = time.monotonic() + _GRACE
    for child in gone:
        child.wait(max(0.0, limit - time.monotonic()))


def end_all() -> None:
    """Called before the interpreter ends: ends all processes, and each process that is started from now on."""
    global _leaving
    with _lock:
        _leaving = True
        gone = list(_all)
    end(gone)
