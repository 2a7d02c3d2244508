"""How elements are arranged: the order of keys, and the classes of tuples and dicts.

The expected values are those of TensorFlow 2.21.
"""

from __future__ import annotations

import collections
import pickle
import subprocess
import sys

import numpy as np
import pytest

import headrace as hr

D = hr.Dataset
io = hr.io
P = collections.namedtuple("P", "x y")

FEATURES = {
    "z": io.FixedLenFeature([], hr.int64, 1), "y": io.VarLenFeature(hr.int64), "b": io.FixedLenFeature([], hr.int64, 2),
    "a": io.VarLenFeature(hr.string), "c": io.FixedLenSequenceFeature([], hr.int64, allow_missing=True),
    "s": io.SparseFeature("i", "v", hr.int64, 3), "ab": io.FixedLenFeature([], hr.int64, 2),
    "B": io.FixedLenFeature([], hr.int64, 2), "é": io.FixedLenFeature([], hr.int64, 2)}
#: The order of the keys in TensorFlow 2.21: those of VarLenFeature, of the dense features, and of SparseFeature, each
#: kind sorted.
KEYS = ["a", "y", "B", "ab", "b", "c", "z", "é", "s"]


def test_KeysOfParsedExamplesAreInTheOrderOfTensorFlow(tmp_path):
    one = D.from_tensors(b"").map(lambda s: io.parse_single_example(s, FEATURES))
    assert list(one.element_spec) == KEYS == list(next(iter(one)))
    several = D.from_tensors([b"", b""]).map(lambda s: io.parse_example(s, FEATURES))
    assert list(next(iter(several))) == KEYS
    applied = D.from_tensors([b""]).apply(hr.data.experimental.parse_example_dataset(FEATURES))
    assert list(next(iter(applied))) == KEYS
    with io.TFRecordWriter(str(tmp_path / "r")) as to:
        to.write(b"")
    made = hr.data.experimental.make_batched_features_dataset(str(tmp_path / "r"), 1, FEATURES, num_epochs=1)
    assert list(next(iter(made))) == KEYS
    made = hr.data.experimental.make_batched_features_dataset(str(tmp_path / "r"), 1, FEATURES, num_epochs=1, label_key="b")
    assert list(next(iter(made))[0]) == [key for key in KEYS if key != "b"]


def test_ColumnsThatAreStackedFromParsedExamplesDoNotChangePlaces():
    features = {"z": io.FixedLenFeature([], hr.int64, 1), "a": io.FixedLenFeature([], hr.int64, 2)}
    ds = D.from_tensors(b"").map(lambda s: hr.stack(list(io.parse_single_example(s, features).values())))
    assert next(iter(ds)).tolist() == [2, 1]  # what TensorFlow 2.21 gives


def test_KeysOfSequenceExamplesAreInTheOrderOfTensorFlow():
    context = {key: FEATURES[key] for key in ("z", "y", "B", "a", "é")}
    lists = {"z": io.FixedLenSequenceFeature([], hr.int64), "y": io.VarLenFeature(hr.int64),
             "b": io.FixedLenSequenceFeature([], hr.int64), "a": io.VarLenFeature(hr.string)}
    first, second = next(iter(D.from_tensors(b"").map(
        lambda s: io.parse_single_sequence_example(s, context_features=context, sequence_features=lists))))
    assert list(first) == ["a", "y", "B", "z", "é"]  # what TensorFlow 2.21 gives
    assert list(second) == ["a", "y", "b", "z"]


def _order(value):
    if isinstance(value, dict):
        return [(key, _order(part)) for key, part in value.items()]
    return [_order(part) for part in value] if isinstance(value, tuple) else None


def test_KeysOfLoadedDictsAreSortedAndThoseOfAGivenSpecAreKept(tmp_path):
    folder = str(tmp_path / "saved")
    ds = D.from_tensor_slices({"z": [1, 2], "a": {"y": [3, 4], "b": ([5, 6], {"d": [7, 8], "c": [9, 10]})}})
    ds.save(folder)
    loaded = D.load(folder)
    # In TensorFlow 2.21 the order of the keys differs from process to process; see docs/migrating.md.
    assert _order(loaded.element_spec) == [("a", [("b", [None, [("c", None), ("d", None)]]), ("y", None)]), ("z", None)]
    assert next(iter(loaded)) == {"a": {"b": (5, {"c": 9, "d": 7}), "y": 3}, "z": 1}
    assert _order(next(iter(loaded))) == _order(loaded.element_spec)
    as_given = D.load(folder, ds.element_spec)  # what TensorFlow 2.21 gives: the order of the spec
    assert _order(as_given.element_spec) == _order(ds.element_spec) == _order(next(iter(as_given)))
    assert list(as_given) == list(loaded) and as_given.cardinality() == 2
    by_shard = D.load(folder, reader_func=lambda shards: shards.flat_map(lambda shard: shard))
    assert _order(by_shard.element_spec) == _order(loaded.element_spec)
    by_shard = D.load(folder, ds.element_spec, reader_func=lambda shards: shards.flat_map(lambda shard: shard))
    assert _order(next(iter(by_shard))) == _order(ds.element_spec)
    for kept in (ds.snapshot(str(tmp_path / "snapshot")), ds.cache(str(tmp_path / "cache"))):
        assert [_order(x) for x in (*kept, *kept)] == 4 * [_order(ds.element_spec)]  # the order of the dataset


