"""Forecasting: a series is cut into windows of inputs and the values that follow them."""

import tensorflow as tf


def datasets(data, folder):
    series = tf.data.Dataset.range(1000)

    batches = series.batch(10, drop_remainder=True)
    next_step = batches.map(lambda batch: (batch[:-1], batch[1:]))
    last_five = batches.map(lambda batch: (batch[:-5], batch[-5:]))
    # The labels of a batch are the first three values of the next one.
    following = tf.data.Dataset.zip((batches, batches.skip(1).map(lambda labels: labels[:3])))

    def windows(ds, size, shift=1, stride=1):
        return ds.window(size, shift=shift, stride=stride).flat_map(lambda w: w.batch(size, drop_remainder=True))

    def labeled(window):
        return window[:-1], window[-1]

    overlapping = windows(series, size=24, shift=12).map(labeled).batch(16)
    strided = windows(series, size=5, shift=7, stride=3)
    # Two series side by side: a window over pairs is a pair of windows.
    pairs = tf.data.Dataset.zip((series, series.map(lambda x: -x)))
    both = pairs.window(4, shift=4, drop_remainder=True).flat_map(
        lambda a, b: tf.data.Dataset.zip((a.batch(4), b.batch(4))))
    smoothed = series.map(lambda x: tf.cast(x, tf.float64)).scan(
        tf.constant(0.0, tf.float64), lambda state, x: (0.75 * state + 0.25 * x, 0.75 * state + 0.25 * x))
    return {"next step": next_step, "last five": last_five, "following": following, "overlapping": overlapping,
            "strided": strided, "both": both, "smoothed": smoothed.batch(100)}
