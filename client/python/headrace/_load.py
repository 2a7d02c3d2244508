"""Loads the extension, before anything else does."""

import os
import sys

_flags = sys.getdlopenflags()
# Its libraries (RE2, OpenSSL ...) find what is theirs, and not what another package has for all to see: TensorFlow brings
# some of the same in other versions. Who preloads a library wants it to go before all others.
if not os.environ.get("LD_PRELOAD"):
    sys.setdlopenflags(_flags | os.RTLD_DEEPBIND)
try:
    from . import _core as _core
finally:
    sys.setdlopenflags(_flags)
