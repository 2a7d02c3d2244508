"""Lines with different numbers of words: a batch of lines is split in one call, and padded to a matrix."""

import tensorflow as tf


def datasets(data, folder):
    lines = tf.data.TextLineDataset(str(data / "moby_dick" / "chapter-005.txt")).filter(
        lambda line: tf.strings.length(line) > 0)
    batches = lines.batch(8)
    ragged = batches.map(tf.strings.split)
    matrices = ragged.map(lambda words: words.to_tensor(default_value=""))
    numbers = matrices.map(lambda words: tf.strings.to_hash_bucket_fast(words, 1000))
    rows = tf.data.Dataset.range(10).flat_map(lambda n: tf.data.Dataset.range(n).batch(20)).ragged_batch(3)
    return {"ragged": ragged, "lengths": ragged.map(lambda words: words.row_lengths()), "matrices": matrices,
            "numbers": numbers, "rows": rows, "upper": batches.map(lambda some: tf.strings.upper(some)),
            "bytes": batches.map(tf.strings.length)}
