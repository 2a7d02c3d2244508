"""The modules that processes of Python functions, and workers, import: those that this program would import."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import headrace as hr
from headrace._launching.server import Server, ServerPlan

PROGRAM = """
import headrace as hr
{imports}
scalar = hr.TensorSpec([], hr.int64)
def f(x):
    import numpy, beside
    return beside.plus_one(x)
print([int(x) for x in hr.Dataset.range(3).map(hr.py_function(f, scalar))],
      [int(x) for x in hr.Dataset.from_generator(lambda: map(f, [1, 2]), output_signature=scalar)])
"""
#: Modules of the standard library, and one of a package, that a process imports when it starts.
IMPORTED = ("json", "numpy", "pickle", "runpy", "signal", "struct", "subprocess")


@pytest.fixture
def hostile(tmp_path):
    """A folder with modules that fail, under the names of modules that processes import."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    for name in IMPORTED:
        (folder / f"{name}.py").write_text("raise SystemExit('imported from the working directory')")
    return folder


def environment():
    # The folder of headrace is in the variable, and the folder of the tests is not.
    return {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(hr.__file__))}


def test_ProcessesImportWhatIsBesideTheProgramAndNothingFromTheWorkingDirectory(tmp_path, hostile):
    (tmp_path / "beside.py").write_text("def plus_one(x):\n    return x + 1\n")
    (tmp_path / "program.py").write_text(PROGRAM.format(imports="import beside"))
    done = subprocess.run([sys.executable, str(tmp_path / "program.py")], cwd=hostile, env=environment(),
                          capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "[1, 2, 3] [2, 3]\n"), done.stderr


def test_ProcessesImportFromTheWorkingDirectoryIfTheProgramDoes(tmp_path):
    (tmp_path / "beside.py").write_text("def plus_one(x):\n    return x + 1\n")
    done = subprocess.run([sys.executable, "-c", PROGRAM.format(imports="")], cwd=tmp_path, env=environment(),
                          capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "[1, 2, 3] [2, 3]\n"), done.stderr


@pytest.mark.skipif(not os.environ.get("HEADRACE_COMMAND"), reason="HEADRACE_COMMAND is not set")
def test_WorkersImportNothingFromTheWorkingDirectory(hostile, monkeypatch):
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p])
    monkeypatch.chdir(hostile)
    server = Server(ServerPlan("worker", ("--no-such-option",), None, python=True), "127.0.0.1")
    with pytest.raises(hr.errors.FailedPreconditionError, match="no-such-option"):
        server.address(60)
    server.stop()
