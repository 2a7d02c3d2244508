"""Devices of PyTorch and of JAX, to which elements are moved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._specs import map_structure


def mover_of(device: Any) -> Callable[[Any], Any]:
    """A function that moves an element to a device; for None it returns the element unchanged. A move begins at once,
    and ends in the background if the framework supports that. Raises ``TypeError`` for a value that is not a device."""
    if device is None:
        return lambda element: element
    if isinstance(device, str) or type(device).__module__.split(".")[0] == "torch":
        return _torch(device)
    if type(device).__module__.split(".")[0] in ("jax", "jaxlib"):
        return _jax(device)
    raise TypeError("a replica's device must be one of PyTorch (torch.device, or its name) or of JAX, not "
                    f"{type(device).__name__}: {device!r}")


def _torch(device: Any) -> Callable[[Any], Any]:
    import torch

    from ..torch import as_tensor

    place = torch.device(device)

    def leaf(value: Any) -> Any:
        tensor = as_tensor(value, share_memory=place.type != "cpu")  # a move to another device copies the array
        return tensor.to(place, non_blocking=True) if isinstance(tensor, torch.Tensor) else tensor

    return lambda element: map_structure(leaf, element)


def _jax(device: Any) -> Callable[[Any], Any]:
    import jax

    from ..jax import as_array

    def leaf(value: Any) -> Any:
        array = as_array(value)
        return jax.device_put(array, device) if isinstance(array, jax.Array) else array

    return lambda element: map_structure(leaf, element)
