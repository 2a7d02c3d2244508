"""The dtypes of the parts of complex numbers, and the precision of floats."""

from __future__ import annotations

from .. import dtypes


def real_dtype(dtype: dtypes.DType) -> dtypes.DType:
    """The dtype of the real and imaginary parts of a complex dtype; any other dtype is returned unchanged."""
    return {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}.get(dtype, dtype)


def step_at_one(dtype: dtypes.DType) -> float:
    """The distance from 1 to the next larger number of the dtype."""
    bits = {dtypes.bfloat16: 7, dtypes.float16: 10, dtypes.float32: 23, dtypes.float64: 52}
    return 2.0**-bits[dtype]
