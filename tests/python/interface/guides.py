"""Runs the programs of examples/guides with TensorFlow or with headrace, and compares their results.

A program has a function ``datasets(data, folder)``, whose arguments are the folder of real data and an empty folder,
and which returns results by name: datasets, or lists of numbers. It may name results whose order is random
(``UNORDERED``), and a tolerance for each value of a result (``TOLERANCE``); all others must be equal bit for bit.
"""

from __future__ import annotations

import hashlib
import pathlib
import re
import sys
import types
from typing import Any, NamedTuple

import numpy as np

ROOT = pathlib.Path(__file__).parents[3]
DATA = ROOT / "examples" / "data"
PROGRAMS = sorted(path.stem for path in (ROOT / "examples" / "guides").glob("*.py"))
STORED = pathlib.Path(__file__).with_name("guide_results.json")
IMPORT = "import tensorflow as tf"


class Leaf(NamedTuple):
    """A tensor of an element, with its path in the element."""

    path: str
    value: np.ndarray

    def encoded(self) -> bytes:
        """Bytes that are equal for two leaves if and only if path, dtype, shape and all bits are equal."""
        strings = self.value.dtype.kind in "OSU"
        head = f"{self.path} {'string' if strings else self.value.dtype.name} {self.value.shape} "
        if not strings:
            return head.encode() + np.ascontiguousarray(self.value).tobytes()
        return head.encode() + b"".join(b"%d:%s" % (len(text), text) for text in self.value.ravel().tolist())


Element = list[Leaf]


def load(name: str, library: str) -> types.ModuleType:
    """Loads a program, with that library in place of TensorFlow."""
    path = ROOT / "examples" / "guides" / f"{name}.py"
    text = path.read_text()
    if text.count(IMPORT) != 1 or len(re.findall("tensorflow", text)) != 1:
        raise ValueError(f"{path} must name tensorflow once, in `{IMPORT}`")
    module = types.ModuleType(f"{name}_with_{library}")
    module.__file__ = str(path)
    if library == "tensorflow":
        sys.modules[module.__name__] = module  # TensorFlow looks the module up here in order to rewrite functions
    exec(compile(text.replace(IMPORT, f"import {library} as tf"), str(path), "exec"), module.__dict__)
    return module


def leaves(value: Any, path: str = "") -> Element:
    """The tensors of an element. A ragged tensor becomes its values, and the lengths of its rows."""
    if isinstance(value, (tuple, list)):
        return [leaf for i, part in enumerate(value) for leaf in leaves(part, f"{path}/{i}")]
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in leaves(value[key], f"{path}/{key}")]
    if hasattr(value, "flat_values"):
        return [*leaves(value.flat_values, f"{path}/values"),
                *(Leaf(f"{path}/rows", np.asarray(x, np.int64)) for x in value.nested_row_lengths())]
    if hasattr(value, "numpy"):
        return leaves(value.numpy(), path)
    if isinstance(value, (bytes, str)):
        out = np.empty((), object)
        out[()] = value if isinstance(value, bytes) else value.encode()
        return [Leaf(path, out)]
    return [Leaf(path, np.asarray(value))]


def read(result: Any) -> list[Element]:
    """All elements of a dataset, or all values of a list."""
    return [leaves(element) for element in result]


def run(name: str, library: str, folder: pathlib.Path) -> dict[str, list[Element]]:
    """The results of a program, by name."""
    return {key: read(result) for key, result in load(name, library).datasets(DATA, folder).items()}


def _sorted(elements: list[Element]) -> list[Element]:
    return sorted(elements, key=lambda element: b"".join(leaf.encoded() for leaf in element))


def _apart(one: Leaf, other: Leaf, tolerance: float) -> str:
    if one.path != other.path or one.value.shape != other.value.shape or \
            (one.value.dtype != other.value.dtype and not {one.value.dtype.kind, other.value.dtype.kind} <= set("OSU")):
        return f"{one.path or 'it'} is {one.value.dtype} {one.value.shape}; {other.path or 'the other'} is " \
               f"{other.value.dtype} {other.value.shape}"
    if one.encoded() == other.encoded():
        return ""
    if tolerance and one.value.dtype.kind == "f":
        most = float(np.max(np.abs(one.value.astype(np.float64) - other.value.astype(np.float64))))
        return "" if most <= tolerance else f"{one.path or 'it'} differs by {most}, more than {tolerance}"
    return f"{one.path or 'it'} is {one.value.ravel()[:8].tolist()}...; the other {other.value.ravel()[:8].tolist()}..."


def difference(one: list[Element], other: list[Element], unordered: bool = False, tolerance: float = 0) -> str:
    """Where two results differ; empty if they do not."""
    if len(one) != len(other):
        return f"{len(one)} elements, and {len(other)}"
    if unordered:
        one, other = _sorted(one), _sorted(other)
    for i, (a, b) in enumerate(zip(one, other)):
        if len(a) != len(b):
            return f"element {i} has {len(a)} tensors, and {len(b)}"
        for x, y in zip(a, b):
            if found := _apart(x, y, tolerance):
                return f"element {i}: {found}"
    return ""


def summary(elements: list[Element], unordered: bool = False, tolerance: float = 0) -> dict[str, Any]:
    """The stored form of a result: a digest of all bits. If there is a tolerance, the values of floats are not in the
    digest: their mean, deviation, first and last value are stored instead.
    """
    if unordered:
        elements = _sorted(elements)
    digest, floats = hashlib.sha256(), []
    for element in elements:
        for leaf in element:
            if tolerance and leaf.value.dtype.kind == "f":
                digest.update(f"{leaf.path} {leaf.value.dtype.name} {leaf.value.shape} ".encode())
                value = leaf.value.astype(np.float64).ravel()
                floats.append([round(float(x), 8) for x in (value.mean(), value.std(), value[0], value[-1])])
            else:
                digest.update(leaf.encoded())
    return {"elements": len(elements), "sha256": digest.hexdigest(), **({"floats": floats} if floats else {})}


def summaries_differ(one: dict[str, Any], other: dict[str, Any], tolerance: float = 0) -> str:
    """Where two summaries differ; empty if they do not."""
    for key in ("elements", "sha256"):
        if one[key] != other[key]:
            return f"{key}: {one[key]}, and {other[key]}"
    a, b = np.array(one.get("floats", [])), np.array(other.get("floats", []))
    if a.shape != b.shape or a.size and np.max(np.abs(a - b)) > tolerance + 1e-8:
        return f"floats differ by more than {tolerance}"
    return ""
