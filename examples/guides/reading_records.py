"""TFRecord files that TensorFlow wrote: digits, compressed and not, parsed and batched."""

import tensorflow as tf

FEATURES = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}


def parsed(record):
    example = tf.io.parse_single_example(record, FEATURES)
    pixels = tf.reshape(tf.io.decode_raw(example["image"], tf.uint8), [8, 8])
    return tf.cast(pixels, tf.float32) / 16.0, example["label"]


def datasets(data, folder):
    root = data / "digits"
    files = [str(path) for path in sorted(root.glob("digits-0*.tfrecord"))]
    one_by_one = tf.data.TFRecordDataset(files).map(parsed)
    mixed = tf.data.Dataset.from_tensor_slices(files).interleave(
        lambda file: tf.data.TFRecordDataset(file).map(parsed), cycle_length=2, block_length=3,
        num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)
    packed = [tf.data.TFRecordDataset(str(root / f"digits-{kind}.tfrecord"), compression_type=kind.upper())
              for kind in ("gzip", "zlib")]
    shares = [one_by_one.shard(num_shards=3, index=i).batch(100) for i in range(3)]
    return {"one by one": one_by_one.batch(64), "mixed": mixed.batch(64), "gzip": packed[0], "zlib": packed[1],
            "share 0": shares[0], "share 1": shares[1], "share 2": shares[2],
            "twos": one_by_one.filter(lambda image, label: label == 2).take(20)}
