"""The argument of a function that makes the input of a process, and the options for fetching input."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any

from .._tensors.values import integer
from ..errors import UnimplementedError


class InputContext:
    """The argument of ``dataset_fn``: the number of one input pipeline among the pipelines of all processes.

    Raises ``ValueError`` if the id is not below the number of pipelines.

    >>> InputContext(num_input_pipelines=2, input_pipeline_id=1, num_replicas_in_sync=4)
    hr.distribute.InputContext(input pipeline id 1, total: 2)
    """

    def __init__(self, num_input_pipelines: int = 1, input_pipeline_id: int = 0, num_replicas_in_sync: int = 1) -> None:
        self._pipelines = integer(num_input_pipelines, "num_input_pipelines")
        self._id = integer(input_pipeline_id, "input_pipeline_id")
        self._replicas = integer(num_replicas_in_sync, "num_replicas_in_sync")
        if not 0 <= self._id < self._pipelines:
            raise ValueError(f"input_pipeline_id must be between 0 and num_input_pipelines - 1 ({self._pipelines - 1}), "
                             f"not {self._id}")
        if self._replicas < 1:
            raise ValueError(f"num_replicas_in_sync must be 1 or more, not {self._replicas}")

    @property
    def num_input_pipelines(self) -> int:
        """The number of pipelines.

        >>> InputContext(2).num_input_pipelines
        2
        """
        return self._pipelines

    @property
    def input_pipeline_id(self) -> int:
        """The number of this pipeline, from 0.

        >>> InputContext(2, 1).input_pipeline_id
        1
        """
        return self._id

    @property
    def num_replicas_in_sync(self) -> int:
        """The number of replicas that all pipelines feed.

        >>> InputContext(2, 1, 4).num_replicas_in_sync
        4
        """
        return self._replicas

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """The batch size of one replica. Raises ``ValueError`` if the replicas do not divide ``global_batch_size``.

        >>> InputContext(2, 1, 4).get_per_replica_batch_size(64)
        16
        """
        size = integer(global_batch_size, "global_batch_size")
        if size % self._replicas != 0:
            raise ValueError(f"global_batch_size {size} is not divisible by the {self._replicas} replicas in sync")
        return size // self._replicas

    def __repr__(self) -> str:
        return f"hr.distribute.InputContext(input pipeline id {self._id}, total: {self._pipelines})"


class InputReplicationMode(enum.Enum):
    """How often ``dataset_fn`` is called in a process.

    >>> InputReplicationMode.PER_WORKER.value
    'PER_WORKER'
    """

    #: ``dataset_fn`` is called once, and the replicas of the process take elements in turn.
    PER_WORKER = "PER_WORKER"
    #: ``dataset_fn`` is called once for each replica, which then has a pipeline of its own.
    PER_REPLICA = "PER_REPLICA"


@dataclasses.dataclass(frozen=True)
class InputOptions:
    """How a distributed dataset is fetched.

    experimental_fetch_to_device: None or True: elements are moved to the devices of the strategy. False: they remain
    numpy's arrays.
    experimental_prefetch_to_device: the older name of ``experimental_fetch_to_device``.
    experimental_per_replica_buffer_size: the number of steps that are moved to the devices before the program
    requests them (default: 1).

    ``experimental_place_dataset_on_device`` raises ``UnimplementedError``: pipelines run on the host.

    >>> InputOptions(experimental_fetch_to_device=False).experimental_per_replica_buffer_size
    1
    """

    experimental_fetch_to_device: bool | None = None
    experimental_replication_mode: InputReplicationMode = InputReplicationMode.PER_WORKER
    experimental_place_dataset_on_device: bool = False
    experimental_per_replica_buffer_size: int = 1
    experimental_prefetch_to_device: bool | None = None

    def __post_init__(self) -> None:
        if self.experimental_place_dataset_on_device:
            raise UnimplementedError("InputOptions: experimental_place_dataset_on_device: pipelines run on the host")
        if not isinstance(self.experimental_replication_mode, InputReplicationMode):
            raise TypeError("InputOptions: experimental_replication_mode must be an InputReplicationMode, not "
                            f"{self.experimental_replication_mode!r}")
        if integer(self.experimental_per_replica_buffer_size, "experimental_per_replica_buffer_size") < 0:
            raise ValueError("InputOptions: experimental_per_replica_buffer_size must be 0 or more, not "
                             f"{self.experimental_per_replica_buffer_size}")

    def _fetches(self) -> bool:
        given = (self.experimental_fetch_to_device, self.experimental_prefetch_to_device)
        return all(x is None or bool(x) for x in given)


def options_of(given: Any) -> InputOptions:
    """The argument ``options``, or the default options."""
    if given is None:
        return InputOptions()
    if not isinstance(given, InputOptions):
        raise TypeError(f"options must be a headrace.distribute.InputOptions, not {type(given).__name__}")
    return given
