"""The part of a dataset that one process reads, in batches for single replicas."""

from __future__ import annotations

from typing import Any

from .. import _core, dtypes
from .._dataset import Dataset
from .._epochs import mixed
from .._functions.array_ops import cast
from .._functions.ragged import RaggedTensor, cut_rows
from .._functions.shaping import shape
from .._options import AutoShardPolicy
from .._specs import element_of, flatten
from .._tensors.labels import with_parts
from ..math import minimum

#: The engine's names of the policies.
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
        whole = element_of(dataset.element_spec, batch)
        rows = cast(_row_count(whole), dtypes.int64)
        most = (rows + (replicas - 1)) // replicas
        return Dataset.range(replicas).map(lambda i: _rows(whole, minimum(i * most, rows), minimum((i + 1) * most, rows)))

    return dataset.flat_map(pieces)


def _rows(value: Any, first: Any, last: Any) -> Any:
    """Rows `first` up to `last`, exclusive, of the tensors and ragged tensors of a nest."""
    if isinstance(value, (tuple, dict)):
        return with_parts(lambda part: _rows(part, first, last), value)
    return cut_rows(value, first, last)


def _row_count(value: Any) -> Any:
    """The number of rows of a nest's first tensor or ragged tensor."""
    while isinstance(value, (tuple, dict)):
        value = next(iter(value.values() if isinstance(value, dict) else value))
    return value.nrows() if isinstance(value, RaggedTensor) else shape(value)[0]


def policy_of(dataset: Dataset) -> AutoShardPolicy:
    """The ``auto_shard_policy`` of a dataset's options; AUTO if there is none."""
    given: Any = getattr(dataset.options().experimental_distribute, "auto_shard_policy")  # noqa: B009: a field
    return AutoShardPolicy.AUTO if given is None else AutoShardPolicy(given)


def part_of(dataset: Dataset, policy: AutoShardPolicy, processes: int, index: int, seeded: bool) -> Dataset:
    """The part of the dataset that the process of number `index` reads, by the static sharding policies of the service.

    Raises ``InvalidArgumentError`` if the policy cannot divide the dataset, and ``ValueError`` if the elements would
    be in another order in each process.
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
