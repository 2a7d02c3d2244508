"""Functions for tests of ``headrace run``: all nodes of a run are addresses of this host."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys

import pytest

COMMAND = os.environ.get("HEADRACE_COMMAND", "")
needs_command = pytest.mark.skipif(not COMMAND, reason="HEADRACE_COMMAND is not set")

LAUNCHERS = ("SLURM", "OMPI", "PMI", "MPI_", "PSSH", "HEADRACE_SERVICE", "RANK", "WORLD_SIZE", "LOCAL_", "TORCHELASTIC")
PATIENCE = 60

#: A program that prints a line when it runs, and then waits for a line of input.
WAITS = "import sys; print('here', flush=True); sys.stdin.readline()"
#: A program that reads through all workers of the service, and prints whether all elements came, and the number of
#: workers.
TRAIN = """
import headrace as hr
ds = hr.Dataset.range(100).apply(hr.service.distribute("distributed_epoch"))
print(sorted(map(int, ds)) == list(range(100)), len(hr.service.status()["workers"]), flush=True)
"""


def environment(**more):
    # Heartbeats are frequent, because a worker gets the request to leave as the answer to a heartbeat.
    return {"HEADRACE_HEARTBEAT": "100ms", "HEADRACE_HTTP_PORT": "off", **{k: v for k, v in os.environ.items() if not k.startswith(LAUNCHERS)}, **more}


@pytest.fixture
def start(tmp_path):
    """A function that starts ``headrace run`` with the given arguments in an empty folder. The processes that still
    run at the end of the test are killed."""
    with contextlib.ExitStack() as stack:
        def begin(*arguments, ignore=None, **variables):
            process = stack.enter_context(subprocess.Popen([os.path.abspath(COMMAND), "run", *map(str, arguments)], cwd=tmp_path, text=True,
                                                           env=environment(**variables), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                                           stderr=subprocess.PIPE,
                                                           preexec_fn=ignore and (lambda: signal.signal(ignore, signal.SIG_IGN))))
            stack.callback(process.kill)
            return process
        yield begin


def ended(process):
    out, errors = process.communicate(timeout=PATIENCE)
    return process.returncode, out, errors


def python(program):
    return ("--", sys.executable, "-c", program)


class Watched:
    """A process that the test did not start itself, and whose end it can wait for."""

    def __init__(self, pid):
        self.descriptor = os.pidfd_open(pid)

    def ends(self):
        return bool(select.select([self.descriptor], [], [], PATIENCE)[0])


def node(rank, of, rendezvous):
    return ("--nodes", of, "--node-rank", rank, "--host", f"127.0.0.{rank + 1}", "--rendezvous", rendezvous)


@pytest.fixture
def address():
    """An address of this host at which no process listens."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{one.getsockname()[1]}"


@pytest.fixture
def tls(tmp_path):
    """Options for TLS."""
    subprocess.run([os.path.abspath(COMMAND), "certificates", "tls"], cwd=tmp_path, check=True, timeout=PATIENCE)
    return ("--tls-cert", "tls/host.pem", "--tls-key", "tls/host.key", "--tls-ca", "tls/ca.pem")
