"""Sequences: sentences of like length stand in one batch, so that little is padded."""

import tensorflow as tf


def datasets(data, folder):
    files = tf.data.Dataset.list_files(str(data / "sentences" / "*.tfrecord"), shuffle=False)
    features = {"tokens": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True)}

    def parsed(record):
        return tf.io.parse_single_example(record, features)["tokens"]

    sentences = files.flat_map(tf.data.TFRecordDataset).map(parsed, num_parallel_calls=tf.data.AUTOTUNE)
    short = sentences.filter(lambda tokens: tf.size(tokens) <= 40)
    buckets = short.bucket_by_sequence_length(
        lambda tokens: tf.shape(tokens)[0], bucket_boundaries=[8, 16, 24, 32], bucket_batch_sizes=[64, 64, 32, 32, 16])
    padded_to_bound = short.take(1000).bucket_by_sequence_length(
        lambda tokens: tf.shape(tokens)[0], bucket_boundaries=[11, 21, 42], bucket_batch_sizes=[32, 32, 32, 32],
        padding_values=tf.constant(-1, tf.int64), pad_to_bucket_boundary=True, drop_remainder=True)
    # Inputs and targets: the target of each word is the next word.
    shifted = short.take(500).filter(lambda tokens: tf.size(tokens) > 1).map(lambda tokens: (tokens[:-1], tokens[1:]))
    grouped = short.take(2000).group_by_window(
        key_func=lambda tokens: tf.cast(tf.size(tokens) // 10, tf.int64),
        reduce_func=lambda key, window: window.padded_batch(25), window_size=25)
    lengths = sentences.reduce((tf.constant(0, tf.int64), tf.constant(0, tf.int64)),
                               lambda state, tokens: (state[0] + 1, state[1] + tf.size(tokens, out_type=tf.int64)))
    return {"buckets": buckets, "padded to bound": padded_to_bound, "shifted": shifted.padded_batch(20),
            "grouped": grouped, "count and words": [int(x) for x in lengths]}
