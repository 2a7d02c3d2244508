"""Tests of headrace.torch, which are skipped if PyTorch is not installed."""

from __future__ import annotations

import importlib.util
import pathlib

import numpy as np
import pytest

import examples
import headrace as hr
from distribute_test import READ, flat, read_in_processes

torch = pytest.importorskip("torch")
import headrace.torch  # noqa: E402

EXAMPLES = pathlib.Path(__file__).parents[3] / "examples"


def test_EverythingHasAnExampleThatHolds(tmp_path):
    assert examples.run(headrace.torch, tmp_path) == 0
    assert examples.without(headrace.torch) == []


def test_TensorsShareTheElementsMemoryIfTheyAreAskedTo():
    (x,) = hr.Dataset.range(8).batch(8)
    t = hr.torch.as_tensor(x, share_memory=True)
    assert t.data_ptr() == x.ctypes.data and t.tolist() == list(range(8))
    ds = hr.Dataset.from_tensors(x).cache()
    assert [t.data_ptr() for t in hr.torch.IterableDataset(ds, share_memory=True)] == [
        t.data_ptr() for t in hr.torch.IterableDataset(ds, share_memory=True)]
    with pytest.raises(TypeError, match="share_memory must be a bool, not int: 1"):
        hr.torch.IterableDataset(hr.Dataset.range(1), share_memory=1)


@pytest.mark.parametrize("given", [
    lambda: hr.Dataset.range(4).batch(4).cache(), lambda: hr.Dataset.from_tensors(np.arange(4)),
    lambda: hr.Dataset.from_tensor_slices(np.arange(8).reshape(2, 4)).take(1), lambda: hr.Dataset.from_tensors(np.ones(4, bool)).map(lambda x: (x, x)),
])
def test_OperationsInPlaceDoNotChangeTheDataset(given):
    ds = hr.torch.IterableDataset(given())

    def read_and_write():
        seen = []
        for element in ds:
            for part in element if isinstance(element, tuple) else (element,):
                seen.append(part.tolist())
                part.zero_() if part.dtype == torch.bool else part.add_(100)
        return seen
    first = read_and_write()
    assert read_and_write() == first == read_and_write() and first[0] == first[-1]


def test_OtherThingsAreTensorsToo():
    assert hr.torch.as_tensor(np.float32(1.5)).dtype == torch.float32
    assert hr.torch.as_tensor(b"x") == b"x"


def test_TensorsOfEveryDtypeThatTorchHas():
    for kind in (hr.int8, hr.uint8, hr.int16, hr.int32, hr.int64, hr.float16, hr.float32, hr.float64, hr.bool):
        (x,) = hr.Dataset.range(3).map(lambda x: hr.cast(x, kind)).batch(3)
        t = hr.torch.as_tensor(x)
        assert t.dtype == getattr(torch, kind.name) and hr.torch.as_tensor(x, share_memory=True).data_ptr() == x.ctypes.data
        assert t.tolist() == x.tolist() and hr.torch.as_tensor(x[1]).item() == x[1]
    for kind in (hr.uint16, hr.uint32):
        (x,) = hr.Dataset.range(3).map(lambda x: hr.cast(x, kind)).batch(3)
        assert hr.torch.as_tensor(x).tolist() == [0, 1, 2] and hr.torch.as_tensor(x[2]).item() == 2
    if not hasattr(torch, "uint64"):
        with pytest.raises(TypeError, match="uint64.*cast"):
            hr.torch.as_tensor(np.zeros(3, np.uint64))


def test_DataLoaderReadsNests():
    ds = hr.Dataset.range(6).map(lambda x: {"x": hr.fill([2], x), "y": hr.cast(x, hr.float32)})
    loader = torch.utils.data.DataLoader(hr.torch.IterableDataset(ds), batch_size=3)
    assert [b["x"].tolist() for b in loader] == [[[0, 0], [1, 1], [2, 2]], [[3, 3], [4, 4], [5, 5]]]


def test_RanksAndWorkersEachTakeTheirPart():
    ds = hr.Dataset.range(10)
    parts = [[int(x) for x in hr.torch.IterableDataset(ds, rank=r, world_size=3)] for r in range(3)]
    assert parts == [[0, 3, 6, 9], [1, 4, 7], [2, 5, 8]]
    assert [len(hr.torch.IterableDataset(ds, rank=r, world_size=3)) for r in range(3)] == [4, 3, 3]
    loader = torch.utils.data.DataLoader(hr.torch.IterableDataset(ds), batch_size=None, num_workers=2,
                                         multiprocessing_context="spawn")
    assert sorted(int(x) for x in loader) == list(range(10))


def shuffled():
    return hr.Dataset.range(1000).shuffle(1000)


