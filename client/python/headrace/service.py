"""Run input pipelines on the workers of a service. Also known as ``headrace.experimental.service``.

One dispatcher, workers where there are cores to spare, and ``distribute`` in the trainer's pipeline:

>>> import headrace as hr
>>> dispatcher = hr.service.DispatchServer()
>>> worker = hr.service.WorkerServer(
...     hr.service.WorkerConfig(dispatcher_address=dispatcher.target.split("://")[1]))
>>> ds = hr.Dataset.range(5).map(lambda x: x * x)
>>> ds = ds.apply(hr.service.distribute(processing_mode=hr.service.ShardingPolicy.DYNAMIC,
...                                     service=dispatcher.target))
>>> sorted(x.item() for x in ds)
[0, 1, 4, 9, 16]
>>> worker.stop()
>>> dispatcher.stop()
"""

from __future__ import annotations

import enum
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from . import _core, _lifetime
from ._dataset import AUTOTUNE, Dataset
from ._specs import flatten
from ._values import integer
from .errors import InvalidArgumentError, OpError, UnimplementedError

COMPRESSION_AUTO = "AUTO"
COMPRESSION_NONE = None


class ShardingPolicy(enum.IntEnum):
    """How the workers of a service share a dataset."""

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
    """

    def __init__(self, trainer_id: str) -> None:
        if not trainer_id:
            raise ValueError("CrossTrainerCache: trainer_id must not be empty")
        if not isinstance(trainer_id, str):
            raise TypeError(f"CrossTrainerCache: trainer_id must be a str, not {type(trainer_id).__name__}")
        self.trainer_id = trainer_id


# -- configurations -----------------------------------------------------------------------------------


class DispatcherConfig(NamedTuple):
    """How a dispatcher runs. The first nine fields are those of tf.data; milliseconds throughout.

    port: where it listens; 0: any free port. protocol: only a name, kept for ``target``.
    worker_timeout_ms, client_timeout_ms: how long a worker or trainer that is not heard of counts as alive (one
    lease for both; 5000 by default). heartbeat_interval_ms: how often they are asked to speak (1000).
    host, tls_cert, tls_key, tls_ca, insecure: as of ``headrace dispatcher``.

    ``work_dir``, ``fault_tolerant_mode``, ``worker_addresses``, ``worker_max_concurrent_snapshots``,
    ``deployment_mode`` and the collection of unused jobs are not in this release: a server that is given them raises
    ``UnimplementedError``.
    """

    port: int = 0
    protocol: str | None = "grpc"
    work_dir: str | None = None
    fault_tolerant_mode: bool = False
    worker_addresses: list[str] | None = None
    job_gc_check_interval_ms: int | None = None
    job_gc_timeout_ms: int | None = None
    worker_timeout_ms: int | None = None
    worker_max_concurrent_snapshots: int | None = None
    # What the peer keeps in its messages.
    client_timeout_ms: int | None = None
    gc_dynamic_sharding_jobs: bool = False
    deployment_mode: str | None = None
    # Ours.
    heartbeat_interval_ms: int | None = None
    host: str = "127.0.0.1"
    advertise_host: str = ""
    tls_cert: str = ""
    tls_key: str = ""
    tls_ca: str = ""
    insecure: bool = False


class WorkerConfig(NamedTuple):
    """How a worker runs. The first eight fields are those of tf.data; milliseconds throughout.

    dispatcher_address: ``host:port``, with any scheme or none. worker_address: what trainers are told, ``host`` or
    ``host:port``. port: from which trainers read; 0: any free port. worker_tags: labels that jobs may ask for.
    heartbeat_interval_ms, dispatcher_timeout_ms: the dispatcher decides these here, and a worker waits for its
    dispatcher as long as it lives; a warning says so.

    ``cross_trainer_cache_size_bytes``, ``snapshot_max_chunk_size_bytes``, ``shutdown_quiet_period_ms`` and other
    transfer protocols are not in this release: a server that is given them raises ``UnimplementedError``.
    """

    dispatcher_address: str
    worker_address: str | None = None
    port: int = 0
    protocol: str | None = "grpc"
    heartbeat_interval_ms: int | None = None
    dispatcher_timeout_ms: int | None = None
    data_transfer_protocol: str | None = None
    data_transfer_address: str | None = None
    # What the peer keeps in its messages.
    worker_tags: list[str] | None = None
    data_transfer_port: int = 0
    cross_trainer_cache_size_bytes: int | None = None
    snapshot_max_chunk_size_bytes: int | None = None
    shutdown_quiet_period_ms: int = 0
    # Ours.
    host: str = "127.0.0.1"
    tls_cert: str = ""
    tls_key: str = ""
    tls_ca: str = ""
    insecure: bool = False


def _refuse(config: Any, *fields: str) -> None:
    for field in fields:
        value = getattr(config, field)
        if value is not None and value != type(config)._field_defaults.get(field):
            raise UnimplementedError(f"{type(config).__name__}: this release has no {field} (it is {value!r})")


def _port(value: Any, argument: str) -> int:
    port = integer(value, argument)
    if not 0 <= port < 65536:
        raise ValueError(f"{argument} must be between 0 and 65535, not {port}")
    return port


def _ms(value: Any, argument: str) -> int:
    if value is None:
        return 0
    ms = integer(value, argument)
    if ms < 0:
        raise ValueError(f"{argument} must be 0 or more, not {ms}")
    return max(ms, 1)


def _endpoint(config: Any, **more: Any) -> dict[str, Any]:
    return {"host": config.host, "port": 0, "data_port": 0, "advertise_host": "", "advertise_data": "",
            "insecure": config.insecure, "tls_cert": config.tls_cert, "tls_key": config.tls_key,
            "tls_ca": config.tls_ca, **more}


def _without_scheme(address: Any, argument: str) -> str:
    if not isinstance(address, str):
        raise TypeError(f"{argument} must be a str, not {type(address).__name__}: {address!r}")
    if not address:
        raise ValueError(f"{argument} must not be empty")
    return address.split("://", 1)[-1]


# -- servers ----------------------------------------------------------------------------------------------


class _Server:
    """What dispatchers and workers have in common: started, joined, stopped; ``with`` stops."""

    _running: Any = None
    _stopped: threading.Event | None = None

    def __init__(self, start: bool) -> None:
        if start:
            self.start()

    def start(self) -> None:
        """Starts the server. Raises an ``OpError`` if it cannot (a port in use)."""
        if self._running is not None:
            return
        self._running = self._launch()
        self._stopped = threading.Event()
        _lifetime.stops_at_exit(self)

    def join(self) -> None:
        """Waits until the server is stopped, by another thread or Ctrl-C."""
        if self._stopped is not None:
            self._stopped.wait()

    def stop(self) -> None:
        """Stops the server. One that does not run is left alone."""
        running, self._running = self._running, None
        if running is not None:
            running.stop()
        if self._stopped is not None:
            self._stopped.set()

    def _launch(self) -> Any:
        raise NotImplementedError

    def _started(self) -> Any:
        if self._running is None:
            raise RuntimeError(f"this {type(self).__name__} does not run: start() it")
        return self._running

    def __enter__(self) -> Any:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __del__(self) -> None:
        if not sys.is_finalizing():
            self.stop()


class DispatchServer(_Server):
    """A dispatcher in this process: knows datasets, workers and jobs.

    ``config``: a ``DispatcherConfig``; by default it listens on a free port of this host.
    """

    def __init__(self, config: DispatcherConfig | None = None, start: bool = True) -> None:
        config = config or DispatcherConfig()
        if not isinstance(config, DispatcherConfig):
            raise TypeError(f"config must be a DispatcherConfig, not {type(config).__name__}")
        if config.fault_tolerant_mode and not config.work_dir:
            raise ValueError("DispatcherConfig: fault_tolerant_mode needs a work_dir")
        self._config = config
        super().__init__(start)

    def _launch(self) -> Any:
        c = self._config
        _refuse(c, "work_dir", "fault_tolerant_mode", "worker_addresses", "job_gc_check_interval_ms",
                "job_gc_timeout_ms", "worker_max_concurrent_snapshots", "gc_dynamic_sharding_jobs", "deployment_mode")
        leases = {_ms(x, name) for x, name in ((c.worker_timeout_ms, "worker_timeout_ms"),
                                               (c.client_timeout_ms, "client_timeout_ms")) if x is not None}
        if len(leases) > 1:
            raise UnimplementedError("DispatcherConfig: worker_timeout_ms and client_timeout_ms are one lease here, and "
                                     "must not differ")
        return _core.start_dispatcher(
            _endpoint(c, port=_port(c.port, "port"), advertise_host=c.advertise_host),
            _ms(c.heartbeat_interval_ms, "heartbeat_interval_ms"), max(leases, default=0))

    @property
    def target(self) -> str:
        """``protocol://host:port``, for ``distribute``."""
        return f"{self._config.protocol or 'grpc'}://{self._started().target}"

    @property
    def _address(self) -> str:
        target: str = self._started().target
        return target

    def status(self) -> dict[str, Any]:
        """Workers, jobs and tasks, as ``headrace status`` tells them."""
        return status(self._address)

    def num_workers(self) -> int:
        """How many workers are registered and alive."""
        return sum(1 for w in self.status()["workers"] if w["alive"])

    def _num_workers(self) -> int:
        return self.num_workers()


