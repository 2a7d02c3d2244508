"""Python functions of people who are not trusted: where their code runs, who may send it, and what it can answer."""

from __future__ import annotations

import json
import os
import pickle
import re
import struct
import sys

import numpy as np
import pytest

import headrace as hr
from headrace._processes.python import PyFunction

SCALAR = hr.TensorSpec([], hr.int64)
LEAF = ["tensor", "int64", []]


class Evil:
    """Appends the id of the process to a file when it is unpickled."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return exec, (f"import os; print(os.getpid(), file=open({str(self.file)!r}, 'a'))",)


class Crafted(PyFunction):
    """A Python function of which a test chooses the label and the shipped bytes in the graph."""

    def __init__(self, shipped, label="crafted"):
        super().__init__(None, SCALAR, False)
        self._label, self._shipped = label, shipped

    def _function(self, graph):
        return hr._core.python_function(graph, self._label, self._shipped, ["int64", []], False)


def header(**other):
    return json.dumps({"format": 1, "kind": "function", "argument": LEAF, "result": LEAF, **other}).encode() + b"\n"


def read(ds):
    """The elements and the texts of errors, up to the end or to two errors in a row."""
    it, out = iter(ds), []
    while len(out) < 2 or not (isinstance(out[-1], str) and isinstance(out[-2], str)):
        try:
            out.append(int(next(it)))
        except hr.errors.OpError as e:
            out.append(f"{type(e).__name__}: {e}")
        except StopIteration:
            break
    return out


def nest(depth):
    spec = LEAF
    for _ in range(depth):
        spec = ["tuple", spec]
    return spec


# -- graphs ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["function", "generator"])
def test_NothingIsUnpickledButInAPoolsProcess(tmp_path, kind):
    evil = tmp_path / "evil"
    old = pickle.dumps((kind, pickle.dumps(Evil(evil)), Evil(evil), ["int64", []]))
    for shipped in (old, pickle.dumps(Evil(evil)), header(kind=kind) + pickle.dumps(Evil(evil))):
        got = read(hr.Dataset.range(1).map(Crafted(shipped)))
        assert "rror" in got[0], got
    # The last value of `shipped` has a valid header, so a process of the pool unpickles it.
    pids = evil.read_text().split()
    assert pids and str(os.getpid()) not in pids


@pytest.mark.parametrize("shipped, why", [
    (b"", "cannot be read"), (b"{}", "cannot be read"), (b"[]\n", "no header"), (b"{}\n", "format is None"),
    (header(format=2), "format is 2; this release reads 1"), (header(kind="class"), "kind is 'class'"),
    (header(argument=["tensor", "int65", []]), "int65"), (header(argument=["tensor", "int64", [-1]]), "dims"),
    (header(argument=["tensor", "int64", [True]]), "dims"), (header(argument=["tensor", "int64", [1 << 63]]), "dims"),
    (header(argument=["set", LEAF]), "'set', which this release does not know"),
    (header(argument=["ragged", LEAF]), "'ragged'"), (header(result=7), "no spec"), (header(result=[]), "no spec"),
    (header(argument=nest(500)), "no spec"), (b"[" * 100_000 + b"\n", "cannot be read"), 
    (header(argument=["tuple", LEAF, LEAF]), "the Python function takes"),
    (header(argument=["tensor", "string", []]), "the Python function takes"),
    (header(result=["tensor", "string", []]), "declared|gave"), (header(result=["tuple", LEAF, LEAF]), "declared|gave"),
])
def test_ACraftedFunctionIsAnError(shipped, why):
    if isinstance(shipped, bytes) and shipped.startswith(b"{\"format\": 1"):
        shipped += pickle.dumps(abs)
    got = read(hr.Dataset.range(1).map(Crafted(shipped)))
    assert re.search(why, got[0]), got


# -- answers ---------------------------------------------------------------------------------------------


def forging(content):
    """A function that writes `content` as an answer of its process."""
    def forge(x):
        frame = sys._getframe()
        while "answers" not in frame.f_locals:
            frame = frame.f_back
        data = content if isinstance(content, bytes) else content(frame.f_locals["number"])
        frame.f_locals["answers"].write(struct.pack("<Q", len(data)) + data)
        frame.f_locals["answers"].flush()
        return x
    return forge


def of_row(row, rows=1):
    return lambda number: struct.pack("<QI", number, rows) + row


SHAPE = hr.TensorSpec([None], hr.int64)


@pytest.mark.parametrize("spec, content", [
    (SCALAR, b""), (SCALAR, b"x" * 11), (SCALAR, of_row(b"")), (SCALAR, of_row(b"\2")), (SCALAR, of_row(b"\0")),
    (SCALAR, of_row(b"\1" + struct.pack("<I", 0))), (SCALAR, of_row(b"\x0b" + struct.pack("<I", 0))),  # out_of_range
    (SCALAR, of_row(b"\0\0" + b"x" * 7)), (SCALAR, of_row(b"\0\1" + struct.pack("<QQ", 1, 1))),
    (SCALAR, of_row(b"", rows=2)), (SCALAR, of_row(b"", rows=0)),
    (SHAPE, of_row(b"\0\1" + struct.pack("<Q", 1 << 61))), (SHAPE, of_row(b"\0\1" + struct.pack("<Q", 1 << 63))),
    (SHAPE, of_row(b"\0\2" + struct.pack("<QQ", 1 << 33, 1 << 33))), (SHAPE, of_row(b"\0\1" + b"x" * 3)),
    (hr.TensorSpec([], hr.bool), of_row(b"\0\0\2")),
    (hr.TensorSpec([], hr.string), of_row(b"\0\0" + struct.pack("<Q", 9) + b"short")),
    (hr.TensorSpec([2], hr.string), of_row(b"\0\1" + struct.pack("<QQ", 2, 0))),
    (hr.TensorSpec(None, hr.string), of_row(b"\0\1" + struct.pack("<Q", 1 << 60))),
    (SCALAR, of_row(b"\2" + struct.pack("<I", 5) + b"no"))])
def test_AForgedAnswerIsAnError(cluster, spec, content):
    dispatcher = cluster(1, python_processes=1)
    ds = hr.Dataset.range(1).map(hr.py_function(forging(content), spec))
    it = iter(ds.apply(hr.service.distribute("off", dispatcher.target)))
    with pytest.raises(hr.errors.OpError, match="gave no answer of its form|process that ran it died"):
        next(it)


def test_AForgedTextIsAText(cluster):
    dispatcher = cluster(1, python_processes=1)
    text = b"bad \xff\xed\xa0\x80\x00 \xc3\xa4" + b"x" * 100_000
    forged = of_row(b"\2" + struct.pack("<I", len(text)) + text)
    ds = hr.Dataset.range(1).map(hr.py_function(forging(forged), SCALAR))
    with pytest.raises(hr.errors.UnknownError, match="bad \\?\\?\\?\\?\\? \u00e4xxx"):
        list(ds.apply(hr.service.distribute("off", dispatcher.target)))


def test_APickledAnswerRunsNothing(cluster, tmp_path):
    evil = tmp_path / "evil"
    dispatcher = cluster(1, python_processes=1)
    ds = hr.Dataset.range(3).map(hr.py_function(forging(pickle.dumps([[Evil(evil)]])), SCALAR))
    got = read(ds.apply(hr.service.distribute("off", dispatcher.target)))
    assert "process that ran it died" in got[0]
    assert not evil.exists()
    # The process was replaced.
    assert read(hr.Dataset.range(2).map(hr.py_function(lambda x: x + 1, SCALAR)).apply(
        hr.service.distribute("off", dispatcher.target))) == [1, 2]


def test_AnswersCarryEveryKindOfValue():
    def of(x):
        return (np.bool_(x == 1), np.float16(x), [b"", "\u00e4\0b"], np.full((2, 0), x, np.uint8), {"c": complex(0, x)},
                np.full((int(x), 2), x, np.int16)[::-1], np.array(x, ">i4").astype(np.int32))

    specs = (hr.bool, hr.float16, hr.TensorSpec([2], hr.string), hr.TensorSpec([2, 0], hr.uint8),
             {"c": hr.TensorSpec([], hr.complex128)}, hr.TensorSpec([None, 2], hr.int16), hr.int32)
    got = list(hr.Dataset.range(3).map(hr.py_function(of, specs)))
    assert len(got) == 3
    for x, (truth, half, texts, nothing, named, rows, number) in enumerate(got):
        assert truth == (x == 1) and half == x and texts.tolist() == [b"", "\u00e4\0b".encode()]
        assert nothing.shape == (2, 0) and named["c"] == complex(0, x) and number == x
        assert rows.shape == (x, 2) and (rows == x).all()


# -- who may send ----------------------------------------------------------------------------------------


@pytest.fixture
def stranger(monkeypatch, tmp_path):
    """A function that distributes a dataset like the program of another user: the worker's user has not vouched for
    the Python functions of that program."""
    def distributed(ds, dispatcher):
        with monkeypatch.context() as elsewhere:
            elsewhere.setenv("HEADRACE_PYTHON_FUNCTIONS", str(tmp_path / "elsewhere"))
            return ds.apply(hr.service.distribute("off", dispatcher.target))
    return distributed


def added(n):
    return hr.Dataset.range(2).map(hr.py_function(lambda x: x + n, SCALAR))


def test_AWorkerRefusesTheFunctionsOfStrangers(cluster, stranger):
    dispatcher = cluster(1)
    generated = hr.Dataset.from_generator(lambda: range(7), output_signature=SCALAR)
    hidden = hr.Dataset.range(2).flat_map(lambda x: added(77))
    for ds in (added(7), generated, hidden):
        with pytest.raises(hr.errors.PermissionDeniedError) as refused:
            list(stranger(ds, dispatcher))
        for part in ("'", "there is no file ", os.environ["HEADRACE_PYTHON_FUNCTIONS"], "--python-from-anyone",
                     "WorkerConfig(python_from_anyone=True)"):
            assert part in str(refused.value)
        assert len(str(refused.value)) < 1500
    # A program that vouches for the functions of the same datasets reads them, although the service was first given
    # these datasets by the stranger.
    for ds in (added(7), generated, hidden):
        assert read(ds.apply(hr.service.distribute("off", dispatcher.target)))[0] in (7, 0, 77)


def test_AWorkerThatIsToldToTakesThoseOfEverybody(cluster, stranger):
    assert read(stranger(added(8), cluster(1, python_from_anyone=True))) == [8, 9]
    with pytest.raises(TypeError, match="python_from_anyone must be a bool"):
        hr.service.WorkerServer(hr.service.WorkerConfig("localhost:1", python_from_anyone=1))


def test_WhatIsRegisteredIsVouchedFor(cluster):
    dispatcher = cluster(1)
    id = hr.service.register_dataset(dispatcher.target, added(9))
    assert read(hr.service.from_dataset_id("off", dispatcher.target, id)) == [9, 10]


def test_AFolderThatOthersCanWriteToCountsForNothing(cluster, monkeypatch, tmp_path):
    folder = tmp_path / "open"
    monkeypatch.setenv("HEADRACE_PYTHON_FUNCTIONS", str(folder))
    ds = added(10).apply(hr.service.distribute("off", cluster(1).target))
    folder.chmod(0o777)
    with pytest.raises(hr.errors.PermissionDeniedError, match="others than the user .* can write"):
        list(ds)
    folder.chmod(0o700)
    (link,) = folder.iterdir()
    link.rename(folder / "other")
    link.symlink_to(folder / "other")
    with pytest.raises(hr.errors.PermissionDeniedError, match="is not a file of the user"):
        list(ds)


def test_OldFilesAreForgotten(monkeypatch, tmp_path):
    from headrace._processes import vouching as _vouching

    monkeypatch.setenv("HEADRACE_PYTHON_FUNCTIONS", str(tmp_path))
    _vouching.vouch(b"%d" % i for i in range(_vouching._MANY - 1))
    for i, file in enumerate(tmp_path.iterdir()):
        if i % 2:
            os.utime(file, (0, 0))
    _vouching.vouch([b"last"])
    assert len(list(tmp_path.iterdir())) == _vouching._MANY // 2 + 1
    _vouching.check("f", b"last")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of another user")
def test_AFolderOfAnotherUserCountsForNothing(cluster, monkeypatch, tmp_path):
    monkeypatch.setenv("HEADRACE_PYTHON_FUNCTIONS", str(tmp_path))
    ds = added(11).apply(hr.service.distribute("off", cluster(1).target))
    os.chown(tmp_path, 65534, 65534)
    with pytest.raises(hr.errors.PermissionDeniedError, match="is of the user with the id 65534"):
        list(ds)
