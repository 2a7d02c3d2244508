"""Names and arguments are those of the documentation."""

from __future__ import annotations

import inspect

import pytest

import headrace as hr
from documented import DATASET, DEBUGGING, SERVICE, SOURCES


def arguments(f):
    """By name, in their order, what stands for an argument that is not given."""
    return {p.name: p.default for p in inspect.signature(f).parameters.values()
            if p.name != "self" and p.kind is p.POSITIONAL_OR_KEYWORD}


def facts(text):
    """The same of what is written in the documentation."""
    names = {"int64": hr.int64, "float32": hr.float32}
    return arguments(eval(f"lambda {text}: None", names))


def agrees(f, text):
    wanted, given = facts(text), arguments(f)
    assert list(given)[:len(wanted)] == list(wanted)
    assert {name: given[name] for name in wanted} == wanted


def test_TheJudgeTellsOthersApart():
    for other in (lambda a, b=2: 0, lambda b=1, a=0: 0, lambda a: 0, lambda a, b: 0):
        with pytest.raises(AssertionError):
            agrees(other, "a, b=1")
    agrees(lambda a, b=1, c=2: 0, "a, b=1")


@pytest.mark.parametrize("name", SERVICE)
def test_TheServicesNames(name):
    agrees(getattr(hr.experimental.service, name), SERVICE[name])
    assert getattr(hr.service, name) is getattr(hr.data.experimental.service, name)


def test_TheServicesPoliciesAndFields():
    assert {p.name: p.value for p in hr.service.ShardingPolicy} == {
        "OFF": 0, "DYNAMIC": 1, "FILE": 2, "DATA": 3, "FILE_OR_DATA": 4, "HINT": 5}
    for field in ("client_timeout_ms", "gc_dynamic_sharding_jobs", "deployment_mode"):
        assert field in hr.service.DispatcherConfig._fields
    for field in ("worker_tags", "data_transfer_port", "cross_trainer_cache_size_bytes",
                  "snapshot_max_chunk_size_bytes", "shutdown_quiet_period_ms"):
        assert field in hr.service.WorkerConfig._fields


@pytest.mark.parametrize("name", DATASET)
def test_MethodsOfDatasets(name):
    agrees(getattr(hr.Dataset, name), DATASET[name])


@pytest.mark.parametrize("name", SOURCES)
def test_Sources(name):
    *path, last = name.split(".")
    agrees(getattr(getattr(hr, path[0]) if path else hr, last), SOURCES[name])


@pytest.mark.parametrize("name", DEBUGGING)
def test_Assertions(name):
    agrees(getattr(hr.debugging, name), DEBUGGING[name])


def test_EverythingPublicOfDatasetIsInTheTableOrOurs():
    ours = {"element_spec", "global_shuffle", "restore", "counter", "range", "zip"}
    public = {name for name in dir(hr.Dataset) if not name.startswith("_")}
    assert public - ours - {"explain"} == set(DATASET)
