"""Finds the texts that ``str`` and f-strings make of a tensor. Such a text describes the tensor, for messages; using
it as data is an error.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

import numpy as np

from .._refusals import refuse

#: The beginning of each text that describes a tensor. It is in lower case, and texts are converted to lower case
#: before they are searched for it, because the user's function may have changed the case of the text.
BEGINNING = "<headrace.tensor shape="


class _OfThread(threading.local):
    functions = 0


_of_thread = _OfThread()


@contextlib.contextmanager
def in_function() -> Iterator[None]:
    """Records, for the body of a ``with``, that a function is traced on this thread."""
    _of_thread.functions += 1
    try:
        yield
    finally:
        _of_thread.functions -= 1


def is_in_function() -> bool:
    """True if a function is traced on this thread."""
    return _of_thread.functions > 0


def _describes(value: Any) -> bool:
    if isinstance(value, bytes):
        return BEGINNING.encode() in value.lower()
    return isinstance(value, str) and BEGINNING in value.lower()


def _anywhere(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_anywhere(part) for part in value)
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "OSU" and any(_describes(part) for part in value.flat)
    return _describes(value)


def _refuse() -> NoReturn:
    refuse("a tensor's value is needed as a Python str", "Use headrace.strings.as_string and headrace.strings.join")


def refuse_text(value: Any) -> None:
    """Raises ``OperatorNotAllowedInGraphError`` for a str or bytes with the description of a tensor in it."""
    if _describes(value):
        _refuse()


def refuse_texts(value: Any) -> None:
    """Does the same as ``refuse_text``, and while a function is traced also for each text in a list, a tuple or an
    array.

    While no function is traced, lists and arrays are not searched: they may be large, and the mistake is rare, because
    a program outside of traced functions can use the values of most tensors (``numpy()``).
    """
    if _anywhere(value) if _of_thread.functions else _describes(value):
        _refuse()


def refuse_in_result(value: Any) -> None:
    """Does the same as ``refuse_text`` for all texts in the result of a function: in nested tuples, lists and dicts,
    including the keys.
    """
    if isinstance(value, (list, tuple)):
        for part in value:
            refuse_in_result(part)
    elif isinstance(value, Mapping):
        for key, part in value.items():
            refuse_text(key)
            refuse_in_result(part)
    elif _anywhere(value):
        _refuse()