def test_RanksShareAnOrderThatIsDrawnByTheirSeed():
    ranks = [hr.torch.IterableDataset(shuffled(), rank=r, world_size=2, seed=5) for r in range(2)]
    epochs = [[[int(x) for x in rank] for rank in ranks] for _ in range(2)]
    assert [sorted(a + b) for a, b in epochs] == [list(range(1000))] * 2
    assert epochs[0][0] != epochs[1][0]
    ranks[0].set_epoch(0)
    assert [int(x) for x in ranks[0]] == epochs[0][0]
    with pytest.raises(ValueError, match="shuffle has no seed"):
        next(iter(hr.torch.IterableDataset(shuffled(), rank=1, world_size=2)))
    assert len(list(hr.torch.IterableDataset(hr.Dataset.range(100).shuffle(9, seed=1), rank=1, world_size=2))) == 50


def test_WorkersAgreeOnAnOrderThatIsDrawn():
    for stay in (False, True):
        loader = torch.utils.data.DataLoader(hr.torch.IterableDataset(shuffled()), batch_size=None, num_workers=2,
                                             multiprocessing_context="spawn", persistent_workers=stay)
        epochs = [[int(x) for x in loader] for _ in range(2)]
        assert [sorted(x) for x in epochs] == [list(range(1000))] * 2
        assert epochs[0] != epochs[1]


def test_WorkersCountTheEpochsOfASeed():
    def loader():
        return torch.utils.data.DataLoader(hr.torch.IterableDataset(shuffled(), seed=3), batch_size=None,
                                           num_workers=1, multiprocessing_context="spawn")

    data = hr.torch.IterableDataset(shuffled(), seed=3)
    wanted = [[int(x) for x in data] for _ in range(2)]
    one = loader()
    assert [[int(x) for x in one] for _ in range(2)] == wanted and wanted[0] != wanted[1]


def test_WhatConsumersCannotShareIsRefused(cluster):
    options = hr.Options()
    options.deterministic = False
    reordered = hr.Dataset.range(9).map(lambda x: x, num_parallel_calls=2).with_options(options)
    anonymous = hr.Dataset.range(9).apply(hr.service.distribute("distributed_epoch", cluster().target))
    drawn = hr.Dataset.range(9).filter(lambda x: hr.random.uniform([]) < 0.5)
    for ds, why in ((reordered, "map reorders"), (anonymous, "job_name"), (drawn, "filter has no seed")):
        with pytest.raises(ValueError, match=why):
            next(iter(hr.torch.IterableDataset(ds, rank=0, world_size=2)))
        alone = sorted(int(x) for x in hr.torch.IterableDataset(ds))
        assert alone == list(range(9)) or why == "filter has no seed" and set(alone) <= set(range(9))


def test_ConsumersOfASharedJobShareIt(cluster):
    ds = hr.Dataset.range(20).apply(hr.service.distribute("distributed_epoch", cluster().target, job_name="shared"))
    assert sorted(int(x) for x in hr.torch.IterableDataset(ds, rank=1, world_size=2)) == list(range(20))
    with pytest.raises(hr.errors.UnimplementedError, match="positions"):
        hr.torch.IterableDataset(ds).load_state_dict({"position": b""})


def test_StateIsWhereTheConsumerIs():
    def data(rank):
        return hr.torch.IterableDataset(hr.Dataset.range(20).shuffle(20, seed=3).map(lambda x: x * 2), rank, 2)

    for rank in (0, 1):
        uninterrupted = data(rank)
        whole, next_epoch = ([int(x) for x in uninterrupted] for _ in range(2))
        for given in (0, 1, 5, 10):
            first = data(rank)
            it = iter(first)
            begin = [int(next(it)) for _ in range(given)]
            other = data(rank)
            other.load_state_dict(first.state_dict())
            assert begin + [int(x) for x in other] == whole
            assert [int(x) for x in other] == next_epoch


def test_StateNeedsNoSeed():
    first = hr.torch.IterableDataset(hr.Dataset.range(1000).shuffle(300))
    it = iter(first)
    begin = [int(next(it)) for _ in range(400)]
    other = hr.torch.IterableDataset(hr.Dataset.range(1000).shuffle(300))
    other.load_state_dict(first.state_dict())
    rest = [int(x) for x in other]
    assert rest == [int(x) for x in it] and sorted(begin + rest) == list(range(1000))


def test_AStateThatWasLoadedIsTheState():
    first = hr.torch.IterableDataset(shuffled(), seed=1)
    it = iter(first)
    begin = [int(next(it)) for _ in range(10)]
    state = first.state_dict()
    other = hr.torch.IterableDataset(shuffled(), seed=1)
    other.load_state_dict(state)
    assert other.state_dict() == state
    third = hr.torch.IterableDataset(shuffled(), seed=1)
    third.load_state_dict(other.state_dict())
    rest = [int(x) for x in third]
    assert sorted(begin + rest) == list(range(1000))
    # After the restored iteration, the next iteration of `third` gives the same elements as the next iteration of
    # `first`, whose iteration `it` was not interrupted and is first read to its end here.
    assert [int(x) for x in third] == (list(it) and [int(x) for x in first])


