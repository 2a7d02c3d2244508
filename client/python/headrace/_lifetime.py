"""What the interpreter's exit ends."""

from __future__ import annotations

import atexit
import weakref
from typing import Any

from . import _core

_servers: weakref.WeakSet[Any] = weakref.WeakSet()


def stops_at_exit(server: Any) -> None:
    """``server.stop()`` is called when the interpreter exits, if it still lives."""
    _servers.add(server)


def _stop_all() -> None:
    if _core.is_orphan():
        return
    _core.close_all()
    for server in list(_servers):
        server.stop()


def _register() -> None:
    atexit.register(_stop_all)
