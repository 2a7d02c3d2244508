"""The waits of servers, and the intervals of their requests."""

from __future__ import annotations

import types

import pytest

import headrace as hr
from headrace.service import servers


def test_AWorkerDoesNotAskAllTheTimeWhetherItIsKnown(cluster, monkeypatch):
    dispatcher = cluster(0)
    asked = []
    real = servers.status
    monkeypatch.setattr(servers, "status", lambda *how, **more: asked.append(0) or real(*how, **more))
    monkeypatch.setattr(servers, "_REGISTERED", 1.0, raising=False)
    # A worker that never registers.
    nobody = types.SimpleNamespace(address="127.0.0.1:1", stop=lambda limit: True)
    monkeypatch.setattr(hr._core, "start_worker", lambda *about: nobody)
    worker = hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target))
    assert 2 <= len(asked) <= 3  # start() waits half a second between two requests, also on a busy machine
    worker.stop()


def test_AWorkerIsKnownWhenItIsStarted(cluster):
    dispatcher = cluster(0)
    workers = [hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target)) for _ in range(3)]
    assert dispatcher.num_workers() == 3
    for worker in workers:
        worker.stop()


def test_ALeaseThatOneLateMessageWouldEndIsRefused():
    def config(**given):
        return hr.service.DispatcherConfig(**given)

    for given, said in ((config(worker_timeout_ms=200, heartbeat_interval_ms=150), ("worker", "200", "150")),
                        (config(client_timeout_ms=1999, heartbeat_interval_ms=1000), ("client", "1999", "1000")),
                        (config(heartbeat_interval_ms=2501), ("worker", "5000", "2501"))):
        with pytest.raises(ValueError, match="%s_timeout_ms is %s and heartbeat_interval_ms is %s" % said):
            hr.service.DispatchServer(given)
    for given in (config(worker_timeout_ms=200), config(worker_timeout_ms=200, heartbeat_interval_ms=100),
                  config(client_timeout_ms=200), config(worker_timeout_ms=2000, client_timeout_ms=3000)):
        hr.service.DispatchServer(given).stop()


def test_IdsAreWrittenAsInTheLog(cluster):
    dispatcher = cluster(1)
    it = iter(hr.Dataset.range(10**9).apply(hr.service.distribute("off", dispatcher.target)))
    next(it)
    told = dispatcher.status()
    (worker,), (job,) = told["workers"], told["jobs"]
    (task,) = job["tasks"]
    assert task["worker"] == worker["worker"]
    for id in (worker["worker"], job["job"], task["task"]):
        assert f"{int(id, 16):x}" == id
    it.close()
