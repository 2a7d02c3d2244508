"""JAX's side; left out where it is not installed."""

from __future__ import annotations

import numpy as np
import pytest

import headrace as hr

jax = pytest.importorskip("jax")
import headrace.jax  # noqa: E402


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


def test_AModelLearnsTheDigits(digits):
    import jax.numpy as jnp

    features = {"image": hr.io.FixedLenFeature([], hr.string), "label": hr.io.FixedLenFeature([], hr.int64)}

    def parse(record):
        e = hr.io.parse_single_example(record, features)
        return hr.cast(hr.reshape(hr.io.decode_raw(e["image"], hr.uint8), [64]), hr.float32) / 16, \
            hr.cast(e["label"], hr.int32)

    train = hr.TFRecordDataset(digits[:-1]).map(parse).shuffle(500, seed=1).repeat(20).batch(64, drop_remainder=True)

    def loss(w, x, y):
        return -jnp.take_along_axis(jax.nn.log_softmax(x @ w), y[:, None], 1).mean()

    step = jax.jit(lambda w, x, y: w - 0.5 * jax.grad(loss)(w, x, y))
    w = jnp.zeros((64, 10))
    for x, y in hr.jax.iterate(train):
        w = step(w, x, y)
    right = [int(y) == int((x @ w).argmax()) for x, y in hr.jax.iterate(hr.TFRecordDataset(digits[-1:]).map(parse))]
    assert sum(right) / len(right) > 0.85
