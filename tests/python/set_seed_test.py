"""The seed of the process decides what later datasets draw."""

from __future__ import annotations

import subprocess
import sys
import warnings

import pytest

import headrace as hr
from headrace import _seeds


def numbers():
    return hr.Dataset.range(20)


DRAWING = {
    "shuffle": lambda files: numbers().shuffle(20),
    "shuffle with a seed": lambda files: numbers().shuffle(20, seed=3),
    "global_shuffle": lambda files: numbers().global_shuffle(),
    "random": lambda files: hr.Dataset.random().take(5),
    "list_files": lambda files: hr.Dataset.list_files(files),
    "sample_from_datasets": lambda files: hr.Dataset.sample_from_datasets([numbers(), numbers().map(lambda x: -x)]),
    "rejection_resample": lambda files: numbers().rejection_resample(lambda x: x % 2, [0.8, 0.2], [0.5, 0.5]),
    "shuffle_and_repeat": lambda files: numbers().apply(hr.experimental.shuffle_and_repeat(20, 2)),
    "shuffle in a function": lambda files: hr.Dataset.range(2).flat_map(lambda x: hr.Dataset.range(20).shuffle(20)),
}


@pytest.fixture
def files(tmp_path):
    for i in range(12):
        (tmp_path / f"{i}.txt").touch()
    return str(tmp_path / "*.txt")


@pytest.mark.parametrize("name", DRAWING)
def test_TheSameSeedGivesTheSameElementsAndAnotherOneOthers(name, files):
    def passes(seed):
        hr.random.set_seed(seed)
        ds = DRAWING[name](files)
        return [list(ds), list(ds)]

    first = passes(5)
    assert passes(5) == first
    assert any(passes(seed) != first for seed in (6, 7, 8))


def test_DatasetsThatAreMadeOneByOneDifferAndBeginAnewWithTheSeed():
    def three():
        return [list(numbers().shuffle(20)) for _ in range(3)]

    hr.random.set_seed(5)
    first, second = three(), three()
    assert len({tuple(order) for order in first + second}) == 6
    hr.random.set_seed(5)
    assert [three(), three()] == [first, second]


def test_ASeedOfADatasetsOwnDoesNotDependOnItsNumber():
    hr.random.set_seed(5)
    first = list(numbers().shuffle(20, seed=3))
    numbers().shuffle(20)
    assert list(numbers().shuffle(20, seed=3)) == first


def test_DatasetsThatWereMadeBeforeStayAsTheyAre():
    before = numbers().shuffle(20, seed=3, reshuffle_each_iteration=False)
    order = list(before)
    hr.random.set_seed(5)
    assert list(before) == order != list(numbers().shuffle(20, seed=3, reshuffle_each_iteration=False))


def test_FilesThatAreNotMixedTakeNoSeed(files):
    hr.random.set_seed(5)
    first = list(numbers().shuffle(20))
    hr.random.set_seed(5)
    assert list(hr.Dataset.list_files(files, shuffle=False)) == sorted(hr.Dataset.list_files(files, shuffle=True))
    hr.random.set_seed(5)
    hr.Dataset.list_files(files, shuffle=False)
    assert list(numbers().shuffle(20)) == first


def test_EveryProcessDrawsTheSame():
    program = "import headrace as hr; hr.random.set_seed(5); print(*hr.Dataset.range(20).shuffle(20), *hr.Dataset.random().take(2))"
    runs = [subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
            for _ in range(2)]
    assert runs[0] == runs[1]
    assert sorted(map(int, runs[0].split()[:20])) == list(range(20))


@pytest.mark.parametrize("f", [lambda x: hr.random.uniform([]), lambda x: hr.random.normal([2], seed=3),
                               lambda x: hr.image.random_flip_left_right(hr.fill([2, 2, 3], x))])
def test_WhatItDoesNotReachIsAWarning(f):
    hr.random.set_seed(5)
    with pytest.warns(RuntimeWarning, match=f"{__file__}.*set_seed decides nothing of what functions draw.*stateless_uniform"):
        numbers().map(f)


def test_NobodyIsWarnedWithoutIt():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        numbers().map(lambda x: hr.random.uniform([]))
        hr.random.set_seed(5)
        numbers().map(lambda x: hr.random.stateless_uniform([], hr.stack([x, x])))


@pytest.mark.parametrize("seed", [None, 1.5, "5", True])
def test_ASeedIsAnInteger(seed):
    with pytest.raises(TypeError, match="seed must be an int"):
        hr.random.set_seed(seed)
    assert not _seeds.is_set()


def test_AnyIntegerIsASeed():
    orders = set()
    for seed in (0, -1, 2**63, 2**70):
        hr.random.set_seed(seed)
        orders.add(tuple(numbers().shuffle(20)))
    assert len(orders) == 4
