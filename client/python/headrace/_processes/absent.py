"""What stands for an iterator of a dataset in the process of a Python function."""

from __future__ import annotations

from typing import Any, NoReturn

_WHY = ("an iterator of a dataset exists only in the program that made it, and not in the process of a Python function; "
        "pass what the function needs as an element")


class AbsentIterator:
    """Has none of the elements: an object often keeps the iterator of a dataset that is made by one of its methods, and
    the method does not use it.
    """

    def __iter__(self) -> NoReturn:
        raise TypeError(_WHY)

    def __next__(self) -> NoReturn:
        raise TypeError(_WHY)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(_WHY)
