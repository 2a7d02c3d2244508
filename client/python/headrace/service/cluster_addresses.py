"""Cluster addresses: addresses of a dispatcher that a cluster manager resolves, as in ``headrace worker
--dispatcher``.
"""

from __future__ import annotations

import json
import os

from ..errors import FailedPreconditionError, InvalidArgumentError, OpError, UnavailableError

#: The beginnings of cluster addresses, whose forms are ``tf-config:[JOB]``, ``slurm:[PORT]`` and
#: ``kubernetes:SELECTOR[:PORT]``.
FORMS = ("tf-config:", "slurm:", "kubernetes:")
_PORT = "5050"


def is_cluster_address(address: str) -> bool:
    """True for a cluster address."""
    return address.startswith(FORMS)


def resolved(address: str) -> str:
    """The present ``host:port`` of the dispatcher. Raises an ``OpError`` with the variable, file or answer that is
    missing or wrong.
    """
    form, _, rest = address.partition(":")
    try:
        return {"tf-config": _by_tf_config, "slurm": _by_slurm, "kubernetes": _by_kubernetes}[form](rest)
    except OpError as error:
        raise type(error)(f"{address}: {error}") from None


def _port(text: str, form: str) -> str:
    text = text or _PORT
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise InvalidArgumentError(f"{form}: '{text}' is no port, which is a number from 1 to 65535")
    return text


def _by_tf_config(job: str) -> str:
    job = job or "dispatcher"
    text = os.environ.get("TF_CONFIG")
    if not text:
        raise FailedPreconditionError("the environment variable TF_CONFIG is not set")
    try:
        config = json.loads(text)
        cluster = config["cluster"]
        if not isinstance(cluster, dict):
            raise TypeError
    except (ValueError, TypeError, KeyError):
        raise InvalidArgumentError('TF_CONFIG must be JSON: {"cluster": {JOB: ["host:port", ...]}}') from None
    if job not in cluster:
        raise FailedPreconditionError(f"TF_CONFIG: the cluster has no job '{job}'; there is: {', '.join(cluster)}")
    tasks = cluster[job]
    first = next(iter(tasks.values() if isinstance(tasks, dict) else tasks), None) if isinstance(tasks, (dict, list)) else None
    if not isinstance(first, str) or not first.rpartition(":")[0]:
        raise InvalidArgumentError(f"TF_CONFIG: the job '{job}' must be a list of one \"host:port\" or more")
    return first


def _by_slurm(port: str) -> str:
    from ..distribute.cluster_resolver.slurm import expand_hosts

    at = _port(port, "slurm:PORT")
    for name in ("SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"):
        hosts = os.environ.get(name)
        if hosts:
            try:
                return f"{expand_hosts(hosts)[0]}:{at}"
            except ValueError as error:
                raise InvalidArgumentError(f"{name}: {error}") from None
    raise FailedPreconditionError("neither SLURM_STEP_NODELIST nor SLURM_JOB_NODELIST is set: this is no process of a Slurm job")


def _by_kubernetes(rest: str) -> str:
    from ..distribute.cluster_resolver.kubernetes import KubernetesClusterResolver

    selector, _, port = rest.partition(":")
    if not selector:
        raise InvalidArgumentError("a selector is missing: kubernetes:app=headrace-dispatcher")
    at = _port(port, "kubernetes:SELECTOR:PORT")
    try:
        pods = sorted(KubernetesClusterResolver({"dispatcher": [selector]})._pods(selector))
    except RuntimeError as error:
        raise UnavailableError(str(error)) from None
    for _, phase, ip in pods:
        if phase == "Running" and ip:
            return f"[{ip}]:{at}" if ":" in ip else f"{ip}:{at}"
    raise UnavailableError(f"no pod with {selector} is Running: there are {len(pods)}")
