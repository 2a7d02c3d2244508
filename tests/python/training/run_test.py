"""``headrace run`` on one node and under launchers, and the errors for wrong command lines."""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import subprocess
import sys

import pytest

from runs import (  # noqa: F401  (fixtures)
    COMMAND, PATIENCE, TRAIN, Watched, address, ended, environment, node, python, start, tls, needs_command,
)

pytestmark = needs_command


# -- one node ----------------------------------------------------------------------------------------------------------


def test_ACommandReadsThroughTheWorkersOfItsNode(start):
    assert ended(start("--workers-per-node", 2, *python(TRAIN))) == (0, "True 2\n", "")


def test_ItPrintsWhereThePageOfTheServiceIs(start):
    code, _, errors = ended(start("--", "true", HEADRACE_HTTP_PORT="0"))
    assert code == 0 and errors.startswith("status page at http://127.0.0.1:"), errors


@pytest.mark.parametrize("script, code", [("exit 7", 7), ("kill -KILL $$", 137), ("exit 0", 0)])
def test_TheExitCodeIsTheCommands(start, script, code):
    assert ended(start("--", "sh", "-c", script)) == (code, "", "")


def test_OptionsThatMayBeTheCommandsStandAfterDashes(start):
    for line in (("python3", "train.py", "--nodes", 3), ("--workers-per-node", 0, "python3", "-c", "print(1)")):
        code, out, errors = ended(start(*line))
        assert (code, out) == (2, "")
        assert errors.startswith("headrace: run: options after the command\nThe command to run stands after --: headrace run [OPTIONS] -- python3 "), errors
    assert ended(start("--workers-per-node", 0, "echo", "one")) == (0, "one\n", ""), "there is no doubt"
    assert ended(start("--workers-per-node", 0, "--", "echo", "--nodes", "3")) == (0, "--nodes 3\n", "")


def test_ACommandThatCannotBeStartedIsNamed(start):
    code, _, errors = ended(start("--", "nonesuch"))
    assert code == 127 and "cannot start nonesuch" in errors


def test_ASignalIsPassedOnToTheCommand(start):
    for number in (signal.SIGTERM, signal.SIGINT):
        process = start(*python("import signal; signal.signal(signal.SIGINT, signal.SIG_DFL); print('here', flush=True); signal.pause()"))
        assert process.stdout.readline() == "here\n"
        process.send_signal(number)
        assert ended(process)[0] == 128 + number


#: A program that prints each signal that it receives. It exits with code 0 after SIGWINCH or at the end of its input.
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
    """Slurm signals all processes of a step; a signal to a process group, or ^C, reaches some of them. So the command
    gets the signal directly. `headrace run` and its servers get it, too, and must not end before the command.
    """
    process = start(*python(COUNTS_SIGNALS))
    assert process.stdout.readline() == "here\n"
    for pid in [process.pid, *descendants_of(process.pid)]:
        with contextlib.suppress(ProcessLookupError):  # the process may have ended since an earlier os.kill
            os.kill(pid, number)
    assert process.stdout.readline() == f"got {number.value}\n"
    # A later signal is passed on after the earlier ones.
    process.send_signal(signal.SIGWINCH)
    assert process.stdout.readlines()[-2:] == [f"got {signal.SIGWINCH.value}\n", "checkpoint saved\n"]
    assert ended(process)[0] == 0


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM])
@pytest.mark.parametrize("python_workers", [False, True])
def test_ASignalForTheCommandToAllProcessesLeavesTheServersAlone(start, number, python_workers):
    process = start(*["--python"] * python_workers, *python(COUNTS_SIGNALS + TRAIN), HEADRACE_PYTHON=sys.executable)
    assert process.stdout.readline() == "here\n"
    for pid in [process.pid, *descendants_of(process.pid)]:
        with contextlib.suppress(ProcessLookupError):  # the process may have ended since an earlier os.kill
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
    """The command ignores SIGHUP, as under nohup."""
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


#: A program that prints the process ids of the workers, of itself, of a child, and of a child in a separate session,
#: and then waits.
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
    # The dispatcher is also a child of the inner process.
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
    """The commands in the first code block of a section of docs/clusters.md."""
    text = (pathlib.Path(__file__).parents[3] / "docs" / "clusters.md").read_text()
    return text.split(f"\n## {section}\n", 1)[1].split("```\n", 2)[1].splitlines()


@pytest.mark.parametrize("section, is_server", [("The same command on every node", False), ("Certificates", True)])
def test_TheDocumentedCommandsWorkAsTheyStand(tmp_path, section, is_server):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "headrace").symlink_to(os.path.abspath(COMMAND))
    first, second = commands_of(section)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    subprocess.run(["sh", "-c", first], cwd=tmp_path, env=environment(PATH=path), check=True, timeout=PATIENCE)
    # A server runs until it is stopped. Its default port may be in use on this host, so it listens on a free one.
    with subprocess.Popen(["sh", "-c", "exec " + second], cwd=tmp_path, text=True, stdout=subprocess.PIPE, start_new_session=True,
                          env=environment(PATH=path, HEADRACE_PORT="0")) as process:
        assert process.stdout.readline()
        if is_server:
            process.terminate()
        process.stdout.read()
        assert process.wait(PATIENCE) == 0


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
