"""State that generators and Python functions keep from pass to pass, and that the program changes in between. The
values are those of TensorFlow 2.21, unless a test says otherwise.
"""

from __future__ import annotations

import contextlib
import gc
import os
import random
import threading
import warnings

import numpy as np
import pytest

import headrace as hr
from headrace._processes import generators
from headrace._processes.child import Limits

Dataset = hr.Dataset
SCALAR = hr.TensorSpec([], hr.int64)


def made(generator, **given):
    return Dataset.from_generator(generator, output_signature=SCALAR, **given)


def ints(ds):
    return [int(x) for x in ds]


def counter():
    calls = [0]

    def generator():
        calls[0] += 1
        yield calls[0]
    return generator


def test_ACounterGoesOnInTheNextPass():
    ds = made(counter())
    assert ints(ds.repeat(3)) == [1, 2, 3]
    assert ints(ds) == [4] and ints(ds.map(lambda x: x * 10)) == [50]


def test_ARandomGeneratorShufflesEachEpochAnew():
    rng = np.random.default_rng(0)

    def generator():
        yield from rng.permutation(8)

    ds = made(generator).batch(8)
    other = np.random.default_rng(0)
    assert [x.tolist() for x in ds.repeat(3)] == [other.permutation(8).tolist() for _ in range(3)]
    # A pass that is left early also changes the state.
    assert [next(iter(ds)).tolist() for _ in range(2)] == [other.permutation(8).tolist() for _ in range(2)]


class Sequence:
    def __init__(self):
        self.passes = 0

    def __call__(self):
        self.passes += 1
        for i in range(2):
            yield self.passes * 10 + i

    def method(self):
        yield from self()


def test_AnObjectKeepsItsState():
    assert ints(made(Sequence()).repeat(2)) == [10, 11, 20, 21]
    assert ints(made(Sequence().method).repeat(2)) == [10, 11, 20, 21]


def test_AnIteratorThatAllPassesShareGoesOn():
    shared = iter(range(6))
    ds = made(lambda: shared)
    assert ints(ds.take(2)) == [0, 1]
    # It is not specified how far the first pass has read ahead. In TensorFlow the next element is 2.
    rest = ints(ds)
    assert rest == list(range(6))[-len(rest):] and ints(ds) == []


def test_TwoFunctionsWithEqualCodeHaveTheirOwnStates():
    one, other = made(counter()), made(counter())
    assert (ints(one), ints(other), ints(one), ints(one), ints(other)) == ([1], [1], [2], [3], [2])


def test_DatasetsOfOneFunctionShareItsState():
    generator = counter()
    assert (ints(made(generator)), ints(made(generator))) == ([1], [2])


def test_APassSeesWhatTheProgramHasChanged():
    values = [1, 2]
    ds = made(lambda: values)
    values.append(3)
    assert ints(ds) == [1, 2, 3]
    values.append(4)
    assert ints(ds) == [1, 2, 3, 4]
    values.clear()
    assert ints(ds.repeat(2)) == []


LIMITS = {"most": 1}


class Scaled:
    def __init__(self):
        self.factor = 1

    def elements(self):
        return [self.factor, 2 * self.factor]

    def of(self, x):
        return self.factor * (x + 1)


@pytest.mark.parametrize("dataset_of", [
    lambda scaled: hr.Dataset.from_generator(scaled.elements, output_signature=SCALAR),
    lambda scaled: hr.Dataset.range(2).map(hr.py_function(scaled.of, SCALAR)),
])
def test_APassWhoseFunctionCanNoLongerBeSentFails(dataset_of):
    scaled = Scaled()
    ds = dataset_of(scaled)
    assert ints(ds) == [1, 2]
    scaled.factor, scaled.lock = 5, threading.Lock()
    with pytest.raises(hr.errors.InvalidArgumentError, match=r"Scaled\.\w+ cannot be sent .*lock.*__getstate__"):
        ints(ds)
    del scaled.lock
    assert ints(ds) == [5, 10]


