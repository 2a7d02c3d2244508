"""``io.serialize_tensor`` and ``io.parse_tensor``: the bytes are those of TensorFlow."""

from __future__ import annotations

import random

import numpy as np
import pytest

import headrace as hr

# The bytes are the results of TensorFlow 2.21: tf.io.serialize_tensor(tf.constant(value, dtype)).numpy().hex().
OF_TENSORFLOW = [
    (3, hr.int64, "0809120022080300000000000000"),
    ([[1.5, 2], [3, 4]], hr.float32, "08011208120208021202080222100000c03f000000400000404000008040"),
    (["a", "bcd"], hr.string, "08071204120208024201614203626364"),
    ([True, False], hr.bool, "080a12041202080222020100"),
    ([1, 2], hr.uint8, "080412041202080222020102"),
    ([], hr.float32, "080112021200"),
    ([1.5], hr.float16, "08131204120208012202003e"),
    ([1 + 2j], hr.complex128, "08121204120208012210000000000000f03f0000000000000040"),
]


def parsed(data, kind):
    (out,) = hr.Dataset.from_tensors(data).map(lambda s: hr.io.parse_tensor(s, kind))
    return out


@pytest.mark.parametrize("value, kind, expected", OF_TENSORFLOW, ids=lambda x: getattr(x, "name", None))
def test_TheBytesAreThoseOfTensorFlow(value, kind, expected):
    tensor = hr.constant(value, kind)
    (written,) = hr.Dataset.from_tensors(tensor).map(hr.io.serialize_tensor)
    assert written.hex() == expected
    back = parsed(written, kind)
    (same,) = hr.Dataset.from_tensors(tensor)
    assert np.asarray(back).dtype == np.asarray(same).dtype and np.array_equal(back, same)


def test_SoAreThoseOfADtypeThatNumpyLacks():
    ds = hr.Dataset.from_tensors([1.5]).map(lambda x: hr.io.serialize_tensor(hr.cast(x, hr.bfloat16)))
    assert next(iter(ds)).hex() == "080e1204120208012202c03f"
    back = ds.map(lambda s: hr.cast(hr.io.parse_tensor(s, hr.bfloat16), hr.float32))
    assert next(iter(back)).tolist() == [1.5]


def test_TensorsOfDifferentShapesInOneDataset():
    ds = hr.Dataset.range(1, 4).flat_map(lambda n: hr.Dataset.range(n).batch(9)).map(hr.io.serialize_tensor)
    assert [x.tolist() for x in ds.map(lambda s: hr.io.parse_tensor(s, hr.int64))] == [[0], [0, 1], [0, 1, 2]]


def test_TheDocumentedWayIntoAFileAndBack(tmp_path):
    path = str(tmp_path / "a.tfrecord")
    hr.data.experimental.TFRecordWriter(path).write(hr.Dataset.range(3).map(hr.io.serialize_tensor))
    ds = hr.TFRecordDataset(path).map(lambda x: hr.io.parse_tensor(x, hr.int64))
    assert [int(x) for x in ds] == [0, 1, 2]


@pytest.mark.parametrize("data, kind, expected", [
    # The values are not in tensor_content, but in float_val (packed), int_val (one by one), bool_val, and half_val.
    ("0801" "12041202" "0802" "2a08" "0000803f" "00000040", hr.float32, [1, 2]),
    ("0803" "12041202" "0803" "3805" "38feffffffffffffffff01", hr.int32, [5, -2, -2]),
    ("080a" "12041202" "0802" "5a020100", hr.bool, [True, False]),
    ("0813" "12041202" "0802" "6a02807c", hr.float16, None),
])
def test_ValuesInFieldsOfTheirOwnAreReadToo(data, kind, expected):
    out = parsed(bytes.fromhex(data), kind)
    assert out.shape[0] in (2, 3) and (expected is None or out.tolist() == expected)


@pytest.mark.parametrize("data, text", [
    (bytes.fromhex("0809120022080300000000000000"), "it is a tensor of int64, and out_type is float32"),
    (b"\x0a", "no serialised tensor"),
    (bytes.fromhex("080112041202" "0803" "22080000c03f00000040"), "8 bytes of values in a shape of 3"),
    (bytes.fromhex("0801" "120c120a08" "ffffffffffffffff7f" "2a040000803f"), "too large"),
    (bytes.fromhex("0801" "1208120608" "8080808008" "2a040000803f"), "more than a GiB"),
    (b"", "TensorFlow's dtype 0"),
])
def test_DamagedBytesAreErrorsOfTheElement(data, text):
    with pytest.raises(hr.errors.OpError, match=text):
        parsed(data, hr.float32)


def test_OneNumberOfAxesInADataset():
    rows = [bytes.fromhex(OF_TENSORFLOW[0][2]), bytes.fromhex("0809" "12041202" "0801" "22080300000000000000")]
    ds = hr.Dataset.from_tensor_slices(rows).batch(2).unbatch().map(lambda s: hr.io.parse_tensor(s, hr.int64))
    out = []
    it = iter(ds)
    for _ in rows:
        try:
            out.append(np.ndim(next(it)))
        except hr.errors.InvalidArgumentError as e:
            assert "all must have as many" in str(e)
    assert out in ([0], [0, 1])  # the second row succeeds only if each row is in a separate block


def test_AnyBytesAreReadOrRefused():
    seed = random.randrange(1 << 30)
    print("seed", seed)
    draw = random.Random(seed)
    rows = []
    for _ in range(3_000):
        value, kind, text = draw.choice([x for x in OF_TENSORFLOW if x[1] in (hr.float32, hr.string)])
        data = bytearray.fromhex(text)
        for _ in range(draw.randint(1, 3)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        rows.append(bytes(data[:draw.randrange(len(data) + 1)]))
    for kind in (hr.float32, hr.string):
        list(hr.Dataset.from_tensor_slices(rows).map(lambda s: hr.io.parse_tensor(s, kind)).ignore_errors())


def test_TheOperandIsAString():
    with pytest.raises(hr.errors.InvalidArgumentError, match="a scalar string is needed"):
        hr.Dataset.range(1).map(lambda x: hr.io.parse_tensor(x, hr.int64))
