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
    """Registers a server, which is stopped when the interpreter exits, if the object still exists then. All servers
    together first have as many seconds as the largest ``_stop_time()`` of one of them. Then the processes of Python
    functions are ended, and the servers have ``_LIMIT`` seconds more. ``_stop_within(seconds)``, which begins to stop a
    server and waits at most so long for its end, is called several times for each server.
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

    # Iterations end first, so that no thread that reads gets an error because its server or a process of Python
    # functions is gone. Servers stop before these processes end, so that no client gets an error of a Python function.
    _core.leave()
    stop_within(max((server._stop_time() for server in servers), default=0.0))
    _core.refuse_visits()
    _child.end_all()
    _core.await_threads()
    stop_within(_LIMIT)


def _register() -> None:
    atexit.register(_stop_all)
