"""``headrace run`` on several nodes, which are addresses of this host."""

from __future__ import annotations

import json
import os
import pathlib
import re
import signal
import subprocess
import sys

import pytest

from runs import (  # noqa: F401  (fixtures)
    COMMAND, PATIENCE, TRAIN, WAITS, address, ended, environment, node, python, start, tls, needs_command,
)

pytestmark = needs_command


# -- several nodes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("nodes", [2, 3])
@pytest.mark.parametrize("by", ["directory", "address"])
def test_NodesReadThroughTheWorkersOfAll(start, tmp_path, address, nodes, by):
    where = "meet" if by == "directory" else address
    runs = [start("--workers-per-node", 2, *node(rank, nodes, where), *python(TRAIN)) for rank in reversed(range(nodes))]
    assert [ended(x) for x in runs] == [(0, f"True {2 * nodes}\n", "")] * nodes
    assert by == "address" or list((tmp_path / "meet").iterdir()) == []


def test_WhatAKilledRunLeftInADirectoryIsNotTakenForThisOne(start, tmp_path, address):
    (tmp_path / "meet").mkdir()
    (tmp_path / "meet" / "headrace-run").write_text(json.dumps({"service": address, "host": "x", "token": "1"}))
    (tmp_path / "meet" / "headrace-run.0").write_text(json.dumps({"token": "1", "state": "ended", "workers": 0}))
    runs = [start(*node(rank, 2, "meet"), *python(TRAIN)) for rank in (1, 0)]
    assert [ended(x) for x in runs] == [(0, "True 2\n", "")] * 2


#: A program for the node of rank 0, which ends when all workers of the other node have left.
SEES_THEM_LEAVE = """
import headrace as hr
while True:
    of_other = [x for x in hr.service.status()["workers"] if "node-1" in x["tags"]]
    if all(x["state"] == "left" for x in of_other):
        break
print(len(of_other))
"""


@pytest.mark.parametrize("by", ["directory", "address"])
def test_TheWorkersOfANodeLeaveInOrderWhenItsCommandEnds(start, address, by):
    where = "meet" if by == "directory" else address
    first = start("--workers-per-node", 2, *node(0, 2, where), *python(SEES_THEM_LEAVE))
    second = start("--workers-per-node", 2, *node(1, 2, where), "--", "true")
    assert [ended(first), ended(second)] == [(0, "2\n", ""), (0, "", "")]


#: A program that waits until the command of the first node has made its file `over`, and then reads.
READS_LATE = """
import pathlib
import re
while not pathlib.Path("over").exists():
    pass
""" + TRAIN


@pytest.mark.parametrize("by", ["directory", "address"])
def test_TheServiceStaysUntilTheLastCommandHasEnded(start, address, by):
    where = "meet" if by == "directory" else address
    first = start(*node(0, 2, where), *python("open('over', 'w')"))
    second = start(*node(1, 2, where), *python(READS_LATE))
    assert [ended(first), ended(second)] == [(0, "", ""), (0, "True 2\n", "")]


@pytest.mark.parametrize("by", ["directory", "address"])
def test_ANodeThatNeverComesIsNamed(start, address, by):
    where = "meet" if by == "directory" else address
    runs = [start("--start-timeout", "1500ms", *node(rank, 3, where), "--", "true") for rank in (0, 2)]
    first, third = map(ended, runs)
    assert first[0] == 4 and "rank 1 of 3 did not come within --start-timeout (1500ms)" in first[2]
    # Which of the other ranks have come by then depends on the machine's load.
    assert re.search(r"it waits for (rank|ranks( \d,?)*( \d and)?) 1( and 2)? \(for 1500ms at most: --start-timeout\)",
                     first[2]), first[2]
    # The service may have ended with the first node before the third node's own time limit.
    assert third[0] == 4 and any(text in third[2] for text in ("rank 1 of 3 did not come", "the service did not answer",
                                                               "rank 0 has ended meanwhile")), third[2]


def test_AFirstNodeThatNeverComesIsNamed(start):
    code, _, errors = ended(start("--start-timeout", "200ms", *node(1, 2, "meet"), "--", "true"))
    assert code == 4 and "the dispatcher of rank 0 did not come within --start-timeout (200ms): there is no meet/headrace-run" in errors
    assert "it waits for the dispatcher of rank 0: there is no meet/headrace-run" in errors, "that is written before the timeout"


