"""Text classification: lines of files, a file for each class, become numbers of a vocabulary in padded batches."""

import collections

import tensorflow as tf

FILES = ["chapter-004.txt", "chapter-007.txt", "chapter-016.txt"]
#: The results whose elements are in random order.
UNORDERED = ["shuffled"]


def standardized(text):
    return tf.strings.regex_replace(tf.strings.lower(text), "[^a-z ]", "")


def datasets(data, folder):
    labeled = []
    for label, name in enumerate(FILES):
        lines = tf.data.TextLineDataset(str(data / "moby_dick" / name))
        labeled.append(lines.map(lambda line: (line, tf.cast(label, tf.int64))))
    every = labeled[0]
    for one in labeled[1:]:
        every = every.concatenate(one)
    every = every.filter(lambda line, label: tf.strings.length(line) > 0)
    shuffled = every.shuffle(1000, reshuffle_each_iteration=False)

    counts = collections.Counter()
    for line, _ in every.map(lambda line, label: (standardized(line), label)).as_numpy_iterator():
        counts.update(line.split())
    words = [word for word, _ in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:500]]
    # The words are numbered from 1, because 0 is the padding.
    table = tf.lookup.StaticVocabularyTable(
        tf.lookup.KeyValueTensorInitializer(words, tf.range(1, len(words) + 1, dtype=tf.int64)), num_oov_buckets=1)

    def encoded(line, label):
        return table.lookup(tf.strings.split(standardized(line))), label

    numbers = every.map(encoded, num_parallel_calls=tf.data.AUTOTUNE).filter(lambda words, label: tf.size(words) > 0)
    train, validation = numbers.skip(100), numbers.take(100)
    return {
        "shuffled": shuffled.map(lambda line, label: (standardized(line), label)),
        "train": train.padded_batch(32, padded_shapes=([None], [])).prefetch(tf.data.AUTOTUNE),
        "validation": validation.padded_batch(32).cache(),
        "of each class": [int(every.filter(lambda line, label: label == wanted).reduce(0, lambda n, _: n + 1))
                          for wanted in range(len(FILES))],
    }
