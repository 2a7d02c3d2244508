"""Certificates of one service, made by the program that starts it."""

from __future__ import annotations

import os
import pathlib
import subprocess
import tempfile
import weakref
from typing import NamedTuple

from ..errors import FailedPreconditionError
from .program import command


class Certificates(NamedTuple):
    """A certificate, its key and the authority, as PEM texts. Their holder may use the service."""

    cert: bytes
    key: bytes
    ca: bytes


def make_certificates(days: int = 365) -> Certificates:
    """Certificates of a new authority, whose key is not kept."""
    with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
        done = subprocess.run([command(), "certificates", folder, "--days", str(days)], capture_output=True, text=True)
        if done.returncode != 0:
            raise FailedPreconditionError(done.stderr.strip())
        read = pathlib.Path(folder)
        return Certificates(*(read.joinpath(name).read_bytes() for name in ("host.pem", "host.key", "ca.pem")))


def _close(descriptors: list[int]) -> None:
    for one in descriptors:
        os.close(one)


class CertificateFiles:
    """Certificates as files in memory, which disappear with this process: nothing is written to a disk. Children of
    this process can read them by these paths as long as it lives.
    """

    def __init__(self, certificates: Certificates) -> None:
        descriptors = []
        for name, text in zip(("cert", "key", "ca"), certificates):
            one = os.memfd_create(f"headrace-{name}", os.MFD_CLOEXEC)
            os.fchmod(one, 0o600)
            os.write(one, text)
            descriptors.append(one)
        self.cert, self.key, self.ca = (f"/proc/{os.getpid()}/fd/{one}" for one in descriptors)
        self._close = weakref.finalize(self, _close, descriptors)

    def close(self) -> None:
        """Closes the files. The paths cannot be used afterwards."""
        self._close()
