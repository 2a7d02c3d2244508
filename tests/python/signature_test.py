"""Names and arguments are those of the documentation."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys

import pytest

import headrace as hr
from documented import DATASET, DEBUGGING, SERVICE, SOURCES
from documented_functions import FUNCTIONS, MEMBERS, OPTIONS


def arguments(f):
    """By name, in their order, what stands for an argument that is not given."""
    return {p.name: p.default for p in inspect.signature(f).parameters.values()
            if p.name != "self" and p.kind in (p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL)
            or takes_any(f) and p.kind is p.KEYWORD_ONLY}


def takes_any(f):
    """Does it take any number of arguments? Those after them are given by name, there as here."""
    return any(p.kind is p.VAR_POSITIONAL for p in inspect.signature(f).parameters.values())


def facts(text):
    """The same of what is written in the documentation."""
    names = {name: getattr(hr, name) for name in ("int32", "int64", "uint8", "float32", "bool")}
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
    # The environment may name the service.
    agrees(getattr(hr.experimental.service, name), SERVICE[name].replace("mode, service, job_name", "mode, service=None, job_name"))
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


def named(path):
    out = hr
    for name in path.split("."):
        out = getattr(out, name)
    return out


@pytest.mark.parametrize("name", FUNCTIONS)
def test_FunctionsOfTensors(name):
    agrees(named(name), FUNCTIONS[name])


@pytest.mark.parametrize("name", MEMBERS)
def test_MembersOfClasses(name):
    assert MEMBERS[name] <= set(dir(named(name)))


@pytest.mark.parametrize("group", OPTIONS)
def test_Options(group):
    options = getattr(hr.Options(), group) if group else hr.Options()
    assert set(vars(options)) == OPTIONS[group]
    assert type(options)() == options


def test_TheServiceIsFoundByItsUsualNames():
    program = """
from headrace.experimental.service import DispatchServer, distribute
import headrace.data.experimental.service
import headrace.experimental.service as service
from headrace.data.experimental import AUTOTUNE, sleep
from headrace.data import Dataset
assert headrace.data.experimental.service.WorkerConfig is service.WorkerConfig is headrace.service.WorkerConfig
assert service.distribute is distribute and DispatchServer is headrace.data.experimental.service.DispatchServer
"""
    subprocess.run([sys.executable, "-c", program], check=True,
                   env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)})


def test_EverythingPublicOfDatasetIsInTheTableOrOurs():
    ours = {"element_spec", "global_shuffle", "restore"}
    public = {name for name in dir(hr.Dataset) if not name.startswith("_")}
    assert public - ours - {"explain"} == set(DATASET)
