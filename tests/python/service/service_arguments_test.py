"""Every argument of the service works, or raises an error which says that it does not."""

from __future__ import annotations

import pathlib
import socket
import subprocess
import sys

import numpy as np
import pytest

import headrace as hr
from headrace import _core
from relay import Relay

service = hr.experimental.service


@pytest.mark.parametrize("arguments, error, text", [
    ({"processing_mode": "sideways"}, ValueError, "processing_mode"),
    ({"processing_mode": 1}, ValueError, "processing_mode"),
    ({"service": ""}, ValueError, "service"),
    ({"service": 3}, TypeError, "service"),
    ({"service": "nonsense"}, ValueError, "nonsense"),
    ({"job_name": ""}, ValueError, "job_name"),
    ({"job_name": 3}, TypeError, "job_name"),
    ({"consumer_index": 0}, ValueError, "num_consumers"),
    ({"consumer_index": 2, "num_consumers": 2, "job_name": "j"}, ValueError, "consumer_index"),
    ({"consumer_index": 0, "num_consumers": 0, "job_name": "j"}, ValueError, "num_consumers"),
    ({"consumer_index": 0, "num_consumers": 2}, ValueError, "job_name"),
    ({"consumer_index": 0, "num_consumers": 2, "job_name": "j", "consumer_timeout": 0}, ValueError, "consumer_timeout"),
    ({"consumer_index": 0, "num_consumers": 2, "job_name": "j", "rejoin": "yes"}, TypeError, "rejoin"),
    ({"rejoin": True}, ValueError, "num_consumers"),
    ({"max_outstanding_requests": 0}, ValueError, "max_outstanding_requests"),
    ({"max_outstanding_requests": "x"}, TypeError, "max_outstanding_requests"),
    ({"compression": "LZ4"}, ValueError, "compression"),
    ({"cross_trainer_cache": "x"}, TypeError, "CrossTrainerCache"),
    ({"cross_trainer_cache": service.CrossTrainerCache("t")}, ValueError, "job_name"),
    ({"target_workers": "here"}, ValueError, "target_workers"),
    ({"data_transfer_protocol": "rdma"}, hr.errors.UnimplementedError, "rdma"),
    ({"task_refresh_interval_hint_ms": "x"}, TypeError, "task_refresh_interval_hint_ms"),
    ({"worker_timeout": 0}, ValueError, "worker_timeout"),
    ({"worker_timeout": "x"}, TypeError, "worker_timeout"),
    ({"stall_timeout": -1}, ValueError, "stall_timeout"),
    ({"stall_timeout": "x"}, TypeError, "stall_timeout"),
    ({"guarantee": "exactly_once"}, ValueError, "guarantee"),
    ({"guarantee": None}, ValueError, "guarantee"),
    ({"guarantee": "at_least_once"}, hr.errors.InvalidArgumentError, "dynamic"),
])
def test_WrongArgumentsOfDistributeNameThemselves(arguments, error, text):
    with pytest.raises(error, match=text):
        hr.Dataset.range(3).apply(service.distribute(
            **{"processing_mode": "off", "service": "localhost:1", **arguments}))


@pytest.mark.parametrize("words, text", [
    ({"mode": "some"}, "sharding policy is 'some'; it must be 'off', 'dynamic', 'file', 'data', 'file_or_data' or 'hint'"),
    ({"packing": "lz4"}, "compression is 'lz4'; it must be 'auto', 'none' or 'snappy'"),
    ({"guarantee": "never"}, "guarantee is 'never'; it must be 'at_most_once' or 'at_least_once'"),
])
def test_TheEngineRefusesAWordThatItDoesNotKnow(words, text):
    said = {"mode": "off", "packing": "auto", "guarantee": "at_most_once", **words}
    with pytest.raises(hr.errors.InvalidArgumentError, match=text):
        _core.distribute(hr.Dataset.range(3)._graph, said["mode"], "localhost:1", "", 0, said["packing"], 60.0, 60.0, "auto",
                         said["guarantee"], None, None, None)


def test_TheHintOfTaskRefreshIsAccepted():
    assert service.distribute("off", "localhost:1", task_refresh_interval_hint_ms=20)


# -- configurations ------------------------------------------------------------------------------------------

# The fields that work.
WORKS = {
    "DispatcherConfig": {"port", "protocol", "worker_timeout_ms", "client_timeout_ms", "heartbeat_interval_ms", "host",
                         "advertise_host", "tls_cert", "tls_key", "tls_ca", "insecure", "work_dir",
                         "fault_tolerant_mode", "job_gc_check_interval_ms", "job_gc_timeout_ms",
                         "gc_dynamic_sharding_jobs", "worker_addresses", "deployment_mode",
                         "worker_max_concurrent_snapshots", "http_port"},
    "WorkerConfig": {"dispatcher_address", "worker_address", "port", "protocol", "worker_tags", "host", "tls_cert",
                     "tls_key", "tls_ca", "insecure", "python_processes", "python_memory_bytes",
                     "python_call_timeout_ms", "python_from_anyone", "heartbeat_interval_ms", "dispatcher_timeout_ms",
                     "shutdown_quiet_period_ms", "data_transfer_address", "data_transfer_port",
                     "cross_trainer_cache_size_bytes", "snapshot_max_chunk_size_bytes"},
}
# The fields that are not supported, each with a value that would need the support.
MISSING = {
    "DispatcherConfig": {},
    "WorkerConfig": {"data_transfer_protocol": "rdma"},
}


