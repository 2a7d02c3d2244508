"""The module ``headrace.service`` itself, under the name that it has in TensorFlow."""

import sys

from ... import service
from ...service import *
from ...service import __all__ as __all__

sys.modules[__name__] = service
