"""The tasks of a cluster, with their addresses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..._tensors.values import integer


class ClusterSpec:
    """Jobs by name, each with the addresses of its tasks: a list, or a dict by the tasks' numbers.

    Raises ``TypeError`` for other forms.

    >>> spec = ClusterSpec({"worker": ["a:1", "b:1"], "ps": {3: "c:1"}})
    >>> spec.jobs, spec.num_tasks("worker"), spec.task_address("ps", 3)
    (['ps', 'worker'], 2, 'c:1')
    """

    def __init__(self, cluster: ClusterSpec | Mapping[str, Any]) -> None:
        if isinstance(cluster, ClusterSpec):
            cluster = cluster.as_dict()
        if not isinstance(cluster, Mapping):
            raise TypeError(f"cluster must be a dict of jobs or a ClusterSpec, not {type(cluster).__name__}")
        self._jobs: dict[str, dict[int, str]] = {}
        for job, tasks in cluster.items():
            if isinstance(tasks, Mapping):
                numbered = {integer(i, f"cluster: job {job!r}: a task's number"): x for i, x in tasks.items()}
            elif isinstance(tasks, Sequence) and not isinstance(tasks, (str, bytes)):
                numbered = dict(enumerate(tasks))
            else:
                raise TypeError(f"cluster: the tasks of job {job!r} must be a list or a dict of addresses, not "
                                f"{type(tasks).__name__}")
            for address in numbered.values():
                if not isinstance(address, str):
                    raise TypeError(f"cluster: an address of job {job!r} must be a str, not {type(address).__name__}")
            self._jobs[str(job)] = dict(sorted(numbered.items()))

    def as_dict(self) -> dict[str, Any]:
        """The addresses of each job: a list if its tasks are numbered from 0 without gaps, else a dict by number.

        >>> ClusterSpec({"a": {0: "x:1"}, "b": {3: "y:2"}}).as_dict()
        {'a': ['x:1'], 'b': {3: 'y:2'}}
        """
        return {job: list(tasks.values()) if list(tasks) == list(range(len(tasks))) else dict(tasks)
                for job, tasks in self._jobs.items()}

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs, sorted.

        >>> ClusterSpec({"worker": ["a:1"]}).jobs
        ['worker']
        """
        return sorted(self._jobs)

    def _tasks(self, job_name: str) -> dict[int, str]:
        if job_name not in self._jobs:
            raise ValueError(f"there is no job {job_name!r} in the cluster; there is: {', '.join(self.jobs) or 'none'}")
        return self._jobs[job_name]

    def num_tasks(self, job_name: str) -> int:
        """The number of tasks of a job. Raises ``ValueError`` for an unknown job; so do the following methods.

        >>> ClusterSpec({"worker": ["a:1"]}).num_tasks("worker")
        1
        """
        return len(self._tasks(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """The numbers of a job's tasks.

        >>> ClusterSpec({"ps": {3: "c:1"}}).task_indices("ps")
        [3]
        """
        return list(self._tasks(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """The address of a task. Raises ``ValueError`` if there is none of that number.

        >>> ClusterSpec({"worker": ["a:1"]}).task_address("worker", 0)
        'a:1'
        """
        tasks = self._tasks(job_name)
        if task_index not in tasks:
            raise ValueError(f"job {job_name!r} has no task {task_index}; there are: {list(tasks)}")
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[str | None]:
        """The addresses by the number of the task; None for numbers without a task.

        >>> ClusterSpec({"ps": {1: "c:1"}}).job_tasks("ps")
        [None, 'c:1']
        """
        tasks = self._tasks(job_name)
        return [tasks.get(i) for i in range(max(tasks, default=-1) + 1)]

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterSpec) and self._jobs == other._jobs

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"ClusterSpec({ {job: self.as_dict()[job] for job in self.jobs} })"
