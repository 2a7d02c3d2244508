"""Functions that make batches from files in one call, as TensorFlow documents them."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

import headrace as hr

ONCE = {"num_epochs": 1, "shuffle": False}


@pytest.fixture
def tables(tmp_path):
    (tmp_path / "a.csv").write_text('id,name,score,big,mixed,empty\n1,ann,1.5,3000000000,1,\n2,"b,ob",,5,x,\n')
    (tmp_path / "b.csv").write_text("id,name,score,big,mixed,empty\n3,,2,1e50,2.5,\n")
    return tmp_path


def csv(path, batch=5, **how):
    out = []
    for element in hr.experimental.make_csv_dataset(str(path), batch, **{**ONCE, **how}):
        features, label = element if isinstance(element, tuple) else (element, None)
        out.append({key: x.tolist() for key, x in features.items()} if label is None else
                   ({key: x.tolist() for key, x in features.items()}, label.tolist()))
    return out


def test_TablesBecomeBatchesOfColumnsWhoseTypesAreFound(tables):
    ds = hr.experimental.make_csv_dataset(str(tables / "*.csv"), 2, **ONCE)
    first, second = list(ds)
    assert {key: x.dtype for key, x in first.items()} == {
        "id": np.int32, "name": object, "score": np.float32, "big": np.float64, "mixed": object, "empty": object}
    assert first["score"].tolist() == [1.5, 0.0] and first["name"].tolist() == [b"ann", b"b,ob"]
    assert second["big"].tolist() == [1e50] and second["empty"].tolist() == [b""]


def test_ColumnsAreSelectedAndNamed(tables):
    assert csv(tables / "a.csv", label_name="id", select_columns=["id", "score"]) == [({"score": [1.5, 0.0]}, [1, 2])]
    assert csv(tables / "a.csv", select_columns=[3, 0]) == [{"id": [1, 2], "big": [3000000000, 5]}]
    assert csv(tables / "a.csv", select_columns=["score"], column_defaults=[9.0]) == [{"score": [1.5, 9.0]}]
    (tables / "c.txt").write_text('1|"q\n')
    assert csv(tables / "c.txt", column_names=["x", "y"], header=False, field_delim="|", use_quote_delim=False) == [
        {"x": [1], "y": [b'"q']}]
    with gzip.open(tables / "z.gz", "wt") as to:
        to.write("id,v\n7,8\n")
    assert csv(tables / "z.gz", compression_type="GZIP") == [{"id": [7], "v": [8]}]


def test_TablesAreRepeatedAndShuffled(tables):
    endless = hr.experimental.make_csv_dataset(str(tables / "*.csv"), 2, select_columns=["id"], shuffle=False)
    assert [x["id"].tolist() for x in endless.take(3)] == [[1, 2], [3, 1], [2, 3]]
    mixed = csv(tables / "*.csv", batch=1, select_columns=["id"], num_epochs=20, shuffle=True, shuffle_seed=1)
    ids = [x["id"][0] for x in mixed]
    assert sorted(ids) == sorted([1, 2, 3] * 20) and ids != [1, 2, 3] * 20


def test_RowsThatDoNotFitAreErrorsOrLeftOut(tables):
    with pytest.raises(hr.errors.InvalidArgumentError, match="column 'mixed': 'x' is no int32"):
        csv(tables / "a.csv", num_rows_for_inference=1)
    assert csv(tables / "a.csv", num_rows_for_inference=1, ignore_errors=True)[0]["id"] == [1]


@pytest.mark.parametrize("how, text", [
    ({"label_name": "zz"}, "label_name must be one of"), ({"select_columns": ["zz"]}, "no column 'zz'"),
    ({"select_columns": [9]}, "no column 9"), ({"column_names": ["a"] * 6}, "different names"),
    ({"column_defaults": [1]}, "one for each of the 6 columns, not 1"),
])
def test_WrongArgumentsAreNamed(tables, how, text):
    with pytest.raises(ValueError, match=text):
        csv(tables / "a.csv", **how)


def test_FilesMustBeThereAndHaveOneHeader(tables):
    with pytest.raises(ValueError, match="no file matches"):
        csv(tables / "*.nope")
    (tables / "d.csv").write_text("id\n1\n")
    with pytest.raises(hr.errors.InvalidArgumentError, match="d.csv' has the columns"):
        csv(tables / "*.csv")


def test_BatchesOfFeatures(tmp_path):
    features = {"n": hr.io.FixedLenFeature([], hr.int64, -1),
                "v": hr.io.FixedLenSequenceFeature([], hr.float32, allow_missing=True)}
    with hr.io.TFRecordWriter(tmp_path / "r.tfrecord") as to:
        to.write(b"")
        to.write(b"\n\x0b\n\x09\n\x01n\x12\x04\x1a\x02\x08\x05")
    made = hr.experimental.make_batched_features_dataset
    (batch,) = made(str(tmp_path / "*.tfrecord"), 2, features, **ONCE)
    assert batch["n"].tolist() == [-1, 5] and batch["v"].shape == (2, 0)
    ((rest, label),) = made(str(tmp_path / "*.tfrecord"), 2, features, label_key="n", num_epochs=1)
    assert sorted(label.tolist()) == [-1, 5] and list(rest) == ["v"]
    assert [x["n"].tolist() for x in made(str(tmp_path / "*"), 2, features, shuffle=False).take(2)] == [[-1, 5]] * 2
    with pytest.raises(ValueError, match="label_key"):
        made(str(tmp_path / "*"), 2, features, label_key="zz")


def test_OptionsOfStrategiesThatChangeNothing():
    options = hr.Options()
    options.experimental_distribute.auto_shard_policy = hr.data.experimental.AutoShardPolicy.OFF
    assert list(hr.Dataset.range(2).with_options(options)) == [0, 1]
    options.experimental_distribute.auto_shard_policy = hr.data.experimental.AutoShardPolicy.DATA
    assert list(hr.Dataset.range(2).with_options(options)) == [0, 1]
