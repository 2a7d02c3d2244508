"""``headrace certificates``: certificates for a cluster."""

from __future__ import annotations

import contextlib
import http.client
import os
import resource
import signal
import socket
import ssl
import stat
import subprocess
import sys

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
    # The scripts in deploy/slurm remove the authority's key in this way once the certificates are made.
    (tmp_path / "ca.key").unlink()
    assert certificates(tmp_path) == (0, "")
    assert (tmp_path / "host.pem").read_bytes() == before
    code, errors = certificates(tmp_path, "--name", "other")
    assert code == 1 and "ca.key: the authority has made other certificates, and without that file it makes no more" in errors


def test_AnAuthorityThatHasExpiredIsAnErrorWithARemedy(tmp_path):
    folder = tmp_path / "tls"
    assert certificates(folder)[0] == 0
    (tmp_path / "index.txt").touch()
    (tmp_path / "serial").write_text("01")
    (tmp_path / "ca.conf").write_text(f"""
[ca]
default_ca = own
[own]
database = {tmp_path}/index.txt
serial = {tmp_path}/serial
new_certs_dir = {tmp_path}
default_md = sha256
policy = any
[any]
commonName = supplied
""")
    for arguments in (["req", "-new", "-key", folder / "ca.key", "-subj", "/CN=headrace cluster", "-out", tmp_path / "csr"],
                      ["ca", "-batch", "-selfsign", "-config", tmp_path / "ca.conf", "-keyfile", folder / "ca.key", "-notext",
                       "-in", tmp_path / "csr", "-out", folder / "ca.pem", "-startdate", "20200101000000Z", "-enddate",
                       "20200102000000Z"]):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=60)
    for name in ("host", "other"):
        code, errors = certificates(folder, "--name", name)
        assert code == 1 and "is not valid any more: remove the directory and make all certificates anew" in errors


def test_WhatIsThereAndIsNotWhatIsWantedIsNamed(tmp_path):
    assert certificates(tmp_path / "a", "--hosts", "data-1")[0] == 0
    assert certificates(tmp_path / "b")[0] == 0
    for change, text in ((lambda: None, "is not for data-2"),
                         (lambda: (tmp_path / "b" / "ca.pem").rename(tmp_path / "a" / "ca.pem"), "is not of the authority beside it"),
                         (lambda: (tmp_path / "b" / "host.key").rename(tmp_path / "a" / "host.key"), "is no certificate with its key"),
                         (lambda: (tmp_path / "a" / "host.pem").unlink(), "host.key is there without")):
        change()
        code, errors = certificates(tmp_path / "a", "--hosts", "data-1,data-2")
        assert code == 1 and text in errors and "remove" in errors, errors


def verified(folder, *options, name="host"):
    done = subprocess.run(["openssl", "verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", folder / "ca.pem", *options, folder / f"{name}.pem"],
                          capture_output=True, text=True, timeout=60)
    return done.returncode == 0


def test_TheyAreForTheHostsThatAreGiven(tmp_path):
    assert certificates(tmp_path, "--hosts", "data-1,*.example.org,10.0.0.7,fd00::7")[0] == 0
    for option, right, wrong in (("-verify_hostname", ["data-1", "a.example.org"], ["host", "localhost", "data-2"]),
                                 ("-verify_ip", ["10.0.0.7", "fd00::7"], ["127.0.0.1"])):
        assert [verified(tmp_path, option, x) for x in right + wrong] == [True] * len(right) + [False] * len(wrong)


def test_WithoutHostsTheyAreForTheirNameAndThisHost(tmp_path):
    long = "x" * 60 + "." + "y" * 60
    assert certificates(tmp_path, "--name", long)[0] == 0
    for x in (long, "localhost", socket.gethostname()):
        assert verified(tmp_path, "-verify_hostname", x, name=long), x
    for x in ("127.0.0.1", "::1"):
        assert verified(tmp_path, "-verify_ip", x, name=long), x


#: A program that holds 80 connections to the port in its argument, and opens each of them again when it is closed.
COME_AGAIN = """
import contextlib, socket, sys, threading
def hold():
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as one:
            one.recv(1)
for _ in range(80):
    threading.Thread(target=hold, daemon=True).start()
print("begun", flush=True)
threading.Event().wait()
"""


