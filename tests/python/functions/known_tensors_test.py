"""Arguments that are part of the graph may be tensors, arrays and numpy's scalars, if their values are constant."""

from __future__ import annotations

import numpy as np
import pytest

import headrace as hr

ONES = [lambda x: x, np.int32, lambda x: np.array(x), lambda x: hr.constant(x), lambda x: hr.constant(x, hr.int64) + 0]


@pytest.mark.parametrize("number", ONES)
def test_AnIntMayBeATensorThatIsKnown(number):
    ds = hr.Dataset.range(10)
    assert [x.tolist() for x in ds.batch(number(4))] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert [int(x) for x in ds.take(number(2)).repeat(number(2))] == [0, 1, 0, 1]
    assert [int(x) for x in ds.skip(number(8))] == [8, 9]
    assert sorted(int(x) for x in ds.shuffle(number(10), seed=number(7))) == list(range(10))
    assert [int(x) for x in ds.shard(number(5), number(1))] == [1, 6]
    assert [int(x) for x in ds.prefetch(number(1)).take(1)] == [0]


@pytest.mark.parametrize("flag", [True, np.True_, np.array(True), hr.constant(True)], ids=lambda x: type(x).__name__)
def test_ABoolMayBe(flag):
    assert [x.tolist() for x in hr.Dataset.range(5).batch(2, drop_remainder=flag)] == [[0, 1], [2, 3]]


def test_OneThatDependsOnTheElementIsAnErrorThatSaysSo():
    with pytest.raises(TypeError, match="drop_remainder must be a bool that is the same for all elements"):
        hr.Dataset.range(3).flat_map(lambda n: hr.Dataset.range(9).batch(2, drop_remainder=n > 1))


def test_ShapesMayBeTensorsThatAreKnown():
    assert hr.Dataset.from_tensors(hr.zeros(hr.constant([2, 3]))).element_spec.shape == (2, 3)


def test_FractionsAndBoolsAreNoInts():
    for wrong in (hr.constant(1.5), hr.constant(True), np.array(1.0), True):
        with pytest.raises(TypeError, match="count must be an int"):
            hr.Dataset.range(3).take(wrong)


@pytest.mark.parametrize("kind, least, most", [
    (hr.int8, -128, 127), (hr.uint16, 0, 65535), (hr.int64, -2**63, 2**63 - 1),
    (hr.float32, np.finfo(np.float32).min, np.finfo(np.float32).max),
    (hr.bfloat16, -3.3895313892515355e+38, 3.3895313892515355e+38),
])
def test_DtypesKnowTheirBounds(kind, least, most):
    assert (kind.min, kind.max) == (least, most)


@pytest.mark.parametrize("kind", [hr.bool, hr.string, hr.complex64])
def test_DtypesWithoutBoundsSaySo(kind):
    with pytest.raises(TypeError, match="has no largest value"):
        kind.max