class WorkerServer(_Server):
    """A worker in this process: runs input pipelines for a dispatcher.

    Registers as soon as the dispatcher can be reached, and again whenever it was lost. Python functions in pipelines
    run in processes of their own beside it.
    """

    def __init__(self, config: WorkerConfig, start: bool = True) -> None:
        if not isinstance(config, WorkerConfig):
            raise TypeError(f"config must be a WorkerConfig, not {type(config).__name__}")
        if not config.dispatcher_address:
            raise ValueError("WorkerConfig: dispatcher_address must not be empty")
        self._config = config
        super().__init__(start)

    def _launch(self) -> Any:
        c = self._config
        _refuse(c, "data_transfer_address", "data_transfer_port", "cross_trainer_cache_size_bytes",
                "snapshot_max_chunk_size_bytes", "shutdown_quiet_period_ms")
        if c.data_transfer_protocol not in (None, "", "grpc"):
            raise UnimplementedError(f"WorkerConfig: this release has no data_transfer_protocol "
                                     f"{c.data_transfer_protocol!r}")
        for field in ("heartbeat_interval_ms", "dispatcher_timeout_ms"):
            if getattr(c, field) is not None:
                warnings.warn(f"WorkerConfig: {field} has no effect: the dispatcher decides how often workers speak, "
                              "and workers wait for it as long as they live", stacklevel=4)
        tags = list(c.worker_tags or [])
        if "" in tags:
            raise ValueError("WorkerConfig: worker_tags must not be empty strings")
        advertised = {}
        if c.worker_address:
            where = _without_scheme(c.worker_address, "worker_address").replace(":%port%", "")
            advertised = {"advertise_data" if ":" in where else "advertise_host": where}
        return _core.start_worker(_endpoint(c, data_port=_port(c.port, "port"), **advertised),
                                  _without_scheme(c.dispatcher_address, "dispatcher_address"), tags)

    @property
    def address(self) -> str:
        """``host:port`` from which trainers read."""
        out: str = self._started().address
        return out

    def num_tasks(self) -> int:
        """How many tasks run here."""
        told = status(self._config.dispatcher_address)
        mine = {w["worker"] for w in told["workers"] if w["address"] == self.address}
        return sum(1 for job in told["jobs"] for task in job["tasks"]
                   if task["worker"] in mine and task["state"] in ("starting", "running"))

    def _num_tasks(self) -> int:
        return self.num_tasks()


