"""Services that require certificates."""

from __future__ import annotations

import subprocess
import sys

import pytest

import headrace as hr


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A certificate, its key, and the authority."""
    folder = tmp_path_factory.mktemp("tls")

    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True, timeout=60)

    new = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1")
    openssl("req", "-x509", *new, "-subj", "/CN=ours", "-keyout", "ca.key", "-out", "ca.pem")
    openssl("req", *new, "-subj", "/CN=trainer", "-keyout", "some.key", "-out", "some.csr")
    openssl("x509", "-req", "-in", "some.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "1",
            "-out", "some.pem")
    return [str(folder / name) for name in ("some.pem", "some.key", "ca.pem")]


PROGRAM = """
import os, sys
import headrace as hr
cert, key, ca = sys.argv[1:]
tls = dict(tls_cert=cert, tls_key=key, tls_ca=ca)

def read(target, secure=True):
    # The certificate is the permission: nobody has to vouch for functions.
    same = hr.py_function(lambda x: x, hr.TensorSpec([], hr.int64))
    os.environ["HEADRACE_PYTHON_FUNCTIONS"] = "/dev/null/not/a/folder"
    ds = hr.Dataset.range(9).map(same if secure else lambda x: x).apply(hr.service.distribute("distributed_epoch", target, worker_timeout=5))
    return sorted(int(x) for x in ds)

with hr.service.secure(**tls):
    with hr.service.DispatchServer(hr.service.DispatcherConfig(host="0.0.0.0", advertise_host="127.0.0.1", **tls)) as d:
        with hr.service.WorkerServer(hr.service.WorkerConfig(d.target, **tls)):
            assert read(d.target) == list(range(9))
            assert d.num_workers() == 1
    try:
        hr.service.secure(cert, ca, ca)
    except hr.errors.FailedPreconditionError as e:
        assert "secure_session" in str(e) or "certificate" in str(e), e
    else:
        raise AssertionError("two ways at a time")
with hr.service.DispatchServer() as d, hr.service.WorkerServer(hr.service.WorkerConfig(d.target)):
    assert read(d.target, False) == list(range(9))
print("fine")
"""


def test_AProgramShowsItsCertificate(files):
    done = subprocess.run([sys.executable, "-c", PROGRAM, *files], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout == "fine\n", done.stderr


SESSIONS = """
import os, pickle, sys
import headrace as hr
cert, key, ca = sys.argv[1:]
tls = dict(tls_cert=cert, tls_key=key, tls_ca=ca)
S = hr.service

def read(target, session):
    return hr.Dataset.range(9).apply(S.distribute("distributed_epoch", target, worker_timeout=3, session=session))

mine = S.Session(**tls)
with S.DispatchServer(S.DispatcherConfig(**tls)) as d, S.WorkerServer(S.WorkerConfig(d.target, **tls)) as w, \\
        S.DispatchServer() as plain, S.WorkerServer(S.WorkerConfig(plain.target)):
    assert d.num_workers() == 1 and w.num_tasks() == 0
    both = hr.Dataset.zip((read(d.target, mine), read(plain.target, None)))
    assert sorted(int(a) for a, b in both) == list(range(9))
    assert len(S.status(d.target, session=mine)["workers"]) == 1
    known = S.register_dataset(d.target, hr.Dataset.range(4), session=mine)
    assert sorted(map(int, S.from_dataset_id("off", d.target, known, session=mine))) == list(range(4))
    S.drain_worker(d.target, w.address, session=mine)
    for wrong in (lambda: list(read(d.target, None)), lambda: S.status(d.target)):
        try:
            wrong()
        except hr.errors.OpError as e:
            assert "TLS" in str(e), e
        else:
            raise AssertionError("without a certificate")
    try:
        pickle.dumps(mine)
    except TypeError as e:
        assert "cannot be pickled" in str(e)
    else:
        raise AssertionError("pickled")
    try:
        read(d.target, "mine")
    except TypeError as e:
        assert str(e) == "session must be a Session, not str: 'mine'", e
    else:
        raise AssertionError("a str")
    child = os.fork()
    if child == 0:
        try:
            list(read(d.target, mine))
            os._exit(1)
        except hr.errors.FailedPreconditionError as e:
            del mine
            os._exit(0 if "forked" in str(e) else 2)
        except BaseException:
            os._exit(3)
    assert os.waitpid(child, 0)[1] == 0
    assert len(S.status(d.target, session=mine)["workers"]) == 1
print("fine")
"""


def test_AProgramReadsEachServiceInASessionOfItsOwn(files):
    done = subprocess.run([sys.executable, "-c", SESSIONS, *files], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout == "fine\n", done.stderr


STATEMENT = """
import gc, sys, warnings
import headrace as hr
cert, key, ca = sys.argv[1:]
tls = dict(tls_cert=cert, tls_key=key, tls_ca=ca)

hr.service.secure(**tls)
gc.collect()
dispatcher = hr.service.DispatchServer(hr.service.DispatcherConfig(**tls))
worker = hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target, **tls))
ds = hr.Dataset.range(9).apply(hr.service.distribute("distributed_epoch", dispatcher.target, worker_timeout=5))
print(sorted(int(x) for x in ds), dispatcher.num_workers())
"""


def test_SecureIsAStatementToo(files):
    done = subprocess.run([sys.executable, "-c", STATEMENT, *files], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[0, 1, 2, 3, 4, 5, 6, 7, 8] 1\n", "")


UNUSED = """
import sys, warnings
import headrace as hr
cert, key, ca = sys.argv[1:]
tls = dict(tls_cert=cert, tls_key=key, tls_ca=ca)

with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    with hr.service.secure(**tls):
        ds = hr.Dataset.range(9)
    session = hr.service.secure(**tls)
    session.close()
    session.close()
    with hr.service.DispatchServer(hr.service.DispatcherConfig(**tls)) as dispatcher:
        with hr.service.secure(**tls):
            hr.service.status(dispatcher.target)
for one in said:
    print(one.filename, one.message)
"""


def test_ASessionThatEndsUnusedWarns(files):
    done = subprocess.run([sys.executable, "-c", UNUSED, *files], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert [line.startswith("<string> secure: nothing was asked") for line in done.stdout.splitlines()] == [True, True]


def test_ArgumentsOfSecureAreChecked(tmp_path):
    with pytest.raises(TypeError, match="tls_key must be a path, not int"):
        hr.service.secure("a", 1, "b")
    with pytest.raises(ValueError, match="tls_cert must not be empty"):
        hr.service.secure("", "a", "b")
    with pytest.raises(hr.errors.OpError):
        hr.service.secure(tmp_path / "a.pem", tmp_path / "a.key", tmp_path / "ca.pem")
