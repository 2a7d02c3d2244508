"""The configurations of servers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .._tensors.values import integer
from ..errors import UnimplementedError
from .addresses import port_of


class DispatcherConfig(NamedTuple):
    """The configuration of a dispatcher. The first nine fields are those of tf.data. All times are in milliseconds.

    port: the port on which the dispatcher listens; 0: any free port. protocol: only a name, kept for ``target``.
    worker_timeout_ms: how long a worker that sends no heartbeat counts as alive (5000). client_timeout_ms: how long a
    trainer that sends no heartbeat remains a reader (120,000); if worker_timeout_ms is less, the rows of a shared job
    that such a trainer has received go to waiting trainers after worker_timeout_ms. heartbeat_interval_ms: the time
    between two heartbeats of a worker or trainer: by default a second, and at most a quarter of the shorter one of
    these two time-outs; a given value may be at most half of the shorter one.
    job_gc_timeout_ms: a named job that is not finished and that no trainer reads is collected after this time (300,000;
    -1: never); a trainer that reads it later begins anew. job_gc_check_interval_ms: the time between two checks for such
    jobs (600,000). gc_dynamic_sharding_jobs: jobs under ``ShardingPolicy.DYNAMIC`` are collected, too.
    host, tls_cert, tls_key, tls_ca, insecure: like the options of ``headrace dispatcher``.
    http_port: the port of a page that shows the service, and of ``/metrics`` (docs/monitoring.md); 0: any free port;
    None: there is no page.

    deployment_mode: where workers run: ``"REMOTE"`` (the default), ``"COLOCATED"`` (in trainers' processes, so that a
    trainer reads from its own worker under the static policies) or ``"HYBRID"`` (workers of both kinds).
    fault_tolerant_mode, work_dir: with both, datasets and jobs are kept in that directory, and a dispatcher that is
    restarted with it continues. ``work_dir`` alone does nothing.

    worker_addresses: the workers that may register, in the order of their parts of a dataset under the static
    policies (``FILE``, ``DATA``, ``FILE_OR_DATA``, ``HINT``), which need this list. Each entry stands for one worker:
    ``host:port``, or ``host`` or ``host:%port%`` for a worker at any port of that host.

    worker_max_concurrent_snapshots: the most saves (``experimental.distributed_save``) in which a worker takes part at a
    time (0: 3).

    ``TypeError`` and ``ValueError`` name the field that is wrong.

    >>> DispatcherConfig(port=5050, worker_timeout_ms=10_000).port
    5050
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
    # Fields that tf.data has only in its protocol buffers.
    client_timeout_ms: int | None = None
    gc_dynamic_sharding_jobs: bool = False
    deployment_mode: str | None = None
    # Fields that only headrace has.
    heartbeat_interval_ms: int | None = None
    host: str = "127.0.0.1"
    advertise_host: str = ""
    tls_cert: str = ""
    tls_key: str = ""
    tls_ca: str = ""
    insecure: bool = False
    http_port: int | None = None


class WorkerConfig(NamedTuple):
    """The configuration of a worker. The first eight fields are those of tf.data. All times are in milliseconds.

    dispatcher_address: ``host:port``, with any scheme or none; None: the address in the environment variable
    HEADRACE_SERVICE. worker_address: the address to which trainers connect, ``host`` or ``host:port``. port: the port
    from which trainers read; 0: any free port. data_transfer_address, data_transfer_port: other names of
    worker_address and port (a worker has only one port, from which trainers read); ``host:%dts_port%`` is the host
    with the port that the worker got. worker_tags: labels that the status shows; a worker with the tag
    ``"COLOCATED"`` serves only trainers of its own process.
    heartbeat_interval_ms: the time between two heartbeats of the worker: by default the time that the dispatcher requests,
    and never more than half of the dispatcher's ``worker_timeout_ms``.
    dispatcher_timeout_ms: if the dispatcher does not answer for this time (3,600,000), ``join`` raises
    ``DeadlineExceededError``. A refusal counts as an answer.
    shutdown_quiet_period_ms: the time that ``stop`` may take to send trainers the elements that were begun for them (0:
    half a second); ``stop`` returns earlier if they were sent.
    python_processes, python_memory_bytes, python_call_timeout_ms: bounds of the pool that runs Python functions: the
    number of processes (by default the number of CPUs), the memory of each, and the time of one call. If a call exceeds
    a bound, its element fails, and the process that ran it is replaced.
    python_from_anyone: true: the worker runs the Python functions of every client that reaches the dispatcher. If it is
    false and there is no TLS, the worker runs only functions of datasets that programs of its own user distributed on
    this host.

    cross_trainer_cache_size_bytes: memory for elements that trainers share by a ``CrossTrainerCache``, of all jobs together
    (0: a quarter of the memory that the process may have).

    snapshot_max_chunk_size_bytes: when a file of a saved dataset has this size, the worker begins another file (0: 6
    GiB).

    The only transfer protocol of this release is ``"grpc"``, which is only a name: for another one, the server raises
    ``UnimplementedError``. ``TypeError`` and ``ValueError`` name the field that is wrong.

    >>> WorkerConfig("localhost:5050", worker_tags=["gpu"]).dispatcher_address
    'localhost:5050'
    """

    dispatcher_address: str | None
    worker_address: str | None = None
    port: int = 0
    protocol: str | None = "grpc"
    heartbeat_interval_ms: int | None = None
    dispatcher_timeout_ms: int | None = None
    data_transfer_protocol: str | None = None
    data_transfer_address: str | None = None
    # Fields that tf.data has only in its protocol buffers.
    worker_tags: list[str] | None = None
    data_transfer_port: int = 0
    cross_trainer_cache_size_bytes: int | None = None
    snapshot_max_chunk_size_bytes: int | None = None
    shutdown_quiet_period_ms: int = 0
    # Fields that only headrace has.
    host: str = "127.0.0.1"
    tls_cert: str = ""
    tls_key: str = ""
    tls_ca: str = ""
    insecure: bool = False
    python_processes: int | None = None
    python_memory_bytes: int | None = None
    python_call_timeout_ms: int | None = None
    python_from_anyone: bool = False


