"""The Python functions of this program's graphs, which run in other processes."""

from __future__ import annotations

import itertools
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any

#: The largest function, in bytes, that is looked at again at each pass.
_MOST_BYTES = 1 << 20

_lock = threading.RLock()
_numbers = itertools.count(1)
_known: dict[int, tuple[Any, int]] = {}
_watchers: list[weakref.WeakMethod[Callable[[int], None]]] = []


def when_gone(call: Callable[[int], None]) -> None:
    """Calls this method with the numbers of functions that are no more, as long as its object lives."""
    _watchers.append(weakref.WeakMethod(call, _watchers.remove))


def _number_of(f: Any) -> int:
    """Which object of this process it is: the same number for one object as long as it lives. Of a method that of its
    object, as each access to it makes another method.
    """
    holder = f.__self__ if isinstance(f, types.MethodType) else f
    with _lock:
        at = id(holder)
        found = _known.get(at)
        if found and found[0]() is holder:
            return found[1]
        number = next(_numbers)
        try:
            _known[at] = weakref.ref(holder, lambda ref: _forget(at, ref)), number
        except TypeError:
            pass  # no weak reference to it can be made: it has another number each time
        return number


def _forget(at: int, ref: Any) -> None:
    with _lock:
        found = _known.get(at)
        if not found or found[0] is not ref:
            return
        del _known[at]
    for watcher in list(_watchers):
        call = watcher()
        if call is not None:
            call(found[1])


class Origin:
    """The function of which ``shipped`` was made, as the program has it. The graph keeps it.

    at_each_pass: is it asked for once in each pass, and not with each element?
    """

    def __init__(self, f: Any, ship: Callable[[Any], bytes], at_each_pass: bool) -> None:
        self._f = f
        self._ship = ship
        self._at_each_pass = at_each_pass
        #: Functions with another number have states of their own.
        self.number = _number_of(f)
        self.shipped = ship(f)
        self._now: tuple[int, bytes] = 0, self.shipped

    def current(self, reading: int) -> bytes:
        """``shipped``, with the values that the function uses (variables, objects) as the program has them: now, or
        unless it is ``at_each_pass`` when the iteration with the number ``reading`` first asked.
        """
        if len(self.shipped) > _MOST_BYTES:
            return self.shipped
        last, now = self._now
        if self._at_each_pass or reading != last:
            try:
                now = self._ship(self._f)
            except Exception:
                now = self.shipped  # it has come to use what cannot be sent, or changes at this moment
            self._now = reading, now
        return now
