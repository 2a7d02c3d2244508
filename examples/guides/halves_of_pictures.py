"""Image to image: each picture holds the input and the target side by side, and is cut at its middle."""

import tensorflow as tf


def halves(path):
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3, dct_method="INTEGER_ACCURATE")
    middle = tf.shape(image)[1] // 2
    return image[:, middle:, :], image[:, :middle, :]


def datasets(data, folder):
    files = tf.data.Dataset.list_files(str(data / "photos" / "*" / "*.jpg"), shuffle=False)
    pairs = files.map(halves, num_parallel_calls=tf.data.AUTOTUNE)
    return {"pairs": pairs, "sizes": pairs.map(lambda left, right: tf.shape(left)[:2])}
