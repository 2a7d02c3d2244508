"""The tables of documented names, arguments and rules (``documented``) are correct, and contain all public names."""

from __future__ import annotations

import inspect
import pathlib
import re
import types
import warnings
from typing import Any

import numpy as np
import pytest

import documented
import headrace as hr
from documented import Row
from headrace._missing import MissingNameError
from headrace._options import _Group
from headrace._specs import map_structure

ROOT = pathlib.Path(__file__).parents[3]
ROWS = documented.rows()
#: The rows about names, by name. ARGUMENTS has the rows about single arguments.
NAMES = {row.name: row for row in ROWS if not row.rule and not row.argument}
ARGUMENTS = {(row.name, row.argument): row for row in ROWS if row.argument and not row.rule}

class Wrong(AssertionError):
    """A row is not correct."""


def options(group: Any) -> set[str]:
    """The names of the options in a class of options; empty if `group` is no such class."""
    return {*group._fields, *group._names} if isinstance(group, type) and issubclass(group, _Group) else set()


def found(name: str) -> Any:
    """The object of this package for a documented name. Raises ``AttributeError``."""
    at: Any = hr
    for part in name.split(".")[1:]:
        at = getattr(at() if part in options(at) else at, part)
    return at


def arguments(f: Any) -> dict[str, inspect.Parameter]:
    """The parameters of a function by name, in their order."""
    return {name: p for name, p in inspect.signature(f).parameters.items()
            if name not in ("self", "cls") and p.kind is not p.VAR_KEYWORD}


def facts(text: str) -> tuple[dict[str, inspect.Parameter], bool]:
    """Returns the parameters that the text of a row lists, and True if TensorFlow has further ones (``...``)."""
    parts = text.split(", ")
    more = parts[-1] == "..."
    wanted = ", ".join(parts[:-1] if more else parts)
    return arguments(eval(f"lambda {wanted}: None", {"tf": hr})), more


def signed(thing: Any) -> Any:
    """The object whose signature is compared. For a bound method it is the method's function."""
    return thing.__func__ if isinstance(thing, types.MethodType) else thing


def compare(row: Row, thing: Any) -> None:
    """Raises ``Wrong`` if the arguments of ``thing`` differ from those in the row, unless a row about that single
    argument states the difference."""
    if row.arguments is None:
        return
    wanted, more = facts(row.arguments)
    try:
        here = arguments(signed(thing))
    except (TypeError, ValueError):  # a function of the extension, which has no signature
        assert callable(thing), f"{row.place}: {row.name} is not called"
        return
    order = [name for name, p in here.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL)]
    at = 0
    for name, p in wanted.items():
        about = ARGUMENTS.get((row.name, name))
        if about is not None and about.mark == "refused":
            at += name in here
            continue
        if name not in here:
            raise Wrong(f"{row.place}: {row.name} has no argument {name}. If this is meant, add a row "
                        f"`refused  {row.name}({name}=)`, with a line below it that uses it")
        if p.kind is not p.KEYWORD_ONLY:
            if order[at:at + 1] != [name]:
                raise Wrong(f"{row.place}: the arguments of {row.name} stand in another order: {order}")
            at += 1
        if here[name].default != p.default and (about is None or about.mark != "differs"):
            raise Wrong(f"{row.place}: {name} of {row.name} is by default {here[name].default!r}. If this is meant, "
                        f"add a row `differs  {row.name}({name}=)`, and name both in a row of docs/migrating.md")
    for name, p in here.items():
        if name not in wanted and not more and p.kind is not p.VAR_POSITIONAL and (row.name, name) not in ARGUMENTS:
            raise Wrong(f"{row.place}: {row.name} has an argument {name} that is in no table: add it to this row if "
                        f"TensorFlow has it, or else a row `ours     {row.name}({name}=)`")


def migrating() -> list[str]:
    """The rows of the tables of docs/migrating.md."""
    return [line for line in (ROOT / "docs" / "migrating.md").read_text().splitlines() if line.startswith("|")]


def is_named(words: list[str], text: list[str]) -> bool:
    """True if one line of `text` has all these words in parts that are marked as code, by backquotes."""
    return any(all(any(re.search(rf"\b{re.escape(word)}\b", code) for code in re.findall(r"`[^`]+`", line))
                   for word in words) for line in text)


def check_migrating(row: Row, text: list[str]) -> None:
    """Raises ``Wrong`` if docs/migrating.md does not name the difference."""
    words = [row.name.split(".")[-1], *([row.argument] if row.argument else [])]
    if not is_named(words, text):
        raise Wrong(f"{row.change('works')}, or add a row to docs/migrating.md with {' and '.join(f'`{w}`' for w in words)}")


