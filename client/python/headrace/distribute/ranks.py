"""The number of this process among the processes that train together."""

from __future__ import annotations

import os
import sys

#: Pairs of environment variables: the number of this process, and the number of processes.
_VARIABLES = (("RANK", "WORLD_SIZE"), ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("SLURM_PROCID", "SLURM_NTASKS"))


def found_rank() -> tuple[int, int]:
    """The rank and the world size, from a framework that is initialised in this process, or from environment
    variables. Raises ``ValueError`` if they cannot be found.
    """
    torch = sys.modules.get("torch")
    if torch is not None and torch.distributed.is_available() and torch.distributed.is_initialized():
        return int(torch.distributed.get_rank()), int(torch.distributed.get_world_size())
    jax = sys.modules.get("jax")
    if jax is not None and hasattr(jax.distributed, "is_initialized") and jax.distributed.is_initialized():
        return int(jax.process_index()), int(jax.process_count())
    for rank, size in _VARIABLES:
        if rank in os.environ or size in os.environ:
            return _number(rank), _number(size)
    raise ValueError("rank and world_size are not given, and cannot be found: neither torch.distributed nor jax.distributed "
                     f"is initialised, and none of {', '.join(r for r, _ in _VARIABLES)} is set")


def _number(name: str) -> int:
    text = os.environ.get(name)
    if text is None:
        raise ValueError(f"the environment variable {name} is missing")
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"the environment variable {name} must be a number, not {text!r}") from None