def test_ANamedTupleStaysOneAndIsOneArgument():
    ds = D.from_tensor_slices(P([1, 2], [3.0, 4.0]))
    assert type(ds.element_spec) is P and ds.element_spec.y.dtype == hr.float32
    assert [(type(e), e.x, e.y) for e in ds] == [(P, 1, 3.0), (P, 2, 4.0)]
    assert list(ds.map(lambda p: p.x)) == [1, 2]
    assert list(ds.map(lambda p: P(p.y, p.x)).map(lambda p: p.x)) == [3.0, 4.0]
    assert list(D.range(3).map(lambda x: (P(x, x + 1), x)).map(lambda p, x: p.y * x)) == [0, 2, 6]
    assert [type(e) for e in ds.filter(lambda p: p.x > 1)] == [P]
    assert next(iter(ds.map(lambda p: {"a": p})))["a"].y == 3.0
    with pytest.raises(TypeError):
        ds.map(lambda x, y: x)


@pytest.mark.parametrize("change", [
    lambda ds: ds.batch(2), lambda ds: ds.padded_batch(2), lambda ds: ds.shuffle(9).repeat(2), lambda ds: ds.batch(2).unbatch(),
    lambda ds: ds.take(1).concatenate(ds.skip(1)), lambda ds: ds.cache(), lambda ds: ds.prefetch(1),
    lambda ds: ds.interleave(lambda p: D.from_tensors(p)), lambda ds: ds.flat_map(lambda p: D.from_tensors(P(p.x, p.y))),
    lambda ds: D.sample_from_datasets([ds, ds]), lambda ds: ds.window(2).flat_map(lambda w: D.zip(P(w.x, w.y))),
    lambda ds: ds.window(2).flat_map(lambda w: D.zip(w)),
    lambda ds: ds.group_by_window(lambda p: hr.cast(p.x, hr.int64), lambda key, w: w, 2),
    lambda ds: ds.scan(P(0, 0.0), lambda state, p: (P(state.x + p.x, p.y), P(state.x, p.y))),
    lambda ds: ds.map(lambda p: P(p.x, p.y) if p.x > 1 else P(p.x + 1, p.y)),
    lambda ds: pickle.loads(pickle.dumps(ds)), lambda ds: ds.ignore_errors().with_options(hr.Options()),
])
def test_OperatorsPassNamedTuplesOn(change):
    ds = change(D.from_tensor_slices(P([1, 2], [3.0, 4.0])))
    assert type(ds.element_spec) is P
    elements = list(ds)
    assert elements and all(type(e) is P for e in elements)


def test_NamedTuplesInsideOfDictsAndOfAReduceAndOfIterators():
    ds = D.from_tensor_slices({"a": P([1, 2], [3.0, 4.0])})
    assert type(ds.element_spec["a"]) is P and next(iter(ds))["a"].x == 1
    assert type(ds.reduce(P(0, 0.0), lambda s, e: P(s.x + e["a"].x, s.y + e["a"].y))) is P
    it = iter(D.from_tensors(P(1, 2)))
    assert type(it.element_spec) is P and it.get_next().y == 2
    spec = P(hr.TensorSpec([], hr.int64), hr.TensorSpec([], hr.int64))
    assert next(iter(D.from_generator(lambda: [P(1, 2)], output_signature=spec))).y == 2
    w = next(iter(D.from_tensor_slices(P([1, 2], [3, 4])).window(2)))
    assert type(w) is P and list(w.y) == [3, 4]


def test_AnotherProcessMakesANamedTupleByItsNameAndFields(tmp_path):
    folder = str(tmp_path / "saved")
    D.from_tensor_slices(P([1, 2], [3.0, 4.0])).save(folder)
    assert type(next(iter(D.load(folder)))) is P
    program = f"import headrace as hr; e = next(iter(hr.Dataset.load({folder!r}))); print(type(e).__name__, e.x, e.y)"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "P 1 3.0\n"