def test_ADispatcherThatListensOnLoopbackOfAnotherHostIsNamed(start, tmp_path):
    (tmp_path / "meet").mkdir()
    (tmp_path / "meet" / "headrace-run").write_text(json.dumps({"service": "127.0.0.1:1", "host": "other", "token": "1"}))
    code, _, errors = ended(start("--start-timeout", "200ms", *node(1, 2, "meet"), "--", "true"))
    assert code == 4 and "the dispatcher listens on 127.0.0.1:1 of the host other, which" in errors and "--host 0.0.0.0" in errors


# -- runs that meet at the same place --------------------------------------------------------------


@pytest.mark.parametrize("by", ["directory", "address"])
def test_ASecondRunInOnePlaceIsRefusedAndTheFirstOneReadsAll(start, address, by):
    where = "meet" if by == "directory" else address
    first = [start(*node(rank, 2, where), *python(WAITS + "\n" + TRAIN)) for rank in (0, 1)]
    assert [x.stdout.readline() for x in first] == ["here\n"] * 2
    second = [start(*node(rank, 2, where), *python(TRAIN)) for rank in (0, 1)]
    for rank, process in enumerate(second):
        code, out, errors = ended(process)
        assert (code, out) == (3, "") and "another run" in errors and "give each run a directory or a port of its own" in errors, errors
        assert rank == 0 or "rank 1 of the run" in errors
    for process in first:
        process.stdin.write("\n")
        process.stdin.flush()
    assert [ended(x)[:2] for x in first] == [(0, "True 2\n")] * 2


def test_ARankThatComesTwiceBeforeTheRunBeginsEndsAllOfIt(start):
    """The run fails, because it is unknown which of the two processes with this rank belongs to it."""
    runs = [start(*node(rank, 2, "meet"), "--workers-per-node", 0, *python(TRAIN)) for rank in (1, 1, 0)]
    done = [ended(x) for x in runs]
    assert [out for _, out, _ in done] == [""] * 3 and all(code != 0 for code, _, _ in done)
    assert any("rank 1 of the run in meet/headrace-run has come already" in errors for _, _, errors in done), done


def test_RunsOfTwoLaunchersInOneDirectoryAreKeptApart(start):
    def of(launch, rank):
        return {"PMIX_NAMESPACE": f"prterun-x-{launch}@1", "OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": "2",
                "OMPI_COMM_WORLD_LOCAL_RANK": "0", "OMPI_COMM_WORLD_LOCAL_SIZE": "1"}

    runs = [start("--rendezvous", "meet", *python(TRAIN), **of(launch, rank)) for launch in (1, 2) for rank in (0, 1)]
    assert [ended(x) for x in runs] == [(0, "True 2\n", "")] * 4


def test_StepsOfOneJobInOneDirectoryAreKeptApart(start):
    def of(step, rank):
        return {"SLURM_PROCID": str(rank), "SLURM_STEP_NUM_TASKS": "2", "SLURM_LOCALID": "0", "SLURM_JOB_ID": "17", "SLURM_STEP_ID": str(step)}

    runs = [start("--rendezvous", "meet", *python(TRAIN), **of(step, rank)) for step in (0, 1) for rank in (0, 1)]
    assert [ended(x) for x in runs] == [(0, "True 2\n", "")] * 4


def test_ARankWhoseFileCannotBeWrittenDoesNotTrainAlone(start, tmp_path):
    first = start(*node(0, 2, "meet"), "--start-timeout", "60s", "--", "true")
    while not (tmp_path / "meet" / "headrace-run.0").exists():
        assert first.poll() is None
    # A folder that is not empty has the name of the rank's file: it can be neither replaced nor removed.
    (tmp_path / "meet" / "headrace-run.1" / "x").mkdir(parents=True)
    code, out, errors = ended(start(*node(1, 2, "meet"), "--", "echo", "trained"))
    assert (code, out) == (1, "") and "meet/headrace-run.1" in errors, errors
    first.terminate()
    ended(first)


def test_WhatIsNoFileInTheDirectoryIsNamed(start, tmp_path):
    (tmp_path / "meet").mkdir()
    os.mkfifo(tmp_path / "meet" / "headrace-run")
    code, _, errors = ended(start(*node(1, 2, "meet"), "--", "true"))
    assert code == 1 and "meet/headrace-run is there and is no file" in errors