# -- checks ---------------------------------------------------------------------------------------------

_Check = Callable[[Any, str], object]


def _text(value: Any, field: str) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{field} must be a str, not {type(value).__name__}: {value!r}")


def _yes_or_no(value: Any, field: str) -> None:
    if not isinstance(value, bool):
        raise TypeError(f"{field} must be a bool, not {type(value).__name__}: {value!r}")


def _texts(value: Any, field: str) -> None:
    if isinstance(value, str) or not isinstance(value, (list, tuple)):
        raise TypeError(f"{field} must be a list of str, not {type(value).__name__}: {value!r}")
    for one in value:
        _text(one, field)
        if not one:
            raise ValueError(f"{field} must not hold empty strings")


def _amount(value: Any, field: str) -> None:
    if integer(value, field) < 0:
        raise ValueError(f"{field} must be 0 or more, not {value}")


def _number(value: Any, field: str) -> None:
    _amount(value, field)
    if value >= 1 << 63:
        raise ValueError(f"{field} must be less than 2**63, not {value}")


#: About thirty years: the engine counts nanoseconds in 64 bits.
_LONGEST_MS = 10**12


def _milliseconds(value: Any, field: str) -> None:
    _amount(value, field)
    if value > _LONGEST_MS:
        raise ValueError(f"{field} must be at most {_LONGEST_MS} milliseconds, not {value}")


def _lease(value: Any, field: str) -> None:
    _milliseconds(value, field)
    if value > 3_600_000:
        raise ValueError(f"{field} must be at most 3600000 (an hour), not {value}: so long would the work of a lost worker wait")


def _some(value: Any, field: str) -> None:
    if integer(value, field) < 1:
        raise ValueError(f"{field} must be 1 or more, not {value}")


def _amount_or_never(value: Any, field: str) -> None:
    if integer(value, field) < -1:
        raise ValueError(f"{field} must be 0 or more, or -1, not {value}")
    if value > _LONGEST_MS:
        raise ValueError(f"{field} must be at most {_LONGEST_MS} milliseconds, or -1 for never, not {value}")


def _mode(value: Any, field: str) -> None:
    if value not in ("COLOCATED", "REMOTE", "HYBRID"):
        raise ValueError(f"{field} must be \"COLOCATED\", \"REMOTE\" or \"HYBRID\", not {value!r}")


_CHECKS: dict[str, _Check] = {
    "port": port_of, "http_port": port_of, "data_transfer_port": port_of, "worker_addresses": _texts, "worker_tags": _texts,
    "fault_tolerant_mode": _yes_or_no, "gc_dynamic_sharding_jobs": _yes_or_no, "insecure": _yes_or_no,
    "python_from_anyone": _yes_or_no,
    "python_processes": _some, "python_memory_bytes": _some, "python_call_timeout_ms": _some,
    "worker_timeout_ms": _lease, "job_gc_timeout_ms": _amount_or_never, "deployment_mode": _mode,
    **{field: _milliseconds for field in (
        "job_gc_check_interval_ms", "client_timeout_ms", "heartbeat_interval_ms",
        "dispatcher_timeout_ms", "shutdown_quiet_period_ms")},
    **{field: _number for field in (
        "worker_max_concurrent_snapshots", "cross_trainer_cache_size_bytes", "snapshot_max_chunk_size_bytes")},
}

#: Fields that have no effect in this release, each with the values that are accepted.
_MISSING: dict[str, tuple[Any, ...]] = {"data_transfer_protocol": ("", "grpc")}


def check(config: DispatcherConfig | WorkerConfig) -> None:
    """Raises an error for a field with a wrong type or value, or with a value that this release does not support."""
    what = type(config).__name__
    for field, value in config._asdict().items():
        if value is None and (field in ("protocol", "dispatcher_address") or type(config)._field_defaults.get(field, "") is None):
            continue
        _CHECKS.get(field, _text)(value, f"{what}: {field}")
    for field, harmless in _MISSING.items():
        value = getattr(config, field, None)
        if value is not None and value not in harmless:
            raise UnimplementedError(f"{what}: this release has no {field} (it is {value!r})")
    if isinstance(config, WorkerConfig) and config.port and config.data_transfer_port not in (0, config.port):
        raise ValueError(f"WorkerConfig: port is {config.port} and data_transfer_port is {config.data_transfer_port}; a "
                         "worker has one port, that from which trainers read: one of them would be right")
