"""Recommendations: events of users and items, as dicts; items become numbers, with negatives beside each positive."""

import numpy as np
import tensorflow as tf


def datasets(data, folder):
    random = np.random.RandomState(3)
    events = {"user": [f"user-{i % 23}" for i in range(400)], "item": [f"item-{x}" for x in random.randint(0, 50, 400)],
              "rating": random.randint(1, 6, 400).astype(np.float32), "time": np.arange(400, dtype=np.int64)}
    ratings = tf.data.Dataset.from_tensor_slices(events)
    kept = ratings.map(lambda e: {"user": e["user"], "item": e["item"], "liked": e["rating"] >= 4.0})
    items = np.unique(np.concatenate(list(kept.map(lambda e: e["item"]).batch(64).as_numpy_iterator())))
    numbers = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(
        items, np.arange(len(items), dtype=np.int64)), -1)

    def with_negatives(e):
        number = numbers.lookup(e["item"])
        others = tf.math.floormod(number + tf.constant([7, 11, 13], tf.int64), len(items))
        candidates = tf.concat([[number], others], axis=0)
        return {"user": e["user"], "candidates": candidates}, tf.one_hot(0, 4)

    crossed = kept.map(lambda e: tf.strings.to_hash_bucket_fast(
        tf.strings.join([e["user"], e["item"]], separator="_x_"), 100))
    by_user = ratings.group_by_window(
        key_func=lambda e: tf.strings.to_hash_bucket_fast(e["user"], 5), window_size=400,
        reduce_func=lambda key, window: window.map(lambda e: e["rating"]).batch(400))
    train, test = ratings.take(300), ratings.skip(300)
    recent = ratings.filter(lambda e: (e["time"] > 350) & (e["rating"] > 2.0)).map(lambda e: e["item"])
    return {"kept": kept.batch(50), "negatives": kept.map(with_negatives).batch(50), "crossed": crossed.batch(100),
            "by user": by_user, "items": list(items), "train": train.map(lambda e: (e["user"], e["rating"])).batch(64),
            "test": test.map(lambda e: tf.cast(e["time"] % 24, tf.int32)).batch(64),
            "recent": recent}
