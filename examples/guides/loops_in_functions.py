"""Functions with loops whose number of steps depends on the element: `while`, `for`, `break`, and `tf.while_loop`."""

import tensorflow as tf


def collatz(n):
    steps = tf.constant(0, tf.int64)
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def first_above(row, bound):
    found = tf.constant(-1, tf.int64)
    for x in row:
        if x > bound:
            found = x
            break
    return found


def weighted(n):
    total = tf.constant(0, tf.int64)
    for i in tf.range(n):
        if i % 3 == 0:
            continue
        total += i * i
    return total


def datasets(data, folder):
    numbers = tf.data.Dataset.range(1, 41)
    rows = numbers.batch(8).map(lambda row: row * 37 % 41)
    return {
        "collatz": numbers.map(collatz),
        "first above": rows.map(lambda row: first_above(row, 25)),
        "weighted": numbers.map(weighted),
        "while_loop": numbers.map(lambda x: tf.while_loop(
            lambda i, s: i < x, lambda i, s: (i + 1, s + i), (tf.constant(0, tf.int64), tf.constant(0, tf.int64)))[1]),
    }
