"""Decides which Python functions a worker runs: only functions for which a process of the worker's user vouches.

A process that passes a dataset to a service creates a file for each Python function in the dataset. The file is named
by the function's SHA-256, and is in a folder that only the user of the process can write to. A worker of this user
runs the functions that have such a file. So a stranger who reaches the dispatcher's port cannot run code in the
worker, and graphs do not depend on the user who made them.
"""

from __future__ import annotations

import hashlib
import os
import pwd
import stat
import time
from collections.abc import Iterable

from ..errors import PermissionDeniedError

#: The environment variable that names the folder of the files; if it is not set, there is a default folder.
VARIABLE = "HEADRACE_PYTHON_FUNCTIONS"
#: If there are ``_MANY`` files or more, those that were not used for ``_OLD`` seconds are removed.
_MANY = 1000
_OLD = 30 * 24 * 3600.0


def folder() -> str:
    """The folder of the files, which is the same for all programs of a user, whatever their home is set to."""
    return os.environ.get(VARIABLE) or os.path.join(_home(), ".headrace", "python-functions")


def _home() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        return os.path.expanduser("~")


def _file_of(program: bytes) -> str:
    return hashlib.sha256(program).hexdigest()


def vouch(programs: Iterable[bytes]) -> None:
    """Permits workers of this user to run these functions, which are results of ``shipping.pack``. The workers must be
    able to read the folder.
    """
    files = {_file_of(program) for program in programs}
    if not files:
        return
    where = folder()
    try:
        os.makedirs(where, mode=0o700, exist_ok=True)
        for file in files:
            _touch(os.path.join(where, file))
        _forget_old(where)
    except OSError:
        # The error is ignored: the workers may not use this folder, and a worker that does reports the missing file.
        pass


def _touch(path: str) -> None:
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
    except FileExistsError:
        os.utime(path)


def _forget_old(where: str) -> None:
    with os.scandir(where) as entries:
        all_files = [entry.path for entry in entries]
    if len(all_files) < _MANY:
        return
    now = time.time()
    for path in all_files:
        try:
            if now - os.lstat(path).st_mtime > _OLD:
                os.unlink(path)
        except OSError:
            pass  # another process has removed the file


def check(label: str, program: bytes) -> None:
    """Raises ``PermissionDeniedError`` for a function that no process of this user vouches for."""
    why = _why_not(_file_of(program))
    if why is None:
        return
    raise PermissionDeniedError(
        f"the Python function '{label:.200}' is refused: {why}. A worker without TLS runs the functions of its own "
        f"user's programs on its host, which leave a file in that folder ({VARIABLE} names another one). One that is "
        "started with --python-from-anyone, or WorkerConfig(python_from_anyone=True), runs those of everybody who reaches "
        "the dispatcher; with TLS, the certificate is the permission")


def _why_not(file: str) -> str | None:
    where = folder()
    try:
        opened = os.open(where, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as e:
        return f"the folder {where} cannot be read ({e.strerror})"
    try:
        about = os.fstat(opened)
        if about.st_uid != os.geteuid():
            return f"the folder {where} is of the user with the id {about.st_uid}, and this worker runs as {os.geteuid()}"
        if about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return f"others than the user with the id {os.geteuid()} can write to the folder {where}"
        found = os.stat(file, dir_fd=opened, follow_symlinks=False)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            return f"{os.path.join(where, file)} is not a file of the user with the id {os.geteuid()}"
        os.utime(file, dir_fd=opened, follow_symlinks=False)
    except FileNotFoundError:
        return f"there is no file {file} in {where}"
    except OSError as e:
        return f"the file {os.path.join(where, file)} cannot be read ({e.strerror})"
    finally:
        os.close(opened)
    return None
