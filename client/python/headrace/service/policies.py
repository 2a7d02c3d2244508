"""How workers and trainers share the elements of a dataset."""

from __future__ import annotations

import enum
from typing import Any


class ShardingPolicy(enum.IntEnum):
    """How the workers of a service share a dataset.

    FILE, DATA, FILE_OR_DATA and HINT are static: each worker of the dispatcher's ``worker_addresses`` has a part of its own.
    A worker that is started again begins its part anew; an epoch does not end before all parts were read.

    >>> ShardingPolicy["DYNAMIC"] == ShardingPolicy.DYNAMIC
    True
    """

    #: Every worker gives the whole dataset.
    OFF = 0
    #: Each element is given once: workers take splits of the sources as they go.
    DYNAMIC = 1
    #: Each worker gives the elements of its own files: file i of the list is for worker i modulo their number.
    FILE = 2
    #: Each worker makes all elements, and gives each n-th; so they have to come in one order.
    DATA = 3
    #: FILE where there are as many files as workers, else DATA.
    FILE_OR_DATA = 4
    #: Each worker gives its part where the pipeline says ``shard(SHARD_HINT, ...)``.
    HINT = 5


#: As ``num_shards`` of ``Dataset.shard``: each worker's own part, under ``ShardingPolicy.HINT``.
SHARD_HINT = -1


class CrossTrainerCache:
    """Lets trainers with different ids share what one of them had computed.

    Raises ``ValueError`` for an empty ``trainer_id``.

    >>> CrossTrainerCache("trainer_1").trainer_id
    'trainer_1'
    """

    def __init__(self, trainer_id: str) -> None:
        if not trainer_id:
            raise ValueError("CrossTrainerCache: trainer_id must not be empty")
        if not isinstance(trainer_id, str):
            raise TypeError(f"CrossTrainerCache: trainer_id must be a str, not {type(trainer_id).__name__}")
        self.trainer_id = trainer_id


def mode_name(processing_mode: Any) -> str:
    """Of a member or a name of one, the engine's name."""
    if isinstance(processing_mode, str) and not isinstance(processing_mode, ShardingPolicy):
        named = {"parallel_epochs": ShardingPolicy.OFF, "distributed_epoch": ShardingPolicy.DYNAMIC}
        if processing_mode not in named and processing_mode.upper() in ShardingPolicy.__members__:
            named[processing_mode] = ShardingPolicy[processing_mode.upper()]
        processing_mode = named.get(processing_mode, processing_mode)
    if not isinstance(processing_mode, ShardingPolicy):
        raise ValueError("processing_mode must be a headrace.service.ShardingPolicy, the name of one, "
                         f"\"parallel_epochs\" or \"distributed_epoch\", not {processing_mode!r}")
    return processing_mode.name.lower()
