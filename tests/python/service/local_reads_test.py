"""Reading from the workers of the trainer's own process."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import headrace as hr

service = hr.service


@pytest.fixture
def cluster():
    """A dispatcher, a worker in this process, and a worker in another process."""
    with service.DispatchServer() as dispatcher:
        target = dispatcher.target.split("://")[1]
        other = subprocess.Popen([sys.executable, "-m", "headrace", "worker", "--python", "--dispatcher", target],
                                 stdout=subprocess.PIPE, text=True)
        assert "listening" in other.stdout.readline()
        with service.WorkerServer(service.WorkerConfig(dispatcher.target, worker_tags=["COLOCATED"])):
            while dispatcher.num_workers() < 2:
                pass
            yield dispatcher
        other.terminate()
        other.wait(60)
        other.stdout.close()


def read(dispatcher, targets, mode="parallel_epochs", **more):
    ds = hr.Dataset.range(50).apply(service.distribute(mode, dispatcher.target, target_workers=targets, **more))
    return sorted(int(x) for x in ds)


@pytest.mark.parametrize("local", ["LOCAL", "local"])
def test_LocalReadsFromTheWorkerOfThisProcessAlone(cluster, local):
    assert read(cluster, local) == list(range(50))
    assert read(cluster, local, "distributed_epoch") == list(range(50))
    assert read(cluster, local, "distributed_epoch", job_name="named") == list(range(50))


def test_OthersReadFromBoth(cluster):
    assert read(cluster, "AUTO") == read(cluster, "ANY") == sorted([*range(50), *range(50)])


def test_AColocatedWorkerServesItsOwnProcessAlone(cluster):
    program = ("import headrace as hr; print(len(list(hr.Dataset.range(50).apply(hr.service.distribute("
               f"'parallel_epochs', {cluster.target!r}, target_workers='ANY')))))")
    assert subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, timeout=60).stdout == "50\n"


def test_WithoutAWorkerInThisProcessLocalIsAnError():
    with service.DispatchServer() as dispatcher:
        with pytest.raises(hr.errors.FailedPreconditionError, match="target_workers is LOCAL"):
            read(dispatcher, "LOCAL")


def test_AColocatedDeploymentReadsItsOwnShard():
    config = service.DispatcherConfig(worker_addresses=["localhost", "localhost"], deployment_mode="COLOCATED")
    with service.DispatchServer(config) as dispatcher, service.WorkerServer(service.WorkerConfig(dispatcher.target)):
        assert read(dispatcher, "AUTO", service.ShardingPolicy.DATA) == list(range(0, 50, 2))


def test_ElementsOfTheOwnWorkerAreWhole():
    with service.DispatchServer() as dispatcher, service.WorkerServer(service.WorkerConfig(dispatcher.target)):
        ds = hr.Dataset.range(5).map(lambda x: hr.fill([1000], x))
        got = list(ds.apply(service.distribute("distributed_epoch", dispatcher.target, target_workers="LOCAL")))
        assert sorted(int(np.asarray(x).sum()) for x in got) == [1000 * i for i in range(5)]
