"""TFRecord files: examples are written, and read and parsed again, one by one and in batches."""

import pathlib

import tensorflow as tf


def bytes_feature(value):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def float_feature(values):
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def int64_feature(values):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def datasets(data, folder):
    path = str(pathlib.Path(folder) / "some.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for file in sorted((data / "photos").glob("*/*.jpg")):
            text = file.read_bytes()
            feature = {"name": bytes_feature(str(file.parent.name).encode()), "image": bytes_feature(text),
                       "size": int64_feature([len(text)]), "share": float_feature([len(text) / 4096, 0.5])}
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString(deterministic=True))
    features = {"name": tf.io.FixedLenFeature([], tf.string), "image": tf.io.FixedLenFeature([], tf.string),
                "size": tf.io.FixedLenFeature([], tf.int64), "share": tf.io.FixedLenFeature([2], tf.float32),
                "none": tf.io.FixedLenFeature([], tf.int64, default_value=-1)}
    records = tf.data.TFRecordDataset(path)
    return {
        "records": records,
        "one by one": records.map(lambda record: tf.io.parse_single_example(record, features)),
        "batches": records.batch(5).map(lambda some: tf.io.parse_example(some, features)),
    }