def numbers(count: int) -> hr.Dataset:
    """For programs in the tables: the numbers below ``count``."""
    return hr.Dataset.range(count)


def of(dataset: Any) -> list[Any]:
    """For programs in the tables: the elements as Python's values."""
    return [map_structure(lambda x: x.tolist() if hasattr(x, "tolist") else x, element) for element in dataset]


def options_with(**given: Any) -> hr.Options:
    """For programs in the tables: options, by dotted names."""
    return hr.Options._of(given)


def warns(what: Any) -> bool:
    """For programs in the tables: True if the call warns."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        what()
    return bool(caught)


def raises(kind: Any, what: Any) -> bool:
    """For programs in the tables: True if the call raises an error of this class."""
    try:
        what()
    except kind:
        return True
    return False


def known_tests() -> set[str]:
    """The names of all tests, in the form in which tables name them."""
    out = set()
    for file in (ROOT / "tests" / "python").rglob("*_test.py"):
        out |= {f"{file.name}::{name}" for name in re.findall(r"^def (test_\w+)", file.read_text(), re.M)}
    for file in (ROOT / "tests").rglob("*_test.cpp"):
        out |= {".".join(pair) for pair in re.findall(r"^TEST(?:_[FP])?\((\w+), (\w+)\)", file.read_text(), re.M)}
    return out


TESTS = known_tests()


def run(row: Row, folder: pathlib.Path) -> Any:
    """The value of the expression below a row."""
    program = row.shown.partition(" -> ")[0]
    return eval(program, {"tf": hr, "hr": hr, "np": np, "numbers": numbers, "of": of, "raises": raises, "warns": warns,
                          "options": options_with, "folder": str(folder), "Dataset": hr.Dataset,
                          "service": hr.data.experimental.service, "experimental": hr.data.experimental})


def check_shown(row: Row, folder: pathlib.Path) -> None:
    """Raises ``Wrong`` unless the expression below a row is true, or the test that is named there exists."""
    if row.shown.startswith("test "):
        if row.shown[5:] not in TESTS:
            raise Wrong(f"{row.place}: there is no test {row.shown[5:]}")
        return
    try:
        holds = run(row, folder)
    except Exception as error:
        raise Wrong(f"{row.place}: {row.shown} raises {type(error).__name__}: {error}") from error
    if not holds:
        raise Wrong(f"{row.place}: this does not hold: {row.shown}")


def check_refused(row: Row, folder: pathlib.Path) -> None:
    """Raises ``Wrong`` unless using the row's name raises an error that says what to use instead."""
    if row.shown:
        program, _, words = row.shown.partition(" -> ")
        if not words:
            raise Wrong(f"{row.place}: write after `->` what the error says to use instead")
        try:
            run(row, folder)
        except (hr.errors.OpError, ValueError, TypeError) as error:
            if words not in str(error):
                raise Wrong(f"{row.place}: the error does not say '{words}': {error}") from None
            return
        raise Wrong(f"{row.change('works')}: {program} raises nothing")
    if row.argument or row.rule:
        raise Wrong(f"{row.place}: write below the row what raises the error")
    try:
        found(row.name)
    except MissingNameError as error:
        if "not in this release: " not in str(error):
            raise Wrong(f"{row.place}: the error of {row.name} does not say what to use instead (headrace/_missing.py): "
                        f"{error}") from None
        return
    except AttributeError as error:
        raise Wrong(f"{row.place}: add {row.name} to headrace/_missing.py, with what to use instead; now it raises: "
                    f"{error}") from None
    raise Wrong(f"{row.change('works')}: it is here")


def check(row: Row, folder: pathlib.Path, text: list[str]) -> None:
    """Raises ``Wrong`` unless the row is correct."""
    if row.mark == "refused":
        check_refused(row, folder)
        return
    if row.mark == "awaited":
        try:
            check(row._replace(mark="works"), folder, text)
        except Wrong:
            return
        raise Wrong(row.change("works"))
    if row.mark == "differs":
        check_migrating(row, text)
    try:
        thing = found(row.name)
    except MissingNameError as error:
        raise Wrong(f"{row.change('refused')}, as using it says: {error}") from None
    except AttributeError as error:
        raise Wrong(f"{row.change('refused')}, and add it to headrace/_missing.py; now it raises: {error}") from None
    if row.rule or row.shown:
        if not row.shown:
            raise Wrong(f"{row.place}: write below the rule an expression that holds, or the name of a test")
        check_shown(row, folder)
    elif row.argument:
        if row.argument not in arguments(signed(thing)):
            raise Wrong(f"{row.place}: {row.name} has no argument {row.argument}: remove the row")
    else:
        compare(row, thing)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.text.replace("::", ":")[:90])
