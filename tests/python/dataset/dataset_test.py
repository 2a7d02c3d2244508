"""Datasets read in this process: names, elements, arrays, arguments."""

from __future__ import annotations

import gc
import gzip
import pickle
import sqlite3

import numpy as np
import pytest

import headrace as hr
from headrace._tensors.dlpack import Shared


def values(ds):
    return [x.tolist() if isinstance(x, (np.ndarray, np.generic)) else x for x in ds]


def test_MapsAndBatches():
    ds = hr.Dataset.range(10).map(lambda x: x * x).batch(4)
    assert values(ds) == [[0, 1, 4, 9], [16, 25, 36, 49], [64, 81]]


def test_ElementsAreNumpysScalarsAndArraysInTheSameNest():
    ds = hr.Dataset.from_tensors({"a": (np.float32(1.5), [[1, 2]]), "b": ["x", b"\xff\x00"], "c": True, "d": "s"})
    (e,) = ds
    assert list(e) == ["a", "b", "c", "d"]
    assert isinstance(e["a"], tuple) and isinstance(e["a"][0], np.float32) and e["a"][0] == 1.5
    assert e["a"][1].dtype == np.int32 and e["a"][1].tolist() == [[1, 2]]
    assert e["b"].dtype == object and e["b"].tolist() == [b"x", b"\xff\x00"]
    assert e["c"] is np.True_ or e["c"] == np.True_
    assert e["d"] == b"s"


@pytest.mark.parametrize("dtype", ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                                   "float16", "float32", "float64", "complex64", "complex128"])
def test_EveryDtypeKeepsItsValues(dtype):
    given = np.arange(6).reshape(2, 3).astype(dtype)
    ds = hr.Dataset.from_tensor_slices(given)
    assert ds.element_spec == hr.TensorSpec([3], dtype)
    got = list(ds)
    assert all(x.dtype == given.dtype for x in got)
    np.testing.assert_array_equal(np.stack(got), given)
    scalar = next(iter(hr.Dataset.from_tensors(given[1, 1])))
    assert type(scalar) is type(given[1, 1]) and scalar == given[1, 1]


def test_ArraysShareTheBlocksMemoryAndKeepIt():
    (whole,) = hr.Dataset.range(1000).batch(1000)
    assert whole.ctypes.data % 64 == 0
    assert not whole.flags.writeable and not whole.flags.owndata
    iterator = iter(hr.Dataset.range(64).batch(8))
    rows = [next(iterator) for _ in range(8)]
    del iterator
    gc.collect()
    assert np.concatenate(rows).tolist() == list(range(64))
    # Arrays of one block are adjacent in memory: they are not copied from where they were computed.
    gaps = {b.ctypes.data - a.ctypes.data for a, b in zip(rows[3:], rows[4:])}
    assert 64 in gaps
    np.testing.assert_array_equal(np.from_dlpack(Shared(whole)), whole)


def test_SpecsTellShapesAndDtypes():
    ds = hr.Dataset.from_tensor_slices({"x": np.zeros((4, 2), np.float32), "y": ["a"] * 4}).batch(3)
    assert ds.element_spec == {"x": hr.TensorSpec([None, 2], hr.float32), "y": hr.TensorSpec([None], hr.string)}
    assert ds.batch(1, drop_remainder=True).element_spec["x"].shape.as_list() == [1, None, 2]
    assert repr(hr.Dataset.range(3).element_spec) == "TensorSpec(shape=(), dtype=headrace.int64, name=None)"


def test_CardinalitiesAndLengths():
    assert hr.Dataset.range(42).cardinality() == 42 == len(hr.Dataset.range(42))
    assert hr.Dataset.range(3).repeat().cardinality() == hr.INFINITE_CARDINALITY
    assert hr.Dataset.range(3).filter(lambda x: x > 1).cardinality() == hr.UNKNOWN_CARDINALITY
    with pytest.raises(TypeError, match="never ends"):
        len(hr.Dataset.range(3).repeat())
    assert bool(hr.Dataset.range(0))


