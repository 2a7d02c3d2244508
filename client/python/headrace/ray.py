"""Services on a Ray cluster: Ray places the workers, restarts lost workers and accounts for the workers' resources;
elements are sent from the workers to the trainers directly. This module needs Ray (``pip install ray``).

::

    import headrace as hr
    import ray

    ray.init()
    with hr.ray.start(workers=(2, 16), cpus_per_worker=4, memory_per_worker="8GiB", strategy="SPREAD") as service:
        ds = hr.Dataset.range(1000).apply(service.distribute("dynamic"))
        for x in ds:
            ...

Each server is an actor that owns a child process, which ends with it. Connections are encrypted, with certificates that
are made by the program which starts the service; programs get them from the service's actors (``connect``), so that
every program with access to the Ray cluster has access to the service.
"""

from __future__ import annotations

import contextlib
import os
import threading
import uuid
from typing import Any

from ._launching.certificates import Certificates, make_certificates
from ._launching.launched import DISPATCHER, LaunchedService, start_service
from ._launching.launcher import Launcher
from ._launching.server import Server, ServerPlan, options_of
from ._launching.sizes import bytes_of
from ._launching.wanted import bounds_of
from .errors import AlreadyExistsError, DeadlineExceededError, NotFoundError, OpError, UnavailableError

__all__ = ["RayService", "connect", "start"]

_NAMESPACE = "headrace"
#: The time limit in seconds in which an actor ends its server.
_STOP = 10


def _ray() -> Any:
    try:
        import ray
    except ModuleNotFoundError:
        raise ModuleNotFoundError("headrace.ray needs Ray: pip install ray") from None
    return ray


class _ServerActor:
    """An actor that owns the process of one server, and ends when the process ends by itself. Ray starts a worker's
    actor again, unless the worker was drained.
    """

    def __init__(self, plan: ServerPlan, about: dict[str, Any] | None) -> None:
        ray = _ray()
        self._about = about
        self._server = Server(plan, ray.util.get_node_ip_address(), self._ended)

    def _ended(self, code: int) -> None:
        if code == 0:  # the worker was drained: it is not started again
            ray = _ray()
            ray.kill(ray.get_runtime_context().current_actor, no_restart=True)
        else:
            print(f"headrace: the server ended with exit code {code}", flush=True)
            os._exit(1)

    def address(self, timeout: float) -> tuple[str, str]:
        """The address, or the reason why there is none. An error is returned as a text, because the caller may not
        have headrace's error classes.
        """
        try:
            return self._server.address(timeout), ""
        except OpError as error:
            return "", str(error)

    def about(self) -> dict[str, Any] | None:
        """The data that a program needs to use the service. Only the dispatcher's actor has it."""
        return self._about

    def set_about(self, about: dict[str, Any]) -> None:
        self._about = about

    def pid(self) -> int:
        """The id of the server's process."""
        return self._server.pid

    def stop(self) -> None:
        self._server.stop()


