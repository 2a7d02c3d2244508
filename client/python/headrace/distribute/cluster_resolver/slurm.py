"""The cluster of a Slurm job step."""

from __future__ import annotations

import os
import re
from typing import Any

from .cluster_spec import ClusterSpec
from .resolver import ClusterResolver


def expand_hosts(text: str) -> list[str]:
    """The hosts of a list in Slurm's form. Raises ``ValueError`` for a text that is no such list.

    >>> expand_hosts("n[08-10,2]-x,login")
    ['n08-x', 'n09-x', 'n10-x', 'n2-x', 'login']
    """
    out: list[str] = []
    for part in re.findall(r"(?:[^,\[\]]|\[[^\[\]]*\])+", text):
        names = [""]
        for plain, ranges in re.findall(r"([^\[\]]+)|\[([^\[\]]*)\]", part):
            names = [name + tail for name in names for tail in ([plain] if plain else _numbers(ranges, text))]
        out += names
    if not out or text.count("[") != text.count("]"):
        raise ValueError(f"{text!r} is no list of hosts")
    return out


def _numbers(ranges: str, text: str) -> list[str]:
    out: list[str] = []
    for one in ranges.split(","):
        first, _, last = one.partition("-")
        if not first.isdigit() or (last and not last.isdigit()):
            raise ValueError(f"{text!r} is no list of hosts: {one!r} is no range of numbers")
        out += [str(i).zfill(len(first)) for i in range(int(first), int(last or first) + 1)]
    return out


def expand_counts(text: str) -> list[int]:
    """The number of tasks of each node, from a list in Slurm's form. Raises ``ValueError`` for a text that is no such
    list.

    >>> expand_counts("2(x3),1")
    [2, 2, 2, 1]
    """
    out: list[int] = []
    for one in text.split(","):
        found = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", one.strip())
        if found is None:
            raise ValueError(f"{text!r} is no list of numbers of tasks")
        out += [int(found[1])] * int(found[2] or 1)
    return out


class SlurmClusterResolver(ClusterResolver):
    """Assigns the tasks of a Slurm job step to jobs, node after node. The ports on each node begin with ``port_base``.

    jobs: the number of tasks of each job; by default all tasks belong to the job ``"worker"``. tasks_per_node: one
    number for all nodes, or a dict from hosts to numbers; by default the numbers in SLURM_STEP_TASKS_PER_NODE.
    gpus_per_node, gpus_per_task: the numbers of GPUs, for ``num_accelerators``. auto_set_gpu: if a number of GPUs is
    given, ``cluster_spec`` sets CUDA_VISIBLE_DEVICES to the GPUs of this process's task. The hosts are those in
    SLURM_STEP_NODELIST.

    Raises ``RuntimeError`` with the name of a variable that is missing or wrong, and if there are fewer tasks or GPUs
    than requested.

    >>> import os
    >>> os.environ.update(SLURM_STEP_NODELIST="n[1-2]", SLURM_STEP_NUM_TASKS="3", SLURM_STEP_TASKS_PER_NODE="2,1",
    ...                   SLURM_PROCID="2")
    >>> resolver = SlurmClusterResolver({"ps": 1, "worker": 2})
    >>> resolver.cluster_spec(), resolver.get_task_info()
    (ClusterSpec({'ps': ['n1:8888'], 'worker': ['n1:8889', 'n2:8888']}), ('worker', 1))
    >>> for name in ("STEP_NODELIST", "STEP_NUM_TASKS", "STEP_TASKS_PER_NODE", "PROCID"): del os.environ["SLURM_" + name]
    """

    def __init__(self, jobs: dict[str, int] | None = None, port_base: int = 8888, gpus_per_node: int | None = None,
                 gpus_per_task: int | None = None, tasks_per_node: int | dict[str, int] | None = None,
                 auto_set_gpu: bool = True, rpc_layer: str = "grpc") -> None:
        super().__init__(rpc_layer=rpc_layer)
        self._rank = _number("SLURM_PROCID")
        self._jobs = {"worker": _number("SLURM_STEP_NUM_TASKS")} if jobs is None else dict(jobs)
        self._port_base, self._auto_set_gpu = int(port_base), bool(auto_set_gpu)
        hosts = _read("SLURM_STEP_NODELIST", expand_hosts)
        if isinstance(tasks_per_node, dict):
            missing = [x for x in hosts if x not in tasks_per_node]
            if missing:
                raise RuntimeError(f"SlurmClusterResolver: tasks_per_node has no number for {missing[0]}")
            counts = [tasks_per_node[x] for x in hosts]
        else:
            counts = _read("SLURM_STEP_TASKS_PER_NODE", expand_counts) if tasks_per_node is None \
                else [int(tasks_per_node)] * len(hosts)
        if len(counts) != len(hosts):
            raise RuntimeError(f"SlurmClusterResolver: SLURM_STEP_TASKS_PER_NODE has {len(counts)} numbers for the "
                               f"{len(hosts)} hosts of SLURM_STEP_NODELIST")
        self._places = [(host, i) for host, count in zip(hosts, counts) for i in range(count)]
        if sum(self._jobs.values()) > len(self._places):
            raise RuntimeError(f"SlurmClusterResolver: {sum(self._jobs.values())} tasks are asked for, and the job step has "
                               f"{len(self._places)}")
        most = max(counts)
        self._gpus = gpus_per_task if gpus_per_task is not None else (gpus_per_node or 0) // most
        if gpus_per_node is not None and self._gpus * most > gpus_per_node:
            raise RuntimeError(f"SlurmClusterResolver: {self._gpus} GPUs for each of {most} tasks are more than the "
                               f"{gpus_per_node} of a node")
        self._accelerators = {"GPU": self._gpus} if self._gpus else None

    def cluster_spec(self) -> ClusterSpec:
        """The tasks of all jobs. Sets ``task_type`` and ``task_id`` to the task of this process. See the class for an
        example.

        >>> SlurmClusterResolver.cluster_spec.__name__
        'cluster_spec'
        """
        out: dict[str, list[str]] = {}
        number = 0
        for job, count in self._jobs.items():
            for task in range(count):
                host, on_node = self._places[number]
                out.setdefault(job, []).append(f"{host}:{self._port_base + on_node}")
                if number == self._rank:
                    self.task_type, self.task_id = job, task
                    if self._auto_set_gpu and self._gpus:
                        first = on_node * self._gpus
                        os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, range(first, first + self._gpus)))
                number += 1
        return ClusterSpec(out)

    def get_task_info(self) -> tuple[str | None, int | None]:
        """The job and the number of this process's task; both None before the first call of ``cluster_spec``. See the
        class for an example.

        >>> SlurmClusterResolver.get_task_info.__name__
        'get_task_info'
        """
        return self.task_type, self.task_id


def _read(name: str, form: Any) -> Any:
    text = os.environ.get(name)
    if not text:
        raise RuntimeError(f"SlurmClusterResolver: the environment variable {name} is not set: this is no Slurm job step")
    try:
        return form(text)
    except ValueError as e:
        raise RuntimeError(f"SlurmClusterResolver: {name}: {e}") from None


def _number(name: str) -> int:
    return int(_read(name, int))
