"""How servers run."""

from __future__ import annotations

from typing import NamedTuple


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
