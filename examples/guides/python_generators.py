"""Generators of Python: series of different lengths, with a signature, padded into batches."""

import numpy as np
import tensorflow as tf


def series():
    random = np.random.RandomState(7)
    for i in range(40):
        yield i, random.normal(size=random.randint(1, 10)).astype(np.float32)


def datasets(data, folder):
    counted = tf.data.Dataset.from_generator(lambda stop: iter(range(stop)), args=[25], output_types=tf.int32,
                                             output_shapes=())
    signed = tf.data.Dataset.from_generator(
        series, output_signature=(tf.TensorSpec([], tf.int32), tf.TensorSpec([None], tf.float32)))
    named = tf.data.Dataset.from_generator(
        lambda: ({"i": i, "values": values} for i, values in series()),
        output_signature={"i": tf.TensorSpec([], tf.int32), "values": tf.TensorSpec([None], tf.float32)})
    return {"counted": counted.repeat(2).batch(10), "padded": signed.padded_batch(8), "named": named.skip(3).take(5),
            "to ten": signed.padded_batch(8, padded_shapes=([], [10]), padding_values=(-1, 0.5))}
