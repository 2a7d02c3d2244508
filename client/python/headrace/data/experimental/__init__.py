"""The content of ``headrace.experimental``, under the name that it has in TensorFlow."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from ..._missing import names_of as _names_of
from ...experimental import *
from ...experimental import __all__ as __all__
from . import service as service  # type: ignore[no-redef]

if not _TYPE_CHECKING:
    __getattr__ = _names_of("data.experimental")
