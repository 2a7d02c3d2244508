"""The examples in docstrings, and the types."""

from __future__ import annotations

import doctest
import importlib
import inspect
import os
import pathlib
import pkgutil
import subprocess
import sys

import numpy
import pytest

import headrace

MODULES = [m.name for m in pkgutil.walk_packages(headrace.__path__, "headrace.")
           if not m.name.endswith(("__main__", "_core", ".torch", ".jax"))] + ["headrace"]


@pytest.mark.parametrize("name", MODULES)
def test_ExamplesInDocstringsHold(name):
    module = importlib.import_module(name)
    beside = {"Dataset": headrace.Dataset, "TensorSpec": headrace.TensorSpec, "np": numpy}
    failed, _ = doctest.testmod(module, extraglobs=beside)
    assert failed == 0


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


#: What users meet first.
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


@pytest.mark.parametrize("name", ["math", "strings"])
def test_EveryFunctionOfAModuleHasAnExample(name):
    module = importlib.import_module(f"headrace.{name}")
    without = [key for key, value in vars(module).items()
               if inspect.isfunction(value) and not key.startswith("_")
               and value.__module__ in (module.__name__, "headrace._reductions") and ">>> " not in (value.__doc__ or "")]
    assert without == []


def test_TypesAreSound():
    pytest.importorskip("mypy")
    package = pathlib.Path(headrace.__file__).parent
    config = pathlib.Path(__file__).parents[2] / "pyproject.toml"
    done = subprocess.run([sys.executable, "-m", "mypy", "--config-file", str(config), "--cache-dir",
                           os.devnull, str(package)],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
