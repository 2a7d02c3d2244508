"""Strategies: the replicas that share the input, and their processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .._dataset import Dataset
from .._missing import missing
from .._tensors.values import integer
from .context import InputContext, InputOptions, InputReplicationMode, options_of
from .datasets import DistributedDataset, Mover
from .devices import mover_of
from .sharding import part_of, policy_of, split_batches
from .values import DistributedValues, of_replica, per_replica


class _Names(type):
    """Raises an error for names that TensorFlow documents for strategies that train. The error has a replacement."""

    if not TYPE_CHECKING:
        def __getattr__(cls, name: str) -> Any:
            missing("distribute.Strategy", name)


class Strategy(metaclass=_Names):
    """Replicas of a model in one process or several, and their input; nothing is trained. Programs make a
    ``LocalStrategy`` or a ``ProcessStrategy``.

    >>> isinstance(hr.distribute.LocalStrategy(2), hr.distribute.Strategy)
    True
    """

    def __init__(self, replicas: int | Sequence[Any], processes: int, index: int, seed: int | None) -> None:
        if isinstance(replicas, (str, bytes)) or not isinstance(replicas, Sequence):
            count = integer(replicas, "replicas")
            self._devices: tuple[Any, ...] = (None,) * max(count, 0)
        else:
            self._devices = tuple(replicas)
        if not self._devices:
            raise ValueError("replicas must be 1 or more, or a list of devices")
        self._movers = tuple(map(mover_of, self._devices))
        self._processes, self._index = processes, index
        self._seed = None if seed is None else integer(seed, "seed")

    if not TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any:
            missing("distribute.Strategy", name)

    @property
    def num_replicas_in_sync(self) -> int:
        """The number of replicas in all processes. Each process must have the same number.

        >>> hr.distribute.ProcessStrategy(2, rank=0, world_size=3).num_replicas_in_sync
        6
        """
        return self._processes * len(self._devices)

    def experimental_distribute_dataset(self, dataset: Dataset, options: InputOptions | None = None) -> DistributedDataset:
        """Divides a dataset, batched by the global batch size, among the replicas of all processes.

        Each batch of n rows becomes one of ceil(n / replicas) rows for each replica; the last ones have fewer rows, or none.
        The option ``experimental_distribute.auto_shard_policy`` determines the part that a process reads: FILE: its
        own files; DATA: every k-th of the replicas' batches, for k processes; AUTO: as FILE if there are at least as
        many files as processes, else as DATA; HINT: the part that ``shard(SHARD_HINT, ...)`` in the pipeline gives;
        OFF: the whole dataset. The batches that the replicas take are prefetched.

        Under FILE and HINT, processes may take different numbers of steps; under DATA and OFF, all take the same
        number.

        Raises ``ValueError`` if elements have no axis to divide, or if the elements would be in another order in each
        process (a shuffle without a seed, under DATA), and ``InvalidArgumentError`` if the policy cannot divide the
        dataset.

        >>> ds = Dataset.range(8).batch(4)
        >>> for rank in (0, 1):
        ...     strategy = hr.distribute.ProcessStrategy(rank=rank, world_size=2)
        ...     [x.tolist() for x in strategy.experimental_distribute_dataset(ds)]
        [[0, 1], [4, 5]]
        [[2, 3], [6, 7]]
        """
        how = options_of(options)
        if not isinstance(dataset, Dataset):
            raise TypeError(f"dataset must be a headrace.Dataset, not {type(dataset).__name__}")
        if how.experimental_replication_mode is InputReplicationMode.PER_REPLICA:
            raise ValueError("PER_REPLICA is of distribute_datasets_from_function: experimental_distribute_dataset divides "
                             "the dataset of a process itself")
        parts = split_batches(dataset, self.num_replicas_in_sync)
        own = part_of(parts, policy_of(dataset), self._processes, self._index, self._seed is not None)
        return self._distributed([own.prefetch(len(self._devices))], how)

    def distribute_datasets_from_function(self, dataset_fn: Callable[[InputContext], Dataset],
                                          options: InputOptions | None = None) -> DistributedDataset:
        """The dataset that ``dataset_fn`` makes for this process. The function itself must shard the dataset, and
        batch it by the size for one replica; the replicas of the process take these batches in turn.

        Raises ``TypeError`` if the function does not return a ``Dataset``.

        >>> strategy = hr.distribute.ProcessStrategy(rank=1, world_size=2)
        >>> def make(context):
        ...     mine = Dataset.range(8).shard(context.num_input_pipelines, context.input_pipeline_id)
        ...     return mine.batch(context.get_per_replica_batch_size(4))
        >>> [x.tolist() for x in strategy.distribute_datasets_from_function(make)]
        [[1, 3], [5, 7]]
        """
        how = options_of(options)
        each = len(self._devices) if how.experimental_replication_mode is InputReplicationMode.PER_REPLICA else 1
        made = []
        for i in range(each):
            context = InputContext(self._processes * each, self._index * each + i, self.num_replicas_in_sync)
            one = dataset_fn(context)
            if not isinstance(one, Dataset):
                raise TypeError(f"dataset_fn must return a headrace.Dataset, not {type(one).__name__}")
            made.append(one.prefetch(max(len(self._devices) // each, 1)))
        return self._distributed(made, how)

    def _distributed(self, datasets: Sequence[Dataset], how: InputOptions) -> DistributedDataset:
        movers: Sequence[Mover] = self._movers if how._fetches() else [mover_of(None)] * len(self._devices)
        moves = how._fetches() and any(x is not None for x in self._devices)
        return DistributedDataset(datasets, movers, how.experimental_per_replica_buffer_size if moves else 0, self._seed)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The parts of ``value`` for the replicas of this process, in the order of the replicas.

        >>> strategy = hr.distribute.LocalStrategy(2)
        >>> (x,) = strategy.experimental_distribute_dataset(Dataset.range(2).batch(2))
        >>> strategy.experimental_local_results(x)
        (array([0]), array([1]))
        """
        return tuple(of_replica(value, i) for i in range(len(self._devices))) if len(self._devices) > 1 else (value,)

    def experimental_distribute_values_from_function(self, value_fn: Callable[[ValueContext], Any]) -> Any:
        """The results of ``value_fn`` for each replica of this process. The function is called with a
        ``ValueContext``, which has ``replica_id_in_sync_group`` and ``num_replicas_in_sync``.

        >>> strategy = hr.distribute.LocalStrategy(2)
        >>> strategy.experimental_distribute_values_from_function(lambda c: c.replica_id_in_sync_group).values
        (0, 1)
        """
        first = self._index * len(self._devices)
        made = [value_fn(ValueContext(first + i, self.num_replicas_in_sync)) for i in range(len(self._devices))]
        return made[0] if len(made) == 1 else DistributedValues(made)

    def run(self, fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None) -> Any:
        """The results of ``fn`` for each replica's part, computed one after the other on this thread.

        >>> strategy = hr.distribute.LocalStrategy(2)
        >>> for x in strategy.experimental_distribute_dataset(Dataset.range(4).batch(4)):
        ...     print(strategy.run(lambda part: int(part.sum()), args=(x,)).values)
        (1, 5)
        """
        given, named = tuple(args), dict(kwargs or {})
        return per_replica([fn(*of_replica(given, i), **of_replica(named, i)) for i in range(len(self._devices))])