@pytest.mark.parametrize("dataset_of", [
    lambda scaled: hr.Dataset.from_generator(scaled.elements, output_signature=SCALAR),
    lambda scaled: hr.Dataset.range(2).map(hr.py_function(scaled.of, SCALAR)),
])
def test_AnObjectMayKeepTheIteratorOfTheDatasetOfItsMethod(dataset_of):
    scaled = Scaled()
    scaled.dataset = dataset_of(scaled)
    given = []
    for scaled.factor in (1, 2, 3):
        scaled.iterator = iter(scaled.dataset)
        given += ints(scaled.iterator)
    assert given == [1, 2, 2, 4, 3, 6]


def test_AnIteratorIsNotReadInTheProcessOfAFunction():
    class Reader:
        def elements(self):
            return [next(self.iterator)]

    reader = Reader()
    ds = made(reader.elements)
    reader.iterator = iter(Dataset.range(3))
    with pytest.raises(hr.errors.InvalidArgumentError, match="exists only in the program that made it"):
        ints(ds)


def test_ADictThatAnotherThreadChangesIsSentAfterThat(monkeypatch):
    from headrace._processes import canonical as _canonical

    factor = 1
    ds = hr.Dataset.from_generator(lambda: [factor], output_signature=SCALAR)
    factor, dumps, left = 7, _canonical.dumps, [2]

    def fails_twice(made, without_iterators=False):
        if left[0]:
            left[0] -= 1
            raise RuntimeError("dictionary changed size during iteration")
        return dumps(made, without_iterators)

    monkeypatch.setattr(_canonical, "dumps", fails_twice)
    assert ints(ds) == [7] and left == [0]


def test_AlsoAttributesOfClassesAndGlobals():
    class Config:
        rate = 1

    def generator():
        yield Config.rate
        yield LIMITS["most"]

    ds = made(generator)
    try:
        assert ints(ds) == [1, 1]
        Config.rate, LIMITS["most"] = 5, 7
        assert ints(ds) == [5, 7]
        double = Dataset.range(1).map(lambda x: hr.py_function(lambda v: np.int64(LIMITS["most"]), [x], hr.int64))
        assert ints(double) == [7]
        LIMITS["most"] = 9
        assert ints(double) == [9]
    finally:
        LIMITS["most"] = 1


def test_APassThatIsLeftDoesNotDisturbTheNextOne():
    ds = made(lambda: range(1000))
    it = iter(ds)
    assert [int(next(it)) for _ in range(3)] == [0, 1, 2]
    del it
    gc.collect()
    assert ints(ds.take(2)) == [0, 1]
    assert len(ints(ds)) == 1000


def test_TwoPassesAtOneTimeShareTheState():
    ds = made(lambda: range(4))
    assert [(int(a), int(b)) for a, b in Dataset.zip((ds, ds))] == [(0, 0), (1, 1), (2, 2), (3, 3)]
    counted = made(counter())
    assert sorted(map(int, next(iter(Dataset.zip((counted, counted)))))) == [1, 2]
    assert ints(Dataset.range(3).interleave(lambda _: counted)) == [3, 4, 5]


def test_AFunctionThatRaisedBeginsAnewInTheNextPass():
    calls = [0]

    def generator():
        calls[0] += 1
        yield calls[0]
        raise ValueError("broken")

    it = iter(made(generator).repeat(2))
    for number in (1, 2):
        assert int(next(it)) == number
        with pytest.raises(hr.errors.InvalidArgumentError, match="broken"):
            next(it)
    assert list(it) == []


def test_ArgumentsAreBytesScalarsAndArrays():
    seen = Dataset.from_generator(
        lambda *args: [[f"{type(x).__name__}:{getattr(x, 'dtype', '')}:{x!r}" for x in args]],
        output_signature=hr.TensorSpec([None], hr.string),
        args=("a", ["a", "b"], 1, 2.5, [1, 2], True, np.float64(3), np.array(["x"]), [], b"", [["a"]], np.uint8(3),
              hr.constant([2]), hr.constant("t"), 2**40, np.array(5, np.int16)))
    assert next(iter(seen)).tolist() == [
        "bytes::b'a'", "ndarray:object:array([b'a', b'b'], dtype=object)", "int32:int32:np.int32(1)",
        "float32:float32:np.float32(2.5)", "ndarray:int32:array([1, 2], dtype=int32)", "bool:bool:np.True_",
        "float64:float64:np.float64(3.0)", "ndarray:object:array([b'x'], dtype=object)",
        "ndarray:float32:array([], dtype=float32)", "bytes::b''", "ndarray:object:array([[b'a']], dtype=object)",
        "uint8:uint8:np.uint8(3)", "ndarray:int32:array([2], dtype=int32)", "bytes::b't'", "int64:int64:np.int64(1099511627776)",
        "int16:int16:np.int16(5)"]


