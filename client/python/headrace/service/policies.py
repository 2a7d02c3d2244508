"""How workers and trainers share the elements of a dataset."""

from __future__ import annotations

import enum
from typing import Any

from .._tensors.values import integer, seconds


class ShardingPolicy(enum.IntEnum):
    """How the workers of a service share a dataset.

    FILE, DATA, FILE_OR_DATA and HINT are static: each worker of the dispatcher's ``worker_addresses`` has a part of its own.
    A worker that is started again begins its part anew; a repetition does not end before all parts were read.

    >>> ShardingPolicy["DYNAMIC"] == ShardingPolicy.DYNAMIC
    True
    """

    #: Every worker gives the whole dataset.
    OFF = 0
    #: Each element is given once: the sources' splits are leased to workers as these read.
    DYNAMIC = 1
    #: Each worker gives the elements of its own files: if there are n workers, file i is read by worker i modulo n.
    FILE = 2
    #: Each of n workers makes all elements, and gives every n-th one. So all workers must make them in one order.
    DATA = 3
    #: As FILE if there are at least as many files as workers, else as DATA.
    FILE_OR_DATA = 4
    #: Each worker gives the part that ``shard(SHARD_HINT, ...)`` in the pipeline selects for it.
    HINT = 5


#: For ``num_shards`` of ``Dataset.shard``: each worker's own part, under ``ShardingPolicy.HINT``.
SHARD_HINT = -1


_MOST_TRAINERS = 65_536


class CrossTrainerCache:
    """Lets trainers with different ids share elements that are made once: each trainer is given all elements of each
    worker.

    Workers keep a window of the newest elements, of at most ``WorkerConfig.cross_trainer_cache_size_bytes``. The window
    advances with the trainer that is furthest ahead; the others read the same elements. A trainer that is too slow
    skips the elements that were dropped, and gets a ``RuntimeWarning``.

    trainer_id: iterators of the same id share one place in the elements, so that no element is given to two of them.
    on_lag: determines what happens when the cache is full of elements that a slow trainer has not been given.
        ``"skip"``: the slow trainer skips elements; ``"wait"``: the other trainers wait for it, for at most
        ``lag_limit`` seconds (60), and then it skips elements.
    start: where a trainer begins that has not read from the workers before: with the ``"oldest"`` element that they
        have, or with the ``"newest"``, the first that is made after it joined.
    expected_trainers: elements are given as soon as this number of trainers has joined, and only to these trainers.
        It needs ``on_lag="wait"``. The dataset may then be finite: each trainer is given all elements.

    All trainers of a job must give the same ``on_lag``, ``lag_limit`` and ``expected_trainers``. Raises ``ValueError`` or
    ``TypeError`` naming the argument that is wrong.

    >>> CrossTrainerCache("trainer_1").trainer_id
    'trainer_1'
    """

    def __init__(self, trainer_id: str, *, on_lag: str = "skip", lag_limit: float | None = None, start: str = "oldest",
                 expected_trainers: int | None = None) -> None:
        if not isinstance(trainer_id, str):
            raise TypeError(f"CrossTrainerCache: trainer_id must be a str, not {type(trainer_id).__name__}")
        if not trainer_id:
            raise ValueError("CrossTrainerCache: trainer_id must not be empty")
        try:
            trainer_id.encode()
        except UnicodeEncodeError:
            raise ValueError(f"CrossTrainerCache: trainer_id must be text that UTF-8 can hold, not {trainer_id!r}") from None
        if on_lag not in ("skip", "wait"):
            raise ValueError(f"CrossTrainerCache: on_lag must be \"skip\" or \"wait\", not {on_lag!r}")
        if start not in ("oldest", "newest"):
            raise ValueError(f"CrossTrainerCache: start must be \"oldest\" or \"newest\", not {start!r}")
        if lag_limit is not None and on_lag != "wait":
            raise ValueError("CrossTrainerCache: lag_limit is for on_lag=\"wait\"")
        if expected_trainers is not None:
            if not 1 <= integer(expected_trainers, "CrossTrainerCache: expected_trainers") <= _MOST_TRAINERS:
                raise ValueError(f"CrossTrainerCache: expected_trainers must be between 1 and {_MOST_TRAINERS}, "
                                 f"not {expected_trainers}")
            if on_lag != "wait":
                raise ValueError("CrossTrainerCache: expected_trainers promises all elements to each trainer, so that it "
                                 "needs on_lag=\"wait\"")
        self.trainer_id = trainer_id
        self.on_lag = on_lag
        self.lag_limit = seconds(lag_limit, "CrossTrainerCache: lag_limit", 60.0) if on_lag == "wait" else None
        self.start = start
        self.expected_trainers = expected_trainers

    def _arguments(self) -> tuple[str, float | None, int, bool]:
        """The arguments for the engine."""
        return self.trainer_id, self.lag_limit, self.expected_trainers or 0, self.start == "newest"


def mode_name(processing_mode: Any) -> str:
    """The engine's name of a policy, which is given as a ``ShardingPolicy`` or by a name."""
    if isinstance(processing_mode, str) and not isinstance(processing_mode, ShardingPolicy):
        named = {"parallel_epochs": ShardingPolicy.OFF, "distributed_epoch": ShardingPolicy.DYNAMIC}
        if processing_mode not in named and processing_mode.upper() in ShardingPolicy.__members__:
            named[processing_mode] = ShardingPolicy[processing_mode.upper()]
        processing_mode = named.get(processing_mode, processing_mode)
    if not isinstance(processing_mode, ShardingPolicy):
        raise ValueError("processing_mode must be a headrace.service.ShardingPolicy, the name of one, "
                         f"\"parallel_epochs\" or \"distributed_epoch\", not {processing_mode!r}")
    return processing_mode.name.lower()
