"""headrace for PyTorch: the extra ``headrace[torch]``.

>>> import headrace.torch, torch
>>> ds = hr.Dataset.range(8).map(lambda x: {"x": hr.cast(x, hr.float32)})
>>> for batch in torch.utils.data.DataLoader(hr.torch.IterableDataset(ds), batch_size=4):
...     print(batch["x"])
tensor([0., 1., 2., 3.])
tensor([4., 5., 6., 7.])
"""

from __future__ import annotations

import functools
import multiprocessing
import multiprocessing.context
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import torch.utils.data

from . import _options
from ._dataset import Dataset
from ._epochs import Epochs, mixed
from ._specs import map_structure
from ._tensors.dlpack import Shared
from ._tensors.values import integer
from .errors import FailedPreconditionError, UnimplementedError

#: For each dtype that some versions of torch lack, the next larger dtype that torch has.
_WIDER = {"uint16": np.int32, "uint32": np.int64}


def _known(value: Any) -> Any:
    """An array or scalar with a dtype that this version of torch has."""
    name = value.dtype.name
    if hasattr(torch, name):
        return value
    if name in _WIDER:
        return value.astype(_WIDER[name])
    raise TypeError(f"this torch has no dtype {name}: cast it in the dataset, as with headrace.cast(x, headrace.int64)")


def as_tensor(value: Any, share_memory: bool = False) -> Any:
    """A leaf of an element as a tensor: an array of numbers as a copy, a scalar as a tensor without axes. ``bytes`` and
    arrays of ``bytes`` are returned unchanged.

    share_memory: if true, an array is not copied. Then the tensor must not be written to (``x.add_(1)``), because a
    cache or another element may use the same memory.

    Where torch has no uint16 and uint32, they are copied to int32 and int64. Raises ``TypeError`` for other dtypes of
    numbers that torch lacks.

    >>> as_tensor(np.int64(3)), as_tensor(b"x")
    (tensor(3), b'x')
    """
    if isinstance(value, np.ndarray):
        if value.dtype == np.object_:
            return value
        if value.dtype == np.bool_:
            # Some versions of torch do not accept bools from other libraries.
            shared = torch.from_dlpack(Shared(value.view(np.uint8))).view(torch.bool)
        else:
            shared = torch.from_dlpack(Shared(_known(value)))
        return shared if share_memory else shared.clone()
    if isinstance(value, bytes):
        return bytes(value)
    if isinstance(value, np.generic):
        value = _known(value)
        return torch.tensor(value.item(), dtype=getattr(torch, value.dtype.name))
    return value


