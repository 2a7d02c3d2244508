"""Dispatchers and workers in this process."""

from __future__ import annotations

import sys
import time
from typing import Any

from .. import _core
from .._processes import lifetime as _lifetime, pool as _pool, vouching as _vouching
from .._tensors.values import seconds
from ..errors import DeadlineExceededError, OpError, _make
from .addresses import without_scheme
from .configs import DispatcherConfig, WorkerConfig, check
from .securing import Session, inner


#: The default times in milliseconds for which, after its last heartbeat, a worker counts as alive, and a trainer
#: stays a reader.
_LEASE_MS = 5000
_CLIENT_MS = 120_000
#: Two times in seconds for a worker that is stopped. ``_DRAIN``: the time for sending the elements that it has begun,
#: if ``shutdown_quiet_period_ms`` is 0. ``_MOMENT``: the time that its tasks have to end after that, before the
#: processes that run Python functions are killed.
_DRAIN = 0.5
_MOMENT = 0.3
#: The most seconds for which ``WorkerServer.start`` waits until the worker is registered.
_REGISTERED = 5.0
#: The seconds after which ``WorkerServer.start`` reads the list of workers again.
_LOOK = 0.5


def _ms(value: int | None) -> int:
    """Milliseconds for the engine. There, 0 means the default, so the user's 0 becomes 1."""
    return 0 if value is None else max(value, 1)


def _endpoint(config: Any, **more: Any) -> dict[str, Any]:
    return {"host": config.host, "port": 0, "data_port": 0, "advertise_host": "", "advertise_data": "",
            "insecure": config.insecure, "tls_cert": config.tls_cert, "tls_key": config.tls_key,
            "tls_ca": config.tls_ca, **more}


class _Ending:
    """Records that a server has ended, and the reason if it ended without having been stopped."""

    def __init__(self) -> None:
        self.over = _core.Flag()
        self._why: tuple[int, str] | None = None

    def fail(self, code: int, message: str) -> None:
        # Code 0 means that the worker has left its service in order.
        self._why = (code, message) if code else None
        self.over.set()

    def check(self) -> None:
        """Raises the error with which the server failed, if it did."""
        if self._why is not None:
            raise _make(*self._why)


class _Server:
    """The common part of dispatchers and workers: they are started, joined and stopped; ``with`` stops them."""

    _running: Any = None
    _ending: _Ending | None = None
    _config: Any = None
    _own: Session | None = None

    def __init__(self, start: bool) -> None:
        if start:
            self.start()

    def start(self) -> None:
        """Starts the server. Raises an ``OpError`` if it cannot (a port in use).

        >>> dispatcher = DispatchServer(start=False)
        >>> dispatcher.start()
        >>> dispatcher.stop()
        """
        if self._running is not None:
            return
        self._ending = _Ending()
        self._running = self._launch(self._ending)
        _lifetime.stops_at_exit(self)

    def join(self) -> None:
        """Waits until the server is stopped, by another thread or Ctrl-C.

        For a worker it raises ``FailedPreconditionError`` if the dispatcher is of another major version,
        ``PermissionDeniedError`` if the worker is not in the dispatcher's list, and ``DeadlineExceededError``
        if the dispatcher did not answer for ``dispatcher_timeout_ms``.

        >>> with DispatchServer() as dispatcher:
        ...     dispatcher.stop()
        ...     dispatcher.join()
        """
        if self._ending is not None:
            self._ending.over.wait()
            self._ending.check()

    def stop(self) -> None:
        """Stops the server. Does nothing if the server does not run.

        >>> dispatcher = DispatchServer()
        >>> dispatcher.stop()
        """
        running, self._running = self._running, None
        self._own = None
        if running is not None:
            self._end(running)
        if self._ending is not None:
            self._ending.over.set()

    def _end(self, running: Any) -> None:
        running.stop(None)

    def _stop_time(self) -> float:
        """The seconds that the server has to stop, before the processes that run Python functions are killed."""
        return _MOMENT

    def _stop_within(self, seconds: float) -> None:
        if self._running is not None:
            self._running.stop(seconds)

    def _launch(self, ending: _Ending) -> Any:
        raise NotImplementedError

    def _session(self) -> Session | None:
        """The session in which the server's status is requested: with its own certificate, if it has one."""
        c = self._config
        if self._own is None and c.tls_cert:
            self._own = Session(c.tls_cert, c.tls_key, c.tls_ca)
        return self._own

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
    """A dispatcher in this process, which manages datasets, workers and jobs.

    ``config``: a ``DispatcherConfig``; by default it listens on a free port of this host.

    Raises ``TypeError``, ``ValueError`` or ``UnimplementedError`` naming the field that is wrong or missing, and an
    ``OpError`` if it cannot start (a port in use).

    >>> with DispatchServer() as dispatcher:
    ...     dispatcher.target.startswith("grpc://127.0.0.1:"), dispatcher.num_workers()
    (True, 0)
    """

    def __init__(self, config: DispatcherConfig | None = None, start: bool = True) -> None:
        config = config or DispatcherConfig()
        if not isinstance(config, DispatcherConfig):
            raise TypeError(f"config must be a DispatcherConfig, not {type(config).__name__}")
        if config.fault_tolerant_mode and not config.work_dir:
            raise ValueError("DispatcherConfig: fault_tolerant_mode needs a work_dir")
        check(config)
        self._config = config
        super().__init__(start)

    def _launch(self, ending: _Ending) -> Any:
        c = self._config
        heartbeat = _ms(c.heartbeat_interval_ms)
        for field, default in (("worker_timeout_ms", _LEASE_MS), ("client_timeout_ms", _CLIENT_MS)):
            limit = _ms(getattr(c, field)) or default
            if limit < 2 * heartbeat:
                raise ValueError(f"DispatcherConfig: {field} is {limit} and heartbeat_interval_ms is {heartbeat}; the "
                                 "time-out must be at least twice the interval, or they would die of one late message")
        collected = -1 if c.job_gc_timeout_ms == -1 else _ms(c.job_gc_timeout_ms)
        work_dir = c.work_dir if c.fault_tolerant_mode and c.work_dir else ""
        return _core.start_dispatcher(_endpoint(c, port=c.port, advertise_host=c.advertise_host), heartbeat,
                                      _ms(c.worker_timeout_ms), work_dir, _ms(c.client_timeout_ms),
                                      _ms(c.job_gc_check_interval_ms), collected, c.gc_dynamic_sharding_jobs,
                                      list(c.worker_addresses or ()), (c.deployment_mode or "REMOTE").lower(),
                                      c.worker_max_concurrent_snapshots or 0,
                                      -1 if c.http_port is None else c.http_port)

    @property
    def target(self) -> str:
        """``protocol://host:port``, for ``distribute``.

        >>> with DispatchServer() as dispatcher:
        ...     dispatcher.target.split(":")[0]
        'grpc'
        """
        return f"{self._config.protocol or 'grpc'}://{self._started().target}"

    @property
    def page(self) -> str | None:
        """The URL of the page that shows the service; None without ``http_port``.

        >>> with DispatchServer(DispatcherConfig(http_port=0)) as dispatcher:
        ...     dispatcher.page.startswith("http://127.0.0.1:")
        True
        """
        page: str | None = self._started().page
        return page

    @property
    def _address(self) -> str:
        target: str = self._started().target
        return target

    def status(self) -> dict[str, Any]:
        """Workers, jobs and tasks, as in the output of ``headrace status``.

        >>> with DispatchServer() as dispatcher:
        ...     dispatcher.status()["workers"]
        []
        """
        return status(self._address, session=self._session())

    def num_workers(self) -> int:
        """The number of workers that are registered and alive.

        >>> with DispatchServer() as dispatcher:
        ...     dispatcher.num_workers()
        0
        """
        return sum(1 for w in self.status()["workers"] if w["alive"])

    def _num_workers(self) -> int:
        return self.num_workers()


