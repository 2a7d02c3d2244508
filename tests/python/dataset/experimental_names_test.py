"""Functions of tf.data.experimental that are combinations of other functions."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import pytest

import headrace as hr
from headrace import Dataset, experimental


def deep(x):
    if isinstance(x, tuple):
        return tuple(map(deep, x))
    if isinstance(x, dict):
        return {key: deep(part) for key, part in x.items()}
    return x.tolist() if hasattr(x, "tolist") else x


def all_of(ds):
    return [deep(x) for x in ds]


def looked_up(table, keys, dtype=None):
    return Dataset.from_tensors(hr.constant(keys, dtype)).map(table.lookup).get_single_element().tolist()


def test_AListHasItsElements():
    assert all_of(experimental.from_list([(1, "a"), (2, "b")])) == [(1, b"a"), (2, b"b")]
    assert all_of(experimental.from_list([{"a": [1], "b": (2.5, True)}] * 2)) == [{"a": [1], "b": (2.5, True)}] * 2
    assert all_of(experimental.from_list([1, 2])) == [1, 2] and experimental.from_list([1, 2]).cardinality() == 2
    assert all_of(experimental.from_list([["a"], ["b", "\x00"]])) == [[b"a"], [b"b", b"\x00"]]


def test_TensorsOfAListMayDifferInTheirExtents():
    ds = experimental.from_list([[1, 2], [3]])
    assert ds.element_spec == hr.TensorSpec([None], hr.int32) and all_of(ds) == [[1, 2], [3]]
    ds = experimental.from_list([np.zeros([1, 2]), np.ones([3, 2])])
    assert ds.element_spec == hr.TensorSpec([None, 2], hr.float64) and [x.shape for x in ds] == [(1, 2), (3, 2)]


def test_PartsOfAListAreFoundByTheirKeys():
    elements = [{"a": 1, "b": {"c": 2, "d": 3}}, OrderedDict(b={"d": 30, "c": 20}, a=10)]
    assert all_of(experimental.from_list(elements)) == elements


@pytest.mark.parametrize("elements, error, text", [
    ([{"a": 1}, {"b": 1}], ValueError, r"element 1 is a dict with the keys \['b'\]; .* the keys \['a'\]"),
    ([{"x": {"a": 1}}, {"x": (1,)}], ValueError, r"element 1\['x'\] is a tuple of 1 parts; .* a dict"),
    ([{"x": [1]}, {"x": (1,)}], ValueError, r"element 1\['x'\] is a tuple of 1 parts"),
    ([], ValueError, "at least one"), (3, ValueError, "must be a list"), ((1, 2), ValueError, "must be a list"),
    ([1, "a"], TypeError, "is string, and of element 0 int32"), ([(1, 2), (3,)], ValueError, "arranged otherwise"),
    ([[1], [[2]]], hr.errors.UnimplementedError, "numbers of axes"),
])
def test_AListThatIsNoneSaysWhy(elements, error, text):
    with pytest.raises(error, match=text):
        experimental.from_list(elements)


def test_AnElementIsFoundByItsNumber():
    ds = Dataset.range(5).map(lambda x: (x, x * x))
    assert [deep(experimental.at(ds, i)) for i in range(5)] == [(i, i * i) for i in range(5)]
    assert experimental.at(Dataset.range(9).filter(lambda x: x % 2 == 1).repeat(), 5) == 3
    assert list(experimental.at(Dataset.range(5).window(2), 1)) == [2, 3]
    for index in (5, -1):
        with pytest.raises(hr.errors.OutOfRangeError, match=f"no element {index} among 5"):
            experimental.at(ds, index)
    with pytest.raises(hr.errors.InvalidArgumentError):
        experimental.at(Dataset.range(3).map(lambda x: 6 // (x - 1)), 1)


def test_NumbersOfAShuffledDatasetAreOfOneOrder():
    for ds in (Dataset.range(20).shuffle(20), Dataset.range(20).shuffle(20, seed=3)):
        orders = [[int(experimental.at(ds, i)) for i in range(20)] for _ in range(2)]
        assert orders[0] == orders[1] != list(range(20)) and sorted(orders[0]) == list(range(20))


def test_ADatasetIsPaddedWithMarkedElements():
    ds = Dataset.range(2).map(lambda x: {"x": x, "y": hr.strings.as_string(x)})
    padded = ds.apply(experimental.pad_to_cardinality(4))
    assert padded.cardinality() == 4 and all_of(padded) == [
        {"x": 0, "y": b"0", "valid": True}, {"x": 1, "y": b"1", "valid": True},
        {"x": 0, "y": b"", "valid": False}, {"x": 0, "y": b"", "valid": False}]
    assert all_of(ds.apply(experimental.pad_to_cardinality(2, "m"))) == [
        {"x": 0, "y": b"0", "m": True}, {"x": 1, "y": b"1", "m": True}]
    for other, text in ((ds.filter(lambda e: True), "must be known"), (Dataset.range(2), "must be dicts"),
                        (ds.repeat(3), "6 elements, more than 4"), (ds.batch(2), "must be known")):
        with pytest.raises(ValueError, match=text):
            other.apply(experimental.pad_to_cardinality(4))


def test_AReducerMakesOneElementOfEachKey():
    counted = experimental.Reducer(lambda key: (key * 100, np.int64(0)), lambda s, x: (s[0] + x, s[1] + 1),
                                   lambda total, count: (total, count))
    ds = Dataset.range(10).apply(experimental.group_by_reducer(lambda x: 3 - x % 4, counted))
    assert all_of(ds) == [(10, 2), (108, 2), (215, 3), (312, 3)]  # as TensorFlow 2.21 gives them, in the order of keys
    summed = experimental.Reducer(lambda key: np.int64(0), lambda s, x: s + x[0] * x[1], lambda s: s)
    pairs = Dataset.zip(Dataset.range(4), Dataset.range(4))
    assert all_of(pairs.apply(experimental.group_by_reducer(lambda a, b: a % 2, summed))) == [4, 10]
    with pytest.raises(TypeError, match="must be a Reducer"):
        experimental.group_by_reducer(lambda x: x, lambda x: x)
    with pytest.raises(TypeError, match="init_func must be a function"):
        experimental.Reducer(0, lambda s, x: s, lambda s: s)


def test_TablesAreMadeOfDatasets():
    pairs = Dataset.zip(Dataset.from_tensor_slices(["a", "b"]), Dataset.range(5, 7))
    words = Dataset.from_tensor_slices(["a", "b"])
    keys = ["b", "z", "y", "x", "w"]
    # Buckets are those of TensorFlow 2.21.
    assert looked_up(experimental.table_from_dataset(pairs, num_oov_buckets=3), keys) == [6, 3, 4, 4, 4]
    assert looked_up(experimental.index_table_from_dataset(words, num_oov_buckets=3), keys) == [1, 3, 4, 4, 4]
    of_numbers = experimental.index_table_from_dataset(Dataset.range(10, 13), key_dtype=hr.int64, num_oov_buckets=4)
    assert looked_up(of_numbers, [10, 99, 98, 97, 96], hr.int64) == [0, 5, 4, 3, 5] and of_numbers.size() == 7
    assert looked_up(experimental.table_from_dataset(pairs), ["b", "z"]) == [6, -1]
    assert looked_up(experimental.index_table_from_dataset(words.concatenate(words), vocab_size=2), ["b", "z"]) == [1, -1]
    texts = Dataset.zip(words, Dataset.from_tensor_slices(["x", "y"]))
    assert looked_up(experimental.table_from_dataset(texts, default_value="u"), ["b", "c"]) == [b"y", b"u"]
    table = hr.lookup.StaticHashTable(experimental.DatasetInitializer(pairs), 0)
    assert looked_up(table, ["b", "z"]) == [6, 0]


@pytest.mark.parametrize("make, error, text", [
    (lambda words: experimental.table_from_dataset(words), ValueError, "two scalars"),
    (lambda words: experimental.index_table_from_dataset(words.batch(2)), ValueError, "two scalars"),
    (lambda words: experimental.index_table_from_dataset(None), TypeError, "must be a Dataset"),
    (lambda words: experimental.index_table_from_dataset(words, -1), ValueError, "num_oov_buckets"),
    (lambda words: experimental.index_table_from_dataset(words, vocab_size=0), ValueError, "vocab_size"),
    (lambda words: experimental.index_table_from_dataset(words, vocab_size=3), hr.errors.FailedPreconditionError,
     "has 2 keys"),
    (lambda words: experimental.index_table_from_dataset(words.repeat(2)), hr.errors.FailedPreconditionError,
     "has the values"),
    (lambda words: experimental.index_table_from_dataset(words, key_dtype=hr.float32), TypeError, "key_dtype"),
    (lambda words: experimental.index_table_from_dataset(words, hasher_spec=3), hr.errors.UnimplementedError, "hasher_spec"),
    (lambda words: experimental.table_from_dataset(Dataset.zip(words, words)), ValueError, "default_value"),
    (lambda words: experimental.table_from_dataset(Dataset.zip(words, words), 1, default_value=""), TypeError, "int64"),
])
def test_TablesThatCannotBeMadeSayWhy(make, error, text):
    with pytest.raises(error, match=text):
        make(Dataset.from_tensor_slices(["a", "b"]))


def test_ElementsAreOnTheCPU():
    for device in ("/cpu:0", "CPU:0", "/job:localhost/replica:0/task:0/device:CPU:0", "cpu"):
        assert all_of(Dataset.range(2).apply(experimental.copy_to_device(device))) == [0, 1]
        assert all_of(Dataset.range(2).apply(experimental.prefetch_to_device(device, 3))) == [0, 1]
    for transformation in (experimental.copy_to_device, experimental.prefetch_to_device):
        with pytest.raises(hr.errors.UnimplementedError, match="headrace.torch"):
            transformation("/gpu:0")


def test_RecordsOfABatchAreParsed():
    def record(n):
        return hr.train.Example(features=hr.train.Features(feature={
            "n": hr.train.Feature(int64_list=hr.train.Int64List(value=[n]))})).SerializeToString()

    ds = Dataset.from_tensor_slices([record(n) for n in range(3)]).batch(2)
    parsed = ds.apply(experimental.parse_example_dataset({"n": hr.io.FixedLenFeature([], hr.int64)}, 2, True))
    assert all_of(parsed) == [{"n": [0, 1]}, {"n": [2]}]


def test_WhatIsSavedIsLoaded(tmp_path):
    experimental.save(Dataset.range(4), str(tmp_path / "a"), shard_func=lambda x: x % 2)
    assert sorted(all_of(experimental.load(str(tmp_path / "a")))) == [0, 1, 2, 3]


def test_EqualDatasetsHaveEqualFingerprints():
    def made(n):
        return Dataset.range(n).map(lambda x: x + 1).shuffle(3, seed=1).window(2)

    assert made(4).fingerprint() == made(4).fingerprint() != made(5).fingerprint()
    assert made(4).fingerprint().dtype == np.uint64


def test_FilesAreListedHereAndNow(tmp_path):
    for name in ("b.txt", "a.txt", "c.csv"):
        (tmp_path / name).write_text("")

    def names(pattern):
        return [x.decode().rpartition("/")[2] for x in Dataset.from_tensor_slices(hr.io.matching_files(pattern))]

    assert names(f"{tmp_path}/*.txt") == ["a.txt", "b.txt"]
    assert names([f"{tmp_path}/b*", f"{tmp_path}/*"]) == ["a.txt", "b.txt", "b.txt", "c.csv"]
    assert names(f"{tmp_path}/z*") == []
    with pytest.raises(TypeError, match="list_files"):
        Dataset.range(1).map(lambda x: hr.io.matching_files("*"))


def test_AlgorithmsAreHints():
    options = hr.Options()
    options.autotune.autotune_algorithm = experimental.AutotuneAlgorithm.HILL_CLIMB
    assert all_of(Dataset.range(2).with_options(options)) == [0, 1]
    with pytest.raises(TypeError, match="AutotuneAlgorithm"):
        options.autotune.autotune_algorithm = "fast"
