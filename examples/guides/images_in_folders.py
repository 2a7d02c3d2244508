"""Image classification: JPEG files in a folder for each class are decoded, resized, and batched with their labels."""

import tensorflow as tf

#: The tolerances of results whose floats headrace computes in another order than TensorFlow.
TOLERANCE = {"train": 1e-6, "validation": 1e-6, "changed": 1e-6}
SIZE = 24


def datasets(data, folder):
    root = data / "photos"
    names = tf.constant(sorted(path.name for path in root.iterdir()))
    files = tf.data.Dataset.list_files(str(root / "*/*.jpg"), shuffle=False)

    def load(path):
        parts = tf.strings.split(path, "/")
        label = tf.argmax(tf.cast(parts[-2] == names, tf.int32))
        image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3, dct_method="INTEGER_ACCURATE")
        return image, label

    def prepared(image, label):
        image = tf.image.convert_image_dtype(image, tf.float32)
        return tf.image.resize(image, [SIZE, SIZE]), label

    def changed(image, label):
        image = tf.image.central_crop(tf.image.flip_left_right(image), 0.5)
        image = tf.image.adjust_contrast(tf.image.adjust_brightness(image, 0.1), 1.5)
        return tf.clip_by_value(image, 0.0, 1.0), label

    decoded = files.map(load, num_parallel_calls=tf.data.AUTOTUNE)
    images = decoded.map(prepared, num_parallel_calls=tf.data.AUTOTUNE)
    # Of every five images, the last is for validation.
    numbered = images.enumerate()
    train = numbered.filter(lambda i, element: i % 5 != 4).map(lambda i, element: element)
    validation = numbered.filter(lambda i, element: i % 5 == 4).map(lambda i, element: element)
    return {
        "decoded": decoded,
        "train": train.cache().batch(4).prefetch(tf.data.AUTOTUNE),
        "validation": validation.batch(4),
        "changed": images.map(changed).batch(8, drop_remainder=True),
    }
