"""The output of ``headrace report``, and the errors of commands whose output cannot be written."""

from __future__ import annotations

import os
import subprocess

import pytest

import headrace as hr

COMMAND = os.environ.get("HEADRACE_COMMAND", "")
pytestmark = pytest.mark.skipif(not COMMAND, reason="HEADRACE_COMMAND is not set")


def run(*arguments, **more):
    done = subprocess.run([COMMAND, *arguments], stderr=subprocess.PIPE, text=True, timeout=60, **{"stdout": subprocess.PIPE, **more})
    return done.returncode, done.stderr


@pytest.fixture
def dispatcher():
    with hr.service.DispatchServer() as one:
        yield one


def begin(dispatcher, name):
    ds = hr.Dataset.range(5).apply(hr.service.distribute("dynamic", dispatcher.target, job_name=name))
    with hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target)):
        assert sorted(map(int, ds)) == [0, 1, 2, 3, 4]


def test_NamesOfJobsGiveNoOrdersToATerminal(dispatcher, tmp_path):
    begin(dispatcher, "\x01\x1b[31mred")
    code, errors = run("report", "no\x1b[0mjob", "--dispatcher", dispatcher.target, cwd=tmp_path)
    assert code == 1 and "there is no job 'no" in errors and "[31mred" in errors
    assert not [x for x in errors if not x.isprintable() and x != "\n"], ascii(errors)


@pytest.mark.parametrize("command", [["status"], ["top", "--count", "1"], ["version"]])
def test_OutputThatCannotBeWrittenIsAnError(dispatcher, command):
    more = [] if command == ["version"] else ["--dispatcher", dispatcher.target]
    with open("/dev/full", "w") as full:
        code, errors = run(*command, *more, stdout=full)
    assert code == 1 and "cannot write to standard output" in errors, errors


def test_WrongOptionsAreNamed():
    code, errors = run("top", "--count", "-1")
    assert code == 2 and "0" in errors and len(errors) < 300, errors
    code, errors = run("worker", "--python", "--dispatcher", "127.0.0.1:1")
    assert code == 2 and "python -m headrace worker --python" in errors
