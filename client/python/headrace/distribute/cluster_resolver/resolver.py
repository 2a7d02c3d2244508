"""The base class of all cluster resolvers, ``SimpleClusterResolver`` and ``UnionResolver``."""

from __future__ import annotations

import abc
from typing import Any

from .cluster_spec import ClusterSpec


class ClusterResolver(abc.ABC):
    """Finds the tasks of a cluster. Subclasses have ``cluster_spec`` and ``master``.

    >>> isinstance(SimpleClusterResolver({"worker": ["a:1"]}), ClusterResolver)
    True
    """

    task_type: str | None = None
    task_id: int | None = None
    rpc_layer: str | None = None

    def __init__(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None,
                 environment: str = "", accelerators: dict[str, int] | None = None) -> None:
        self.task_type = task_type
        self.task_id = task_id
        self.rpc_layer = rpc_layer
        self._environment = environment
        self._accelerators = accelerators

    @abc.abstractmethod
    def cluster_spec(self) -> ClusterSpec:
        """The cluster in its present state.

        >>> SimpleClusterResolver({"worker": ["a:1"]}).cluster_spec()
        ClusterSpec({'worker': ['a:1']})
        """

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """The address of a task, by default of this process's task, with the scheme ``rpc_layer``. Empty if no task
        is given, and none is set for this process.

        >>> SimpleClusterResolver({"worker": ["a:1"]}, rpc_layer="grpc").master("worker", 0)
        'grpc://a:1'
        """
        job = self.task_type if task_type is None else task_type
        task = self.task_id if task_id is None else task_id
        if job is None or task is None:
            return ""
        return with_scheme(self.cluster_spec().task_address(job, task), self.rpc_layer if rpc_layer is None else rpc_layer)

    def num_accelerators(self, task_type: str | None = None, task_id: int | None = None,
                         config_proto: Any = None) -> dict[str, int]:
        """The number of accelerators of a task, by their kind, as it was set; empty if it was not set. Devices are
        not searched for.

        >>> SimpleClusterResolver({}, num_accelerators={"GPU": 2}).num_accelerators()
        {'GPU': 2}
        """
        return dict(self._accelerators or {})

    @property
    def environment(self) -> str:
        """The kind of environment; empty unless it was set.

        >>> SimpleClusterResolver({}).environment
        ''
        """
        return self._environment


def with_scheme(address: str, rpc_layer: str | None) -> str:
    """``address`` with the scheme ``rpc_layer``; unchanged if there is no scheme, or if the address is empty."""
    return f"{rpc_layer}://{address}" if rpc_layer and address else address


class SimpleClusterResolver(ClusterResolver):
    """A cluster that is given as an argument.

    >>> SimpleClusterResolver(ClusterSpec({"worker": ["a:1", "b:1"]}), task_type="worker", task_id=1).master("worker", 1)
    'b:1'
    """

    def __init__(self, cluster_spec: ClusterSpec | dict[str, Any], master: str = "", task_type: str | None = None,
                 task_id: int | None = None, environment: str = "", num_accelerators: dict[str, int] | None = None,
                 rpc_layer: str | None = None) -> None:
        super().__init__(task_type, task_id, rpc_layer, environment, num_accelerators)
        self._spec, self._master = ClusterSpec(cluster_spec), master

    def cluster_spec(self) -> ClusterSpec:
        """The cluster that was given as an argument.

        >>> SimpleClusterResolver({"ps": ["a:1"]}).cluster_spec().jobs
        ['ps']
        """
        return self._spec

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """The address of the given task; if no task is given, the ``master`` that the constructor was given.

        >>> SimpleClusterResolver({"ps": ["a:1"]}, master="m:1").master()
        'm:1'
        """
        layer = self.rpc_layer if rpc_layer is None else rpc_layer
        if task_type is not None and task_id is not None:
            return with_scheme(self._spec.task_address(task_type, task_id), layer)
        return with_scheme(self._master, layer)


class UnionResolver(ClusterResolver):
    """The jobs of several resolvers; other properties are those of the first resolver.

    If each resolver numbers a job's tasks from 0 without gaps, their lists of the job's tasks are concatenated.
    Otherwise the tasks keep their numbers, and ``cluster_spec`` raises ``KeyError`` if two of them have the same
    number.

    >>> both = UnionResolver(SimpleClusterResolver({"a": ["x:1"]}, task_type="a"), SimpleClusterResolver({"a": ["y:1"]}))
    >>> both.cluster_spec(), both.task_type
    (ClusterSpec({'a': ['x:1', 'y:1']}), 'a')
    """

    def __init__(self, *args: ClusterResolver, rpc_layer: str | None = None, task_type: str | None = None,
                 task_id: int | None = None) -> None:
        if not args:
            raise ValueError("UnionResolver: at least one ClusterResolver is needed")
        for x in args:
            if not isinstance(x, ClusterResolver):
                raise TypeError(f"UnionResolver: all arguments must be ClusterResolvers, not {type(x).__name__}")
        first = args[0]
        super().__init__(first.task_type if task_type is None else task_type,
                         first.task_id if task_id is None else task_id,
                         first.rpc_layer if rpc_layer is None else rpc_layer, first.environment)
        self._parts = args

    def cluster_spec(self) -> ClusterSpec:
        """The union of the clusters of all resolvers.

        >>> UnionResolver(SimpleClusterResolver({"a": ["x:1"]}), SimpleClusterResolver({"b": ["y:1"]})).cluster_spec().jobs
        ['a', 'b']
        """
        specs = [x.cluster_spec().as_dict() for x in self._parts]
        out: dict[str, Any] = {}
        for job in {job: None for spec in specs for job in spec}:
            parts = [spec[job] for spec in specs if job in spec]
            if all(isinstance(x, list) for x in parts):
                out[job] = [address for x in parts for address in x]
                continue
            numbered: dict[int, str] = {}
            for x in parts:
                for i, address in (enumerate(x) if isinstance(x, list) else x.items()):
                    if i in numbered:
                        raise KeyError(f"UnionResolver: two resolvers have a task {i} of job {job!r}")
                    numbered[i] = address
            out[job] = numbered
        return ClusterSpec(out)

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """The address of the given task; if no task is given, the ``master()`` of the first resolver.

        >>> UnionResolver(SimpleClusterResolver({"a": ["x:1"]}, master="m:1")).master()
        'm:1'
        """
        layer = self.rpc_layer if rpc_layer is None else rpc_layer
        if task_type is not None and task_id is not None:
            return with_scheme(self.cluster_spec().task_address(task_type, task_id), layer)
        return self._parts[0].master(rpc_layer=layer)

    def num_accelerators(self, task_type: str | None = None, task_id: int | None = None,
                         config_proto: Any = None) -> dict[str, int]:
        """The number of accelerators of a task, according to the first resolver.

        >>> UnionResolver(SimpleClusterResolver({}, num_accelerators={"GPU": 1})).num_accelerators()
        {'GPU': 1}
        """
        return self._parts[0].num_accelerators(task_type, task_id, config_proto)
