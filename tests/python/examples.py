"""Runs the examples in docstrings, and lists the names that have none."""

from __future__ import annotations

import doctest
import inspect
import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np

import headrace as hr
from headrace import _core


def run(module: Any, folder: pathlib.Path) -> int:
    """Runs the examples of a module, with the names that every example may use. Returns the number of failures."""
    beside = {"hr": hr, "np": np, "Dataset": hr.Dataset, "TensorSpec": hr.TensorSpec, "folder": str(folder),
              "images": hr.Dataset.from_tensors(np.arange(12, dtype=np.uint8).reshape(2, 2, 3))}
    for name in getattr(module, "__all__", ()):  # some attributes are made when they are first read
        getattr(module, name)
    if module is not _core:
        return doctest.testmod(module, extraglobs=beside).failed
    runner = doctest.DocTestRunner()
    for name, thing in public(module):
        for parsed in doctest.DocTestFinder(recurse=False).find(thing, name, module, globs=dict(beside)):
            runner.run(parsed)
    return runner.summarize().failed


def _members(cls: type) -> Iterator[tuple[str, Any]]:
    """The documented members of a class by `Class.name`, where `Class` defines the member."""
    for base in cls.__mro__:
        if base.__module__.startswith("headrace"):
            for name, member in vars(base).items():
                if not name.startswith("_") and _is_documented_kind(member):
                    yield f"{base.__name__}.{name}", member


def _is_documented_kind(member: Any) -> bool:
    return inspect.isfunction(member) or isinstance(member, (staticmethod, classmethod, property)) \
        or type(member).__name__ == "nb_method"


def public(module: Any) -> Iterator[tuple[str, Any]]:
    """The functions, classes, methods and properties that a user reaches by this module, by their names."""
    if module is _core:
        for cls in (hr.Tensor, hr.data.Iterator):
            yield cls.__name__, cls
            yield from _members(cls)
        return
    names = getattr(module, "__all__", None) or [name for name, thing in vars(module).items() if not name.startswith("_")
                                                 and getattr(thing, "__module__", "") == module.__name__]
    for name in names:
        thing = getattr(module, name)
        if not getattr(thing, "__module__", "").startswith("headrace"):
            continue
        if inspect.isfunction(thing):
            yield name, thing
        elif inspect.isclass(thing) and thing.__module__ != _core.__name__:
            yield name, thing
            yield from _members(thing)


def without(module: Any) -> list[str]:
    """The public names of a module that have no example."""
    return [name for name, thing in public(module) if ">>> " not in (thing.__doc__ or "")]
