"""Arguments of a wrong type are named, with what would be right."""

from __future__ import annotations

import numpy as np
import pytest

import headrace as hr


def set_option(path, value):
    options = hr.Options()
    *groups, last = path.split(".")
    at = options
    for group in groups:
        at = getattr(at, group)
    setattr(at, last, value)
    return options


@pytest.mark.parametrize("path, value, text", [
    ("deterministic", "yes", "Options: deterministic must be a bool or None, not str: 'yes'"),
    ("deterministic", 1, "a bool or None, not int: 1"),
    ("autotune.enabled", 0, "AutotuneOptions: enabled must be a bool or None"),
    ("autotune.ram_budget", 1.5, "ram_budget must be an int or None, not float: 1.5"),
    ("threading.private_threadpool_size", "x", "private_threadpool_size must be an int or None, not str: 'x'"),
    ("threading.private_threadpool_size", True, "an int or None, not bool"),
    ("threading", 3, "Options: threading must be a headrace ThreadingOptions, not int"),
    ("experimental_optimization.map_fusion", "x", "map_fusion must be a bool or None"),
    ("dataset_name", 3, "dataset_name must be a str or None"),
])
def test_OptionsAreChecked(path, value, text):
    with pytest.raises(TypeError) as e:
        set_option(path, value)
    assert text in str(e.value)


def test_OptionsTakeWhatTheyAreFor():
    assert set_option("deterministic", np.False_).deterministic == False  # noqa: E712
    assert set_option("autotune.cpu_budget", np.int64(3)).autotune.cpu_budget == 3
    assert set_option("autotune", hr.Options().autotune) == hr.Options()
    assert set_option("deterministic", None) == hr.Options()


@pytest.mark.parametrize("shape", [[1.5], "abc", ["a"], [True], 1.5, [None, 2.0], b"x", [[1]]])
def test_ShapesAreInts(shape):
    for make in (hr.TensorSpec, hr.TensorShape):
        with pytest.raises(TypeError, match="shape"):
            make(shape)


def test_ShapesTakeWhatIsAnInt():
    assert hr.TensorSpec(np.array([2, 3])) == hr.TensorSpec((2, 3)) == hr.TensorSpec([np.int8(2), 3])
    assert hr.TensorShape(np.int64(4)) == (4,) and hr.TensorShape([-1, None]) == (None, None)
    assert hr.TensorShape([2]) != "ab"


@pytest.mark.parametrize("value", ["x", True, [1], b"1"])
@pytest.mark.parametrize("name", ["worker_timeout", "stall_timeout"])
def test_TheTimesToWaitAreNumbers(name, value):
    with pytest.raises(TypeError, match=f"{name} must be a number of seconds or None, not"):
        hr.service.distribute("off", "localhost:1", **{name: value})
    for fine in (np.float32(2), float("inf")):
        hr.Dataset.range(1).apply(hr.service.distribute("off", "localhost:1", **{name: fine}))


def test_NamesOfCombinedDatasetsAreAccepted():
    a, b = hr.Dataset.range(2), hr.Dataset.range(2)
    assert len(list(hr.Dataset.sample_from_datasets([a, b], name="n"))) == 4
    assert list(hr.Dataset.choose_from_datasets([a, b], hr.Dataset.range(2), name="n")) == [0, 0]


def test_TablesAreMadeOfConstants():
    keys, values = hr.constant(["a", "b"]), hr.constant([1, 2], hr.int64)
    for given in (hr.lookup.KeyValueTensorInitializer(keys, values),
                  hr.lookup.KeyValueTensorInitializer([hr.constant("a"), "b"], [hr.constant(1), 2], hr.string, hr.int64),
                  hr.lookup.KeyValueTensorInitializer(np.array(["a", "b"]), values * 1)):
        table = hr.lookup.StaticHashTable(given, default_value=-1)
        got = list(hr.Dataset.from_tensor_slices(["b", "x", "a"]).map(table.lookup))
        assert got == [2, -1, 1] and got[0].dtype == np.int64
    words = hr.lookup.StaticVocabularyTable(hr.lookup.KeyValueTensorInitializer(keys, values - 1), 1)
    assert list(hr.Dataset.from_tensor_slices(["b", "x"]).map(words.lookup)) == [1, 2]
    with pytest.raises(TypeError, match="keys of a table must not depend on an element"):
        hr.Dataset.from_tensor_slices(["a"]).map(
            lambda s: hr.lookup.StaticHashTable(hr.lookup.KeyValueTensorInitializer([s], [1]), 0).lookup(s))


def test_an_error_shows_bytes_that_are_no_text():
    with pytest.raises(hr.errors.NotFoundError, match=r"/nowhere/\\xff"):
        list(hr.data.TFRecordDataset(b"/nowhere/\xff"))


@pytest.mark.parametrize("f", [
    lambda x: hr.math.logical_and(x, 1), lambda x: hr.math.logical_or(x > 1, x), lambda x: hr.math.logical_xor(x, x),
    hr.math.logical_not,
])
def test_LogicIsOfBools(f):
    with pytest.raises(TypeError, match="math.logical_.*: an operand is int.*; it must be bools"):
        hr.Dataset.range(2).map(f)
