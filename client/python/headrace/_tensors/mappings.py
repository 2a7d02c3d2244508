"""Mappings that stand where a tensor is needed.

In nests of tensors, each ``collections.abc.Mapping`` counts as a dict of its items (``UserDict``, ``ChainMap``, the
``BatchEncoding`` of transformers). Where a tensor is needed, numpy would make an array of the keys of a mapping that is
not a ``dict``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import ArgumentError


def refuse_mappings(value: Any) -> None:
    """Raises ``ArgumentError`` if ``value`` is a mapping that is not a ``dict``, or a list that contains one."""
    if isinstance(value, (list, tuple)):
        for kind in set(map(type, value)):
            if issubclass(kind, (list, tuple, Mapping)):
                for part in value:
                    refuse_mappings(part)
                return
    elif isinstance(value, Mapping) and not isinstance(value, dict):
        raise ArgumentError(f"a tensor cannot hold {type(value).__name__}: {value!r:.80}; a mapping may stand in place "
                            "of a tuple or dict of tensors, and not in a list")
