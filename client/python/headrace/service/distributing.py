"""Datasets whose elements are made by a service."""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .. import _core
from .._processes import vouching as _vouching
from .._dataset import AUTOTUNE, Dataset
from .._options import AutoShardPolicy, Options
from .._random import drawing as _drawing
from .._specs import flatten
from .._tensors.values import integer, seconds
from ..errors import InvalidArgumentError, UnimplementedError
from .addresses import address_of
from .policies import CrossTrainerCache, mode_name
from .securing import Session, inner


def _reading_options(processing_mode: Any, service: Any, job_name: Any, consumer_index: Any, num_consumers: Any,
                     max_outstanding_requests: Any, data_transfer_protocol: Any, compression: Any,
                     cross_trainer_cache: Any, target_workers: Any, task_refresh_interval_hint_ms: Any,
                     worker_timeout: Any, stall_timeout: Any, guarantee: Any, rejoin: Any,
                     consumer_timeout: Any, session: Any) -> tuple[Any, ...]:
    """Checks the arguments and returns them as arguments for the engine."""
    mode, where = mode_name(processing_mode), address_of(service)
    if job_name is not None:
        if not isinstance(job_name, str):
            raise TypeError(f"job_name must be a str, not {type(job_name).__name__}: {job_name!r}")
        if not job_name:
            raise ValueError("job_name must not be empty")
    if (consumer_index is None) != (num_consumers is None):
        raise ValueError("consumer_index and num_consumers must be given together, or neither")
    rounds = None
    if num_consumers is not None:
        consumers, index = integer(num_consumers, "num_consumers"), integer(consumer_index, "consumer_index")
        if not 1 <= consumers <= 65_536:
            raise ValueError(f"num_consumers must be between 1 and 65536, not {consumers}")
        if not 0 <= index < consumers:
            raise ValueError(f"consumer_index must be between 0 and num_consumers - 1 ({consumers - 1}), not {index}")
        if job_name is None:
            raise ValueError("job_name must be given with consumer_index and num_consumers")
        if not isinstance(rejoin, bool):
            raise TypeError(f"rejoin must be a bool, not {type(rejoin).__name__}: {rejoin!r}")
        rounds = (index, consumers, rejoin, seconds(consumer_timeout, "consumer_timeout", 300.0))
    elif rejoin or consumer_timeout is not None:
        raise ValueError("rejoin and consumer_timeout are of coordinated reads: give consumer_index and num_consumers, too")
    if cross_trainer_cache is not None:
        if not isinstance(cross_trainer_cache, CrossTrainerCache):
            raise TypeError("cross_trainer_cache must be a CrossTrainerCache, not "
                            f"{type(cross_trainer_cache).__name__}")
        if job_name is None:
            raise ValueError("job_name must be given with cross_trainer_cache: by it the trainers find each other")
    if data_transfer_protocol not in (None, "grpc"):
        raise UnimplementedError(f"distribute: this release has no data_transfer_protocol {data_transfer_protocol!r}: "
                                 'it must be None or "grpc"')
    if not isinstance(target_workers, str) or target_workers.upper() not in ("AUTO", "ANY", "LOCAL"):
        raise ValueError(f"target_workers must be \"AUTO\", \"ANY\" or \"LOCAL\", not {target_workers!r}")
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
            seconds(worker_timeout, "worker_timeout", 60.0), seconds(stall_timeout, "stall_timeout", 3600.0),
            target_workers.lower(), _guarantee(guarantee),
            None if cross_trainer_cache is None else cross_trainer_cache._arguments(), rounds, inner(session))


def _guarantee(guarantee: Any) -> str:
    if isinstance(guarantee, str) and guarantee.lower() in ("at_most_once", "at_least_once"):
        return guarantee.lower()
    raise ValueError(f"guarantee must be \"at_most_once\" or \"at_least_once\", not {guarantee!r}")


def _compression(compression: Any) -> str:
    if compression is None:
        return "none"
    if isinstance(compression, str) and compression.lower() in ("auto", "none", "snappy"):
        return compression.lower()
    raise ValueError(f"compression must be \"AUTO\", \"SNAPPY\" or None, not {compression!r}")


