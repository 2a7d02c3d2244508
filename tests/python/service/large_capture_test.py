"""Large captured arrays are sent only once, however often a function uses them."""

from __future__ import annotations

import numpy as np
import pytest

import headrace as hr
from relay import Relay

service = hr.service
LARGE = np.random.default_rng(1).integers(0, 1 << 60, 1 << 20)  # 8 MiB


@pytest.fixture
def counted():
    """Two relays that count bytes, to a dispatcher with one worker: one for trainers, the other for that worker."""
    with service.DispatchServer() as dispatcher:
        host, port = dispatcher.target.split("://")[1].split(":")
        trainer, worker = Relay((host, int(port))), Relay((host, int(port)))
        with service.WorkerServer(service.WorkerConfig(f"127.0.0.1:{worker.port}")):
            while dispatcher.num_workers() < 1:
                pass
            yield trainer, worker
        trainer.close()
        worker.close()


def read(ds, relay):
    return sorted(int(x) for x in ds.apply(service.distribute("off", f"127.0.0.1:{relay.port}")))


def test_ACapturedArrayGoesOnceToTheDispatcherAndOnceToAWorker(counted):
    trainer, worker = counted
    ds = hr.Dataset.range(3).map(lambda x: hr.gather(LARGE, x))
    for _ in range(4):
        assert read(ds, trainer) == sorted(LARGE[:3].tolist())
    for sent in (trainer.to_there, worker.from_there):
        assert LARGE.nbytes <= sent < LARGE.nbytes * 1.5


def test_WhatAPythonFunctionCapturesGoesOnceToo(counted):
    trainer, worker = counted
    large = LARGE[: 1 << 17]
    ds = hr.Dataset.range(3).map(hr.py_function(lambda x: large[x], hr.TensorSpec([], hr.int64)))
    for _ in range(4):
        assert read(ds, trainer) == sorted(LARGE[:3].tolist())
    for sent in (trainer.to_there, worker.from_there):
        assert large.nbytes <= sent < large.nbytes * 2


def test_SmallOnesGoWithTheirGraph(counted):
    trainer, worker = counted
    small = np.arange(100)
    assert read(hr.Dataset.range(3).map(lambda x: hr.gather(small, x + 5)), trainer) == [5, 6, 7]
    assert worker.from_there < 1 << 16


def test_WhatIsTooLargeForAMessageSaysSo(counted):
    trainer, _ = counted
    huge = np.zeros(9 << 20, np.int64)
    for f in (lambda x: hr.gather(huge, x), hr.py_function(lambda x: huge[x], hr.TensorSpec([], hr.int64))):
        with pytest.raises(hr.errors.ResourceExhaustedError, match="bytes.*at most.*fit; read larger"):
            read(hr.Dataset.range(3).map(f), trainer)
