"""One value for each replica of a process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class DistributedValues:
    """One value for each replica of this process, in their order; see ``Strategy.experimental_local_results``.

    >>> strategy = hr.distribute.LocalStrategy(2)
    >>> (x,) = strategy.experimental_distribute_dataset(Dataset.range(4).batch(4))
    >>> x
    PerReplica:{
      0: array([0, 1]),
      1: array([2, 3])
    }
    """

    __slots__ = ("_values",)

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = tuple(values)

    @property
    def values(self) -> tuple[Any, ...]:
        """The values, one for each replica.

        >>> DistributedValues([3, 4]).values
        (3, 4)
        """
        return self._values

    def __repr__(self) -> str:
        return "PerReplica:{\n" + ",\n".join(f"  {i}: {x!r}" for i, x in enumerate(self._values)) + "\n}"


def per_replica(values: Sequence[Any]) -> Any:
    """Combines the values of all replicas: if there is one replica, its value; else a nest of the same structure as
    each value, with ``DistributedValues`` as leaves.
    """
    if len(values) == 1:
        return values[0]
    first = values[0]
    if isinstance(first, dict):
        return {key: per_replica([x[key] for x in values]) for key in first}
    if isinstance(first, tuple):
        parts = [per_replica(parts) for parts in zip(*values)]
        return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)
    return DistributedValues(values)


def of_replica(value: Any, index: int) -> Any:
    """A nest in which each ``DistributedValues`` is replaced by its value for one replica."""
    if isinstance(value, DistributedValues):
        return value.values[index]
    if isinstance(value, dict):
        return {key: of_replica(x, index) for key, x in value.items()}
    if isinstance(value, (tuple, list)):
        parts = [of_replica(x, index) for x in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value
