"""Finds the tasks of a cluster among the pods of Kubernetes. The list of pods is requested from the API server, with
the service account of the pod in which the program runs.
"""

from __future__ import annotations

import json
import os
import ssl
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from typing import Any

from .cluster_spec import ClusterSpec
from .resolver import ClusterResolver

_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


class KubernetesClusterResolver(ClusterResolver):
    """The tasks of each job are running pods: ``{"worker": ["job-name=a", "job-name=b"]}`` has the label selectors
    that find the pods of a job.

    By default the API server is that of the cluster in which the program runs as a pod: the environment variables
    KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT contain its address, and the token, the CA and the namespace are
    files of the pod's service account. KUBERNETES_API is the URL of another API server (``http://127.0.0.1:8001`` for
    ``kubectl proxy``), and KUBERNETES_ACCOUNT another folder with those files. override_client: an object of the
    package ``kubernetes`` that has ``list_pod_for_all_namespaces``; with it, neither variables nor files are used.

    >>> KubernetesClusterResolver({"worker": ["app=trainer"]}).rpc_layer
    'grpc'
    """

    def __init__(self, job_to_label_mapping: Mapping[str, Any] | None = None, tf_server_port: int = 8470,
                 rpc_layer: str = "grpc", override_client: Any = None) -> None:
        super().__init__(rpc_layer=rpc_layer)
        self._labels = dict(job_to_label_mapping or {"worker": ["job-name=tensorflow"]})
        for job, selectors in self._labels.items():
            if isinstance(selectors, str) or not all(isinstance(x, str) for x in selectors):
                raise TypeError(f"job_to_label_mapping: the selectors of {job!r} must be a list of str, not {selectors!r}")
        self._port, self._client = int(tf_server_port), override_client

    def cluster_spec(self) -> ClusterSpec:
        """The addresses of the present pods: those of a job are in the order of its selectors, and for one selector
        in the order of the pods' names. Raises ``RuntimeError`` if a pod is not Running, or if a variable, a file or
        an answer of the API server is missing or wrong.

        >>> KubernetesClusterResolver.cluster_spec.__name__
        'cluster_spec'
        """
        out: dict[str, list[str]] = {}
        for job, selectors in self._labels.items():
            out[job] = []
            for selector in selectors:
                for name, phase, ip in sorted(self._pods(selector)):
                    if phase != "Running" or not ip:
                        raise RuntimeError(f"pod {name} ({selector}) is {phase}, and not Running with an address")
                    out[job].append(f"[{ip}]:{self._port}" if ":" in ip else f"{ip}:{self._port}")
        return ClusterSpec(out)

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """The address of a task, by default of the task that the attributes ``task_type`` and ``task_id`` identify.
        Raises ``ValueError`` if the type or the number of the task is neither given nor set.

        >>> KubernetesClusterResolver.master.__name__
        'master'
        """
        if (self.task_type if task_type is None else task_type) is None \
                or (self.task_id if task_id is None else task_id) is None:
            raise ValueError("KubernetesClusterResolver: set task_type and task_id, or give them to master")
        return super().master(task_type, task_id, rpc_layer)

    def _pods(self, selector: str) -> list[tuple[str, str, str]]:
        """The name, phase and address of each pod that the selector finds."""
        if self._client is not None:
            listed = self._client.list_pod_for_all_namespaces(label_selector=selector)
            return [(x.metadata.name, x.status.phase, x.status.pod_ip)
                    for x in listed.items]
        return [(x["metadata"]["name"], x["status"].get("phase", ""), x["status"].get("podIP", ""))
                for x in _list_pods(selector)["items"]]


def _text(path: str) -> str:
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError as e:
        raise RuntimeError(f"{path} cannot be read ({e.strerror}): the pod has no service account, or KUBERNETES_ACCOUNT "
                           "names another folder") from None


def _list_pods(selector: str) -> Any:
    account = os.environ.get("KUBERNETES_ACCOUNT") or _ACCOUNT
    url = os.environ.get("KUBERNETES_API")
    if not url:
        host = os.environ.get("KUBERNETES_SERVICE_HOST")
        if not host:
            raise RuntimeError("the environment variable KUBERNETES_SERVICE_HOST is not set: this is no pod; KUBERNETES_API "
                               "may name an API server")
        url = f"https://{f'[{host}]' if ':' in host else host}:{os.environ.get('KUBERNETES_SERVICE_PORT') or 443}"
    asked = urllib.request.Request(
        f"{url.rstrip('/')}/api/v1/namespaces/{urllib.parse.quote(_text(account + '/namespace'))}/pods?labelSelector="
        + urllib.parse.quote(selector, safe=""))
    context = None
    if url.startswith("https:"):
        asked.add_header("Authorization", "Bearer " + _text(account + "/token"))
        context = ssl.create_default_context(cadata=_text(account + "/ca.crt"))
    # The proxies of the environment are not used, because the token is for the API server alone.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
    try:
        with opener.open(asked, timeout=10) as answer:
            listed = json.load(answer)
    except urllib.error.HTTPError as e:
        raise RuntimeError(f"the Kubernetes API server answers {e.code} to GET {asked.full_url}: "
                           f"{e.read(2000).decode(errors='replace')}") from None
    except (OSError, ValueError) as e:
        raise RuntimeError(f"the Kubernetes API server does not answer GET {asked.full_url}: {e}") from None
    if not isinstance(listed, dict) or not isinstance(listed.get("items"), list):
        raise RuntimeError(f"the Kubernetes API server answers GET {asked.full_url} with no list of pods")
    return listed
