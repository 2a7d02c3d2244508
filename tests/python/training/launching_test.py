"""The common part of launchers, with processes of this host as places. tests/ray and tests/dask test the rest."""

from __future__ import annotations

import importlib.util
import os
import select
import signal
import subprocess
import sys

import pytest

import headrace as hr
from headrace._launching import launched
from headrace._launching.certificates import make_certificates
from headrace._launching.launcher import Launcher
from headrace._launching.server import Server, ServerPlan, options_of
from headrace._launching.sizes import bytes_of
from headrace._launching.wanted import bounds_of

pytestmark = pytest.mark.skipif(not os.environ.get("HEADRACE_COMMAND"), reason="HEADRACE_COMMAND is not set")
PATIENCE = 60


class Processes(Launcher):
    """A launcher with at most `most` places, which are child processes."""

    def __init__(self, most=9):
        self.most = most
        self.servers = {}

    def start(self, place, plan):
        self.servers[place] = Server(plan, "127.0.0.1") if len(self.servers) < self.most else None

    def address(self, place, timeout):
        if self.servers[place] is None:
            raise hr.errors.DeadlineExceededError("there is no place")
        return self.servers[place].address(timeout)

    def stop(self, place):
        server = self.servers.pop(place, None)
        if server is not None:
            server.stop()

    def places(self):
        return list(self.servers)

    def why_missing(self):
        return f"There are {self.most}"


def start(launcher, workers, **more):
    certificates = make_certificates(1)
    return launched.start_service(
        launcher, workers=bounds_of(workers), timeout=PATIENCE,
        dispatcher=ServerPlan("dispatcher", ("--port=0", "--log-level=warn", "--heartbeat=100ms"), certificates),
        worker=ServerPlan("worker", ("--log-level=warn",), certificates, **more),
        make=lambda address, worker: launched.LaunchedService(launcher, address, certificates, worker, PATIENCE))


def alive(service):
    return [x for x in service.status()["workers"] if x["alive"]]


def reads(service):
    return sorted(map(int, hr.Dataset.range(100).apply(service.distribute("dynamic")))) == list(range(100))


class Watched:
    """A process whose end can be awaited, whichever process started it."""

    def __init__(self, pid):
        self.descriptor = os.pidfd_open(pid)

    def ends(self):
        return bool(select.select([self.descriptor], [], [], PATIENCE)[0])


def test_AServiceGrowsAndShrinksInOrderAndLeavesNothing():
    launcher = Processes()
    with start(launcher, 1) as service:
        assert service.num_workers == 1 and reads(service)
        service.scale(3)
        assert service.num_workers == 3 == len(alive(service)) and reads(service)
        service.scale(1)
        assert service.num_workers == 1 == len(alive(service)) and reads(service)
        assert sorted(launcher.places()) == ["dispatcher", "worker-1"]
        assert sum(x["state"] == "left" for x in service.status()["workers"]) == 2
        watched = [Watched(x.pid) for x in launcher.servers.values()]
        with pytest.raises(hr.errors.OpError):
            hr.service.status(service.address, timeout=1)  # without the certificate
        with pytest.raises(ValueError, match="workers must be a number"):
            service.scale(-1)
    assert all(x.ends() for x in watched) and launcher.places() == []


def test_WorkersWithoutAPlaceAreNamedAndTheOthersStay():
    launcher = Processes(most=3)
    with start(launcher, 1) as service:
        with pytest.raises(hr.errors.DeadlineExceededError, match="2 of 4 workers did not come: there is no place. There are 3"):
            service.scale(4)
        assert service.num_workers == 2 == len(alive(service)) and reads(service)
    with pytest.raises(hr.errors.DeadlineExceededError, match="the dispatcher did not come: there is no place"):
        start(Processes(most=0), 1)
    launcher = Processes(most=1)
    with pytest.raises(hr.errors.DeadlineExceededError, match="1 of 1 workers did not come"):
        start(launcher, 1)
    assert launcher.places() == []


def test_AServerThatEndsBeforeItListensSaysWhy():
    plan = ServerPlan("worker", ("--dispatcher=nowhere",), None)
    with pytest.raises(hr.errors.FailedPreconditionError, match="(?s)ended before it listened:.*the port is missing"):
        Server(plan, "127.0.0.1").address(PATIENCE)


