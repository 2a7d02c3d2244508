"""``headrace run``: a command beside a service for it, on several nodes, which are addresses of this host."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import select
import signal
import subprocess
import sys

import pytest

COMMAND = os.environ.get("HEADRACE_COMMAND", "")
pytestmark = pytest.mark.skipif(not COMMAND, reason="HEADRACE_COMMAND is not set")

LAUNCHERS = ("SLURM", "OMPI", "PMI", "MPI_", "PSSH", "HEADRACE_SERVICE", "RANK", "WORLD_SIZE", "LOCAL_", "TORCHELASTIC")
PATIENCE = 60

#: Reads through all workers of the service, and prints how many there are.
TRAIN = """
import headrace as hr
ds = hr.Dataset.range(100).apply(hr.service.distribute("distributed_epoch"))
print(sorted(map(int, ds)) == list(range(100)), len(hr.service.status()["workers"]), flush=True)
"""


def environment(**more):
    # Workers learn with a heartbeat that they are to leave.
    return {"HEADRACE_HEARTBEAT": "100ms", "HEADRACE_HTTP_PORT": "off", **{k: v for k, v in os.environ.items() if not k.startswith(LAUNCHERS)}, **more}


@pytest.fixture
def start(tmp_path):
    """Starts ``headrace run`` with these arguments, in an empty folder; kills what still runs."""
    with contextlib.ExitStack() as stack:
        def begin(*arguments, ignore=None, **variables):
            process = stack.enter_context(subprocess.Popen([os.path.abspath(COMMAND), "run", *map(str, arguments)], cwd=tmp_path, text=True,
                                                           env=environment(**variables), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                                           stderr=subprocess.PIPE,
                                                           preexec_fn=ignore and (lambda: signal.signal(ignore, signal.SIG_IGN))))
            stack.callback(process.kill)
            return process
        yield begin


def ended(process):
    out, errors = process.communicate(timeout=PATIENCE)
    return process.returncode, out, errors


def python(program):
    return ("--", sys.executable, "-c", program)


class Watched:
    """A process that this one did not start."""

    def __init__(self, pid):
        self.descriptor = os.pidfd_open(pid)

    def ends(self):
        return bool(select.select([self.descriptor], [], [], PATIENCE)[0])


# -- one node ----------------------------------------------------------------------------------------------------------


def test_ACommandReadsThroughTheWorkersOfItsNode(start):
    assert ended(start("--workers-per-node", 2, *python(TRAIN))) == (0, "True 2\n", "")


def test_ItPrintsWhereThePageOfTheServiceIs(start):
    code, _, errors = ended(start("--", "true", HEADRACE_HTTP_PORT="0"))
    assert code == 0 and errors.startswith("status page at http://127.0.0.1:"), errors


@pytest.mark.parametrize("script, code", [("exit 7", 7), ("kill -KILL $$", 137), ("exit 0", 0)])
def test_TheExitCodeIsTheCommands(start, script, code):
    assert ended(start("--", "sh", "-c", script)) == (code, "", "")


def test_ACommandThatCannotBeStartedIsNamed(start):
    code, _, errors = ended(start("--", "nonesuch"))
    assert code == 127 and "cannot start nonesuch" in errors


def test_ASignalIsPassedOnToTheCommand(start):
    for number in (signal.SIGTERM, signal.SIGINT):
        process = start(*python("import signal; signal.signal(signal.SIGINT, signal.SIG_DFL); print('here', flush=True); signal.pause()"))
        assert process.stdout.readline() == "here\n"
        process.send_signal(number)
        assert ended(process)[0] == 128 + number


#: Prints the signals that it gets; ends in order after SIGWINCH, or the end of its input.
COUNTS_SIGNALS = """
import signal, sys
def got(number, frame):
    print("got", number, flush=True)
    if number == signal.SIGWINCH:
        print("checkpoint saved", flush=True)
        sys.exit(0)
for x in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGCONT, signal.SIGWINCH):
    signal.signal(x, got)
