"""Tests of headrace.jax, which are skipped if JAX is not installed."""

from __future__ import annotations

import importlib.util
import pathlib
import socket

import numpy as np
import pytest

import examples
import headrace as hr
from distribute_test import READ, flat, read_in_processes

jax = pytest.importorskip("jax")
import headrace.jax  # noqa: E402

EXAMPLES = pathlib.Path(__file__).parents[3] / "examples"


def test_EverythingHasAnExampleThatHolds(tmp_path):
    assert examples.run(headrace.jax, tmp_path) == 0
    assert examples.without(headrace.jax) == []


def test_ArraysOfJaxShareTheElementsMemory():
    (x,) = hr.Dataset.range(32).map(lambda x: hr.cast(x, hr.float32)).batch(32)
    a = hr.jax.as_array(x)
    assert isinstance(a, jax.Array) and a.tolist() == list(range(32))
    assert a.unsafe_buffer_pointer() == x.ctypes.data
    assert hr.jax.as_array(b"x") == b"x"


def test_ElementsKeepTheirNest():
    ds = hr.Dataset.range(3).map(lambda x: {"x": hr.fill([16], hr.cast(x, hr.int32)), "n": hr.cast(x, hr.float32)})
    got = list(hr.jax.iterate(ds))
    assert [float(e["n"]) for e in got] == [0, 1, 2] and isinstance(got[0]["x"], jax.Array)
    assert np.asarray(got[2]["x"]).tolist() == [2] * 16


def test_PartsAreMovedToTheReplicasDevices(tmp_path):
    program = """
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=3"
import jax
s = hr.distribute.LocalStrategy(jax.devices()[1:])
ds = hr.Dataset.range(6).map(lambda n: {"n": n, "s": hr.strings.as_string(n)}).batch(4)
rows = []
for ahead in (0, 1, 3):
    how = hr.distribute.InputOptions(experimental_per_replica_buffer_size=ahead)
    for x in s.experimental_distribute_dataset(ds, how):
        rows += [[[d.id for d in part["n"].devices()], part["n"].tolist(), part["s"].tolist()[0].decode()]
                 for part in s.experimental_local_results(x)]
"""
    (got,) = read_in_processes(program, 1, tmp_path)
    assert got == 3 * [[[1], [0, 1], "0"], [[2], [2, 3], "2"], [[1], [4], "4"], [[2], [5], "5"]]


def test_ProcessesOfJaxDistributedDivideADataset(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = "127.0.0.1:" + str(free.getsockname()[1])
    begin = f"""
import jax
jax.distributed.initialize("{address}", int(os.environ.pop("WORLD_SIZE")), int(os.environ.pop("RANK")))
"""
    got = read_in_processes(begin + READ.format(policy="DATA", replicas=1, ds="hr.Dataset.range(20).batch(4)"), 2, tmp_path)
    assert [flat([one])[:4] for one in got] == [[0, 1, 4, 5], [2, 3, 6, 7]] and sorted(flat(got)) == list(range(20))


def test_TheExampleLearnsDigits():
    spec = importlib.util.spec_from_file_location("digits_jax", EXAMPLES / "python" / "digits_jax.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    assert example.main(str(EXAMPLES / "data" / "digits")) > 0.85