def test_DictsKeepTheirClassesAndIntKeys():
    ordered = collections.OrderedDict([("z", [1, 2]), ("a", [3, 4])])
    ds = D.from_tensor_slices(ordered)
    assert type(ds.element_spec) is collections.OrderedDict
    assert next(iter(ds)) == collections.OrderedDict([("z", 1), ("a", 3)])
    assert type(next(iter(ds.batch(2).map(lambda d: d)))) is collections.OrderedDict
    by_default = collections.defaultdict(list)
    by_default["z"] = [1, 2]
    element = next(iter(D.from_tensor_slices(by_default)))
    assert type(element) is collections.defaultdict and element["new"] == []
    by_number = D.from_tensor_slices({1: [1, 2], 0: [3, 4]})
    assert list(next(iter(by_number))) == [1, 0]  # what TensorFlow 2.21 gives: the order in which they were given
    assert list(by_number.map(lambda d: d[1] - d[0])) == [-2, -2]
    with pytest.raises(TypeError, match="all strings, or all ints"):
        D.from_tensors({1: 1, "a": 2})


def test_TopKGivesANamedTuple():
    values = D.from_tensors([4, 9, 7]).map(lambda x: hr.math.top_k(x, 2).values)
    assert next(iter(values)).tolist() == [9, 7]
    element = next(iter(D.from_tensors([4, 9, 7]).map(lambda x: hr.math.top_k(x, 2))))
    assert type(element).__name__ == "TopKV2" and element.indices.tolist() == [1, 2]  # what TensorFlow 2.21 gives


def test_ApplyOfAFunctionThatGivesNoDatasetIsATypeError():
    with pytest.raises(TypeError, match="must give a Dataset, not int"):
        D.range(2).apply(lambda ds: 5)


def test_TheSizeOfATableIsInt64():
    table = hr.lookup.StaticHashTable(hr.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
    assert type(table.size()) is np.int64
    assert D.range(1).map(lambda x: table.size()).element_spec.dtype == hr.int64  # what TensorFlow 2.21 gives


def test_WhatAShardFuncDividedIsLoadedFromTheShardsInTurn(tmp_path):
    def loaded(name, n, shard_func, **given):
        folder = str(tmp_path / name)
        D.range(n).save(folder, shard_func=shard_func)
        ds = D.load(folder, **given)
        assert given or ds.cardinality() == n
        return [int(x) for x in ds]

    # The expected orders are those of TensorFlow 2.21 on a machine with as many processors as shards.
    assert loaded("two", 6, lambda x: x % 2) == [0, 1, 2, 3, 4, 5]
    assert loaded("uneven", 8, lambda x: hr.where(x < 6, hr.cast(1, hr.int64), hr.cast(0, hr.int64))) == [6, 0, 7, 1, 2, 3, 4, 5]
    assert loaded("far apart", 8, lambda x: (x // 6) * 5) == [0, 6, 1, 7, 2, 3, 4, 5]
    # These are the orders of TensorFlow 2.21 on a machine with two processors.
    two = {"reader_func": lambda shards: shards.interleave(lambda shard: shard, cycle_length=2)}
    assert loaded("three", 10, lambda x: x % 3, **two) == [0, 1, 3, 4, 6, 7, 9, 2, 5, 8]
    assert loaded("backwards", 10, lambda x: 2 - x % 3, **two) == [2, 1, 5, 4, 8, 7, 0, 3, 6, 9]


def test_KeysOfBranchesAndStepsMayBeInAnotherOrder():
    ds = hr.Dataset.range(2)
    assert list(ds.map(lambda x: hr.cond(x > 0, lambda: {"a": x, "b": (x + 1, {"p": x, "q": x + 7})}, lambda: {"b": (x, {"q": x, "p": x + 8}), "a": x + 2}))) == [
        {"a": 2, "b": (0, {"p": 8, "q": 0})}, {"a": 1, "b": (2, {"p": 1, "q": 8})}]
    (last, _) = ds.map(lambda x: hr.while_loop(lambda v: v["i"] < 3, lambda v: ({"s": v["s"] + 10, "i": v["i"] + 1},), ({"i": x, "s": x},))[0])
    assert last == {"i": 3, "s": 30}
    with pytest.raises(TypeError, match="the same structure"):
        ds.map(lambda x: hr.cond(x > 0, lambda: {"a": x}, lambda: {"b": x}))


def test_NamesWithZeroBytesAreWhole():
    assert list(hr.Dataset.from_tensors({"a\0b": 1, "a\0c": 2})) == [{"a\0b": 1, "a\0c": 2}]
