"""``headrace.dask`` on a real Dask cluster of several processes on this host."""

from __future__ import annotations

import os
import pathlib
import select
import signal
import subprocess
import sys

import pytest
from distributed import Client, LocalCluster

import headrace as hr

PATIENCE = 60


@pytest.fixture(scope="module")
def client():
    with LocalCluster(n_workers=3, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, resources={"data": 1}) as cluster:
        with Client(cluster) as client:
            yield client


def reads(service, total=1000):
    ds = hr.Dataset.range(total).map(lambda x: x * 2).apply(service.distribute("dynamic"))
    return sorted(map(int, ds)) == [2 * x for x in range(total)]


def alive(service):
    return [x for x in service.status()["workers"] if x["alive"]]


class Watched:
    """A process that was not started by the test's process."""

    def __init__(self, pid):
        self.descriptor = os.pidfd_open(pid)

    def ends(self):
        return bool(select.select([self.descriptor], [], [], PATIENCE)[0])


def pids(service):
    launcher = service._launcher
    return {place: launcher._actor(place, PATIENCE).pid().result(PATIENCE) for place in launcher.places()}


def test_AServiceRunsOnTheClustersWorkersAndLeavesNothing(client):
    with hr.dask.start(client, workers=2) as service:
        assert len(alive(service)) == 2 and reads(service)
        same = hr.py_function(lambda x: x + 1, hr.TensorSpec([], hr.int64))
        ds = hr.Dataset.range(10).map(same).apply(service.distribute("dynamic"))
        assert sorted(map(int, ds)) == list(range(1, 11))
        with pytest.raises(hr.errors.OpError):
            hr.service.status(service.address, timeout=1)
        parents = {int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1]) for pid in pids(service).values()}
        assert len(parents) == 3  # no two servers are children of one Dask worker
        watched = [Watched(pid) for pid in pids(service).values()]
    assert all(x.ends() for x in watched)


def _read_in_a_task(service, job):
    ds = hr.Dataset.range(1000).map(lambda x: x * 2).apply(service.distribute("dynamic", job_name=job))
    return sorted(map(int, ds)), service.num_workers


def _scale_in_a_task(service):
    try:
        service.scale(3)
    except hr.errors.FailedPreconditionError as error:
        return str(error)


def test_AServiceCanBePassedToTasks(client):
    with hr.dask.start(client, workers=2, python=False) as service:
        for job in ("one", "two"):
            parts = client.gather([client.submit(_read_in_a_task, service, job, pure=False) for _ in range(3)])
            assert sorted(x for part, _ in parts for x in part) == [2 * x for x in range(1000)]
            assert {workers for _, workers in parts} == {2}
        assert "by the program that called hr.dask.start" in client.submit(_scale_in_a_task, service).result(PATIENCE)
        assert service.num_workers == 2


def test_ItGrowsAndShrinks(client):
    with hr.dask.start(client, workers=1, python=False) as service:
        service.scale(3)
        assert service.num_workers == 3 == len(alive(service)) and reads(service)
        service.scale(1)
        assert service.num_workers == 1 == len(alive(service)) and reads(service)


def test_AWorkerThatHasNoPlaceIsNamed(client):
    with hr.dask.start(client, workers=2, resources={"data": 1}, python=False) as service:
        assert reads(service)
    with pytest.raises(hr.errors.DeadlineExceededError,
                       match="1 of 1 workers did not come: .* has 3 workers, and each server is for one with {'gpu': 1}"):
        hr.dask.start(client, resources={"gpu": 1}, timeout=3)


def test_AServersProcessDoesNotOutliveTheOneThatStartedIt(client):
    with hr.dask.start(client, workers=2, python=False) as service:
        server = pids(service)["worker-2"]
        watched = Watched(server)
        owner = int(open(f"/proc/{server}/stat").read().rpartition(")")[2].split()[1])
        os.kill(owner, signal.SIGKILL)
        assert watched.ends()
        assert reads(service)


def test_TheDocumentedCommandWorksAsItStands():
    text = (pathlib.Path(__file__).parents[2] / "docs" / "clusters.md").read_text()
    command = text.split("\n## Dask\n", 1)[1].split("```\n", 2)[1].splitlines()[1].replace("python3", sys.executable, 1)
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0 and done.stdout.startswith("127.0.0.1:"), (done.stdout, done.stderr)


def test_OtherClientsAreRefused():
    with pytest.raises(TypeError, match="client must be a dask.distributed.Client, not str"):
        hr.dask.start("scheduler:8786")
