"""The interpreter's exit, Ctrl-C and the stop of a worker do not wait for Python functions that run, and leave no
process behind.
"""

from __future__ import annotations

import os
import signal
import threading

import pytest

import headrace as hr
from programs import exit_takes, finish, start

HANGS = """
import os, sys, threading
import headrace as hr
S = hr.TensorSpec([], hr.int64)

def hangs(x):
    print(os.getpid(), file=sys.stderr, flush=True)  # it runs
    threading.Event().wait()

def generates():
    yield hangs(0)

read, write = os.pipe()
os.dup2(write, 2)
pids = os.fdopen(read)
"""

READS = {
    "py_function": "hr.Dataset.range(4).map(hr.py_function(hangs, S), num_parallel_calls=2)",
    "generator": "hr.Dataset.from_generator(generates, output_signature=S)",
    "worker": """hr.Dataset.range(4).map(hr.py_function(hangs, S)).apply(
        hr.service.distribute("off", dispatcher.target))""",
}
SERVICE = """
dispatcher = hr.service.DispatchServer()
worker = hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target))
"""


def has_ended(pid: int) -> bool:
    """True if the process does not exist, or is dead and its parent has not yet waited for it."""
    try:
        with open(f"/proc/{pid}/stat") as about:
            return about.read().rsplit(")", 1)[1].split()[0] in "ZX"
    except FileNotFoundError:
        return True


def wait_for_end(pid: int) -> None:
    # The time limit of the whole test run bounds this wait.
    while not has_ended(pid):
        os.sched_yield()


def reading(what: str) -> str:
    service = SERVICE if what == "worker" else ""
    return HANGS + service + f"threading.Thread(target=lambda: list({READS[what]}), daemon=True).start()\n"


@pytest.mark.parametrize("what", READS)
def test_ExitEndsCallsThatRun(what):
    idle = exit_takes("import headrace\nlist(headrace.Dataset.range(3))")
    # The last line waits until the call runs, so that the measured time begins then.
    assert exit_takes(reading(what) + "pids.readline()\n") < 1 + 10 * idle


@pytest.mark.parametrize("what", READS)
def test_NoProcessStaysWhenTheParentIsKilled(what):
    child = start(reading(what) + "print(pids.readline(), end='', flush=True)\nthreading.Event().wait()\n")
    pid = int(child.stdout.readline())
    assert not has_ended(pid)
    child.kill()
    finish(child)
    wait_for_end(pid)


@pytest.mark.parametrize("what", READS)
def test_CtrlCEndsTheProgramAndItsProcesses(what):
    service = SERVICE if what == "worker" else ""
    child = start(HANGS + service + f"""
threading.Thread(target=lambda: print(pids.readline(), end='', flush=True)).start()
try:
    list({READS[what]})
except KeyboardInterrupt:
    sys.exit(7)
""")
    pid = int(child.stdout.readline())
    child.send_signal(signal.SIGINT)
    assert finish(child)[:2] == (7, "")
    wait_for_end(pid)


def test_AStoppedWorkerEndsItsCalls(cluster, tmp_path):
    name = str(tmp_path / "runs")
    os.mkfifo(name)

    def hangs(x):
        with open(name, "w"):
            pass
        threading.Event().wait()

    dispatcher = hr.service.DispatchServer()
    worker = hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target))
    f = hr.py_function(hangs, hr.TensorSpec([], hr.int64))
    it = iter(hr.Dataset.range(4).map(f).apply(hr.service.distribute("off", dispatcher.target)))
    reader = threading.Thread(target=lambda: next(it, None), daemon=True)
    reader.start()
    with open(name):
        pass  # open() returns when `hangs` has opened the other end, so that its call runs now
    worker.stop()
    it.close()
    reader.join()
    dispatcher.stop()


def test_AProgramThatUsedAGeneratorExitsInOrder():
    program = """
        import headrace as hr
        S = hr.TensorSpec([], hr.int64)
        print(sum(1 for _ in hr.Dataset.from_generator(lambda: range(1000), output_signature=S)))
    """
    for _ in range(10):
        assert finish(start(program)) == (0, "1000\n", "")
