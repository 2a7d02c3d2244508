"""A server in a child process that ends with this process."""

from __future__ import annotations

import collections
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from .._processes import interpreter as _interpreter
from ..errors import DeadlineExceededError, FailedPreconditionError
from .certificates import CertificateFiles, Certificates
from .program import command

#: The seconds from SIGTERM to SIGKILL.
_GRACE = 5.0
_LAST_LINES = 10


class ServerPlan(NamedTuple):
    """The description of the server of a place. It can be pickled."""

    #: ``dispatcher`` or ``worker``.
    role: str
    #: Options of the command.
    arguments: tuple[str, ...]
    certificates: Certificates | None
    #: True: the worker runs Python functions, too.
    python: bool = False


def options_of(settings: dict[str, Any] | None, argument: str) -> list[str]:
    """The options of the command for settings by name, such as ``{"work_dir": "/tmp/x"}``. A list becomes repeated
    options, and True a flag; False and None are left out.
    """
    out = []
    for name, value in (settings or {}).items():
        if not isinstance(name, str) or not name.replace("_", "").isalnum():
            raise ValueError(f"{argument} must have names of settings, such as 'work_dir', not {name!r}")
        flag = "--" + name.replace("_", "-")
        if value is True:
            out.append(flag)
        elif value is not False and value is not None:
            out += [f"{flag}={one}" for one in (value if isinstance(value, (list, tuple)) else [value])]
    return out


class Server:
    """Runs a server in a child process. ``on_end`` is called with the exit code, by another thread, when the process
    ends and ``stop`` was not called.
    """

    def __init__(self, plan: ServerPlan, host: str, on_end: Callable[[int], None] | None = None) -> None:
        self._plan = plan
        self._files = None if plan.certificates is None else CertificateFiles(plan.certificates)
        self._on_end = on_end
        self._listens = threading.Event()
        self._address = ""
        self._lines: collections.deque[str] = collections.deque(maxlen=_LAST_LINES)
        self._stopped = False
        self._process: subprocess.Popen[str] | None = None
        self._started = threading.Event()
        self._error: BaseException | None = None
        argv = [*_interpreter.command("headrace"), "worker", "--python"] if plan.python else [command(), plan.role]
        argv += [f"--host={host}", *plan.arguments]
        if self._files is not None:
            argv += [f"--tls-cert={self._files.cert}", f"--tls-key={self._files.key}", f"--tls-ca={self._files.ca}"]
        # The kernel kills the server when the thread that started it ends. So a separate thread starts the server, and
        # waits until the server has ended.
        self._keeper = threading.Thread(target=self._keep, args=(argv,), daemon=True, name="headrace-server")
        self._keeper.start()
        self._started.wait()
        if self._error is not None:
            raise self._error

    def _keep(self, argv: list[str]) -> None:
        try:
            # HEADRACE_PARENT: the server ends when the process with this id ends.
            environment = {**os.environ, "HEADRACE_PARENT": str(os.getpid()), "HEADRACE_PORT_FILE": ""}
            process = subprocess.Popen(argv, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, text=True, encoding="utf-8",
                                       errors="backslashreplace")
        except OSError as error:
            self._error = error
            self._started.set()
            return
        self._process = process
        self._started.set()
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                begin, listening, address = line.partition(" listening on ")
                if listening and begin == self._plan.role and not self._listens.is_set():
                    self._address = address.strip()
                    self._listens.set()
                    continue
                self._lines.append(line.rstrip("\n"))
                print(line, end="", file=sys.stderr, flush=True)
        code = process.wait()
        self._listens.set()
        if self._on_end is not None and not self._stopped:
            self._on_end(code)

    @property
    def pid(self) -> int:
        """The server's process id."""
        assert self._process is not None
        return self._process.pid

    def address(self, timeout: float) -> str:
        """The ``host:port`` in the line ``... listening on ...`` of the server's output. Raises
        ``FailedPreconditionError`` with the last lines of output if the server ended before, and
        ``DeadlineExceededError`` after ``timeout`` seconds.
        """
        if not self._listens.wait(timeout):
            raise DeadlineExceededError(f"the {self._plan.role} did not listen within {timeout} s")
        if not self._address:
            raise FailedPreconditionError(f"the {self._plan.role} ended before it listened:\n" + "\n".join(self._lines))
        return self._address

    def stop(self) -> None:
        """Ends the server in order, or kills it if that takes too long."""
        self._stopped = True
        process = self._process
        if process is not None and process.poll() is None:
            process.terminate()
            try:
                process.wait(_GRACE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self._files is not None:
            self._files.close()
