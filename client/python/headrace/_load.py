"""Loads the extension, before other modules are imported."""

import os
import sys

_flags = sys.getdlopenflags()
# The extension's libraries (RE2, OpenSSL and others) must bind to their own symbols, and not to global symbols of
# another package: TensorFlow has other versions of some of these libraries. The flag is not set if a library is
# preloaded, because the symbols of a preloaded library must be used before all others.
if not os.environ.get("LD_PRELOAD"):
    sys.setdlopenflags(_flags | os.RTLD_DEEPBIND)
try:
    from . import _core as _core
finally:
    sys.setdlopenflags(_flags)