class _Actors(Launcher):
    """Named actors of the namespace ``headrace``: ``NAME/dispatcher``, ``NAME/worker-1`` ..."""

    def __init__(self, name: str, dispatcher: dict[str, Any], worker: dict[str, Any]) -> None:
        self._name = name
        self._options = {True: dispatcher, False: worker}
        self._handles: dict[str, Any] = {}
        #: The actors that were started by this object and have not answered yet.
        self._silent: set[str] = set()

    def start(self, place: str, plan: ServerPlan) -> None:
        ray = _ray()
        is_dispatcher = place == DISPATCHER
        options = dict(self._options[is_dispatcher])
        if options.get("lifetime") is None:
            options.pop("lifetime", None)
        # Ray does not restart a dispatcher's actor, because a new actor could run on another host, at another
        # address. A dispatcher that crashes is restarted at the same address by the parent of its process.
        actor = ray.remote(_ServerActor).options(name=f"{self._name}/{place}", namespace=_NAMESPACE, max_concurrency=4,
                                                 max_restarts=0 if is_dispatcher else -1, max_task_retries=0, **options)
        try:
            self._handles[place] = actor.remote(plan, None)
            self._silent.add(place)
        except ValueError as error:
            if self.is_taken(place):
                raise AlreadyExistsError(f"there is a service '{self._name}' already; hr.ray.connect({self._name!r}) finds it, "
                                         f"or give another name: {error}") from None
            raise

    def is_taken(self, place: str) -> bool:
        """True if there is an actor for that place."""
        try:
            _ray().get_actor(f"{self._name}/{place}", namespace=_NAMESPACE)
        except ValueError:
            return False
        return True

    def handle(self, place: str) -> Any:
        """The handle of the actor for that place; None: there is no actor."""
        ray = _ray()
        if place not in self._handles:
            try:
                self._handles[place] = ray.get_actor(f"{self._name}/{place}", namespace=_NAMESPACE)
            except ValueError:
                return None
        return self._handles[place]

    def call(self, place: str, method: str, *arguments: Any, timeout: float) -> Any:
        """The result of a method of the actor."""
        ray = _ray()
        handle = self.handle(place)
        if handle is None:
            raise NotFoundError(f"there is no actor {self._name}/{place} in the namespace {_NAMESPACE}")
        try:
            return ray.get(getattr(handle, method).remote(*arguments), timeout=max(timeout, 0.01))
        except ray.exceptions.GetTimeoutError:
            raise DeadlineExceededError(f"the actor {self._name}/{place} did not answer within {timeout:.1f} s") from None
        except ray.exceptions.RayError as error:
            text = str(error)
            if "No module named 'headrace'" in text:
                text = ("headrace is not installed on the nodes: install it there, or ray.init(runtime_env={'pip': "
                        "['headrace']})")
            raise UnavailableError(f"the actor {self._name}/{place}: {text}") from None

    def address(self, place: str, timeout: float) -> str:
        address, why = self.call(place, "address", timeout, timeout=timeout)
        if not address:
            raise UnavailableError(why)
        self._silent.discard(place)
        return str(address)

    def stop(self, place: str) -> None:
        ray = _ray()
        handle = self.handle(place)
        self._handles.pop(place, None)
        if handle is None:
            return
        if place not in self._silent:  # a silent actor may never have begun
            with contextlib.suppress(ray.exceptions.RayError, TimeoutError):  # the actor has ended
                ray.get(handle.stop.remote(), timeout=_STOP)
        self._silent.discard(place)
        ray.kill(handle, no_restart=True)

    def places(self) -> list[str]:
        ray = _ray()
        begin = f"{self._name}/"
        return [x["name"][len(begin):] for x in ray.util.list_named_actors(all_namespaces=True)
                if x["namespace"] == _NAMESPACE and x["name"].startswith(begin)]

    def why_missing(self) -> str:
        ray = _ray()
        wants = {k: v for k, v in self._options[False].items() if k in ("num_cpus", "memory")}
        available = ray.available_resources()  # resources of which nothing is left are not included
        free = {k: available.get(k, 0) for k in ("CPU", "memory")}
        return f"Each worker takes {wants}, the cluster has free: {free}"


class RayService(LaunchedService):
    """A service on a Ray cluster, as returned by ``start`` and ``connect``. It can be passed to tasks, actors and Ray
    Train workers, which then connect to the service by its name.
    """

    def __init__(self, launcher: _Actors, name: str, address: str, certificates: Certificates, worker: ServerPlan,
                 timeout: float) -> None:
        super().__init__(launcher, address, certificates, worker, timeout)
        self._name = name

    @property
    def name(self) -> str:
        """The name by which ``connect`` finds the service."""
        return self._name

    def __reduce__(self) -> Any:
        return connect, (self._name,)


#: Ray's names of scheduling strategies, and the classes of ``ray.util.scheduling_strategies``.
_STRATEGIES = ("DEFAULT", "SPREAD")
_STRATEGY_CLASSES = ("PlacementGroupSchedulingStrategy", "NodeAffinitySchedulingStrategy", "NodeLabelSchedulingStrategy")


def _check_strategy(strategy: Any) -> None:
    if isinstance(strategy, str) and strategy in _STRATEGIES or type(strategy).__name__ in _STRATEGY_CLASSES:
        return
    raise ValueError(f"strategy must be {', '.join(repr(x) for x in _STRATEGIES)}, or one of ray.util.scheduling_strategies "
                     f"({', '.join(_STRATEGY_CLASSES)}), not {strategy!r}")


