"""``python -m headrace``, and the script ``headrace``: the command line."""

from __future__ import annotations

import os
import sys


def binary() -> str | None:
    """The path of the command's executable: in this package, or else as HEADRACE_COMMAND gives it. None: there is no
    executable.
    """
    here = os.path.dirname(os.path.abspath(__file__))
    for path in (os.path.join(here, "bin", "headrace"), os.environ.get("HEADRACE_COMMAND", "")):
        if path and os.access(path, os.X_OK):
            return path
    return None


def _end_with_parent() -> None:
    """Lets this process end when its parent process ends, if HEADRACE_PARENT contains the parent's id. The function
    ``main`` of the executable does the same.
    """
    parent = os.environ.pop("HEADRACE_PARENT", "")
    if not parent:
        return
    import ctypes
    import signal

    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
    if str(os.getppid()) != parent:
        os._exit(1)


def main() -> int:
    """Runs the command with this process's arguments."""
    _end_with_parent()
    arguments = sys.argv[1:]
    if arguments[:1] == ["worker"] and "--python" in arguments:
        from ._worker_command import run

        return run([a for a in arguments[1:] if a != "--python"])
    program = binary()
    if program is None:
        print("headrace: the command's program is not in this installation", file=sys.stderr)
        return 1
    # The variable sets the interpreter for the workers of `headrace run --python`.
    os.environ.setdefault("HEADRACE_PYTHON", sys.executable)
    os.execv(program, ["headrace", *arguments])


if __name__ == "__main__":
    sys.exit(main())
