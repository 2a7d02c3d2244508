"""Lines whose last field contains separators, lookup tables made from datasets, and windows of windows."""

import tensorflow as tf

LINES = ["3: a wheel: of wood", " 1:  water,  and more water", "2: no: more: of: it", "4:"]


def datasets(data, folder):
    lines = tf.data.Dataset.from_tensor_slices(LINES)
    fields = lines.map(lambda line: tf.strings.split(line, ":", maxsplit=1))
    first_words = lines.map(lambda line: tf.strings.split(line, maxsplit=2))
    batches = lines.batch(2).map(lambda some: tf.strings.split(some, sep=tf.constant(": "), maxsplit=1).to_tensor("-"))
    grid = tf.data.Dataset.from_tensors([["a b", "c"], ["", "d e f"]])
    words = tf.data.TextLineDataset(str(data / "sentences" / "vocabulary.txt")).take(50)
    numbers = tf.data.experimental.index_table_from_dataset(words, num_oov_buckets=5)
    lengths = tf.data.experimental.table_from_dataset(
        tf.data.Dataset.zip((words, words.map(lambda word: tf.cast(tf.strings.length(word), tf.int64)))), default_value=0)
    looked_up = lines.map(lambda line: tf.strings.split(line))

    def of_windows(windows):
        return windows.flat_map(lambda window: window.batch(2))

    weeks = tf.data.Dataset.range(45).window(7, drop_remainder=True).window(2, shift=1)
    months = [list(map(int, week)) for some in weeks for week in some]
    return {
        "fields": fields,
        "first words": first_words,
        "batches": batches,
        "grid": grid.map(lambda some: tf.strings.split(some).to_tensor()),
        "numbers": looked_up.map(numbers.lookup),
        "lengths": looked_up.map(lengths.lookup),
        "weeks": weeks.flat_map(of_windows),
        "weeks in lists": [sum(week) for week in months],
    }
