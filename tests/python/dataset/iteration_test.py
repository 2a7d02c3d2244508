"""Several iterations over a dataset, and iterators that continue."""

from __future__ import annotations

import pickle

import pytest

import headrace as hr
from programs import finish, start


def ints(ds):
    return [int(x) for x in ds]


def seeded():
    return hr.Dataset.range(50).shuffle(50, seed=7)


def test_EachIterationIsShuffledAnewAndAProgramIsAlwaysTheSame():
    for make in (seeded, lambda: hr.Dataset.range(50).global_shuffle(seed=7),
                 lambda: hr.Dataset.range(50).shuffle(50, seed=7).batch(1).unbatch()):
        ds = make()
        first = [ints(ds) for _ in range(3)]
        assert all(sorted(order) == list(range(50)) for order in first)
        assert first[0] != first[1] != first[2] != first[0]
        other = make()
        assert [ints(other.as_numpy_iterator()) for _ in range(3)] == first
    unpickled = pickle.loads(pickle.dumps(ds))
    assert [ints(unpickled) for _ in range(3)] == first


def test_WhatDoesNotReshuffleStaysEvenWithoutASeed():
    for make in (lambda: hr.Dataset.range(50).shuffle(50, reshuffle_each_iteration=False),
                 lambda: hr.Dataset.range(50).global_shuffle(reshuffle_each_iteration=False)):
        ds = make()
        assert ints(ds) == ints(ds) != ints(make())


def test_IterationsAreCountedWhenTheyAreStarted():
    ds, other = seeded(), seeded()
    expected = [ints(other), ints(other)]
    first, second = iter(ds), iter(ds)
    assert ints(second) == expected[1]
    assert ints(first) == expected[0]


def test_AnIteratorCountsWhatIgnoreErrorsLeftOut():
    it = iter(hr.Dataset.range(9).map(lambda x: 6 // (x % 3)).ignore_errors())
    assert it.ignored == 0
    next(it)
    assert it.ignored >= 1
    assert len(ints(it)) == 5
    assert it.ignored == 3
    it.close()
    assert it.ignored == 3
    with pytest.raises(AttributeError):
        it.ignored = 1


def test_ReducingIsAnIteration():
    ds, other = seeded(), seeded()
    assert [int(ds.reduce(hr.constant(0, hr.int64), lambda _, x: x)) for _ in range(2)] == [
        ints(other)[-1], ints(other)[-1]]


def test_ARestoredIteratorIsOfTheIterationThatItWas():
    other = seeded()
    expected = [ints(other) for _ in range(3)]
    ds = seeded()
    ints(ds)
    it = iter(ds)
    head = [int(next(it)) for _ in range(20)]
    record = it.save()
    later = seeded()
    assert head + ints(later.restore(record)) == expected[1]
    assert ints(later) == expected[2]


def test_TheServiceShufflesEachIterationAnew(cluster):
    service = cluster(1).target
    for job in (None, "named"):
        ds = seeded().apply(hr.service.distribute("off", service, job_name=job))
        other = seeded()
        assert [ints(ds), ints(ds)] == [ints(other), ints(other)]


@pytest.mark.parametrize("ds", [
    hr.Dataset.range(5), hr.Dataset.range(0), hr.Dataset.range(50).shuffle(10).batch(4).prefetch(2),
    hr.Dataset.range(5).repeat(2), hr.Dataset.range(9).map(hr.py_function(lambda x: x, hr.int64), num_parallel_calls=2),
    hr.Dataset.from_generator(lambda: range(7), output_signature=hr.TensorSpec([], hr.int64)),
    hr.Dataset.range(4).flat_map(hr.Dataset.range)], ids=str)
def test_ThePositionAtTheEndIsTheEnd(ds):
    it = iter(ds)
    for _ in it:
        pass
    record = it.save()
    assert record == it.save()
    ended = ds.restore(record)
    assert list(ended) == [] and list(ended) == []
    assert list(ds.restore(ended.save())) == []
    it.restore(record)
    assert list(it) == []


def test_RestoringRunsPythonFunctionsMeanwhile():
    f = hr.py_function(lambda x: x, hr.TensorSpec([], hr.int64))
    ds = hr.Dataset.range(100).map(f, num_parallel_calls=4).prefetch(4).shuffle(20)
    it = iter(ds)
    for _ in range(30):
        next(it)
    record = it.save()
    rest = ints(it)
    assert len(rest) == 70
    assert ints(ds.restore(record)) == rest
    it.restore(record)
    assert ints(it) == rest


def test_CtrlCEndsARestore():
    child = start("""
        import os, signal, tempfile, threading
        import headrace as hr

        def hangs_when_run_again(x):
            try:
                os.close(os.open(f"{folder}/{x}", os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                if not os.path.exists(f"{folder}/told"):
                    os.mkdir(f"{folder}/told")
                    os.kill(parent, signal.SIGINT)
                threading.Event().wait()
            return x

        parent, folder = os.getpid(), tempfile.mkdtemp()
        ds = hr.Dataset.range(100).map(hr.py_function(hangs_when_run_again, hr.TensorSpec([], hr.int64))).shuffle(20)
        it = iter(ds)
        for _ in range(30):
            next(it)
        record = it.save()
        try:
            ds.restore(record)
        except KeyboardInterrupt:
            print("interrupted")
    """)
    assert finish(child) == (0, "interrupted\n", "")


@pytest.mark.parametrize("shuffled", [
    lambda ds: ds.shuffle(100, reshuffle_each_iteration=False),
    lambda ds: ds.shuffle(100, seed=3, reshuffle_each_iteration=False),
    lambda ds: ds.global_shuffle(reshuffle_each_iteration=False),
])
def test_DatasetsThatAreMadeOfAShuffleThatKeepsItsOrderHaveThatOrder(shuffled):
    every = shuffled(hr.Dataset.range(100))
    train, test = every.take(80), every.skip(80)
    for _ in range(2):  # in each iteration
        assert {int(x) for x in train} | {int(x) for x in test} == set(range(100))
    pairs = hr.Dataset.zip(every.map(lambda x: x), every.map(lambda x: -x))
    assert [int(a) == -int(b) for a, b in pairs] == [True] * 100
    parts = [set(map(int, every.shard(3, i))) for i in range(3)]
    assert set().union(*parts) == set(range(100)) and sum(map(len, parts)) == 100


def test_DatasetsOfAFunctionThatShuffleHaveOrdersOfTheirOwn():
    ds = hr.Dataset.range(20).flat_map(
        lambda x: hr.Dataset.range(50).shuffle(50, reshuffle_each_iteration=False).batch(50))
    assert len({tuple(map(int, x)) for x in ds}) > 1


def test_AnIteratorThatNoDatasetMadeIsRefused():
    class Own(type(iter(hr.Dataset.range(1)))):
        def __init__(self):
            pass

    with pytest.raises(TypeError, match="not made by a dataset"):
        next(Own())
