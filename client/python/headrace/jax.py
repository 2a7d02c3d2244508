"""headrace for JAX: the extra ``headrace[jax]``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._dataset import Dataset
from ._specs import map_structure
from ._tensors.dlpack import Shared


def as_array(value: Any) -> Any:
    """A leaf of an element as a JAX array: without a copy if JAX supports that (on the CPU, with memory aligned to 64
    bytes).

    ``bytes``, and arrays of ``bytes``, are not converted, because JAX has no strings.

    >>> as_array(np.float32(2)), as_array(b"x")
    (Array(2., dtype=float32), b'x')
    """
    if isinstance(value, np.ndarray):
        return value if value.dtype == np.object_ else jax.dlpack.from_dlpack(Shared(value))
    if isinstance(value, bytes):
        return bytes(value)
    return jnp.asarray(value) if isinstance(value, np.generic) else value


def iterate(dataset: Dataset) -> Iterator[Any]:
    """The elements of a dataset, with JAX arrays of the same shapes in the same nest. Raises ``TypeError`` for a
    value that is not a ``Dataset``.

    >>> import headrace.jax
    >>> for x in hr.jax.iterate(hr.Dataset.range(4).map(lambda x: hr.cast(x, hr.float32)).batch(2)):
    ...     print(x.sum())
    1.0
    5.0
    """
    if not isinstance(dataset, Dataset):
        raise TypeError(f"dataset must be a headrace.Dataset, not {type(dataset).__name__}")
    for element in dataset.as_numpy_iterator():
        yield map_structure(as_array, element)
