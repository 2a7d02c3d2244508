"""Finds the tasks of a cluster: given, of TF_CONFIG, of Slurm, of Kubernetes.

>>> hr.distribute.cluster_resolver.SimpleClusterResolver({"worker": ["a:1"]}).cluster_spec().num_tasks("worker")
1
"""

from .cluster_spec import ClusterSpec
from .google import GCEClusterResolver, TPUClusterResolver
from .kubernetes import KubernetesClusterResolver
from .resolver import ClusterResolver, SimpleClusterResolver, UnionResolver
from .slurm import SlurmClusterResolver
from .tf_config import TFConfigClusterResolver

__all__ = [
    "ClusterResolver", "ClusterSpec", "GCEClusterResolver", "KubernetesClusterResolver", "SimpleClusterResolver",
    "SlurmClusterResolver", "TFConfigClusterResolver", "TPUClusterResolver", "UnionResolver",
]
