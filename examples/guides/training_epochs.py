"""Epochs: repeating before and after batching, caching, and counting the batches of an epoch."""

import pathlib

import numpy as np
import tensorflow as tf

#: The results whose elements are in random order.
UNORDERED = ["shuffled"]


def datasets(data, folder):
    rows = tf.data.TextLineDataset(str(data / "digits" / "digits.csv")).skip(1).take(150)
    batched_then_repeated = rows.batch(64).repeat(2)
    repeated_then_batched = rows.repeat(2).batch(64)
    cached = rows.map(tf.strings.length).cache(str(pathlib.Path(folder) / "cache"))
    for _ in cached:
        pass
    arrays = tf.data.Dataset.from_tensor_slices((np.arange(24, dtype=np.float32).reshape(8, 3), np.arange(8)))
    shuffled = arrays.shuffle(8, seed=5).repeat(3)
    sizes = [int(ds.reduce(0, lambda n, _: n + 1)) for ds in (batched_then_repeated, repeated_then_batched)]
    mean = arrays.map(lambda x, y: x).reduce(tf.zeros([3]), lambda sum, x: sum + x) / 8
    return {"batched then repeated": batched_then_repeated, "repeated then batched": repeated_then_batched,
            "cached": cached.batch(100), "shuffled": shuffled, "numbers of batches": sizes,
            "standardized": arrays.map(lambda x, y: ((x - mean) / 2.0, y)).batch(4),
            "in turn": tf.data.Dataset.choose_from_datasets(
                [arrays.filter(lambda x, y: y % 2 == 0).repeat(), arrays.filter(lambda x, y: y % 2 == 1).repeat()],
                tf.data.Dataset.range(2).repeat(5)).batch(5),
            "length": [len(rows.batch(64)) if int(rows.cardinality()) >= 0 else -1, len(arrays.batch(3))]}