def server(config):
    """Makes a server from a configuration and does not start it. Its constructor checks the configuration."""
    of = service.DispatchServer if isinstance(config, service.DispatcherConfig) else service.WorkerServer
    return of(config, start=False)


def config(what, **fields):
    given = {"dispatcher_address": "localhost:1", **fields} if what == "WorkerConfig" else fields
    return getattr(service, what)(**given)


@pytest.mark.parametrize("what", WORKS)
def test_NoFieldIsForgotten(what):
    fields = set(getattr(service, what)._fields)
    assert fields == WORKS[what] | set(MISSING[what])


@pytest.mark.parametrize("what, field", [(what, field) for what in MISSING for field in MISSING[what]])
def test_WhatServersLackTheySay(what, field):
    with pytest.raises(hr.errors.UnimplementedError, match=f"{what}: this release has no {field}"):
        server(config(what, **{field: MISSING[what][field]}))


@pytest.mark.parametrize("what, field", [
    (what, field) for what in WORKS for field in getattr(service, what)._fields])
def test_FieldsOfWrongTypesNameThemselves(what, field):
    with pytest.raises((TypeError, ValueError), match=field):
        server(config(what, **{field: 1.5}))


def test_FieldsOfWrongValuesNameThemselves():
    for what, fields, text in [
        ("DispatcherConfig", {"port": 70000}, "port"), ("DispatcherConfig", {"worker_timeout_ms": -1}, "worker_timeout"),
        ("DispatcherConfig", {"deployment_mode": "SOMEWHERE"}, "deployment_mode"),
        ("DispatcherConfig", {"worker_addresses": [""]}, "worker_addresses"),
        ("DispatcherConfig", {"job_gc_timeout_ms": -2}, "job_gc_timeout_ms"),
        ("DispatcherConfig", {"job_gc_timeout_ms": 2**62}, "job_gc_timeout_ms must be at most"),
        ("DispatcherConfig", {"worker_timeout_ms": 18446744073715}, "worker_timeout_ms must be at most"),
        ("DispatcherConfig", {"worker_timeout_ms": 3_600_001}, "worker_timeout_ms must be at most 3600000 "),
        ("WorkerConfig", {"dispatcher_timeout_ms": 2**63}, "dispatcher_timeout_ms must be at most"),
        ("DispatcherConfig", {"job_gc_check_interval_ms": -1}, "job_gc_check_interval_ms"),
        ("WorkerConfig", {"worker_tags": [""]}, "worker_tags"), ("WorkerConfig", {"dispatcher_address": ""}, "empty"),
        ("WorkerConfig", {"python_processes": 0}, "python_processes"),
        ("WorkerConfig", {"heartbeat_interval_ms": -1}, "heartbeat_interval_ms"),
        ("WorkerConfig", {"cross_trainer_cache_size_bytes": 1 << 70}, "cross_trainer_cache_size_bytes must be less"),
        ("WorkerConfig", {"dispatcher_timeout_ms": -1}, "dispatcher_timeout_ms"),
        ("WorkerConfig", {"shutdown_quiet_period_ms": -1}, "shutdown_quiet_period_ms"),
        ("WorkerConfig", {"data_transfer_port": 70000}, "data_transfer_port"),
        ("WorkerConfig", {"port": 5, "data_transfer_port": 6}, "port is 5 and data_transfer_port is 6"),
    ]:
        with pytest.raises(ValueError, match=text):
            server(config(what, **fields))
    with pytest.raises(ValueError, match="work_dir"):
        service.DispatchServer(service.DispatcherConfig(fault_tolerant_mode=True))
    for wrong in (service.WorkerServer, service.DispatchServer):
        with pytest.raises(TypeError, match="config"):
            wrong("localhost:1")
    with pytest.raises(ValueError, match="trainer_id"):
        service.CrossTrainerCache("")


def test_the_status_has_what_each_process_counts():
    with service.DispatchServer() as dispatcher, service.WorkerServer(
            service.WorkerConfig(dispatcher.target, heartbeat_interval_ms=20)):
        read = hr.Dataset.range(1000).apply(service.distribute("off", dispatcher.target))
        assert len(list(read)) == 1000
        counted = {}
        while "headrace_worker_heartbeat_answer_seconds" not in counted:
            shown = dispatcher.status()
            counted = {x["name"]: x for x in shown["workers"][0]["metrics"]}
        histogram = counted["headrace_worker_heartbeat_answer_seconds"]
        assert histogram["kind"] == "histogram"
        assert len(histogram["value"]["counts"]) == len(histogram["value"]["bounds"]) + 1
        assert sum(histogram["value"]["counts"]) > 0
        assert counted["headrace_worker_stuck_threads"]["value"] == 0.0
        assert {x["name"]: x["kind"] for x in shown["metrics"]}["headrace_peers_greeted"] == "counter"


