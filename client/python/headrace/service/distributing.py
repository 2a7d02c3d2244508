"""Datasets whose elements a service computes."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _core, _vouching
from .._dataset import AUTOTUNE, Dataset
from .._specs import flatten
from .._values import integer
from ..errors import InvalidArgumentError, UnimplementedError
from .addresses import address_of
from .policies import CrossTrainerCache, mode_name


def _reading_options(processing_mode: Any, service: Any, job_name: Any, consumer_index: Any, num_consumers: Any,
                     max_outstanding_requests: Any, data_transfer_protocol: Any, compression: Any,
                     cross_trainer_cache: Any, target_workers: Any, task_refresh_interval_hint_ms: Any,
                     worker_timeout: Any, stall_timeout: Any) -> tuple[Any, ...]:
    """The checked arguments, as the engine takes them."""
    mode, where = mode_name(processing_mode), address_of(service)
    if job_name is not None:
        if not isinstance(job_name, str):
            raise TypeError(f"job_name must be a str, not {type(job_name).__name__}: {job_name!r}")
        if not job_name:
            raise ValueError("job_name must not be empty")
    if (consumer_index is None) != (num_consumers is None):
        raise ValueError("consumer_index and num_consumers must be given together, or neither")
    if num_consumers is not None:
        consumers, index = integer(num_consumers, "num_consumers"), integer(consumer_index, "consumer_index")
        if not 0 <= index < consumers:
            raise ValueError(f"consumer_index must be between 0 and num_consumers - 1 ({consumers - 1}), not {index}")
        if job_name is None:
            raise ValueError("job_name must be given with consumer_index and num_consumers")
        raise UnimplementedError("distribute: this release has no coordinated reads (consumer_index, num_consumers)")
    if cross_trainer_cache is not None:
        if not isinstance(cross_trainer_cache, CrossTrainerCache):
            raise TypeError("cross_trainer_cache must be a CrossTrainerCache, not "
                            f"{type(cross_trainer_cache).__name__}")
        raise UnimplementedError("distribute: this release has no cross-trainer cache (cross_trainer_cache)")
    if data_transfer_protocol not in (None, "grpc"):
        raise UnimplementedError(f"distribute: this release has no data_transfer_protocol {data_transfer_protocol!r}")
    if not isinstance(target_workers, str) or target_workers.upper() not in ("AUTO", "ANY", "LOCAL"):
        raise ValueError(f"target_workers must be \"AUTO\", \"ANY\" or \"LOCAL\", not {target_workers!r}")
    if target_workers.upper() == "LOCAL":
        raise UnimplementedError("distribute: this release has no target_workers=\"LOCAL\"")
    if task_refresh_interval_hint_ms is not None:
        integer(task_refresh_interval_hint_ms, "task_refresh_interval_hint_ms")
    outstanding = 0
    if max_outstanding_requests is not None:
        outstanding = integer(max_outstanding_requests, "max_outstanding_requests")
        if outstanding == AUTOTUNE:
            outstanding = 0
        elif outstanding < 1:
            raise ValueError(f"max_outstanding_requests must be 1 or more, not {outstanding}")
    return (mode, where, job_name or "", outstanding, _compression(compression),
            _seconds(worker_timeout, "worker_timeout", 60.0), _seconds(stall_timeout, "stall_timeout", 3600.0))


def _seconds(value: Any, name: str, default: float) -> float:
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name} must be a number of seconds or None, not {type(value).__name__}: {value!r}")
    if not value > 0:
        raise ValueError(f"{name} must be more than 0 seconds, not {value!r}")
    # The engine counts nanoseconds in 64 bits; thirty years are for ever.
    return min(float(value), 1e9)


def _compression(compression: Any) -> str:
    if compression is None:
        return "none"
    if isinstance(compression, str) and compression.lower() in ("auto", "none", "snappy"):
        return compression.lower()
    raise ValueError(f"compression must be \"AUTO\", \"SNAPPY\" or None, not {compression!r}")


def distribute(processing_mode: Any, service: Any, job_name: str | None = None, consumer_index: int | None = None,
               num_consumers: int | None = None, max_outstanding_requests: int | None = None,
               data_transfer_protocol: str | None = None, compression: str | None = "AUTO",
               cross_trainer_cache: CrossTrainerCache | None = None, target_workers: str = "AUTO", *,
               task_refresh_interval_hint_ms: int | None = None,
               worker_timeout: float | None = None, stall_timeout: float | None = None) -> Callable[[Dataset], Dataset]:
    """For ``Dataset.apply``: what comes before runs on the workers of a service, what follows runs here.

    processing_mode: how the workers share the dataset: a ``ShardingPolicy`` or a name of one.
    service: the dispatcher, ``host:port`` with any scheme or none.
    job_name: consumers with the same job name and dataset share its elements; each iteration is the next repetition.
    max_outstanding_requests: elements asked of all workers in advance; None: bounded by bytes alone.
    compression: ``"AUTO"``, ``"SNAPPY"`` or None.
    worker_timeout: seconds to wait while there is no worker at all (60).
    stall_timeout: seconds to wait for an element while workers run the job (3600); longer than one may take.
    task_refresh_interval_hint_ms: accepted; here tasks are announced at once.

    Raises ``TypeError`` or ``ValueError`` naming the argument that is wrong, and ``UnimplementedError`` for
    coordinated reads, the cross-trainer cache and static sharding, which this release does not have. Elements that
    failed on a worker raise in their place, with ``worker host:port`` before the text. Shapes are those of the input.

    >>> import headrace as hr
    >>> with hr.service.DispatchServer() as dispatcher:
    ...     with hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target)):
    ...         ds = hr.Dataset.range(4).apply(hr.service.distribute("distributed_epoch", dispatcher.target))
    ...         sorted(int(x) for x in ds.map(lambda x: x + 1))
    [1, 2, 3, 4]
    """
    options = _reading_options(processing_mode, service, job_name, consumer_index, num_consumers,
                               max_outstanding_requests, data_transfer_protocol, compression, cross_trainer_cache,
                               target_workers, task_refresh_interval_hint_ms, worker_timeout, stall_timeout)

    def apply(dataset: Dataset) -> Dataset:
        if not isinstance(dataset, Dataset):
            raise TypeError(f"distribute: the input must be a Dataset, not {type(dataset).__name__}")
        _vouching.vouch(dataset._graph.function_names())
        return Dataset(_core.distribute(dataset._graph, *options), dataset.options())

    return apply


def register_dataset(service: Any, dataset: Dataset, compression: str | None = "AUTO",
                     dataset_id: str | None = None) -> str:
    """Hands a dataset to a service and returns its id, for ``from_dataset_id``: by default a new one, also for a dataset
    that was registered before. Trainers that share a job by its name share the id, too.

    compression: ``"AUTO"``, ``"SNAPPY"`` or None, of what the dataset's readers get unless they ask for another one.

    Raises ``AlreadyExistsError`` (or ``InvalidArgumentError``) for a ``dataset_id`` that another dataset has.

    >>> import headrace as hr
    >>> with hr.service.DispatchServer() as dispatcher:
    ...     hr.service.register_dataset(dispatcher.target, hr.Dataset.range(4), dataset_id="numbers")
    'numbers'
    """
    where = address_of(service)
    if not isinstance(dataset, Dataset):
        raise TypeError(f"register_dataset: dataset must be a Dataset, not {type(dataset).__name__}")
    packed, graph = _compression(compression), dataset._graph
    if packed != "auto":
        graph = _core.options(graph, None, None, None, None, packed)
    if dataset_id is not None:
        if not isinstance(dataset_id, str):
            raise TypeError(f"dataset_id must be a str, not {type(dataset_id).__name__}: {dataset_id!r}")
        if not dataset_id:
            raise ValueError("dataset_id must not be empty")
    _vouching.vouch(graph.function_names())
    # Random, not counted by the dispatcher: one that is started again gives no other dataset this id.
    out: str = _core.register_dataset(where, graph, dataset_id or uuid.uuid4().hex)
    return out


def from_dataset_id(processing_mode: Any, service: Any, dataset_id: Any, element_spec: Any = None,
                    job_name: str | None = None, consumer_index: int | None = None, num_consumers: int | None = None,
                    max_outstanding_requests: int | None = None, data_transfer_protocol: str | None = None,
                    cross_trainer_cache: CrossTrainerCache | None = None, target_workers: str = "AUTO", *,
                    compression: str | None = "AUTO", task_refresh_interval_hint_ms: int | None = None,
                    worker_timeout: float | None = None, stall_timeout: float | None = None) -> Dataset:
    """Reads the dataset that was registered under ``dataset_id``. Arguments as of ``distribute``.

    Trainers that read one ``dataset_id`` with the same ``job_name`` share its elements; other ids are other jobs.
    The spec is fetched; ``element_spec``, if it is given, is compared with it. Raises ``NotFoundError`` for an
    unknown id, and ``InvalidArgumentError`` for another spec.

    >>> import headrace as hr
    >>> with hr.service.DispatchServer() as dispatcher:
    ...     with hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target)):
    ...         id = hr.service.register_dataset(dispatcher.target, hr.Dataset.range(4))
    ...         ds = hr.service.from_dataset_id("distributed_epoch", dispatcher.target, id)
    ...         sorted(int(x) for x in ds)
    [0, 1, 2, 3]
    """
    options = _reading_options(processing_mode, service, job_name, consumer_index, num_consumers,
                               max_outstanding_requests, data_transfer_protocol, compression, cross_trainer_cache,
                               target_workers, task_refresh_interval_hint_ms, worker_timeout, stall_timeout)
    if isinstance(dataset_id, bytes):
        dataset_id = dataset_id.decode()
    everything = (*options, str(dataset_id))
    out = Dataset(_core.from_dataset_id(*everything))
    if element_spec is not None:
        given, real = flatten(element_spec), flatten(out.element_spec)
        if len(given) != len(real) or not all(a.is_compatible_with(b) for a, b in zip(given, real)):
            raise InvalidArgumentError(
                f"from_dataset_id: element_spec is {element_spec}, but dataset '{dataset_id}' gives "
                f"{out.element_spec}")
    return out