class IterableDataset(torch.utils.data.IterableDataset):
    """A ``headrace.Dataset`` for ``torch.utils.data.DataLoader``: elements with tensors in the same nest.

    Each process of training (rank) and each worker of its DataLoader is a consumer. If the dataset is distributed with
    a job name, the consumers share that job's elements. Otherwise each consumer makes the whole pass and takes every
    n-th element, so all passes must have the same order: an order without a seed of its own is drawn by ``seed`` and
    the number of the epoch; without ``seed``, the workers of one DataLoader use one seed for each epoch.
    DataLoader workers must be spawned once headrace was used in the process (``multiprocessing_context="spawn"``).

    rank, world_size: by default the values of ``torch.distributed`` if it is initialised. share_memory: as in
    ``as_tensor``; for programs that do not write to the tensors of elements, such as a ``DataLoader`` with a
    ``batch_size``, which copies the tensors into batches.

    Raises ``TypeError`` and ``ValueError`` for wrong arguments. Iterating raises ``ValueError`` where several consumers
    cannot share the elements: an order that is drawn with several ranks and no ``seed``, parallel operators that are
    not deterministic, a service without a job name.

    >>> list(IterableDataset(hr.Dataset.range(4), rank=1, world_size=2))
    [tensor(1), tensor(3)]
    """

    def __init__(self, dataset: Dataset, rank: int | None = None, world_size: int | None = None,
                 seed: int | None = None, share_memory: bool = False) -> None:
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
        if not isinstance(share_memory, bool):
            raise TypeError(f"share_memory must be a bool, not {type(share_memory).__name__}: {share_memory!r}")
        self._rank, self._world_size = rank, world_size
        self._as_tensor = functools.partial(as_tensor, share_memory=share_memory)
        self._seed = None if seed is None else integer(seed, "seed")
        self._epochs = Epochs()
        self._passes = 0  # iterations that this object has begun
        self._epoch = 0  # the epoch of the iteration that runs in this process
        self._at: Any = None
        self._before = 0  # elements of other consumers before the next own one
        self._loaded: dict[str, Any] | None = None
        self._elsewhere = False

    def __getstate__(self) -> dict[str, Any]:
        # A worker of a DataLoader is sent the position at which to begin, not the running iteration.
        if multiprocessing.context.get_spawning_popen() is not None:
            self._elsewhere = True
        return {**self.__dict__, "_at": None, "_elsewhere": False}

    def set_epoch(self, epoch: int) -> None:
        """Sets the number of the next epoch, for the orders that ``seed`` draws. Otherwise epochs are counted from 0.

        >>> shuffled = IterableDataset(hr.Dataset.range(9).shuffle(9), seed=1)
        >>> first = list(shuffled)
        >>> shuffled.set_epoch(0)
        >>> list(shuffled) == first
        True
        """
        self._epochs.next = integer(epoch, "epoch")

    def _consumer(self) -> tuple[int, int]:
        """The number of this consumer, and the number of consumers."""
        if self._dataset._graph.reads_shared_job():
            return 0, 1
        info = torch.utils.data.get_worker_info()
        worker, workers = (0, 1) if info is None else (info.id, info.num_workers)
        return self._rank * workers + worker, self._world_size * workers

    def _run_seed(self, consumers: int, key: int | None) -> int | None:
        """The seed for all random numbers of this epoch; None: they are drawn anew. `key`: as in `Epochs.begin`."""
        drawn, reorders, service = self._dataset._graph.order()
        if consumers > 1 and not self._dataset._graph.reads_shared_job():
            if service:
                raise ValueError(f"{consumers} consumers (ranks and workers) would each read other elements of a "
                                 "service: give distribute a job_name, which they share")
            if reorders:
                raise ValueError(f"{consumers} consumers (ranks and workers) cannot share a pass that {reorders} "
                                 "reorders: leave deterministic=False out, or distribute the dataset with a job_name")
            if drawn and self._seed is None and self._world_size > 1:
                raise ValueError(f"{self._world_size} ranks would each see another order, because {drawn} has no seed: "
                                 "give it one, or give IterableDataset the same seed on all ranks")
        if self._seed is not None:
            return mixed(self._seed, self._epoch)
        return None if key is None or consumers == 1 else mixed(key)

    def __iter__(self) -> Iterator[Any]:
        mine, consumers = self._consumer()
        info = torch.utils.data.get_worker_info()
        # The key is equal in all workers of a DataLoader, and differs between epochs. Workers that stay for the next
        # epoch keep their seed, so the number of passes is a part of the key, too.
        key = None if info is None else mixed(info.seed - info.id, self._passes) >> 1
        self._passes += 1
        self._elsewhere = False
        self._epoch = self._epochs.begin(key)
        loaded = self._loaded
        if loaded is None or loaded["position"] is None or loaded["epoch"] != self._epoch:
            # The repetition is the number of the epoch, not the number of iterations that this process has begun.
            at, before = self._dataset._graph.read_as(
                self._run_seed(consumers, key), self._epoch, _options.measured(self._dataset._given_options)), mine
        else:
            if loaded["consumer"] != (mine, consumers):
                raise ValueError(f"load_state_dict: the state is that of consumer {loaded['consumer'][0]} of "
                                 f"{loaded['consumer'][1]}; this is {mine} of {consumers}")
            if info is not None and isinstance(multiprocessing.current_process(), multiprocessing.context.ForkProcess):
                raise ValueError("load_state_dict: the workers of the DataLoader must be spawned "
                                 "(multiprocessing_context=\"spawn\")")
            at, before = self._dataset.restore(loaded["position"]), loaded.get("before", consumers - 1)
        self._loaded = None
        self._at, self._before = at, before
        while True:
            own = before == 0
            before = consumers - 1 if own else before - 1  # also if the element fails
            # `state_dict` describes the newest iteration, so an older iteration must not change `_before`.
            if self._at is at:
                self._before = before
            try:
                element = next(at)
            except StopIteration:
                break
            if own:
                yield map_structure(self._as_tensor, element)
        if self._at is at:
            self._at = None

    def __len__(self) -> int:
        n = len(self._dataset)
        return -(-(n - self._rank) // self._world_size) if n > self._rank else 0

    def state_dict(self) -> dict[str, Any]:
        """The position of this consumer, after the elements that it returned. To be called in the process in which
        the iteration runs.

        Raises ``UnimplementedError`` if elements come from a service, whose positions cannot be saved, and
        ``FailedPreconditionError`` if the iteration runs in the workers of a DataLoader, and not here.

        >>> IterableDataset(hr.Dataset.range(3)).state_dict()["epoch"]
        0
        """
        if self._at is not None:
            return {"position": self._at.save(), "epoch": self._epoch, "consumer": self._consumer(),
                    "before": self._before}
        if self._elsewhere:
            raise FailedPreconditionError("state_dict: the workers of a DataLoader iterate, and know where they are; ask "
                                          "there, or let the DataLoader read here (num_workers=0)")
        if self._loaded is not None:
            return dict(self._loaded)
        return {"position": None, "epoch": self._epochs.next, "consumer": self._consumer()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """The next iteration continues at the position in ``state`` and returns the remaining elements; later
        iterations begin at the start.

        The dataset must be the same, and there must be as many ranks and workers as before. Raises
        ``UnimplementedError`` if elements come from a service.

        >>> numbers = IterableDataset(hr.Dataset.range(3))
        >>> it = iter(numbers)
        >>> first = next(it)
        >>> numbers.load_state_dict(numbers.state_dict())
        >>> list(numbers)
        [tensor(1), tensor(2)]
        """
        if self._dataset._graph.order()[2]:
            raise UnimplementedError("load_state_dict: this release keeps no positions of a service's jobs")
        self._loaded = {"position": state["position"], "epoch": int(state["epoch"]),
                        "consumer": tuple(state["consumer"])}
        if "before" in state:
            self._loaded["before"] = int(state["before"])
        self._epochs.next = self._loaded["epoch"]
        # `state_dict` must no longer describe the position of the iteration that was the newest until now.
        self._at = None
        self._elsewhere = False
