"""How this program authenticates itself to services."""

from __future__ import annotations

import os
import warnings
from typing import Any

from .. import _core


def _paths(tls_cert: Any, tls_key: Any, tls_ca: Any) -> list[str]:
    files = {"tls_cert": tls_cert, "tls_key": tls_key, "tls_ca": tls_ca}
    if all(value is None for value in files.values()):
        files = {name: os.environ.get(f"HEADRACE_{name.upper()}", "") for name in files}
        for name, value in files.items():
            if not value:
                raise ValueError(f"{name} must be given: the environment variable HEADRACE_{name.upper()} is not set")
    for name, value in files.items():
        if not hasattr(value, "__fspath__") and not isinstance(value, str):
            raise TypeError(f"{name} must be a path, not {type(value).__name__}: {value!r}")
        if not str(value):
            raise ValueError(f"{name} must not be empty")
    return [str(x) for x in files.values()]


class Session:
    """How this program connects to a service: with mutual TLS and the certificate of this session. A session is passed
    to the functions that use the service (``session=``), so that one program can read several services, each with a
    certificate of its own. Objects that were made with a session keep it; a pickled dataset does not contain it.

    tls_cert, tls_key, tls_ca: PEM files: this program's certificate, its key, and the authorities that it trusts. If
    none of them is given, the environment variables HEADRACE_TLS_CERT, HEADRACE_TLS_KEY and HEADRACE_TLS_CA, which
    ``headrace run`` sets, have the paths.

    Raises ``TypeError`` and ``ValueError`` naming the argument, and ``InvalidArgumentError`` or ``NotFoundError`` for files
    that cannot be used.

    >>> import headrace as hr
    >>> try:
    ...     hr.service.Session("trainer.pem", "trainer.key", "")
    ... except ValueError as e:
    ...     print(e)
    tls_ca must not be empty
    """

    def __init__(self, tls_cert: Any = None, tls_key: Any = None, tls_ca: Any = None) -> None:
        self._session = _core.Session(*_paths(tls_cert, tls_key, tls_ca))

    def __reduce__(self) -> Any:
        raise TypeError("a Session cannot be pickled: make one in the process that uses it")


def inner(session: Any) -> _core.Session | None:
    """The engine's object for the argument ``session``, a ``Session`` or None."""
    if session is None:
        return None
    if not isinstance(session, Session):
        raise TypeError(f"session must be a Session, not {type(session).__name__}: {session!r}")
    return session._session


#: The ``secure`` objects that were not closed. This set keeps them alive if the program keeps no reference to them.
_open: set[secure] = set()


class secure:
    """From here on this program connects to services with mutual TLS, until ``close()`` or the end of ``with``, even if
    no reference to the object is kept. Iterations that run when the object is closed continue with TLS. ``close()``
    warns if the certificate was never used for a request.

    tls_cert, tls_key, tls_ca: PEM files, or if none is given, the files of the environment, as in ``Session``. They
    are used for all requests of the program without a ``Session``: ``distribute``, ``register_dataset``, ``status``.
    The servers in this program use the certificates of their configs, also for requests about themselves. ``secure``
    must be called before anything else uses a service, and closed after the last use. Processes that read for this
    one (DataLoader workers) must call ``secure`` themselves.

    Raises ``TypeError`` and ``ValueError`` naming the argument, and ``FailedPreconditionError`` if the program is
    already connected without TLS or with other certificates.

    >>> import headrace as hr
    >>> try:
    ...     hr.service.secure("trainer.pem", "trainer.key", "")
    ... except ValueError as e:
    ...     print(e)
    tls_ca must not be empty
    """

    def __init__(self, tls_cert: Any = None, tls_key: Any = None, tls_ca: Any = None) -> None:
        self._session = _core.SecureSession(*_paths(tls_cert, tls_key, tls_ca))
        _open.add(self)

    def close(self) -> None:
        """Ends the use of TLS: later connections are plain again, as soon as no object uses a connection with TLS."""
        self._end()

    def _end(self) -> None:
        _open.discard(self)
        if not self._session.used():
            warnings.warn("secure: nothing was asked of a service before this session was closed; later connections are "
                          "plain", stacklevel=3)
        self._session.stop()

    def __enter__(self) -> secure:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
