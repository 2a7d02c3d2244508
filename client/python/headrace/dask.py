"""Services on a Dask cluster. Each server is an actor on one of Dask's workers, and the actor owns a child process,
which ends with the actor. This module needs Dask (``pip install distributed``).

::

    import headrace as hr
    from dask.distributed import Client

    client = Client("scheduler:8786")
    with hr.dask.start(client, workers=4) as service:
        ds = hr.Dataset.range(1000).apply(service.distribute("dynamic"))
        for x in ds:
            ...

Connections are encrypted, with certificates that are made by the program which starts the service.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
from typing import Any

from ._launching.certificates import Certificates, make_certificates
from ._launching.launched import LaunchedService, start_service
from ._launching.launcher import Launcher
from ._launching.server import Server, ServerPlan, options_of
from ._launching.wanted import bounds_of
from .errors import DeadlineExceededError, FailedPreconditionError, NotFoundError, OpError, UnavailableError

__all__ = ["DaskService", "start"]


class _ServerActor:
    """An actor that owns the process of one server."""

    def __init__(self, plan: ServerPlan) -> None:
        from distributed import get_worker

        host = get_worker().address.rpartition("://")[2].rpartition(":")[0].strip("[]")
        self._server = Server(plan, host or "127.0.0.1")

    def address(self, timeout: float) -> tuple[str, str]:
        """The address, or the reason why there is none."""
        try:
            return self._server.address(timeout), ""
        except OpError as error:
            return "", str(error)

    def pid(self) -> int:
        """The id of the server's process."""
        return self._server.pid

    def stop(self) -> None:
        self._server.stop()


class _Actors(Launcher):
    """Actors on Dask's workers, which are used in turn."""

    def __init__(self, client: Any, resources: dict[str, float] | None) -> None:
        self._client = client
        self._resources = resources
        self._futures: dict[str, Any] = {}
        self._turn = itertools.count()

    def start(self, place: str, plan: ServerPlan) -> None:
        hosts = sorted(self._client.scheduler_info(n_workers=-1)["workers"])
        if not hosts:
            raise UnavailableError("the Dask cluster has no worker")
        more: dict[str, Any] = {"workers": [hosts[next(self._turn) % len(hosts)]]}
        if self._resources and plan.role == "worker":
            more = {"resources": self._resources}
        self._futures[place] = self._client.submit(_ServerActor, plan, actor=True, pure=False, **more)

    def _actor(self, place: str, timeout: float) -> Any:
        if place not in self._futures:
            raise NotFoundError(f"there is no {place}")
        try:
            return self._futures[place].result(timeout)
        except (TimeoutError, asyncio.TimeoutError):  # these are two classes before Python 3.11
            raise DeadlineExceededError(f"Dask did not begin the {place} within {timeout:.1f} s") from None
        except Exception as error:
            text = str(error)
            if "headrace" in text and isinstance(error, ModuleNotFoundError):
                text = "headrace is not installed where Dask's workers run"
            raise UnavailableError(f"the {place}: {text}") from None

    def address(self, place: str, timeout: float) -> str:
        actor = self._actor(place, timeout)
        try:
            address, why = actor.address(timeout).result(timeout + 1)
        except (TimeoutError, asyncio.TimeoutError):
            raise DeadlineExceededError(f"Dask's worker did not answer for the {place} within {timeout + 1:.1f} s") from None
        except Exception as error:
            raise UnavailableError(f"the {place}: {error}") from None
        if not address:
            raise UnavailableError(why)
        return str(address)

    def stop(self, place: str) -> None:
        future = self._futures.pop(place, None)
        if future is None:
            return
        if future.status == "finished":
            try:
                future.result(1).stop().result(10)
            except Exception:  # Dask's worker is lost, and with it the server's process
                pass
        future.cancel()

    def places(self) -> list[str]:
        return list(self._futures)

    def why_missing(self) -> str:
        count = len(self._client.scheduler_info(n_workers=-1)["workers"])
        wants = f", and each server is for one with {self._resources}" if self._resources else ""
        return f"The Dask cluster has {count} worker{'' if count == 1 else 's'}{wants}"


