"""Tests of headrace.keras with the backend of KERAS_BACKEND (default: jax); skipped if Keras is not installed."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import warnings

import numpy as np
import pytest

import examples
import headrace as hr

os.environ.setdefault("KERAS_BACKEND", "jax")
keras = pytest.importorskip("keras")
import headrace.keras  # noqa: E402

EXAMPLES = pathlib.Path(__file__).parents[3] / "examples"


def lines(count=64, size=16):
    """Batches of points on a line."""
    return (hr.Dataset.range(count).map(lambda n: hr.cast([n], hr.float32) / count)
            .map(lambda x: (x, 3 * x + 1)).batch(size))


def regression():
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.SGD(0.3), loss="mse")
    return model


class Recorder(keras.callbacks.Callback):
    """Records the number of batches of each epoch."""

    def __init__(self):
        super().__init__()
        self.batches = []

    def on_epoch_begin(self, epoch, logs=None):
        self.batches.append(0)

    def on_train_batch_end(self, batch, logs=None):
        self.batches[-1] += 1


def counted(dataset):
    """The dataset as an adapter, and a list to which each iteration adds an entry when it begins."""
    begun = []

    class Counted(headrace.keras.DataAdapter):
        def _begin(self):
            begun.append(1)
            return super()._begin()
    return Counted(dataset), begun


def test_EverythingHasAnExampleThatHolds(tmp_path):
    assert examples.run(headrace.keras, tmp_path) == 0
    assert set(examples.without(headrace.keras)) <= {"DataAdapter.get_torch_dataloader", "DataAdapter.get_tf_dataset"}


def test_FitEvaluateAndPredict():
    model, data = regression(), headrace.keras.DataAdapter(lines())
    history = model.fit(data, validation_data=headrace.keras.DataAdapter(lines()), epochs=200, verbose=0).history
    assert history["loss"][-1] < 1e-3 < history["loss"][0] and history["val_loss"][-1] < 1e-3
    assert model.evaluate(data, verbose=0) < 1e-3
    wanted = np.concatenate([y for _, y in lines()])
    assert np.allclose(model.predict(data, verbose=0), wanted, atol=0.1)
    inputs = headrace.keras.DataAdapter(lines().map(lambda x, y: x))
    assert np.allclose(model.predict(inputs, verbose=0), wanted, atol=0.1)


@pytest.mark.parametrize("unknown", [False, True])
def test_EachEpochHasAllBatches(unknown):
    data = lines(40)
    if unknown:
        data = data.filter(lambda x, y: hr.reduce_all(x >= 0))
    adapter, recorder = headrace.keras.DataAdapter(data), Recorder()
    assert adapter.num_batches == (None if unknown else 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Keras warns of the end of data whose number of batches is unknown
        regression().fit(adapter, epochs=3, verbose=0, callbacks=[recorder])
    assert recorder.batches == [3, 3, 3]
    if unknown:
        with pytest.raises(TypeError, match="not known"):
            len(adapter)
    else:
        assert len(adapter) == 3


def test_AnEndlessDatasetNeedsSteps():
    adapter, recorder = headrace.keras.DataAdapter(lines().repeat()), Recorder()
    assert adapter.num_batches is None
    regression().fit(adapter, epochs=2, steps_per_epoch=5, verbose=0, callbacks=[recorder])
    assert recorder.batches == [5, 5]


@pytest.mark.skipif(keras.backend.backend() == "tensorflow", reason="TensorFlow begins its own iterations")
def test_TheModelIsBuiltFromABatchOfTheFirstEpoch():
    adapter, begun = counted(lines())
    regression().fit(adapter, epochs=2, verbose=0)
    assert len(begun) == 2


def test_EpochsAreShuffledAnew():
    seen = []

    class Seen(keras.layers.Layer):
        def call(self, x):
            return x

    data = hr.Dataset.range(8).shuffle(8, seed=3).map(lambda n: hr.cast([n], hr.float32)).batch(8)
    model = keras.Sequential([Seen()])
    for _ in range(3):
        seen.append(model.predict(headrace.keras.DataAdapter(data), verbose=0).ravel().tolist())
    assert len({tuple(x) for x in seen}) == 3 and all(sorted(x) == list(range(8)) for x in seen)


def test_WeightsAndNamedInputs():
    a, b = keras.Input([1], name="a"), keras.Input([1], name="b")
    model = keras.Model({"a": a, "b": b}, keras.layers.Add()([a, b]))
    model.compile(loss="mse")
    data = lines().map(lambda x, y: ({"a": x, "b": 2 * x}, 3 * x + 1, hr.ones([16])))
    assert model.evaluate(headrace.keras.DataAdapter(data), verbose=0) == pytest.approx(1, rel=1e-5)
    half = data.map(lambda x, y, w: (x, y, w / 2))
    assert model.evaluate(headrace.keras.DataAdapter(half), verbose=0) == pytest.approx(0.5, rel=1e-5)


def test_PyTorchIsGivenTensorsInTheSameNest():
    torch = pytest.importorskip("torch")
    data = headrace.keras.DataAdapter(lines(32).map(lambda x, y: ({"x": x}, y)))
    for _ in range(2):
        batches = list(data.get_torch_dataloader())
        assert [x["x"].shape for x, _ in batches] == 2 * [(16, 1)] and batches[1][1].dtype == torch.float32
        assert torch.cat([y for _, y in batches]).ravel().tolist() == [y for _, part in lines(32) for y in part.ravel().tolist()]


def test_AServiceFeedsIt(cluster):
    target = cluster(2).target
    shared = lines().apply(hr.service.distribute("distributed_epoch", target, job_name="lines"))
    shared = shared.unbatch().batch(16)
    recorder = Recorder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        regression().fit(headrace.keras.DataAdapter(shared), epochs=2, verbose=0, callbacks=[recorder])
    assert recorder.batches == [4, 4]


@pytest.mark.parametrize("arguments", [{"y": np.ones(3)}, {"sample_weight": np.ones(3)}, {"class_weight": {0: 1.0}}])
def test_WhatKerasWouldDropIsRefused(arguments):
    if keras.backend.backend() == "tensorflow" and "class_weight" not in arguments:
        pytest.skip("the same check, later")
    with pytest.raises(ValueError, match=f"{next(iter(arguments))} goes with no headrace.keras.DataAdapter"):
        regression().fit(headrace.keras.DataAdapter(lines()), verbose=0, **arguments)


@pytest.mark.parametrize("dataset, kind, text", [
    ([1, 2], TypeError, "headrace.Dataset, not list"),
    (hr.Dataset.range(3), ValueError, "use batch"),
    (hr.Dataset.zip(tuple([hr.Dataset.range(3).batch(1)] * 4)), ValueError, "tuples of 4"),
    (hr.Dataset.range(3).window(2), TypeError, "to_tensor, or padded_batch"),
    (hr.Dataset.range(4).batch(2).ragged_batch(2), TypeError, "to_tensor, or padded_batch"),
    (hr.Dataset.from_tensor_slices(["a"]).batch(1), TypeError, "no strings with"),
])
def test_WhatKerasCannotTakeIsNamed(dataset, kind, text):
    if keras.backend.backend() == "tensorflow" and "strings" in text:
        pytest.skip("TensorFlow has strings")
    with pytest.raises(kind, match=text):
        headrace.keras.DataAdapter(dataset)


def test_OtherNamesAreThoseOfKeras():
    with pytest.raises(AttributeError, match="import keras"):
        headrace.keras.Model


def test_TheExampleLearnsDigits():
    spec = importlib.util.spec_from_file_location("digits_keras", EXAMPLES / "python" / "digits_keras.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    assert example.main(str(EXAMPLES / "data" / "digits")) > 0.85
