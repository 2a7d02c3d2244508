"""Batches for replicas of different speeds, elements that are given one by one, and a last step that is filled up."""

import tensorflow as tf


def datasets(data, folder):
    files = sorted(str(file) for file in (data / "photos").glob("*/*.jpg"))
    sizes = tf.data.Dataset.from_tensor_slices(files).map(lambda path: tf.strings.length(tf.io.read_file(path)))
    steps = sizes.batch(8)
    # For two replicas: the slow one gets a third as many elements as the fast one. In "with a pause", the share 0
    # gives an empty batch.
    shares = [6, 2]

    sentences = tf.data.experimental.from_list([["the", "mill"], ["water"], ["a", "wheel", "turns"]])
    words = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([["the", "mill"], [], ["a", "wheel", "turns"]]))
    marked = sizes.map(lambda size: {"size": size}).apply(tf.data.experimental.pad_to_cardinality(20))
    by_length = tf.data.experimental.Reducer(
        lambda key: (tf.constant(0, tf.int64), tf.constant(0, tf.int64)),
        lambda state, size: (state[0] + 1, state[1] + tf.cast(size, tf.int64)), lambda count, total: total // count)
    return {
        "steps": steps.rebatch(shares),
        "full steps": steps.rebatch(shares, drop_remainder=True),
        "with a pause": steps.rebatch([3, 0, 1]),
        "sentences": sentences,
        "words": words,
        "filled up": marked,
        "in steps": marked.batch(5),
        "mean by hundreds": sizes.apply(
            tf.data.experimental.group_by_reducer(lambda size: tf.cast(size // 1000, tf.int64), by_length)),
        "third": [tf.data.experimental.at(sizes, 2)],
    }
