"""The program of a pool's process: reads functions and rows, runs the functions over the rows, and writes the results."""

from __future__ import annotations

import fcntl
import os
import pickle
import resource
import select
import signal
import struct
import sys
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np

from . import shipping as _shipping
from .child import ANSWER, Steps, receive, send
from .declared import checked
from .string_values import with_string_values


#: The folder of this module, whose frames are left out of tracebacks.
_HERE = os.path.dirname(__file__)


def _of_user(at: TracebackType | None) -> TracebackType | None:
    """The traceback from the first line of the user's function on; None if that line was not reached."""
    while at is not None and os.path.dirname(at.tb_frame.f_code.co_filename) == _HERE:
        at = at.tb_next
    return at


def _why(name: str, e: Exception) -> str:
    text = f"{name}: {type(e).__name__}: {e}"
    if isinstance(e, AttributeError) and e.name == "numpy":
        text += " (what a Python function is given are numpy's values already, and bytes: leave .numpy() away)"
    at = _of_user(e.__traceback__)
    return text if at is None else f"{text}\n{''.join(traceback.format_exception(type(e), e, at))}"


# -- answers: as src/pool_answer.hpp reads them ------------------------------------------------------------

_Row = bytes | bytearray
#: Contiguous arrays of at least this many bytes are written without a temporary copy.
_LARGE = 4096
#: The longest text about an error row.
_LONGEST_TEXT = 1 << 16
#: Error codes, as in ``headrace.errors``. ``_CODES`` maps Python's exceptions to them as TensorFlow does.
_UNKNOWN = 2
_INVALID_ARGUMENT = 3
_CODES: tuple[tuple[type[Exception] | tuple[type[Exception], ...], int], ...] = (
    ((ValueError, TypeError, StopIteration), _INVALID_ARGUMENT), (MemoryError, 8), (NotImplementedError, 12))


def _failed(why: str, code: int) -> bytes:
    text = why.encode("utf-8", "backslashreplace")[:_LONGEST_TEXT]
    return struct.pack("<BI", code, len(text)) + text


def _raised(name: str, e: Exception) -> bytes:
    code = next((code for kinds, code in _CODES if isinstance(e, kinds)), _UNKNOWN)
    return _failed(_why(name, e), code)


def _misfit(name: str, e: Exception) -> bytes:
    """The error row for a result that does not fit the declared specs."""
    return _failed(f"{name}: {type(e).__name__}: {e}", _INVALID_ARGUMENT)


def _written(arrays: list[Any]) -> bytearray:
    out = bytearray(1)
    for array in arrays:
        out += struct.pack(f"<B{array.ndim}Q", array.ndim, *array.shape)
        if array.dtype == np.object_:
            for value in array.flat:
                text = value.encode() if isinstance(value, str) else bytes(value)
                out += struct.pack("<Q", len(text))
                out += text
        elif array.nbytes < _LARGE:
            out += array.tobytes()
        else:
            out += array.reshape(-1).view(np.uint8).data
    return out


def function_runner(made: Any, about: _shipping.Shipped, watch: _Watch) -> Callable[[list[Any]], list[_Row]]:
    """A function that returns the results of rows, each encoded for an answer."""
    name = f"{about.made_by} {getattr(made, '__qualname__', repr(made))}"
    f = made() if isinstance(made, type) else made
    check = checked(about.declared)
    as_given = with_string_values(about.argument) if about.made_by == "py_function" else None

    def run(row: Any) -> _Row:
        try:
            if as_given:
                row = as_given(row)
            with watch:
                given = f(*row) if isinstance(row, tuple) else f(row)
        except Exception as e:
            return _raised(name, e)
        try:
            return _written(check(given))
        except Exception as e:
            return _misfit(name, e)

    return lambda rows: [run(row) for row in rows]


class _Pass:
    """A pass over a generator: its iterator, and the number of the element that comes next."""

    def __init__(self) -> None:
        self.at: Any = None
        self.number = 0


