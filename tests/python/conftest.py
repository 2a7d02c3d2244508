"""Fixtures for all tests of the Python package."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import headrace as hr
from headrace._random import seeds as _seeds


@pytest.fixture(autouse=True)
def seed_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Removes the seed of the process that another test, or an example, has set."""
    monkeypatch.setattr(_seeds._OfProcess, "state", None)


@pytest.fixture(scope="session", autouse=True)
def vouching(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Sets a temporary folder in which this process, and programs that tests start, vouch for Python functions
    (docs/security.md).
    """
    before = os.environ.get("HEADRACE_PYTHON_FUNCTIONS")
    os.environ["HEADRACE_PYTHON_FUNCTIONS"] = str(tmp_path_factory.mktemp("functions"))
    yield
    if before is None:
        del os.environ["HEADRACE_PYTHON_FUNCTIONS"]
    else:
        os.environ["HEADRACE_PYTHON_FUNCTIONS"] = before


@pytest.fixture
def cluster() -> Iterator[Callable[[int], hr.service.DispatchServer]]:
    """A function that makes a dispatcher and workers, and waits until these are registered."""
    servers: list[Any] = []

    def make(workers: int = 1, **config: Any) -> hr.service.DispatchServer:
        dispatcher = hr.service.DispatchServer()
        servers.append(dispatcher)
        for _ in range(workers):
            servers.append(hr.service.WorkerServer(
                hr.service.WorkerConfig(dispatcher_address=dispatcher.target, **config)))
        while dispatcher.num_workers() < workers:
            pass
        return dispatcher

    yield make
    for server in reversed(servers):
        server.stop()


@pytest.fixture
def digits() -> list[str]:
    """The paths of the TFRecord files of examples/data/digits."""
    folder = pathlib.Path(os.environ.get("HEADRACE_DATA_DIR", pathlib.Path(__file__).parents[2] / "examples" / "data"))
    return sorted(map(str, (folder / "digits").glob("digits-0*.tfrecord")))
