"""Sequence examples: records with features of the sequence and of each step, encoded by hand, read one by one."""

import pathlib

import tensorflow as tf


def _field(number, body):
    size, varint = len(body), []
    while size > 127:
        varint.append(size & 127 | 128)
        size >>= 7
    return bytes([number << 3 | 2, *varint, size]) + body


def _ints(values):
    return _field(3, _field(1, bytes(values)))


def _entry(key, body):
    return _field(1, _field(1, key.encode()) + _field(2, body))


def datasets(data, folder):
    path = str(pathlib.Path(folder) / "sequences.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for n in range(1, 9):
            context = _entry("label", _ints([n % 3])) + _entry("user", _field(1, _field(1, b"user-%d" % n)))
            steps = b"".join(_field(1, _ints([i, n])) for i in range(n))
            words = b"".join(_field(1, _field(1, _field(1, b"w%d" % i))) for i in range(n))
            writer.write(_field(1, context) + _field(2, _entry("pairs", steps) + _entry("words", words)))

    def parsed(record):
        context, steps = tf.io.parse_single_sequence_example(
            record,
            context_features={"label": tf.io.FixedLenFeature([], tf.int64), "user": tf.io.FixedLenFeature([], tf.string)},
            sequence_features={"pairs": tf.io.FixedLenSequenceFeature([2], tf.int64),
                               "words": tf.io.FixedLenSequenceFeature([], tf.string)})
        return {"pairs": steps["pairs"], "words": steps["words"], "user": context["user"]}, context["label"]

    examples = tf.data.TFRecordDataset(path).map(parsed)
    sums = examples.map(lambda features, label: (tf.reduce_sum(features["pairs"], axis=0), tf.reverse(
        features["words"], axis=[0]), tf.cumsum(features["pairs"][:, 1]), label))
    return {"examples": examples, "padded": examples.padded_batch(4), "sums": sums,
            "long": examples.filter(lambda features, label: tf.shape(features["pairs"])[0] > 5)}
