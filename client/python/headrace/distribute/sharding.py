"""The part of a dataset that one process reads, in batches for single replicas."""

from __future__ import annotations

from typing import Any

from .. import _core, dtypes
from .._dataset import Dataset
from .._epochs import mixed
from .._functions.array_ops import cast
from .._functions.composed import boolean_mask, ones_like
from .._options import AutoShardPolicy
from .._specs import flatten, map_structure
from ..math import cumsum, equal, greater_equal, less, logical_and, logical_not, logical_or, reduce_all, reduce_sum

#: The names of the engine's policies.
_POLICIES = {AutoShardPolicy.OFF: "off", AutoShardPolicy.AUTO: "file_or_data", AutoShardPolicy.FILE: "file",
             AutoShardPolicy.DATA: "data", AutoShardPolicy.HINT: "hint"}


def check_batches(dataset: Dataset, replicas: int) -> None:
    """Raises ``ValueError`` for elements without an axis that can be divided among replicas."""
    for spec in flatten(dataset.element_spec):
        if not spec.shape.rank:
            raise ValueError(f"elements of {dataset.element_spec} cannot be divided among {replicas} replicas: batch the "
                             "dataset by the global batch size first")


def split_batches(dataset: Dataset, replicas: int) -> Dataset:
    """Divides each batch of n rows into `replicas` batches of ceil(n / replicas) rows; the last ones have fewer or
    none.
    """
    if replicas == 1:
        return dataset
    check_batches(dataset, replicas)

    def pieces(*batch: Any) -> Dataset:
        row = _row_numbers(flatten(batch)[0])
        most = (reduce_sum(ones_like(row)) + (replicas - 1)) // replicas
        whole = batch if len(batch) > 1 else batch[0]

        def piece(i: Any) -> Any:
            mine = logical_and(greater_equal(row, i * most), less(row, (i + 1) * most))
            return map_structure(lambda x: boolean_mask(x, mine), whole)

        return Dataset.range(replicas).map(piece)

    return dataset.flat_map(pieces)


def _row_numbers(x: Any) -> Any:
    """The numbers 0, 1, ... for the rows of a tensor of any dtype."""
    same = equal(x, x)  # false for NaN
    each = logical_or(same, logical_not(same))
    if x.shape.rank > 1:
        each = reduce_all(each, axis=list(range(1, x.shape.rank)))
    return cumsum(cast(each, dtypes.int64)) - 1


def policy_of(dataset: Dataset) -> AutoShardPolicy:
    """The ``auto_shard_policy`` of a dataset's options; AUTO if there is none."""
    given: Any = getattr(dataset.options().experimental_distribute, "auto_shard_policy")  # noqa: B009: a field
    return AutoShardPolicy.AUTO if given is None else AutoShardPolicy(given)


def part_of(dataset: Dataset, policy: AutoShardPolicy, processes: int, index: int, seeded: bool) -> Dataset:
    """The part of the dataset that the process of number `index` reads, by the static sharding policies of the service.

    Raises ``InvalidArgumentError`` if the policy cannot divide it, and ``ValueError`` if the processes would divide
    different orders.
    """
    if processes == 1:
        return dataset
    graph, by = _core.auto_shard(dataset._graph, _POLICIES[policy], processes, index)
    drawn = graph.order()[0]
    if drawn and by in ("data", "hint") and not seeded:
        raise ValueError(f"{processes} processes would each divide another order, because {drawn} has no seed: give it one, "
                         "or give the strategy the same seed in all processes")
    drawn_from = dataset._drawn_from
    return Dataset(graph, dataset._given_options, None if drawn_from is None else mixed(drawn_from, index))
