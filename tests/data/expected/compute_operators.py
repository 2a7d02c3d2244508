#!/usr/bin/env python3
"""Computes elements of dataset operators with TensorFlow; tests compare them with the elements of this project.

    python3 compute_operators.py

writes operators.txt next to this script: for each case its name, then its elements, one a line, as the tests
print them. The data are the numbers 0 to 39, the sentences in ../sentences.tfrecord, as ids of words, and ../table.csv.
"""
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

here = os.path.dirname(os.path.abspath(__file__))
out = [f"Computed by compute_operators.py with TensorFlow {tf.__version__}."]
numbers = tf.data.Dataset.range(40)
features = {"tokens": tf.io.VarLenFeature(tf.int64)}
sentences = tf.data.TFRecordDataset(os.path.join(here, "..", "sentences.tfrecord")).map(
    lambda x: tf.sparse.to_dense(tf.io.parse_single_example(x, features)["tokens"])).repeat(3)


def text(tensor):
    if isinstance(tensor, tf.RaggedTensor):
        return text(tensor.flat_values) + "|" + "|".join(text(n) for n in tensor.nested_row_lengths())
    if tensor.dtype == tf.string:
        return f"'{tensor.numpy().decode()}'"
    values = " ".join(str(x) for x in tensor.numpy().reshape(-1))
    return f"[{', '.join(map(str, tensor.shape))}]{{{values}}}" if tensor.shape.rank else values


def write(name, dataset):
    out.append(f"== {name}")
    for element in dataset:
        parts = tf.nest.flatten(element)
        out.append("|".join(text(x) for x in parts))


def whole(window):
    return window.batch(100)


write("window", numbers.window(5, 3, 2).flat_map(whole))
write("window whole", numbers.window(4, shift=7, drop_remainder=True).flat_map(whole))
write("window pairs", tf.data.Dataset.zip((numbers, numbers.skip(3))).window(6, shift=5).flat_map(
    lambda a, b: tf.data.Dataset.zip((a.batch(4), b.batch(4)))))
write("window interleave", numbers.window(7).interleave(lambda w: w, cycle_length=3, block_length=2))
write("window sums", numbers.window(6, shift=4).map(lambda w: w.reduce(tf.constant(0, tf.int64), lambda s, x: s + x)))
write("group", numbers.group_by_window(lambda x: x * x % 7, lambda key, xs: xs.batch(3), window_size=5))
write("group sizes", numbers.group_by_window(lambda x: x % 4, lambda key, xs: xs.map(lambda x: (key, x)).take(3),
                                             window_size_func=lambda key: key + 2))
write("buckets", sentences.bucket_by_sequence_length(tf.size, [12, 20, 30], [2, 3, 2, 1]))
write("buckets filled", sentences.bucket_by_sequence_length(
    tf.size, [15, 200], [4, 3, 1], padding_values=tf.constant(-1, tf.int64), pad_to_bucket_boundary=True,
    drop_remainder=True).map(lambda x: (tf.shape(x, tf.int64), tf.reduce_sum(x))))
write("padded", sentences.padded_batch(4, padding_values=tf.constant(-1, tf.int64)))
write("padded shape", sentences.padded_batch(5, padded_shapes=[200], drop_remainder=True).map(
    lambda x: (tf.shape(x, tf.int64), tf.reduce_sum(x, 1))))
