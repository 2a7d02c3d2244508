"""The service from Python: servers, distribute, registered datasets, arguments."""

from __future__ import annotations

import inspect
import threading

import numpy as np
import pytest

import headrace as hr

service = hr.experimental.service


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
    for x in ds:
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
    assert service.register_dataset(dispatcher.target, ds) == id
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
    with pytest.raises(hr.errors.InvalidArgumentError, match="zero"):
        next(it)
    assert [int(x) for x in it] == [6, 3]


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


def test_NobodyThereIsUnavailableAndNamesTheAddress():
    ds = hr.Dataset.range(3).apply(service.distribute("off", "localhost:1"))
    with pytest.raises(hr.errors.OpError, match="localhost:1"):
        list(ds)


# -- signatures ------------------------------------------------------------------------------------------


def documented(f, skip_self=True):
    parts = [p for p in inspect.signature(f).parameters.values() if p.name != "self"]
    return [(p.name, "required" if p.default is p.empty else p.default) for p in parts
            if p.kind is p.POSITIONAL_OR_KEYWORD]


R = "required"


def test_SignaturesAreTheDocumentedOnes():
    assert documented(service.distribute) == [
        ("processing_mode", R), ("service", R), ("job_name", None), ("consumer_index", None), ("num_consumers", None),
        ("max_outstanding_requests", None), ("data_transfer_protocol", None), ("compression", "AUTO"),
        ("cross_trainer_cache", None), ("target_workers", "AUTO")]
    assert documented(service.register_dataset) == [
        ("service", R), ("dataset", R), ("compression", "AUTO"), ("dataset_id", None)]
    assert documented(service.from_dataset_id) == [
        ("processing_mode", R), ("service", R), ("dataset_id", R), ("element_spec", None), ("job_name", None),
        ("consumer_index", None), ("num_consumers", None), ("max_outstanding_requests", None),
        ("data_transfer_protocol", None), ("cross_trainer_cache", None), ("target_workers", "AUTO")]
    assert documented(service.DispatchServer.__init__) == [("config", None), ("start", True)]
    assert documented(service.WorkerServer.__init__) == [("config", R), ("start", True)]
    assert documented(service.CrossTrainerCache.__init__) == [("trainer_id", R)]
    assert documented(service.DispatcherConfig)[:9] == [
        ("port", 0), ("protocol", "grpc"), ("work_dir", None), ("fault_tolerant_mode", False),
        ("worker_addresses", None), ("job_gc_check_interval_ms", None), ("job_gc_timeout_ms", None),
        ("worker_timeout_ms", None), ("worker_max_concurrent_snapshots", None)]
    assert documented(service.WorkerConfig)[:8] == [
        ("dispatcher_address", R), ("worker_address", None), ("port", 0), ("protocol", "grpc"),
        ("heartbeat_interval_ms", None), ("dispatcher_timeout_ms", None), ("data_transfer_protocol", None),
        ("data_transfer_address", None)]
    assert list(service.ShardingPolicy.__members__) == ["OFF", "DYNAMIC", "FILE", "DATA", "FILE_OR_DATA", "HINT"]


DATASET = {
    "range": None, "apply": ["transformation_func"], "as_numpy_iterator": [], "cardinality": [],
    "batch": ["batch_size", "drop_remainder", "num_parallel_calls", "deterministic", "name"],
    "cache": ["filename", "name"], "concatenate": ["dataset", "name"], "enumerate": ["start", "name"],
    "filter": ["predicate", "name"], "flat_map": ["map_func", "name"],
    "from_generator": ["generator", "output_types", "output_shapes", "args", "output_signature", "name"],
    "from_tensor_slices": ["tensors", "name"], "from_tensors": ["tensors", "name"],
    "interleave": ["map_func", "cycle_length", "block_length", "num_parallel_calls", "deterministic", "name"],
    "list_files": ["file_pattern", "shuffle", "seed", "name"],
    "map": ["map_func", "num_parallel_calls", "deterministic"], "options": [],
    "padded_batch": ["batch_size", "padded_shapes", "padding_values", "drop_remainder", "name"],
    "prefetch": ["buffer_size", "name"], "reduce": ["initial_state", "reduce_func", "name"],
    "repeat": ["count", "name"], "shard": ["num_shards", "index", "name"],
    "shuffle": ["buffer_size", "seed", "reshuffle_each_iteration", "name"], "skip": ["count", "name"],
    "take": ["count", "name"], "unbatch": ["name"], "window": ["size", "shift", "stride", "drop_remainder", "name"],
    "with_options": ["options", "name"], "zip": None,
}


@pytest.mark.parametrize("method", DATASET)
def test_MethodsOfDatasetHaveTheDocumentedArguments(method):
    names = DATASET[method]
    if names is not None:
        assert [n for n, _ in documented(getattr(hr.Dataset, method))][:len(names)] == names


