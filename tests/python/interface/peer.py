"""The common part of the tests of documented examples. The examples run with headrace, or with the library that the
variable HEADRACE_EXAMPLES_WITH names.

`./run compare --same` runs them with headrace and TensorFlow, which shows that the expected values are TensorFlow's.
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
    """A mark for an example that works only with TensorFlow; docs/migrating.md has the difference."""
    return pytest.mark.skipif(LIBRARY == "headrace", reason=why)


def ours(why: str) -> Any:
    """A mark for an example that is rewritten for headrace as docs/migrating.md states."""
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
    """A dispatcher with that many workers in this process. They are stopped afterwards if the library can do that."""
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
