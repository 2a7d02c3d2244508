"""Reductions, and functions of axes: the axes that are named, and the dtypes of sums. The expected values are those of
numpy.
"""

from __future__ import annotations

import numpy as np
import pytest

import headrace as hr

X = np.array([[1.0, -2.0, 4.0], [0.5, 3.0, 2.0]])
EMPTY = [[], (), np.zeros(0, np.int32), hr.constant([], hr.int32)]


def of(f, value=X):
    """The result of a function for a tensor of a known shape, which is also the one for a tensor of unknown rank."""
    known = hr.Dataset.from_tensors(value).map(f).get_single_element()
    texts = hr.Dataset.from_tensors(value).map(hr.io.serialize_tensor)
    unknown = texts.map(lambda text: f(hr.io.parse_tensor(text, known_dtype(value)))).get_single_element()
    assert_equal(unknown, known)
    return known


def known_dtype(value):
    return hr.as_dtype(np.asarray(value).dtype)


def assert_equal(value, expected):
    assert value.dtype == expected.dtype and value.shape == expected.shape and value.tolist() == expected.tolist()


@pytest.mark.parametrize("axis", EMPTY, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("keepdims", [False, True])
def test_AReductionOverNoAxesLeavesTheTensor(axis, keepdims):
    for name in ("sum", "mean", "max", "min", "prod"):
        assert_equal(of(lambda x: getattr(hr.math, f"reduce_{name}")(x, axis, keepdims)), X)
        assert_equal(of(lambda x: getattr(np, name)(x, axis=axis, keepdims=keepdims)), X)
    for name in ("all", "any"):
        assert_equal(of(lambda x: getattr(hr.math, f"reduce_{name}")(x, axis, keepdims), X > 1), X > 1)
        assert_equal(of(lambda x: getattr(np, name)(x, axis=axis, keepdims=keepdims), X > 1), X > 1)
    for name in ("std", "variance"):
        assert_equal(of(lambda x: getattr(hr.math, f"reduce_{name}")(x, axis, keepdims)), 0 * abs(X))
    with pytest.raises(hr.errors.InvalidArgumentError, match="reduce_sum: an operand is bool"):
        of(lambda x: hr.reduce_sum(x, axis), X > 1)


@pytest.mark.parametrize("axis", [0, [0], np.array(0), np.array([-2]), hr.constant(0), hr.constant([0])])
def test_AnAxisMayBeInAnArrayOrATensor(axis):
    assert_equal(of(lambda x: hr.reduce_sum(x, axis)), X.sum(0))
    assert_equal(of(lambda x: np.sum(x, axis=axis)), X.sum(0))


def test_NoAxesOfNumpyAreNotAllAxes():
    one = X[None]
    assert_equal(of(lambda x: np.squeeze(x, axis=()), one), one)
    assert_equal(hr.Dataset.from_tensors(one).map(np.squeeze).get_single_element(), X)
    for transpose in (np.transpose, hr.transpose):
        with pytest.raises(ValueError, match="transpose: perm is empty for a tensor of shape"):
            of(lambda x: transpose(x, []))
        assert of(lambda x: transpose(x, []), np.float64(2)) == 2


@pytest.mark.parametrize("transpose", [hr.transpose, np.transpose])
def test_AxesWhoseNumberIsNotKnownAreNotReversed(transpose):
    ds = hr.Dataset.from_generator(lambda: [X], output_signature=hr.TensorSpec(None, hr.float64))
    refused = "transpose needs to know how many axes there are.*Give perm"
    with pytest.raises(hr.errors.OperatorNotAllowedInGraphError, match=refused):
        ds.map(transpose)
    assert_equal(ds.map(lambda x: transpose(x, [1, 0])).get_single_element(), X.T)
    assert_equal(ds.map(lambda x: transpose(hr.ensure_shape(x, [None, None]))).get_single_element(), X.T)


@pytest.mark.parametrize("dtype", [
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64",
])
@pytest.mark.parametrize("f", [
    np.sum, np.prod, np.cumsum, lambda x: np.sum(x, axis=1), lambda x: np.sum(x, axis=(), keepdims=True),
    lambda x: np.cumsum(x, axis=1), lambda x: np.prod(x, axis=-1, keepdims=True),
])
def test_SumsOfNumpyHaveItsDtypes(f, dtype):
    value = np.array([[100, 120, 1], [90, 3, 127]]).astype(dtype)
    assert_equal(of(f, value), f(value))


def test_SumsOfHeadraceKeepTheDtype():
    value = np.array([100, 100], np.uint8)
    for f in (hr.reduce_sum, hr.math.reduce_sum, lambda x: hr.cumsum(x)[1]):
        assert_equal(of(f, value), np.uint8(200))


def test_NumbersOfPythonAloneAreInt32AndFloat32():
    for f in (hr.reduce_sum, hr.reduce_max, hr.math.reduce_prod):
        assert f(5).dtype == hr.int32 and f(5.5).dtype == hr.float32
    assert hr.reduce_mean(5.5).dtype == hr.float32 and hr.reduce_any(True).dtype == hr.bool
