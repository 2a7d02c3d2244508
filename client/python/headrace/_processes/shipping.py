"""Python functions as graphs contain them: a header that any process may read, and a pickle that only the processes in
which the function runs load.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

from .. import dtypes
from .._functions.ragged import RaggedTensorSpec
from ..errors import InvalidArgumentError

#: The name of all Python functions in graphs.
NAME = "python"
#: The version of the header. Functions with another version are refused.
_FORMAT = 1
#: The deepest nesting of a function's arguments and results.
_DEEPEST = 64
_LARGEST_EXTENT = (1 << 63) - 1


class Shipped(NamedTuple):
    """The description of a function, which can be read without running any of its code."""

    #: ``"function"`` or ``"generator"``.
    kind: str
    #: The specs of the function's argument and result: nested tuples and dicts of lists ``[dtype name, dims]``, where
    #: dims is None, or a list of ints and None. A ``RaggedTensorSpec`` has such lists as its parts.
    argument: Any
    declared: Any
    #: The function of this package to which the user passed the function: ``py_function``, ``numpy_function`` or
    #: ``from_generator``. The strings in arguments are plain ``bytes``, except that those of a ``py_function`` also
    #: compare equal to the ``str``.
    made_by: str
    #: The pickled function. Unpickling runs code.
    program: bytes


#: By kind, the valid values of ``made_by``. The header omits the first one.
_MAKERS = {"function": ("py_function", "numpy_function", "from_generator"), "generator": ("from_generator",)}


def pack(kind: str, made: Any, argument: Any, declared: Any, made_by: str = "py_function", *,
         without_iterators: bool = False) -> bytes:
    """The shipped form of ``made``, a ``"function"`` or ``"generator"``, with the specs of its argument and result.
    ``without_iterators``: see ``canonical.dumps``.

    Raises ``TypeError``, naming ``made_by``, if it cannot be pickled.
    """
    from . import canonical as _canonical

    header = {"format": _FORMAT, "kind": kind, "argument": _encoded(argument), "result": _encoded(declared)}
    if made_by != _MAKERS[kind][0]:
        header["by"] = made_by
    try:
        program = _canonical.dumps(made, without_iterators)
    except Exception as e:
        function = label_of(made[0] if kind == "generator" else made)
        raise TypeError(
            f"{made_by}: {function} cannot be sent to the process in which it runs, because of what it uses ({e}). Give the "
            "function that makes a generator, and not the generator; let the function itself open or make what exists "
            "in one process alone, such as a file, a lock or a connection") from e
    return json.dumps(header, separators=(",", ":")).encode() + b"\n" + program


def unpack(shipped: bytes) -> Shipped:
    """Reverses ``pack``, without running code of the function. Raises ``InvalidArgumentError`` for bytes that are
    damaged, crafted or of an unknown release.
    """
    head, line, program = shipped.partition(b"\n")
    try:
        header = json.loads(head)
        if not line or not isinstance(header, dict):
            raise ValueError("it has no header")
        if header.get("format") != _FORMAT:
            raise ValueError(f"its format is {header.get('format')!r:.40}; this release reads {_FORMAT}")
        kind = header.get("kind")
        if kind not in ("function", "generator"):
            raise ValueError(f"its kind is {kind!r:.40}; it must be function or generator")
        made_by = header.get("by", _MAKERS[kind][0])
        if made_by not in _MAKERS[kind]:
            raise ValueError(f"it is made by {made_by!r:.40}, which this release does not know")
        return Shipped(kind, _decoded(header.get("argument"), 0), _decoded(header.get("result"), 0), made_by, program)
    except (ValueError, TypeError, RecursionError) as e:
        raise InvalidArgumentError(f"a Python function of the graph cannot be read: {e}") from None


def label_of(f: Any) -> str:
    """The name of ``f`` in messages."""
    return str(getattr(f, "__qualname__", type(f).__qualname__))


def _encoded(spec: Any) -> list[Any]:
    if isinstance(spec, tuple):
        return ["tuple", *map(_encoded, spec)]
    if isinstance(spec, dict):
        return ["dict", *([name, _encoded(part)] for name, part in spec.items())]
    if hasattr(spec, "_ragged_parts"):
        return ["ragged", *map(_encoded, spec._ragged_parts)]
    dtype, dims = spec
    return ["tensor", dtype, dims]


def _decoded(given: Any, depth: int) -> Any:
    if not isinstance(given, list) or not given or depth > _DEEPEST:
        raise ValueError("it takes or gives what is no spec")
    what, *parts = given
    if what == "tensor" and len(parts) == 2:
        return _leaf(*parts)
    if what == "tuple":
        return tuple(_decoded(part, depth + 1) for part in parts)
    if what == "dict" and all(isinstance(part, list) and len(part) == 2 and isinstance(part[0], str) for part in parts):
        return {name: _decoded(part, depth + 1) for name, part in parts}
    if what == "ragged" and len(parts) >= 2:
        leaves = [_decoded(part, depth + 1) for part in parts]
        if all(isinstance(leaf, list) for leaf in leaves):
            return RaggedTensorSpec._of_parts(tuple(leaves))
    raise ValueError(f"it takes or gives {what!r:.40}, which this release does not know")


def _leaf(dtype: Any, dims: Any) -> list[Any]:
    if not isinstance(dtype, str):
        raise ValueError(f"its dtype is {dtype!r:.40}")
    known: Callable[[Any], bool] = lambda d: d is None or (type(d) is int and 0 <= d <= _LARGEST_EXTENT)
    if dims is not None and not (isinstance(dims, list) and all(map(known, dims))):
        raise ValueError(f"its dims are {dims!r:.40}")
    return [dtypes.as_dtype(dtype).name, dims]


def load(program: bytes) -> Any:
    """Unpickles the function itself. Only the processes of a pool may call this, because unpickling runs code."""
    return pickle.loads(program)