def test_FileDatasetsHaveTheDocumentedArguments():
    for one in (hr.TFRecordDataset, hr.TextLineDataset):
        assert [n for n, _ in documented(one)][:4] == [
            "filenames", "compression_type", "buffer_size", "num_parallel_reads"]
    assert [n for n, _ in documented(hr.FixedLengthRecordDataset)][:7] == [
        "filenames", "record_bytes", "header_bytes", "footer_bytes", "buffer_size", "compression_type",
        "num_parallel_reads"]


# -- wrong arguments ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments, error, text", [
    ({"processing_mode": "sideways"}, ValueError, "processing_mode"),
    ({"processing_mode": 1}, ValueError, "processing_mode"),
    ({"processing_mode": service.ShardingPolicy.FILE}, hr.errors.UnimplementedError, "FILE"),
    ({"service": ""}, ValueError, "service"),
    ({"service": 3}, TypeError, "service"),
    ({"service": "nonsense"}, ValueError, "nonsense"),
    ({"job_name": ""}, ValueError, "job_name"),
    ({"job_name": 3}, TypeError, "job_name"),
    ({"consumer_index": 0}, ValueError, "num_consumers"),
    ({"consumer_index": 2, "num_consumers": 2, "job_name": "j"}, ValueError, "consumer_index"),
    ({"consumer_index": 0, "num_consumers": 2, "job_name": "j"}, hr.errors.UnimplementedError, "coordinated"),
    ({"max_outstanding_requests": 0}, ValueError, "max_outstanding_requests"),
    ({"max_outstanding_requests": "x"}, TypeError, "max_outstanding_requests"),
    ({"compression": "LZ4"}, ValueError, "compression"),
    ({"cross_trainer_cache": "x"}, TypeError, "CrossTrainerCache"),
    ({"cross_trainer_cache": service.CrossTrainerCache("t")}, hr.errors.UnimplementedError, "cross-trainer"),
    ({"target_workers": "LOCAL"}, hr.errors.UnimplementedError, "LOCAL"),
    ({"target_workers": "here"}, ValueError, "target_workers"),
    ({"data_transfer_protocol": "rdma"}, hr.errors.UnimplementedError, "rdma"),
    ({"task_refresh_interval_hint_ms": "x"}, TypeError, "task_refresh_interval_hint_ms"),
    ({"worker_timeout": 0}, ValueError, "worker_timeout"),
])
def test_WrongArgumentsOfDistributeNameThemselves(arguments, error, text):
    with pytest.raises(error, match=text):
        hr.Dataset.range(3).apply(service.distribute(
            **{"processing_mode": "off", "service": "localhost:1", **arguments}))


def test_TheHintOfTaskRefreshIsAccepted():
    assert service.distribute("off", "localhost:1", task_refresh_interval_hint_ms=20)


def test_WhatServersLackTheySay():
    with pytest.raises(hr.errors.UnimplementedError, match="work_dir"):
        service.DispatchServer(service.DispatcherConfig(work_dir="/tmp/x", fault_tolerant_mode=True))
    with pytest.raises(ValueError, match="work_dir"):
        service.DispatchServer(service.DispatcherConfig(fault_tolerant_mode=True))
    with pytest.raises(hr.errors.UnimplementedError, match="cross_trainer_cache_size_bytes"):
        service.WorkerServer(service.WorkerConfig("localhost:1", cross_trainer_cache_size_bytes=1))
    with pytest.raises(TypeError, match="config"):
        service.WorkerServer("localhost:1")
    with pytest.raises(ValueError, match="dispatcher_address"):
        service.WorkerServer(service.WorkerConfig(""))
    with pytest.raises(ValueError, match="port"):
        service.DispatchServer(service.DispatcherConfig(port=70000))
    with pytest.warns(UserWarning, match="heartbeat_interval_ms"):
        service.WorkerServer(service.WorkerConfig("localhost:1", heartbeat_interval_ms=20)).stop()
    with pytest.raises(ValueError, match="trainer_id"):
        service.CrossTrainerCache("")


def test_ErrorsAreNamedAsInTensorFlow():
    for name in ("Cancelled", "Unknown", "InvalidArgument", "DeadlineExceeded", "NotFound", "AlreadyExists",
                 "PermissionDenied", "ResourceExhausted", "FailedPrecondition", "Aborted", "OutOfRange",
                 "Unimplemented", "Internal", "Unavailable", "DataLoss", "Unauthenticated"):
        assert issubclass(getattr(hr.errors, name + "Error"), hr.errors.OpError)
    e = hr.errors.NotFoundError("there is no x")
    assert str(e) == e.message == "there is no x" and e.error_code == 5
    assert np.isscalar(e.error_code)
