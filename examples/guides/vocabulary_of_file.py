"""A vocabulary in a file: numbers of words, and words of numbers."""

import tensorflow as tf


def datasets(data, folder):
    path = str(data / "sentences" / "vocabulary.txt")
    by_word = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(
        path, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), -1)
    by_number = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(
        path, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE), "?")
    features = {"tokens": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True)}
    records = tf.data.TFRecordDataset(str(data / "sentences" / "sentences-00003-of-00008.tfrecord")).take(200)
    tokens = records.map(lambda record: tf.io.parse_single_example(record, features)["tokens"] - 1)
    words = tokens.map(by_number.lookup)
    return {"words": words.padded_batch(16), "text": words.map(lambda some: tf.strings.reduce_join(some, separator=" ")),
            "there and back": words.map(by_word.lookup).padded_batch(16),
            "unknown": tf.data.Dataset.from_tensor_slices(["whale", "gramophone"]).map(by_word.lookup),
            "size": [int(by_word.size())]}
