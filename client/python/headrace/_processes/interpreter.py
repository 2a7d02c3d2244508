"""Starts modules of this package in other Python interpreters."""

from __future__ import annotations

import sys

#: The arguments are the entries of ``sys.path``, one a line, and the name of the module. Only ``sys`` is imported
#: before ``sys.path`` is set, because ``sys`` is part of the interpreter and not read from a file.
_PROGRAM = ("import sys; sys.path[:] = sys.argv.pop(1).split('\\n'); import runpy; "
            "runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)")


def paths() -> list[str]:
    """The entries of ``sys.path`` from which modules are imported; an empty one is the working directory."""
    return [p for p in sys.path if isinstance(p, str)]


def command(module: str) -> list[str]:
    """The command that runs a module as ``python -m`` does, up to the arguments of the module.

    The other interpreter has the ``sys.path`` of this one, so it imports the modules beside a user's program.
    ``python -m`` would also import from the working directory, and before the standard library.
    """
    return [sys.executable, "-c", _PROGRAM, "\n".join(paths()), module]
