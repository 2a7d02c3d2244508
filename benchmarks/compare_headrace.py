"""headrace's side of the comparison."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Callable

import headrace as hr
import numpy as np
from compare_data import *  # noqa: F403


def float_chain() -> hr.Dataset:
    base = np.arange(256, dtype=np.float32) / 256

    def steps(i: hr.Tensor) -> hr.Tensor:
        x = base + hr.cast(i, hr.float32) * np.float32(1e-6)
        for _ in range(10):
            x = x * np.float32(0.999) + np.float32(0.001)
        return x
    return hr.Dataset.range(VECTORS).map(steps).batch(64)


def main(data: str) -> None:
    scalars = hr.Dataset.range(SCALARS)
    batches = hr.Dataset.range(BATCHES * 1000).batch(1000)
    arrays = hr.Dataset.range(ARRAYS * ARRAY_VALUES).batch(ARRAY_VALUES)
    spec = hr.TensorSpec([], hr.int64)
    by_python = hr.Dataset.range(BY_PYTHON).map(hr.py_function(lambda x: x * x + 1, spec))

    def by_processes(f: Callable[[int], np.ndarray], count: int, batch: int, spec: hr.TensorSpec) -> float:
        rows = hr.Dataset.range(count).map(hr.py_function(f, spec), num_parallel_calls=FUNCTION_PROCESSES)
        return rate(rows.batch(batch).prefetch(2), count // batch, batch)
    lines = hr.data.TextLineDataset(text_file(data)).map(hr.strings.upper).batch(256)
    features = {"pixels": hr.io.FixedLenFeature([PIXELS], hr.float32), "label": hr.io.FixedLenFeature([], hr.int64),
                "name": hr.io.FixedLenFeature([], hr.string)}
    parsed = hr.data.TFRecordDataset(example_file(data)).map(
        lambda x: hr.io.parse_single_example(x, features)).batch(64)
    jpeg = pathlib.Path(jpeg_file(data)).read_bytes()
    images = hr.Dataset.from_tensors(jpeg).repeat(IMAGES).map(
        lambda x: hr.image.resize(hr.image.decode_jpeg(x, channels=3), [224, 224]))
    one_file = hr.Dataset.from_tensors(jpeg)

    def made_small(decode: Callable[[hr.Tensor], hr.Tensor], count: int = CROPPED) -> hr.Dataset:
        return one_file.repeat(count).map(lambda x: hr.cast(hr.round(hr.image.resize(decode(x), [224, 224])), hr.uint8),
                         num_parallel_calls=hr.data.AUTOTUNE).batch(IN_BATCH).prefetch(2)

    def whole(x: hr.Tensor) -> hr.Tensor:
        return hr.image.decode_jpeg(x, channels=3)
    batches_of_images = made_small(whole)

    def crops(count: int) -> hr.Dataset:
        return made_small(lambda x: hr.image.random_crop(whole(x), [CROP, CROP, 3]), count)
    at_least = made_small(lambda x: hr.image.decode_jpeg(x, channels=3, at_least=[224, 224]))
    shuffled = hr.Dataset.range(SHUFFLED).shuffle(SHUFFLE_BUFFER, seed=7).batch(10_000)
    dispatcher = hr.service.DispatchServer()
    worker = hr.service.WorkerServer(hr.service.WorkerConfig(dispatcher.target))

    def served(what: hr.Dataset, by: hr.service.DispatchServer = dispatcher) -> hr.Dataset:
        return what.apply(hr.service.distribute(hr.service.ShardingPolicy.OFF, by.target))

    def served_crops(count: int) -> float:
        by = hr.service.DispatchServer()
        workers = [hr.service.WorkerServer(hr.service.WorkerConfig(by.target)) for _ in range(WORKERS)]
        out = whole_rate(served(crops(count), by), WORKERS * count // IN_BATCH, IN_BATCH)
        del workers
        return out
    serve({
        "scalars": lambda: rate(scalars, SCALARS),
        "next_p50": lambda: median_next(scalars),
        "batches_1000": lambda: rate(batches, BATCHES),
        "arrays_1m": lambda: rate(arrays, ARRAYS),
        "map_traced": lambda: rate(hr.Dataset.range(MAPPED).map(lambda x: x * x + 1), MAPPED),
        "map_python": lambda: rate(by_python, BY_PYTHON),
        "map_python_workers": lambda: by_processes(
            lambda i: np.full(256, i, np.float32) * np.float32(0.5), BY_WORKERS, BY_WORKERS_BATCH,
            hr.TensorSpec([256], hr.float32)),
        "map_python_images": lambda: by_processes(
            lambda i: np.full((224, 224, 3), i % 255, np.uint8), PYTHON_IMAGES, IN_BATCH,
            hr.TensorSpec([224, 224, 3], hr.uint8)),
        "float_chain": lambda: rate(float_chain(), -(-VECTORS // 64), 64),
        "text": lambda: rate(lines, -(-LINES // 256), 256),
        "example_parse": lambda: rate(parsed, -(-EXAMPLES // 64), 64),
        "jpeg_224": lambda: rate(images, IMAGES),
        "jpeg_batches": lambda: whole_rate(batches_of_images, CROPPED // IN_BATCH, IN_BATCH),
        "jpeg_crops": lambda: whole_rate(crops(CROPPED), CROPPED // IN_BATCH, IN_BATCH),
        "jpeg_crops_10s": lambda: whole_rate(crops(CROPPED_LONG), CROPPED_LONG // IN_BATCH, IN_BATCH),
        "jpeg_at_least": lambda: whole_rate(at_least, CROPPED // IN_BATCH, IN_BATCH),
        "shuffle_10m": lambda: rate(shuffled, SHUFFLED // 10_000, 10_000),
        "global_shuffle_10m": lambda: whole_rate(
            hr.Dataset.range(SHUFFLED).global_shuffle(seed=7).batch(10_000), SHUFFLED // 10_000, 10_000),
        "service_scalars": lambda: rate(served(hr.Dataset.range(SERVICE_SCALARS)), SERVICE_SCALARS),
        "service_batches_1000": lambda: rate(served(batches), BATCHES),
        "service_map_traced": lambda: rate(served(
            hr.Dataset.range(SERVICE_MAPPED).map(lambda x: x * x + 1)), SERVICE_MAPPED),
        "service_map_python": lambda: rate(served(by_python), BY_PYTHON),
        "service_arrays_1m": lambda: rate(served(arrays), ARRAYS),
        "service_jpeg_crops": lambda: served_crops(CROPPED),
        "service_jpeg_crops_10s": lambda: served_crops(CROPPED_LONG),
    })
    del worker


if __name__ == "__main__":
    main(sys.argv[1])
