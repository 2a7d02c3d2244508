"""A service whose servers run in places of an engine."""

from __future__ import annotations

import contextlib
import re
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

from .. import _core, service as _service
from ..errors import CancelledError, DeadlineExceededError, NotFoundError, OpError
from .certificates import CertificateFiles, Certificates
from .launcher import Launcher
from .server import ServerPlan

DISPATCHER = "dispatcher"
#: ``_LOOK``: the seconds between two checks whether new workers have registered. ``_FOLLOW``: the seconds between two
#: checks of the number of workers that are needed.
_LOOK = 0.2
_FOLLOW = 1.0
#: ``_SETTLING``: the seconds after a start or stop of workers in which the status is not used to change their number,
#: because the change may still affect it.
#: ``_PATIENCE``: the seconds for which fewer workers must have been enough before the number of workers decreases.
#: If they are None, the times are those of ``headrace up --workers N..M``.
_SETTLING: float | None = None
_PATIENCE: float | None = None


def _at_once(what: Callable[[str], None], places: list[str]) -> None:
    calls = [threading.Thread(target=what, args=(place,)) for place in places]
    for one in calls:
        one.start()
    for one in calls:
        one.join()


class LaunchedService:
    """A dispatcher and workers in places of an engine. The object is made by ``start`` and ``connect`` of the engine's
    module.

    As a context manager it is stopped at the end of ``with``.
    """

    def __init__(self, launcher: Launcher, address: str, certificates: Certificates | None, worker: ServerPlan,
                 timeout: float) -> None:
        self._launcher = launcher
        self._address = address
        self._files = None if certificates is None else CertificateFiles(certificates)
        self._session: _service.Session | None = None
        self._worker = worker
        self._timeout = timeout
        self._lock = threading.Lock()
        self._follower: threading.Thread | None = None
        self._demand: _core.WorkerDemand | None = None
        self._over = threading.Event()

    # -- for programs that read ------------------------------------------------------------------------------------------

    @property
    def address(self) -> str:
        """The ``host:port`` of the dispatcher."""
        return self._address

    @property
    def session(self) -> _service.Session | None:
        """The session with the service's certificate, for other functions with the argument ``session``; None without
        TLS.
        """
        if self._files is not None and self._session is None:
            self._session = _service.Session(self._files.cert, self._files.key, self._files.ca)
        return self._session

    def distribute(self, processing_mode: Any = "dynamic", **arguments: Any) -> Any:
        """``headrace.service.distribute`` with the address and the certificate of this service."""
        return _service.distribute(processing_mode, self._address, session=self.session, **arguments)

    def status(self) -> dict[str, Any]:
        """``headrace.service.status`` of this service."""
        return _service.status(self._address, session=self.session)

    # -- workers ---------------------------------------------------------------------------------------------------------

    def _workers(self) -> list[str]:
        """The places of the workers, the newest last."""
        places = [x for x in self._launcher.places() if x != DISPATCHER]
        return sorted(places, key=lambda x: int(re.sub(r"\D", "", x) or 0))

    @property
    def num_workers(self) -> int:
        """The number of workers that run or are starting."""
        return len(self._workers())

    def wanted_workers(self) -> int | None:
        """The number of workers that the running jobs need, according to the waits of their trainers; 0 if no job runs.
        If more workers would not help, it is the number that run now. None: the number is unknown so far.
        """
        wanted: int | None = self.status()["wanted_workers"]
        return wanted

    def scale(self, workers: int, *, timeout: float | None = None) -> None:
        """Starts or stops workers until this number of workers runs: waits until new workers have registered, or lets
        the newest workers leave in order.

        Raises ``DeadlineExceededError`` or ``UnavailableError`` if workers have not come, or left, within ``timeout``
        seconds (None: the timeout of ``start``). Workers that did not come are stopped, the others stay.
        """
        if isinstance(workers, bool) or not isinstance(workers, int) or workers < 0:
            raise ValueError(f"workers must be a number, 0 or more, not {workers!r}")
        until = time.monotonic() + (self._timeout if timeout is None else timeout)
        with self._lock:
            if self._over.is_set():
                raise CancelledError("the service was stopped, or its connection was closed")
            now = self._workers()
            if workers < len(now):
                self._shrink(now[workers:], until)
            else:
                self._grow(now, workers, until)

    def _grow(self, now: list[str], workers: int, until: float) -> None:
        number = max((int(re.sub(r"\D", "", x) or 0) for x in now), default=0)
        new = [f"worker-{number + 1 + i}" for i in range(workers - len(now))]
        came: list[str] = []
        missing: dict[str, OpError] = {}

        def await_one(place: str) -> None:
            try:
                came.append(self._launcher.address(place, max(until - time.monotonic(), 0.0)))
            except OpError as error:
                missing[place] = error

        for place in new:
            self._launcher.start(place, self._worker)
        _at_once(await_one, new)
        for place in missing:
            self._launcher.stop(place)
        while not self._has(came):
            if time.monotonic() > until:
                raise DeadlineExceededError(f"workers run, but did not register with the dispatcher {self._address}")
            if self._over.wait(_LOOK):
                raise CancelledError("the service was stopped while its workers were awaited")
        if missing:
            error = next(iter(missing.values()))
            text = f"{len(missing)} of {workers} workers did not come: {error}"
            more = self._launcher.why_missing()
            raise type(error)(f"{text}. {more}" if more else text)

    def _has(self, addresses: list[str]) -> bool:
        alive = {x["address"] for x in self.status()["workers"] if x["alive"]}
        return alive.issuperset(addresses)

    def _shrink(self, places: list[str], until: float) -> None:
        late: list[str] = []

        def leave(place: str) -> None:
            left = max(until - time.monotonic(), 0.1)
            try:
                address = self._launcher.address(place, left)
                # A worker that is lost need not leave.
                with contextlib.suppress(NotFoundError):
                    _service.drain_worker(self._address, address, max(until - time.monotonic(), 0.1), session=self.session)
            except OpError as error:
                late.append(f"{place}: {error}")
            self._launcher.stop(place)

        _at_once(leave, places)
        if late:
            raise DeadlineExceededError("workers ended before they had left in order: " + "; ".join(late))

    def follow(self, least: int, most: int) -> None:
        """From now on adapts the number of workers to the demand of the trainers, within these bounds, as long as this
        program runs, or until the next call, which sets other bounds: the number increases at once and decreases after
        half a minute, as with ``headrace up --workers N..M``.
        """
        self._demand = _core.WorkerDemand(least, most, _SETTLING, _PATIENCE)

        def loop() -> None:
            while not self._over.wait(_FOLLOW):
                try:
                    present, demand = self.num_workers, self._demand
                    assert demand is not None
                    wanted = demand.look(self.wanted_workers(), present, time.monotonic())
                    if wanted != present:
                        self.scale(wanted)
                except OpError:
                    pass  # the next attempt may succeed
                except Exception as error:
                    warnings.warn(f"headrace: the number of workers was not adapted: {error}", stacklevel=1)

        if self._follower is None or not self._follower.is_alive():
            self._follower = threading.Thread(target=loop, daemon=True, name="headrace-workers")
            self._follower.start()

    # -- the end ---------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Closes the connection to the service, which continues to run."""
        self._over.set()

    def stop(self) -> None:
        """Ends the servers, workers first, and returns their places to the engine."""
        self._over.set()
        with self._lock:
            for place in [*reversed(self._workers()), DISPATCHER]:
                self._launcher.stop(place)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def start_service(launcher: Launcher, *, workers: tuple[int, int], dispatcher: ServerPlan, worker: ServerPlan,
                  timeout: float, make: Any) -> Any:
    """Starts a dispatcher and the least number of workers. ``make(address, worker)`` makes the service; ``worker``
    is the plan of its workers. If the start fails, no server is left running.
    """
    least, most = workers
    try:
        launcher.start(DISPATCHER, dispatcher)
        try:
            address = launcher.address(DISPATCHER, timeout)
        except OpError as error:
            more = launcher.why_missing()
            raise type(error)(f"the dispatcher did not come: {error}" + (f". {more}" if more else "")) from None
        out = make(address, worker._replace(arguments=(f"--dispatcher={address}", *worker.arguments)))
        out.scale(least, timeout=timeout)
    except BaseException:
        for place in launcher.places():
            launcher.stop(place)
        raise
    if most > least:
        out.follow(least, most)
    return out