@pytest.mark.parametrize("by", ["directory", "address"])
def test_ACommandIsStoppedWhenTheNodeOfRankZeroIsGone(start, address, by):
    where = "meet" if by == "directory" else address
    first = start(*node(0, 2, where), *python(WAITS))
    second = start(*node(1, 2, where), "--lost-timeout", "300ms", *python("import signal; print('here', flush=True); signal.pause()"))
    assert second.stdout.readline() == "here\n"
    first.kill()
    code, _, errors = ended(second)
    assert code == 128 + signal.SIGTERM and "the command is stopped: " in errors and "(--lost-timeout)" in errors


def test_ACommandThatEndsInOrderWhenTheServiceIsLostHasFailedAllTheSame(start):
    first = start(*node(0, 2, "meet"), *python(WAITS))
    ends = "import signal, sys; signal.signal(signal.SIGTERM, lambda *_: sys.exit(0)); print('here', flush=True); signal.pause()"
    second = start(*node(1, 2, "meet"), "--lost-timeout", "300ms", *python(ends))
    assert second.stdout.readline() == "here\n"
    first.kill()
    assert ended(second)[0] == 4


def test_WorkersWithoutACommandEndWhenTheNodeOfRankZeroIsGone(start):
    helper = start("--lost-timeout", "300ms", "--rendezvous", "meet")
    sees = "import sys\nimport headrace as hr\nwhile not hr.service.status()['workers']: pass\nprint('here', flush=True); sys.stdin.readline()"
    first = start("--workers-per-node", 0, "--nodes", 1, "--rendezvous", "meet", *python(sees))
    assert first.stdout.readline() == "here\n"
    first.kill()
    code, _, errors = ended(helper)
    assert code == 4 and "the dispatcher of rank 0 at" in errors


@pytest.mark.parametrize("of_helper", [{}, {"SLURM_JOB_ID": "17", "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1", "SLURM_STEP_ID": "4"},
                                       {"SLURM_JOB_ID": "18", "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1", "SLURM_STEP_ID": "0"}])
def test_WorkersWithoutACommandFindTheRunOfALauncher(start, of_helper):
    helper = start("--workers-per-node", 2, "--rendezvous", "meet", **of_helper)
    first = start("--workers-per-node", 0, "--rendezvous", "meet",
                  *python("import headrace as hr\nwhile len(hr.service.status()['workers']) < 2: pass\n" + TRAIN),
                  SLURM_JOB_ID="17", SLURM_PROCID="0", SLURM_STEP_NUM_TASKS="1", SLURM_STEP_ID="3")
    assert [ended(first), ended(helper)] == [(0, "True 2\n", ""), (0, "", "")]


def test_WorkersWithoutACommandNameTheRunsThatThereAre(start):
    runs = [start("--rendezvous", "meet", *python(WAITS), SLURM_JOB_ID=job, SLURM_PROCID="0", SLURM_STEP_NUM_TASKS="1") for job in ("17", "18")]
    assert [x.stdout.readline() for x in runs] == ["here\n"] * 2
    code, _, errors = ended(start("--rendezvous", "meet"))
    assert code == 1 and "meet has several runs: meet/headrace-run-slurm-17, meet/headrace-run-slurm-18" in errors
    assert [ended(x)[0] for x in runs] == [0, 0]


@pytest.mark.parametrize("script", ["train", "heterogeneous"])
def test_ASlurmJobThatIsQueuedAgainStarts(tmp_path, script):
    """The job starts in the directory that a node's failure has left: with certificates but without the key of the
    authority, and with the file of the earlier run.
    """
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "headrace").symlink_to(os.path.abspath(COMMAND))
    srun = tmp_path / "bin" / "srun"
    srun.write_text('#!/bin/sh\nwhile case $1 in --*) ;; *) false;; esac; do case $1 in --het-group=*) SLURM_STEP_ID=${1#*=};; esac; shift; done\n'
                    'export SLURM_STEP_ID=${SLURM_STEP_ID:-0} SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1\nexec "$@"\n')
    srun.chmod(0o755)
    left = tmp_path / "jobs" / "42"
    left.mkdir(parents=True)
    subprocess.run([os.path.abspath(COMMAND), "certificates", left / "certificates"], check=True, timeout=PATIENCE)
    (left / "certificates" / "ca.key").unlink()
    (left / "headrace-run-slurm-42-0").write_text(json.dumps({"service": "127.0.0.1:1", "host": "x", "token": "1"}))
    done = subprocess.run(["bash", pathlib.Path(__file__).parents[3] / "deploy" / "slurm" / f"{script}.sbatch", "echo", "trained"],
                          capture_output=True, text=True, timeout=PATIENCE,
                          env=environment(PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}", HEADRACE_JOBS_DIR=str(tmp_path / "jobs"), SLURM_JOB_ID="42",
                                          HEADRACE_HOST="127.0.0.1"))
    assert (done.returncode, done.stdout) == (0, "trained\n"), done.stderr
    assert not left.exists()


