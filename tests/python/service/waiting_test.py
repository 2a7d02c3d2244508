"""Iterators that wait for a service without a thread for each of them."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

import headrace as hr
from programs import finish, start

SERVERS = """
import sys
import headrace as hr
dispatcher = hr.service.DispatchServer()
worker = hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target))
print(dispatcher.target, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def elsewhere():
    """A service in a process of its own."""
    child = start(SERVERS)
    yield child.stdout.readline().strip()
    finish(child)


def threads():
    return len(os.listdir("/proc/self/task"))


def test_WhatReadsAServiceHasNoThreadOfItsOwn(elsewhere):
    ds = hr.Dataset.range(10**9).apply(hr.service.distribute("off", elsewhere, max_outstanding_requests=1000))
    first = iter(ds)
    next(first)
    alone = threads()
    many = [iter(ds) for _ in range(20)]
    for _ in range(300):
        for it in many:
            next(it)
    # The threads that opened the iterators end by themselves.
    limit = time.monotonic() + 60
    while threads() > alone + 10 and time.monotonic() < limit:
        os.sched_yield()
    assert threads() <= alone + 10
    for it in (first, *many):
        it.close()
        assert list(it) == []


def test_AnIteratorThatWaitsForAServiceCanBeInterruptedClosedAndLeft(tmp_path):
    child = start(f"""
        import os, threading
        import headrace as hr
        gate = {str(tmp_path / "gate")!r}
        os.mkfifo(gate)
        dispatcher = hr.service.DispatchServer()
        worker = hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target))

        def waits(x):
            if x == 10_000:
                open(gate).close()  # until somebody writes
            return x

        ds = hr.Dataset.range(20_000).map(hr.py_function(waits, hr.TensorSpec([], hr.int64)))
        ds = ds.apply(hr.service.distribute("off", dispatcher.target))
        it = iter(ds)
        got = [int(next(it)) for _ in range(10)]
        try:
            print("waiting", flush=True)
            while True:
                got.append(int(next(it)))
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        open(gate, "w").close()
        got += [int(x) for x in it]
        # The interrupt may lose an element that next has returned, before it is appended.
        print(got == sorted(set(got)) and len(got) in (19_999, 20_000))

        it = iter(ds)
        got = [int(next(it))]
        failed = []
        def read():
            try:
                got.extend(int(x) for x in it)
            except Exception as e:
                failed.append(e)
        reader = threading.Thread(target=read)
        reader.start()
        # The reader will wait at element 10,000; here it still reads the elements before that.
        while len(got) < 5_000 and reader.is_alive():
            os.sched_yield()
        it.close()
        reader.join()
        print(got == list(range(len(got))), len(got) <= 10_000, list(it), failed)

        it = iter(ds)
        next(it)
        threading.Thread(target=lambda: list(it), daemon=True).start()
        print("leaving")
    """)
    limit = threading.Timer(100, child.kill)
    limit.start()
    assert child.stdout.readline() == "waiting\n"
    child.send_signal(signal.SIGINT)
    assert child.stdout.readline() == "interrupted\n"
    assert finish(child)[:2] == (0, "True\nTrue True [] []\nleaving\n")
    limit.cancel()


def test_WhoeverWaitsForAServiceSeesTheEndWhenItIsClosed(elsewhere):
    failed = []

    def read(it):
        try:
            for _ in it:
                pass
        except Exception as e:
            failed.append(e)

    ds = hr.Dataset.range(10**9).batch(64).apply(hr.service.distribute("off", elsewhere))
    for _ in range(60):
        it = iter(ds)
        next(it)
        reader = threading.Thread(target=read, args=(it,))
        reader.start()
        it.close()
        reader.join()
    assert not failed


def test_AWaitForADispatcherIsInterruptedAtOnce():
    child = start("""
        import socket, sys
        import headrace as hr
        # The server of this test closes each connection, as a service does that has not started yet.
        nobody = socket.create_server(("127.0.0.1", 0))
        import threading
        visits = threading.Semaphore(0)
        def close():
            while True:
                nobody.accept()[0].close()
                visits.release()
        threading.Thread(target=close, daemon=True).start()
        target = "127.0.0.1:%d" % nobody.getsockname()[1]
        service = hr.service
        for wait in (lambda: service.register_dataset(target, hr.Dataset.range(3), timeout=3600),
                     lambda: service.from_dataset_id("off", target, "x", worker_timeout=3600),
                     lambda: next(iter(hr.Dataset.range(3).apply(service.distribute("off", target, worker_timeout=3600)))),
                     lambda: next(iter(hr.Dataset.range(3).apply(service.distribute("off", target, worker_timeout=3600)).batch(2)))):
            def say():
                for _ in range(3):
                    visits.acquire()
                print("waiting", flush=True)
            threading.Thread(target=say, daemon=True).start()
            try:
                wait()
            except KeyboardInterrupt:
                print("interrupted", flush=True)
    """)
    limit = threading.Timer(100, child.kill)
    limit.start()
    for _ in range(4):
        assert child.stdout.readline() == "waiting\n"
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "interrupted\n"
    began = time.monotonic()
    assert finish(child)[:2] == (0, "")
    assert time.monotonic() - began < 30, "it waited at its end"
    limit.cancel()
