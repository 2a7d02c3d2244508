"""Python functions that are not traced, and run in other processes."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import headrace as hr

SCALAR = hr.TensorSpec([], hr.int64)


def ints(ds):
    return [int(x) for x in ds]


def test_RunsPythonForEachElementInItsOrder():
    def collatz(n):
        steps = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps

    ds = hr.Dataset.range(1, 40).map(hr.py_function(collatz, SCALAR))
    assert ds.element_spec == SCALAR
    assert ints(ds)[:7] == [0, 1, 7, 2, 5, 8, 16]
    assert ints(ds.batch(39).flat_map(lambda b: hr.Dataset.from_tensor_slices(b))) == ints(ds)


def test_RunsInOtherProcesses():
    pids = set(ints(hr.Dataset.range(200).map(hr.py_function(lambda x: os.getpid(), SCALAR))))
    assert os.getpid() not in pids and 1 <= len(pids) <= len(os.sched_getaffinity(0))


def test_NestsShapesAndStringsComeBack():
    def f(e):
        assert isinstance(e["s"], bytes) and isinstance(e["v"], np.ndarray)
        return {"n": (len(e["s"]), e["v"].sum()), "w": np.full(len(e["s"]), 0.5), "t": e["s"].decode() + "!"}

    tout = {"n": (hr.TensorSpec([], hr.int32), hr.TensorSpec([], hr.float32)), "w": hr.TensorSpec([None], hr.float64),
            "t": hr.TensorSpec([], hr.string)}
    given = {"s": ["a", "bcd", ""], "v": np.arange(6, dtype=np.float32).reshape(3, 2)}
    got = list(hr.Dataset.from_tensor_slices(given).map(hr.py_function(f, tout)))
    assert [e["n"] for e in got] == [(1, 1.0), (3, 5.0), (0, 9.0)]
    assert [e["w"].tolist() for e in got] == [[0.5], [0.5] * 3, []]
    assert [e["t"] for e in got] == [b"a!", b"bcd!", b"!"]


def test_PartsOfATupleAreArguments():
    ds = hr.Dataset.from_tensor_slices(([1, 2], [10, 20])).map(
        hr.py_function(lambda a, b: (b, a), (hr.int32, hr.int32)))
    assert [(int(a), int(b)) for a, b in ds] == [(10, 1), (20, 2)]


def test_AnExceptionIsThatElementsErrorWithTheRemoteTraceback():
    def picky(x):
        if x == 2:
            raise RuntimeError("not two")
        return x

    it = iter(hr.Dataset.range(4).map(hr.py_function(picky, SCALAR)))
    assert [int(next(it)), int(next(it))] == [0, 1]
    with pytest.raises(hr.errors.UnknownError) as e:
        next(it)
    assert "RuntimeError: not two" in str(e.value) and 'raise RuntimeError("not two")' in str(e.value)
    assert ints(it) == [3]


def test_AClassIsSetUpOnceAProcess():
    class Counter:
        def __init__(self):
            self.calls = 0

        def __call__(self, x):
            self.calls += 1
            return self.calls

    counts = ints(hr.Dataset.range(300).map(hr.py_function(Counter, SCALAR)))
    assert max(counts) >= 300 // len(os.sched_getaffinity(0))


@pytest.mark.parametrize("f, tout, text", [
    (lambda x: "s", SCALAR, "declared is int64"),
    (lambda x: np.float32(1), SCALAR, "float32, but declared is int64"),
    (lambda x: [1, 2], SCALAR, "shape"),
    (lambda x: (1, 2), SCALAR, "not arranged"),
    (lambda x: 3, hr.TensorSpec([], hr.string), "str or bytes"),
    (lambda x: np.int64(300), hr.TensorSpec([], hr.uint8), "the declared uint8 does not hold"),
    (lambda x: [300], hr.TensorSpec([1], hr.uint8), "the declared uint8 does not hold"),
])
def test_WhatIsNotAsDeclaredIsAnErrorOfTheElement(f, tout, text):
    with pytest.raises(hr.errors.InvalidArgumentError, match=text):
        list(hr.Dataset.range(1).map(hr.py_function(f, tout)))


def test_NumbersTakeTheDeclaredDtype():
    rows = [(np.float64(0.1), np.arange(2), 3), (np.float32(0.5), [4, 5], np.int8(6))]
    spec = (hr.TensorSpec([], hr.float32), hr.TensorSpec([2], hr.int32), hr.TensorSpec([], hr.float64))
    got = list(hr.Dataset.from_generator(lambda: iter(rows), output_signature=spec))
    assert [x.dtype.name for x in got[0]] == ["float32", "int32", "float64"] and got[0][0] == np.float32(0.1)
    assert [got[1][1].tolist(), float(got[1][2])] == [[4, 5], 6.0]


def test_WhatFailedBeforeKeepsItsError():
    ds = hr.Dataset.range(3).map(lambda x: 6 // (x - 1)).map(hr.py_function(lambda x: x + 1, SCALAR))
    it = iter(ds)
    assert int(next(it)) == -5
    with pytest.raises(hr.errors.InvalidArgumentError, match="zero"):
        next(it)
    assert ints(it) == [7]


def test_WrongArgumentsNameThemselves():
    with pytest.raises(TypeError, match="func must be callable"):
        hr.py_function(3, hr.int64)
    with pytest.raises(TypeError, match="no dtype"):
        hr.py_function(lambda x: x, "int65")
    with pytest.raises(TypeError, match="argument of map"):
        hr.Dataset.range(3).map(lambda x: hr.py_function(lambda y: y, hr.int64)(x))


# -- outside of map --------------------------------------------------------------------------------------


def is_prime(n):
    n = int(n)
    return n > 1 and all(n % k for k in range(2, n))


def test_FilterAndTakeWhileTakePythonFunctions():
    truth = hr.TensorSpec([], hr.bool)
    assert ints(hr.Dataset.range(20).filter(hr.py_function(is_prime, truth))) == [2, 3, 5, 7, 11, 13, 17, 19]
    small = hr.Dataset.range(20).take_while(hr.py_function(lambda n: n * n < 30, truth))
    assert ints(small) == [0, 1, 2, 3, 4, 5]
    pairs = hr.Dataset.from_tensor_slices(([1, 2, 3], [3, 2, 1])).filter(hr.py_function(lambda a, b: a < b, truth))
    assert [(int(a), int(b)) for a, b in pairs] == [(1, 3)]
    with pytest.raises((TypeError, ValueError), match="filter.*bool"):
        hr.Dataset.range(3).filter(hr.py_function(lambda n: n, SCALAR))


def test_APredicateThatRaisesIsThatElementsError():
    it = iter(hr.Dataset.range(4).filter(hr.py_function(lambda n: 6 // int(n - 1) != -6, hr.TensorSpec([], hr.bool))))
    with pytest.raises(hr.errors.UnknownError, match="ZeroDivisionError"):
        list(it)
    assert ints(it) == [2, 3]


class Total:
    def __init__(self):
        self.calls = 0

    def __call__(self, total, x):
        self.calls += 1
        return total + x


def test_ScanAndReduceTakePythonFunctions():
    def step(total, x):
        return total + x, [total, x]

    got = hr.Dataset.range(4).scan(np.int64(0), hr.py_function(step, (SCALAR, hr.TensorSpec([2], hr.int64))))
    assert [x.tolist() for x in got] == [[0, 0], [0, 1], [1, 2], [3, 3]]
    assert hr.Dataset.range(5).reduce(np.int64(0), hr.py_function(lambda t, x: t + x, SCALAR)) == 10
    assert hr.Dataset.range(5).reduce(np.int64(0), hr.py_function(Total, SCALAR)) == 10


def test_DatasetsInFunctionsTakePythonFunctions():
    ds = hr.Dataset.range(4).flat_map(lambda x: hr.Dataset.range(x).map(hr.py_function(lambda y: y + 10, SCALAR)))
    assert ints(ds) == [10, 10, 11, 10, 11, 12]
    ds = hr.Dataset.range(3).interleave(
        lambda x: hr.Dataset.from_tensors(x).filter(hr.py_function(lambda y: y != 1, hr.TensorSpec([], hr.bool))))
    assert ints(ds) == [0, 2]


def test_WhereItCannotBeItSaysSo():
    for use in (lambda ds, f: ds.flat_map(f), lambda ds, f: ds.interleave(f)):
        with pytest.raises(TypeError, match="must give a Dataset, which py_function cannot"):
            use(hr.Dataset.range(3), hr.py_function(lambda x: x, SCALAR))


def test_PrintingDoesNotDisturb(capfd):
    def talks(x):
        print("hello")
        return x

    assert ints(hr.Dataset.range(3).map(hr.py_function(talks, SCALAR))) == [0, 1, 2]


def test_TheCommandRuns():
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run([sys.executable, "-m", "headrace", "version"], capture_output=True, text=True, env=env,
                          timeout=60)
    assert done.returncode == 0 and "headrace" in done.stdout


# -- generators ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("also", [lambda ds: ds, lambda ds: ds.repeat(2)])
@pytest.mark.parametrize("before", [0, 1, 3])
def test_AGeneratorThatRaisedHasEndedAlsoAfterARestore(before, also, deterministic):
    def raises():
        yield from range(before)
        raise ValueError("no more")

    def rest(it):
        out = []
        while True:
            try:
                out.append(int(next(it)))
            except StopIteration:
                return out
            except hr.errors.InvalidArgumentError:
                out.append("error")

    ds = also(hr.Dataset.from_generator(raises, output_signature=SCALAR, deterministic=deterministic))
    all_of_it = rest(iter(ds))
    assert all_of_it.count("error") in (1, 2)
    for taken in range(len(all_of_it) + 1):
        it = iter(ds)
        for expected in all_of_it[:taken]:
            if expected == "error":
                with pytest.raises(hr.errors.InvalidArgumentError, match="no more"):
                    next(it)
            else:
                assert next(it) == expected
        again = iter(ds)
        again.restore(it.save())
        assert rest(it) == rest(again) == all_of_it[taken:]


def test_GeneratorsGiveTheirElementsInEachPass():
    def pairs(n):
        for i in range(n):
            yield i, [i] * i

    ds = hr.Dataset.from_generator(pairs, args=(4,), output_signature=(SCALAR, hr.TensorSpec([None], hr.int32)))
    for _ in range(2):
        assert [(int(i), v.tolist()) for i, v in ds] == [(0, []), (1, [1]), (2, [2, 2]), (3, [3, 3, 3])]
    assert ints(ds.map(lambda i, v: i).repeat(2)) == [0, 1, 2, 3] * 2
    assert list(hr.Dataset.from_generator(lambda: [], hr.int64)) == []
    assert ints(hr.Dataset.from_generator(lambda: range(3), hr.int64, [])) == [0, 1, 2]


def test_AnEndlessGeneratorCanBeLeft():
    import itertools

    assert ints(hr.Dataset.from_generator(itertools.count, output_signature=SCALAR).take(1000)) == list(range(1000))


def test_AGeneratorThatRaisesEndsWithThatError():
    def broken():
        yield 1
        raise RuntimeError("out of tea")

    it = iter(hr.Dataset.from_generator(broken, output_signature=SCALAR))
    assert next(it) == 1
    with pytest.raises(hr.errors.UnknownError, match="out of tea"):
        next(it)
    assert list(it) == []


def test_WrongArgumentsOfFromGeneratorNameThemselves():
    with pytest.raises(TypeError, match="generator must be callable"):
        hr.Dataset.from_generator([1, 2], hr.int64)
    with pytest.raises(TypeError, match="output_signature"):
        hr.Dataset.from_generator(lambda: [])
    with pytest.raises(TypeError, match="output_shapes"):
        hr.Dataset.from_generator(lambda: [], (hr.int64, hr.int64), [])


# -- on workers ------------------------------------------------------------------------------------------


def test_WorkersStartedFromPythonRunPythonFunctions(cluster):
    dispatcher = cluster(2)

    def fizz(x):
        return b"fizz" if x % 3 == 0 else str(x)

    ds = hr.Dataset.range(12).map(hr.py_function(fizz, hr.TensorSpec([], hr.string)))
    got = ds.apply(hr.service.distribute("distributed_epoch", dispatcher.target))
    assert sorted(got) == sorted(ds)
    generated = hr.Dataset.from_generator(lambda: range(5), output_signature=SCALAR)
    assert ints(generated.apply(hr.service.distribute("off", cluster(1).target))) == [0, 1, 2, 3, 4]


def test_AnExceptionOnAWorkerComesBackWithItsTraceback(cluster):
    def picky(x):
        if x == 1:
            raise RuntimeError("not one")
        return x

    it = iter(hr.Dataset.range(3).map(hr.py_function(picky, SCALAR)).apply(
        hr.service.distribute("off", cluster().target)))
    assert next(it) == 0
    with pytest.raises(hr.errors.UnknownError, match="RuntimeError: not one(.|\n)*Traceback"):
        next(it)
    assert ints(it) == [2]


def test_TheCommandsWorkerRunsPythonFunctions():
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    with hr.service.DispatchServer() as dispatcher:
        worker = subprocess.Popen([sys.executable, "-m", "headrace", "worker", "--python", "--dispatcher",
                                   dispatcher.target, "--python-processes", "1", "--python-memory", "1G",
                                   "--python-call-timeout", "30"], stdout=subprocess.PIPE, text=True, env=env)
        assert worker.stdout.readline().startswith("worker listening on ")
        ds = hr.Dataset.range(4).map(hr.py_function(lambda x: x + 1, SCALAR))
        assert ints(ds.apply(hr.service.distribute("off", dispatcher.target))) == [1, 2, 3, 4]
        worker.terminate()
        assert worker.wait(30) == 0


def test_AWorkerWithoutPythonSaysSo():
    command = os.environ.get("HEADRACE_COMMAND")
    if not command:
        pytest.skip("the command was not built")
    with hr.service.DispatchServer() as dispatcher:
        worker = subprocess.Popen([command, "worker", "--dispatcher", dispatcher.target.split("://")[1]],
                                  stdout=subprocess.PIPE, text=True)
        worker.stdout.readline()
        ds = hr.Dataset.range(4).map(hr.py_function(lambda x: x + 1, SCALAR))
        with pytest.raises(hr.errors.OpError, match="python:.*registered|registered.*python:"):
            list(ds.apply(hr.service.distribute("off", dispatcher.target)))
        worker.terminate()
        worker.wait(30)


def _same(x):
    return x


def _some():
    return range(3)


@pytest.mark.parametrize("make", [
    lambda **how: hr.Dataset.range(3).map(hr.py_function(_same, SCALAR, **how)),
    lambda **how: hr.Dataset.range(3).filter(hr.py_function(_same, hr.TensorSpec([], hr.bool), **how)),
    lambda **how: hr.Dataset.from_generator(_some, output_signature=SCALAR, **how)])
def test_TheGraphSaysWhatIsDeterministicToWorkersToo(make, cluster):
    service = cluster(1).target
    encoded = set()
    for how in ({}, {"deterministic": True}):
        ds = make(**how)
        graph = ds._graph.encode()
        encoded.add(graph)
        assert hr._core.decode_graph(graph).encode() == graph
        try:
            list(ds.apply(hr.service.distribute("off", service)))
        except hr.errors.OpError:
            pass  # as a filter the function fails, because its results are no bools
    assert len(encoded) == 2
    with pytest.raises(TypeError, match="deterministic must be a bool"):
        make(deterministic="yes")


@pytest.mark.parametrize("dtype", ["float16", "float32", "int64", "bool", "complex128"])
def test_LargeArraysAreWhatTheyWereWhenTheFunctionReturned(dtype):
    kept = np.zeros((64, 128), dtype)

    def one_array_again(x):
        kept[:] = x % 2
        return kept, kept.T, kept[:, ::2], kept[:0]
    spec = hr.TensorSpec
    ds = hr.Dataset.range(40).map(hr.py_function(one_array_again, (
        spec([64, 128], dtype), spec([128, 64], dtype), spec([64, 64], dtype), spec([0, 128], dtype))))
    got = list(ds)
    assert len(got) == 40
    for i, parts in enumerate(got):
        for part, shape in zip(parts, [(64, 128), (128, 64), (64, 64), (0, 128)], strict=True):
            assert part.dtype == dtype and part.shape == shape and (part == np.asarray(i % 2, dtype)).all()
