"""Settings from the environment and from files, and workers that find no dispatcher."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import types

import pytest

import headrace as hr

service = hr.service


@pytest.fixture
def named(cluster, monkeypatch):
    """A dispatcher with one worker. The variable HEADRACE_SERVICE has the dispatcher's address."""
    dispatcher = cluster(1)
    monkeypatch.setenv("HEADRACE_SERVICE", dispatcher.target)
    return dispatcher


def test_TheEnvironmentNamesTheServiceWhereNoneIsGiven(named):
    ds = hr.Dataset.range(6)
    assert sorted(int(x) for x in ds.apply(service.distribute("distributed_epoch"))) == list(range(6))
    assert sorted(int(x) for x in ds.apply(service.distribute("distributed_epoch", None))) == list(range(6))
    id = service.register_dataset(None, ds)
    assert sorted(int(x) for x in service.from_dataset_id("distributed_epoch", None, id)) == list(range(6))
    assert len(service.status()["workers"]) == 1
    with service.WorkerServer(service.WorkerConfig(None)) as worker:
        assert named.num_workers() == 2 and worker.num_tasks() == 0


def test_AnAddressThatIsGivenGoesBeforeTheEnvironment(cluster, monkeypatch):
    dispatcher = cluster(1)
    monkeypatch.setenv("HEADRACE_SERVICE", "localhost:1")
    assert len(list(hr.Dataset.range(3).apply(service.distribute("off", dispatcher.target)))) == 3


@pytest.mark.parametrize("value, text", [
    (None, "no address is given, and the environment variable HEADRACE_SERVICE is not set"),
    ("", "no address is given, and the environment variable HEADRACE_SERVICE is not set"),
    ("nowhere", 'HEADRACE_SERVICE: address "nowhere": the port is missing'),
])
def test_WithoutAnyAddressTheErrorSaysWhereOneCouldBe(monkeypatch, value, text):
    monkeypatch.delenv("HEADRACE_SERVICE", raising=False)
    if value is not None:
        monkeypatch.setenv("HEADRACE_SERVICE", value)
    for use in (lambda: hr.Dataset.range(3).apply(service.distribute("off")),
                lambda: service.register_dataset(None, hr.Dataset.range(3)),
                lambda: service.from_dataset_id("off", None, "x"),
                lambda: service.status(),
                lambda: service.WorkerServer(service.WorkerConfig(None))):
        with pytest.raises(ValueError, match=text):
            use()


def test_AWorkerGivesUpADispatcherThatDoesNotAnswer():
    with service.WorkerServer(service.WorkerConfig("localhost:1", dispatcher_timeout_ms=100)) as worker:
        with pytest.raises(hr.errors.DeadlineExceededError, match="localhost:1 did not answer for 0.1 s"):
            worker.join()


def test_AWorkersHeartbeatIsItsOwn():
    limit = time.monotonic() + 60
    # The dispatcher requests a heartbeat every five minutes.
    with service.DispatchServer(service.DispatcherConfig(worker_timeout_ms=600_000, client_timeout_ms=600_000,
                                                         heartbeat_interval_ms=300_000)) as dispatcher:
        with service.WorkerServer(service.WorkerConfig(dispatcher.target, heartbeat_interval_ms=20)):
            beats, last = 0, float("inf")
            while beats < 3:
                assert time.monotonic() < limit
                (told,) = dispatcher.status()["workers"]
                beats += told["since_heartbeat"] < last
                last = told["since_heartbeat"]


def test_TheQuietPeriodIsTheTimeToGiveWhatWasBegun(monkeypatch):
    given = []
    nobody = types.SimpleNamespace(address="127.0.0.1:1", stop=lambda limit: given.append(limit) or True)
    monkeypatch.setattr(hr._core, "start_worker", lambda *about: given.append(about[7]) or nobody)
    # After the period (0: half a second), tasks have 0.3 s to end. Then the processes of Python functions are killed.
    for period, moment in ((0, 0.8), (1500, 1.8)):
        given.clear()
        service.WorkerServer(service.WorkerConfig("localhost:1", shutdown_quiet_period_ms=period)).stop()
        assert given[:2] == [period, moment]


# -- headrace worker --python ------------------------------------------------------------------------------


def worker_command(*arguments, **environment):
    return subprocess.Popen([sys.executable, "-m", "headrace", "worker", "--python", *arguments], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), **environment})


def test_TheCommandTakesFileAndEnvironmentToo(cluster, tmp_path):
    dispatcher = cluster(0)
    file = tmp_path / "headrace.toml"
    file.write_text("""lease = "9s"\n[worker]\ntag = ["gpu"]\n""")
    worker = worker_command("--config", str(file), "--tag", "big", "--drain", "1s", HEADRACE_SERVICE=dispatcher.target,
                            HEADRACE_HEARTBEAT="100ms")
    assert worker.stdout.readline().startswith("worker listening on 127.0.0.1:")
    (told,) = dispatcher.status()["workers"]
    assert told["tags"] == ["big"]
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(60) == 0
    assert f"lease ({file}:1) has no effect" in worker.stderr.read()


@pytest.mark.parametrize("arguments, code, text", [
    (["--tagg", "x"], 2, "Did you mean --tag?"),
    (["--dispatcher", "x"], 2, "the port is missing"),
    (["--lease", "9s"], 2, "worker --python: there is no --lease"),
    (["--config", "/nowhere/headrace.toml"], 2, "/nowhere/headrace.toml: cannot be read"),
    (["--python-processes", "x"], 2, "--python-processes"),
    (["--dispatcher", "localhost:1", "--dispatcher-timeout", "100ms"], 4, "localhost:1 did not answer for 0.1 s"),
])
def test_TheCommandEndsAsTheOtherOneDoes(arguments, code, text):
    out, err = (worker := worker_command(*arguments)).communicate(timeout=60)
    assert (worker.returncode, text in err) == (code, True), err