def test_WhatATableSaysIsSo(row, tmp_path):
    said = ""
    try:
        check(row, tmp_path, migrating())
    except Wrong as wrong:
        said = str(wrong)
    if said:
        pytest.fail(said, pytrace=False)


def public(place: Any) -> list[str]:
    """The public names of a module, a namespace or a class."""
    if isinstance(place, types.SimpleNamespace):
        return sorted(vars(place))
    if isinstance(place, type):
        inherited = {name for base in place.__mro__ if not base.__module__.startswith("headrace") for name in vars(base)}
        names = {name for name in dir(place) if not name.startswith("_")} - (inherited - set(vars(place)))
        return sorted(names | options(place))
    if hasattr(place, "__all__"):
        return sorted(place.__all__)
    return sorted(name for name, thing in vars(place).items() if not name.startswith("_")
                  and (getattr(thing, "__module__", "") == place.__name__ or isinstance(thing, types.SimpleNamespace)))


def row_of(name: str, thing: Any) -> str:
    """The row to add to a table for a name that is in no table."""
    if isinstance(thing, (types.ModuleType, types.SimpleNamespace, property)) or not callable(thing):
        return f"works    {name}"
    try:
        shown = [p.name if p.default is p.empty else f"{p.name}={p.default!r}".replace("headrace.", "tf.")
                 for p in arguments(signed(thing)).values()]
    except (TypeError, ValueError):
        return f"works    {name}()"
    return f"works    {name}({', '.join(shown)})"


def unlisted(place: Any, name: str) -> list[str]:
    """Rows for the public names of a module, namespace or class that are in no table."""
    return [row_of(f"{name}.{one}", inspect.getattr_static(place, one, None) if isinstance(place, type)
                   else getattr(place, one)) for one in public(place) if f"{name}.{one}" not in NAMES]


def modules(place: Any = hr, name: str = "tf", seen: Any = ()) -> dict[str, Any]:
    """The package's modules and namespaces that a user reaches, each once, by their names in the documentation."""
    out = {name: place}
    # `data` comes first, so that the service gets the name by which it is documented, which begins with tf.data.
    for one in sorted(public(place), key=lambda one: (one != "data", one)):
        part = getattr(place, one)
        if part is hr.experimental:  # tf.data.experimental by a shorter name
            continue
        if isinstance(part, (types.ModuleType, types.SimpleNamespace)) and part not in (*seen, *out.values()):
            out.update(modules(part, f"{name}.{one}", (*seen, *out.values())))
    return out


MODULES = modules()


def classes() -> dict[str, type]:
    """The classes whose members are in the tables, by their names in the documentation."""
    out = {"tf.data.Dataset": hr.Dataset}
    for name in NAMES:
        try:
            thing = found(name)
        except AttributeError:
            continue
        if isinstance(thing, type) and not issubclass(thing, (hr.Dataset, hr.Tensor, Exception)) \
                and thing not in out.values():
            out[name] = thing
    return out


PLACES: dict[str, Any] = {**MODULES, **classes()}


@pytest.mark.parametrize("name", PLACES)
def test_WhatIsHereIsInATable(name):
    missing = unlisted(PLACES[name], name)
    if missing:
        pytest.fail("in no table of tests/python/documented; add what TensorFlow's documentation says, or mark `ours`:\n"
                    + "\n".join(missing), pytrace=False)


def test_EveryModuleIsLookedAt():
    assert {"tf", "tf.data", "tf.data.experimental", "tf.data.experimental.service", "tf.debugging", "tf.errors",
            "tf.image", "tf.io", "tf.lookup", "tf.math", "tf.random", "tf.strings", "tf.autograph",
            "tf.autograph.experimental"} <= set(MODULES)
    assert public(hr.experimental) == public(hr.data.experimental)
    files = {path.stem for path in pathlib.Path(hr.__file__).parent.iterdir()
             if (path.suffix == ".py" or (path / "__init__.py").exists()) and not path.name.startswith("_")}
    seen = {module.__name__ for module in MODULES.values() if isinstance(module, types.ModuleType)}
    # The names of dtypes are names of headrace itself, and experimental is tf.data.experimental by a shorter name.
    # TensorFlow does not have the other modules, and users import each separately.
    beside = {"dtypes", "experimental", "dask", "jax", "keras", "ray", "torch"}
    assert not {name for name in files if f"headrace.{name}" not in seen} - beside, "add them to a table, or to these"


