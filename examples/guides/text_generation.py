"""Text generation: a text becomes numbers of its characters, cut into sequences of inputs and the characters that follow."""

import numpy as np
import tensorflow as tf

LENGTH = 100


def datasets(data, folder):
    text = (data / "moby_dick" / "chapter-001.txt").read_bytes()
    characters = np.unique(np.frombuffer(text, np.uint8))
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(
        characters.astype(np.int64), np.arange(len(characters), dtype=np.int64)), -1)
    whole = tf.data.Dataset.from_tensors(text).map(lambda x: tf.io.decode_raw(x, tf.uint8))
    numbers = whole.map(lambda x: table.lookup(tf.cast(x, tf.int64))).unbatch()
    sequences = numbers.batch(LENGTH + 1, drop_remainder=True)

    def split(sequence):
        return sequence[:-1], sequence[1:]

    pairs = sequences.map(split, num_parallel_calls=tf.data.AUTOTUNE)
    one_hot = pairs.take(3).map(lambda x, y: (tf.one_hot(x, len(characters)), y))
    lines = tf.data.Dataset.from_tensors(text).flat_map(
        lambda x: tf.data.Dataset.from_tensor_slices(tf.strings.split(x, "\n"))).filter(
            lambda line: tf.strings.length(tf.strings.strip(line)) > 20)
    marked = lines.map(lambda line: tf.strings.join(["[START]", tf.strings.lower(tf.strings.strip(line)), "[END]"],
                                                    separator=" "))
    return {"pairs": pairs.batch(8, drop_remainder=True), "one hot": one_hot, "marked": marked.batch(16),
            "back": sequences.take(2).map(lambda x: tf.gather(tf.constant(characters), x))}
