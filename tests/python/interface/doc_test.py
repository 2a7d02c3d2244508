"""The examples in docstrings, and the types."""

from __future__ import annotations

import importlib
import os
import pathlib
import pkgutil
import subprocess
import sys

import pytest

import examples
import headrace

MODULES = [m.name for m in pkgutil.walk_packages(headrace.__path__, "headrace.")
           if not m.name.endswith(("__main__", ".torch", ".jax", ".keras", "headrace.ray", "headrace.dask"))] + ["headrace"]


@pytest.mark.parametrize("name", MODULES)
def test_ExamplesInDocstringsHold(name, tmp_path):
    assert examples.run(importlib.import_module(name), tmp_path) == 0


#: Names that need no example, each with the reason.
WITHOUT_EXAMPLE = {
    # Users catch errors and do not make them; the docstring of headrace.errors shows how to catch one.
    *(f"{name}" for name, thing in vars(headrace.errors).items()
      if isinstance(thing, type) and issubclass(thing, Exception)),
    # These only raise errors.
    "Batching.sparse_batch", "Tensor.numpy",
    # It has no effect.
    "TFRecordWriter.flush",
    # These are the groups of Options, which has an example.
    "AutotuneOptions", "DistributeOptions", "OptimizationOptions", "ThreadingOptions",
    # It has only constants, which are values for the argument `method` of resize.
    "ResizeMethod",
    # An example would have to make certificates.
    "secure.close",
}


def test_EveryPublicFunctionHasAnExample():
    # Submodules of headrace.service and headrace.distribute, except cluster_resolver, are left out: their public
    # names are in __all__ of headrace.service and headrace.distribute.
    modules = [m for m in MODULES if m.endswith("._core") or "._" not in m and ".service." not in m
               and (".distribute." not in m or m.endswith(".cluster_resolver"))]
    missing = {name for module in modules for name in examples.without(importlib.import_module(module))}
    assert sorted(missing - WITHOUT_EXAMPLE) == []


def test_EverythingPublicIsDocumented():
    missing = []
    for name in MODULES:
        if "._" in name:
            continue
        module = importlib.import_module(name)
        for key, value in vars(module).items():
            if not key.startswith("_") and callable(value) and getattr(value, "__module__", "").startswith("headrace"):
                if not value.__doc__:
                    missing.append(f"{name}.{key}")
    assert not missing


#: The names that users need first.
FIRST = ["Dataset", "TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset", "Options",
         "service.DispatchServer", "service.WorkerServer", "service.DispatcherConfig", "service.WorkerConfig",
         "service.distribute", "service.register_dataset", "service.from_dataset_id", "service.secure"]


@pytest.mark.parametrize("name", FIRST)
def test_WhatUsersMeetFirstHasAnExampleAndSaysWhatItRaises(name):
    thing = headrace
    for part in name.split("."):
        thing = getattr(thing, part)
    assert ">>> " in thing.__doc__
    if name not in ("Dataset", "Options"):
        assert "Error" in thing.__doc__


def test_TypesAreSound():
    pytest.importorskip("mypy")
    package = pathlib.Path(headrace.__file__).parent
    config = pathlib.Path(__file__).parents[3] / "pyproject.toml"
    done = subprocess.run([sys.executable, "-m", "mypy", "--config-file", str(config), "--cache-dir",
                           os.devnull, str(package)],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
