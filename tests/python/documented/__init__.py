"""Tables of the names, arguments and rules in the documentation of TensorFlow. Each row has a mark, which states how
headrace compares.

A row begins with its mark, one word:

    works    tf.data.Dataset.take(count, name=None)          headrace has the name, with these arguments and defaults
    differs  tf.data.TextLineDataset(buffer_size=)           headrace has it, with another meaning or default
    refused  tf.data.Options.experimental_service            its use raises an error that names a replacement
    ours     tf.data.Dataset.load(stall_timeout=)            headrace has it, and TensorFlow does not
    awaited  tf.io.some_name(x, name=None)                   it is to be added; the test fails once headrace has it
    works    tf.data.Dataset.take: a count of -1 takes all   a rule, which has a colon after the name
             list(numbers(3).take(-1)) == [0, 1, 2]          and an indented line: an expression that is true,
             test groups_test.py::test_PadsBatches           or a test of the rule (``Suite.Name`` if it is in C++)

docs/migrating.md has a row that names each name or argument marked ``differs``. The line below a ``refused`` argument
or rule is an expression that raises the error, and after ``->`` a part of its message. A list of arguments ends with
``...`` if TensorFlow documents further arguments that headrace does not have.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator
from typing import NamedTuple

FOLDER = pathlib.Path(__file__).parent
MARKS = ("works", "differs", "refused", "ours", "awaited")

_ROW = re.compile(r"(?P<name>tf(?:\.\w+)*)(?:\((?P<arguments>.*)\))?(?:: (?P<rule>.+))?")


class Row(NamedTuple):
    """A line of a table, with the indented line below it, if there is one."""

    mark: str
    name: str  # the dotted name, which begins with "tf"
    arguments: str | None  # all arguments, as in a definition, without the parentheses
    argument: str | None  # the argument, if the row is about a single one
    rule: str | None
    shown: str  # the indented text below the row: an expression, or a test; empty: none
    place: str  # the file and the line number

    @property
    def text(self) -> str:
        """The row without its mark."""
        if self.argument:
            call = f"({self.argument}=)"
        else:
            call = "" if self.arguments is None else f"({self.arguments})"
        return self.name + call + (f": {self.rule}" if self.rule else "")

    def change(self, mark: str) -> str:
        """A text for an error: how to change the row's mark."""
        return f"{self.place}: change `{self.mark}` to `{mark}` in the row of {self.text}"


def _parsed(file: str, number: int, line: str) -> Row:
    mark, _, rest = line.partition(" ")
    found = _ROW.fullmatch(rest.strip())
    place = f"tests/python/documented/{file}:{number}"
    if mark not in MARKS or not found:
        raise ValueError(f"{place}: this is no row (a mark of {', '.join(MARKS)}, and a name): {line}")
    arguments = found["arguments"]
    alone = re.fullmatch(r"(\w+)=", arguments or "")
    return Row(mark, found["name"], None if alone else arguments, alone[1] if alone else None, found["rule"], "", place)


def parse(file: str, text: str) -> Iterator[Row]:
    """The rows of a table."""
    row = None
    for number, line in enumerate(text.splitlines(), 1):
        if line[:1].isspace() and line.strip():
            if row is None or row.shown:
                raise ValueError(f"tests/python/documented/{file}:{number}: there is no row that this line belongs to")
            row = row._replace(shown=line.strip())
            continue
        if row:
            yield row
            row = None
        if line and not line.startswith("#"):
            row = _parsed(file, number, line)
    if row:
        yield row


def rows() -> list[Row]:
    """All rows of all tables."""
    return [row for file in sorted(FOLDER.glob("*.txt")) for row in parse(file.name, file.read_text())]
