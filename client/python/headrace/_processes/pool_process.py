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
from typing import Any

import numpy as np

from . import shipping as _shipping
from .child import ANSWER, receive, send
from .._functions.ragged import of_lists
from .._specs import flatten, map_structure
from ..dtypes import as_dtype


def _as_declared(value: Any, kind: str, dims: list[int | None] | None, where: str) -> Any:
    dtype = as_dtype(kind)
    array = np.asarray(value)
    if kind == "string":
        array = array.astype(object)
        if not all(isinstance(x, (str, bytes)) for x in array.flat):
            raise TypeError(f"{where} must be str or bytes, as declared")
    elif array.dtype != dtype.as_numpy_dtype:
        # Numbers are converted to the declared dtype, except fractions to integers, and integers that do not fit.
        python_s = isinstance(value, (bool, int, float, list, tuple)) and array.dtype.kind in "biuf" and (
            array.dtype.kind != "f" or array.size == 0 or dtype.is_floating or dtype.is_complex)
        ints = array.dtype.kind in "iu" and dtype.is_integer
        if not python_s and not ints and not np.can_cast(array.dtype, dtype.as_numpy_dtype, "same_kind"):
            raise TypeError(f"{where} is {array.dtype}, but declared is {kind}")
        converted = array.astype(dtype.as_numpy_dtype)
        if dtype.is_integer and not (converted == array).all():
            raise TypeError(f"{where} is {array.dtype}, with numbers that the declared {kind} does not hold")
        array = converted
    if dims is not None and (len(dims) != array.ndim or any(d is not None and d != n for d, n in zip(dims, array.shape))):
        raise ValueError(f"{where} has the shape {array.shape}, but declared is {tuple(dims)}")
    return np.ascontiguousarray(array).reshape(array.shape)


def _with_parts(value: Any, declared: Any) -> Any:
    """With a tuple of its parts in place of each value that is declared as ragged: a RaggedTensor, or nested lists."""
    if hasattr(declared, "_ragged_parts"):
        if isinstance(value, (list, np.ndarray)):
            value = of_lists(list(value), len(declared._ragged_parts) - 1, declared._ragged_parts[0][0])
        return tuple(getattr(value, "_ragged_parts", (value,)))
    if isinstance(declared, tuple) and isinstance(value, tuple) and len(value) == len(declared):
        return tuple(map(_with_parts, value, declared))
    if isinstance(declared, dict) and isinstance(value, dict) and value.keys() == declared.keys():
        return {name: _with_parts(value[name], part) for name, part in declared.items()}
    return value


def _checked(declared: Any) -> Callable[[Any], list[Any]]:
    """The arrays of a Python value, one for each leaf of ``declared``. Raises an error if it does not fit."""
    leaves = flatten(declared)
    layout = map_structure(lambda _: None, _with_parts(declared, declared))

    def check(given: Any) -> list[Any]:
        given = _with_parts(given, declared)
        if map_structure(lambda _: None, given) != layout:
            raise TypeError(f"it gave {given!r}, which is not arranged as it was declared")
        return [_as_declared(value, kind, dims, "what it gave" if len(leaves) == 1 else f"component {i}")
                for i, (value, (kind, dims)) in enumerate(zip(flatten(given), leaves))]

    return check


def _why(name: str, e: Exception) -> str:
    return f"{name}: {type(e).__name__}: {e}\n{traceback.format_exc()}"


# -- answers: as src/pool_answer.hpp reads them ------------------------------------------------------------

#: The longest text about a failed row.
_LONGEST_TEXT = 1 << 16


def _failed(why: str) -> bytes:
    text = why.encode("utf-8", "backslashreplace")[:_LONGEST_TEXT]
    return b"\1" + struct.pack("<I", len(text)) + text