print("here", flush=True)
sys.stdin.read()
"""


def descendants_of(pid):
    direct = children_of(pid)
    return direct + [y for x in direct for y in descendants_of(x)]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_ASignalToAllProcessesLeavesTheCommandItsTime(start, number):
    """As Slurm signals a step; a signal to a group, or ^C, reaches a part of them."""
    process = start(*python(COUNTS_SIGNALS))
    assert process.stdout.readline() == "here\n"
    for pid in [process.pid, *descendants_of(process.pid)]:
        os.kill(pid, number)
    assert process.stdout.readline() == f"got {number.value}\n"
    # What comes after the others, and is passed on after them.
    process.send_signal(signal.SIGWINCH)
    assert process.stdout.readlines()[-2:] == [f"got {signal.SIGWINCH.value}\n", "checkpoint saved\n"]
    assert ended(process)[0] == 0


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM])
@pytest.mark.parametrize("python_workers", [False, True])
def test_ASignalForTheCommandToAllProcessesLeavesTheServersAlone(start, number, python_workers):
    process = start(*["--python"] * python_workers, *python(COUNTS_SIGNALS + TRAIN), HEADRACE_PYTHON=sys.executable)
    assert process.stdout.readline() == "here\n"
    for pid in [process.pid, *descendants_of(process.pid)]:
        os.kill(pid, number)
    assert process.stdout.readline() == f"got {number.value}\n"
    process.stdin.close()
    assert process.stdout.readlines()[-1] == "True 1\n"
    assert process.wait(PATIENCE) == 0 and "ended" not in process.stderr.read()


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGCONT, signal.SIGWINCH])
def test_ASignalThatDoesNotAskToStopIsPassedOnAndChangesNothingElse(start, number):
    process = start("--stop-timeout", "1ms", *python(COUNTS_SIGNALS))
    assert process.stdout.readline() == "here\n"
    process.send_signal(number)
    assert process.stdout.readline() == f"got {number.value}\n"
    assert ended(process)[0] == 0


def test_ACommandThatIgnoresAHangUpIsNotStoppedByOne(start):
    """As under nohup."""
    waits = "import signal, sys\nsignal.signal(signal.SIGUSR1, lambda *_: sys.exit(5))\nprint('here', flush=True)\nwhile True: signal.pause()"
    process = start("--stop-timeout", "1ms", *python(waits), ignore=signal.SIGHUP)
    assert process.stdout.readline() == "here\n"
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGUSR1)
    assert ended(process)[0] == 5


def test_VariablesOfAnotherServiceAreReplaced(start, tls):
    stale = {"HEADRACE_SERVICE": "1.2.3.4:5", "HEADRACE_TLS_CERT": "/x/y", "HEADRACE_TLS_KEY": "/x/z", "HEADRACE_TLS_CA": "/x/w"}
    code, out, errors = ended(start(*tls, "--", "env", **stale))
    assert code == 0, errors
    lines = sorted(x for x in out.splitlines() if x.startswith(("HEADRACE_SERVICE=", "HEADRACE_TLS_")))
    assert lines[0].startswith("HEADRACE_SERVICE=127.0.0.1:")
    assert lines[1:] == ["HEADRACE_TLS_CA=tls/ca.pem", "HEADRACE_TLS_CERT=tls/host.pem", "HEADRACE_TLS_KEY=tls/host.key"]


def test_ACommandThatDoesNotEndAfterASignalIsKilled(start):
    deaf = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('here', flush=True)\nwhile True: signal.pause()"
    process = start("--stop-timeout", "100ms", *python(deaf))
    assert process.stdout.readline() == "here\n"
    process.terminate()
    assert ended(process)[0] == 128 + signal.SIGKILL


#: Prints the process ids of the service, of this program, of a child, and of one in a session of its own; then waits.
WITH_CHILDREN = """
import os, signal, subprocess, sys
import headrace as hr
children = [subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"], start_new_session=x) for x in (False, True)]
workers = [x["pid"] for x in hr.service.status()["workers"]]
print(*workers, os.getpid(), *(x.pid for x in children), flush=True)
signal.pause()
"""


def children_of(pid):
    return [int(x) for x in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.parametrize("which", ["it", "its child"])
def test_NothingOutlivesOneThatIsKilled(start, which):
    process = start("--workers-per-node", 2, *python(WITH_CHILDREN))
    pids = [int(x) for x in process.stdout.readline().split()]
    inner, = children_of(process.pid)
    # The dispatcher is a child, too.
    pids += children_of(inner)
    watched = [Watched(pid) for pid in pids]
    assert len(watched) >= 8
    os.kill(process.pid if which == "it" else inner, signal.SIGKILL)
    assert all(x.ends() for x in watched)
    assert ended(process)[0] == (-signal.SIGKILL if which == "it" else 128 + signal.SIGKILL)


def test_WhatACommandLeavesRunningEndsWithIt(start):
    process = start(*python("import subprocess, sys; print(subprocess.Popen(['sleep', '1000'], start_new_session=True).pid, flush=True); sys.stdin.read(1)"))
    left = Watched(int(process.stdout.readline()))
    assert ended(process)[0] == 0
    assert left.ends()


def commands_of(section):
    """The first commands of a section of docs/clusters.md."""
    text = (pathlib.Path(__file__).parents[2] / "docs" / "clusters.md").read_text()
    return text.split(f"\n## {section}\n", 1)[1].split("```\n", 2)[1].splitlines()


@pytest.mark.parametrize("section, is_server", [("The same command on every node", False), ("Certificates", True)])
def test_TheDocumentedCommandsWorkAsTheyStand(tmp_path, section, is_server):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "headrace").symlink_to(os.path.abspath(COMMAND))
    first, second = commands_of(section)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    subprocess.run(["sh", "-c", first], cwd=tmp_path, env=environment(PATH=path), check=True, timeout=PATIENCE)
    # A server runs until it is stopped. Its port may be in use here.
    with subprocess.Popen(["sh", "-c", "exec " + second], cwd=tmp_path, text=True, stdout=subprocess.PIPE, start_new_session=True,
                          env=environment(PATH=path, HEADRACE_PORT="0")) as process:
        assert process.stdout.readline()
        if is_server:
            process.terminate()
        process.stdout.read()
        assert process.wait(PATIENCE) == 0


# -- several nodes -----------------------------------------------------------------------------------------------------


def node(rank, of, rendezvous):
    return ("--nodes", of, "--node-rank", rank, "--host", f"127.0.0.{rank + 1}", "--rendezvous", rendezvous)


@pytest.fixture
def address():
    """An address of this host at which nobody listens."""
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{one.getsockname()[1]}"


@pytest.fixture
def tls(tmp_path):
    """Options for TLS."""
    subprocess.run([os.path.abspath(COMMAND), "certificates", "tls"], cwd=tmp_path, check=True, timeout=PATIENCE)
    return ("--tls-cert", "tls/host.pem", "--tls-key", "tls/host.key", "--tls-ca", "tls/ca.pem")


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


#: Ends when the workers of the other node have left.
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


#: Reads after the first node's command has ended, which a file shows.
READS_LATE = """
import pathlib
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
    # The service may have ended with the first one.
    assert third[0] == 4 and any(text in third[2] for text in ("rank 1 of 3 did not come", "the service did not answer",
                                                               "rank 0 has ended meanwhile")), third[2]


def test_AFirstNodeThatNeverComesIsNamed(start):
    code, _, errors = ended(start("--start-timeout", "200ms", *node(1, 2, "meet"), "--", "true"))
    assert code == 4 and "the dispatcher of rank 0 did not come within --start-timeout (200ms): there is no meet/headrace-run" in errors


def test_ADispatcherThatListensOnLoopbackOfAnotherHostIsNamed(start, tmp_path):
    (tmp_path / "meet").mkdir()
    (tmp_path / "meet" / "headrace-run").write_text(json.dumps({"service": "127.0.0.1:1", "host": "other", "token": "1"}))
    code, _, errors = ended(start("--start-timeout", "200ms", *node(1, 2, "meet"), "--", "true"))
    assert code == 4 and "the dispatcher listens on 127.0.0.1:1 of the host other, which" in errors and "--host 0.0.0.0" in errors


# -- what has been given one place to meet ------------------------------------------------------------------------------


WAITS = "import sys; print('here', flush=True); sys.stdin.readline()"


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
    """It is not known which of both belongs to the others."""
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
    # It can be neither replaced nor removed.
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
    """With what a node's failure leaves: the job's directory, without the key of the authority."""
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
    done = subprocess.run(["bash", pathlib.Path(__file__).parents[2] / "deploy" / "slurm" / f"{script}.sbatch", "echo", "trained"],
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


# -- launchers ---------------------------------------------------------------------------------------------------------


def torchrun(rank):
    return {"RANK": rank, "WORLD_SIZE": 4, "LOCAL_RANK": rank % 2, "LOCAL_WORLD_SIZE": 2, "TORCHELASTIC_RUN_ID": "a/b",
            "TORCHELASTIC_RESTART_COUNT": 0}


def open_mpi(rank):
    return {"OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_SIZE": 4, "OMPI_COMM_WORLD_LOCAL_RANK": rank % 2,
            "OMPI_COMM_WORLD_LOCAL_SIZE": 2, "SLURM_PROCID": 0, "SLURM_STEP_NUM_TASKS": 2}


def mpich(rank):
    return {"PMI_RANK": rank, "PMI_SIZE": 4, "MPI_LOCALRANKID": rank % 2, "MPI_LOCALNRANKS": 2}


def slurm(rank):
    return {"SLURM_PROCID": rank, "SLURM_STEP_NUM_TASKS": 4, "SLURM_LOCALID": rank % 2, "SLURM_NODEID": rank // 2,
            "SLURM_STEP_TASKS_PER_NODE": "2(x2)", "SLURM_JOB_ID": 17}


@pytest.mark.parametrize("launcher", [torchrun, open_mpi, mpich, slurm])
def test_OneProcessOfEachNodeStartsItsWorkers(start, launcher):
    runs = [start("--workers-per-node", 3, "--rendezvous", "meet", *python(TRAIN),
                  **{k: str(v) for k, v in launcher(rank).items()}) for rank in range(4)]
    assert [ended(x) for x in runs] == [(0, "True 6\n", "")] * 4


def test_ProcessesOfOneNodeNeedNoRendezvous(start, tmp_path):
    runs = [start(*python(TRAIN), RANK=str(rank), WORLD_SIZE="2", LOCAL_RANK=str(rank), LOCAL_WORLD_SIZE="2",
                  XDG_RUNTIME_DIR=str(tmp_path)) for rank in range(2)]
    assert [ended(x) for x in runs] == [(0, "True 1\n", "")] * 2


def test_ParallelSshSaysWhichNodeItIs(start, address):
    runs = [start("--rendezvous", address, *python(TRAIN), PSSH_NODENUM=str(n), PSSH_NUMNODES="2") for n in range(2)]
    assert [ended(x) for x in runs] == [(0, "True 2\n", "")] * 2


@pytest.mark.parametrize("arguments, variables, text", [
    (("--nodes", 2), {}, "--nodes 2 needs --node-rank"),
    (("--node-rank", 0), {}, "--node-rank needs --nodes"),
    (("--nodes", 2, "--node-rank", 2), {}, "--node-rank is 2, which is not a number from 0 to 1"),
    (("--nodes", 2, "--node-rank", 0), {}, "need a --rendezvous: a directory that all of them see"),
    (("--host", "0.0.0.0"), {}, "--insecure if the network itself is trusted"),
    (("--tls-cert", "a.pem"), {}, "given together or not at all"),
    (("--rendezvous", "host:0"), {}, "is not a port (1 to 65535)"),
    (("--rendezvous", "data-0:5050"), {}, "but the servers are to listen on 127.0.0.1"),
    (("--rendezvous", "host:port"), {}, "neither a directory"),
    (("--rendezvous", "127.0.0.2:7000", "--nodes", 2, "--node-rank", 0), {}, "is to listen on 127.0.0.1, where the others do not look; give --host 127.0.0.2"),
    ((), {"SLURM_PROCID": "9", "SLURM_STEP_NUM_TASKS": "2"}, "SLURM_PROCID is '9', which is not a number from 0 to 1"),
    (("--rendezvous", "a:1"), torchrun(0), "meet in a directory that all of them see"),
    (("--rendezvous", "localhost:1", "--workers-per-node", 0, "--nodes", 2, "--node-rank", 0), {}, "--workers-per-node 0 needs a directory"),
])
def test_WhatIsWrongIsNamed(start, arguments, variables, text):
    code, _, errors = ended(start(*arguments, "--", "true", **{k: str(v) for k, v in variables.items()}))
    assert code == 2 and text in errors, errors


def test_WithoutACommandARendezvousIsNeeded(start):
    code, _, errors = ended(start("--workers-per-node", 2))
    assert code == 2 and "needs their --rendezvous" in errors
