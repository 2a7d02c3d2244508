"""cardinality() inside functions, and of datasets that functions return. The expected values are those of
TensorFlow 2.21.
"""

from __future__ import annotations

import numpy as np
import pytest

import headrace as hr

D = hr.Dataset
R = D.range


def of_windows(f):
    ds = R(7).window(3).map(f)
    assert ds.element_spec == hr.TensorSpec([], hr.int64)
    return [int(x) for x in ds]


#: Functions of a window, with their results in TensorFlow 2.21 for windows of 3, 3 and 1 elements.
WINDOWS = {
    "itself": (lambda w: w.cardinality(), [3, 3, 1]),
    "by function": (lambda w: hr.data.experimental.cardinality(w), [3, 3, 1]),
    "map, whose function is not called": (lambda w: w.map(lambda x: x // 0).cardinality(), [3, 3, 1]),
    "take": (lambda w: w.take(2).cardinality(), [2, 2, 1]),
    "take all": (lambda w: w.take(-1).cardinality(), [3, 3, 1]),
    "skip": (lambda w: w.skip(2).cardinality(), [1, 1, 0]),
    "batch": (lambda w: w.batch(2).cardinality(), [2, 2, 1]),
    "full batches": (lambda w: w.batch(2, drop_remainder=True).cardinality(), [1, 1, 0]),
    "padded_batch": (lambda w: w.padded_batch(2).cardinality(), [2, 2, 1]),
    "ragged_batch": (lambda w: w.ragged_batch(2).cardinality(), [2, 2, 1]),
    "repeat": (lambda w: w.repeat().cardinality(), [-1, -1, -1]),
    "repeat twice": (lambda w: w.repeat(2).cardinality(), [6, 6, 2]),
    "shuffle": (lambda w: w.shuffle(2).cardinality(), [3, 3, 1]),
    "enumerate": (lambda w: w.enumerate().cardinality(), [3, 3, 1]),
    "zip": (lambda w: D.zip((w, R(2))).cardinality(), [2, 2, 1]),
    "concatenate": (lambda w: w.concatenate(R(2)).cardinality(), [5, 5, 3]),
    "window": (lambda w: w.window(2).cardinality(), [2, 2, 1]),
    "shard": (lambda w: w.shard(2, 0).cardinality(), [2, 2, 1]),
    "scan": (lambda w: w.scan(np.int64(0), lambda s, x: (s, x)).cardinality(), [3, 3, 1]),
    "cache": (lambda w: w.cache().cardinality(), [3, 3, 1]),
    "prefetch": (lambda w: w.prefetch(1).cardinality(), [3, 3, 1]),
    "assert_cardinality": (lambda w: w.filter(lambda x: True).apply(hr.data.experimental.assert_cardinality(3)).cardinality(),
                           [3, 3, 3]),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_TheCardinalityOfAWindowIsATensorForEachElement(name):
    f, expected = WINDOWS[name]
    assert of_windows(f) == expected


#: Functions of an element, with their results in TensorFlow 2.21 for the elements 1, 2 and 3.
OF_ELEMENTS = {
    "range": (lambda x: R(x).cardinality(), [1, 2, 3]),
    "range in steps": (lambda x: R(x, 10, 3).cardinality(), [3, 3, 3]),
    "range backwards": (lambda x: R(x, -x, -1).cardinality(), [2, 4, 6]),
    "a known one": (lambda x: R(3).cardinality(), [3, 3, 3]),
    "rows": (lambda x: D.from_tensor_slices(hr.range(x)).cardinality(), [1, 2, 3]),
    "one": (lambda x: D.from_tensors(x).cardinality(), [1, 1, 1]),
    "take": (lambda x: R(10).take(x).cardinality(), [1, 2, 3]),
    "take of an endless one": (lambda x: D.random().take(x).cardinality(), [1, 2, 3]),
    "skip all": (lambda x: R(10).skip(-x).cardinality(), [0, 0, 0]),
    "repeat": (lambda x: R(10).repeat(x - 1).cardinality(), [0, 10, 20]),
    "repeat for ever": (lambda x: R(10).repeat(-x).cardinality(), [-1, -1, -1]),
    "counter": (lambda x: D.counter().cardinality(), [-1, -1, -1]),
}


@pytest.mark.parametrize("name", OF_ELEMENTS)
def test_TheCardinalityOfADatasetThatDependsOnTheElementIsATensor(name):
    f, expected = OF_ELEMENTS[name]
    ds = R(1, 4).map(f)
    assert ds.element_spec == hr.TensorSpec([], hr.int64)
    assert [int(x) for x in ds] == expected


@pytest.mark.parametrize("f", [
    lambda w: w.filter(lambda x: x > 1).cardinality(), lambda w: w.unique().cardinality(),
    lambda w: w.flat_map(lambda x: R(x)).cardinality(), lambda w: w.take_while(lambda x: x < 2).batch(2).cardinality(),
    lambda w: w.ignore_errors().cardinality(), lambda w: hr.data.TextLineDataset("/some/file").cardinality(),
])
def test_WhatIsNotKnownBeforeItIsReadIsRefusedAndNoData(f):
    with pytest.raises(hr.errors.InvalidArgumentError, match="not known before they are read: count them with reduce"):
        R(7).window(3).map(f)


def test_FunctionsDecideByTheCardinalityOfTheirWindows():
    def numbers(ds):
        return [x.tolist() for x in ds]

    # The expected values are those of TensorFlow 2.21.
    full = R(10).window(4).filter(lambda w: w.cardinality() == 4).flat_map(lambda w: w.batch(4))
    assert numbers(full) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    either = R(6).window(4).flat_map(lambda w: w.batch(4) if w.cardinality() == 4 else w.batch(2))
    assert numbers(either) == [[0, 1, 2, 3], [4, 5]]
    half = R(6).window(4).flat_map(lambda w: w.take(w.cardinality() // 2))
    assert numbers(half) == [0, 1, 4]
    grouped = R(6).group_by_window(lambda x: x % 2, lambda key, w: w.map(lambda y: (y, w.cardinality())), 2)
    assert [(int(a), int(b)) for a, b in grouped] == [(0, 2), (2, 2), (1, 2), (3, 2), (4, 1), (5, 1)]
    assert numbers(R(3).filter(lambda x: R(x).cardinality() == 1)) == [1]
    pairs = R(10).map(lambda x: {"a": x, "b": x * x}).window(4).filter(lambda w: w["a"].cardinality() == 4)
    assert numbers(pairs.flat_map(lambda w: w["b"].batch(4))) == [[0, 1, 4, 9], [16, 25, 36, 49]]
    first = R(10).window(4).take_while(lambda w: w.reduce(np.int64(0), lambda s, x: s + x) < 10)
    assert numbers(first.flat_map(lambda w: w)) == [0, 1, 2, 3]


def test_LenOfADatasetInAFunctionIsAnInt64Tensor():
    # The expected values are those of TensorFlow 2.21.
    for f, expected in ((lambda x: len(R(3)), [3, 3]), (lambda x: len(R(x)), [0, 1]), (lambda x: len([1, 2]) + x, [2, 3])):
        ds = R(2).map(f)
        assert ds.element_spec.dtype == hr.int64 and [int(x) for x in ds] == expected
    assert [int(x) for x in R(7).window(3).map(lambda w: len(w))] == [3, 3, 1]
    assert len(R(3)) == 3


def test_MapKeepsACardinalityWhateverItsFunctionReads():
    add_one = lambda x: hr.py_function(lambda v: v + 1, [x], hr.int64)  # noqa: E731
    maps = [lambda ds: ds.map(add_one), lambda ds: ds.map(add_one, num_parallel_calls=2),
            lambda ds: ds.map(lambda x: hr.numpy_function(lambda v: v + 1, [x], hr.int64)),
            lambda ds: ds.map(lambda x: R(x).reduce(np.int64(0), lambda s, y: s + y)),
            lambda ds: ds.map(lambda x: R(3).take(x + 1).batch(3).get_single_element())]
    for m in maps:  # the expected values are those of TensorFlow 2.21
        assert m(R(3)).cardinality() == 3 and len(m(R(3))) == 3
        assert m(R(3).repeat()).cardinality() == -1
        assert m(R(3).filter(lambda x: x > 1)).cardinality() == -2


def test_UnbatchOfKnownRowsHasAKnownCardinality():
    def rows(ds):
        return ds.unbatch().cardinality()

    # The expected values are those of TensorFlow 2.21.
    assert rows(R(4).batch(2)) == -2
    assert rows(R(5).batch(2, drop_remainder=True)) == 4 == len(list(R(5).batch(2, drop_remainder=True).unbatch()))
    assert rows(D.from_tensor_slices(np.zeros([3, 4]))) == 12
    assert rows(D.from_tensor_slices((np.zeros([3, 4]), np.zeros([3, 4])))) == 12
    assert rows(R(4).repeat().batch(2)) == -1
    assert R(4).repeat().group_by_window(lambda x: x % 2, lambda key, w: w.batch(2), 2).cardinality() == -1
    assert R(4).repeat().batch(2).unbatch().scan(np.int64(0), lambda s, x: (s, x)).cardinality() == -1
    assert D.sample_from_datasets([R(3), R(5)], weights=[1.0, 0.0], stop_on_empty_dataset=True).cardinality() == 3
    assert D.sample_from_datasets([R(4)], stop_on_empty_dataset=True).cardinality() == 4