def _written(arrays: list[Any]) -> bytes:
    parts = [b"\0"]
    for array in arrays:
        parts.append(struct.pack(f"<B{array.ndim}Q", array.ndim, *array.shape))
        if array.dtype == np.object_:
            for value in array.flat:
                text = value.encode() if isinstance(value, str) else bytes(value)
                parts += (struct.pack("<Q", len(text)), text)
        else:
            parts.append(array.tobytes())
    return b"".join(parts)


def function_runner(made: Any, declared: Any, watch: _Watch) -> Callable[[list[Any]], list[bytes]]:
    """The results of the rows, in the form of an answer."""
    name = f"py_function {getattr(made, '__qualname__', repr(made))}"
    f = made() if isinstance(made, type) else made
    check = _checked(declared)

    def run(row: Any) -> bytes:
        try:
            with watch:
                given = f(*row) if isinstance(row, tuple) else f(row)
            return _written(check(given))
        except Exception as e:
            return _failed(_why(name, e))

    return lambda rows: [run(row) for row in rows]


def generator_runner(made: Any, declared: Any, watch: _Watch) -> Callable[[list[Any]], list[bytes]]:
    """The elements of these numbers, as above; fewer if there are no more. Starts over for a number that was given."""
    generator, args = made
    name = f"from_generator {getattr(generator, '__qualname__', repr(generator))}"
    check = _checked(declared)
    at: Any = None
    next_number = 0

    def run(rows: list[Any]) -> list[bytes]:
        nonlocal at, next_number
        out: list[bytes] = []
        for number in rows:
            try:
                if at is None or number < next_number:
                    at, next_number = iter(generator(*args)), 0
                while next_number < number:
                    next(at)
                    next_number += 1
                with watch:
                    given = next(at)
                next_number += 1
            except StopIteration:
                return out
            except Exception as e:
                # A generator that raised has ended.
                at, next_number = iter(()), int(number) + 1
                out.append(_failed(_why(name, e)))
                continue
            try:
                out.append(_written(check(given)))
            except Exception as e:
                out.append(_failed(_why(name, e)))
        return out

    return run


def runner(shipped: bytes, watch: _Watch) -> Callable[[list[Any]], list[bytes]]:
    """The runner of that function or generator."""
    about = _shipping.unpack(shipped)
    make = generator_runner if about.kind == "generator" else function_runner
    return make(_shipping.load(about.program), about.declared, watch)


class _Watch:
    """Ends the process, by SIGALRM, if what is done within takes too long, whatever it hangs in."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __enter__(self) -> None:
        if self._seconds:
            signal.setitimer(signal.ITIMER_REAL, self._seconds)

    def __exit__(self, *_: object) -> None:
        if self._seconds:
            signal.setitimer(signal.ITIMER_REAL, 0)


def _end_with(pipe: int) -> None:
    """Ends this process, whatever it is doing, when nobody holds the other end of the pipe any more."""
    os.set_inheritable(pipe, False)
    fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(pipe, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([pipe], [], [], 0)[0]:
        os.kill(os.getpid(), signal.SIGKILL)  # it happened before


def main(memory: int, call_timeout: float, life: int) -> None:
    """Serves until standard input ends, or the other end of the pipe ``life`` is closed.

    memory: bytes, call_timeout: seconds; 0: no bound.
    """
    _end_with(life)
    if memory:
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    watch = _Watch(call_timeout)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What functions print goes to standard error, as standard output is for answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    known: dict[bytes, Callable[[list[Any]], list[bytes]]] = {}
    while True:
        try:
            number, name, shipped, rows, forgotten = pickle.loads(receive(sys.stdin.buffer))
        except EOFError:
            return
        if shipped is not None:
            try:
                known[name] = runner(shipped, watch)
            except Exception as e:
                why = f"py_function: {type(e).__name__} while it was set up: {e}\n{traceback.format_exc()}"
                known[name] = lambda rows, why=why: [_failed(why)] * len(rows)  # type: ignore[misc]
        done = known[name](rows)
        send(answers, b"".join((ANSWER.pack(number, len(done)), *done)))
        known.pop(forgotten, None)


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
