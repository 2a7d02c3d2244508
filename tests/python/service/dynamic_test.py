"""DYNAMIC with every operator: three workers together give the elements that one local iteration gives."""

from __future__ import annotations

import collections
import random

import pytest

import headrace as hr

service = hr.service
D = hr.Dataset
R = D.range
choose, sample = D.choose_from_datasets, D.sample_from_datasets


@pytest.fixture(scope="module")
def services():
    """Two results of ``distribute``: the first for a service of three workers, the second for a service of two
    workers, from which graphs that run on the first service may read.
    """
    servers = []

    def begin(workers):
        dispatcher = service.DispatchServer()
        servers.append(dispatcher)
        servers.extend(service.WorkerServer(service.WorkerConfig(dispatcher.target)) for _ in range(workers))
        while dispatcher.num_workers() < workers:
            pass
        return service.distribute("distributed_epoch", dispatcher.target)

    yield begin(3), begin(2)
    for server in reversed(servers):
        server.stop()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Thirty files of ten lines."""
    folder = tmp_path_factory.mktemp("lines")
    for i in range(30):
        (folder / f"{i:02}.txt").write_text("".join(f"{i * 100 + k}\n" for k in range(10)))
    return str(folder / "*.txt")


def key(x):
    if isinstance(x, tuple):
        return tuple(map(key, x))
    x = x.tolist() if hasattr(x, "tolist") else x
    return tuple(x) if isinstance(x, list) else x


def counts(ds, most=None):
    ds = ds if most is None else ds.take(most)
    return collections.Counter(map(key, ds.as_numpy_iterator()))


def numbers_of_a_generator():
    yield from range(50)


def numbers_in_another_order_each_time():
    numbers = list(range(500))
    random.SystemRandom().shuffle(numbers)
    yield from numbers


def zeros_then_ones():
    return D.from_tensors(hr.constant(0, hr.int64)).repeat(100).concatenate(
        D.from_tensors(hr.constant(1, hr.int64)).repeat(100))


def texts(files):
    return D.list_files(files, shuffle=False).flat_map(hr.TextLineDataset)


# Each program gets two arguments: the result of `distribute` for the second service, and the pattern of the files.
SAME = {
    "range": lambda there, files: R(1000),
    "slices": lambda there, files: D.from_tensor_slices(list(range(300))),
    "one": lambda there, files: D.from_tensors(7),
    "generator": lambda there, files: D.from_generator(
        numbers_of_a_generator, output_signature=hr.TensorSpec([], hr.int64)),
    "generator that may be divided": lambda there, files: D.from_generator(
        numbers_of_a_generator, output_signature=hr.TensorSpec([], hr.int64), deterministic=True),
    "generator of another order each time": lambda there, files: D.from_generator(
        numbers_in_another_order_each_time, output_signature=hr.TensorSpec([], hr.int64)),
    "files": lambda there, files: D.list_files(files),
    "lines": lambda there, files: texts(files),
    "lines in turn": lambda there, files: D.list_files(files).interleave(hr.TextLineDataset, cycle_length=3),
    "lines twice": lambda there, files: texts(files).repeat(2),
    "zip": lambda there, files: D.zip((R(500), R(500, 1000))),
    "zip of another length": lambda there, files: D.zip((R(100), R(1000))),
    "zip of maps": lambda there, files: D.zip((R(500).map(lambda x: x * 2), R(500))),
    "zip with an endless one": lambda there, files: D.zip((R(500), R(3).repeat())).map(lambda a, b: a),
    "zip of three": lambda there, files: D.zip((R(50), R(50), R(50))),
    "zip of zip": lambda there, files: D.zip((D.zip((R(50), R(50))), R(50))).map(lambda a, b: b),
    "zip repeated": lambda there, files: D.zip((R(50), R(50))).repeat(3),
    "zip of repeated": lambda there, files: D.zip((R(50).repeat(2), R(100))).map(lambda a, b: b),
    "zip of lines and a label": lambda there, files: D.zip((texts(files), D.from_tensors(1).repeat())),
    "zip of single ones": lambda there, files: D.zip((D.from_tensors(1), D.from_tensors(2))),
    "concatenate": lambda there, files: R(100).concatenate(R(100, 200)),
    "concatenate repeated": lambda there, files: R(10).concatenate(R(10, 20)).concatenate(R(5)).repeat(2),
    "concatenate with a zip": lambda there, files: R(50).concatenate(D.zip((R(50), R(50))).map(lambda a, b: a + b)),
    "repeat": lambda there, files: R(100).repeat(3),
    "repeat repeated": lambda there, files: R(10).repeat(3).repeat(4),
    "repeat of nothing": lambda there, files: R(10).filter(lambda x: x < 0).repeat(2),
    "cache": lambda there, files: R(100).cache(),
    "cache repeated": lambda there, files: R(100).cache().repeat(3),
    "cache of repeated": lambda there, files: R(100).repeat(2).cache(),
    "shuffle": lambda there, files: R(1000).shuffle(100),
    "shuffle repeated": lambda there, files: R(100).shuffle(100).repeat(3),
    "interleave": lambda there, files: R(30).interleave(lambda x: R(x * 10, x * 10 + 5), cycle_length=4),
    "interleave in parallel": lambda there, files: R(30).interleave(
        lambda x: R(x * 10, x * 10 + 5), cycle_length=4, num_parallel_calls=4, deterministic=False),
    "interleave of caches": lambda there, files: R(10).interleave(lambda x: R(5).map(lambda y: x * 10 + y).cache()),
    "flat_map": lambda there, files: R(30).flat_map(lambda x: R(x * 10, x * 10 + 5)),
    "flat_map twice": lambda there, files: R(5).flat_map(
        lambda x: R(4).flat_map(lambda y: R(3).map(lambda z: x * 100 + y * 10 + z))),
    "windows": lambda there, files: R(30).window(1).flat_map(lambda w: w),
    "groups": lambda there, files: R(100).group_by_window(
        lambda x: x % 2, lambda k, w: w.batch(100), window_size=1).unbatch(),
    "batches": lambda there, files: R(100).batch(5).unbatch(),
    "choose": lambda there, files: choose([R(20), R(20, 40)], R(2).repeat(), stop_on_empty_dataset=False),
    "choose runs": lambda there, files: choose(
        [R(100), R(100, 200)], zeros_then_ones(), stop_on_empty_dataset=False),
    "sample": lambda there, files: sample([R(100), R(100, 200)], [0.5, 0.5], seed=1, stop_on_empty_dataset=False),
    "sample repeated": lambda there, files: sample(
        [R(30), R(30, 60), R(60, 90)], seed=2, stop_on_empty_dataset=False).repeat(2),
    "a service in interleave": lambda there, files: R(4).interleave(lambda x: R(3).apply(there), cycle_length=2),
    "a service of each element": lambda there, files: R(4).interleave(
        lambda x: R(x * 10, x * 10 + 3).apply(there), cycle_length=2),
    "zip with a service": lambda there, files: D.zip((R(50), R(50).apply(there).batch(1))).map(lambda a, b: a),
    "concatenate with a service": lambda there, files: R(20).concatenate(R(20, 40).apply(there)),
    "choose from a service": lambda there, files: choose(
        [R(20), R(20, 40).apply(there)], R(2).repeat(), stop_on_empty_dataset=False),
    "a service repeated": lambda there, files: R(20).apply(there).repeat(3),
    "a service cached": lambda there, files: R(20).apply(there).cache(),
}


@pytest.mark.parametrize("program", SAME)
def test_ThreeWorkersGiveWhatOneIterationGives(program, services, files):
    far, there = services
    ds = SAME[program](there, files)
    assert counts(ds.apply(far)) == counts(ds)


# Programs whose inputs do not advance together: at the end each worker may have one element without a partner.
ABOUT = {
    "zip of a filter": lambda files: D.zip((R(500).filter(lambda x: x % 2 == 0), R(250))).map(lambda a, b: b),
    "zip of lists": lambda files: D.zip((D.list_files(files, shuffle=False), R(30))).map(lambda a, b: b),
    "choose until one is empty": lambda files: choose([R(50), R(50, 100)], R(2).repeat(200)),
}


@pytest.mark.parametrize("program", ABOUT)
def test_AtMostOneElementAWorkerIsLeftWithoutAPartner(program, services, files):
    ds = ABOUT[program](files)
    want, got = counts(ds), counts(ds.apply(services[0]))
    assert not got - want
    assert sum((want - got).values()) <= 3


ENDLESS = {
    "range": (lambda: R(10).repeat(), 10), "one": (lambda: R(1).repeat(), 1), "shuffle": (lambda: R(10).shuffle(10).repeat(), 10),
    "flat_map": (lambda: R(4).repeat().flat_map(lambda x: R(3).map(lambda y: x * 10 + y)), 12),
    "choose": (lambda: choose([D.from_tensors(k).repeat() for k in range(3)], R(3).repeat()), 3),
    "sample": (lambda: sample([R(5).repeat(), R(5, 10).repeat()], [0.5, 0.5], seed=1), 10),
    "zip": (lambda: D.zip((R(5).repeat(), R(7).repeat())), 35), "concatenate": (lambda: R(3).concatenate(R(7, 8).repeat()), 4),
}


@pytest.mark.parametrize("program", ENDLESS)
def test_WhatHasNoEndGoesOnAndGivesEverything(program, services):
    made, different = ENDLESS[program]
    got = counts(made().apply(services[0]), 3000)
    assert (sum(got.values()), len(got)) == (3000, different)


def test_NumbersThatAreMadeUpDifferOnAllWorkers(services):
    for ds in (hr.experimental.Counter(), D.random(seed=3)):
        assert len(counts(ds.apply(services[0]), 1000)) == 1000


def test_EachWorkerMakesAllChoices(services):
    ds = choose([D.from_tensors(k).repeat() for k in range(3)], R(45).map(lambda x: x % 3))
    assert counts(ds.apply(services[0])) == {0: 45, 1: 45, 2: 45}
