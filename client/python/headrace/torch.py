"""headrace for PyTorch: the extra ``headrace[torch]``.

>>> import headrace as hr, torch                                         # doctest: +SKIP
>>> ds = hr.Dataset.range(8).map(lambda x: {"x": hr.cast(x, hr.float32)})  # doctest: +SKIP
>>> loader = torch.utils.data.DataLoader(hr.torch.IterableDataset(ds), batch_size=4)  # doctest: +SKIP
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import torch.utils.data

from ._dataset import Dataset
from ._dlpack import Shared
from ._specs import map_structure
from .errors import UnimplementedError


def as_tensor(value: Any) -> Any:
    """An element's leaf as a tensor: arrays without a copy, scalars as tensors without axes, ``bytes`` as they are.

    The tensor shares the memory of the element, which others may share: do not write to it.
    """
    if isinstance(value, np.ndarray):
        return value if value.dtype == np.object_ else torch.from_dlpack(Shared(value))
    if isinstance(value, np.generic):
        return torch.tensor(value.item(), dtype=getattr(torch, value.dtype.name))
    return value


class IterableDataset(torch.utils.data.IterableDataset):
    """A ``headrace.Dataset`` for ``torch.utils.data.DataLoader``: elements with tensors in the same nest.

    Each process of training (rank) and each worker of its DataLoader is a consumer. If the dataset is distributed with
    a job name, the consumers share that job's elements; otherwise each takes every n-th element of its own pass.
    DataLoader workers must be spawned once headrace was used in the process (``multiprocessing_context="spawn"``).

    rank, world_size: by default those of ``torch.distributed`` if it is initialised.
    """

    def __init__(self, dataset: Dataset, rank: int | None = None, world_size: int | None = None) -> None:
        super().__init__()
        if not isinstance(dataset, Dataset):
            raise TypeError(f"dataset must be a headrace.Dataset, not {type(dataset).__name__}")
        if (rank is None) != (world_size is None):
            raise ValueError("rank and world_size must be given together, or neither")
        if rank is None or world_size is None:
            rank, world_size = 0, 1
            if torch.distributed.is_available() and torch.distributed.is_initialized():
                rank, world_size = torch.distributed.get_rank(), torch.distributed.get_world_size()
        if not 0 <= rank < world_size:
            raise ValueError(f"rank must be between 0 and world_size - 1 ({world_size - 1}), not {rank}")
        self._dataset = dataset
        self._rank, self._world_size = rank, world_size
        self._at: Any = None
        self._position: bytes | None = None

    def __getstate__(self) -> dict[str, Any]:
        # To a DataLoader's worker goes where to begin, not what runs here.
        return {**self.__dict__, "_at": None}

    def _consumer(self) -> tuple[int, int]:
        """This consumer's number, and how many there are."""
        info = torch.utils.data.get_worker_info()
        worker, workers = (0, 1) if info is None else (info.id, info.num_workers)
        return self._rank * workers + worker, self._world_size * workers

    def __iter__(self) -> Iterator[Any]:
        mine, consumers = self._consumer()
        if self._dataset._graph.reads_shared_job():
            mine, consumers = 0, 1
        if self._position is None:
            self._at, others = iter(self._dataset), mine
        else:
            self._at, others = self._dataset.restore(self._position), consumers - 1
        self._position = None
        for element in itertools.islice(self._at, others, None, consumers):
            yield map_structure(as_tensor, element)
        self._at = None

    def __len__(self) -> int:
        n = len(self._dataset)
        return -(-(n - self._rank) // self._world_size) if n > self._rank else 0

    def state_dict(self) -> dict[str, Any]:
        """Where this consumer is, after the elements that it gave. To be asked where the iteration runs.

        Raises ``UnimplementedError`` if elements come from a service, whose positions are its own.
        """
        return {"position": None if self._at is None else self._at.save()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """The next iteration goes on there and gives the rest, exactly; the ones after it begin at the start.

        The dataset, the ranks and the workers must be as many as they were. Raises ``UnimplementedError`` if elements
        come from a service.
        """
        if self._dataset._graph.reads_shared_job():
            raise UnimplementedError("load_state_dict: this release keeps no positions of a service's jobs")
        self._position = state["position"]