def start(workers: int | tuple[int, int] = 1, *, cpus_per_worker: float = 1, memory_per_worker: int | str | None = None,
          strategy: Any = "DEFAULT", placement_group: Any = None, name: str | None = None, lifetime: str | None = None,
          python: bool = True, dispatcher_cpus: float = 0, worker_options: dict[str, Any] | None = None,
          dispatcher_options: dict[str, Any] | None = None,
          timeout: float = 120.0) -> RayService:
    """Starts a service on the Ray cluster that this program is connected to, and waits until the workers have
    registered.

    workers: the number of workers, or the least and the most: then the service begins with the least, and while this
    program runs, the number follows the demand of the trainers (``follow``). cpus_per_worker, memory_per_worker: the
    resources that Ray reserves for each worker (memory in bytes, or ``"8GiB"``). strategy: how Ray places the workers:
    ``"DEFAULT"``, ``"SPREAD"``, or a scheduling strategy of ``ray.util.scheduling_strategies``. placement_group: the
    group in whose bundles the workers and the dispatcher run.
    name: the name by which ``connect`` finds the service; by default a random one. lifetime: with ``"detached"`` the
    service outlives this program, until a program connects and calls ``stop``. python: workers run Python functions,
    too.
    dispatcher_cpus: the CPUs that Ray reserves for the dispatcher. worker_options, dispatcher_options: further
    settings of the workers and of the dispatcher, by their names in docs/configuration.md: ``{"tag": "gpu"}``,
    ``{"work_dir": "/shared/headrace"}``. timeout: seconds that the start of the service may take, and the default of
    ``scale``.

    Raises ``ModuleNotFoundError`` without Ray, ``ValueError`` for an argument of a wrong value,
    ``AlreadyExistsError`` if there is a service of that name, and ``DeadlineExceededError`` or ``UnavailableError``,
    with the free resources of the cluster, if a server was not started.
    """
    ray = _ray()
    least_and_most = bounds_of(workers)
    if lifetime not in (None, "detached"):
        raise ValueError(f"lifetime must be None or 'detached', not {lifetime!r}")
    _check_strategy(strategy)
    if placement_group is not None and strategy != "DEFAULT":
        raise ValueError("strategy and placement_group do not go together: the group has a strategy")
    if name is not None and (not isinstance(name, str) or not name or "/" in name):
        raise ValueError(f"name must be a str without '/', not {name!r}")
    memory = None if memory_per_worker is None else bytes_of(memory_per_worker, "memory_per_worker")
    if not ray.is_initialized():
        ray.init()
    if placement_group is not None:
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        strategy = PlacementGroupSchedulingStrategy(placement_group)
    of_worker: dict[str, Any] = {"num_cpus": cpus_per_worker, "scheduling_strategy": strategy, "lifetime": lifetime}
    if memory is not None:
        of_worker["memory"] = memory
    of_dispatcher: dict[str, Any] = {"num_cpus": dispatcher_cpus, "lifetime": lifetime}
    if placement_group is not None:
        of_dispatcher["scheduling_strategy"] = strategy
    service = name or f"headrace-{uuid.uuid4().hex[:8]}"
    launcher = _Actors(service, of_dispatcher, of_worker)
    if launcher.handle(DISPATCHER) is not None:
        raise AlreadyExistsError(f"there is a service '{service}' already; hr.ray.connect({service!r}) finds it")
    certificates = make_certificates()
    arguments = options_of(worker_options, "worker_options")
    if memory is not None and not python:
        arguments.append(f"--memory-limit={memory}")

    def make(address: str, worker: ServerPlan) -> RayService:
        about = {"address": address, "certificates": tuple(certificates), "worker": tuple(worker),
                 "dispatcher_options": of_dispatcher, "worker_options": of_worker, "timeout": timeout}
        launcher.call(DISPATCHER, "set_about", about, timeout=timeout)
        return RayService(launcher, service, address, certificates, worker, timeout)

    out: RayService = start_service(
        launcher, workers=least_and_most, timeout=timeout, make=make,
        dispatcher=ServerPlan("dispatcher", ("--port=0", "--log-level=warn", *options_of(dispatcher_options, "dispatcher_options")),
                              certificates),
        worker=ServerPlan("worker", (*(() if python else ("--log-level=warn",)), *arguments), certificates, python))
    return out


#: The services to which this process has connected, by name. They are kept, so that datasets which a program makes
#: repeatedly use the same session.
_connected: dict[str, RayService] = {}
_connecting = threading.Lock()


def connect(name: str, *, timeout: float = 60.0) -> RayService:
    """The service of that name on the Ray cluster that this program is connected to. May be called in any program on
    the cluster: another program, a task, an actor or a Ray Train worker.

    Raises ``NotFoundError``, with the names of the existing services, if there is none of that name.
    """
    ray = _ray()
    if not ray.is_initialized():
        ray.init()
    launcher = _Actors(name, {}, {})
    if launcher.handle(DISPATCHER) is None:
        known = sorted({x["name"].partition("/")[0] for x in ray.util.list_named_actors(all_namespaces=True)
                        if x["namespace"] == _NAMESPACE})
        raise NotFoundError(f"there is no service '{name}' on this Ray cluster; there is: {', '.join(known) or 'none'}")
    about = launcher.call(DISPATCHER, "about", timeout=timeout)
    if about is None:
        raise UnavailableError(f"the service '{name}' is not ready yet")
    certificates = Certificates(*about["certificates"])
    worker = ServerPlan(*about["worker"])
    launcher = _Actors(name, about["dispatcher_options"], about["worker_options"])
    with _connecting:
        known_one = _connected.get(name)
        if known_one is None or known_one.address != about["address"] or known_one._over.is_set():
            known_one = _connected[name] = RayService(launcher, name, about["address"], certificates,
                                                      worker._replace(certificates=certificates), about["timeout"])
        return known_one