class ValueContext:
    """The number of a replica among the replicas of all processes: the argument of the function that
    ``experimental_distribute_values_from_function`` calls.

    >>> ValueContext(1, 2).replica_id_in_sync_group
    1
    """

    def __init__(self, replica_id_in_sync_group: int = 0, num_replicas_in_sync: int = 1) -> None:
        self.replica_id_in_sync_group = integer(replica_id_in_sync_group, "replica_id_in_sync_group")
        self.num_replicas_in_sync = integer(num_replicas_in_sync, "num_replicas_in_sync")


class LocalStrategy(Strategy):
    """Replicas in this process alone. replicas: the number of replicas, or a list of their devices, to which elements
    are moved: devices of PyTorch (``torch.device``, or a name such as ``"cuda:1"``) or of JAX (``jax.devices()``).
    Without devices, elements remain numpy's arrays.

    >>> hr.distribute.LocalStrategy(4).num_replicas_in_sync
    4
    """

    def __init__(self, replicas: int | Sequence[Any] = 1) -> None:
        super().__init__(replicas, 1, 0, None)


class ProcessStrategy(Strategy):
    """Replicas in several processes, each of which makes this object.

    replicas: the replicas of this process, as in ``LocalStrategy``.
    rank, world_size: the number of this process, and the number of processes. None: the values of torch.distributed
    or jax.distributed if one of them is initialised, else of the environment variables RANK and WORLD_SIZE,
    OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE, or SLURM_PROCID and SLURM_NTASKS.
    seed: determines, together with the number of the iteration, the random orders and numbers of operators that have
    no seed of their own. It must be the same in all processes.

    Raises ``ValueError`` if the rank is wrong, or cannot be found.

    >>> hr.distribute.ProcessStrategy(2, rank=1, world_size=4).num_replicas_in_sync
    8
    """

    def __init__(self, replicas: int | Sequence[Any] = 1, rank: int | None = None, world_size: int | None = None,
                 seed: int | None = None) -> None:
        from .ranks import found_rank

        if (rank is None) != (world_size is None):
            raise ValueError("rank and world_size must be given together, or neither")
        if rank is None or world_size is None:
            rank, world_size = found_rank()
        rank, world_size = integer(rank, "rank"), integer(world_size, "world_size")
        if not 0 <= rank < world_size:
            raise ValueError(f"rank must be between 0 and world_size - 1 ({world_size - 1}), not {rank}")
        super().__init__(replicas, world_size, rank, seed)
