"""Datasets that the workers of a service write into a folder."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

from .. import _core
from .._processes import vouching as _vouching
from .._dataset import Dataset
from .._random import drawing as _drawing
from .._tensors.values import seconds
from ..service.addresses import address_of
from ..service.securing import Session, inner


def distributed_save(dataset: Dataset, path: str | os.PathLike[str], data_service_address: Any = None,
                     compression: str | None = "AUTO", *, wait: bool = False, worker_timeout: float | None = None,
                     stall_timeout: float | None = None, session: Session | None = None) -> dict[str, Any]:
    """Lets all workers of a service write a dataset into a folder, for ``Dataset.load``; returns the progress.

    path: the same folder for all workers, on storage that they share; a relative path is taken from this process's
    working directory.
    data_service_address: the dispatcher, ``host:port`` with any scheme or none. None: the address in the environment
    variable HEADRACE_SERVICE. compression: ``"NONE"`` (or None), ``"SNAPPY"``, ``"GZIP"`` or ``"AUTO"``.
    wait: true: waits until the dataset is saved, with a progress bar on a terminal. False: the workers continue after
    this function has returned; a further call with ``wait=True`` waits for them.
    worker_timeout: seconds to wait while the dispatcher does not answer, and while no worker works on the save (60).
    stall_timeout: seconds to wait while workers work and no piece is finished (3600).
    session: as in ``service.distribute``.

    The dataset is divided into pieces. Each piece is written by one worker, or, if this worker is lost, again by
    another; in the end each piece exists once, whichever processes are killed. The loaded elements are those that the
    dataset gives in one process, in the same order (an ``interleave`` mixes the elements within a piece), with any
    number of workers. A dataset that cannot be divided, because ``take`` counts all elements or ``shuffle`` mixes
    them, is written by one worker; ``whole_because`` in the returned dict is the reason, and with ``wait`` there is a
    ``RuntimeWarning``. A call for a save that runs, or is complete, changes nothing; after a failure, a call
    continues the save with the missing pieces.

    The returned dict, and each dict in ``saves`` of ``service.status``, has ``state`` (planning, writing, finishing,
    saved or failed), ``pieces`` (their number), ``written`` (pieces), ``elements``, ``bytes``, ``workers`` (the
    number that work on the save), ``failure``, ``path`` and ``dataset``.

    Raises ``InvalidArgumentError`` for a dataset without end or a wrong compression, ``AlreadyExistsError`` for a folder
    with another dataset, ``UnavailableError`` if no dispatcher answers or no worker registers, and, with ``wait``,
    the error because of which the save failed: of an element, or of a file.

    >>> import headrace as hr
    >>> with hr.service.DispatchServer() as dispatcher:
    ...     with hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target)):
    ...         saved = distributed_save(hr.Dataset.range(5), f"{folder}/numbers", dispatcher.target, wait=True)
    >>> saved["state"], saved["elements"], [int(x) for x in hr.Dataset.load(f"{folder}/numbers")]
    ('saved', 5, [0, 1, 2, 3, 4])
    """
    if not isinstance(dataset, Dataset):
        raise TypeError(f"distributed_save: dataset must be a Dataset, not {type(dataset).__name__}")
    if isinstance(path, bytes):
        path = path.decode()
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path must be a path, not {type(path).__name__}: {path!r}")
    if compression is not None and not isinstance(compression, str):
        raise TypeError(f"compression must be a str or None, not {type(compression).__name__}: {compression!r}")
    if not isinstance(wait, bool):
        raise TypeError(f"wait must be a bool, not {type(wait).__name__}: {wait!r}")
    given = (address_of(data_service_address), compression or "NONE", seconds(worker_timeout, "worker_timeout", 60.0),
             seconds(stall_timeout, "stall_timeout", 3600.0), inner(session))
    _vouching.vouch(dataset._graph.python_programs())
    graph = _drawing.decided(dataset)
    now = _core.distribute_save(graph, os.fspath(path), *given)
    if wait:
        bar = _Bar()
        try:
            bar.show(_values_of(now))
            while _values_of(now)["state"] not in ("saved", "failed"):
                now = _core.await_change(graph, now, *given)
                bar.show(_values_of(now))
        finally:
            bar.end()
        now.check()
        alone = _values_of(now)["whole_because"]
        if alone:
            warnings.warn(f"distributed_save: one worker wrote all of it: {alone}", RuntimeWarning, stacklevel=2)
    return _values_of(now)


def _values_of(status: _core.SaveStatus) -> dict[str, Any]:
    values: Any = status.values()
    return dict(values)


class _Bar:
    """A progress bar: one line on a terminal, which is overwritten with each change."""

    _WIDTH = 30

    def __init__(self) -> None:
        self._shown = sys.stderr is not None and sys.stderr.isatty()

    def show(self, x: dict[str, Any]) -> None:
        if not self._shown:
            return
        done = x["written"] / x["pieces"] if x["pieces"] else 0.0
        full = int(done * self._WIDTH)
        workers = f"{x['workers']} worker{'' if x['workers'] == 1 else 's'}"
        print(f"\r\x1b[K[{'#' * full}{'.' * (self._WIDTH - full)}] {x['written']}/{x['pieces'] or '?'} pieces, "
              f"{x['elements']} elements, {x['bytes'] / 2**20:.1f} MiB, {workers}, {x['state']}", end="",
              file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._shown:
            print(file=sys.stderr, flush=True)
