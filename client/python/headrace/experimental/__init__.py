"""What tf.data.experimental holds: the service; and ``sleep``."""

from .. import service as service
from .._dataset import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY

__all__ = ["AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "service"]
