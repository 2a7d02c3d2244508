"""The static sharding policies from Python."""

from __future__ import annotations

import pytest

import headrace as hr

service = hr.experimental.service


@pytest.fixture
def listed():
    """A service over a fixed list of two workers of this host."""
    with service.DispatchServer(service.DispatcherConfig(worker_addresses=["localhost", "localhost:%port%"])) as dispatcher:
        with service.WorkerServer(service.WorkerConfig(dispatcher.target)):
            with service.WorkerServer(service.WorkerConfig(dispatcher.target)):
                yield dispatcher


def numbers(ds):
    return sorted(int(x) for x in ds)


def test_TheStatusSaysWhoHasWhichEntry(listed):
    now = listed.status()
    entries = now["worker_addresses"]
    assert [x["listed"] for x in entries] == ["localhost", "localhost:%port%"]
    assert {x["worker"] for x in entries} == {w["worker"] for w in now["workers"]}
    assert [x["state"] for x in entries] == ["alive", "alive"]


def test_DataGivesEachElementOnce(listed):
    ds = hr.Dataset.range(50).map(lambda x: x * x)
    for mode in (service.ShardingPolicy.DATA, service.ShardingPolicy.FILE_OR_DATA, "data"):
        assert numbers(ds.apply(service.distribute(mode, listed.target))) == [x * x for x in range(50)]


def test_FileGivesEachFileToOneWorker(listed, tmp_path):
    for i in range(4):
        (tmp_path / f"{i}.txt").write_text(f"{i}a\n{i}b\n")
    ds = hr.Dataset.list_files(str(tmp_path / "*.txt")).interleave(hr.TextLineDataset)
    read = ds.apply(service.distribute(service.ShardingPolicy.FILE, listed.target))
    assert sorted(bytes(x) for x in read) == sorted(f"{i}{c}".encode() for i in range(4) for c in "ab")


def test_HintIsFilledInByTheService(listed):
    hint = hr.data.experimental.SHARD_HINT
    hinted = hr.Dataset.range(8).shard(hint, hint).batch(4)
    read = hinted.apply(service.distribute(service.ShardingPolicy.HINT, listed.target))
    assert sorted(x.tolist() for x in read) == [[0, 2, 4, 6], [1, 3, 5, 7]]
    assert hr.data.experimental.SHARD_HINT == service.SHARD_HINT == -1


def test_WhatIsMissingIsSaid(listed, cluster):
    ds = hr.Dataset.range(8)
    with pytest.raises(hr.errors.InvalidArgumentError, match="range is no source over files"):
        numbers(ds.apply(service.distribute("file", listed.target)))
    with pytest.raises(hr.errors.InvalidArgumentError, match="SHARD_HINT"):
        numbers(ds.apply(service.distribute("hint", listed.target)))
    with pytest.raises(hr.errors.FailedPreconditionError, match="SHARD_HINT"):
        numbers(ds.shard(service.SHARD_HINT, 0))
    with pytest.raises(hr.errors.FailedPreconditionError, match="worker_addresses"):
        numbers(ds.apply(service.distribute("data", cluster(1).target)))
    with pytest.raises(hr.errors.InvalidArgumentError, match="'host:0' has the port '0'"):
        service.DispatchServer(service.DispatcherConfig(worker_addresses=["host:0"]))