class WorkerServer(_Server):
    """A worker in this process: runs input pipelines for a dispatcher.

    ``start`` returns when the worker is registered at the dispatcher. If the dispatcher cannot be reached, ``start``
    returns before that, and the worker registers as soon as it can, as it does after each loss of the dispatcher.
    Python functions in pipelines run in child processes.

    Raises ``TypeError``, ``ValueError`` and other errors as ``DispatchServer`` does.

    >>> with DispatchServer() as dispatcher, WorkerServer(WorkerConfig(dispatcher.target)) as worker:
    ...     dispatcher.num_workers()
    1
    """

    _pool: _pool.Pool | None = None

    def __init__(self, config: WorkerConfig, start: bool = True) -> None:
        if not isinstance(config, WorkerConfig):
            raise TypeError(f"config must be a WorkerConfig, not {type(config).__name__}")
        if config.dispatcher_address == "":
            raise ValueError("WorkerConfig: dispatcher_address must not be empty")
        check(config)
        self._config = config
        super().__init__(start)

    def _launch(self, ending: _Ending) -> Any:
        c = self._config
        advertised = {}
        for field in ("worker_address", "data_transfer_address"):
            if getattr(c, field):
                where = without_scheme(getattr(c, field), field).replace(":%port%", "").replace(":%dts_port%", "")
                advertised = {"advertise_data" if ":" in where else "advertise_host": where}
        limits = _pool.Limits(c.python_processes, c.python_memory_bytes,
                              c.python_call_timeout_ms / 1000 if c.python_call_timeout_ms else None)
        # With TLS, every client of the dispatcher has a certificate, so the worker may run the functions of all of them.
        from_anyone = c.python_from_anyone or bool(c.tls_cert)
        self._pool = _pool.Pool(limits) if from_anyone else _pool.Pool(limits, _vouching.check)
        return _core.start_worker(_endpoint(c, data_port=c.port or c.data_transfer_port, **advertised),
                                  without_scheme(c.dispatcher_address, "dispatcher_address"),
                                  list(c.worker_tags or []), self._pool, ending.fail, _ms(c.heartbeat_interval_ms),
                                  _ms(c.dispatcher_timeout_ms), c.shutdown_quiet_period_ms,
                                  c.cross_trainer_cache_size_bytes or 0, c.snapshot_max_chunk_size_bytes or 0)

    def start(self) -> None:
        """Starts the server. Raises an ``OpError`` if it cannot (a port in use).

        >>> with DispatchServer() as dispatcher:
        ...     worker = WorkerServer(WorkerConfig(dispatcher.target), start=False)
        ...     worker.start()
        ...     worker.stop()
        """
        super().start()
        limit = time.monotonic() + _REGISTERED
        dispatcher = without_scheme(self._config.dispatcher_address, "dispatcher_address")
        try:
            while not self._is_over() and (left := limit - time.monotonic()) > 0:
                workers = status(dispatcher or None, timeout=1, session=self._session())["workers"]
                if any(w["alive"] and w["address"] == self.address for w in workers):
                    return
                ready = sum(1 for w in workers if w["state"] == "alive")  # without workers that are about to leave
                try:
                    _core.await_workers(dispatcher, ready + 1, min(left, _LOOK), inner(self._session()))
                except DeadlineExceededError:
                    pass  # the list is read again: if a worker has left, `ready + 1` is too many
        except OpError:
            pass  # the dispatcher does not answer yet

    def _is_over(self) -> bool:
        return self._ending is not None and self._ending.over.is_set()

    def _stop_time(self) -> float:
        return (self._config.shutdown_quiet_period_ms / 1000 or _DRAIN) + _MOMENT

    def _end(self, running: Any) -> None:
        # Tasks that do not end in time may wait for processes of Python functions. These are killed only now, when the
        # streams to trainers are closed: before, a trainer would get the error of the killed call in place of an
        # element that another worker can still make.
        if not running.stop(self._stop_time()) and self._pool is not None:
            self._pool.stop()
        running.stop(None)
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.stop()

    @property
    def address(self) -> str:
        """The ``host:port`` from which trainers read.

        >>> with DispatchServer() as dispatcher, WorkerServer(WorkerConfig(dispatcher.target)) as worker:
        ...     worker.address.split(":")[0]
        '127.0.0.1'
        """
        out: str = self._started().address
        return out

    def num_tasks(self) -> int:
        """The number of tasks that run in this worker. Raises errors as ``join`` does.

        >>> with DispatchServer() as dispatcher, WorkerServer(WorkerConfig(dispatcher.target)) as worker:
        ...     worker.num_tasks()
        0
        """
        if self._ending is not None:
            self._ending.check()
        told = status(self._config.dispatcher_address or None, session=self._session())
        mine = {w["worker"] for w in told["workers"] if w["address"] == self.address}
        return sum(1 for job in told["jobs"] for task in job["tasks"]
                   if task["worker"] in mine and task["state"] in ("starting", "running"))

    def _num_tasks(self) -> int:
        return self.num_tasks()


