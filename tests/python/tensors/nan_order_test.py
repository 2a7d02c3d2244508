"""The order of values of which some are NaN, and the indices of the least and the greatest values. The expected
values are those of TensorFlow 2.21.
"""

from __future__ import annotations

import numpy as np
import pytest

import headrace as hr

nan, inf = float("nan"), float("inf")
top = float(np.finfo(np.float32).max)


def on(values, f, dtype=np.float32):
    ds = hr.Dataset.from_tensors(np.array(values, dtype)).map(f)
    return np.asarray(next(iter(ds))).tolist()


#: Values, the index of the first least value, and the index of the first greatest value.
PLACES = [
    ([nan, 2.0, 1.0], 2, 1), ([2.0, nan, 1.0], 2, 0), ([1.0, nan, 2.0], 0, 2), ([nan, nan], 0, 0), ([nan, inf], 0, 1),
    ([inf, nan], 0, 0), ([nan, -inf], 1, 0), ([-inf, nan, -inf], 0, 0), ([nan, 1.0, nan, 0.0, 5.0], 3, 4), ([inf, inf, nan], 0, 0),
    ([nan, inf, inf], 0, 1), ([inf, top], 0, 0), ([-inf, -top], 0, 0), ([nan, top], 0, 1), ([3.0, 1.0, 1.0, 3.0], 1, 0),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_ArgminAndArgmaxPassOverNaN(dtype):
    for values, least, greatest in PLACES:
        if top in np.abs(values) and dtype is not np.float32:
            continue
        assert on(values, hr.argmin, dtype) == least and on(values, hr.argmax, dtype) == greatest, values
    many = np.full([4, 5], nan, dtype)
    many[2] = [3, 1, 2, nan, 0]
    assert on(many, lambda x: hr.argmax(x, 0), dtype) == [2, 2, 2, 0, 2]


def same(a, b):
    return np.array_equal(np.array(a, np.float64), np.array(b, np.float64), equal_nan=True)


def test_SortHasNaNWhereTensorFlowHasIt():
    for values, up, down in [
        ([nan, 2.0, 1.0], [nan, 1.0, 2.0], [nan, 2.0, 1.0]), ([2.0, nan, 1.0], [1.0, 2.0, nan], [2.0, nan, 1.0]),
        ([1.0, nan, 2.0], [1.0, nan, 2.0], [2.0, 1.0, nan]), ([2.0, 1.0, nan], [1.0, 2.0, nan], [2.0, 1.0, nan]),
        ([3.0, nan, 1.0, nan, 2.0], [1.0, 3.0, nan, nan, 2.0], [3.0, nan, 1.0, nan, 2.0]),
        ([nan, 1.0, nan, 0.0, 5.0], [nan, 1.0, nan, 0.0, 5.0], [nan, 1.0, nan, 5.0, 0.0]),
    ]:
        assert same(on(values, hr.sort), up) and same(on(values, lambda x: hr.sort(x, direction="DESCENDING")), down)
    values = [1.0, 2.0, nan, 0.0, 9.0, nan, 3.0, nan, 5.0, 8.0, 7.0, 6.0, 4.0, 3.0, 2.0, 1.0, 0.0, nan]
    assert on(values, hr.argsort) == [3, 0, 1, 17, 16, 15, 14, 7, 6, 13, 12, 8, 11, 10, 9, 5, 4, 2]
    assert same(on(values, lambda x: hr.sort(x, direction="DESCENDING")),
                [9, 8, nan, nan, nan, 3, 0, nan, 7, 6, 5, 4, 3, 2, 2, 1, 1, 0])
    assert same(on([values, values], lambda x: hr.sort(x, axis=1)), 2 * [on(values, hr.sort)])


#: Values; the results of argsort, ascending and descending; the indices that top_k gives for k = 2, for half of the
#: values and for all but one; argmin and argmax.
ROWS = [
    ([4, 7, 5, 0, 3], [3, 4, 0, 2, 1], [1, 2, 0, 4, 3], [1, 2], [1, 2], [1, 2, 0, 4], 3, 1),
    ([nan, 0, 4, 2, 1, 6, 7, 7, nan, 0, nan, 5, 1, 5, nan, 1, 4], [1, 14, 10, 9, 8, 4, 12, 3, 2, 11, 13, 5, 6, 7, 0,
     15, 16], [8, 16, 15, 14, 11, 13, 12, 10, 9, 0, 6, 7, 5, 2, 3, 4, 1], [0, 6], [0, 6, 7, 5, 11, 13, 2, 16], [0, 6,
     7, 5, 11, 13, 2, 3, 4, 1, 8, 9, 10, 16, 12, 14], 1, 6),
    ([nan, nan, nan, nan, nan, nan, nan, nan, nan, 1, nan, nan, nan, nan, nan, nan, nan, nan, nan, nan], [10, 19, 18,
     17, 16, 15, 14, 13, 12, 11, 0, 9, 8, 7, 6, 5, 4, 3, 2, 1], [10, 19, 18, 17, 16, 15, 14, 13, 12, 11, 0, 9, 8, 7,
     6, 5, 4, 3, 2, 1], [0, 1], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
     16, 17, 18], 9, 9),
    ([1, 5, 1, 3, 0, 7, 5, 6, 0, 1, 2, nan, 2, 0, 5, 3, 2, 2, 5, 0, 7, 5, 1, 7, 0, 2, 2, 3, 2, 7, 7, 3, 2], [4, 8, 13,
     19, 24, 0, 2, 9, 22, 10, 12, 16, 17, 25, 26, 28, 32, 3, 15, 27, 31, 1, 6, 14, 21, 7, 5, 20, 23, 29, 30, 11, 18],
     [5, 20, 23, 29, 30, 7, 1, 6, 14, 18, 21, 3, 15, 27, 31, 12, 16, 17, 25, 26, 28, 32, 22, 13, 19, 24, 11, 10, 0, 2,
     9, 4, 8], [5, 20], [5, 11, 20, 23, 29, 30, 7, 1, 6, 14, 18, 21, 3, 15, 27, 31], [5, 6, 3, 11, 20, 23, 29, 7, 1,
     30, 14, 18, 21, 15, 27, 31, 10, 12, 16, 17, 25, 26, 28, 32, 0, 2, 9, 22, 4, 8, 13, 19], 4, 5),
]


@pytest.mark.parametrize("row", ROWS, ids=[str(len(row[0])) for row in ROWS])
def test_LongerRowsOfRandomValuesAreOrderedAsThere(row):
    values, up, down, two, half, but_one, least, greatest = row
    n = len(values)
    assert on(values, hr.argsort) == up
    assert on(values, lambda x: hr.argsort(x, direction="DESCENDING")) == down
    for k, places in ((2, two), (n // 2, half), (n - 1, but_one), (n, down)):
        assert on(values, lambda x: hr.math.top_k(x, k).indices) == places
    assert on(values, hr.argmin) == least and on(values, hr.argmax) == greatest


def test_TheGreatestOfFewValuesWithNaN():
    for values, place in (([1.0, nan, 2.0], 2), ([2.0, nan, 1.0], 2), ([nan, 2.0, 1.0], 1), ([1.0, nan], 0), ([1.0, 2.0, nan], 0),
                          ([nan, nan], 0)):
        assert on(values, lambda x: hr.math.top_k(x, 1).indices) == [place]