def test_NothingIsInATableTwice():
    seen: dict[str, Row] = {}
    for row in ROWS:
        key = row.name if not row.rule and not row.argument else row.text
        assert key not in seen, f"{row.place} and {seen[key].place} are about the same: {key}"
        seen[key] = row


def judged(text: str, folder: Any) -> str:
    """The text of the error that `check` raises for a table of one row; empty if there is no error."""
    (row,) = documented.parse("some.txt", text)
    try:
        check(row, folder, ["| `list_files` lists when it is made | when it is read |"])
    except Wrong as wrong:
        return str(wrong)
    return ""


@pytest.mark.parametrize("text, said", [
    ("works    tf.data.Dataset.take(count, name=None)", ""),
    ("works    tf.data.Dataset.take(count=1, name=None)", "count of tf.data.Dataset.take is by default"),
    ("works    tf.data.Dataset.take(name=None, count)", "SyntaxError"),
    ("works    tf.data.Dataset.take(count, name=None, where=None)", "has no argument where"),
    ("works    tf.data.Dataset.take(count)", "has an argument name that is in no table"),
    ("works    tf.data.Dataset.shard(index, num_shards, name=None)", "stand in another order"),
    ("works    tf.data.Dataset.output_types", "change `works` to `refused` in the row of tf.data.Dataset.output_types"),
    ("works    tf.data.Dataset.nonsense()", "change `works` to `refused`"),
    ("refused  tf.data.Dataset.take(count, name=None)", "some.txt:1: change `refused` to `works`"),
    ("refused  tf.data.Dataset.nonsense()", "add tf.data.Dataset.nonsense to headrace/_missing.py"),
    ("refused  tf.data.Dataset.take(count=)\n  numbers(1).batch(-7) -> nothing", "the error does not say 'nothing'"),
    ("refused  tf.data.Dataset.take(count=)\n  numbers(1).take(1) -> nothing", "change `refused` to `works`"),
    ("refused  tf.data.Dataset.take(count=)\n  numbers(1).batch(-7)", "write after `->`"),
    ("refused  tf.data.Dataset.take(count=)", "write below the row what raises the error"),
    ("differs  tf.data.Dataset.list_files(file_pattern, shuffle=None, seed=None, name=None)", ""),
    ("differs  tf.data.Dataset.take(count, name=None)", "or add a row to docs/migrating.md with `take`"),
    ("awaited  tf.data.Dataset.nonsense()", ""),
    ("awaited  tf.data.Dataset.take(count, name=None)", "change `awaited` to `works`"),
    ("works    tf.data.Dataset.take: takes\n  of(numbers(3).take(2)) == [0, 1]", ""),
    ("works    tf.data.Dataset.take: takes\n  of(numbers(3).take(2)) == [0]", "this does not hold"),
    ("works    tf.data.Dataset.take: takes\n  of(numbers(3).batch(-7)) == [0]", "raises ArgumentError: batch"),
    ("works    tf.data.Dataset.take: takes\n  raises(ValueError, lambda: numbers(3).take(2))", "this does not hold"),
    ("works    tf.data.Dataset.take: takes\n  warns(lambda: numbers(3).take(2))", "this does not hold"),
    ("works    tf.data.Dataset.take: takes\n  test dataset_test.py::test_Nothing", "there is no test dataset_test.py"),
    ("works    tf.data.Dataset.take: takes", "write below the rule"),
])
def test_TheJudgeTellsOthersApart(text, said, tmp_path):
    if said == "SyntaxError":
        with pytest.raises(SyntaxError):
            judged(text, tmp_path)
        return
    found_to_be = judged(text, tmp_path)
    assert said in found_to_be and bool(said) == bool(found_to_be)


def test_TheJudgeFindsWhatIsInNoTable():
    here = types.SimpleNamespace(take=1, nonsense=lambda x, y=3: x)
    assert unlisted(here, "tf.data.Dataset") == ["works    tf.data.Dataset.nonsense(x, y=3)"]


@pytest.mark.parametrize("text", ["perhaps  tf.abs(x)", "works    abs(x)", "  below = nothing", "works    tf.abs(x)\n  a\n  b"])
def test_WhatIsNoTableIsRefused(text):
    with pytest.raises(ValueError, match="some.txt:"):
        list(documented.parse("some.txt", text))
