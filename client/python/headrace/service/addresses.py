"""Addresses of services."""

from __future__ import annotations

import os
from typing import Any

from .._tensors.values import integer
from .cluster_addresses import is_cluster_address, resolved


def without_scheme(address: Any, argument: str) -> str:
    """The ``host:port`` of an address with any scheme or none, or the ``host:port`` to which a cluster address
    (``slurm:``) resolves. For None: if HEADRACE_SERVICE contains a cluster address, the ``host:port`` to which it
    resolves, else an empty text, for which the engine itself reads HEADRACE_SERVICE.
    """
    if address is None:
        address = os.environ.get("HEADRACE_SERVICE", "")
        return resolved(address) if is_cluster_address(address) else ""
    if not isinstance(address, str):
        raise TypeError(f"{argument} must be a str, not {type(address).__name__}: {address!r}")
    if not address:
        raise ValueError(f"{argument} must not be empty")
    if is_cluster_address(address):
        return resolved(address)
    scheme, _, rest = address.rpartition("://")
    if "://" in scheme:
        raise ValueError(f"{argument} must be scheme://host:port with one '://', not {address!r}")
    return rest


def address_of(service: Any) -> str:
    """The address in the argument ``service`` of ``distribute`` and other functions, which is an address, a pair of a
    protocol and an address, or None.
    """
    if isinstance(service, tuple) and len(service) == 2:
        service = service[1]
    if service is None:
        return without_scheme(None, "service")
    if not isinstance(service, str):
        raise TypeError(f"service must be a str, not {type(service).__name__}: {service!r}")
    if not service:
        raise ValueError("service must not be empty")
    return without_scheme(service, "service")


def port_of(value: Any, argument: str) -> int:
    """The port in an argument; 0 means any free port."""
    port = integer(value, argument)
    if not 0 <= port < 65536:
        raise ValueError(f"{argument} must be between 0 and 65535, not {port}")
    return port
