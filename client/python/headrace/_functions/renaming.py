"""Lets errors of functions that are composed of others name the function that the program called."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ..errors import OpError


@contextlib.contextmanager
def named(called: str, made_of: str) -> Iterator[None]:
    """In errors that are raised in the body of the ``with``, replaces the name ``made_of`` at the beginning of the
    message by ``called``.

    >>> with named("reduce", "scan"):
    ...     raise hr.errors.NotFoundError("scan: it is not there")
    Traceback (most recent call last):
    headrace.errors.NotFoundError: reduce: it is not there
    """
    try:
        yield
    except OpError as e:
        if not e.message.startswith(made_of + ": "):
            raise
        raise type(e)(called + e.message[len(made_of):]) from None
