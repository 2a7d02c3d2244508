"""Elements that are batches of different shapes, windows and groups; files of samples."""

from __future__ import annotations

import collections
import io
import pickle
import tarfile

import numpy as np
import pytest

import headrace as hr
from headrace import experimental


def values(ds):
    return [x.tolist() if isinstance(x, (np.ndarray, np.generic)) else x for x in ds]


def vectors(*lengths):
    """Vectors 0, 1, 2 ... of these lengths."""
    ds = hr.Dataset.from_tensor_slices(np.array(lengths, np.int64))
    return ds.flat_map(lambda n: hr.Dataset.range(n).batch(1000))


def add(total, x):
    return total + x


def test_AWindowIsADatasetInFunctions():
    ds = hr.Dataset.range(7).window(3, shift=2)
    assert ds.element_spec == hr.DatasetSpec(hr.TensorSpec([], hr.int64))
    assert values(ds.flat_map(lambda w: w.batch(3))) == [[0, 1, 2], [2, 3, 4], [4, 5, 6], [6]]
    assert values(ds.flat_map(lambda w: w)) == [0, 1, 2, 2, 3, 4, 4, 5, 6, 6]
    assert values(ds.interleave(lambda w: w.map(lambda x: x * 10), cycle_length=2)) == \
        [0, 20, 10, 30, 20, 40, 40, 60, 50, 60]
    assert values(ds.skip(1).shuffle(1).flat_map(lambda w: w.batch(9)))[0] == [2, 3, 4]
    assert values(hr.Dataset.range(7).window(3, 1, 2, True).flat_map(lambda w: w.batch(3))) == \
        [[0, 2, 4], [1, 3, 5], [2, 4, 6]]


def test_AWindowOfANestIsANestOfDatasets():
    pairs = hr.Dataset.range(5).map(lambda x: {"a": x, "b": (x * 2, "s")}).window(2)
    out = list(pairs.flat_map(lambda w: hr.Dataset.zip({"x": w["a"].batch(2), "y": w["b"][0].batch(2)})))
    assert [x["y"].tolist() for x in out] == [[0, 2], [4, 6], [8]]
    two = hr.Dataset.zip(hr.Dataset.range(3), hr.Dataset.range(5, 8)).window(2)
    assert [(a.tolist(), b.tolist()) for a, b in
            two.flat_map(lambda a, b: hr.Dataset.zip((a.batch(2), b.batch(2))))] == [([0, 1], [5, 6]), ([2], [7])]


@pytest.mark.parametrize("calls", [None, 3, hr.AUTOTUNE])
def test_AMapReadsTheDatasetsThatItIsGiven(calls):
    ds = hr.Dataset.range(6).window(2).enumerate()

    def f(i, w):
        total = w.reduce(np.int64(0), add)
        most = w.map(lambda x: x * total).reduce(np.int64(-1), hr.maximum)  # uses the result of the first reading
        return {"i": i, "total": total, "most": most}
    out = list(ds.map(f, num_parallel_calls=calls))
    assert [(x["i"], x["total"], x["most"]) for x in out] == [(0, 1, 1), (1, 5, 15), (2, 9, 45)]
    assert values(hr.Dataset.range(4).window(2).map(lambda w: w.batch(5).get_single_element())) == [[0, 1], [2, 3]]


def test_ReadingADatasetThatIsGivenFailsWhereThereIsNotOneElement():
    ds = iter(hr.Dataset.range(3).window(2).map(lambda w: w.get_single_element()))
    with pytest.raises(hr.errors.InvalidArgumentError, match="more than one element"):
        next(ds)
    assert next(ds) == 2


def test_AWindowIsNoTensor(cluster):
    ds = hr.Dataset.range(6).window(2)
    with pytest.raises(hr.errors.InvalidArgumentError, match="take the datasets apart before"):
        ds.apply(hr.service.distribute("off", cluster(1).target))
    with pytest.raises(hr.errors.InvalidArgumentError, match="batch: the input gives dataset"):
        ds.batch(2)
    with pytest.raises(TypeError, match="must give tensors, not a dataset; use flat_map"):
        ds.map(lambda w: w)


