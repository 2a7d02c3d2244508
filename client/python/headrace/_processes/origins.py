"""The Python functions of this program's graphs, which run in other processes."""

from __future__ import annotations

import hashlib
import itertools
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any

from ..errors import InvalidArgumentError

#: Functions with a larger shipped form, in bytes, are not shipped again when values that they use change.
_MOST_BYTES = 1 << 20
#: How often a function is shipped again whose values are changed by another thread meanwhile.
_TRIES = 10

_lock = threading.RLock()
_numbers = itertools.count(1)
_known: dict[int, tuple[Any, int]] = {}
#: All that exist.
_origins: weakref.WeakSet[Origin] = weakref.WeakSet()
_watchers: list[weakref.WeakMethod[Callable[[int], None]]] = []


def when_gone(call: Callable[[int], None]) -> None:
    """Registers a method that is called with the number of each function that is destroyed, as long as the object of
    the method lives.
    """
    _watchers.append(weakref.WeakMethod(call, _watchers.remove))


def _number_of(f: Any) -> int:
    """The number of a function, which the function object keeps as long as it lives. A method has the number of its
    object, as each access to a method makes another method object.
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
            pass  # the object does not support weak references, so it gets another number each time
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


def is_used(number: int, digest: bytes) -> bool:
    """True if a graph contains the function with this number, and the SHA-256 of the function's shipped form was
    ``digest`` in the last pass.
    """
    with _lock:
        origins = list(_origins)
    return any(origin.number == number and hashlib.sha256(origin._now[1]).digest() == digest for origin in origins)


class Origin:
    """Holds the function object of the program from which ``shipped`` was made. The graph owns the ``Origin``.

    at_each_pass: true if ``current`` is called once in each pass, false if it may be called for each element.
    """

    def __init__(self, f: Any, ship: Callable[..., bytes], at_each_pass: bool) -> None:
        self._f = f
        self._ship = ship
        self._at_each_pass = at_each_pass
        #: The number of the function. Functions with different numbers do not share state.
        self.number = _number_of(f)
        self.shipped = ship(f)
        self._now: tuple[int, bytes] = 0, self.shipped
        with _lock:
            _origins.add(self)

    def current(self, reading: int) -> bytes:
        """The shipped form of the function with the values of the variables and objects that it uses. If
        ``at_each_pass``, these are the present values; otherwise they are the values at the first call with this
        ``reading``, the number of the iteration.

        Raises ``InvalidArgumentError`` if the function uses a value by now that cannot be sent.
        """
        if len(self.shipped) > _MOST_BYTES:
            return self.shipped
        last, now = self._now
        if self._at_each_pass or reading != last:
            now = self._shipped_again()
            self._now = reading, now
        return now

    def _shipped_again(self) -> bytes:
        for _ in range(_TRIES):
            try:
                # The object of a method may by now keep the iterator of this very pass.
                return self._ship(self._f, without_iterators=True)
            except TypeError as e:
                why = e
                if not isinstance(e.__cause__, RuntimeError):  # raised for a dict that another thread changes meanwhile
                    break
        raise InvalidArgumentError(f"{why}. It could be sent when the dataset was made; what it uses has changed "
                                   "since. If an object has got such an attribute, keep it elsewhere, or leave it out "
                                   "in __getstate__") from why
