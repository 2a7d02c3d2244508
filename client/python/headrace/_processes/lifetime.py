"""Ends servers, processes and iterations when the interpreter exits."""

from __future__ import annotations

import atexit
import time
import weakref
from typing import Any

from . import child as _child
from .. import _core

#: The seconds that servers have to stop after the processes of Python functions were ended.
_LIMIT = 1.0

_servers: weakref.WeakSet[Any] = weakref.WeakSet()


def stops_at_exit(server: Any) -> None:
    """Registers a server, which the exit of the interpreter stops if the object still exists: all servers together have
    the largest ``_stop_time()`` of a server, and then ``_LIMIT`` seconds more after the processes of Python functions
    were ended. ``_stop_within(seconds)`` is called several times.
    """
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

    # In this order no thread that reads, and no client of a server, gets an error because of the
    # exit.
    _core.leave()
    stop_within(max((server._stop_time() for server in servers), default=0.0))
    _core.refuse_visits()
    _child.end_all()
    _core.await_threads()
    stop_within(_LIMIT)


def _register() -> None:
    atexit.register(_stop_all)
