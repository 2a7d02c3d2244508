"""The processes in which Python functions run: their ends, their pipes and their bounds."""

from __future__ import annotations

import os
import sys
import time

import pytest

import headrace as hr

SCALAR = hr.TensorSpec([], hr.int64)


def ints(ds):
    return [int(x) for x in ds]


def test_AProcessThatDiesTakesOneElementWithIt():
    def deadly(x):
        if x == 5:
            os.kill(os.getpid(), 9)
        return x

    it = iter(hr.Dataset.range(10).map(hr.py_function(deadly, SCALAR)))
    got, failed = [], []
    while True:
        try:
            got.append(int(next(it)))
        except hr.errors.UnknownError as e:
            failed.append(str(e))
        except StopIteration:
            break
    assert got == [0, 1, 2, 3, 4, 6, 7, 8, 9]
    assert len(failed) == 1 and "signal 9" in failed[0]


def test_AProcessThatDiesTakesThoseThatItForkedWithIt(tmp_path):
    # A forked process has its parent's descriptors. So it must end with its parent, or else the pipes would stay open.
    def forks(x):
        child = os.fork()
        if child == 0:
            time.sleep(600)
            os._exit(0)
        (tmp_path / "child").write_text(str(child))
        os.kill(os.getpid(), 9)

    it = iter(hr.Dataset.range(1).map(hr.py_function(forks, SCALAR)))
    with pytest.raises(hr.errors.UnknownError, match="signal 9"):
        next(it)
    with pytest.raises(ProcessLookupError):
        while True:  # until the init process has reaped it
            os.kill(int((tmp_path / "child").read_text()), 0)


def test_RunsInProcessesWithoutHandles(monkeypatch):
    monkeypatch.delattr(os, "pidfd_open")
    dead = hr.py_function(lambda x: os.kill(os.getpid(), 9), SCALAR)
    with pytest.raises(hr.errors.UnknownError, match="signal 9"):
        next(iter(hr.Dataset.range(1).map(dead)))
    assert ints(hr.Dataset.from_generator(lambda: [1, 2], output_signature=SCALAR)) == [1, 2]


def test_FunctionsReadNothingFromStandardInput():
    assert ints(hr.Dataset.range(2).map(hr.py_function(lambda x: len(sys.stdin.read()) + x, SCALAR))) == [0, 1]


def test_ARequestThatCannotBeSentLeavesNoProcessBehind(monkeypatch):
    from headrace._processes import pool as _pool

    class Child:
        fails = 0

        def __init__(self, limits):
            pass

        def ask(self, name, function, rows):
            if Child.fails:
                Child.fails -= 1
                raise MemoryError
            self.rows = len(rows)

        def answer(self):
            return _pool.Answer(self.rows, b"")

        def lives(self):
            return True

        def fate(self):
            return "was ended"

    monkeypatch.setattr(_pool, "Child", Child)
    pool = _pool.Pool(_pool.Limits(processes=2))
    Child.fails = 2
    assert [x.rows for x in pool.run(b"f", b"", [1, 2, 3, 4])] == [1, 1, 1, 1]
    assert [x.rows for x in pool.run(b"f", b"", [1, 2, 3, 4])] == [2, 2]

    def broken(self):
        raise KeyError

    monkeypatch.setattr(Child, "answer", broken)
    for _ in range(3):  # if a failed call kept the pool's two processes, the next call would wait for ever
        with pytest.raises(KeyError):
            pool.run(b"f", b"", [1, 2, 3, 4])


@pytest.fixture
def pool_of_the_dead(monkeypatch, processes):
    """The pool of this process, with so many processes, all of which are idle and were killed."""
    from headrace._processes import pool as _pool

    pool = _pool.Pool(_pool.Limits(processes=processes))
    monkeypatch.setattr(_pool, "_shared", pool)
    for child in pool._take(processes):
        pool._give_back(child)
    assert len(pool._idle) == processes
    for child in pool._idle:
        child.kill()
        while child.lives():
            pass
    yield pool
    pool.stop()


@pytest.mark.parametrize("processes", [1, 3])
def test_IdleProcessesThatDiedCostNoElements(pool_of_the_dead):
    killed = list(pool_of_the_dead._all)
    it = iter(hr.Dataset.range(6).map(hr.py_function(lambda x: x + 1, SCALAR)).ignore_errors())
    assert ints(it) == [1, 2, 3, 4, 5, 6] and it.ignored == 0
    assert not pool_of_the_dead._all.intersection(killed)


@pytest.mark.parametrize("processes, rows", [(1, 1), (1, 6)])
def test_RowsThatCouldNotBeSentAreSentAgain(pool_of_the_dead, monkeypatch, rows):
    from headrace._processes import child as _child

    monkeypatch.setattr(_child.Child, "lives", lambda self: True)  # as if they died just after the pool looked
    it = iter(hr.Dataset.range(rows).map(hr.py_function(lambda x: x + 1, SCALAR)).ignore_errors())
    assert ints(it) == list(range(1, rows + 1)) and it.ignored == 0