def test_AStateThatWasLoadedIsTheStateAlsoAfterAnIterationThatWasLeft():
    data = hr.torch.IterableDataset(shuffled(), seed=1)
    begin = data.state_dict()
    it = iter(data)
    next(it)
    later = data.state_dict()
    rest = [int(x) for x in it]
    it = iter(data)
    next(it)
    for state in later, begin:
        data.load_state_dict(state)
        assert data.state_dict() == state
    data.load_state_dict(later)
    assert [int(x) for x in data] == rest


@pytest.mark.parametrize("fails, begin, rest", [(3, [0, 2], [4, 6]), (2, [0], [4, 6])])
def test_AStateAfterAFailedElementGoesOnBehindIt(fails, begin, rest):
    data = hr.Dataset.range(8).map(lambda x: x + 0 * (6 // (x - fails)))
    first = hr.torch.IterableDataset(data, 0, 2)
    it = iter(first)
    assert [int(next(it)) for _ in begin] == begin
    with pytest.raises(hr.errors.OpError):
        next(it)
    other = hr.torch.IterableDataset(data, 0, 2)
    other.load_state_dict(first.state_dict())
    assert [int(x) for x in other] == rest


def test_IterationsOfOneDatasetAreIndependent():
    data = hr.torch.IterableDataset(hr.Dataset.range(4))
    assert [(int(a), int(b)) for a, b in zip(data, data)] == [(i, i) for i in range(4)]
    first = iter(data)
    assert int(next(first)) == 0
    assert [int(x) for x in data] == [0, 1, 2, 3]
    assert [int(x) for x in first] == [1, 2, 3]


def test_AStateOfAnotherConsumerIsRefused():
    first = hr.torch.IterableDataset(hr.Dataset.range(9), 0, 2)
    next(iter(first))
    it = iter(first)
    next(it)
    other = hr.torch.IterableDataset(hr.Dataset.range(9), 1, 2)
    other.load_state_dict(first.state_dict())
    with pytest.raises(ValueError, match="consumer 0 of 2; this is 1 of 2"):
        next(iter(other))


def test_WhereTheWorkersAreIsNotKnownHere():
    first = hr.torch.IterableDataset(hr.Dataset.range(10))
    it = iter(first)
    [next(it) for _ in range(4)]
    other = hr.torch.IterableDataset(hr.Dataset.range(10))
    other.load_state_dict(first.state_dict())
    loader = torch.utils.data.DataLoader(other, batch_size=None, num_workers=1, multiprocessing_context="spawn")
    assert [int(x) for x in loader] == [4, 5, 6, 7, 8, 9]
    with pytest.raises(hr.errors.FailedPreconditionError, match="num_workers=0"):
        other.state_dict()
    # A loaded state applies only to the next iteration.
    assert [int(x) for x in loader] == list(range(10))


def test_WhatAServiceGivesHasNoState(cluster):
    data = hr.torch.IterableDataset(
        hr.Dataset.range(4).apply(hr.service.distribute("distributed_epoch", cluster().target)))
    it = iter(data)
    next(it)
    with pytest.raises(hr.errors.UnimplementedError, match="positions"):
        data.state_dict()


@pytest.mark.parametrize("ahead", [0, 1, 3])
def test_PartsAreMovedToTheReplicasDevices(ahead):
    ds = hr.Dataset.range(6).map(lambda n: {"n": n, "s": hr.strings.as_string(n)}).batch(4)
    strategy = hr.distribute.LocalStrategy(["cpu", torch.device("meta")])
    how = hr.distribute.InputOptions(experimental_per_replica_buffer_size=ahead)
    got = [strategy.experimental_local_results(x) for x in strategy.experimental_distribute_dataset(ds, how)]
    assert [[part["n"].device.type for part in step] for step in got] == [["cpu", "meta"]] * 2
    assert [step[0]["n"].tolist() for step in got] == [[0, 1], [4]]
    assert [step[1]["n"].shape for step in got] == [(2,), (1,)] and got[0][1]["s"].tolist() == [b"2", b"3"]
    kept = hr.distribute.InputOptions(experimental_fetch_to_device=False)
    (x, _) = strategy.experimental_distribute_dataset(ds, kept)
    assert all(isinstance(part["n"], np.ndarray) for part in strategy.experimental_local_results(x))


def test_ProcessesOfTorchDistributedDivideADataset(tmp_path):
    begin = """
import torch.distributed
torch.distributed.init_process_group("gloo", init_method="file://" + os.environ["FOLDER"] + "/meeting",
                                     rank=int(os.environ.pop("RANK")), world_size=int(os.environ.pop("WORLD_SIZE")))
"""
    got = read_in_processes(begin + READ.format(policy="DATA", replicas=1, ds="hr.Dataset.range(20).batch(4)"), 2, tmp_path)
    assert [flat([one])[:4] for one in got] == [[0, 1, 4, 5], [2, 3, 6, 7]] and sorted(flat(got)) == list(range(20))


def test_TheExampleLearnsDigits():
    spec = importlib.util.spec_from_file_location("digits_torch", EXAMPLES / "python" / "digits_torch.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    assert example.main(str(EXAMPLES / "data" / "digits")) > 0.9
