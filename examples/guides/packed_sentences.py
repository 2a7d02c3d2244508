"""Sentences of one length: cut, marked at both ends, and padded, each by itself."""

import tensorflow as tf

LENGTH, START, END = 16, 30001, 30002


def datasets(data, folder):
    features = {"tokens": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True)}
    records = tf.data.TFRecordDataset(str(data / "sentences" / "sentences-00001-of-00008.tfrecord")).take(300)
    sentences = records.map(lambda record: tf.io.parse_single_example(record, features)["tokens"])

    def packed(tokens):
        tokens = tf.concat([[START], tokens[:LENGTH - 2], [END]], axis=0)
        size = tf.shape(tokens)[0]
        padded = tf.pad(tokens, [[0, LENGTH - size]])
        return {"ids": tf.ensure_shape(padded, [LENGTH]), "mask": tf.sequence_mask(size, LENGTH)}

    return {"packed": sentences.map(packed).batch(32)}
