"""Loads the extension, before anything else does."""

import os
import sys

_flags = sys.getdlopenflags()
# The extension's libraries (RE2, OpenSSL ...) must bind to their own symbols, and not to global
# ones of another package: TensorFlow has other versions of some. A preloaded library is meant to
# come before all others.
if not os.environ.get("LD_PRELOAD"):
    sys.setdlopenflags(_flags | os.RTLD_DEEPBIND)
try:
    from . import _core as _core
finally:
    sys.setdlopenflags(_flags)
