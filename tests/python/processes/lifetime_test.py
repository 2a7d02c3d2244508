"""Forks, the interpreter's exit, and waits that a signal ends. All tests but one run a program in another process."""

from __future__ import annotations

import signal
import textwrap
import threading
import time

import headrace as hr
from programs import exit_takes, finish, start

NOBODY = """
import headrace as hr
dispatcher = hr.service.DispatchServer()
ds = hr.Dataset.range(5).apply(hr.service.distribute("off", dispatcher.target))
"""


def test_CtrlCEndsAWaitAndTheIteratorGoesOn():
    child = start(NOBODY + textwrap.dedent("""
        it = iter(ds)
        try:
            print("waiting", flush=True)
            next(it)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        worker = hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target))
        print([int(x) for x in it])
    """))
    assert child.stdout.readline() == "waiting\n"
    child.send_signal(signal.SIGINT)
    assert child.stdout.readline() == "interrupted\n"
    assert finish(child)[:2] == (0, "[0, 1, 2, 3, 4]\n")


def test_OtherThreadsRunWhileOneWaits():
    child = start(NOBODY + textwrap.dedent("""
        import threading
        got = []
        reader = threading.Thread(target=lambda: got.extend(int(x) for x in ds))
        reader.start()
        worker = hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target))
        reader.join()
        print(got)
    """))
    assert finish(child)[:2] == (0, "[0, 1, 2, 3, 4]\n")


def test_ExitWithOpenIteratorsAndServersEndsAtOnce():
    program = NOBODY + textwrap.dedent("""
        import threading
        worker = hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target))
        endless = iter(hr.Dataset.range(3).repeat().prefetch(2).apply(
            hr.service.distribute("off", dispatcher.target)))
        next(endless)
        local = iter(hr.Dataset.range(3).repeat().map(lambda x: x * x, num_parallel_calls=2).prefetch(2))
        next(local)
        python = iter(hr.Dataset.range(3).repeat().map(hr.py_function(lambda x: x, hr.TensorSpec([], hr.int64))))
        next(python)
        without_workers = hr.service.DispatchServer()
        waiting = iter(hr.Dataset.range(5).apply(hr.service.distribute("off", without_workers.target)))
        threading.Thread(target=lambda: list(waiting), daemon=True).start()
    """)
    # The limit is a second, and more on a machine on which even an idle interpreter takes long to end.
    idle = exit_takes("import headrace\nlist(headrace.Dataset.range(3))")
    assert exit_takes(program) < 1 + 10 * idle


def test_AForkedChildIsToldToSpawn():
    child = start("""
        import os
        import headrace as hr
        it = iter(hr.Dataset.range(3))
        next(it)
        pid = os.fork()
        if pid == 0:
            for use in (lambda: next(it), lambda: list(hr.Dataset.range(3)), hr.service.DispatchServer):
                try:
                    use()
                    print("worked")
                except hr.errors.FailedPreconditionError as e:
                    print("spawn" in str(e))
            del it
            raise SystemExit(0)
        print(os.waitpid(pid, 0)[1], [int(x) for x in it])
    """)
    code, out, err = finish(child)
    assert (code, out.splitlines(), err) == (0, ["True", "True", "True", "0 [1, 2]"], "")


def test_AForkBeforeTheFirstUseWorks():
    child = start("""
        import os
        import headrace as hr
        ds = hr.Dataset.range(3).map(lambda x: x + 1)
        pid = os.fork()
        if pid:
            print(os.waitpid(pid, 0)[1], flush=True)
        print([int(x) for x in ds], flush=True)
    """)
    assert finish(child)[:2] == (0, "[1, 2, 3]\n0\n[1, 2, 3]\n")


SILENT = """
import socket
import headrace as hr
silent = socket.create_server(("127.0.0.1", 0))  # takes connections, and says nothing
address = "127.0.0.1:%d" % silent.getsockname()[1]
"""


def interrupted(program: str, wait: str) -> None:
    """Checks that Ctrl-C ends the statement ``wait`` about as fast as a wait of Python itself."""
    child = start(program + textwrap.dedent(f"""
        import time
        for wait in (lambda: time.sleep(600), lambda: {wait}):
            try:
                print("waiting", flush=True)
                wait()
            except KeyboardInterrupt:
                print(time.monotonic(), flush=True)
    """))
    took = []
    for _ in range(2):
        assert child.stdout.readline() == "waiting\n"
        sent = time.monotonic()
        child.send_signal(signal.SIGINT)
        took.append(float(child.stdout.readline()) - sent)
    assert finish(child)[:2] == (0, "")
    assert took[1] < 1 + 10 * took[0]


def test_CtrlCEndsJoin():
    interrupted(NOBODY, "dispatcher.join()")


def test_CtrlCEndsConnecting():
    interrupted(SILENT, "list(hr.Dataset.range(3).apply(hr.service.distribute('off', address)))")
    interrupted(SILENT, "hr.service.register_dataset(address, hr.Dataset.range(3))")
    interrupted(SILENT, "hr.service.status(address, timeout=600)")


def test_CtrlCEndsAPause():
    interrupted("import headrace as hr\n",
                "list(hr.Dataset.range(3).apply(hr.experimental.sleep(86_400_000_000)))")


def test_CtrlCEndsAWaitForPython():
    # The dataset is made before the wait, because making it imports modules: after an interrupt in an import that
    # runs exec(), CPython ends with SIGINT even if the interrupt is caught.
    interrupted("import headrace as hr, time\n"
                "ds = hr.Dataset.range(3).map(hr.py_function(lambda x: time.sleep(600), hr.int64))\n", "list(ds)")


def test_NothingIsLeakedAtExit():
    child = start("""
        import headrace as hr
        hr._core.report_leaks()
        dispatcher = hr.service.DispatchServer()
        worker = hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target))
        ds = hr.Dataset.range(100).map(lambda x: {"x": x, "y": hr.fill([3], x)}).batch(7)
        kept = list(ds) + list(ds.apply(hr.service.distribute("off", dispatcher.target)))
        python = list(hr.Dataset.range(5).map(hr.py_function(lambda x: x + 1, hr.TensorSpec([], hr.int64))))
        try:
            list(hr.Dataset.range(3).map(lambda x: 1 // x))
        except hr.errors.InvalidArgumentError:
            pass
        try:
            hr.Dataset.range(3).map(lambda x: float(x))
        except TypeError:
            pass
        open_still = iter(ds.repeat())
        next(open_still)
        it = iter(ds)
        record = it.save()
        print(len(list(ds.restore(record))), len(kept), len(python))
    """)
    assert finish(child) == (0, "15 30 5\n", "")


def test_SeveralThreadsMayShareAnIterator():
    it = iter(hr.Dataset.range(2000).map(lambda x: x))
    got: list[list[int]] = [[], [], []]

    def read(into):
        for x in it:
            into.append(int(x))

    threads = [threading.Thread(target=read, args=(g,)) for g in got]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(sum(got, [])) == list(range(2000))
    assert all(g == sorted(g) for g in got)