def test_OperatorsGiveWhatTheirNamesSay():
    r = hr.Dataset.range
    assert values(r(5).skip(1).take(2)) == [1, 2]
    assert values(r(2).repeat(2)) == [0, 1, 0, 1]
    assert values(r(2).concatenate(r(7, 9))) == [0, 1, 7, 8]
    assert values(r(4).filter(lambda x: x % 2 == 1)) == [1, 3]
    assert values(r(3).flat_map(lambda x: hr.Dataset.range(x))) == [0, 0, 1]
    assert values(r(2).interleave(lambda x: hr.Dataset.from_tensors(x).repeat(2), cycle_length=2)) == [0, 1, 0, 1]
    assert [(int(i), int(x)) for i, x in r(5, 7).enumerate(start=3)] == [(3, 5), (4, 6)]
    assert sorted(values(r(20).shuffle(7, seed=3))) == list(range(20))
    assert values(r(20).shuffle(7, seed=3, reshuffle_each_iteration=False)) == \
        values(r(20).shuffle(7, seed=3, reshuffle_each_iteration=False))
    assert values(r(5).prefetch(hr.AUTOTUNE).map(lambda x: -x, num_parallel_calls=2)) == [0, -1, -2, -3, -4]
    assert values(r(5).apply(lambda ds: ds.take(1))) == [0]
    assert r(3, 4).get_single_element() == 3
    assert [x.dtype for x in hr.Dataset.range(1, output_type=hr.float32)] == [np.float32]


def test_ZipKeepsTheNest():
    a, b = hr.Dataset.range(2), hr.Dataset.range(5, 9)
    assert [(int(x), int(y)) for x, y in hr.Dataset.zip(a, b)] == [(0, 5), (1, 6)]
    assert [(int(x), int(y)) for x, y in hr.Dataset.zip((a, b))] == [(0, 5), (1, 6)]
    assert next(iter(hr.Dataset.zip({"a": a, "b": (b, a)}))) == {"a": 0, "b": (5, 0)}


def test_ReadsTextAndTFRecordFiles(tmp_path, digits):
    (tmp_path / "a.txt").write_text("one\ntwo\r\n")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"three\n"))
    a, b = str(tmp_path / "a.txt"), str(tmp_path / "b.txt.gz")
    assert list(hr.TextLineDataset(a)) == [b"one", b"two"]
    assert list(hr.TextLineDataset([b], compression_type="GZIP")) == [b"three"]
    assert list(hr.TextLineDataset(hr.Dataset.from_tensor_slices([a, a]))) == [b"one", b"two"] * 2
    assert sorted(hr.TextLineDataset([a, a], num_parallel_reads=2)) == sorted([b"one", b"two"] * 2)
    files = hr.Dataset.list_files(str(tmp_path / "*.txt"), shuffle=False)
    assert list(files.interleave(hr.TextLineDataset)) == [b"one", b"two"]
    assert isinstance(hr.TextLineDataset(tmp_path / "a.txt"), hr.Dataset)
    features = {"image": hr.io.FixedLenFeature([], hr.string), "label": hr.io.FixedLenFeature([], hr.int64)}
    ds = hr.TFRecordDataset(digits[:1]).map(lambda r: hr.io.parse_single_example(r, features))
    label = next(iter(ds))["label"]
    assert label.dtype == np.int64 and 0 <= label < 10


