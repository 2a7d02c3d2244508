"""``headrace.ray`` on a real Ray cluster of several nodes, all on this host and on loopback."""

from __future__ import annotations

import os
import pathlib
import select
import signal
import subprocess
import sys
import textwrap
import time

import pytest
import ray
from ray.cluster_utils import Cluster
from ray.util.placement_group import placement_group, remove_placement_group

import headrace as hr

PATIENCE = 120
NODES = 3


@pytest.fixture(scope="module")
def cluster():
    """Three nodes of two CPUs."""
    there = Cluster()
    for n in range(NODES):
        there.add_node(node_ip_address=f"127.0.0.{n + 2}", num_cpus=2, memory=1 << 30, object_store_memory=100 << 20,
                       include_dashboard=False, resources={f"node{n}": 1})
    ray.init(address=there.address, _node_ip_address="127.0.0.2", log_to_driver=False)
    yield there
    ray.shutdown()
    there.shutdown()


pytestmark = pytest.mark.usefixtures("cluster")


def reads(service, total=1000):
    ds = hr.Dataset.range(total).map(lambda x: x * 2).apply(service.distribute("dynamic"))
    return sorted(map(int, ds)) == [2 * x for x in range(total)]


def alive(service):
    return [x for x in service.status()["workers"] if x["alive"]]


class Watched:
    """A process that the test did not start itself, and whose end it can wait for."""

    def __init__(self, pid):
        self.descriptor = os.pidfd_open(pid)

    def ends(self):
        return bool(select.select([self.descriptor], [], [], PATIENCE)[0])


def pids(service):
    """The process ids of all servers, by place."""
    launcher = service._launcher
    return {place: launcher.call(place, "pid", timeout=PATIENCE) for place in launcher.places()}


def nodes_of(service):
    handles = [service._launcher.handle(x) for x in service._workers()]
    return {ray.get(h.__ray_call__.remote(lambda self: ray.get_runtime_context().get_node_id())) for h in handles}


def free_cpus():
    return ray.available_resources().get("CPU", 0)


def until(good, what):
    """Waits until ``good()`` is true: Ray and the dispatcher notice changes of processes only some time later."""
    end = time.monotonic() + PATIENCE
    while not good():
        assert time.monotonic() < end, f"it did not come: {what}"
        time.sleep(0.05)


def await_free(cpus):
    until(lambda: free_cpus() >= cpus, f"{cpus} free CPUs")


def test_AServiceRunsOnTheNodesThatTheStrategySaysAndLeavesNothing():
    with hr.ray.start(workers=3, cpus_per_worker=1, memory_per_worker="100MiB", strategy="SPREAD") as service:
        assert service.num_workers == 3 and len(nodes_of(service)) == NODES
        assert len(alive(service)) == 3 and reads(service)
        until(lambda: free_cpus() == 2 * NODES - 3, "the workers' CPUs are taken")
        until(lambda: ray.available_resources()["memory"] == NODES * (1 << 30) - 3 * 100 * (1 << 20), "their memory, too")
        # Without the certificate the service refuses the request.
        with pytest.raises(hr.errors.OpError):
            hr.service.status(service.address, timeout=1)
        watched = [Watched(pid) for pid in pids(service).values()]
        assert len(watched) == 4
    assert all(x.ends() for x in watched)
    await_free(2 * NODES)
    assert ray.util.list_named_actors(all_namespaces=True) == []


def test_PythonFunctionsRunOnItsWorkers():
    with hr.ray.start(workers=2) as service:
        same = hr.py_function(lambda x: x + 1, hr.TensorSpec([], hr.int64))
        ds = hr.Dataset.range(10).map(same).apply(service.distribute("dynamic"))
        assert sorted(map(int, ds)) == list(range(1, 11))


def test_WorkersCanBeThoseOfThePlainCommandAndServersHaveSettings(tmp_path):
    with hr.ray.start(workers=2, python=False, memory_per_worker="900MiB", worker_options={"tag": "plain"},
                      dispatcher_options={"work_dir": tmp_path / "work"}) as service:
        assert service.status()["work_dir"] == str(tmp_path / "work")
        assert [x["tags"] for x in alive(service)] == [["plain"]] * 2 and reads(service)