write("ragged", sentences.ragged_batch(4))
write("ragged threes", sentences.map(lambda x: tf.reshape(x[:tf.size(x) // 3 * 3], [-1, 3])).ragged_batch(4))
write("scan", numbers.scan(tf.constant(1, tf.int64), lambda s, x: ((s * 3 + x) % 101, s - x)))
write("unique", numbers.map(lambda x: x * x % 23).unique())
write("unique vectors", sentences.unique())

write("interleave", numbers.interleave(lambda x: tf.data.Dataset.range(x, x + x % 4), cycle_length=3, block_length=2))
write("interleave by one", numbers.interleave(lambda x: tf.data.Dataset.range(x * 10, x * 10 + 5 - x % 6),
                                              cycle_length=7))
for stop in (True, False):
    write(f"choose {stop}", tf.data.Dataset.choose_from_datasets(
        [numbers.take(5), numbers.skip(20).take(9)], numbers.map(lambda x: x * x % 5 % 2), stop_on_empty_dataset=stop))
    write(f"sample of one {stop}", tf.data.Dataset.sample_from_datasets(
        [numbers.take(6), numbers.skip(30)], [0.0, 1.0], seed=1, stop_on_empty_dataset=stop))
write("one hot", numbers.map(lambda x: tf.one_hot(x - 3, 4, on_value=5, off_value=-1, dtype=tf.int64)))
write("sorted", sentences.map(lambda x: (tf.sort(x), tf.sort(x, direction="DESCENDING"))))
write("gathered", sentences.map(lambda x: tf.gather(tf.concat([x, [1, 2, 3]], 0), [[2, 0], [1, 1]])))
keys = tf.constant([3, 5, 8, 13, 21], tf.int64)
table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, keys * keys), -1)
write("looked up", numbers.map(table.lookup))
rows = os.path.join(here, "..", "table.csv")
write("csv", tf.data.experimental.CsvDataset(
    rows, [tf.int64, tf.constant([7], tf.int64), tf.constant(["none"])], header=True).map(
        lambda n, m, name: (n, m, tf.strings.length(name))))
write("csv columns", tf.data.experimental.CsvDataset(rows, [tf.int64, tf.constant([""])], header=True,
                                                    select_cols=[0, 2]).map(lambda n, name: (tf.strings.length(name), n)))

write("batches", numbers.batch(7, drop_remainder=True))
write("unbatched", numbers.batch(7).map(lambda x: (x, x[::-1])).unbatch())
write("shard", numbers.shard(7, 3))
write("some", numbers.skip(3).filter(lambda x: x % 3 != 0).take_while(lambda x: x * x < 700).take(13).repeat(2))
write("side by side", tf.data.Dataset.zip((
    numbers.take(3).concatenate(numbers.skip(37)), numbers.skip(34).enumerate(5))))
write("sum", tf.data.Dataset.from_tensors(numbers.reduce(tf.constant(2, tf.int64), lambda s, x: s * 3 % 1000 + x)))
write("errors ignored", numbers.map(lambda x: 60 // (x % 4)).ignore_errors())
write("only one", tf.data.Dataset.from_tensors(numbers.skip(39).get_single_element()))
write("records", tf.data.FixedLengthRecordDataset(rows, 9, header_bytes=9, footer_bytes=7).map(
    lambda x: tf.io.decode_raw(x, tf.uint8)))
write("text", tf.data.TextLineDataset(rows))
out.append("== cardinalities")
for dataset in (numbers.batch(7), numbers.batch(7, drop_remainder=True), numbers.repeat(), numbers.repeat(3).skip(11),
                numbers.filter(lambda x: x > 2), numbers.window(5, 3, 2), numbers.window(5, 3, 2, True),
                numbers.shard(7, 5), tf.data.Dataset.zip((numbers.repeat(), numbers.take(4))),
                numbers.concatenate(numbers), numbers.interleave(lambda x: numbers), numbers.shuffle(3).prefetch(2)):
    out.append(str(dataset.cardinality().numpy()))

shares = [0.0, 0.0, 0.0]
resampled = tf.data.Dataset.range(40000).rejection_resample(
    lambda x: tf.cast(tf.where(x % 10 < 5, 0, tf.where(x % 10 < 8, 1, 2)), tf.int32), [0.2, 0.2, 0.6],
    [0.5, 0.3, 0.2], seed=3)
for kind, _ in resampled:
    shares[kind.numpy()] += 1
out.append("== resampled, in thousandths")
out += [str(round(1000 * n / sum(shares))) for n in shares]

with open(os.path.join(here, "operators.txt"), "w", encoding="utf-8") as file:
    file.write("\n".join(out) + "\n")
