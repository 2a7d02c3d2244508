"""The examples in docstrings, and the types."""

from __future__ import annotations

import doctest
import importlib
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


def test_TypesAreSound():
    pytest.importorskip("mypy")
    package = pathlib.Path(headrace.__file__).parent
    config = pathlib.Path(__file__).parents[2] / "pyproject.toml"
    done = subprocess.run([sys.executable, "-m", "mypy", "--config-file", str(config), "--cache-dir",
                           os.devnull, str(package)],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