def distribute(processing_mode: Any, service: Any = None, job_name: str | None = None, consumer_index: int | None = None,
               num_consumers: int | None = None, max_outstanding_requests: int | None = None,
               data_transfer_protocol: str | None = None, compression: str | None = "AUTO",
               cross_trainer_cache: CrossTrainerCache | None = None, target_workers: str = "AUTO", *,
               task_refresh_interval_hint_ms: int | None = None,
               worker_timeout: float | None = None, stall_timeout: float | None = None,
               guarantee: str = "at_most_once", rejoin: bool = False,
               consumer_timeout: float | None = None,
               session: Session | None = None) -> Callable[[Dataset], Dataset]:
    """For ``Dataset.apply``: the operators before ``distribute`` run on the workers of a service, the operators after
    it run in this process.

    processing_mode: how the workers share the dataset: a ``ShardingPolicy`` or a name of one.
    service: the dispatcher, ``host:port`` with any scheme or none. None, here and in all such arguments: the address
    in the environment variable HEADRACE_SERVICE.
    job_name: consumers with the same job name and dataset share the elements of the job: the n-th iteration of each
    reads the job's n-th repetition. A repetition that is finished gives no more elements, for as long as the
    dispatcher lives. Consumers of one job must have the same processing mode and target workers.
    cross_trainer_cache: with it each trainer of the job is given all elements of each worker, which are made once: see
        ``CrossTrainerCache``. It needs a ``job_name`` and an infinite dataset (or ``expected_trainers``), which is iterated
        once.
    consumer_index, num_consumers: coordinated reads. In each round every one of the ``num_consumers`` consumers of the job
        gets one element; the elements of a round come from one worker, and are consecutive in its output. Coordinated
        reads need a ``job_name`` and an infinite dataset (``repeat()`` without a count).
    rejoin: for coordinated reads: this consumer replaces an earlier consumer with the same index that has left or is
        lost, if there was one, and continues with the next rounds. An earlier consumer that still reads is given up.
    consumer_timeout: for coordinated reads: seconds to wait while consumers are missing (300).
    max_outstanding_requests: the most elements that all workers together send in advance; None: only their bytes are
        bounded.
    compression: ``"AUTO"``, ``"SNAPPY"`` or None.
    worker_timeout: seconds to wait while no dispatcher has answered yet, while there is no worker at all, and while
        there is no worker for a part of the dataset under a static policy (60).
    stall_timeout: seconds to wait for an element while workers run the job (3600). It must exceed the time that one
        element may take.
    target_workers: from which workers to read. ``"LOCAL"``: only from workers in this process, whose elements come
        without sockets or copies; raises ``FailedPreconditionError`` if there are none. ``"ANY"``: from all workers
        except those in other processes with the tag ``"COLOCATED"``. ``"AUTO"``: as ``"LOCAL"`` under a static policy
        if the dispatcher's ``deployment_mode`` is ``"COLOCATED"``, else as ``"ANY"``.
    task_refresh_interval_hint_ms: accepted without effect, because tasks are announced at once.
    guarantee: under ``DYNAMIC``, if workers or trainers are lost: ``"at_most_once"`` (no element is given twice, some
        may be missing) or ``"at_least_once"`` (no element is missing, some may be given twice). If a trainer of a
        shared job dies, or is stopped for longer than its lease, the elements that it was given last and had not
        reported are given to no other trainer under ``"at_most_once"``, and to another trainer again under
        ``"at_least_once"``.
    session: the ``Session`` with which this program connects to the service. None: the session of the process, see
        ``secure``.

    Raises ``TypeError`` or ``ValueError`` naming the argument that is wrong, and ``UnimplementedError`` for values
    that this release does not support. If an element fails on a worker, its error is raised at the element's place,
    with ``worker host:port`` before the text. The elements have the spec of the input's elements.

    >>> import headrace as hr
    >>> with hr.service.DispatchServer() as dispatcher:
    ...     with hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target)):
    ...         ds = hr.Dataset.range(4).apply(hr.service.distribute("distributed_epoch", dispatcher.target))
    ...         sorted(int(x) for x in ds.map(lambda x: x + 1))
    [1, 2, 3, 4]
    """
    options = _reading_options(processing_mode, service, job_name, consumer_index, num_consumers,
                               max_outstanding_requests, data_transfer_protocol, compression, cross_trainer_cache,
                               target_workers, task_refresh_interval_hint_ms, worker_timeout, stall_timeout, guarantee, rejoin,
                               consumer_timeout, session)

    def apply(dataset: Dataset) -> Dataset:
        if not isinstance(dataset, Dataset):
            raise TypeError(f"distribute: the input must be a Dataset, not {type(dataset).__name__}")
        _vouching.vouch(dataset._graph.python_programs())
        if mode_name(processing_mode) == "dynamic":
            _drawing.warn_of_what_is_not_decided(dataset, "distribute")
        if dataset._graph.measures() and dataset._given_options.experimental_stats.aggregator is not None:
            warnings.warn("distribute: latency_stats and bytes_produced_stats measure nothing on workers; put them behind "
                          "distribute", RuntimeWarning, stacklevel=3)
        return Dataset(_core.distribute(_drawing.decided(dataset), *options), _options_of(dataset.options(), job_name))

    return apply


