"""JAX's side; left out where it is not installed."""

from __future__ import annotations

import importlib.util
import pathlib

import numpy as np
import pytest

import examples
import headrace as hr

jax = pytest.importorskip("jax")
import headrace.jax  # noqa: E402

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"


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


def test_TheExampleLearnsDigits():
    spec = importlib.util.spec_from_file_location("digits_jax", EXAMPLES / "python" / "digits_jax.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    assert example.main(str(EXAMPLES / "data" / "digits")) > 0.85
