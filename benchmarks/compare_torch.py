"""Measures the cases of `./run compare` with PyTorch's DataLoader. It has worker processes only in the cases
map_python_workers and map_python_images.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import torch
from compare_data import *  # noqa: F403


class Numbers(torch.utils.data.IterableDataset):
    def __init__(self, count: int) -> None:
        self.count = count

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.count))


class Lines(torch.utils.data.IterableDataset):
    def __init__(self, path: str) -> None:
        self.path = path

    def __iter__(self) -> Iterator[str]:
        with open(self.path, encoding="ascii") as lines:
            for line in lines:
                yield line.rstrip("\n").upper()


class Mapped(Numbers):
    def __iter__(self) -> Iterator[int]:
        return (x * x + 1 for x in range(self.count))


class Arrays(torch.utils.data.IterableDataset):
    def __iter__(self) -> Iterator[torch.Tensor]:
        return (torch.arange(i * ARRAY_VALUES, (i + 1) * ARRAY_VALUES) for i in range(ARRAYS))


class Vectors(torch.utils.data.Dataset):
    def __len__(self) -> int:
        return BY_WORKERS

    def __getitem__(self, i: int) -> np.ndarray:
        return np.full(256, i, np.float32) * np.float32(0.5)


class Images(torch.utils.data.Dataset):
    def __len__(self) -> int:
        return PYTHON_IMAGES

    def __getitem__(self, i: int) -> np.ndarray:
        return np.full((224, 224, 3), i % 255, np.uint8)


def by_processes(what: torch.utils.data.Dataset, batch: int) -> float:
    loader = torch.utils.data.DataLoader(what, batch_size=batch, num_workers=FUNCTION_PROCESSES)
    return rate(loader, len(what) // batch, batch)


def main(data: str) -> None:
    def load(what: torch.utils.data.IterableDataset, batch: int | None = None) -> torch.utils.data.DataLoader:
        return torch.utils.data.DataLoader(what, batch_size=batch)
    serve({
        "scalars": lambda: rate(load(Numbers(SCALARS)), SCALARS),
        "next_p50": lambda: median_next(load(Numbers(SCALARS))),
        "batches_1000": lambda: rate(load(Numbers(BATCHES * 1000), 1000), BATCHES),
        "arrays_1m": lambda: rate(load(Arrays()), ARRAYS),
        # The function is Python code here, and a graph in the other libraries.
        "map_traced": lambda: rate(load(Mapped(MAPPED)), MAPPED),
        "map_python": lambda: rate(load(Mapped(MAPPED)), MAPPED),
        "map_python_workers": lambda: by_processes(Vectors(), BY_WORKERS_BATCH),
        "map_python_images": lambda: by_processes(Images(), IN_BATCH),
        "text": lambda: rate(load(Lines(text_file(data)), 256), -(-LINES // 256), 256),
    })


if __name__ == "__main__":
    main(sys.argv[1])
