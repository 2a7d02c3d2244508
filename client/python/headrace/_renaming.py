"""Errors of functions that are made of others name what the program called."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from .errors import OpError


@contextlib.contextmanager
def named(called: str, made_of: str) -> Iterator[None]:
    """An error of ``made_of`` within is one of ``called``.

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