def test_AFailedElementRaisesInItsPlaceAndTheNextOnesCome():
    it = iter(hr.Dataset.range(5).map(lambda x: 10 // (x - 2)))
    assert [next(it), next(it)] == [-5, -10]
    with pytest.raises(hr.errors.InvalidArgumentError, match="^map: floor_div: integer division by zero"):
        next(it)
    assert list(it) == [10, 5]
    assert list(it) == []
    it.close()


@pytest.mark.parametrize("call, error, text", [
    (lambda d: d.batch(0), ValueError, "batch"),
    (lambda d: d.batch("4"), TypeError, "batch_size must be an int, not str"),
    (lambda d: d.batch(2.0), TypeError, "batch_size"),
    (lambda d: d.batch(True), TypeError, "batch_size"),
    (lambda d: d.batch(2, drop_remainder=1), TypeError, "drop_remainder must be a bool"),
    (lambda d: d.take(None), TypeError, "count"),
    (lambda d: d.shuffle(0), ValueError, "shuffle"),
    (lambda d: d.shuffle(3, seed="x"), TypeError, "seed"),
    (lambda d: d.map(3), TypeError, "map_func must be a function"),
    (lambda d: d.map(lambda x: None), TypeError, "None"),
    (lambda d: d.map(lambda x: hr.Dataset.range(3)), TypeError, "flat_map"),
    (lambda d: d.flat_map(lambda x: x), TypeError, "must give a Dataset"),
    (lambda d: d.filter(lambda x: x), ValueError, "filter"),
    (lambda d: d.map(lambda x: x + "a"), ValueError, "int64"),
    (lambda d: d.map(lambda x, y: x), TypeError, "argument"),
    (lambda d: d.map(lambda x: x, num_parallel_calls=-2), ValueError, "num_parallel_calls"),
    (lambda d: d.concatenate(3), TypeError, "concatenate"),
    (lambda d: d.concatenate(hr.Dataset.from_tensors("a")), ValueError, "concatenate"),
    (lambda d: hr.Dataset.zip(d, 3), TypeError, "zip"),
    (lambda d: hr.Dataset.range(), ValueError, "range"),
    (lambda d: hr.Dataset.range(0, 5, 0), ValueError, "step"),
    (lambda d: hr.Dataset.from_tensor_slices(3), ValueError, "from_tensor_slices"),
    (lambda d: hr.Dataset.from_tensor_slices(([1, 2], [1])), ValueError, "from_tensor_slices"),
    (lambda d: hr.Dataset.from_tensor_slices([[1], [1, 2]]), ValueError, "lengths"),
    (lambda d: hr.Dataset.from_tensors(object()), TypeError, "object"),
    (lambda d: hr.TextLineDataset(3), TypeError, "filenames"),
    (lambda d: hr.TextLineDataset("x", compression_type="LZ4"), ValueError, "LZ4"),
    (lambda d: hr.Dataset(3), TypeError, "constructors"),
    (lambda d: d.with_options({}), TypeError, "Options"),
])
def test_WrongArgumentsNameThemselves(call, error, text):
    with pytest.raises(error, match=text):
        call(hr.Dataset.range(3))


def test_AMissingFileIsNotFoundWithItsName():
    with pytest.raises(hr.errors.NotFoundError, match="/no/such/file"):
        list(hr.TextLineDataset("/no/such/file"))


def test_WhatTheEngineLacksSaysSo():
    with pytest.raises(hr.errors.UnimplementedError, match="no sparse tensors"):
        hr.Dataset.range(3).sparse_batch(2, [3])


def test_OptionsAreKeptAndUnknownOnesRefused():
    options = hr.Options()
    options.deterministic = True
    assert hr.Dataset.range(3).with_options(options).map(lambda x: x).options().deterministic is True
    with pytest.raises(AttributeError, match="no option 'determinstic'"):
        options.determinstic = True
    options.experimental_distribute.num_devices = 2
    with pytest.raises(hr.errors.UnimplementedError, match="experimental_distribute.num_devices"):
        hr.Dataset.range(3).with_options(options)


def test_OptionsTravelWithTheGraph():
    options = hr.Options()
    plain = hr.Dataset.range(3)
    options.threading.private_threadpool_size = 3
    options.autotune.ram_budget = 1 << 20
    assert list(plain.with_options(options)) == [0, 1, 2]
    assert plain.with_options(options)._graph.fingerprint() != plain._graph.fingerprint()
    options.autotune.ram_budget = -1
    with pytest.raises(hr.errors.InvalidArgumentError, match="memory"):
        plain.with_options(options)


def test_ReduceOfNothingIsTheInitialState():
    assert hr.Dataset.range(0).reduce((np.int64(7), np.float32(1)), lambda s, x: (s[0] + x, s[1])) == (7, 1)
    with pytest.raises(TypeError, match="reduce_func"):
        hr.Dataset.range(3).reduce(np.int64(0), 5)


def test_ReduceAndScanTakeNestedStates():
    both = hr.Dataset.range(4).reduce({"sum": np.int64(0), "most": np.int64(-1)}, lambda s, x: {
        "sum": s["sum"] + x, "most": hr.math.maximum(s["most"], x)})
    assert both == {"sum": 6, "most": 3}
    pairs = hr.Dataset.zip(hr.Dataset.range(3), hr.Dataset.range(3, 6))
    assert list(pairs.scan(np.int64(0), lambda s, x: (s + x[0], s + x[1]))) == [3, 4, 6]


def test_ElementsAreSelected():
    assert list(hr.Dataset.range(10).shard(3, 2)) == [2, 5, 8]
    with pytest.raises(hr.errors.InvalidArgumentError, match="shard"):
        hr.Dataset.range(3).shard(2, 2)
    bad = hr.Dataset.from_tensor_slices(["1", "x", "3"]).map(lambda x: hr.strings.to_number(x, hr.int64))
    assert list(bad.ignore_errors()) == [1, 3]
    assert [x.tolist() for x in hr.Dataset.range(5).batch(2).unbatch().take_while(lambda x: x < 3).batch(8)] == [[0, 1, 2]]


def test_DatasetsAreMixed():
    a, b = hr.Dataset.range(100), hr.Dataset.range(100, 200)
    mixed = list(hr.Dataset.sample_from_datasets([a, b], weights=[0.9, 0.1], seed=3))
    assert sorted(mixed) == list(range(200))
    assert sum(x < 100 for x in mixed[:50]) > 25
    with pytest.raises(TypeError, match="only Datasets"):
        hr.Dataset.sample_from_datasets([a, 3])
    with pytest.raises(TypeError, match="choice_dataset"):
        hr.Dataset.choose_from_datasets([a, b], [0, 1])


def test_AGlobalShuffleGivesEachElementOnceInASeededOrder():
    first = list(hr.Dataset.range(1000).global_shuffle(seed=5))
    assert sorted(first) == list(range(1000)) and first != sorted(first)
    assert first == list(hr.Dataset.range(1000).global_shuffle(seed=5))


def test_TheNamesOfTfDataAreThere():
    assert hr.data.Dataset is hr.Dataset
    assert hr.data.experimental.service is hr.experimental.service is hr.service
    assert hr.data.AUTOTUNE == hr.data.experimental.AUTOTUNE == -1


def test_IteratorsGiveTheNextElementOrSayThatThereIsNone():
    it = iter(hr.Dataset.range(1))
    assert it.get_next() == 0
    with pytest.raises(hr.errors.OutOfRangeError, match="no more elements"):
        it.get_next()
    endless = iter(hr.Dataset.range(3).repeat())
    next(endless)
    endless.close()
    assert list(endless) == []


def test_DatasetsArePickled():
    options = hr.Options()
    options.deterministic = False
    ds = hr.Dataset.range(5).map(lambda x: (x, x * x)).batch(2).with_options(options)
    copy = pickle.loads(pickle.dumps(ds))
    assert copy.element_spec == ds.element_spec and copy.options() == options
    assert [a.tolist() for a, _ in copy] == [[0, 1], [2, 3], [4]]


def test_DLPackSharesTheMemory():
    (x,) = hr.Dataset.range(8).map(lambda x: hr.cast(x, hr.float32)).batch(8)
    shared = np.from_dlpack(Shared(x))
    assert shared.ctypes.data == x.ctypes.data and shared.dtype == np.float32 and shared.tolist() == x.tolist()


def test_BatchesOfWholeCacheLinesAreAlignedToThemAndRowsToTheirValues():
    batches = list(hr.Dataset.range(64).map(lambda x: {"x": hr.fill([3], hr.cast(x, hr.float32)), "n": x}).batch(16))
    assert all(b[key].ctypes.data % 64 == 0 for b in batches for key in ("x", "n"))
    rows = list(hr.Dataset.range(64).map(lambda x: hr.fill([3], hr.cast(x, hr.float32))))
    for i, row in enumerate(rows):
        shared = np.from_dlpack(Shared(row))
        assert shared.ctypes.data == row.ctypes.data and row.ctypes.data % 4 == 0 and shared.tolist() == [i] * 3
    assert any(row.ctypes.data % 64 for row in rows)


def test_IteratorsSaveAndRestore():
    ds = hr.Dataset.range(50).map(lambda x: x * 3).shuffle(10).batch(4)
    it = iter(ds)
    head = [next(it).tolist() for _ in range(5)]
    record = it.save()
    rest = values(it)
    assert values(ds.restore(record)) == rest
    other = iter(ds)
    next(other)
    other.restore(record)
    assert values(other) == rest
    assert sorted(sum(head + rest, [])) == [3 * x for x in range(50)]
    start = iter(ds)
    assert len(values(ds.restore(start.save()))) == 13
    with pytest.raises(hr.errors.OpError):
        hr.Dataset.range(3).restore(record)
    with pytest.raises(hr.errors.OpError):
        ds.restore(b"nonsense")
    with pytest.raises(TypeError, match="record"):
        ds.restore("nonsense")
    it.close()
    next(it, None)
    assert values(ds.restore(it.save())) == []
    closed = iter(ds)
    closed.close()
    with pytest.raises(hr.errors.FailedPreconditionError, match="closed"):
        closed.save()


def test_MoreSources(tmp_path):
    (tmp_path / "f").write_bytes(b"HEADaabbccFT")
    ds = hr.FixedLengthRecordDataset(str(tmp_path / "f"), 2, header_bytes=4, footer_bytes=2)
    assert list(ds) == [b"aa", b"bb", b"cc"]
    assert list(hr.FixedLengthRecordDataset([str(tmp_path / "f")], 3, num_parallel_reads=2)) == \
        [b"HEA", b"Daa", b"bbc", b"cFT"]
    assert values(hr.Dataset.counter(3, -2).take(3)) == [3, 1, -1]
    assert hr.Dataset.counter().cardinality() == hr.INFINITE_CARDINALITY
    draws = values(hr.Dataset.random(seed=4).take(5))
    assert draws == values(hr.Dataset.random(seed=4).take(5)) and len(set(draws)) == 5


def test_TablesAreRead(tmp_path):
    (tmp_path / "t.csv").write_text('a,b,c\n1,"x,y",2.5\n2,,\n')
    file = str(tmp_path / "t.csv")
    Csv = hr.experimental.CsvDataset
    assert list(Csv(file, [hr.int64, "none", [0.5]], header=True)) == [(1, b"x,y", 2.5), (2, b"none", 0.5)]
    assert list(Csv([file], [hr.int32], header=True, select_cols=[0])) == [(1,), (2,)]
    assert list(Csv(file, [""], header=True, exclude_cols=[0, 2])) == [(b"x,y",), (b"",)]
    with pytest.raises(hr.errors.OpError, match="t.csv"):
        list(Csv(file, [hr.int64, hr.string, hr.float32], header=True))
    with pytest.raises(ValueError, match="field_delim"):
        Csv(file, [hr.int64], field_delim="::")
    db = sqlite3.connect(tmp_path / "d.sqlite")
    db.execute("create table t(n integer, s text)")
    db.execute("insert into t values (1, 'a'), (2, 'b')")
    db.commit()
    rows = hr.experimental.SqlDataset("sqlite", str(tmp_path / "d.sqlite"), "select * from t order by n",
                                      (hr.int64, hr.string))
    assert list(rows) == [(1, b"a"), (2, b"b")]