def _fits(given: Any, real: Any) -> bool:
    """True if elements that were declared as ``given`` may have the spec ``real``, including names and nesting."""
    if isinstance(given, (tuple, Mapping)) or isinstance(real, (tuple, Mapping)):
        if isinstance(given, Mapping) and isinstance(real, Mapping):
            return given.keys() == real.keys() and all(_fits(given[key], real[key]) for key in given)
        return (isinstance(given, tuple) and isinstance(real, tuple) and len(given) == len(real)
                and all(map(_fits, given, real)))
    left, right = flatten(given), flatten(real)
    return len(left) == len(right) and all(a.is_compatible_with(b) for a, b in zip(left, right))


def _options_of(input: Options, job_name: str | None) -> Options:
    """The options of the input. If there is a job name, sharding is turned off in them: the consumers of the job
    share its elements already.
    """
    if job_name is None:
        return input
    own = Options()
    own.experimental_distribute.auto_shard_policy = AutoShardPolicy.OFF
    return input.merge(own)


def register_dataset(service: Any, dataset: Dataset, compression: str | None = "AUTO",
                     dataset_id: str | None = None, *, timeout: float | None = None,
                     session: Session | None = None) -> str:
    """Registers a dataset with a service and returns its id, for ``from_dataset_id``: by default a new id, even for a
    dataset that was registered before. Trainers that share a job by its name must share the id, too.

    compression: ``"AUTO"``, ``"SNAPPY"`` or None, for the elements that readers of the dataset get.
    timeout: seconds to wait for a dispatcher that does not run yet, and for its answer (60).
    session: as in ``distribute``.

    If another dataset is already registered as ``dataset_id``, and has the same ``element_spec`` and the same kind of
    size (finite, infinite or unknown), the id keeps that dataset, with a ``RuntimeWarning`` if the graphs differ.
    Raises ``AlreadyExistsError`` if the spec or the kind of size differs.

    >>> import headrace as hr
    >>> with hr.service.DispatchServer() as dispatcher:
    ...     hr.service.register_dataset(dispatcher.target, hr.Dataset.range(4), dataset_id="numbers")
    'numbers'
    """
    where = address_of(service)
    if not isinstance(dataset, Dataset):
        raise TypeError(f"register_dataset: dataset must be a Dataset, not {type(dataset).__name__}")
    packed, graph = _compression(compression), _drawing.decided(dataset)
    if dataset_id is not None:
        if not isinstance(dataset_id, str):
            raise TypeError(f"dataset_id must be a str, not {type(dataset_id).__name__}: {dataset_id!r}")
        if not dataset_id:
            raise ValueError("dataset_id must not be empty")
    _vouching.vouch(graph.python_programs())
    _drawing.warn_of_what_is_not_decided(dataset, "register_dataset")
    # The id is random, not counted by the dispatcher, so that a restarted dispatcher gives this id to no other dataset.
    known: str
    known, warning = _core.register_dataset(where, graph, dataset_id or uuid.uuid4().hex, packed,
                                            seconds(timeout, "timeout", 60.0), inner(session))
    if warning:
        warnings.warn(f"register_dataset: {warning}", RuntimeWarning, stacklevel=2)
    return known


def from_dataset_id(processing_mode: Any, service: Any, dataset_id: Any, element_spec: Any = None,
                    job_name: str | None = None, consumer_index: int | None = None, num_consumers: int | None = None,
                    max_outstanding_requests: int | None = None, data_transfer_protocol: str | None = None,
                    cross_trainer_cache: CrossTrainerCache | None = None, target_workers: str = "AUTO", *,
                    compression: str | None = "AUTO", task_refresh_interval_hint_ms: int | None = None,
                    worker_timeout: float | None = None, stall_timeout: float | None = None,
                    guarantee: str = "at_most_once", rejoin: bool = False,
                    consumer_timeout: float | None = None, session: Session | None = None) -> Dataset:
    """Reads the dataset that was registered under ``dataset_id``. The other arguments are as in ``distribute``.

    Trainers that read one ``dataset_id`` with the same ``job_name`` share its elements; other ids are other jobs. The
    spec, the cardinality and the compression are those with which the dataset was registered. ``element_spec``, and a
    ``compression`` other than ``"AUTO"``, are compared with them if they are given. Raises ``NotFoundError`` for an
    unknown id, and ``InvalidArgumentError``, which names both values, if the spec or the compression differs.

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
                               target_workers, task_refresh_interval_hint_ms, worker_timeout, stall_timeout, guarantee, rejoin,
                               consumer_timeout, session)
    if isinstance(dataset_id, bytes):
        dataset_id = dataset_id.decode()
    everything = (*options, str(dataset_id))
    out = Dataset(_core.from_dataset_id(*everything), _options_of(Options(), job_name))
    if element_spec is not None:
        if not _fits(element_spec, out.element_spec):
            raise InvalidArgumentError(
                f"from_dataset_id: element_spec is {element_spec}, but dataset '{dataset_id}' gives "
                f"{out.element_spec}")
    return out
