"""Functions for tests that run a program in another process."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time


def start(program: str) -> subprocess.Popen:
    """Starts the program in an interpreter of its own, with pipes for its input and output."""
    return subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)})


def finish(child: subprocess.Popen) -> tuple[int, str, str]:
    """Waits at most 60 s for the end of the process. Returns its exit code, its output and its error output."""
    out, err = child.communicate(timeout=60)
    return child.returncode, out, err


def exit_takes(program: str) -> float:
    """Seconds from the program's last line to the end of its process."""
    child = start(program + "\nimport time; print(time.monotonic(), flush=True)\n")
    code, out, err = finish(child)
    ended = time.monotonic()
    assert (code, err) == (0, "")
    return ended - float(out)
