"""How record files are compressed."""

from __future__ import annotations

import os

import pytest

import headrace as hr
from headrace.io import TFRecordCompressionType, TFRecordOptions


@pytest.mark.parametrize("given, kind, magic", [
    (TFRecordOptions("GZIP"), "GZIP", b"\x1f\x8b"), (TFRecordOptions(TFRecordCompressionType.GZIP), "GZIP", b"\x1f\x8b"),
    (TFRecordOptions("ZLIB", compression_level=9), "ZLIB", b"\x78\xda"), (TFRecordOptions(), "", None),
    (TFRecordOptions(TFRecordOptions("ZLIB", compression_level=1)), "ZLIB", b"\x78"), ("GZIP", "GZIP", b"\x1f\x8b"),
    (TFRecordOptions("", mem_level=9, flush_mode=1, input_buffer_size=3), "", None),
])
def test_OptionsSayTheFormat(tmp_path, given, kind, magic):
    path = str(tmp_path / "a")
    with hr.io.TFRecordWriter(path, given) as to:
        to.write(b"one" * 100)
    assert list(hr.TFRecordDataset(path, kind)) == [b"one" * 100]
    assert TFRecordOptions.get_compression_type_string(given) == kind
    with open(path, "rb") as file:
        assert magic is None or file.read(2).startswith(magic)


def test_TheLevelSaysHowSmall(tmp_path):
    sizes = []
    for level in (0, 9):
        path = tmp_path / str(level)
        with hr.io.TFRecordWriter(str(path), TFRecordOptions("GZIP", compression_level=level)) as to:
            to.write(b"one" * 1000)
        sizes.append(path.stat().st_size)
    assert sizes[0] > 3000 > sizes[1]


@pytest.mark.parametrize("options, error, text", [
    ({"compression_type": "LZMA"}, ValueError, "'LZMA'"), ({"compression_level": 10}, ValueError, "between 0 and 9"),
    ({"window_bits": 15}, hr.errors.UnimplementedError, "window_bits"),
    ({"compression_level": "high"}, TypeError, "compression_level"),
])
def test_OptionsThatAreNoneSaySo(options, error, text):
    with pytest.raises(error, match=text):
        TFRecordOptions(**options)


def test_AWriterTakesOptionsAlone(tmp_path):
    with pytest.raises(TypeError, match="TFRecordOptions or None, not int"):
        hr.io.TFRecordWriter(str(tmp_path / "a"), 3)


def test_APathMayBeATensorThatIsTheSameForAllElements(tmp_path):
    path = hr.strings.join([str(tmp_path), "a"], "/")
    hr.experimental.TFRecordWriter(path).write(hr.Dataset.from_tensor_slices(["a", "b"]))
    assert list(hr.TFRecordDataset(path)) == [b"a", b"b"]
    with hr.io.TFRecordWriter(hr.constant(str(tmp_path / "b"))) as to:
        to.write(b"c")
    assert list(hr.TFRecordDataset(str(tmp_path / "b"))) == [b"c"]
    with pytest.raises(TypeError, match="must be the same for all elements.*experimental.TFRecordWriter"):
        hr.Dataset.range(2).map(lambda x: hr.io.TFRecordWriter(hr.strings.as_string(x)))
    for writer in (hr.experimental.TFRecordWriter, hr.io.TFRecordWriter):
        with pytest.raises(TypeError, match="must be a path, not int"):
            writer(3)


def test_AFunctionWritesAFileForEachElement(tmp_path):
    def write(i, words):
        name = hr.strings.join([str(tmp_path), hr.strings.as_string(i)], "/")
        hr.experimental.TFRecordWriter(name, "GZIP").write(words)
        return name
    windows = hr.Dataset.from_tensor_slices(["a", "b", "c"]).window(2).enumerate()
    names = [os.fsdecode(x) for x in windows.map(write, num_parallel_calls=2)]
    assert names == [str(tmp_path / "0"), str(tmp_path / "1")]
    assert [list(hr.TFRecordDataset(x, "GZIP")) for x in names] == [[b"a", b"b"], [b"c"]]


def test_WhatAFunctionGivesComesOnceItsFilesAreWritten(tmp_path):
    def copied(key, words):
        for name in ("a", "b"):
            hr.experimental.TFRecordWriter(str(tmp_path / name)).write(words)
        return hr.TFRecordDataset(str(tmp_path / "a")).concatenate(hr.TFRecordDataset(str(tmp_path / "b")))
    ds = hr.Dataset.from_tensor_slices(["x", "y"]).group_by_window(lambda x: 0, copied, 1)
    assert list(ds) == [b"x", b"x", b"y", b"y"]


def test_AFunctionThatWritesFailsWithItsRecords(tmp_path):
    def write(key, numbers):
        words = numbers.map(lambda x: hr.strings.as_string(6 // x))
        hr.experimental.TFRecordWriter(str(tmp_path / "a")).write(words)
        return numbers
    ds = hr.Dataset.from_tensor_slices([1, 0]).group_by_window(lambda x: 0, write, 2)
    with pytest.raises(hr.errors.InvalidArgumentError, match="write_tfrecord.*a': map: .*division by zero"):
        list(ds)
    assert not list(tmp_path.iterdir())


def test_WritingInABranchIsRefused(tmp_path):
    to = hr.experimental.TFRecordWriter(str(tmp_path / "a"))
    words = hr.Dataset.from_tensor_slices(["x"])
    with pytest.raises(hr.errors.UnimplementedError, match="cannot stand in a branch.*filter the elements"):
        hr.Dataset.range(2).map(lambda x: hr.cond(x > 0, lambda: (to.write(words), x)[1], lambda: x))


def test_WorkersWriteNoRecords(tmp_path):
    def write(key, words):
        hr.experimental.TFRecordWriter(str(tmp_path / "a")).write(words)
        return words
    ds = hr.Dataset.from_tensor_slices(["x"]).group_by_window(lambda x: 0, write, 2)
    with pytest.raises(ValueError, match="distribute: the dataset writes TFRecord files.*in the program that reads"):
        ds.apply(hr.experimental.service.distribute("distributed_epoch", "grpc://localhost:1"))
    with pytest.raises(ValueError, match="register_dataset: the dataset writes TFRecord files"):
        hr.experimental.service.register_dataset("grpc://localhost:1", ds)
    with pytest.raises(ValueError, match="the dataset writes TFRecord files"):
        hr.experimental.distributed_save(ds, str(tmp_path / "saved"), "grpc://localhost:1")
