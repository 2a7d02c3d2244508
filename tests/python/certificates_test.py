"""``headrace certificates``: certificates for a cluster."""

from __future__ import annotations

import os
import stat
import subprocess

import pytest

import headrace as hr

COMMAND = os.environ.get("HEADRACE_COMMAND", "")
pytestmark = pytest.mark.skipif(not COMMAND, reason="HEADRACE_COMMAND is not set")


def certificates(*arguments):
    done = subprocess.run([COMMAND, "certificates", *map(str, arguments)], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


def test_TheyAreThoseOfOneAuthorityAndOnlyTheirOwnersToRead(tmp_path):
    folder = tmp_path / "tls"
    for name in ("host", "data-1"):
        assert certificates(folder, "--name", name, "--days", 3) == (0, "")
        verified = subprocess.run(["openssl", "verify", "-x509_strict", "-CAfile", folder / "ca.pem", folder / f"{name}.pem"],
                                  capture_output=True, text=True, timeout=60)
        assert verified.returncode == 0, verified.stderr
    assert sorted(x.name for x in folder.iterdir()) == ["ca.key", "ca.pem", "data-1.key", "data-1.pem", "host.key", "host.pem"]
    assert {stat.S_IMODE(x.stat().st_mode) for x in folder.iterdir()} == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    end = subprocess.run(["openssl", "x509", "-in", folder / "host.pem", "-noout", "-checkend", str(2 * 86400)],
                         capture_output=True, timeout=60)
    assert end.returncode == 0


def test_WhatIsThereIsKept(tmp_path):
    assert certificates(tmp_path)[0] == 0
    before = (tmp_path / "host.pem").read_bytes()
    code, errors = certificates(tmp_path)
    assert code == 1 and "cannot make" in errors and "host.key: File exists" in errors
    assert (tmp_path / "host.pem").read_bytes() == before
    (tmp_path / "ca.key").unlink()
    code, errors = certificates(tmp_path, "--name", "other")
    assert code == 1 and "cannot read" in errors


def test_WrongNamesAreRefused(tmp_path):
    for name in ("ca", "", "../x"):
        code, errors = certificates(tmp_path, "--name", name)
        assert code == 2 and "must be the name of a file" in errors


def test_AServiceTakesThem(tmp_path):
    assert certificates(tmp_path)[0] == 0
    files = {"tls_cert": str(tmp_path / "host.pem"), "tls_key": str(tmp_path / "host.key"), "tls_ca": str(tmp_path / "ca.pem")}
    session = hr.service.Session(**files)
    with hr.service.DispatchServer(hr.service.DispatcherConfig(**files)) as dispatcher:
        with hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target, **files)):
            ds = hr.Dataset.range(5).apply(hr.service.distribute("distributed_epoch", dispatcher.target, session=session))
            assert sorted(map(int, ds)) == [0, 1, 2, 3, 4]


def test_ASessionReadsTheEnvironment(tmp_path, monkeypatch):
    for name in ("CERT", "KEY", "CA"):
        monkeypatch.delenv(f"HEADRACE_TLS_{name}", raising=False)
    with pytest.raises(ValueError, match="tls_cert must be given: the environment variable HEADRACE_TLS_CERT is not set"):
        hr.service.Session()
    with pytest.raises(TypeError, match="tls_key must be a path, not NoneType"):
        hr.service.Session("a")
    assert certificates(tmp_path)[0] == 0
    for name, file in (("CERT", "host.pem"), ("KEY", "host.key"), ("CA", "ca.pem")):
        monkeypatch.setenv(f"HEADRACE_TLS_{name}", str(tmp_path / file))
    hr.service.Session()
