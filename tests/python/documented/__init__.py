"""The tables of what the documentation of TensorFlow says of names, arguments and rules: facts, each with a mark.

A line of a table begins with its mark, one word:

    works    tf.data.Dataset.take(count, name=None)          it is here, with these arguments and defaults
    differs  tf.data.TextLineDataset(buffer_size=)           an argument that is here and means something else
    refused  tf.data.Dataset.fingerprint()                   using it raises an error that says what to use instead
    ours     tf.data.Dataset.load(stall_timeout=)            it is here, and TensorFlow does not have it
    awaited  tf.io.serialize_tensor(tensor, name=None)       it is to be added, and the test fails once it is here
    works    tf.data.Dataset.take: a count of -1 takes all   a rule, which has a colon after the name
             list(numbers(3).take(-1)) == [0, 1, 2]          and, indented, an expression that holds
             test dataset_test.py::test_Takes                or a test that shows it: of Python, or ``Suite.Name`` of C++

What ``differs`` has a row in docs/migrating.md that names it. Below a ``refused`` argument or rule stands what raises the
error, and after ``->`` words that its message has. ``...`` ends arguments that are documented further than they are here.
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
    """A line of a table, with the indented one below it."""

    mark: str
    name: str  # from "tf"
    arguments: str | None  # of what is called: as in a definition, without the parentheses
    argument: str | None  # that the row is about, alone
    rule: str | None
    shown: str  # what is indented below it: an expression, or a test
    place: str  # file and line

    @property
    def text(self) -> str:
        """The row without its mark."""
        if self.argument:
            call = f"({self.argument}=)"
        else:
            call = "" if self.arguments is None else f"({self.arguments})"
        return self.name + call + (f": {self.rule}" if self.rule else "")

    def change(self, mark: str) -> str:
        """What to do to the row."""
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
