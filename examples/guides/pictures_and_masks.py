"""Segmentation: each picture has a mask; both are resized, the mask without mixing its classes."""

import tensorflow as tf

#: The tolerances of results whose floats headrace computes in another order than TensorFlow.
TOLERANCE = {"pairs": 1e-6, "weighted": 1e-6, "channels": 1e-5, "colours": 1e-6}
SIZE = 32


def datasets(data, folder):
    files = tf.data.Dataset.list_files(str(data / "photos" / "*" / "*.jpg"), shuffle=False)

    def load(path):
        image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3, dct_method="INTEGER_ACCURATE")
        grey = tf.reduce_mean(tf.cast(image, tf.float32), axis=-1, keepdims=True)
        # The classes of the mask: 0 is dark, 1 is between dark and bright, 2 is bright.
        mask = tf.cast(grey > 85.0, tf.uint8) + tf.cast(grey > 170.0, tf.uint8)
        return image, mask

    def resized(image, mask):
        image = tf.image.resize(tf.cast(image, tf.float32) / 255.0, (SIZE, SIZE))
        mask = tf.image.resize(mask, (SIZE, SIZE), method=tf.image.ResizeMethod.NEAREST_NEIGHBOR)
        return image, mask

    def weighted(image, mask):
        weights = tf.constant([2.0, 1.0, 1.0])
        weights = weights / tf.reduce_sum(weights)
        return image, mask, tf.gather(weights, indices=tf.cast(mask, tf.int32))

    def mirrored(image, mask):
        return tf.image.flip_left_right(image), tf.image.flip_left_right(mask)

    pairs = files.map(load, num_parallel_calls=tf.data.AUTOTUNE).map(resized).cache()
    both = pairs.concatenate(pairs.map(mirrored))
    channels = pairs.map(lambda image, mask: (tf.image.rgb_to_grayscale(image),
                                              tf.image.per_image_standardization(image)))
    colours = files.map(load).map(lambda image, mask: tf.image.rgb_to_hsv(tf.cast(image[:20, :20], tf.float32) / 255.0))
    padded = files.map(load).map(lambda image, mask: tf.image.pad_to_bounding_box(
        tf.image.resize_with_crop_or_pad(image, 64, 64), 2, 3, 70, 70))
    return {"pairs": both.batch(4), "weighted": pairs.map(weighted).batch(4), "padded": padded.batch(8),
            "channels": channels.batch(8), "colours": colours,
            "shares": pairs.map(lambda image, mask: tf.stack([tf.reduce_sum(tf.cast(mask == i, tf.int32))
                                                              for i in range(3)]))}
