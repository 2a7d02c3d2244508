"""The options of a dataset."""

from __future__ import annotations

import enum
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ._missing import MISSING, missing
from ._statistics import StatsAggregator
from .errors import UnimplementedError


#: The valid values of an option: a description for users, and a test.
_YES_OR_NO = ("a bool", lambda x: isinstance(x, (bool, np.bool_)))
_NUMBER = ("an int", lambda x: isinstance(x, (int, np.integer)) and not isinstance(x, bool))
_TEXT = ("a str", lambda x: isinstance(x, str))
_ANYTHING = ("anything", lambda x: True)


class _Group:
    #: By name, the valid values of an option, or the class of a group of options.
    _fields: dict[str, Any] = {}
    _names: dict[str, str] = {}

    #: True for the options of a dataset, which can be read and not set.
    _read_only = False

    if not TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any:
            if name in MISSING.get(type(self).__name__, ()):
                missing(type(self).__name__, name)
            if name not in self._names:
                raise AttributeError(f"{type(self).__name__} has no option '{name}'; it has {', '.join(self._fields)}")
            return getattr(self, self._names[name])

    def __init__(self) -> None:
        for name, kind in self._fields.items():
            object.__setattr__(self, name, kind() if isinstance(kind, type) else None)

    def __setattr__(self, name: str, value: Any) -> None:
        if self._read_only:
            raise AttributeError(f"{type(self).__name__}.{name}: these are the options that a dataset has; set it in "
                                 "headrace.Options(), and give that to with_options")
        if name in MISSING.get(type(self).__name__, ()):
            missing(type(self).__name__, name)
        name = self._names.get(name, name)
        if name not in self._fields:
            raise AttributeError(f"{type(self).__name__} has no option '{name}'; it has {', '.join(self._fields)}")
        kind = self._fields[name]
        if isinstance(kind, type):
            what, fits = f"a headrace {kind.__name__}", isinstance(value, kind)
        else:
            what, fits = f"{kind[0]} or None", value is None or kind[1](value)
        if not fits:
            raise TypeError(f"{type(self).__name__}: {name} must be {what}, not {type(value).__name__}: {value!r}")
        object.__setattr__(self, name, value)

    def _values(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._fields}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Group) and type(self) is type(other) and self._values() == other._values()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self._values().items())})"

    def _given(self, prefix: str = "") -> dict[str, Any]:
        """The options that are set, by dotted name."""
        out: dict[str, Any] = {}
        for name, value in self._values().items():
            if isinstance(value, _Group):
                out.update(value._given(f"{prefix}{name}."))
            elif value is not None:
                out[prefix + name] = value
        return out

    def _shown(self) -> Any:
        """A copy that cannot be changed."""
        out = type(self)()
        for name, value in self._values().items():
            object.__setattr__(out, name, value._shown() if isinstance(value, _Group) else value)
        object.__setattr__(out, "_read_only", True)
        return out


