"""PyTorch's side; left out where it is not installed."""

from __future__ import annotations

import importlib.util
import pathlib

import numpy as np
import pytest

import headrace as hr

torch = pytest.importorskip("torch")
import headrace.torch  # noqa: E402

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"


def test_TensorsShareTheElementsMemory():
    (x,) = hr.Dataset.range(8).batch(8)
    t = hr.torch.as_tensor(x)
    assert t.data_ptr() == x.ctypes.data and t.tolist() == list(range(8))
    assert hr.torch.as_tensor(np.float32(1.5)).dtype == torch.float32
    assert hr.torch.as_tensor(b"x") == b"x"


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


def test_ConsumersOfASharedJobShareIt(cluster):
    ds = hr.Dataset.range(20).apply(hr.service.distribute("distributed_epoch", cluster().target, job_name="shared"))
    assert sorted(int(x) for x in hr.torch.IterableDataset(ds, rank=1, world_size=2)) == list(range(20))
    with pytest.raises(hr.errors.UnimplementedError, match="positions"):
        hr.torch.IterableDataset(ds).load_state_dict({"position": b""})


def test_StateIsWhereTheConsumerIs():
    def data(rank):
        return hr.torch.IterableDataset(hr.Dataset.range(20).shuffle(20, seed=3).map(lambda x: x * 2), rank, 2)

    for rank in (0, 1):
        whole = [int(x) for x in data(rank)]
        for given in (0, 1, 5, 10):
            first = data(rank)
            it = iter(first)
            begin = [int(next(it)) for _ in range(given)]
            other = data(rank)
            other.load_state_dict(first.state_dict())
            assert begin + [int(x) for x in other] == whole
            assert sorted(int(x) for x in other) == sorted(whole)


def test_StateNeedsNoSeed():
    first = hr.torch.IterableDataset(hr.Dataset.range(1000).shuffle(300))
    it = iter(first)
    begin = [int(next(it)) for _ in range(400)]
    other = hr.torch.IterableDataset(hr.Dataset.range(1000).shuffle(300))
    other.load_state_dict(first.state_dict())
    rest = [int(x) for x in other]
    assert rest == [int(x) for x in it] and sorted(begin + rest) == list(range(1000))


def test_StateReachesTheWorkersOfADataLoader():
    def data():
        return hr.torch.IterableDataset(hr.Dataset.range(10))

    first = data()
    it = iter(first)
    [next(it) for _ in range(4)]
    other = data()
    other.load_state_dict(first.state_dict())
    loader = torch.utils.data.DataLoader(other, batch_size=None, num_workers=1, multiprocessing_context="spawn")
    assert [int(x) for x in loader] == [4, 5, 6, 7, 8, 9]


def test_WhatAServiceGivesHasNoState(cluster):
    data = hr.torch.IterableDataset(
        hr.Dataset.range(4).apply(hr.service.distribute("distributed_epoch", cluster().target)))
    it = iter(data)
    next(it)
    with pytest.raises(hr.errors.UnimplementedError, match="positions"):
        data.state_dict()


def test_TheExampleLearnsDigits():
    spec = importlib.util.spec_from_file_location("digits_torch", EXAMPLES / "python" / "digits_torch.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    assert example.main(str(EXAMPLES / "data" / "digits")) > 0.9
