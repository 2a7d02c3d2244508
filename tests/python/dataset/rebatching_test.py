"""``rebatch`` to sizes that take turns."""

from __future__ import annotations

import random

import numpy as np
import pytest

import headrace as hr
from headrace import Dataset


def expected(rows, sizes, drop_remainder):
    """The result of TensorFlow: batches of these sizes in turn. A size of 0 gives an empty batch, but no empty batch
    follows an incomplete last batch.
    """
    out, at, turn = [], 0, 0
    while True:
        size = sizes[turn % len(sizes)]
        part = rows[at:at + size]
        if len(part) < size:
            return out + ([part] if part and not drop_remainder else [])
        out.append(part)
        at, turn = at + size, turn + 1


def batches(ds):
    return [x.tolist() for x in ds]


@pytest.mark.parametrize("sizes, rows, batch, wanted", [
    # The batches are those of TensorFlow 2.21.
    ([2, 1, 1], 8, 4, [[0, 1], [2], [3], [4, 5], [6], [7]]),
    ([3, 2], 7, 4, [[0, 1, 2], [3, 4], [5, 6]]),
    ([2, 0], 4, 2, [[0, 1], [], [2, 3], []]),
    ([2, 0], 7, 4, [[0, 1], [], [2, 3], [], [4, 5], [], [6]]),
    ([0, 2], 4, 2, [[], [0, 1], [], [2, 3], []]),
    ([0, 2], 0, 2, [[]]),
    ([2, 0, 0, 1, 0], 4, 2, [[0, 1], [], [], [2], [], [3]]),
    ([10, 0], 4, 2, [[0, 1, 2, 3]]),
])
def test_SizesTakeTurns(sizes, rows, batch, wanted):
    ds = Dataset.range(rows).batch(batch).rebatch(sizes)
    assert batches(ds) == wanted == expected(list(range(rows)), sizes, False)
    assert batches(ds) == wanted  # in a second iteration, too


def test_AnySizesGiveWhatOneRowAfterTheOtherWould():
    seed = random.randrange(1 << 30)
    print("seed", seed)
    draw = random.Random(seed)
    for _ in range(60):
        sizes = [draw.randint(0, 4) for _ in range(draw.randint(1, 6))]
        if not any(sizes):
            sizes.append(1)
        rows, drop = draw.randint(0, 40), draw.random() < 0.5
        got = batches(Dataset.range(rows).batch(draw.randint(1, 7)).rebatch(sizes, drop))
        assert got == expected(list(range(rows)), sizes, drop), (rows, sizes, drop)


def test_AllPartsOfAnElementAreRebatched():
    ds = Dataset.range(6).batch(2).map(lambda x: {"a": x, "b": hr.stack([x, x], 1), "c": hr.strings.as_string(x)})
    ds = ds.rebatch([4, 0])
    assert ds.element_spec["b"] == hr.TensorSpec([None, 2], hr.int64)
    full, empty, rest = ds
    assert full["a"].tolist() == [0, 1, 2, 3] and full["c"].tolist() == [b"0", b"1", b"2", b"3"]
    assert empty["a"].shape == (0,) and empty["b"].shape == (0, 2) and empty["c"].dtype == object
    assert rest["b"].tolist() == [[4, 4], [5, 5]]


def test_WithoutAnySizeThereAreEmptyBatchesForEver():
    for sizes in (0, [0], [0, 0]):
        ds = Dataset.range(4).batch(2).rebatch(sizes)
        assert ds.cardinality() == hr.INFINITE_CARDINALITY and batches(ds.take(3)) == [[], [], []]


def test_TheLengthIsKnownWhereAllBatchesHaveIt():
    ds = Dataset.range(6).batch(2)
    assert ds.rebatch([2, 2], drop_remainder=True).element_spec.shape == [2]
    for other in (ds.rebatch([2, 1], drop_remainder=True), ds.rebatch([2, 2]), ds.rebatch([2, 0])):
        assert other.element_spec.shape == [None]
    assert ds.rebatch([2, 1]).cardinality() == hr.UNKNOWN_CARDINALITY


def test_SizesMayBeTensorsAndArrays():
    for sizes in (hr.constant([1, 2]), np.array([1, 2]), (1, 2), [np.int64(1), hr.constant(2)]):
        assert batches(Dataset.range(6).batch(4).rebatch(sizes)) == [[0], [1, 2], [3], [4, 5]]


def test_AnEndlessDatasetIsRebatchedAsItIsRead():
    assert batches(Dataset.range(3).batch(2).repeat().rebatch([2, 1]).take(3)) == [[0, 1], [2], [0, 1]]


def test_ARowThatFailedTakesTheBatchesOfOneTurnAlong():
    it = iter(Dataset.range(6).map(lambda x: 6 // (x - 2)).batch(1).rebatch([1, 2]))
    with pytest.raises(hr.errors.InvalidArgumentError):
        next(it)
    assert [x.tolist() for x in it] == [[6], [3, 2]]


def test_RowsOfAnUnknownRankAreRebatched():
    def values():
        yield np.arange(6).reshape(3, 2)
        yield np.arange(6, 10).reshape(2, 2)

    ds = Dataset.from_generator(values, output_signature=hr.TensorSpec(None, hr.int64)).rebatch([1, 3])
    assert batches(ds) == [[[0, 1]], [[2, 3], [4, 5], [6, 7]], [[8, 9]]]


def test_ItRunsOnWorkers():
    dispatcher = hr.service.DispatchServer()
    worker = hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target))
    with dispatcher, worker:
        ds = Dataset.range(7).batch(4).rebatch([2, 0, 1]).apply(hr.service.distribute("parallel_epochs", dispatcher.target))
        assert batches(ds) == [[0, 1], [], [2], [3, 4], [], [5], [6]]


def test_AnIterationGoesOnWhereItWas():
    ds = Dataset.range(9).batch(2).rebatch([2, 0, 1], drop_remainder=True)
    whole = batches(ds)
    for taken in range(len(whole)):
        it = iter(ds)
        for _ in range(taken):
            next(it)
        assert batches(ds.restore(it.save())) == whole[taken:]


@pytest.mark.parametrize("sizes, text", [
    ([2, -1], "0 or more, not -1"), (-2, "0 or more, not -2"), ([], "at least one size"), ([[1, 2]], "no list of lists"),
    (np.zeros([1, 1], np.int64), "no list of lists"),
])
def test_SizesThatAreNoneSaySo(sizes, text):
    with pytest.raises(ValueError, match=text):
        Dataset.range(4).batch(2).rebatch(sizes)


def test_ElementsWithoutRowsAreRefused():
    for sizes in (2, [1, 2]):
        with pytest.raises(ValueError, match="must be batches"):
            Dataset.range(4).rebatch(sizes)
    with pytest.raises(TypeError, match="batch_size"):
        Dataset.range(4).batch(2).rebatch(["a"])