def test_ARowThatEndsItsProcessIsNotRunAgain(tmp_path):
    def deadly(x):
        (tmp_path / f"{os.getpid()}").touch()
        os.kill(os.getpid(), 9)

    with pytest.raises(hr.errors.UnknownError, match="signal 9"):
        next(iter(hr.Dataset.range(1).map(hr.py_function(deadly, SCALAR))))
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("also", [lambda ds: ds, lambda ds: ds.ignore_errors()])
def test_AWorkerThatIsStoppedDuringACallFailsNoElement(cluster, tmp_path, also):
    calls = str(tmp_path)

    def slow(x):
        open(f"{calls}/{x}-{time.time()}", "w").close()
        time.sleep(0.4)  # nearly the time that a worker has to send what it has begun
        return x

    dispatcher = cluster(0)
    with hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target)):
        ds = also(hr.Dataset.range(8).map(hr.py_function(slow, SCALAR)))
        it = iter(ds.apply(hr.service.distribute("distributed_epoch", dispatcher.target)))
        got = [int(next(it))]
        begun = len(os.listdir(calls))
        while len(os.listdir(calls)) == begun:
            pass
    with hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target)):
        assert sorted(got + ints(it)) == list(range(8))


# -- bounds ----------------------------------------------------------------------------------------------


@pytest.fixture
def bounded(cluster):
    """Reads a dataset from a worker whose process pool has the given bounds. Returns elements and texts of errors."""
    def read(ds, **bounds):
        dispatcher = cluster(1, **bounds)
        it = iter(ds.apply(hr.service.distribute("off", dispatcher.target)))
        out = []
        while True:
            try:
                out.append(int(next(it)))
            except hr.errors.OpError as e:
                out.append(str(e))
            except StopIteration:
                return out
    return read


def test_ACallThatTakesTooLongIsThatElementsError(bounded):
    def hangs(x):
        while x == 2:
            pass
        return x

    def sleeps(x):
        import ctypes
        if x == 2:
            ctypes.CDLL(None).pause()  # blocks in C, where no exception of Python is raised
        return x

    for f in (hangs, sleeps):
        got = bounded(hr.Dataset.range(5).map(hr.py_function(f, SCALAR)), python_call_timeout_ms=500)
        assert [x for x in got if isinstance(x, int)] == [0, 1, 3, 4]
        assert "one call took longer than 0.5 s" in got[2]


def test_AGeneratorThatHangsEndsWithAnError(bounded):
    def hangs():
        yield 1
        while True:
            pass

    def hangs_at_once():
        while True:
            pass

    for generator in (hangs, hangs_at_once):
        got = bounded(hr.Dataset.from_generator(generator, output_signature=SCALAR), python_call_timeout_ms=500)
        assert ": from_generator: " in got[-1] and "took longer" in got[-1] and got[:-1] in ([1], [])


def test_AnIterableThatHangsWhenItIsStartedEndsWithAnError(bounded):
    class Hangs:
        def __iter__(self):
            while True:
                pass

    got = bounded(hr.Dataset.from_generator(lambda: Hangs(), output_signature=SCALAR), python_call_timeout_ms=500)
    assert len(got) == 1 and "took longer" in got[0]


def test_ACallThatTakesTooMuchMemoryIsThatElementsError(bounded):
    def greedy(x):
        return len(bytearray(1 << 31)) if x == 1 else x

    got = bounded(hr.Dataset.range(3).map(hr.py_function(greedy, SCALAR)), python_memory_bytes=1 << 30)
    assert [got[0], got[2]] == [0, 2] and "MemoryError" in got[1]


def test_APoolHasNoMoreProcessesThanItMay(bounded):
    pids = bounded(hr.Dataset.range(200).map(hr.py_function(lambda x: os.getpid(), SCALAR)), python_processes=1)
    assert len(set(pids)) == 1


def test_ProcessesForgetFunctionsThatAreNotUsed():
    from headrace._processes import child as _child, pool as _pool, shipping as _shipping

    class Counted:
        def __init__(self):
            self.calls = 0

        def __call__(self, x):
            self.calls += 1
            return self.calls

    pool = _pool.Pool(_pool.Limits(processes=1))
    declared = ["int64", []]
    counted = _shipping.pack("function", Counted, declared, declared)

    def calls():
        # The last 8 bytes of an answer are the scalar's value.
        return int.from_bytes(pool.run(b"counted", counted, [0])[0].content[-8:], "little")

    assert [calls(), calls()] == [1, 2]
    for i in range(_child._MOST_FUNCTIONS):
        pool.run(b"%d" % i, _shipping.pack("function", abs, declared, declared), [i])
    assert calls() == 1
    pool.stop()