class _Elsewhere(Launcher):
    """The places of a service that another program has started: only that program can list, start and stop them."""

    def _refuse(self) -> FailedPreconditionError:
        return FailedPreconditionError("the workers of this service are started and stopped by the program that called "
                                       "hr.dask.start; tasks only read from it")

    def start(self, place: str, plan: ServerPlan) -> None:
        raise self._refuse()

    def address(self, place: str, timeout: float) -> str:
        raise self._refuse()

    def stop(self, place: str) -> None:
        raise self._refuse()

    def places(self) -> list[str]:
        raise self._refuse()


class DaskService(LaunchedService):
    """A service on a Dask cluster, as returned by ``start``. It ends with the program that started it.

    The object can be passed to Dask's tasks, which then read from the service: its pickle contains the address and
    the certificate of the service. In a task, ``scale`` and ``stop`` raise ``FailedPreconditionError``.
    """

    def __init__(self, launcher: Launcher, address: str, certificates: Certificates | None, worker: ServerPlan,
                 timeout: float) -> None:
        super().__init__(launcher, address, certificates, worker, timeout)
        self._certificates = certificates

    @property
    def num_workers(self) -> int:
        """The number of workers that run or are starting; in a task of Dask, only of workers that run."""
        if isinstance(self._launcher, _Elsewhere):
            return sum(1 for x in self.status()["workers"] if x["alive"])
        return super().num_workers

    def __reduce__(self) -> Any:
        return _of_another_program, (self._address, None if self._certificates is None else tuple(self._certificates),
                                     tuple(self._worker), self._timeout)


#: The services that were passed to tasks in this process, so that a later task uses the session of an earlier one.
_passed: dict[tuple[str, Any], DaskService] = {}
_passing = threading.Lock()


def _of_another_program(address: str, certificates: tuple[bytes, bytes, bytes] | None, worker: tuple[Any, ...],
                        timeout: float) -> DaskService:
    """Unpickles a service in a task of Dask: the same object for each task of this process."""
    with _passing:
        key = (address, certificates)
        if key not in _passed:
            _passed[key] = DaskService(_Elsewhere(), address, None if certificates is None else Certificates(*certificates),
                                       ServerPlan(*worker), timeout)
        return _passed[key]


def start(client: Any, workers: int | tuple[int, int] = 1, *, resources: dict[str, float] | None = None, python: bool = True,
          worker_options: dict[str, Any] | None = None, dispatcher_options: dict[str, Any] | None = None,
          timeout: float = 120.0) -> DaskService:
    """Starts a service on the Dask cluster of ``client``, and waits until the service's workers have registered.

    workers: as in ``headrace.ray.start``. resources: the service's workers run on those of Dask's workers that have
    these resources (``{"data": 1}``); Dask does not reserve the resources while an actor lives. Without
    ``resources``, servers are placed on Dask's workers in turn. python: the service's workers run Python functions,
    too.
    worker_options, dispatcher_options: as in ``headrace.ray.start``.
    timeout: seconds that the start of the service may take, and the default of ``scale``.

    Raises ``ModuleNotFoundError`` without Dask, ``TypeError`` for a client of another class, and
    ``DeadlineExceededError`` or ``UnavailableError`` if a server was not started.
    """
    try:
        from distributed import Client
    except ModuleNotFoundError:
        raise ModuleNotFoundError("headrace.dask needs Dask: pip install distributed") from None
    if not isinstance(client, Client):
        raise TypeError(f"client must be a dask.distributed.Client, not {type(client).__name__}")
    least_and_most = bounds_of(workers)
    certificates = make_certificates()
    launcher = _Actors(client, resources)
    arguments = options_of(worker_options, "worker_options")
    out: DaskService = start_service(
        launcher, workers=least_and_most, timeout=timeout,
        make=lambda address, worker: DaskService(launcher, address, certificates, worker, timeout),
        dispatcher=ServerPlan("dispatcher", ("--port=0", "--log-level=warn", *options_of(dispatcher_options, "dispatcher_options")),
                              certificates),
        worker=ServerPlan("worker", (*(() if python else ("--log-level=warn",)), *arguments), certificates, python))
    return out
