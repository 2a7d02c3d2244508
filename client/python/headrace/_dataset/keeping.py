"""Operators that keep elements for later use, in memory or in files."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from .._random import drawing as _drawing
from .._specs import element_of, spec_of_leaf
from .._tensors import values as _values
from .._tensors.labels import rebuilt
from .._tensors.values import integer, seconds
from .._tracing import tracing as _tracing
from ..errors import InvalidArgumentError, NotFoundError, UnimplementedError
from .arguments import Int, Path
from .base import Described

if TYPE_CHECKING:
    from .dataset import Dataset


def _path(value: Any, argument: str) -> str:
    if isinstance(value, bytes):
        value = value.decode()
    path = os.fspath(value) if isinstance(value, (str, os.PathLike)) else None
    if not isinstance(path, str):
        raise TypeError(f"{argument} must be a path, not {type(value).__name__}")
    return path


def _compression(value: Any) -> str:
    if value is not None and not isinstance(value, str):
        raise TypeError(f"compression must be a string or None, not {type(value).__name__}")
    return value or ""


def _shard(graph: _core.Graph, shard_func: Any, operator: str) -> _core.Function | None:
    if shard_func is None:
        return None
    return _tracing.trace(graph, shard_func, operator, "shard_func", dataset=False)


class Keeping(Described):
    """Methods that keep elements in memory or in files."""

    __slots__ = ()

    def prefetch(self, buffer_size: Int, name: str | None = None) -> Dataset:
        """Keeps up to ``buffer_size`` elements ready, made by another thread; ``AUTOTUNE`` lets headrace choose.

        >>> list(Dataset.range(2).prefetch(hr.AUTOTUNE))
        [np.int64(0), np.int64(1)]
        """
        return self._with(_core.prefetch(self._graph, integer(buffer_size, "buffer_size")))

    def cache(self, filename: Path = "", name: str | None = None) -> Dataset:
        """The same elements. The first iteration that reads all elements keeps them, and later iterations give these.

        They are kept in memory, for this process, or in the folder ``filename``, which other programs can read too. An
        iteration in which an element failed keeps nothing. Under ``dynamic``, the workers of a service share a folder
        that is whole when ``distribute`` is called; a folder that is not whole is refused.

        >>> ds = Dataset.range(5).shuffle(5).cache()
        >>> list(ds) == list(ds)
        True
        """
        return self._with(_core.cache(self._graph, _path(filename, "filename"), 0))

    def save(self, path: Path, compression: Any = None, shard_func: Any = None, checkpoint_args: Any = None) -> None:
        """Reads all elements and writes them into a folder, for ``load``, which finds them when all are written.

        ``compression``: ``"NONE"``, ``"SNAPPY"``, ``"GZIP"`` or ``"AUTO"``. ``shard_func(element)`` returns an int64,
        the number of the file into which the element is written. Raises the error of an element that fails.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Dataset.range(3).save(folder)
        ...     list(Dataset.load(folder))
        [np.int64(0), np.int64(1), np.int64(2)]
        """
        if checkpoint_args is not None:
            raise UnimplementedError("save: checkpoint_args: this release writes no checkpoints while it saves; "
                                     "headrace.experimental.distributed_save goes on with what is missing")
        _core.save(self._graph, _path(path, "path"), _compression(compression),
                   _shard(self._graph, shard_func, "save"), self._drawn_from)
        _drawing.forget()

    @staticmethod
    def load(path: Path, element_spec: Any = None, compression: Any = None, reader_func: Any = None,
             wait: bool = False, *, stall_timeout: float | None = None) -> Dataset:
        """The elements that ``save`` or ``experimental.distributed_save`` wrote into a folder.

        They come in the order in which they were saved. If ``shard_func`` put them into several files, the files are
        read in turn, as with ``interleave``.

        The keys of dicts are sorted, or in the order of ``element_spec``. ``element_spec`` and ``compression`` need
        not be given; if they are given, they must be equal to those of the saved elements.
        ``reader_func`` is called with a dataset that contains one dataset for each file, which it may shuffle,
        interleave or flat_map; it returns the dataset to read. ``wait``: true to wait for the beginning of a save,
        and, while a service writes, for each piece of the save. Pieces are read in their order as soon as they are
        written. ``stall_timeout``: the most seconds of each such wait (3600).

        Raises ``NotFoundError`` if the folder contains no save, ``InvalidArgumentError`` for another spec or
        compression, and ``DeadlineExceededError`` when a wait was too long; iterations raise ``AbortedError`` when
        the save that they read failed.

        >>> Dataset.range(4).save(f"{folder}/saved", shard_func=lambda x: x % 2)
        >>> list(Dataset.load(f"{folder}/saved", reader_func=lambda shards: shards.interleave(lambda shard: shard)))
        [np.int64(0), np.int64(1), np.int64(2), np.int64(3)]
        """
        folder = _path(path, "path")
        if not isinstance(wait, bool):
            raise TypeError(f"wait must be a bool, not {type(wait).__name__}: {wait!r}")
        limit = seconds(stall_timeout, "stall_timeout", 3600.0)
        graph = _core.load_waiting(folder, limit) if wait else _loaded(folder)
        whole: Any = _core.saved(folder)
        growing: Any = _core.saving(folder)
        how, shards = whole or growing or ("", 0)
        one_of = _shards_of(folder) if whole or not wait else _pieces_of(folder, limit)
        if compression is not None and compression not in (how, "AUTO"):
            raise InvalidArgumentError(f"load: compression is {compression!r}; {folder!r} was saved with {how!r}")
        if element_spec is not None and element_spec != graph.spec(spec_of_leaf):
            raise InvalidArgumentError(
                f"load: element_spec is {element_spec}; {folder!r} holds elements of {graph.spec(spec_of_leaf)}")
        if element_spec is not None:
            graph, one_of = _arranged(graph, element_spec), _as_spec(one_of, element_spec)
        numbers = _core.range(*(_values.constant(np.int64(n)) for n in (0, shards, 1)))
        if reader_func is not None:
            _check_reader(reader_func, "load")
            return _read_by(reader_func, one_of, numbers, "load")
        if growing is not None or shards < 2:
            return _made(graph)
        in_turn = _read_by(lambda files: files.interleave(lambda file: file), one_of, numbers, "load")
        return _made(_core.assert_cardinality(in_turn._graph, graph.cardinality()))

    def snapshot(self, path: Path, compression: Any = "AUTO", reader_func: Any = None, shard_func: Any = None,
                 name: str | None = None) -> Dataset:
        """Keeps the elements as ``cache`` does, in a folder inside ``path``. The folder is named by the dataset's
        fingerprint, so that each pipeline has a folder of its own.

        ``compression`` and ``shard_func``: as in ``save``. The iteration that writes gives the elements in the order
        in which they are made. Later iterations read the folder file after file, or with a ``reader_func`` as in
        ``load``, for instance ``lambda files: files.interleave(lambda ds: ds, num_parallel_calls=4)``. With a
        ``reader_func`` the cardinality is not known.
        A snapshot that is whole when ``distribute`` is called is shared among the workers under ``dynamic``.

        >>> ds = Dataset.range(5).shuffle(5).snapshot(f"{folder}/snapshots")
        >>> list(ds) == list(ds)
        True
        """
        folder = _path(path, "path")
        reader = None
        if reader_func is not None:
            _check_reader(reader_func, "snapshot")
            kept = f"{folder}/{self._graph.fingerprint()}"
            reader = _read_by(reader_func, lambda n: _core.load_shard(kept, self._graph, n), _core.saved_shards(kept),
                              "snapshot")._graph
        return self._with(_core.snapshot(self._graph, folder, _compression(compression),
                                         _shard(self._graph, shard_func, "snapshot"), reader))

    def explain(self, seconds: float = 2.0, elements: int | None = None) -> str:
        """Runs the dataset for a short time and reports what each of its operators did, and which one bounds the rate.

        >>> print(Dataset.range(100).batch(10).explain(elements=10))  # doctest: +ELLIPSIS
        bottleneck: ...
        <BLANKLINE>
          operator ...
        ...batch(10) ...
        ...  range ...
        <BLANKLINE>
        10 elements in ...
        """
        return _core.explain(self._graph, float(seconds),
                             None if elements is None else integer(elements, "elements")).rstrip()


def _made(graph: _core.Graph) -> Dataset:
    from .base import made

    return made(graph)


def _check_reader(reader_func: Any, operator: str) -> None:
    if not callable(reader_func):
        raise TypeError(f"{operator}: reader_func must be a function, not {type(reader_func).__name__}")


_OneOf = Callable[[Any], _core.Graph]


def _shards_of(folder: str) -> _OneOf:
    return lambda n: _core.load(folder, n)


def _pieces_of(folder: str, limit: float) -> _OneOf:
    return lambda n: _core.load_piece(folder, n, limit)


def _arranged(graph: _core.Graph, spec: Any) -> _core.Graph:
    """The elements with the keys of their dicts in the order of ``spec``."""
    def one(like: Any, value: Any) -> Any:
        if isinstance(like, dict):
            return rebuilt(like, [one(part, value[key]) for key, part in like.items()])
        if isinstance(like, tuple):
            return rebuilt(like, [one(part, x) for part, x in zip(like, value)])
        return value

    if _ordered(graph.spec(spec_of_leaf)) == _ordered(spec):
        return graph
    return _made(graph).map(lambda *element: one(spec, element_of(spec, element)))._graph


def _ordered(spec: Any) -> Any:
    """A form of ``spec`` whose equality also compares the classes of its parts, and the order of their keys."""
    if isinstance(spec, dict):
        return type(spec), [(key, _ordered(part)) for key, part in spec.items()]
    return (type(spec), [_ordered(part) for part in spec]) if isinstance(spec, tuple) else spec


def _as_spec(one_of: _OneOf, spec: Any) -> _OneOf:
    return lambda n: _arranged(one_of(n), spec)


def _loaded(folder: str) -> _core.Graph:
    try:
        return _core.load(folder, None)
    except NotFoundError as why:
        if _core.saving(folder) is None:
            raise
        raise NotFoundError(f"load: a service writes into {folder!r}, and is not through; with wait=True its pieces are "
                            "read as they come") from why


def _read_by(reader_func: Callable[[Any], Any], one_of: _OneOf, shards: _core.Graph, operator: str) -> Dataset:
    """The result of ``reader_func`` for a dataset that contains one dataset for each shard. ``shards``: a graph of
    the numbers of the shards. ``one_of``: makes the graph of a shard from its number.
    """
    from .dataset import Dataset

    class Shards(Dataset):
        """A dataset of datasets, represented by the numbers of the shards."""

        __slots__ = ()

        def _with(self, graph: _core.Graph) -> Dataset:
            return Shards(graph, self._given_options)

        def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
            return Dataset(self._graph).flat_map(_of_shard(map_func))

        def interleave(self, map_func: Callable[..., Any], *args: Any, **given: Any) -> Dataset:
            return Dataset(self._graph).interleave(_of_shard(map_func), *args, **given)

        def map(self, *args: Any, **given: Any) -> Dataset:
            raise UnimplementedError(f"{operator}: reader_func: of datasets of datasets there are flat_map, "
                                     "interleave, shuffle, take, skip, shard, repeat and the like; not map")

        def __iter__(self) -> Any:
            return (Dataset(one_of(_values.constant(np.int64(n)))) for n in self._graph.read())

    def _of_shard(f: Callable[[Dataset], Any]) -> Callable[[Any], Any]:
        return lambda n: f(Dataset(one_of(n)))

    out = reader_func(Shards(shards))
    if not isinstance(out, Dataset) or isinstance(out, Shards):
        raise TypeError(f"{operator}: reader_func must give a dataset of elements: flat_map or interleave the datasets "
                        "it is given")
    return out