def status(service: str, timeout: float = 5.0) -> dict[str, Any]:
    """What a service is doing. Raises ``UnavailableError`` or ``DeadlineExceededError`` if nobody answers."""
    out: dict[str, Any] = _core.service_status(_without_scheme(service, "service"), timeout)
    return out


# -- datasets of a service ------------------------------------------------------------------------------------


def _mode(processing_mode: Any) -> str:
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


def _service(service: Any) -> str:
    if isinstance(service, tuple) and len(service) == 2:
        service = service[1]
    if not isinstance(service, str):
        raise TypeError(f"service must be a str, not {type(service).__name__}: {service!r}")
    if not service:
        raise ValueError("service must not be empty")
    return _without_scheme(service, "service")


def _reading_options(processing_mode: Any, service: Any, job_name: Any, consumer_index: Any, num_consumers: Any,
                     max_outstanding_requests: Any, data_transfer_protocol: Any, compression: Any,
                     cross_trainer_cache: Any, target_workers: Any, task_refresh_interval_hint_ms: Any,
                     worker_timeout: Any) -> tuple[Any, ...]:
    """The checked arguments, as the engine takes them."""
    mode, where = _mode(processing_mode), _service(service)
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
    if worker_timeout is not None and not worker_timeout > 0:
        raise ValueError(f"worker_timeout must be more than 0 seconds, not {worker_timeout!r}")
    return (mode, where, job_name or "", outstanding, _compression(compression),
            60.0 if worker_timeout is None else float(worker_timeout))


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
               worker_timeout: float | None = None) -> Callable[[Dataset], Dataset]:
    """For ``Dataset.apply``: what comes before runs on the workers of a service, what follows runs here.

    processing_mode: how the workers share the dataset: a ``ShardingPolicy`` or a name of one.
    service: the dispatcher, ``host:port`` with any scheme or none.
    job_name: consumers with the same job name and dataset share its elements; each iteration is the next repetition.
    max_outstanding_requests: elements asked of all workers in advance; None: bounded by bytes alone.
    compression: ``"AUTO"``, ``"SNAPPY"`` or None.
    worker_timeout: seconds to wait while there is no worker at all (60).
    task_refresh_interval_hint_ms: accepted; here tasks are announced at once.

    Raises ``TypeError`` or ``ValueError`` naming the argument that is wrong, and ``UnimplementedError`` for
    coordinated reads, the cross-trainer cache and static sharding, which this release does not have.
    """
    options = _reading_options(processing_mode, service, job_name, consumer_index, num_consumers,
                               max_outstanding_requests, data_transfer_protocol, compression, cross_trainer_cache,
                               target_workers, task_refresh_interval_hint_ms, worker_timeout)

    def apply(dataset: Dataset) -> Dataset:
        if not isinstance(dataset, Dataset):
            raise TypeError(f"distribute: the input must be a Dataset, not {type(dataset).__name__}")
        return Dataset(_core.distribute(dataset._graph, *options), dataset.options())

    return apply