def test_ItFollowsTheWantedNumberWithinItsBounds(monkeypatch):
    monkeypatch.setattr(launched, "_FOLLOW", 0.05)
    monkeypatch.setattr(launched, "_SETTLING", 0.0)
    monkeypatch.setattr(launched, "_PATIENCE", 0.1)
    wanted = [None]
    monkeypatch.setattr(launched.LaunchedService, "wanted_workers", lambda self: wanted[0])
    with start(Processes(), (1, 3)) as service:
        assert len(alive(service)) == 1
        for number, comes in ((7, 3), (2, 2), (0, 1)):
            wanted[0] = number
            while len(alive(service)) != comes:
                pass


def test_TheNamesAreThoseOfTheService():
    with start(Processes(), 1) as service:
        ds = hr.Dataset.range(10**9).map(lambda x: x * 2).batch(100).apply(service.distribute("dynamic"))
        reader = iter(ds)
        next(reader)
        verdicts = set()
        while "unknown" in verdicts or not verdicts:
            for _ in range(100):
                next(reader)
            found, = service.status()["jobs"]
            assert found["state"] == "running"
            verdicts = {found["verdict"]["cause"]}
        assert service.wanted_workers() is not None


def test_ItGrowsWhenATrainerWaits(monkeypatch):
    monkeypatch.setattr(launched, "_FOLLOW", 0.05)
    monkeypatch.setattr(launched, "_SETTLING", 0.0)
    with start(Processes(), (1, 3)) as service:
        reader = iter(hr.Dataset.range(10**9).apply(hr.experimental.sleep(1000)).apply(service.distribute("dynamic")))
        while len(alive(service)) < 3:
            for _ in range(50):
                next(reader)


OWNER = """
import sys
from headrace._launching.server import Server, ServerPlan
server = Server(ServerPlan("dispatcher", ("--port=0",), None), "127.0.0.1")
address = server.address(60)
worker = Server(ServerPlan("worker", (f"--dispatcher={address}",), None, python=True), "127.0.0.1")
worker.address(60)
print(server.pid, worker.pid, flush=True)
sys.stdin.read()
"""


def test_AServersProcessDoesNotOutliveItsOwner():
    owner = subprocess.Popen([sys.executable, "-c", OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             text=True)
    with owner:
        watched = [Watched(int(pid)) for pid in owner.stdout.readline().split()]
        assert len(watched) == 2
        os.kill(owner.pid, signal.SIGKILL)
        assert all(x.ends() for x in watched)


@pytest.mark.parametrize("name, call", [("ray", lambda: hr.ray.start()), ("ray", lambda: hr.ray.connect("x")),
                                        ("distributed", lambda: hr.dask.start(None))])
def test_WithoutTheEngineTheErrorSaysWhatToInstall(name, call):
    if importlib.util.find_spec(name):
        pytest.skip(f"{name} is installed")
    with pytest.raises(ModuleNotFoundError, match=f"pip install {name}"):
        call()


def test_SettingsBecomeOptions():
    settings = {"work_dir": "/x", "tag": ["a", "b"], "insecure": True, "no_restart": False, "lease": None}
    assert options_of(settings, "options") == ["--work-dir=/x", "--tag=a", "--tag=b", "--insecure"]
    assert options_of(None, "options") == []
    with pytest.raises(ValueError, match="options must have names of settings, such as 'work_dir', not '--lease'"):
        options_of({"--lease": "9s"}, "options")


def test_NumbersAndSizesAreRead():
    assert bounds_of(3) == (3, 3) and bounds_of((2, 16)) == (2, 16)
    for wrong in ("3", (1,), (1, 2.0), True):
        with pytest.raises(TypeError, match="workers must be"):
            bounds_of(wrong)
    for wrong in (0, (3, 2), -1):
        with pytest.raises(ValueError, match="workers must be"):
            bounds_of(wrong)
    assert bytes_of("8GiB", "memory") == 8 << 30 and bytes_of("1.5 GB", "memory") == 1_500_000_000 and bytes_of(7, "memory") == 7
    for wrong in ("lots", 0, "-1GB", "1 XB", "0.5B", None):
        with pytest.raises(ValueError, match="memory must be"):
            bytes_of(wrong, "memory")