def test_ItGrowsAndShrinks():
    with hr.ray.start(workers=1) as service:
        service.scale(4)
        assert service.num_workers == 4 == len(alive(service)) and reads(service)
        service.scale(2)
        assert service.num_workers == 2 == len(alive(service)) and reads(service)
        assert sum(x["state"] == "left" for x in service.status()["workers"]) == 2
        service.scale(2)
        await_free(2 * NODES - 2)


def test_ItFollowsTheNumberThatTheDispatcherWants(monkeypatch):
    from headrace._launching import launched

    monkeypatch.setattr(launched, "_FOLLOW", 0.1)
    monkeypatch.setattr(launched, "_SETTLING", 0.0)
    monkeypatch.setattr(launched, "_PATIENCE", 0.1)
    wanted = [None]
    monkeypatch.setattr(launched.LaunchedService, "wanted_workers", lambda self: wanted[0])
    with hr.ray.start(workers=(1, 3)) as service:
        assert service.num_workers == 1
        for number, comes in ((9, 3), (2, 2), (0, 1)):
            wanted[0] = number
            until(lambda n=comes: len(alive(service)) == n, f"{comes} workers")
            assert reads(service)


def test_WorkersThatHaveNoPlaceAreGivenUpAndTheErrorSaysWhatIsFree():
    with hr.ray.start(workers=1, cpus_per_worker=2) as service:
        with pytest.raises(hr.errors.DeadlineExceededError, match="2 of 5 workers did not come: .*Each worker takes .*free: {'CPU': 0,"):
            service.scale(5, timeout=5)
        assert service.num_workers == 3 and reads(service)
    with pytest.raises(hr.errors.OpError, match="1 of 1 workers did not come"):
        hr.ray.start(workers=1, cpus_per_worker=5, timeout=5)
    assert ray.util.list_named_actors(all_namespaces=True) == []


def test_AWorkerWhoseProcessIsKilledComesAgain():
    with hr.ray.start(workers=2) as service:
        before = {x["address"] for x in alive(service)}
        first = pids(service)["worker-1"]
        os.kill(first, signal.SIGKILL)
        until(lambda: {x["address"] for x in alive(service)} - before and len(alive(service)) == 2, "a new worker")
        assert reads(service)


def test_AServersProcessDoesNotOutliveItsActor():
    with hr.ray.start(workers=2) as service:
        server = Watched(pids(service)["worker-2"])
        actor = ray.get(service._launcher.handle("worker-2").__ray_call__.remote(lambda self: os.getpid()))
        os.kill(actor, signal.SIGKILL)
        assert server.ends()
        until(lambda: len(alive(service)) == 2, "the second worker")
        assert reads(service)


def test_ServersRunInAPlacementGroup():
    group = placement_group([{"CPU": 1, "node1": 0.1}, {"CPU": 1, "node1": 0.1}], strategy="STRICT_PACK")
    ray.get(group.ready())
    with hr.ray.start(workers=2, placement_group=group) as service:
        assert len(nodes_of(service)) == 1 and reads(service)
        with pytest.raises(hr.errors.DeadlineExceededError):
            service.scale(3, timeout=3)  # the placement group has no further bundle
    remove_placement_group(group)
    with pytest.raises(ValueError, match="do not go together"):
        hr.ray.start(placement_group=group, strategy="SPREAD")


OTHER = """
import ray, sys
import headrace as hr
ray.init(address=sys.argv[1], _node_ip_address="127.0.0.2", log_to_driver=False)
"""