def test_AnArgumentEqualsTheBytes():
    def generator(mode):
        yield int(mode == b"train")

    assert ints(made(generator, args=("train",))) == [1]
    assert ints(made(lambda n: range(n), args=(3,))) == [0, 1, 2]


@pytest.mark.parametrize("args, kind, text", [
    (("a", None), ValueError, r"args\[1\]"), (({"a": 1},), ValueError, r"args\[0\] is a dict"),
    (5, TypeError, "args must be a tuple"), (np.array([1]), TypeError, "args must be a tuple"),
    ("train", TypeError, "args must be a tuple"),  # in TensorFlow each letter is an argument
])
def test_ArgumentsThatAreNoTensorsSaySo(args, kind, text):
    with pytest.raises(kind, match=f"from_generator: {text}"):
        made(lambda *x: [1], args=args)


def test_ArgumentsMayBeTensorsOfTheElement():
    assert ints(Dataset.range(4).flat_map(lambda x: made(lambda n: range(n), args=(x,)))) == [0, 0, 1, 0, 1, 2]
    assert ints(Dataset.from_tensor_slices(["a", "b"]).flat_map(
        lambda x: made(lambda *a: [int(a == (b"b", 2, 7))], args=(x, hr.constant(2), 7)))) == [0, 1]

    def rows(n, word):
        for i in range(n):
            yield {"v": np.arange(i, dtype=np.float32), "w": (word + b"!", [[i, n]])}

    spec = {"v": hr.TensorSpec([None], hr.float32), "w": (hr.TensorSpec([], hr.string), hr.TensorSpec([1, 2], hr.int32))}
    ds = Dataset.from_tensor_slices(([1, 3, 0], ["x", "y", "z"])).interleave(
        lambda n, word: Dataset.from_generator(rows, args=(n, word), output_signature=spec), cycle_length=1)
    assert ds.element_spec == spec
    assert [(x["v"].tolist(), bytes(x["w"][0]), x["w"][1].tolist()) for x in ds] == [
        ([], b"x!", [[0, 1]]), ([], b"y!", [[0, 3]]), ([0.0], b"y!", [[1, 3]]), ([0.0, 1.0], b"y!", [[2, 3]])]
    with pytest.raises(hr.errors.InvalidArgumentError, match="from_generator .*has the shape"):
        list(Dataset.range(2).flat_map(lambda x: made(lambda n: [[1]], args=(x,))))


# In TensorFlow a generator whose arguments depend on the element need not end, because it runs step by step.
def test_AGeneratorOfTheElementMustEnd():
    def endless(n):
        while True:
            yield n

    with pytest.raises(hr.errors.InvalidArgumentError, match="from_generator .*there must be an end"):
        next(iter(Dataset.range(2).flat_map(lambda x: made(endless, args=(x,)))))


# The numbers differ from TensorFlow's, because the function runs in another process.
def test_EpochsThatDrawFromPythonsRandomDiffer():
    def generator():
        values = list(range(50))
        random.shuffle(values)
        yield from values

    first, second = [x.tolist() for x in made(generator).batch(50).repeat(2)]
    assert first != second and sorted(first) == sorted(second)


# The processes that keep the state of generators.
def kept_processes():
    from headrace._processes import pool

    return [process.child for process in pool.shared()._of_generators._all.values()]


def test_AProcessEndsWithTheFunctionThatItRuns():
    before = set(map(id, kept_processes()))
    ds = made(counter())
    assert ints(ds) == [1]
    (mine,) = [child for child in kept_processes() if id(child) not in before]
    assert mine.lives()
    del ds
    gc.collect()
    # The end may come a little later: a thread of the pass may be the last owner of the function.
    assert mine.wait(60) == 0
    assert mine not in kept_processes()


@pytest.fixture
def few_are_kept(monkeypatch):
    """A pool that keeps the processes of a few generators."""
    from headrace._processes import pool

    own = pool.Pool()
    monkeypatch.setattr(generators, "_MOST", 4)
    monkeypatch.setattr(pool, "_shared", own)
    yield
    own.stop()


