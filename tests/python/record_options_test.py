"""How record files are compressed."""

from __future__ import annotations

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
    for writer in (hr.experimental.TFRecordWriter, hr.io.TFRecordWriter):
        with pytest.raises(TypeError, match="must be the same for all elements.*shard_func"):
            hr.Dataset.range(2).map(lambda x: writer(hr.strings.as_string(x)))
        with pytest.raises(TypeError, match="must be a path, not int"):
            writer(3)


def test_AFunctionWritesNoFiles(tmp_path):
    def write(key, ds):
        hr.experimental.TFRecordWriter(str(tmp_path / "a")).write(ds)
        return ds
    with pytest.raises(hr.errors.UnimplementedError, match="writes no files.*shard_func"):
        hr.Dataset.from_tensor_slices(["a"]).group_by_window(lambda x: 0, write, 2)
