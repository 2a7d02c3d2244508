"""What the tests of documented examples share: they run with headrace, or with TensorFlow if HEADRACE_EXAMPLES_WITH names it.

`./run compare --same` runs them with both, so that what they expect is what TensorFlow gives.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

LIBRARY = os.environ.get("HEADRACE_EXAMPLES_WITH", "headrace")
tf = importlib.import_module(LIBRARY)


def differs(why: str) -> Any:
    """A mark: docs/migrating.md says why an example is another one here; it is as documented only with TensorFlow."""
    return pytest.mark.skipif(LIBRARY == "headrace", reason=why)


def ours(why: str) -> Any:
    """A mark: the same example as it is written here, by docs/migrating.md."""
    return pytest.mark.skipif(LIBRARY != "headrace", reason=why)


def plain(value: Any) -> Any:
    """Values of Python in place of tensors and arrays."""
    if isinstance(value, (tuple, list)):
        return type(value)(plain(part) for part in value)
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if hasattr(value, "to_list"):
        return value.to_list()
    if hasattr(value, "numpy"):
        return plain(value.numpy())
    return value.tolist() if hasattr(value, "tolist") else value


def elements(dataset: Any) -> list[Any]:
    """All elements, as values of Python."""
    return [plain(element) for element in dataset.as_numpy_iterator()]


@contextmanager
def serving(workers: int = 1, **config: Any) -> Iterator[Any]:
    """A dispatcher with that many workers in this process, which end afterwards where they can."""
    service = tf.data.experimental.service
    dispatcher = service.DispatchServer(service.DispatcherConfig(**config)) if config else service.DispatchServer()
    address = dispatcher.target.split("://")[1]
    servers = [service.WorkerServer(service.WorkerConfig(dispatcher_address=address)) for _ in range(workers)]
    try:
        yield dispatcher
    finally:
        for server in (*servers, dispatcher):
            if hasattr(server, "stop"):
                server.stop()
