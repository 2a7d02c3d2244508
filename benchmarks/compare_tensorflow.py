"""Measures the cases of `./run compare` with tf.data."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Callable

import numpy as np
import tensorflow as tf
from compare_data import *  # noqa: F403


def float_chain() -> tf.data.Dataset:
    base = np.arange(256, dtype=np.float32) / 256

    def steps(i: tf.Tensor) -> tf.Tensor:
        x = base + tf.cast(i, tf.float32) * np.float32(1e-6)
        for _ in range(10):
            x = x * np.float32(0.999) + np.float32(0.001)
        return x
    return tf.data.Dataset.range(VECTORS).map(steps).batch(64)


def main(data: str) -> None:
    scalars = tf.data.Dataset.range(SCALARS)
    batches = tf.data.Dataset.range(BATCHES * 1000).batch(1000)
    arrays = tf.data.Dataset.range(ARRAYS * ARRAY_VALUES).batch(ARRAY_VALUES)
    by_python = tf.data.Dataset.range(BY_PYTHON).map(lambda x: tf.py_function(lambda y: y * y + 1, [x], tf.int64))
    lines = tf.data.TextLineDataset(text_file(data)).batch(256).map(tf.strings.upper)
    features = {"pixels": tf.io.FixedLenFeature([PIXELS], tf.float32), "label": tf.io.FixedLenFeature([], tf.int64),
                "name": tf.io.FixedLenFeature([], tf.string)}
    parsed = tf.data.TFRecordDataset(example_file(data)).batch(64).map(lambda x: tf.io.parse_example(x, features))
    jpeg = pathlib.Path(jpeg_file(data)).read_bytes()
    images = tf.data.Dataset.from_tensors(jpeg).repeat(IMAGES).map(
        lambda x: tf.image.resize(tf.image.decode_jpeg(x, channels=3, dct_method="INTEGER_ACCURATE"), [224, 224]))
    one_file = tf.data.Dataset.from_tensors(jpeg)

    def made_small(decode: Callable[[tf.Tensor], tf.Tensor], count: int = CROPPED) -> tf.data.Dataset:
        return one_file.repeat(count).map(lambda x: tf.cast(tf.round(tf.image.resize(decode(x), [224, 224])), tf.uint8),
                         num_parallel_calls=tf.data.AUTOTUNE).batch(IN_BATCH).prefetch(2)

    def whole(x: tf.Tensor) -> tf.Tensor:
        return tf.image.decode_jpeg(x, channels=3, dct_method="INTEGER_ACCURATE")
    batches_of_images = made_small(whole)

    def crops(count: int) -> tf.data.Dataset:
        return made_small(lambda x: tf.image.random_crop(whole(x), [CROP, CROP, 3]), count)
    shuffled = tf.data.Dataset.range(SHUFFLED).shuffle(SHUFFLE_BUFFER, seed=7).batch(10_000)
    dispatcher = tf.data.experimental.service.DispatchServer()
    address = dispatcher.target.split("://")[1]
    worker = tf.data.experimental.service.WorkerServer(
        tf.data.experimental.service.WorkerConfig(dispatcher_address=address))

    def loop(what: tf.data.Dataset, count: int, each: int = 1) -> float:
        return rate(what.as_numpy_iterator(), count, each)

    def served(what: tf.data.Dataset,
               by: tf.data.experimental.service.DispatchServer = dispatcher) -> tf.data.Dataset:
        return what.apply(tf.data.experimental.service.distribute(
            tf.data.experimental.service.ShardingPolicy.OFF, by.target))

    def served_crops(count: int) -> float:
        by = tf.data.experimental.service.DispatchServer()
        workers = [tf.data.experimental.service.WorkerServer(tf.data.experimental.service.WorkerConfig(
            dispatcher_address=by.target.split("://")[1])) for _ in range(WORKERS)]
        out = whole_rate(served(crops(count), by).as_numpy_iterator(), WORKERS * count // IN_BATCH, IN_BATCH)
        del workers
        return out
    serve({
        "scalars": lambda: loop(scalars, SCALARS),
        "next_p50": lambda: median_next(scalars.as_numpy_iterator()),
        "batches_1000": lambda: loop(batches, BATCHES),
        "arrays_1m": lambda: loop(arrays, ARRAYS),
        "map_traced": lambda: loop(tf.data.Dataset.range(MAPPED).map(lambda x: x * x + 1), MAPPED),
        "map_python": lambda: loop(by_python, BY_PYTHON),
        "float_chain": lambda: loop(float_chain(), -(-VECTORS // 64), 64),
        "text": lambda: loop(lines, -(-LINES // 256), 256),
        "example_parse": lambda: loop(parsed, -(-EXAMPLES // 64), 64),
        "jpeg_224": lambda: loop(images, IMAGES),
        "jpeg_batches": lambda: whole_rate(batches_of_images.as_numpy_iterator(), CROPPED // IN_BATCH, IN_BATCH),
        "jpeg_crops": lambda: whole_rate(crops(CROPPED).as_numpy_iterator(), CROPPED // IN_BATCH, IN_BATCH),
        "jpeg_crops_10s": lambda: whole_rate(
            crops(CROPPED_LONG).as_numpy_iterator(), CROPPED_LONG // IN_BATCH, IN_BATCH),
        # In headrace, this case decodes images at a reduced size (the argument `at_least` of `decode_jpeg`).
        # TensorFlow has no such argument: it decodes whole images, or all images at one ratio.
        "jpeg_at_least": lambda: whole_rate(batches_of_images.as_numpy_iterator(), CROPPED // IN_BATCH, IN_BATCH),
        "shuffle_10m": lambda: loop(shuffled, SHUFFLED // 10_000, 10_000),
        # In tf.data, a random order of all elements needs a shuffle buffer for all elements, which is filled before
        # the first element is returned.
        "global_shuffle_10m": lambda: whole_rate(
            tf.data.Dataset.range(SHUFFLED).shuffle(SHUFFLED, seed=7).batch(10_000).as_numpy_iterator(),
            SHUFFLED // 10_000, 10_000),
        "service_scalars": lambda: loop(served(tf.data.Dataset.range(SERVICE_SCALARS)), SERVICE_SCALARS),
        "service_batches_1000": lambda: loop(served(batches), BATCHES),
        "service_map_traced": lambda: loop(served(
            tf.data.Dataset.range(SERVICE_MAPPED).map(lambda x: x * x + 1)), SERVICE_MAPPED),
        "service_map_python": lambda: loop(served(by_python), BY_PYTHON),
        "service_arrays_1m": lambda: loop(served(arrays), ARRAYS),
        "service_jpeg_crops": lambda: served_crops(CROPPED),
        "service_jpeg_crops_10s": lambda: served_crops(CROPPED_LONG),
    })
    del worker


if __name__ == "__main__":
    main(sys.argv[1])