def test_ARunWithoutAnyWorkerIsNamed(start):
    code, out, errors = ended(start("--workers-per-node", 0, "--start-timeout", "500ms", "--nodes", 1, "--rendezvous", "meet", "--", "echo", "here"))
    assert (code, out) == (4, "") and "the nodes have no workers (--workers-per-node 0), and no others came" in errors


def test_APortForThePageIsTheDispatchersAlone(start, address):
    assert ended(start("--", "true", HEADRACE_HTTP_PORT=address.rpartition(":")[2]))[0] == 0


@pytest.mark.parametrize("arguments, code, text", [(("--config", "nofile"), 2, "nofile")])
def test_AServerThatCannotStartIsNamedOnceAndGivesItsCode(start, arguments, code, text):
    got, _, errors = ended(start(*arguments, "--", "true"))
    assert got == code and errors.count(text) == 1 and errors.count("the dispatcher ended") == 1, errors


def test_ACommandThatFailsOnOneNodeEndsThereAndTheOthersGoOn(start):
    first = start(*node(0, 2, "meet"), *python(TRAIN))
    second = start(*node(1, 2, "meet"), "--", "sh", "-c", "exit 3")
    assert ended(second)[0] == 3
    assert ended(first)[0] == 0


def test_OneThatIsKilledIsNotWaitedFor(start, tmp_path):
    (tmp_path / "headrace.toml").write_text('heartbeat = "100ms"\nlease = "1s"\n')
    first = start("--config", "headrace.toml", *node(0, 2, "meet"), *python("import sys; print('here', flush=True); sys.stdin.readline()"))
    second = start(*node(1, 2, "meet"), *python("import signal; print('here', flush=True); signal.pause()"))
    assert second.stdout.readline() == "here\n"
    second.kill()
    assert ended(first)[0] == 0


def test_ACommandThatDoesNotEndIsNamedAfterTheEndTimeout(start):
    first = start("--end-timeout", "200ms", *node(0, 2, "meet"), "--", "true")
    second = start(*node(1, 2, "meet"), *python("import signal; signal.pause()"))
    code, _, errors = ended(first)
    assert code == 1 and "the command of rank 1 of 2 had not ended within --end-timeout (200ms)" in errors
    second.terminate()
    assert ended(second)[0] == 128 + signal.SIGTERM


@pytest.mark.parametrize("secure", [False, True])
def test_NodesWithoutACommandBringWorkersUntilTheRunEnds(start, tls, secure):
    helper = start(*tls * secure, "--workers-per-node", 2, "--rendezvous", "meet")
    waits = "import headrace as hr\nhr.service.secure()\nwhile len(hr.service.status()['workers']) < 2: pass\n" + TRAIN
    waits = waits if secure else waits.replace("hr.service.secure()\n", "")
    first = start(*tls * secure, "--workers-per-node", 0, "--nodes", 1, "--rendezvous", "meet", *python(waits))
    assert [ended(first), ended(helper)] == [(0, "True 2\n", ""), (0, "", "")]


def test_WithTlsTheCommandFindsTheFilesInItsEnvironment(start, tls):
    train = TRAIN.replace("as hr\n", "as hr\nhr.service.secure()\n")
    runs = [start(*tls, *node(rank, 2, "meet"), *python(train)) for rank in (0, 1)]
    assert [ended(x) for x in runs] == [(0, "True 2\n", "")] * 2


def test_WorkersRunPythonFunctionsIfTheyAreAskedTo(start):
    train = TRAIN.replace(".apply(", ".map(hr.py_function(lambda x: x, hr.TensorSpec([], hr.int64))).apply(")
    assert ended(start("--python", *python(train), HEADRACE_PYTHON=sys.executable))[:2] == (0, "True 1\n")
