"""What the interpreter's exit ends."""

from __future__ import annotations

import atexit
import time
import weakref
from typing import Any

from . import _child, _core

#: Seconds: what servers have to end what runs there by themselves, and then to end.
_MOMENT = 0.3
_LIMIT = 1.0

_servers: weakref.WeakSet[Any] = weakref.WeakSet()


def stops_at_exit(server: Any) -> None:
    """``server._stop_within(seconds)`` is called when the interpreter exits, if it still lives."""
    _servers.add(server)


def _stop_all() -> None:
    if _core.is_orphan():
        return
    servers = list(_servers)

    def stop_within(seconds: float) -> None:
        limit = time.monotonic() + seconds
        for server in servers:
            server._stop_within(0.0)
        for server in servers:
            server._stop_within(max(0.0, limit - time.monotonic()))

    # In this order nobody hears of what is cut short here: no thread that reads, and nobody who reads from a server.
    _core.leave()
    stop_within(_MOMENT)
    _core.refuse_visits()
    _child.end_all()
    _core.await_threads()
    stop_within(_LIMIT)


def _register() -> None:
    atexit.register(_stop_all)