def test_ReduceRunsHereOutsideOfFunctions():
    assert hr.Dataset.range(5).reduce(np.int64(7), add) == 17
    assert hr.Dataset.range(0).reduce(np.int64(7), add) == 7
    assert hr.Dataset.range(3).reduce((np.int64(0), 1.0), lambda s, x: (s[0] + x, s[1] * 2)) == (3, 8.0)
    with pytest.raises(hr.errors.InvalidArgumentError, match="division by zero"):
        hr.Dataset.range(3).reduce(np.int64(0), lambda s, x: s + 6 // x)


def test_GroupsByWindow():
    ds = hr.Dataset.range(10).group_by_window(lambda x: x % 3, lambda key, xs: xs.batch(2), window_size=2)
    assert values(ds) == [[0, 3], [1, 4], [2, 5], [6, 9], [7], [8]]
    ds = hr.Dataset.range(6).enumerate().group_by_window(
        lambda i, x: x % 2, lambda key, xs: xs.map(lambda i, x: (key, x * 10)), window_size_func=lambda key: key + 1)
    assert list(ds) == [(0, 0), (0, 20), (1, 10), (1, 30), (0, 40), (1, 50)]
    with pytest.raises(ValueError, match="either window_size or window_size_func"):
        hr.Dataset.range(3).group_by_window(lambda x: x, lambda k, xs: xs)
    with pytest.raises(hr.errors.InvalidArgumentError, match="key_func gives float32"):
        hr.Dataset.range(3).group_by_window(lambda x: hr.cast(x, hr.float32), lambda k, xs: xs, 1)
    with pytest.raises(TypeError, match="reduce_func .* must give a Dataset"):
        hr.Dataset.range(3).group_by_window(lambda x: x, lambda k, xs: k, 1)


def test_BucketsBySequenceLength():
    ds = vectors(1, 5, 2, 7, 3, 4, 2)
    out = ds.bucket_by_sequence_length(lambda x: hr.size(x), [3, 5], [2, 2, 1])
    assert [x.shape for x in out] == [(1, 5), (2, 2), (1, 7), (2, 4), (1, 2)]
    out = vectors(1, 3, 2, 4).bucket_by_sequence_length(lambda x: hr.size(x), [3, 6], [2, 2, 2], padding_values=-1,
                                                        pad_to_bucket_boundary=True)
    assert values(out) == [[[0, -1], [0, 1]], [[0, 1, 2, -1, -1], [0, 1, 2, 3, -1]]]
    with pytest.raises(hr.errors.InvalidArgumentError, match="1 batch sizes for 1 boundaries"):
        vectors(1).bucket_by_sequence_length(lambda x: hr.size(x), [3], [2])


def test_PadsBatches():
    ds = vectors(1, 2, 3)
    assert values(ds.padded_batch(2)) == [[[0, 0], [0, 1]], [[0, 1, 2]]]
    assert values(ds.padded_batch(2, 4, -1, True)) == [[[0, -1, -1, -1], [0, 1, -1, -1]]]
    nest = ds.map(lambda x: {"x": x, "s": hr.strings.as_string(x)})
    (first, _) = nest.padded_batch(2, {"x": [None], "s": [3]}, {"x": np.int64(7), "s": "-"})
    assert first["x"].tolist() == [[0, 7], [0, 1]]
    assert first["s"].tolist() == [[b"0", b"-", b"-"], [b"0", b"1", b"-"]]
    with pytest.raises(ValueError, match="padded_shapes has 1 parts; the elements have 2"):
        nest.padded_batch(2, {"x": [None]})
    with pytest.raises(TypeError, match="1.5 is no int64"):
        ds.padded_batch(2, padding_values=1.5)
    with pytest.raises(hr.errors.DataLossError, match="larger than the padded shape"):
        list(ds.padded_batch(3, [2]))


def test_PaddedShapesAndValuesAreFoundByTheKeysOfTheElements():
    ds = hr.Dataset.from_tensors({"a": np.zeros(2), "b": (np.ones(3), np.ones(1))})
    shapes, fill = {"b": ([5], [2]), "a": [3]}, {"b": (7.0, 6.0), "a": 9.0}
    for (padded,) in (ds.padded_batch(1, shapes, fill),
                      ds.bucket_by_sequence_length(lambda e: hr.size(e["a"]), [5], [1, 1], shapes, fill)):
        assert padded["a"].tolist() == [[0, 0, 9]]
        assert [x.tolist() for x in padded["b"]] == [[[1, 1, 1, 7, 7]], [[1, 6]]]
    pair = collections.namedtuple("pair", "x y")
    (padded,) = hr.Dataset.from_tensors(pair([1], [2])).padded_batch(1, [[2], [3]])
    assert type(padded) is pair and padded.x.tolist() == [[1, 0]] and padded.y.tolist() == [[2, 0, 0]]


@pytest.mark.parametrize("shapes, why", [
    ({"a": [3], "c": [5]}, r"padded_shapes is a dict with the keys \['a', 'c'\]; .* the keys \['a', 'b'\]"),
    ({"a": [3]}, r"has 1 parts; the elements have 2 there: the keys \['a'\], and not \['a', 'b'\]"),
    (([3], [5]), r"padded_shapes is a tuple of 2 parts; the elements have a dict"),
    ({"a": [3], "b": [5]}, r"padded_shapes\['b'\] has 1 parts; the elements have 2 there"),
    ({"a": ([3], [4]), "b": ([5], [1])}, r"padded_shapes\['a'\] is a tuple of 2 parts; the elements have TensorSpec"),
    ({"a": [3], "b": {"x": [5], "y": [1]}}, r"padded_shapes\['b'\] is a dict .*; the elements have a tuple of 2"),
])
def test_PaddedShapesOfAnotherStructureAreRefused(shapes, why):
    ds = hr.Dataset.from_tensors({"a": np.zeros(2), "b": (np.ones(3), np.ones(1))})
    with pytest.raises(ValueError, match=why):
        ds.padded_batch(1, shapes)


def test_RaggedBatchesKeepTheirRows():
    ds = vectors(2, 1, 3)
    (r,) = ds.ragged_batch(3)
    assert isinstance(r, hr.RaggedTensor)
    assert r.to_list() == [[0, 1], [0], [0, 1, 2]]
    assert r.values.tolist() == [0, 1, 0, 0, 1, 2] and r.row_lengths().tolist() == [2, 1, 3]
    assert r.row_splits.tolist() == [0, 2, 3, 6] and len(r) == 3 and r[2].tolist() == [0, 1, 2]
    assert r.to_tensor(-1).tolist() == [[0, 1, -1], [0, -1, -1], [0, 1, 2]]
    spec = ds.ragged_batch(3).element_spec
    assert isinstance(spec, hr.RaggedTensorSpec) and spec.shape == [None, None] and spec.dtype == hr.int64
    assert pickle.loads(pickle.dumps(r)).to_list() == r.to_list()


def test_RaggedTensorsAreReadAndMadeByFunctions():
    ds = vectors(2, 1, 3).ragged_batch(2)
    assert values(ds.map(lambda r: r.to_tensor(9))) == [[[0, 1], [0, 9]], [[0, 1, 2]]]
    assert [x.to_list() for x in ds.map(lambda r: r.with_flat_values(r.values * 2))] == [[[0, 2], [0]], [[0, 2, 4]]]
    assert values(ds.map(lambda r: r.row_splits)) == [[0, 2, 3], [0, 3]]
    made = hr.Dataset.range(3).map(lambda n: hr.RaggedTensor.from_row_lengths(
        hr.constant([1, 2, 3]), hr.stack([n, 3 - n])))
    assert [x.to_list() for x in made] == [[[], [1, 2, 3]], [[1], [2, 3]], [[1, 2], [3]]]
    pairs = ds.enumerate().map(lambda i, r: {"i": i, "r": r})
    assert [x["r"].to_list() for x in pairs] == [[[0, 1], [0]], [[0, 1, 2]]]


def test_RaggedTensorsOfSeveralAxes():
    ds = vectors(2, 1).map(lambda x: hr.stack([x, x + 5]))
    (r,) = ds.ragged_batch(2)
    assert r.ragged_rank == 2
    assert r.to_list() == [[[0, 1], [5, 6]], [[0], [5]]]
    assert r[1].to_list() == [[0], [5]]
    assert r.to_tensor().tolist() == [[[0, 1], [5, 6]], [[0, 0], [5, 0]]]
    assert [x.tolist() for x in ds.ragged_batch(2).map(lambda r: r.to_tensor())] == [r.to_tensor().tolist()]


@pytest.mark.parametrize("lengths, text", [([1], "add up to 1"), ([-1, 4], "0 or more"), ([[3]], "vector")])
def test_RaggedTensorsHaveRowsThatFit(lengths, text):
    with pytest.raises(ValueError, match=text):
        hr.RaggedTensor.from_row_lengths(np.arange(3), np.array(lengths))


def test_ResamplesByRejection():
    ds = hr.Dataset.range(9000).rejection_resample(lambda x: x % 3, [0.2, 0.2, 0.6], seed=5)
    classes = np.array([c for c, _ in ds])
    assert np.allclose(np.bincount(classes) / len(classes), [0.2, 0.2, 0.6], atol=0.04)
    assert list(ds.take(50)) == list(ds.take(50))
    with pytest.raises(ValueError, match="target_dist must be one number a class"):
        hr.Dataset.range(3).rejection_resample(lambda x: x, 0.5)


def test_RebatchesRows():
    assert values(hr.Dataset.range(7).batch(3).rebatch(2, drop_remainder=True)) == [[0, 1], [2, 3], [4, 5]]


def test_TheseOperatorsResume():
    ds = hr.Dataset.range(60).window(5, 3).flat_map(lambda w: w.batch(5)).map(hr.reduce_sum)
    ds = ds.group_by_window(lambda x: x % 2, lambda k, xs: xs.batch(3), 3)
    at = iter(ds)
    first = [next(at).tolist() for _ in range(3)]
    assert first + values(ds.restore(at.save())) == values(ds)


def test_WritesTFRecords(tmp_path):
    path = tmp_path / "some.tfrecord"
    with hr.io.TFRecordWriter(path, "GZIP") as to:
        to.write(b"one")
        to.write(b"\0\xff")
        assert not path.exists()
    assert list(hr.TFRecordDataset(path, "GZIP")) == [b"one", b"\0\xff"]
    with pytest.raises(ZeroDivisionError):
        with hr.io.TFRecordWriter(tmp_path / "other"):
            raise ZeroDivisionError
    assert [x.name for x in tmp_path.iterdir()] == ["some.tfrecord"]
    with pytest.raises(hr.errors.NotFoundError):
        hr.io.TFRecordWriter("/no/such/folder/x")
    with pytest.raises(TypeError, match="a record is bytes"):
        hr.io.TFRecordWriter(path).write("text")


def test_ReadsJsonLines(tmp_path):
    path = tmp_path / "some.jsonl"
    path.write_text('{"x": 1, "v": [1, 2], "other": null}\n{"v": [], "s": "b"}\n{"x": "no", "v": []}\n')
    ds = experimental.JsonLinesDataset(path, {"x": -1, "v": hr.TensorSpec([None], hr.float32), "s": "none"})
    at = iter(ds)
    first, second = next(at), next(at)
    assert (first["x"], first["v"].tolist(), first["s"]) == (1, [1.0, 2.0], b"none")
    assert (second["x"], second["v"].tolist(), second["s"]) == (-1, [], b"b")
    with pytest.raises(hr.errors.InvalidArgumentError, match="some.jsonl"):
        next(at)


def test_ReadsTarSamples(tmp_path):
    path = tmp_path / "some.tar.gz"
    with tarfile.open(path, "w:gz") as to:
        for name, content in [("a/1.txt", b"one"), ("a/1.num", b"1"), ("a/2.txt", b"two")]:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            to.addfile(member, io.BytesIO(content))
    ds = experimental.TarDataset(path, ["txt", "num"], skip_incomplete=True)
    assert list(ds) == [{"__key__": b"a/1", "txt": b"one", "num": b"1"}]
    with pytest.raises(hr.errors.OpError, match="a/2"):
        list(experimental.TarDataset(path, ["txt", "num"]))
    with pytest.raises(TypeError, match="several strings"):
        experimental.TarDataset(path, "txt")


def test_WindowsAndRaggedBatchesRunOnAService(cluster):
    dispatcher = cluster(1)
    remote = hr.experimental.service.distribute("parallel_epochs", dispatcher.target)
    windows = hr.Dataset.range(20).window(4, shift=3).flat_map(lambda w: w.batch(4))
    assert values(windows.apply(remote)) == values(windows)
    ragged = vectors(2, 1, 3, 4).ragged_batch(2).enumerate()
    assert [(i, r.to_list()) for i, r in ragged.apply(remote)] == [(i, r.to_list()) for i, r in ragged]
    groups = hr.Dataset.range(30).group_by_window(lambda x: x % 4, lambda k, xs: xs.batch(3), 3)
    assert values(groups.apply(remote)) == values(groups)
    with pytest.raises(hr.errors.InvalidArgumentError, match="must give tensors"):
        hr.Dataset.range(4).window(2).apply(remote)
