"""Finds the executable of the headrace command."""

from __future__ import annotations

from ..errors import FailedPreconditionError


def command() -> str:
    """The path of the headrace command. Raises ``FailedPreconditionError`` if this installation has none."""
    from ..__main__ import binary

    path = binary()
    if path is None:
        raise FailedPreconditionError("the headrace command is not in this installation: install the wheel, or set "
                                      "HEADRACE_COMMAND to its path")
    return path