def generator_runner(made: Any, about: _shipping.Shipped, watch: _Watch) -> Callable[[Steps], list[_Row]]:
    """A function that returns the requested elements of a pass, each encoded for an answer; fewer if the generator
    ends. A number below that of the next element starts the generator of the pass again.

    A generator that raised at an element has ended after that element. So there are no elements if it raises at the one
    before the requested one: an iterator that was saved after the error, and restored, begins there.

    All passes call one generator function, so that they share its state.
    """
    generator, args = made
    name = f"from_generator {getattr(generator, '__qualname__', repr(generator))}"
    check = checked(about.declared)
    passes: dict[int, _Pass] = {}

    def run(steps: Steps) -> list[_Row]:
        for over in steps.over:
            passes.pop(over, None)
        mine = passes.setdefault(steps.of_pass, _Pass())
        out: list[_Row] = []
        for number in steps.numbers:
            try:
                if mine.at is None or number < mine.number:
                    mine.number = 0
                    with watch:
                        mine.at = iter(generator(*args))
                while mine.number < number:
                    with watch:
                        next(mine.at)
                    mine.number += 1
                with watch:
                    given = next(mine.at)
                mine.number += 1
            except StopIteration:
                return out
            except Exception as e:
                raised_at, mine.at, mine.number = mine.number, iter(()), int(number)
                if raised_at == number - 1:
                    return out
                mine.number += 1
                out.append(_raised(name, e))
                continue
            try:
                out.append(_written(check(given)))
            except Exception as e:
                out.append(_misfit(name, e))
        return out

    return run


def _failing(why: str) -> Callable[[Any], list[_Row]]:
    """The runner in place of a function or generator that could not be set up."""
    failed = _failed(why, _UNKNOWN)
    return lambda rows: [failed] * len(rows.numbers if isinstance(rows, Steps) else rows)


def runner(shipped: bytes, watch: _Watch) -> Callable[[Any], list[_Row]]:
    """The runner of the function or generator that ``shipped`` contains."""
    about = _shipping.unpack(shipped)
    make = generator_runner if about.kind == "generator" else function_runner
    return make(_shipping.load(about.program), about, watch)


class _Watch:
    """Ends the process by SIGALRM if the body of the ``with`` takes longer than ``seconds``, wherever it hangs."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __enter__(self) -> None:
        if self._seconds:
            signal.setitimer(signal.ITIMER_REAL, self._seconds)

    def __exit__(self, *_: object) -> None:
        if self._seconds:
            signal.setitimer(signal.ITIMER_REAL, 0)


def _end_with(pipe: int) -> None:
    """Ends this process, whatever it is doing, when no process holds the other end of the pipe any more."""
    os.set_inheritable(pipe, False)
    fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(pipe, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([pipe], [], [], 0)[0]:
        os.kill(os.getpid(), signal.SIGKILL)  # the other end was closed before O_ASYNC was set


def _pipes() -> tuple[BinaryIO, BinaryIO]:
    """The pipes of requests and of answers, which were standard input and output. Now functions read nothing from
    standard input, and what they print is written to standard error.
    """
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)

    def let_go() -> None:
        # This runs in each process that a user's function forks. If such a process kept the pipes, they would stay open
        # when this process dies, and the program at their other ends would not notice the death.
        for pipe in (requests, answers):
            os.dup2(nothing, pipe.fileno(), inheritable=False)

    os.register_at_fork(after_in_child=let_go)
    return requests, answers


def main(memory: int, call_timeout: float, life: int) -> None:
    """Serves until standard input ends, or the other end of the pipe ``life`` is closed.

    memory: bytes, call_timeout: seconds; 0: no bound.
    """
    _end_with(life)
    if memory:
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    watch = _Watch(call_timeout)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, answers = _pipes()
    known: dict[bytes, Callable[[Any], list[_Row]]] = {}
    while True:
        try:
            number, name, shipped, rows, forgotten = pickle.loads(receive(requests))
        except EOFError:
            return
        if shipped is not None:
            try:
                known[name] = runner(shipped, watch)
            except Exception as e:
                why = f"py_function: {type(e).__name__} while it was set up: {e}\n{traceback.format_exc()}"
                known[name] = _failing(why)
        done = known[name](rows)
        send(answers, ANSWER.pack(number, len(done)), *done)
        known.pop(forgotten, None)


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
