"""Workers that leave because a program drains them, and workers that the dispatcher refuses."""

from __future__ import annotations

import subprocess
import sys

import pytest

import headrace as hr

service = hr.service


def python_worker(target):
    return subprocess.Popen([sys.executable, "-m", "headrace", "worker", "--python", "--dispatcher",
                             target.split("://")[1]], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_AWorkerLeavesAndItsServerIsOver():
    with service.DispatchServer() as dispatcher:
        with service.WorkerServer(service.WorkerConfig(dispatcher.target)) as worker:
            service.drain_worker(dispatcher.target, worker.address)
            worker.join()  # must raise nothing
        assert [w["state"] for w in service.status(dispatcher.target)["workers"]] == ["left"]


def test_AWorkersProcessEndsInOrder():
    with service.DispatchServer() as dispatcher:
        worker = python_worker(dispatcher.target)
        address = worker.stdout.readline().split()[-1]
        service.drain_worker(dispatcher.target, address)
        assert worker.wait(30) == 0


def test_ErrorsSayWhatIsThere():
    # A dispatcher answers that there is no such worker only when worker_timeout_ms has passed since its start,
    # because workers of an earlier dispatcher could register until then.
    config = service.DispatcherConfig(worker_timeout_ms=200)
    with service.DispatchServer(config) as dispatcher:
        with service.WorkerServer(service.WorkerConfig(dispatcher.target)) as worker:
            with pytest.raises(hr.errors.NotFoundError, match=f"there are: 1 at {worker.address}"):
                service.drain_worker(dispatcher.target, "127.0.0.1:1")
        with pytest.raises(hr.errors.InvalidArgumentError, match="neither the address of a worker"):
            service.drain_worker(dispatcher.target, "mine")
    with pytest.raises(hr.errors.UnavailableError):
        service.drain_worker("127.0.0.1:1", "1")


def test_AWorkerThatIsNotInTheListIsOver():
    with service.DispatchServer(service.DispatcherConfig(worker_addresses=["elsewhere"])) as dispatcher:
        with service.WorkerServer(service.WorkerConfig(dispatcher.target)) as worker:
            with pytest.raises(hr.errors.PermissionDeniedError, match="not among the worker_addresses"):
                worker.join()
        process = python_worker(dispatcher.target)
        _, said = process.communicate(timeout=30)
        assert process.returncode == 1
        assert "not among the worker_addresses" in said
