"""The service from Python: servers, distribute, registered datasets, arguments."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import urllib.request
import warnings

import pytest

import headrace as hr

service = hr.experimental.service
MANY = 200 << 17


def numbers(ds):
    return sorted(int(x) for x in ds)


def test_DynamicGivesEachElementOnceAndOffACopyForEachWorker(cluster):
    dispatcher = cluster(2)
    ds = hr.Dataset.range(50).map(lambda x: x * x)
    once = ds.apply(service.distribute(service.ShardingPolicy.DYNAMIC, dispatcher.target))
    assert numbers(once) == [x * x for x in range(50)]
    twice = ds.apply(service.distribute("parallel_epochs", dispatcher.target))
    assert numbers(twice) == sorted([x * x for x in range(50)] * 2)
    assert dispatcher.num_workers() == 2


def test_WhatFollowsDistributeRunsHere(cluster):
    dispatcher = cluster()
    ds = hr.Dataset.range(5).apply(service.distribute("distributed_epoch", dispatcher.target)).map(lambda x: x + 1)
    assert numbers(ds.batch(2).prefetch(1).flat_map(lambda b: hr.Dataset.from_tensor_slices(b))) == [1, 2, 3, 4, 5]


def test_ReceivedArraysAreAlignedAndSharedWithTheBlock(cluster):
    dispatcher = cluster()
    ds = hr.Dataset.range(3).map(lambda x: hr.fill([1 << 17], x)).apply(
        service.distribute("off", dispatcher.target))
    got = list(ds)
    assert sorted(x[0] for x in got) == [0, 1, 2]
    for x in got:
        assert x.ctypes.data % 64 == 0 and not x.flags.owndata and (x == x[0]).all()


def test_TargetsAreAcceptedWithAnySchemeOrNone(cluster):
    dispatcher = cluster()
    scheme, address = dispatcher.target.split("://")
    assert scheme == "grpc"
    for target in (dispatcher.target, address, f"headrace://{address}"):
        assert numbers(hr.Dataset.range(3).apply(service.distribute("off", target))) == [0, 1, 2]


def test_RegistersAndReadsById(cluster):
    dispatcher = cluster()
    ds = hr.Dataset.range(4).map(lambda x: {"x": x})
    id = service.register_dataset(dispatcher.target, ds)
    assert service.register_dataset(dispatcher.target, ds) != id
    assert service.register_dataset(dispatcher.target, ds, dataset_id="mine") == "mine"
    got = service.from_dataset_id("distributed_epoch", dispatcher.target, "mine", element_spec=ds.element_spec)
    assert got.element_spec == ds.element_spec
    assert sorted(int(e["x"]) for e in got) == [0, 1, 2, 3]
    with pytest.raises(hr.errors.InvalidArgumentError, match="element_spec"):
        service.from_dataset_id("off", dispatcher.target, id, element_spec=hr.TensorSpec([], hr.string))
    with pytest.raises(hr.errors.NotFoundError):
        service.from_dataset_id("off", dispatcher.target, "unknown")


def test_ConsumersOfOneJobShareItsElements(cluster):
    dispatcher = cluster()
    ds = hr.Dataset.range(100).apply(service.distribute("off", dispatcher.target, job_name="shared"))
    a, b = iter(ds), iter(hr.Dataset.range(100).apply(
        service.distribute("off", dispatcher.target, job_name="shared")))
    got = [next(a), next(b)]
    got += list(a)
    got += list(b)
    assert numbers(got) == list(range(100))


def test_AnErrorOnAWorkerComesInItsElementsPlace(cluster):
    dispatcher = cluster()
    it = iter(hr.Dataset.range(4).map(lambda x: 6 // (x - 1)).apply(service.distribute("off", dispatcher.target)))
    assert next(it) == -6
    with pytest.raises(hr.errors.InvalidArgumentError,
                       match=r"^worker 127\.0\.0\.1:\d+: map: floor_div: integer division by zero"):
        next(it)
    assert [int(x) for x in it] == [6, 3]


def test_AFileThatAWorkerLacksIsNamedWithTheWorker(cluster):
    dispatcher = cluster()
    it = iter(hr.TextLineDataset("/nowhere/a.txt").apply(service.distribute("distributed_epoch", dispatcher.target)))
    with pytest.raises(hr.errors.NotFoundError,
                       match=r"^worker 127\.0\.0\.1:\d+: text_lines: cannot open '/nowhere/a.txt'"):
        next(it)


def test_ServersStartJoinAndStop():
    dispatcher = service.DispatchServer(start=False)
    with pytest.raises(RuntimeError, match="start"):
        dispatcher.target
    dispatcher.start()
    dispatcher.start()  # does nothing
    worker = service.WorkerServer(service.WorkerConfig(dispatcher_address=dispatcher.target), start=False)
    worker.start()
    assert ":" in worker.address
    while dispatcher.num_workers() < 1:
        pass
    assert worker.num_tasks() == 0
    joined = threading.Thread(target=worker.join)
    joined.start()
    worker.stop()
    joined.join(10)
    assert not joined.is_alive()
    dispatcher.stop()
    dispatcher.stop()
    with service.DispatchServer() as other:
        port = int(other.target.rsplit(":", 1)[1])
        with pytest.raises(hr.errors.OpError, match=str(port)):
            service.DispatchServer(service.DispatcherConfig(port=port))


def test_APageShowsTheServiceIfItIsAskedFor():
    with service.DispatchServer(service.DispatcherConfig(http_port=0)) as dispatcher:
        def read(path):
            with urllib.request.urlopen(dispatcher.page + path) as answer:
                return answer.read().decode()

        assert "<html" in read("") and "headrace_" in read("metrics") and read("live")
        assert json.loads(read("api/status.json"))["workers"] == []
        port = int(dispatcher.page.rstrip("/").rsplit(":", 1)[1])
        with pytest.raises(hr.errors.OpError, match=str(port)):
            service.DispatchServer(service.DispatcherConfig(http_port=port))
    with service.DispatchServer() as dispatcher:
        assert dispatcher.page is None
    with pytest.raises(ValueError, match="http_port must be between 0 and 65535"):
        service.DispatchServer(service.DispatcherConfig(http_port=65536))


def test_NobodyThereIsUnavailableAndNamesTheAddress():
    ds = hr.Dataset.range(3).apply(service.distribute("off", "localhost:1", worker_timeout=0.3))
    with pytest.raises(hr.errors.UnavailableError, match="localhost:1 has not answered for 0.3 s: nobody listens"):
        list(ds)


def test_ADispatcherMayComeLaterThanWhatReadsIt():
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        where, port = "127.0.0.1", nobody.getsockname()[1]
        target = f"{where}:{port}"
        worker = service.WorkerServer(service.WorkerConfig(target))
        got = []
        ds = hr.Dataset.range(10).apply(service.distribute("distributed_epoch", target))
        reads = [threading.Thread(target=lambda: got.extend(int(x) for x in ds)),
                 threading.Thread(target=lambda: got.append(service.register_dataset(
                     target, hr.Dataset.range(3), dataset_id="three")))]
        for thread in reads:
            thread.start()
        for _ in range(6):
            nobody.accept()[0].close()
    with service.DispatchServer(service.DispatcherConfig(port=port)):
        for thread in reads:
            thread.join(60)
    assert sorted(map(str, got)) == [*map(str, range(10)), "three"]
    worker.stop()


def test_DistributeMayStandTwiceInAGraph(cluster):
    first, second = cluster(1), cluster(2)
    there = service.distribute("distributed_epoch", first.target)
    ds = hr.Dataset.range(6).map(lambda x: x * 10).apply(there).map(lambda x: x + 1)
    assert numbers(ds.apply(service.distribute("distributed_epoch", second.target))) == [1, 11, 21, 31, 41, 51]
    again = hr.Dataset.range(3).apply(there).repeat(2).concatenate(hr.Dataset.range(5, 7).apply(there))
    assert numbers(again.apply(service.distribute("distributed_epoch", second.target))) == [0, 0, 1, 1, 2, 2, 5, 6]
    each = hr.Dataset.range(2).apply(there)
    assert numbers(each.apply(service.distribute("off", second.target))) == [0, 0, 1, 1]
    both = hr.Dataset.zip(hr.Dataset.range(3).apply(there), hr.Dataset.range(3, 6).apply(
        service.distribute("off", first.target)))
    assert sorted((int(a), int(b)) for a, b in both) == [(0, 3), (1, 4), (2, 5)]
    joined = hr.Dataset.range(2).apply(there).concatenate(hr.Dataset.range(2, 4).apply(there))
    assert numbers(joined) == [0, 1, 2, 3]


def test_DistributeMayStandInAFunction(cluster):
    there = service.distribute("distributed_epoch", cluster().target)
    ds = hr.Dataset.range(4).flat_map(lambda i: hr.Dataset.range(3).apply(there).map(lambda x: x + 10 * i))
    assert numbers(ds) == [0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32]
    ds = hr.Dataset.range(3).interleave(lambda i: hr.Dataset.range(2).apply(there), cycle_length=2)
    assert numbers(ds) == [0, 0, 0, 1, 1, 1]
    ds = hr.Dataset.range(4).flat_map(lambda i: hr.Dataset.range(i).apply(there))
    assert sorted(numbers(ds)) == [0, 0, 0, 1, 1, 2]


def test_APauseRunsWhereThePipelineRunsAndEndsWithIt(cluster):
    dispatcher = cluster()
    day = hr.Dataset.range(3).apply(hr.experimental.sleep(86_400_000_000))
    for ds in (day, day.apply(service.distribute("off", dispatcher.target))):
        it = iter(ds)
        reader = threading.Thread(target=lambda: list(it))
        reader.start()
        it.close()
        reader.join(30)
        assert not reader.is_alive()
    quick = hr.Dataset.range(3).apply(hr.experimental.sleep(micros=1))
    assert numbers(quick.apply(service.distribute("off", dispatcher.target))) == [0, 1, 2]
    with pytest.raises(ValueError, match="sleep_microseconds"):
        hr.Dataset.range(3).apply(hr.experimental.sleep(-1))
    with pytest.raises(TypeError, match="micros"):
        hr.experimental.sleep("long")


@pytest.fixture
def killed_midway():
    """An iterator over batches. Its only worker was killed after the first batch, and another worker was started."""
    dispatcher = service.DispatchServer(service.DispatcherConfig(worker_timeout_ms=1000, heartbeat_interval_ms=200))
    worker = subprocess.Popen([sys.executable, "-m", "headrace", "worker", "--python", "--dispatcher",
                               dispatcher.target, "--python-processes", "1"], stdout=subprocess.DEVNULL,
                              env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)})
    while dispatcher.num_workers() < 1:
        pass
    # There are 200 batches of one MiB each: far more than are buffered for a trainer that does not read on.
    it = iter(hr.Dataset.range(MANY).batch(1 << 17).apply(service.distribute("dynamic", dispatcher.target)))
    next(it)
    worker.kill()
    worker.wait()
    second = service.WorkerServer(service.WorkerConfig(dispatcher_address=dispatcher.target))
    yield it
    second.stop()
    dispatcher.stop()


def test_WhatAKilledWorkerTookWithItIsAWarningAtTheEnd(killed_midway):
    with pytest.warns(RuntimeWarning, match="this epoch is incomplete: 1 worker was lost, and with it rows of up to"):
        rows = sum(len(batch) for batch in killed_midway)
    assert rows < MANY


def test_AWarningMayBeMadeAnError(killed_midway):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning):
            for _ in killed_midway:
                pass
    assert list(killed_midway) == []


def test_AFaultTolerantDispatcherKnowsItsDatasetsWhenItIsStartedAgain(tmp_path):
    config = service.DispatcherConfig(fault_tolerant_mode=True, work_dir=str(tmp_path / "store"))
    with service.DispatchServer(config) as first:
        assert service.register_dataset(first.target, hr.Dataset.range(4), dataset_id="four") == "four"
        with pytest.raises(hr.errors.AlreadyExistsError, match="in use by this process"):
            service.DispatchServer(config)
    with service.DispatchServer(config) as second:
        worker = service.WorkerServer(service.WorkerConfig(second.target))
        assert numbers(service.from_dataset_id("off", second.target, "four")) == [0, 1, 2, 3]
        worker.stop()


def test_CardinalityAndSpecComeThroughAServiceAndByItsIds(cluster):
    dispatcher = cluster(1)
    there = dispatcher.target
    endless, empty, some = hr.Dataset.range(3).repeat(), hr.Dataset.range(0), hr.Dataset.range(5)
    for mode in ("off", "dynamic"):
        for ds, known in ((endless, hr.INFINITE_CARDINALITY), (empty, 0), (some, hr.UNKNOWN_CARDINALITY)):
            far = ds.apply(service.distribute(mode, there))
            by_id = service.from_dataset_id(mode, there, service.register_dataset(there, ds))
            assert int(far.cardinality()) == int(by_id.cardinality()) == known
            assert far.element_spec == by_id.element_spec == ds.element_spec
        assert list(empty.apply(service.distribute(mode, there))) == []


def test_TheSpecOfAnIdIsComparedWithNamesAndNesting(cluster):
    there = cluster(1).target
    id = service.register_dataset(there, hr.Dataset.range(3).map(lambda x: {"a": x, "b": (x, x)}))
    number = hr.TensorSpec([], hr.int64)
    for good in ({"a": number, "b": (number, number)}, {"b": (number, number), "a": number}):
        assert service.from_dataset_id("off", there, id, good).element_spec == {"a": number, "b": (number, number)}
    for bad in ((number, number, number), {"a": number, "c": (number, number)}, {"a": number, "b": number},
                {"a": hr.TensorSpec([], hr.int32), "b": (number, number)}):
        with pytest.raises(hr.errors.InvalidArgumentError, match="element_spec is .* but dataset .* gives"):
            service.from_dataset_id("off", there, id, bad)


def test_OptionsOfASharedJobForbidSharingItsElementsAgain(cluster):
    there = cluster(1).target
    options = hr.Options()
    options.deterministic = True
    ds = hr.Dataset.range(3).with_options(options)
    id = service.register_dataset(there, ds)
    for job, policy in ((None, None), ("j", hr.experimental.AutoShardPolicy.OFF)):
        far = ds.apply(service.distribute("off", there, job_name=job))
        assert far.options().deterministic is True
        by_id = service.from_dataset_id("off", there, id, job_name=job)
        for got in (far, by_id):
            assert got.options().experimental_distribute.auto_shard_policy == policy
            assert sorted(int(x) for x in got) == [0, 1, 2]


def test_ADistributeInAFunctionReadsTheDatasetOfItsElement(cluster):
    there = service.distribute("distributed_epoch", cluster(2).target)
    each = hr.Dataset.range(2).interleave(lambda x: hr.Dataset.range(x * 10, x * 10 + 2).apply(there), cycle_length=2)
    assert numbers(each) == [0, 1, 10, 11]
    named = hr.Dataset.from_tensor_slices([b"a", b"b"]).flat_map(
        lambda word: hr.Dataset.range(2).map(lambda x: hr.strings.join([word, hr.strings.as_string(x)])).apply(there))
    assert sorted(named.as_numpy_iterator()) == [b"a0", b"a1", b"b0", b"b1"]
