"""Amounts of memory in arguments."""

from __future__ import annotations

import re
from typing import Any

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
          "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}


def bytes_of(value: Any, argument: str) -> int:
    """The number of bytes in an argument, which is an int or a text such as ``8GiB``."""
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", value) if isinstance(value, str) else None
    number = int(float(found[1]) * _UNITS.get(found[2].upper(), 0)) if found else 0
    if number <= 0:
        raise ValueError(f"{argument} must be a number of bytes, or a text such as '8GiB' or '512MB', not {value!r}")
    return number
