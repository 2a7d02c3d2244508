"""Resolvers of Google's cloud, which this release does not have."""

from __future__ import annotations

from typing import Any

from ...errors import UnimplementedError


class GCEClusterResolver:
    """Raises ``UnimplementedError``: it would need the API of Google Compute Engine and credentials for it.

    >>> GCEClusterResolver("project", "zone", "group", 8470)
    Traceback (most recent call last):
    headrace.errors.UnimplementedError: GCEClusterResolver is not in this release: it needs Google Compute Engine's API and \
credentials; give the addresses to SimpleClusterResolver
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise UnimplementedError("GCEClusterResolver is not in this release: it needs Google Compute Engine's API and "
                                 "credentials; give the addresses to SimpleClusterResolver")


class TPUClusterResolver:
    """Raises ``UnimplementedError``: it would need a Cloud TPU and its API.

    >>> TPUClusterResolver("")
    Traceback (most recent call last):
    headrace.errors.UnimplementedError: TPUClusterResolver is not in this release: it needs a Cloud TPU and its API; \
jax.distributed finds the hosts of a TPU, and ProcessStrategy reads their numbers
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise UnimplementedError("TPUClusterResolver is not in this release: it needs a Cloud TPU and its API; "
                                 "jax.distributed finds the hosts of a TPU, and ProcessStrategy reads their numbers")
