"""Tests of states whose shapes change, loops over datasets, indices from the end, counts below 0, and known shapes. The
expected values are those of TensorFlow 2.21.
"""

from __future__ import annotations

import numpy as np
import pytest

import headrace as hr

D = hr.Dataset
R = D.range


def test_AStateThatGrowsIsOfAnUnknownLength():
    grown = R(4).reduce(np.zeros([0], np.int64), lambda s, x: hr.concat([s, [x]], 0))
    assert grown.tolist() == [0, 1, 2, 3]
    scanned = R(3).scan(np.zeros([0], np.int64), lambda s, x: (hr.concat([s, [x]], 0), s))
    assert scanned.element_spec == hr.TensorSpec([None], hr.int64)
    assert [x.tolist() for x in scanned] == [[], [0], [0, 1]]
    in_windows = R(5).window(3).map(lambda w: w.reduce(np.zeros([0], np.int64), lambda s, x: hr.concat([s, [x]], 0)))
    assert [x.tolist() for x in in_windows] == [[0, 1, 2], [3, 4]]
    assert in_windows.element_spec == hr.TensorSpec([None], hr.int64)


def test_ExtentsThatAStateKeepsStayKnown():
    kept = R(3).scan(np.zeros([2, 3]), lambda s, x: (hr.concat([s, s[:1]], 0), hr.shape(s)[0]))
    assert [int(x) for x in kept] == [2, 3, 4]
    seen = []

    def step(s, x):
        seen.append(s.shape.as_list())
        return hr.concat([s, s[:1]], 0), s
    assert R(2).scan(np.zeros([2, 3]), step).element_spec.shape.as_list() == [None, 3]
    assert seen == [[2, 3], [None, 3]]
    assert R(3).scan(np.int64(0), lambda s, x: (s + x, s)).element_spec.shape == []
    nested = R(3).reduce({"a": np.zeros([0], np.int64), "n": 0}, lambda s, x: {"a": hr.concat([s["a"], [x]], 0), "n": s["n"] + 1})
    assert nested["a"].tolist() == [0, 1, 2] and nested["n"] == 3


def test_AForOverADatasetThatDependsOnTheElementIsALoop():
    def total(n):
        out = np.int64(0)
        for i in D.range(n):
            out += i
        return out

    assert [int(x) for x in R(5).map(total)] == [0, 0, 1, 3, 6]

    def until(n):
        out = np.int64(0)
        for i, square in D.range(n).map(lambda i: (i, i * i)):
            if square > 5:
                break
            out += square
        return out

    assert [int(x) for x in R(6).map(until)] == [0, 0, 1, 5, 5, 5]

    def of_window(w):
        least = np.int64(100)
        for x in w:
            least = hr.minimum(least, x)
        return least

    assert [int(x) for x in R(7).window(3).map(of_window)] == [0, 3, 6]

    def lengths(n):
        out = 0
        for row in D.range(n).map(hr.range):
            out += hr.size(row)
        return out

    with pytest.raises(hr.errors.OperatorNotAllowedInGraphError, match="needs elements of known shapes.*reduce"):
        R(3).map(lengths)


def test_ATensorIsAnIndexFromTheEndWhereItIsBelowZero():
    values = hr.constant([5, 6, 7])
    assert list(R(1, 4).map(lambda i: values[-i])) == [7, 6, 5]
    assert list(R(-3, 3).map(lambda i: values[i])) == [5, 6, 7, 5, 6, 7]
    matrix = hr.constant([[1, 2, 3], [4, 5, 6]])
    assert list(R(1, 3).map(lambda i: matrix[0, -i])) == [3, 2]
    assert [x.tolist() for x in R(1, 3).map(lambda i: matrix[..., -i])] == [[3, 6], [2, 5]]
    assert [x.tolist() for x in R(1, 3).map(lambda i: matrix[-i])] == [[4, 5, 6], [1, 2, 3]]
    assert [x.tolist() for x in R(1, 3).map(lambda i: matrix[-i:, -1])] == [[6], [3, 6]]
    last = R(1).map(lambda i: values[-i - 4])
    with pytest.raises(hr.errors.OpError, match="is not in"):
        next(iter(last))


def test_AllCountsBelowZeroMeanTheSame():
    for n in (-1, -2, -5):
        assert len(list(R(3).take(n))) == 3 and list(R(3).skip(n)) == []
        assert R(3).repeat(n).cardinality() == hr.data.INFINITE_CARDINALITY
        assert [int(x) for x in R(2).flat_map(lambda x: R(2).take(x * 0 + n))] == [0, 1, 0, 1]


def test_ShapesThatAreKnownAreKnownBefore():
    def spec(f):
        return R(1).map(f).element_spec.shape.as_list()

    image = lambda: hr.zeros([10, 10, 3])  # noqa: E731
    assert spec(lambda x: hr.linspace(0.0, 1.0, 3)) == [3]
    assert spec(lambda x: hr.linspace(hr.zeros([2]), hr.ones([2]), 3, axis=-1)) == [2, 3]
    assert spec(lambda x: hr.image.central_crop(image(), 0.5)) == [6, 6, 3] == list(
        next(iter(R(1).map(lambda x: hr.image.central_crop(image(), 0.5)))).shape)
    assert spec(lambda x: hr.image.central_crop(hr.zeros([2, 9, 7, 3]), 0.3)) == list(
        next(iter(R(1).map(lambda x: hr.image.central_crop(hr.zeros([2, 9, 7, 3]), 0.3)))).shape)
    assert spec(lambda x: hr.image.crop_to_bounding_box(image(), 1, 2, 3, 4)) == [3, 4, 3]
    assert next(iter(R(1).map(lambda x: hr.constant(1 if hr.linspace(0.0, 1.0, 3).shape[0] == 3 else 0)))) == 1