@pytest.fixture
def secure_page(tmp_path):
    """The port of a page with TLS, and a function that reads a path of it as a client with a certificate."""
    assert certificates(tmp_path)[0] == 0
    names = {"tls_cert": "host.pem", "tls_key": "host.key", "tls_ca": "ca.pem"}
    options = [f"--{name.replace('_', '-')}={tmp_path / file}" for name, file in names.items()]
    context = ssl.create_default_context(cafile=tmp_path / "ca.pem")
    context.load_cert_chain(tmp_path / "host.pem", tmp_path / "host.key")
    with subprocess.Popen([COMMAND, "dispatcher", "--port=0", "--http-port=0", "--log-level=warn", *options], stdout=subprocess.PIPE, text=True) as server:
        server.stdout.readline()
        port = int(server.stdout.readline().rsplit(":", 1)[1].strip("/\n"))

        def read(path, host="127.0.0.1", **headers):
            connection = http.client.HTTPSConnection(host, port, context=context, timeout=60)
            connection.request("GET", path, headers=headers)
            return connection.getresponse().read()

        yield port, read
        server.terminate()


def test_ThePageIsReadByThoseWhoCompareNames(secure_page):
    _, read = secure_page
    assert [read("/live", host) for host in ("127.0.0.1", "localhost")] == [b"live\n"] * 2
    # With TLS the server also answers requests whose Host header has a name that was not configured, such as the name
    # of a Kubernetes service.
    assert read("/live", Host="headrace-dispatcher:5051") == b"live\n"


def test_ConnectionsThatPresentNoCertificateDoNotKeepOthersFromThePage(secure_page):
    port, read = secure_page
    with contextlib.ExitStack() as stack:
        for _ in range(200):
            stack.enter_context(socket.create_connection(("127.0.0.1", port)))
        assert [read("/live") for _ in range(15)] == [b"live\n"] * 15


def test_ConnectionsThatComeAgainAsSoonAsTheyAreClosedDoNotEither(secure_page):
    port, read = secure_page
    # The connections are in another process: 80 threads here would leave too little time for this process' handshakes.
    others = subprocess.Popen([sys.executable, "-c", COME_AGAIN, str(port)], stdout=subprocess.PIPE)
    try:
        others.stdout.readline()
        assert [read("/live") for _ in range(15)] == [b"live\n"] * 15
    finally:
        others.kill()
        others.communicate()


def test_NothingIsLeftOfThoseThatCannotBeWritten(tmp_path):
    def full():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    done = subprocess.run([COMMAND, "certificates", tmp_path / "tls"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, preexec_fn=full)
    assert done.returncode == 1 and "cannot write" in done.stderr and "File too large" in done.stderr
    assert list((tmp_path / "tls").iterdir()) == []
    assert certificates(tmp_path / "tls")[0] == 0


def test_WrongNamesAreRefused(tmp_path):
    for name in ("ca", "", "../x"):
        code, errors = certificates(tmp_path, "--name", name)
        assert code == 2 and "must be the name of a file" in errors
    code, errors = certificates(tmp_path, "--name", "x" * 300)
    assert code == 2 and "longer than 253 characters" in errors
    for host in ("a b", "a;DNS:b", "a/b", "-x:y"):
        code, errors = certificates(tmp_path, f"--hosts={host}")
        assert code == 2 and "neither the name of a host nor an IP address" in errors, errors
    assert list(tmp_path.iterdir()) == []


def test_AServiceTakesThem(tmp_path):
    assert certificates(tmp_path)[0] == 0
    files = {"tls_cert": str(tmp_path / "host.pem"), "tls_key": str(tmp_path / "host.key"), "tls_ca": str(tmp_path / "ca.pem")}
    session = hr.service.Session(**files)
    with hr.service.DispatchServer(hr.service.DispatcherConfig(**files)) as dispatcher:
        with hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target, **files)):
            ds = hr.Dataset.range(5).apply(hr.service.distribute("distributed_epoch", dispatcher.target, session=session))
            assert sorted(map(int, ds)) == [0, 1, 2, 3, 4]


def test_OtherSessionsOfTheProcessKeepTheirErrors(tmp_path):
    for name in ("its", "other"):
        assert certificates(tmp_path / name)[0] == 0
    its = {f"tls_{kind}": str(tmp_path / "its" / file) for kind, file in (("cert", "host.pem"), ("key", "host.key"), ("ca", "ca.pem"))}
    with hr.service.DispatchServer(hr.service.DispatcherConfig(**its)) as dispatcher:
        context = ssl.create_default_context(cafile=tmp_path / "other" / "ca.pem")
        with socket.create_connection(("127.0.0.1", int(dispatcher.target.rpartition(":")[2])), timeout=30) as plain:
            with pytest.raises(ssl.SSLCertVerificationError):
                context.wrap_socket(plain, server_hostname="127.0.0.1")


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
