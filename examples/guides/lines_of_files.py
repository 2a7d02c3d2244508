"""Lines of several files: one file after the other, or some of each in turn, numbered and cut into words."""

import tensorflow as tf


def datasets(data, folder):
    paths = [str(data / "moby_dick" / f"chapter-{i:03}.txt") for i in (1, 2, 5)]
    lines = tf.data.TextLineDataset(paths)
    files = tf.data.Dataset.from_tensor_slices(paths)
    in_turn = files.interleave(tf.data.TextLineDataset, cycle_length=3)
    headless = files.flat_map(lambda path: tf.data.TextLineDataset(path).skip(1).filter(
        lambda line: tf.not_equal(tf.strings.substr(tf.strings.join([line, " "]), 0, 1), " ")))
    words = headless.map(lambda line: tf.strings.split(tf.strings.strip(line))).unbatch()
    # The first four of every five words are the input; the last is the target.
    grams = words.window(5, shift=1, drop_remainder=True).flat_map(lambda w: w.batch(5)).map(
        lambda w: (tf.strings.reduce_join(w[:-1], separator=" "), w[-1]))
    return {"lines": lines, "in turn": in_turn.enumerate(), "headless": headless.batch(10), "words": words.batch(200),
            "grams": grams.take(500).batch(50), "once each": words.map(tf.strings.lower).unique()}