def register_dataset(service: Any, dataset: Dataset, compression: str | None = "AUTO",
                     dataset_id: str | None = None) -> str:
    """Hands a dataset to a service and returns its id, for ``from_dataset_id``: by default one that stands for what it
    is, so that the same dataset has the same id.

    Raises ``AlreadyExistsError`` (or ``InvalidArgumentError``) for a ``dataset_id`` that another dataset has.
    """
    where = _service(service)
    if not isinstance(dataset, Dataset):
        raise TypeError(f"register_dataset: dataset must be a Dataset, not {type(dataset).__name__}")
    _compression(compression)
    if dataset_id is not None:
        if not isinstance(dataset_id, str):
            raise TypeError(f"dataset_id must be a str, not {type(dataset_id).__name__}: {dataset_id!r}")
        if not dataset_id:
            raise ValueError("dataset_id must not be empty")
    out: str = _core.register_dataset(where, dataset._graph, dataset_id or dataset._graph.fingerprint())
    return out


def from_dataset_id(processing_mode: Any, service: Any, dataset_id: Any, element_spec: Any = None,
                    job_name: str | None = None, consumer_index: int | None = None, num_consumers: int | None = None,
                    max_outstanding_requests: int | None = None, data_transfer_protocol: str | None = None,
                    cross_trainer_cache: CrossTrainerCache | None = None, target_workers: str = "AUTO", *,
                    compression: str | None = "AUTO", task_refresh_interval_hint_ms: int | None = None,
                    worker_timeout: float | None = None) -> Dataset:
    """Reads the dataset that was registered under ``dataset_id``. Arguments as of ``distribute``.

    The spec is fetched; ``element_spec``, if it is given, is compared with it. Raises ``NotFoundError`` for an
    unknown id, and ``InvalidArgumentError`` for another spec.
    """
    options = _reading_options(processing_mode, service, job_name, consumer_index, num_consumers,
                               max_outstanding_requests, data_transfer_protocol, compression, cross_trainer_cache,
                               target_workers, task_refresh_interval_hint_ms, worker_timeout)
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


__all__ = [
    "COMPRESSION_AUTO", "COMPRESSION_NONE", "CrossTrainerCache", "DispatchServer", "DispatcherConfig", "OpError",
    "SHARD_HINT", "ShardingPolicy", "WorkerConfig", "WorkerServer", "distribute", "from_dataset_id",
    "register_dataset", "status",
]
