"""Errors for operations that a traced function cannot do with a tensor."""

from __future__ import annotations

import linecache
import operator
import os
import sys
import sysconfig
from types import FrameType
from typing import Any, NoReturn

import numpy as np

from . import _core
from .errors import OperatorNotAllowedInGraphError, OpError

#: The file of the functions that traced functions call in place of Python's ``len``, ``int`` and others. They may call
#: Python's own function. If that function fails, its error is treated as if the user's function had called it.
_FOR_PYTHONS = os.path.join("_control_flow", "python_functions.py")
_OURS = (os.path.dirname(__file__), os.path.dirname(np.__file__), "<frozen ")
_STANDARD = tuple(sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib"))


class NoSuchAttributeError(OperatorNotAllowedInGraphError, AttributeError):
    """A traced function used an attribute of a tensor that only values have."""


def is_users(file: str) -> bool:
    """True for a file that belongs neither to this package, nor to numpy, nor to Python itself."""
    if file.startswith(_OURS):
        return False
    return not file.startswith(_STANDARD) or "site-packages" in file or "dist-packages" in file


def _place(frame: FrameType, line: int) -> str:
    file = frame.f_code.co_filename
    text = linecache.getline(file, line).strip()
    return f"{file}:{line}: `{text}`" if text else f"{file}:{line}"


def users_line() -> str:
    """The text ``file:line: `text` `` of the innermost caller outside of this package, numpy and Python's own modules.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and not is_users(frame.f_code.co_filename):
        frame = frame.f_back
    return _place(frame, frame.f_lineno)


def _is_tracing() -> bool:
    from ._tracing.tracing import is_tracing

    return is_tracing()


def _text(where: str, what: str, instead: str) -> str:
    if not _is_tracing():
        return (f"{where}: {what}. Outside of functions that are given to a dataset, a tensor has a value if nothing is drawn "
                "or read from a file for it; for anything else use numpy and Python")
    return (f"{where}: {what}. A function given to a dataset is called once, with tensors that stand for all elements. "
            f"{instead}, or give headrace.py_function(f, Tout), which runs Python for each element")


def refuse(what: str, instead: str, kind: type[OperatorNotAllowedInGraphError] = OperatorNotAllowedInGraphError
           ) -> NoReturn:
    """Raises the error for an operation that a traced function cannot do, with the place in its source."""
    raise kind(_text(users_line(), what, instead))


def explained(error: Exception) -> Exception | None:
    """The error about a tensor that explains an exception of a traced function. None if the exception has another
    cause.
    """
    text, at, where, innermost = str(error), error.__traceback__, None, ""
    while at is not None:
        file = at.tb_frame.f_code.co_filename
        innermost = innermost if file.endswith(_FOR_PYTHONS) else file
        if is_users(file):
            where = _place(at.tb_frame, at.tb_lineno)
        at = at.tb_next
    about = isinstance(error, TypeError) and not isinstance(error, OpError) and "Tensor" in text or "<headrace.Tensor shape=" in text
    if where is None or not about or isinstance(error, OperatorNotAllowedInGraphError) or innermost.startswith(_OURS[0]):
        return None
    what = f"a tensor stands here where Python needs a value ({type(error).__name__}: {text})"
    return OperatorNotAllowedInGraphError(_text(where, what, "Use the functions of headrace"))


def value_outside(x: _core.Tensor) -> Any:
    """The value of a tensor. None if a function is being traced, or if the tensor has no value."""
    return next(_core.from_tensors(x).read()) if not _is_tracing() and _core.is_static(x) else None


def _known(python_s: Any, otherwise: Any) -> Any:
    """A method of tensors: it calls ``python_s`` with ``value_outside``, or ``otherwise`` if that is None."""
    def method(self: _core.Tensor, *arguments: Any, **given: Any) -> Any:
        value = value_outside(self)
        return otherwise(self, *arguments) if value is None else python_s(value, *arguments, **given)
    return method


def _refusing(what: str, instead: str, kind: type[OperatorNotAllowedInGraphError] = OperatorNotAllowedInGraphError
              ) -> Any:
    def method(self: _core.Tensor, *_: Any) -> NoReturn:
        refuse(what, instead, kind)
    return method


def _number(kind: Any, name: str = "") -> Any:
    return _known(kind, _refusing(f"a tensor's value is needed as a Python {name or kind.__name__}",
                                  "Use headrace.cast and the functions of headrace.math"))


def _rounded(how: str) -> Any:
    return _refusing("a tensor's value is needed to round it", f"Use headrace.math.{how}", NoSuchAttributeError)


def _getattr(self: _core.Tensor, name: str) -> NoReturn:
    if name.startswith("_"):  # used by tools that inspect objects
        raise AttributeError(f"'Tensor' object has no attribute '{name}'")
    refuse(f"a tensor has no attribute '{name}': it is no value of numpy or Python", "Use the functions of headrace",
           NoSuchAttributeError)


def slice_step(step: _core.Tensor) -> int:
    """Called by the extension: the step of a slice, which is a tensor."""
    if _core.is_static(step):
        return int(next(_core.from_tensors(step).read()))
    refuse("a slice's step is the same for all elements", "Use headrace.gather with headrace.range")


_array = _refusing("a tensor's value is needed as a numpy array", "Use the functions of headrace")


def _as_array(value: Any, dtype: Any = None, copy: bool | None = None) -> Any:
    array = np.asarray(value, np.object_ if isinstance(value, bytes) else None)
    return array if dtype is None else array.astype(dtype)

#: Methods of tensors that raise an error if the tensor has no value. Some of them always raise an error.
METHODS: dict[str, Any] = {
    "__bool__": _known(bool, _refusing(
        "Python needs to know here whether a tensor is true (if, while, and, or, not, in, a chained comparison)",
        "Use headrace.where, headrace.cond, & | ~")),
    "__hash__": _refusing("Python needs to know here which value a tensor has, to find it in a dict or a set",
                          "Use headrace.lookup.StaticHashTable, headrace.gather, headrace.where"),
    "__contains__": _refusing("Python needs to know here whether a tensor has this value",
                              "Use headrace.reduce_any(x == value)"),
    "__float__": _number(float),
    "__int__": _number(int),
    "__index__": _number(operator.index, "index"),
    "__complex__": _number(complex),
    "__bytes__": _refusing("a tensor's value is needed as Python bytes", "Use headrace.strings"),
    "__round__": _rounded("round"),
    "__trunc__": _rounded("floor"),
    "__floor__": _rounded("floor"),
    "__ceil__": _rounded("ceil"),
    "__array__": _known(_as_array, _array),
    "numpy": _known(lambda value: value, _array),
    "__getattr__": _getattr,
}