def other_program(cluster, text):
    done = subprocess.run([sys.executable, "-c", OTHER + textwrap.dedent(text), cluster.address], capture_output=True, text=True,
                          timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_ADetachedServiceOutlivesItsProgramAndIsFoundByItsName(cluster):
    other_program(cluster, """
        hr.ray.start(workers=2, name="kept", lifetime="detached")
        hr.ray.start(workers=1, name="not-kept")
    """)
    service = hr.ray.connect("kept")
    assert reads(service) and service.num_workers == 2 and hr.ray.connect("kept") is service
    service.scale(3)
    with pytest.raises(hr.errors.AlreadyExistsError, match=r"hr.ray.connect\('kept'\) finds it"):
        hr.ray.start(name="kept")

    def is_gone():
        try:
            hr.ray.connect("not-kept")
        except hr.errors.NotFoundError as error:
            assert str(error).startswith("there is no service 'not-kept' on this Ray cluster; there is: kept")
            return True
        except hr.errors.OpError:
            pass
        return False

    until(is_gone, "Ray ends the other one with its program")
    service.stop()
    await_free(2 * NODES)


def test_TasksReadFromAServiceThatIsGivenToThem():
    @ray.remote(num_cpus=0)
    def count(service, total):
        ds = hr.Dataset.range(total).apply(service.distribute("dynamic", job_name="shared"))
        return sum(1 for _ in ds)

    with hr.ray.start(workers=2) as service:
        assert sum(ray.get([count.remote(service, 1000) for _ in range(3)])) == 1000


def test_RayTrainWorkersReadFromAServiceThatTheyConnectTo(tmp_path):
    from ray.train import RunConfig, ScalingConfig
    from ray.train.v2.api.data_parallel_trainer import DataParallelTrainer

    def train_loop(config):
        import ray.train

        service = hr.ray.connect(config["service"])
        ds = hr.Dataset.range(1000).apply(service.distribute("dynamic", job_name="epoch-1"))
        seen = [int(x) for x in ds]
        with open(f"{config['folder']}/{ray.train.get_context().get_world_rank()}", "w") as out:
            out.write(" ".join(map(str, seen)))

    with hr.ray.start(workers=2, name="for-train") as service:
        trainer = DataParallelTrainer(train_loop, train_loop_config={"service": service.name, "folder": str(tmp_path)},
                                      scaling_config=ScalingConfig(num_workers=2, resources_per_worker={"CPU": 0.5}),
                                      run_config=RunConfig(storage_path=str(tmp_path / "run")))
        trainer.fit()
    parts = [[int(x) for x in (tmp_path / str(rank)).read_text().split()] for rank in range(2)]
    assert sorted(parts[0] + parts[1]) == list(range(1000))


def test_TheDocumentedCommandWorksAsItStands(cluster):
    text = (pathlib.Path(__file__).parents[2] / "docs" / "clusters.md").read_text()
    command = text.split("\n## Ray\n", 1)[1].split("```\n", 2)[1].splitlines()[1].replace("python3", sys.executable, 1)
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=PATIENCE,
                          env={**os.environ, "RAY_ADDRESS": cluster.address, "RAY_LOG_TO_DRIVER": "0"})
    assert done.returncode == 0 and done.stdout.splitlines()[-1].endswith(" 2"), (done.stdout, done.stderr)


@pytest.mark.parametrize("arguments, error", [
    ({"workers": (3, 2)}, ValueError), ({"workers": "2"}, TypeError), ({"workers": 0}, ValueError),
    ({"strategy": "SPREDA"}, ValueError), ({"strategy": 3}, ValueError), ({"lifetime": "long"}, ValueError), ({"memory_per_worker": "lots"}, ValueError), ({"name": "a/b"}, ValueError),
])
def test_WrongArgumentsAreNamed(arguments, error):
    with pytest.raises(error, match=next(iter(arguments))):
        hr.ray.start(**arguments)


def test_AWrongStrategyNamesTheRightOnes():
    with pytest.raises(ValueError, match="strategy must be 'DEFAULT', 'SPREAD', or one of ray.util.scheduling_strategies .*, not 'SPREDA'"):
        hr.ray.start(strategy="SPREDA")


def test_ANodeCanBeTheStrategy():
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    node = ray.nodes()[0]["NodeID"]
    with hr.ray.start(strategy=NodeAffinitySchedulingStrategy(node, soft=False), python=False) as service:
        assert reads(service)
