"""Functions with branches, for `map` and `filter`: `if` over tensors, `tf.cond`, `tf.case` and `tf.where`."""

import tensorflow as tf

#: The tolerances of results whose floats headrace computes in another order than TensorFlow.
TOLERANCE = {"scaled": 1e-5}


def kind(n):
    if n % 15 == 0:
        return tf.constant("fizzbuzz")
    if n % 3 == 0:
        return tf.constant("fizz")
    if n % 5 == 0:
        return tf.constant("buzz")
    return tf.strings.as_string(n)


def scaled(x, label):
    y = tf.cast(x, tf.float32) / 7.0
    if label > 0 and x > 10:
        y = tf.sqrt(y)
        factor = 2.0
    else:
        factor = 0.5
    for power in range(3):
        y = y * factor + tf.cast(power, tf.float32)
    return y, label


def datasets(data, folder):
    numbers = tf.data.Dataset.range(1, 61)
    pairs = tf.data.Dataset.zip((numbers, numbers.map(lambda x: x % 2)))
    return {
        "fizzbuzz": numbers.map(kind),
        "scaled": pairs.map(scaled).batch(10),
        "cond": numbers.map(lambda x: tf.cond(x > 30, lambda: x - 30, lambda: -x)).batch(20),
        "case": numbers.map(lambda x: tf.case(
            [(x < 10, lambda: tf.constant(0)), (x < 30, lambda: tf.constant(1))], default=lambda: tf.constant(2))).batch(20),
        "where": numbers.batch(7).map(lambda x: tf.where(x % 2 == 0, x // 2, 3 * x + 1)),
        "masked": numbers.batch(12, drop_remainder=True).map(lambda x: tf.boolean_mask(x, x % 3 == 0)),
        "chosen": numbers.filter(lambda x: tf.logical_or(x < 5, x > 55)),
        "taken": numbers.take_while(lambda x: x * x < 500).batch(50),
        "top": numbers.batch(20).map(lambda x: tf.math.top_k(x * 37 % 23, k=3)[0]),
        "sorted": numbers.batch(20).map(lambda x: (tf.sort(x * 37 % 23), tf.argsort(x * 37 % 101))),
    }
