"""Operators that select, order and repeat elements."""

from __future__ import annotations

import threading
import zlib
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import _core, debugging
from .._tensors import values as _values
from .._tensors.values import count_of, depends, integer
from .._tracing import tracing as _tracing
from ..errors import UnimplementedError
from .arguments import Int, flag, seed_of, shares
from .base import Described

if TYPE_CHECKING:
    from .dataset import Dataset


#: For each look of a dataset (its spec and cardinality as a text): the number of shuffles over such datasets that were
#: made without a seed and without reshuffling.
_kept_orders: Counter[str] = Counter()
_kept_orders_lock = threading.Lock()


def _seed_of_shuffle(over: Described, seed: Int | None, again: bool) -> int | None:
    """The seed of a shuffle. A shuffle that keeps its order in all iterations needs a seed, so that datasets that are
    made of it, such as the parts of a split, have one order. If no seed is given, the seed is not drawn at random:
    the n-th such shuffle over datasets with one look has the same seed in each process that runs the program, so that
    trainers make equal graphs and share a job.
    """
    given = seed_of(seed)
    # In a function that is traced, a missing seed stays None, because each dataset that the function returns has an
    # order of its own.
    if given is not None or again or _tracing.is_tracing():
        return given
    look = f"{over!r} {over._graph.cardinality()}"
    with _kept_orders_lock:
        if len(_kept_orders) > 10_000:
            _kept_orders.clear()
        _kept_orders[look] += 1
        return zlib.crc32(look.encode()) << 20 | _kept_orders[look] & 0xFFFFF


