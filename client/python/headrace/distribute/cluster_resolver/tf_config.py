"""The cluster that the environment variable TF_CONFIG describes."""

from __future__ import annotations

import json
import os
from typing import Any

from .cluster_spec import ClusterSpec
from .resolver import ClusterResolver


class TFConfigClusterResolver(ClusterResolver):
    """The cluster, the task and ``rpc_layer`` in the environment variable TF_CONFIG. An argument that is given
    replaces the value in the variable.

    Raises ``ValueError`` if TF_CONFIG is no JSON object.

    >>> import os
    >>> os.environ["TF_CONFIG"] = '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}}'
    >>> resolver = TFConfigClusterResolver()
    >>> resolver.task_type, resolver.task_id, resolver.master()
    ('worker', 1, 'b:1')
    >>> del os.environ["TF_CONFIG"]
    """

    def __init__(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None,
                 environment: str | None = None) -> None:
        config = _config()
        task = config.get("task", {})
        index = task.get("index") if task_id is None else task_id
        super().__init__(task.get("type") if task_type is None else task_type, None if index is None else int(index),
                         config.get("rpc_layer") if rpc_layer is None else rpc_layer,
                         config.get("environment", "") if environment is None else environment)

    def cluster_spec(self) -> ClusterSpec:
        """The cluster in the present value of TF_CONFIG; without jobs if TF_CONFIG has none.

        >>> TFConfigClusterResolver().cluster_spec()
        ClusterSpec({})
        """
        return ClusterSpec(_config().get("cluster", {}))

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """The address of a task, by default of this process's task. Empty if no ``task_type`` is given and the
        cluster has at most one task.

        >>> TFConfigClusterResolver().master()
        ''
        """
        spec = self.cluster_spec()
        if len(spec.jobs) <= 1 and sum(map(spec.num_tasks, spec.jobs)) <= 1 and task_type is None:
            return ""
        return super().master(task_type, task_id, rpc_layer)


def _config() -> dict[str, Any]:
    text = os.environ.get("TF_CONFIG") or "{}"
    try:
        config = json.loads(text)
    except ValueError as e:
        raise ValueError(f"the environment variable TF_CONFIG is no JSON: {e}") from None
    if not isinstance(config, dict) or not isinstance(config.get("task", {}), dict) \
            or not isinstance(config.get("cluster", {}), dict):
        raise ValueError("the environment variable TF_CONFIG must be an object with the objects \"cluster\" and \"task\"")
    return config
