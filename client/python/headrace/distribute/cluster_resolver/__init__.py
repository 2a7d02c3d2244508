"""Finds the tasks of a cluster: from arguments, TF_CONFIG, Slurm, or Kubernetes.

>>> hr.distribute.cluster_resolver.SimpleClusterResolver({"worker": ["a:1"]}).cluster_spec().num_tasks("worker")
1
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from ..._missing import names_of as _names_of
from .cluster_spec import ClusterSpec
from .kubernetes import KubernetesClusterResolver
from .resolver import ClusterResolver, SimpleClusterResolver, UnionResolver
from .slurm import SlurmClusterResolver
from .tf_config import TFConfigClusterResolver

if not _TYPE_CHECKING:
    __getattr__ = _names_of("distribute.cluster_resolver")

__all__ = [
    "ClusterResolver", "ClusterSpec", "KubernetesClusterResolver", "SimpleClusterResolver", "SlurmClusterResolver",
    "TFConfigClusterResolver", "UnionResolver",
]
