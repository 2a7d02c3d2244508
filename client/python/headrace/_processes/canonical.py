"""Pickles of Python functions that are the same in every process of a program.

A set of strings has another order in each process (``PYTHONHASHSEED``), and its pickle contains this order. A graph
with a function that uses such a set would have another fingerprint in each trainer: the trainers would not share a job,
and a trainer that is started again could not continue a save. So sets in a function's code, free variables or globals
are pickled in a sorted order. Sets at deeper places, such as attributes of objects, are pickled in their own order.
"""

from __future__ import annotations

import io
import types
from typing import Any

import cloudpickle

from .absent import AbsentIterator
from .. import _core

_ATOMS = (str, bytes, int, float, complex, bool, type(None))


def dumps(made: Any, without_iterators: bool = False) -> bytes:
    """The result of ``cloudpickle.dumps``, with sets in a sorted order. ``without_iterators``: an ``AbsentIterator``
    stands for each iterator of a dataset, which cannot be pickled.
    """
    out = io.BytesIO()
    _Pickler(out, without_iterators).dump(made)
    return out.getvalue()


class _Sorted:
    """Stands for a set, and is pickled as that set with its members in order."""

    def __init__(self, of: Any) -> None:
        self._of = of

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self._of), (sorted(self._of, key=_rank),)


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    def __init__(self, file: Any, without_iterators: bool) -> None:
        super().__init__(file)
        self._without_iterators = without_iterators
        # There is one object for each set, so that several references to a set remain references to
        # one object in the pickle. The objects keep the sets, as a later set could otherwise have the same id.
        self._sorted: dict[int, _Sorted] = {}

    def reducer_override(self, obj: Any) -> Any:
        if self._without_iterators and isinstance(obj, _core.Iterator):
            return AbsentIterator, ()
        if isinstance(obj, types.CodeType):
            make, args = self.dispatch_table[types.CodeType](obj)
            # Later versions of cloudpickle replace the name of the file. It is put back, because tracebacks show it.
            return make, tuple("".join(obj.co_filename) if x == "<dynamic-code>" else self._in_order(x) for x in args)
        if isinstance(obj, types.CellType):
            make, args = self.dispatch_table[types.CellType](obj)
            return make, tuple(self._in_order(x) for x in args)
        made = super().reducer_override(obj)
        if isinstance(obj, types.FunctionType) and isinstance(made, tuple):
            return self._function(made)
        return made

    def _function(self, made: tuple[Any, ...]) -> tuple[Any, ...]:
        """The reduction of a function, with sorted sets in its globals, defaults and other attributes."""
        if len(made) < 3 or not isinstance(made[2], tuple):
            return made
        state = []
        for part in made[2]:
            if isinstance(part, dict):
                part = {name: self._in_order(value) for name, value in part.items()}
                if isinstance(part.get("__globals__"), dict):
                    part["__globals__"] = {k: self._in_order(v) for k, v in part["__globals__"].items()}
            state.append(part)
        return (*made[:2], tuple(state), *made[3:])

    def _in_order(self, value: Any) -> Any:
        if type(value) in (set, frozenset):
            if len(value) < 2 or not all(map(_is_atomic, value)):
                return value
            return self._sorted.setdefault(id(value), _Sorted(value))
        # A tuple with sets may be the constants of a code object, or the defaults of a function's arguments.
        if type(value) is tuple and any(type(x) in (set, frozenset, tuple) for x in value):
            return tuple(self._in_order(x) for x in value)
        return value


def _is_atomic(value: Any) -> bool:
    return type(value) in _ATOMS or (type(value) is tuple and all(map(_is_atomic, value)))


def _rank(value: Any) -> tuple[str, str]:
    return type(value).__name__, repr(value)