class Choosing(Described):
    """Methods that order, leave out and repeat elements."""

    __slots__ = ()

    def shuffle(self, buffer_size: Int, seed: Int | None = None, reshuffle_each_iteration: bool | None = None,
                name: str | None = None) -> Dataset:
        """The elements in random order, drawn from a buffer of ``buffer_size`` elements. Each iteration over the
        dataset, and each pass of a ``repeat``, has another order, unless ``reshuffle_each_iteration=False``.

        Without reshuffling, datasets that are made of this one have its order, so that ``take`` and ``skip`` divide it;
        without a seed the order is the same in each run of the program, too.

        With a ``seed`` the k-th iteration over a dataset has the same order in each run of the program.

        >>> sorted(Dataset.range(3).shuffle(3, seed=1))
        [np.int64(0), np.int64(1), np.int64(2)]
        """
        again = True if reshuffle_each_iteration is None else flag(reshuffle_each_iteration,
                                                                    "reshuffle_each_iteration")
        return self._with(_core.shuffle(self._graph, count_of(buffer_size, "buffer_size"),
                                        _seed_of_shuffle(self, seed, again), again))

    def global_shuffle(self, seed: Int | None = None, reshuffle_each_iteration: bool = True) -> Dataset:
        """All elements of a source in a random order that takes no memory. As with ``shuffle``, each iteration has
        another order.

        The dataset must be one whose elements can be read in any order: ``range``, ``from_tensors``,
        ``from_tensor_slices``, ``TFRecordDataset`` or ``FixedLengthRecordDataset`` without compression.

        >>> sorted(Dataset.range(3).global_shuffle(seed=1))
        [np.int64(0), np.int64(1), np.int64(2)]
        """
        again = flag(reshuffle_each_iteration, "reshuffle_each_iteration")
        return self._with(_core.global_shuffle(self._graph, _seed_of_shuffle(self, seed, again), again))

    def repeat(self, count: Int | None = None, name: str | None = None) -> Dataset:
        """The elements ``count`` times; without an end if ``count`` is None or -1.

        >>> list(Dataset.range(2).repeat(2))
        [np.int64(0), np.int64(1), np.int64(0), np.int64(1)]
        """
        return self._with(_core.repeat(self._graph, -1 if count is None else count_of(count, "count")))

    def take(self, count: Int, name: str | None = None) -> Dataset:
        """The first ``count`` elements; -1 for all.

        >>> list(Dataset.range(9).take(2))
        [np.int64(0), np.int64(1)]
        """
        return self._with(_core.take(self._graph, count_of(count, "count")))

    def skip(self, count: Int, name: str | None = None) -> Dataset:
        """All but the first ``count`` elements; -1 skips all.

        >>> list(Dataset.range(4).skip(2))
        [np.int64(2), np.int64(3)]
        """
        return self._with(_core.skip(self._graph, count_of(count, "count")))

    def shard(self, num_shards: Int, index: Int, name: str | None = None) -> Dataset:
        """Every ``num_shards``-th element, from number ``index``.

        >>> list(Dataset.range(5).shard(2, 1))
        [np.int64(1), np.int64(3)]
        >>> list(Dataset.range(2).flat_map(lambda i: Dataset.range(5).shard(2, i)))
        [np.int64(0), np.int64(2), np.int64(4), np.int64(1), np.int64(3)]

        If ``num_shards`` is ``SHARD_HINT``, each worker reads its own part under ``ShardingPolicy.HINT``. Raises
        ``InvalidArgumentError`` for an ``index`` that is not in [0, ``num_shards``); if the numbers depend on an
        element, this is the error of that element.
        """
        if depends([num_shards, index]):
            return self._sharded_by(count_of(num_shards, "num_shards"), count_of(index, "index"))
        return self._with(_core.shard(self._graph, integer(num_shards, "num_shards"), integer(index, "index")))

    def _sharded_by(self, num_shards: Any, index: Any) -> Dataset:
        """``shard`` in a traced function, with numbers that depend on the element."""
        shards, mine = (_core.cast(_values.constant(x), "int64") for x in (num_shards, index))
        shards = debugging.assert_positive(shards, "shard: num_shards must be 1 or more")
        mine = debugging.assert_less(debugging.assert_non_negative(mine, "shard: index must be 0 or more"), shards,
                                     "shard: index must be below num_shards")
        return self.enumerate().filter(lambda n, _: n % shards == mine).map(lambda _, element: element)

    def enumerate(self, start: Int = 0, name: str | None = None) -> Dataset:
        """Pairs (number, element). The numbers begin with ``start``.

        >>> list(Dataset.from_tensor_slices(["a", "b"]).enumerate(1))
        [(np.int64(1), b'a'), (np.int64(2), b'b')]
        """
        return self._with(_core.enumerate(self._graph, integer(start, "start")))

    def unique(self, name: str | None = None) -> Dataset:
        """Each value once, at its first place. The values are kept in memory.

        >>> list(Dataset.from_tensor_slices([1, 2, 1]).unique())
        [np.int32(1), np.int32(2)]
        """
        return self._with(_core.unique(self._graph))

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Dataset:
        """Leaves out the elements that failed. ``log_warning`` is not in this release.

        The iterator counts the elements that were left out; the status of a service has their number for each task.

        >>> it = iter(Dataset.range(3).map(lambda x: 6 // x).ignore_errors())
        >>> list(it), it.ignored
        ([np.int64(6), np.int64(3)], 1)
        """
        if flag(log_warning, "log_warning"):
            raise UnimplementedError("ignore_errors: this release has no log_warning: Iterator.ignored counts what is left out")
        return self._with(_core.ignore_errors(self._graph))

    def rejection_resample(self, class_func: Callable[..., Any], target_dist: Any, initial_dist: Any = None,
                           seed: Int | None = None, name: str | None = None) -> Dataset:
        """``(class, element)`` for some of the elements, chosen so that the classes have the shares in
        ``target_dist``.

        ``class_func`` gives an element's class, a number from 0 on. ``initial_dist``: the shares in this dataset; None:
        they are estimated from the elements that were read. With a ``seed`` every run chooses the same elements. No
        element is returned twice.

        >>> ds = Dataset.range(6).rejection_resample(lambda x: x % 2, [1.0, 0.0], [0.5, 0.5])
        >>> [(int(c), int(x)) for c, x in ds]
        [(0, 0), (0, 2), (0, 4)]
        """
        f = _tracing.trace(self._graph, class_func, "rejection_resample", "class_func", dataset=False)
        return self._with(_core.rejection_resample(self._graph, f, shares(target_dist, "target_dist"),
                                                   shares(initial_dist, "initial_dist"), seed_of(seed)))
