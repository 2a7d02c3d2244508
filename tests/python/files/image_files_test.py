"""Decoding of PNG and JPEG files, also by the function that is named after the other format (``decode_png`` of a JPEG).
The expected values are those of TensorFlow 2.21.
"""

from __future__ import annotations

import numpy as np
import pytest

import headrace as hr

DEEP = np.random.default_rng(1).integers(0, 65536, (6, 5, 3)).astype(np.uint16)
FLAT = (DEEP >> 8).astype(np.uint8)


def of(f, value):
    return hr.Dataset.from_tensors(value).map(f).get_single_element()


DEEP_PNG, FLAT_PNG, JPEG = of(hr.io.encode_png, DEEP), of(hr.io.encode_png, FLAT), of(hr.io.encode_jpeg, FLAT)
PIXELS = of(hr.io.decode_jpeg, JPEG)


def is_equal(value, expected):
    return value.dtype == expected.dtype and np.array_equal(value, expected)


def test_a_png_is_read_with_16_bits_where_the_dtype_has_them():
    assert is_equal(of(lambda b: hr.io.decode_image(b, dtype=hr.uint16), DEEP_PNG), DEEP)
    assert is_equal(of(lambda b: hr.io.decode_image(b, dtype=hr.uint16), FLAT_PNG), FLAT.astype(np.uint16) * 257)
    for file, wide in ((DEEP_PNG, DEEP), (FLAT_PNG, FLAT.astype(np.uint16) * 257)):
        unit = np.float32(1 / 65535)
        assert is_equal(of(lambda b: hr.io.decode_image(b, dtype=hr.float32), file), wide.astype(np.float32) * unit)
        assert is_equal(of(lambda b: hr.io.decode_image(b, dtype=hr.float32)[1:3, 2:], file), (wide.astype(np.float32) * unit)[1:3, 2:])
    assert is_equal(of(hr.io.decode_image, DEEP_PNG), FLAT)


def test_a_jpeg_has_8_bits():
    assert is_equal(of(lambda b: hr.io.decode_image(b, dtype=hr.uint16), JPEG), PIXELS.astype(np.uint16) * 256)
    assert is_equal(of(lambda b: hr.io.decode_image(b, dtype=hr.float32), JPEG), PIXELS.astype(np.float32) * np.float32(1 / 255))
    assert is_equal(of(lambda b: hr.io.decode_image(b, dtype=hr.float32)[:2, 1:3], JPEG), (PIXELS.astype(np.float32) * np.float32(1 / 255))[:2, 1:3])


def test_decode_png_reads_a_jpeg_and_decode_jpeg_a_png():
    assert is_equal(of(hr.io.decode_png, JPEG), PIXELS)
    assert is_equal(of(lambda b: hr.io.decode_png(b, dtype=hr.uint16), JPEG), PIXELS.astype(np.uint16) * 256)
    assert is_equal(of(hr.io.decode_jpeg, FLAT_PNG), FLAT)
    assert is_equal(of(lambda b: hr.io.decode_jpeg(b)[1:4, 1:, :], FLAT_PNG), FLAT[1:4, 1:])
    assert of(lambda b: hr.shape(hr.io.decode_png(b, channels=4)), FLAT_PNG).tolist() == [6, 5, 4]


@pytest.mark.parametrize(("f", "message"), [
    (lambda b: hr.io.decode_png(b, channels=4), "4 channels of a JPEG"),
    (lambda b: hr.shape(hr.io.decode_png(b, channels=2)), "2 channels of a JPEG"),
    (lambda b: hr.io.decode_image(b, channels=4)[:2], "4 channels of a JPEG"),
    (lambda b: hr.io.decode_jpeg(b, channels=4),
     "image.decode_jpeg: 4 channels; there can be 0 .as in the file., 1, or 3"),
    (lambda b: hr.io.decode_png(b, channels=5), "image.decode_png: 5 channels; there can be 0 .as in the file., 1, 2, 3 or 4"),
    (lambda b: hr.io.decode_jpeg(hr.constant([1], hr.int32)), "image.decode_jpeg: the file is int32.1.; a scalar string is needed"),
    (lambda b: hr.io.decode_png(b, dtype=hr.float32), "dtype is float32; there are uint8 and uint16"),
])
def test_what_a_jpeg_does_not_have_is_an_error(f, message):
    with pytest.raises(hr.errors.InvalidArgumentError, match=message):
        of(f, JPEG)


@pytest.mark.parametrize("f", [lambda b: hr.io.decode_jpeg(b, ratio=2), hr.io.extract_jpeg_shape])
def test_a_ratio_and_the_shape_of_a_header_are_those_of_a_jpeg(f):
    with pytest.raises(hr.errors.InvalidArgumentError, match="are no JPEG"):
        of(f, FLAT_PNG)