class _Missing:
    """An option that this release lacks. Its use raises an error with the replacement."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, of: Any, kind: type) -> Any:
        missing(kind.__name__, self._name)


class AutotuneAlgorithm(enum.IntEnum):
    """The algorithm that chooses the numbers which are ``AUTOTUNE`` in a dataset. All values are accepted and have no
    effect: headrace uses its own algorithm.

    >>> options = hr.Options()
    >>> options.autotune.autotune_algorithm = AutotuneAlgorithm.STAGE_BASED
    >>> list(Dataset.range(2).with_options(options))
    [np.int64(0), np.int64(1)]
    """

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class AutotuneOptions(_Group):
    """``Options().autotune``."""

    enabled: bool | None
    cpu_budget: int | None
    ram_budget: int | None

    _fields = {"enabled": _YES_OR_NO, "cpu_budget": _NUMBER, "ram_budget": _NUMBER,
               "autotune_algorithm": ("an AutotuneAlgorithm", lambda x: isinstance(x, AutotuneAlgorithm)),
               "initial_parallelism": _NUMBER, "min_parallelism": _NUMBER}


class ThreadingOptions(_Group):
    """``Options().threading``."""

    max_intra_op_parallelism: int | None
    private_threadpool_size: int | None

    _fields = {"max_intra_op_parallelism": _NUMBER, "private_threadpool_size": _NUMBER}


class OptimizationOptions(_Group):
    """``Options().experimental_optimization``: hints, which are accepted and have no effect."""

    _fields = {name: _YES_OR_NO for name in (
        "apply_default_optimizations", "filter_fusion", "filter_parallelization", "inject_prefetch",
        "map_and_batch_fusion", "map_and_filter_fusion", "map_fusion", "map_parallelization", "noop_elimination",
        "parallel_batch", "seq_interleave_prefetch", "shuffle_and_repeat_fusion")}


class AutoShardPolicy(enum.IntEnum):
    """How ``headrace.distribute`` divides a dataset among processes. Without ``headrace.distribute`` it has no effect.

    >>> options = hr.Options()
    >>> options.experimental_distribute.auto_shard_policy = AutoShardPolicy.OFF
    >>> list(Dataset.range(2).with_options(options))
    [np.int64(0), np.int64(1)]
    """

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class ExternalStatePolicy(enum.Enum):
    """How states outside of a graph are treated. There are none in headrace: all values are accepted, and have no
    effect.

    >>> ExternalStatePolicy.IGNORE.name
    'IGNORE'
    """

    WARN = 0
    IGNORE = 1
    FAIL = 2


class DistributeOptions(_Group):
    """``Options().experimental_distribute``."""

    _fields = {"auto_shard_policy": _ANYTHING, "num_devices": _NUMBER}


class StatsOptions(_Group):
    """``Options().experimental_stats``: the destination of the measurements of a dataset.

    aggregator: a ``StatsAggregator``. prefix: precedes all names, followed by ``::``. latency_all_edges: also
    measures the time that each operator, together with its inputs, took for an element, as
    ``record_latency_NAME/_NUMBER``. counter_prefix has no effect: there are no counters.

    >>> options = hr.Options()
    >>> options.experimental_stats.aggregator = hr.experimental.StatsAggregator()
    >>> options.experimental_stats.latency_all_edges = True
    >>> list(Dataset.range(3).map(lambda x: x + 1).with_options(options))
    [np.int64(1), np.int64(2), np.int64(3)]
    >>> list(options.experimental_stats.aggregator.get_summary())
    ['record_latency_map/_1', 'record_latency_range/_2']
    """

    aggregator: StatsAggregator | None
    prefix: str | None
    counter_prefix: str | None
    latency_all_edges: bool | None

    _fields = {"aggregator": ("a StatsAggregator", lambda x: isinstance(x, StatsAggregator)), "prefix": _TEXT,
               "counter_prefix": _TEXT, "latency_all_edges": _YES_OR_NO}


class Options(_Group):
    """How a dataset runs, for ``Dataset.with_options``. An option that is None is not set.

    ``deterministic=False`` lets parallel operators give elements in the order in which they are ready. With
    ``autotune.enabled=False`` the numbers of calls and the sizes of buffers that are ``AUTOTUNE`` keep their first
    values. ``threading.private_threadpool_size`` (or ``autotune.cpu_budget``) bounds the calls at a time, and
    ``autotune.ram_budget`` bounds the memory, in bytes.

    >>> import headrace as hr
    >>> options = hr.Options()
    >>> options.deterministic = True
    >>> hr.Dataset.range(3).with_options(options).options().deterministic
    True
    """

    deterministic: bool | None
    experimental_deterministic: bool | None
    experimental_threading: ThreadingOptions
    autotune: AutotuneOptions
    threading: ThreadingOptions
    experimental_optimization: OptimizationOptions
    experimental_distribute: DistributeOptions
    experimental_stats: StatsOptions
    experimental_service = _Missing("experimental_service")
    #: The earlier names of some options.
    _names = {"experimental_deterministic": "deterministic", "experimental_threading": "threading"}
    _fields = {
        "deterministic": _YES_OR_NO, "autotune": AutotuneOptions, "threading": ThreadingOptions,
        "experimental_optimization": OptimizationOptions, "experimental_distribute": DistributeOptions,
        "experimental_stats": StatsOptions,
        "dataset_name": _TEXT, "framework_type": _ANYTHING, "experimental_slack": _YES_OR_NO,
        "experimental_symbolic_checkpoint": _YES_OR_NO, "experimental_warm_start": _YES_OR_NO,
        "experimental_external_state_policy": _ANYTHING,
    }

    def merge(self, options: Options) -> Options:
        """These options, overridden by those that are set in ``options``. Warns of options that have different values
        in both.

        >>> first, second = hr.Options(), hr.Options()
        >>> first.deterministic, second.autotune.enabled = True, False
        >>> first.merge(second).deterministic
        True
        """
        return _merged([self, options])

    @staticmethod
    def _of(given: dict[str, Any]) -> Options:
        """The options by dotted name, as returned by ``_given``."""
        out = Options()
        for name, value in given.items():
            *groups, last = name.split(".")
            at: Any = out
            for group in groups:
                at = getattr(at, group)
            setattr(at, last, value)
        return out


def _merged(all_options: Iterable[Options]) -> Options:
    out: dict[str, Any] = {}
    for options in all_options:
        for name, value in options._given().items():
            if name in out and out[name] != value:
                warnings.warn(f"option {name} is {out[name]!r} in one place and {value!r} in another: the latter is used",
                              stacklevel=4)
            out[name] = value
    return Options._of(out)


def of_inputs(all_options: Iterable[Options]) -> Options:
    """The options of a dataset that is made of several datasets. Warns of options that differ between the
    datasets.
    """
    return _merged(all_options)


#: Options that the graph contains.
_OF_GRAPH = ("deterministic", "autotune.enabled", "threading.private_threadpool_size", "autotune.cpu_budget",
             "autotune.ram_budget")
#: Options without an effect: hints about speed, names, and the treatment of states that graphs do not have.
_OF_NO_EFFECT = ("dataset_name", "framework_type", "experimental_external_state_policy", "experimental_slack",
                 "experimental_symbolic_checkpoint", "experimental_warm_start", "threading.max_intra_op_parallelism",
                 "autotune.autotune_algorithm")
_HINTS = ("experimental_optimization.", "experimental_stats.")
_SHARDING = "experimental_distribute.auto_shard_policy"


def check(options: Any) -> Options:
    """Raises an error for a value that is not Options, and for options that this release does not have."""
    if not isinstance(options, Options):
        raise TypeError(f"with_options: options must be headrace.Options, not {type(options).__name__}")
    for name in options._given():
        if name not in (*_OF_GRAPH, *_OF_NO_EFFECT, _SHARDING) and not name.startswith(_HINTS):
            raise UnimplementedError(f"with_options: this release has no option '{name}'")
    return options


def measured(options: Options) -> tuple[Any, str, bool] | None:
    """The measurements of a dataset with these options: their destination, the prefix of names, and whether all
    operators are measured. None: nothing is measured.
    """
    stats = options.experimental_stats
    return None if stats.aggregator is None else (stats.aggregator._all, stats.prefix or "", bool(stats.latency_all_edges))


def of_graph(options: Options) -> tuple[bool | None, bool | None, int | None, int | None, str | None]:
    """The arguments deterministic, autotune, threads, memory and compression of ``_core.options``. An argument is None
    if its option is not set, or is 0 (no bound). The compression is always None.
    """
    given = options._given()
    threads = given.get("threading.private_threadpool_size") or given.get("autotune.cpu_budget") or None
    return (given.get("deterministic"), given.get("autotune.enabled"), threads,
            given.get("autotune.ram_budget") or None, None)
