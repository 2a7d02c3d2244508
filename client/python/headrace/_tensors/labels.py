"""The classes of tuples and dicts in elements: named tuples, OrderedDict and the like.

A graph contains tuples and names, and no classes. A class other than ``tuple`` and ``dict`` is recorded in the graph as
a label, which is a text; the class itself stays in its process. Another process makes a named tuple class of the name
and fields in the label.
"""

from __future__ import annotations

import builtins
from collections import OrderedDict, defaultdict, namedtuple
from collections.abc import Callable, Iterable
from typing import Any

#: By label, the function that converts a plain tuple or dict to the class with this label, or, if several classes have
#: the label, to the newest of these.
_makers: dict[str, Callable[[Any], Any]] = {}


def is_named(value: Any) -> bool:
    """True for a named tuple."""
    return isinstance(value, tuple) and hasattr(value, "_fields")


def rebuilt(value: Any, parts: Iterable[Any]) -> Any:
    """A tuple or dict as ``value``, with these parts in place of its own; a plain dict for any other mapping."""
    if isinstance(value, dict):
        made = zip(value, parts)
        return defaultdict(value.default_factory, made) if isinstance(value, defaultdict) else type(value)(made)
    if not isinstance(value, tuple):
        return dict(zip(value, parts))
    return type(value)(*parts) if is_named(value) else tuple(parts)


def with_parts(f: Callable[[Any], Any], value: Any) -> Any:
    """A tuple or dict as ``value``, with ``f`` of each of its parts; a plain dict for any other mapping."""
    return rebuilt(value, [f(part) for part in (value if isinstance(value, tuple) else value.values())])


def label_of(value: Any) -> str:
    """The label of a tuple or dict; empty for a plain tuple, and for a plain dict unless its keys are ints."""
    kind = type(value)
    name = f"{kind.__module__}.{kind.__qualname__}"
    if isinstance(value, tuple):
        if not is_named(value):
            return ""
        label = f"tuple {name} {' '.join(getattr(value, '_fields'))}"
        _makers[label] = lambda plain: kind(*plain)
        return label
    numbered = bool(value) and all(isinstance(key, int) and not isinstance(key, bool) for key in value)
    if kind is dict and not numbered:
        return ""
    label = f"dict {name} {'int' if numbered else 'str'}"
    make: Callable[[Any], Any] = kind
    if isinstance(value, defaultdict):
        factory = value.default_factory
        label += f" {getattr(factory, '__module__', '')}.{getattr(factory, '__qualname__', repr(factory))}"
        make = lambda plain: defaultdict(factory, plain)  # noqa: E731
    _makers[label] = (lambda plain: make({int(key): part for key, part in plain.items()})) if numbered else make
    return label


def maker(label: str) -> Callable[[Any], Any]:
    """The function that converts a plain tuple or dict to the class with this label."""
    found = _makers.get(label)
    if found is None:
        found = _makers[label] = _of_elsewhere(label.split(" "))
    return found


def _of_elsewhere(words: list[str]) -> Callable[[Any], Any]:
    """The maker for a label of another process. No module is imported: a label may come from anybody."""
    if len(words) < (2 if words[0] == "tuple" else 3):
        return lambda plain: plain
    kind, name, *rest = words
    if kind == "tuple":
        try:
            made: Any = namedtuple(name.rpartition(".")[2], rest)  # type: ignore[misc]
        except ValueError:
            return lambda plain: plain
        return lambda plain: made(*plain)
    make: Callable[[Any], Any] = dict
    if name == "collections.OrderedDict":
        make = OrderedDict
    elif name == "collections.defaultdict":
        factory = getattr(builtins, rest[-1].rpartition(".")[2], None)
        make = lambda plain: defaultdict(factory if factory in (bool, bytes, dict, float, int, list, set, str, tuple)  # noqa: E731
                                         else None, plain)
    return (lambda plain: make({int(key): part for key, part in plain.items()})) if rest[0] == "int" else make
