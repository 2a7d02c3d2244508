"""How workers and trainers share the elements of a dataset."""

from __future__ import annotations

import enum
from typing import Any

from ..errors import UnimplementedError


class ShardingPolicy(enum.IntEnum):
    """How the workers of a service share a dataset.

    >>> ShardingPolicy["DYNAMIC"] == ShardingPolicy.DYNAMIC
    True
    """

    #: Every worker gives the whole dataset.
    OFF = 0
    #: Each element is given once: workers take splits of the sources as they go.
    DYNAMIC = 1
    #: Each worker gives the elements of its own files.
    FILE = 2
    #: Each worker gives its own part of the elements.
    DATA = 3
    #: FILE where it works, else DATA.
    FILE_OR_DATA = 4
    #: Where the pipeline says ``shard(SHARD_HINT, ...)``.
    HINT = 5


#: Stands for the worker's number in ``Dataset.shard`` under ``ShardingPolicy.HINT``.
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
    if processing_mode not in (ShardingPolicy.OFF, ShardingPolicy.DYNAMIC):
        raise UnimplementedError(f"processing_mode: this release has OFF and DYNAMIC, not {processing_mode.name}")
    return processing_mode.name.lower()