def test_DefaultsMayBeWrittenDown():
    with service.DispatchServer(service.DispatcherConfig(
            work_dir="", worker_addresses=[], deployment_mode="REMOTE", worker_timeout_ms=5000,
            client_timeout_ms=120_000, heartbeat_interval_ms=500, job_gc_timeout_ms=300_000,
            job_gc_check_interval_ms=600_000, gc_dynamic_sharding_jobs=False)) as dispatcher:
        worker = service.WorkerServer(service.WorkerConfig(
            dispatcher.target, "localhost:%port%", data_transfer_protocol="grpc", shutdown_quiet_period_ms=0,
            data_transfer_address="localhost:%dts_port%", data_transfer_port=0, worker_tags=["gpu"]))
        while dispatcher.num_workers() < 1:
            pass
        told = dispatcher.status()["workers"][0]
        assert told["tags"] == ["gpu"]
        assert (told["state"], told["refused_links"], told["bad_messages"]) == ("alive", {}, 0)
        worker.stop()
        assert dispatcher.status()["workers"][0]["state"] == "left"
        assert dispatcher.status()["refused_peers"] == 0


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def test_AWorkersPortAndAddressHaveTwoNamesEach(cluster):
    dispatcher = cluster(0)
    for config in ({"data_transfer_port": free_port()}, {"port": free_port()}):
        (port,) = config.values()
        with service.WorkerServer(service.WorkerConfig(dispatcher.target, **config)) as worker:
            assert worker.address == f"127.0.0.1:{port}"
    for config in ({"data_transfer_address": "localhost:7"},
                   {"data_transfer_address": "localhost:7", "worker_address": "elsewhere"},
                   {"worker_address": "localhost:7"}):
        with service.WorkerServer(service.WorkerConfig(dispatcher.target, **config)) as worker:
            assert worker.address == "localhost:7"
    with service.WorkerServer(service.WorkerConfig(dispatcher.target, data_transfer_port=port,
                                                   data_transfer_address="localhost:%dts_port%")) as worker:
        assert worker.address == f"localhost:{port}"


def test_EveryFieldOfTheDocumentIsThere():
    text = (pathlib.Path(__file__).parents[3] / "docs" / "configuration.md").read_text()
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| `")]
    named = {field.strip("` |") for row in rows if len(row) == 6 for field in row[5].split(",")} - {""}
    assert len(named) > 20
    assert named <= WORKS["DispatcherConfig"] | WORKS["WorkerConfig"]


# -- compression ---------------------------------------------------------------------------------------------


def test_ReadersGetTheCompressionThatADatasetWasRegisteredWith():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    relay = Relay(("127.0.0.1", port))
    ds = hr.Dataset.range(64).map(lambda x: hr.fill([1000], x))

    def sent(id, **more):
        before = relay.from_there
        # The trainer is another process: in this process it would read from the worker directly, and not through the
        # relay, which counts the bytes.
        program = ("import sys; from headrace.data.experimental import service; "
                   f"sys.exit(len(list(service.from_dataset_id('off', {dispatcher.target!r}, {id!r}, **{more!r}))))")
        assert subprocess.run([sys.executable, "-c", program], timeout=60).returncode == 64
        return relay.from_there - before

    with service.DispatchServer() as dispatcher, service.WorkerServer(service.WorkerConfig(
            dispatcher.target, f"127.0.0.1:{relay.port}", port=port)):
        plain = service.register_dataset(dispatcher.target, ds, compression=None)
        packed = service.register_dataset(dispatcher.target, ds, compression="SNAPPY")
        assert plain != packed
        assert sent(plain) >= 64 * 8000 and sent(packed) < 64 * 2000
        assert sent(packed, compression="SNAPPY") < 64 * 2000
        for id, asked, had in ((plain, "SNAPPY", "none"), (packed, None, "snappy")):
            with pytest.raises(hr.errors.InvalidArgumentError, match=f"compression is '.*'.*{id}.* with '{had}'"):
                service.from_dataset_id("off", dispatcher.target, id, compression=asked)
        with pytest.raises(ValueError, match="compression"):
            service.register_dataset(dispatcher.target, ds, compression="LZ4")
    relay.close()


def test_ErrorsAreNamedAsInTensorFlow():
    for name in ("Cancelled", "Unknown", "InvalidArgument", "DeadlineExceeded", "NotFound", "AlreadyExists",
                 "PermissionDenied", "ResourceExhausted", "FailedPrecondition", "Aborted", "OutOfRange",
                 "Unimplemented", "Internal", "Unavailable", "DataLoss", "Unauthenticated"):
        assert issubclass(getattr(hr.errors, name + "Error"), hr.errors.OpError)
    e = hr.errors.NotFoundError("there is no x")
    assert str(e) == e.message == "there is no x" and e.error_code == 5
    assert np.isscalar(e.error_code)
