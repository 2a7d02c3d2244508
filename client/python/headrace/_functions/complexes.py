"""Complex numbers and their parts, and how exact numbers are."""

from __future__ import annotations

import numpy as np

from .. import _core, dtypes


def real_dtype(dtype: dtypes.DType) -> dtypes.DType:
    """The dtype of the parts of complex numbers; of other numbers their own."""
    return {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}.get(dtype, dtype)


def step_at_one(dtype: dtypes.DType) -> float:
    """How far the next number after 1 is."""
    bits = {dtypes.bfloat16: 7, dtypes.float16: 10, dtypes.float32: 23, dtypes.float64: 52}
    return 2.0**-bits[dtype]


def absolute(x: _core.Tensor) -> _core.Tensor:
    """How large numbers are. Of complex ones a vector, in the order of ``x``."""
    if not x.dtype.is_complex:
        return abs(x)
    # The last bytes of a serialised tensor are its values, each a real and an imaginary part.
    real = real_dtype(x.dtype)
    length = _core.cast(_core.size(x), "int64") * (2 * np.dtype(real.as_numpy_dtype).itemsize)
    values = _core.substr(_core.serialize_tensor(x), -length, length, False)
    parts = _core.cast(_core.reshape(_core.decode_raw(values, real.name, True), [-1, 2]), "float64")
    return _core.cast(_core.sqrt(_core.reduce_sum(parts * parts, [1], False)), real.name)