def status(service: str | None = None, timeout: float = 5.0, *, session: Session | None = None) -> dict[str, Any]:
    """The status of a service, with the names of ``headrace status``. service: the address; None: the address in
    HEADRACE_SERVICE.

    ``"metrics"`` of the returned dict has the metrics of the dispatcher's process, and ``"metrics"`` of each worker
    those of the worker's process: a list of dicts with ``"name"``, ``"kind"`` (counter, gauge or histogram),
    ``"labels"`` and ``"value"``; docs/metrics.md describes them. ``"verdict"`` of each job is the reason why its
    trainers wait (docs/monitoring.md): ``"text"``, ``"cause"``, ``"waited"`` (a share), ``"what"`` (with its
    ``"place"`` among a task's operators), ``"wanted"`` (workers) and others. ``session``: as in ``distribute``.

    Raises ``UnavailableError`` or ``DeadlineExceededError`` if the dispatcher does not answer.

    >>> with DispatchServer() as dispatcher:
    ...     len(status(dispatcher.target)["jobs"])
    0
    """
    out: dict[str, Any] = _core.service_status(without_scheme(service, "service"),
                                               seconds(timeout, "timeout", 5.0), inner(session))
    return out


def drain_worker(service: str, worker: str, timeout: float = 60.0, *, session: Session | None = None) -> None:
    """Lets a worker leave its service in order and waits until it has left, as ``headrace drain`` does.

    The worker gets no new tasks, gives trainers the elements that it has begun (within the time that
    ``headrace worker --drain`` sets) and returns the splits that it has not begun; then the process of a
    ``headrace worker`` ends. ``worker``: the worker's address or number, as in ``status``; a number is hexadecimal.
    ``session``: as in ``distribute``.

    Raises ``NotFoundError``, which names the existing workers, ``UnavailableError`` if the dispatcher does not answer,
    ``DeadlineExceededError`` if the worker has not left within ``timeout`` seconds (it continues to leave), and
    ``AbortedError`` if it was lost, or ended before all elements that it had begun were given.

    >>> with DispatchServer() as dispatcher, WorkerServer(WorkerConfig(dispatcher.target)) as worker:
    ...     drain_worker(dispatcher.target, worker.address)
    ...     status(dispatcher.target)["workers"][0]["state"]
    'left'
    """
    _core.drain_worker(without_scheme(service, "service"), worker, seconds(timeout, "timeout", 60.0), inner(session))