def test_NoMoreProcessesStayThanMay(few_are_kept):
    datasets = [made(counter()) for _ in range(generators._MOST + 2)]
    with pytest.warns(RuntimeWarning, match="the processes of 4 generators are kept") as warned:
        for ds in datasets:
            assert ints(ds) == [1]
    assert [w.category for w in warned].count(RuntimeWarning) == 1
    assert len(kept_processes()) == generators._MOST
    assert ints(datasets[-1]) == [2] and ints(datasets[0]) == [1]


def test_ManyGeneratorsKeepTheirState():
    assert generators._MOST >= 32
    datasets = [made(counter()) for _ in range(9)]
    for expected in (1, 2):
        assert [ints(ds) for ds in datasets] == [[expected]] * 9


def test_ProcessesThatNoPassCanUseAgainEndInSilence(few_are_kept):
    calls = [0]
    ds = made(lambda: calls)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for calls[0] in range(generators._MOST + 2):  # each pass has another process, because the value has changed
            assert ints(ds) == [calls[0]]
    assert len(kept_processes()) == generators._MOST


def test_AWarningThatIsAnErrorLeavesNoProcessInUse(few_are_kept):
    datasets = [made(counter()) for _ in range(generators._MOST + 1)]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for ds in datasets[:-1]:
            assert ints(ds) == [1]
        with pytest.raises(hr.errors.OpError, match="generators are kept"):
            ints(datasets[-1])
    assert ints(datasets[-1]) == [1]


def test_AProcessThatDiedIsReplacedInTheNextPass():
    ds = made(counter())
    before = set(map(id, kept_processes()))
    assert (ints(ds), ints(ds)) == ([1], [2])
    (mine,) = [child for child in kept_processes() if id(child) not in before]
    mine.kill()
    mine.wait(60)
    assert ints(ds) == [1]


@pytest.mark.parametrize("workers", [0, 2])
def test_AProcessThatDiesOnceTakesNoElementOfADeterministicGenerator(cluster, tmp_path, workers):
    def generator():
        for i in range(200):
            if i == 50:
                with contextlib.suppress(FileExistsError):
                    (tmp_path / "died").touch(exist_ok=False)
                    os.kill(os.getpid(), 9)
            yield i

    ds = made(generator, deterministic=True)
    if workers:
        ds = ds.apply(hr.service.distribute("distributed_epoch", cluster(workers).target))
    it, got, failed = iter(ds), [], []
    while True:
        try:
            got.append(int(next(it)))
        except hr.errors.UnknownError as e:
            failed.append(str(e))
        except StopIteration:
            break
    assert (tmp_path / "died").exists()
    # A row that was requested alone is not requested again.
    assert len(failed) <= 1 and all("signal 9" in text for text in failed)
    assert sorted(got) == list(range(200)) if not failed else sorted(got + [50]) == list(range(200))


def test_ADeterministicGeneratorThatAlwaysDiesEnds():
    def generator():
        yield 0
        yield 1
        os.kill(os.getpid(), 9)

    it = iter(made(generator, deterministic=True))
    assert [int(next(it)), int(next(it))] == [0, 1]
    for _ in range(2):
        with pytest.raises(hr.errors.UnknownError, match="signal 9"):
            next(it)
    assert list(it) == []


def test_APassThatEndsWhileAnotherBeginsLeavesTheProcessToIt(monkeypatch):
    class Child:
        ended = False

        def __init__(self, limits):
            pass

        def lives(self):
            return True

        def leave(self):
            self.ended = True

        def wait(self, limit):
            return 0

    class EndsThePass(dict):
        def pop(self, *arguments):
            out = super().pop(*arguments)
            passes.clear()  # as another thread may do here
            return out

    monkeypatch.setattr(generators, "Child", Child)
    kept = generators.Generators(Limits())
    passes = [generators.Generator(b"", kept, (1, b""))]
    passes[0]._process = first = kept.process_for(passes[0]._number, passes[0]._key)
    first.lock.release()
    kept._all = EndsThePass(kept._all)
    assert kept.process_for(-1, (1, b"")) is first and not first.child.ended and first.passes == {-1}
