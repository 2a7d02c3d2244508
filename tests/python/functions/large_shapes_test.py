"""Tensors without values, or made by broadcasting, whose other extents are very large."""

import numpy as np
import pytest

import headrace as hr
from headrace.data import Dataset


def varint(x):
    out = b""
    while x > 127:
        out += bytes([x & 127 | 128])
        x >>= 7
    return out + bytes([x])


def serialized(dims):
    """A serialised TensorProto of float32 with this shape and without values."""
    body = b""
    for extent in dims:
        dim = b"\x08" + varint(extent)
        body += b"\x12" + varint(len(dim)) + dim
    return b"\x08\x01\x12" + varint(len(body)) + body


def values(dims):
    return list(Dataset.from_tensors(np.array(dims, np.int64)).map(lambda n: hr.reduce_sum(hr.zeros([n[0], n[1]]), 1)))


@pytest.mark.parametrize("dims", [[0, 2**60, 16], [2**62, 0], [2**32, 2**32, 0]])
def test_a_serialised_tensor_may_not_be_too_large(dims):
    ds = Dataset.from_tensors(serialized(dims)).map(lambda s: hr.io.parse_tensor(s, hr.float32))
    with pytest.raises(hr.errors.InvalidArgumentError, match="too large"):
        list(ds)


def test_a_serialised_tensor_without_values_is_read():
    ds = Dataset.from_tensors(serialized([3, 0, 5])).map(lambda s: hr.io.parse_tensor(s, hr.float32))
    assert next(iter(ds)).shape == (3, 0, 5)


def test_computed_extents_may_not_be_too_large():
    assert values([2, 0])[0].tolist() == [0, 0]
    for dims in ([2**62, 0], [0, 2**62], [2**41, 0]):
        with pytest.raises(hr.errors.InvalidArgumentError, match="too large"):
            values(dims)


def test_broadcast_rows_may_not_be_too_large():
    parts = (np.zeros([2**16, 1, 1, 1], np.bool_), np.zeros([2**16, 1, 1], np.int8), np.zeros([2**16, 1], np.int8),
             np.zeros([2**16], np.int8))

    def sum_of(a, b, c, d):
        return hr.where(a, hr.where(b > 0, c, d), d)[0, 0, 0, 0]

    with pytest.raises((hr.errors.InvalidArgumentError, ValueError), match="too large"):
        list(Dataset.from_tensors(parts).map(sum_of))

    def of_unknown_extents(n):
        return hr.where(hr.zeros([n, 1, 1]) < 1, hr.zeros([n, 1]), hr.zeros([n]))[0, 0, 0]

    with pytest.raises(hr.errors.InvalidArgumentError, match="too large"):
        list(Dataset.from_tensors(np.int64(2**16)).map(of_unknown_extents))


def test_known_shapes_may_not_be_too_large():
    # `fill` of known extents has a smaller bound of its own.
    with pytest.raises((hr.errors.InvalidArgumentError, ValueError), match="at most 1073741824 values"):
        Dataset.range(1).map(lambda x: hr.zeros([2**62, 0]))

    def product(x):
        return hr.matmul(hr.ensure_shape(x, [2**30, 0]), hr.ensure_shape(x, [0, 2**30]))

    unknown = Dataset.from_generator(lambda: [], output_signature=hr.TensorSpec(None, hr.float32))
    with pytest.raises((hr.errors.InvalidArgumentError, ValueError), match="too large"):
        unknown.map(product)


def test_operations_on_no_values_take_no_time_for_their_other_extents():
    def function(n):
        x = hr.zeros([n, 0])
        return hr.size(hr.concat([x, x], 1)) + hr.size(hr.sort(x))

    assert list(Dataset.from_tensors(np.int64(2**39)).map(function)) == [0]


def test_all_bits_of_unsigned_tensors_are_inverted():
    for dtype in (np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int64):
        x = np.array([0, 1, 5], dtype)
        assert list(Dataset.from_tensor_slices(x).map(lambda v: ~v)) == list(~x)
