"""Costly results are kept: in a saved dataset, a cache in memory, a snapshot."""

import pathlib

import tensorflow as tf

#: The results whose elements are in no specified order, because they are read from several shards.
UNORDERED = ["sharded", "unbatched snapshot"]


def datasets(data, folder):
    root = pathlib.Path(folder)
    costly = tf.data.TextLineDataset(str(data / "digits" / "digits.csv")).skip(1).take(300).map(
        lambda line: tf.strings.to_number(tf.strings.split(line, ","), tf.int32))
    pairs = costly.map(lambda row: {"sum": tf.reduce_sum(row[:-1]), "rows": tf.reshape(row[:-1], [8, 8]),
                                    "label": row[-1]})
    pairs.save(str(root / "saved"))
    loaded = tf.data.Dataset.load(str(root / "saved"))
    sharded = root / "sharded"
    costly.enumerate().save(str(sharded), shard_func=lambda i, row: i % 3)
    cached = pairs.cache()
    for _ in cached.take(-1):
        pass
    snapshot = pairs.snapshot(str(root / "snapshot"))
    for _ in snapshot:
        pass
    return {"loaded": loaded.batch(50), "cached": cached.batch(50), "unbatched snapshot": snapshot,
            "sharded": tf.data.Dataset.load(str(sharded)).map(lambda i, row: row), "count": [len(loaded)]}
