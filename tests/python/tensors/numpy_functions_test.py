"""Functions of numpy on tensors give what they give on arrays."""

from __future__ import annotations

import numpy as np
import pytest

import headrace as hr

nan, inf = float("nan"), float("inf")


def of(f, value):
    """The result of a function for a tensor of a known shape, which is also the one for a tensor of unknown rank."""
    known = hr.Dataset.from_tensors(value).map(f).get_single_element()
    texts = hr.Dataset.from_tensors(value).map(hr.io.serialize_tensor)
    unknown = texts.map(lambda text: f(hr.io.parse_tensor(text, hr.as_dtype(value.dtype)))).get_single_element()
    assert_equal(unknown, known)
    return known


def assert_equal(value, expected):
    value, expected = np.asarray(value), np.asarray(expected)
    assert value.dtype == expected.dtype and value.shape == expected.shape
    assert np.array_equal(value, expected, equal_nan=value.dtype.kind in "fc")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("f", [np.sort, np.argmax, np.argmin])
def test_NaNIsWhereNumpyHasIt(f, axis, dtype):
    for value in ([[nan, 2, 1], [inf, nan, -inf]], [[1, nan, inf], [nan, nan, nan]], [[3, 1, 2], [0, -inf, inf]]):
        value = np.array(value, dtype)
        assert_equal(of(lambda x: f(x, axis=axis), value), f(value, axis=axis))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64"])
@pytest.mark.parametrize("f", [np.argmax, np.argmin, np.max, np.min])
def test_ExtremesOfBoolsAndIntegers(f, dtype):
    value = np.array([[0, 1, 1], [1, 0, 1]], dtype)
    for axis in (None, 0, -1):
        assert_equal(of(lambda x: f(x, axis=axis), value), f(value, axis=axis))


def test_SortAndArgsortWithoutAnAxisFlatten():
    value = np.array([[3, 1], [2, 0]])
    for f in (np.sort, np.argsort):
        assert_equal(of(lambda x: f(x, axis=None), value), f(value, axis=None))


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "float32", "float64"])
def test_SomeFunctionsOfNumpyGiveFloats(dtype):
    value = np.array([1, 2, 3], dtype)
    assert_equal(of(np.fabs, value), np.fabs(value))
    for f in (lambda x: np.float_power(x, x), lambda x: np.float_power(x, 2), lambda x: np.float_power(2, x)):
        assert_equal(of(f, value), f(value))


def test_ABoundOfClipMayBeMissing():
    value = np.array([1, 5, 9])
    for f in (lambda x: np.clip(x, None, 5), lambda x: np.clip(x, 5, None), lambda x: np.clip(x, 4, 6)):
        assert_equal(of(f, value), f(value))


def test_TheNumberOfAxesIsKnownInEachElement():
    values = [np.zeros([2, 3]), np.zeros([])]
    ds = hr.Dataset.from_generator(lambda: values, output_signature=hr.TensorSpec(None, hr.float64))
    assert [int(n) for n in ds.map(np.ndim)] == [2, 0]
