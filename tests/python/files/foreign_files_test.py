"""Files that other programs write in less common ways."""

import io
import sqlite3
import struct
import tarfile

import headrace as hr
from headrace.data.experimental import SqlDataset, TarDataset


def test_MembersOfTarFilesThatEndWithAHoleAreWhole(tmp_path):
    size = 1 << 20
    data = b"x" * 4096
    path = str(tmp_path / "sparse.tar")
    # The old GNU format: the header of a sparse member lists the parts that have data, and its size.
    info = tarfile.TarInfo("a.bin")
    info.size = len(data)
    info.type = b"S"
    header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    parts = [(0, len(data)), (size, 0)]
    for i, (offset, count) in enumerate(parts):
        header[386 + 24 * i:386 + 24 * (i + 1)] = b"%011o\0%011o\0" % (offset, count)
    header[483:495] = b"%011o\0" % size
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    with open(path, "wb") as file:
        file.write(bytes(header) + data + bytes(1024))
    with tarfile.open(path) as tar:
        assert tar.extractfile("a.bin").read() == data + bytes(size - len(data))
    [sample] = TarDataset([path], ["bin"])
    assert sample["bin"] == data + bytes(size - len(data))


def test_TextOfDatabasesInUtf16IsUtf8(tmp_path):
    path = str(tmp_path / "wide.db")
    with sqlite3.connect(path) as to:
        to.execute("pragma encoding='UTF-16le'")
        to.execute("create table t(a text, b integer, c blob)")
        to.execute("insert into t values('hello \u00e9', 7, x'00ff')")
    to.close()
    rows = list(SqlDataset("sqlite", path, "select a, b, c from t", (hr.string, hr.string, hr.string)))
    assert rows == [("hello \u00e9".encode(), b"7", b"\x00\xff")]
