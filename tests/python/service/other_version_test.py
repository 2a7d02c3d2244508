"""A dispatcher of another major version."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

import headrace as hr

STRANGER = pathlib.Path(os.environ["HEADRACE_COMMAND"]).parents[1] / "tests" / "stranger_program"


@pytest.fixture
def stranger():
    with subprocess.Popen([STRANGER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process.stdout.readline().strip()
        process.stdin.close()


def test_AWorkerSaysSo(stranger):
    worker = hr.service.WorkerServer(hr.service.WorkerConfig(stranger))
    for use in (worker.join, worker.join, worker.num_tasks):
        with pytest.raises(hr.errors.FailedPreconditionError, match="9.3.*update the older one"):
            use()
    worker.stop()


def test_TheCommandEndsWithACodeOfItsOwn(stranger):
    ended = subprocess.run([sys.executable, "-m", "headrace", "worker", "--python", "--dispatcher", stranger],
                           capture_output=True, text=True, timeout=60,
                           env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)})
    assert ended.returncode == 5
    assert "9.3" in ended.stderr and "update the older one" in ended.stderr
