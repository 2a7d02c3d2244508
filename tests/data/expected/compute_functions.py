#!/usr/bin/env python3
"""Computes results of functions with TensorFlow, with which tests compare the functions of this project row by row.

    python3 compute_functions.py FOLDER_WITH_THE_REAL_DATA

writes functions.txt next to this script, as compute_operators.py writes operators.txt (an error row is written as !);
and three files that the tests read: ../words.tfrecord, sentences as tf.Examples with variable, ragged and sparse
features; ../chapters.tfrecord, runs of sentences as tf.SequenceExamples; and ../vocabulary.txt, the first 300 words
of the book's vocabulary.
"""
import collections
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

data = sys.argv[1]
here = os.path.dirname(os.path.abspath(__file__))
out = [f"Computed by compute_functions.py with TensorFlow {tf.__version__}."]
PLACES = 40


def text(tensor):
    def one(x):
        if isinstance(x, bytes):
            return f"'{x.decode('utf-8')}'"
        return str(int(x)) if tensor.dtype == tf.bool else str(x)
    if isinstance(tensor, tf.RaggedTensor):
        return text(tensor.flat_values) + "|" + "|".join(text(n) for n in tensor.nested_row_lengths())
    if tensor.shape.rank == 0:
        return one(tensor.numpy())
    return f"[{', '.join(map(str, tensor.shape))}]{{{' '.join(one(x) for x in tensor.numpy().reshape(-1))}}}"


def write(name, dataset, function=None):
    out.append(f"== {name}")
    for element in dataset:
        try:
            made = element if function is None else function(element)
            out.append("|".join(text(x) for x in tf.nest.flatten(made)))
        except tf.errors.InvalidArgumentError:
            out.append("!")


def dense(x, filler=None):
    return tf.sparse.to_dense(x, filler)


def thousandths(x):
    return tf.cast(tf.round(x * 1000), tf.int64)


# -- the files: sentences of the book, as ids and as words ------------------------------

with open(os.path.join(data, "sentences", "vocabulary.txt"), encoding="utf-8") as file:
    vocabulary = file.read().splitlines()


def read_sentences(shard, count):
    path = os.path.join(data, "sentences", f"sentences-{shard:05d}-of-00008.tfrecord")
    for record in tf.data.TFRecordDataset(path).take(count).as_numpy_iterator():
        yield list(tf.train.Example.FromString(record).features.feature["tokens"].int64_list.value)


def integers(xs):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=xs))


def floats(xs):
    return tf.train.Feature(float_list=tf.train.FloatList(value=xs))


def strings(xs):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[x.encode() for x in xs]))


def word(token):
    return vocabulary[token - 1]


def words_example(tokens):
    counts = collections.Counter(t % PLACES for t in tokens)
    pieces = [tokens[i:i + 1 + i % 4] for i in range(0, len(tokens), 5)]
    features = {
        "tokens": integers(tokens),
        "pairs": integers(tokens[:len(tokens) // 2 * 2]),
        "place": integers(list(counts)),
        "share": floats([n / len(tokens) for n in counts.values()]),
        "pieces": strings([word(t) for piece in pieces for t in piece]),
        "lengths": integers([len(piece) for piece in pieces]),
    }
    if len(tokens) % 3 != 0:
        features["last"] = strings([word(tokens[-1])])
    return tf.train.Example(features=tf.train.Features(feature=features))


def chapter(sentences):
    lists = {
        "words": tf.train.FeatureList(feature=[strings([word(t) for t in s[:7]]) for s in sentences]),
        "tokens": tf.train.FeatureList(feature=[integers(s) for s in sentences]),
        "ends": tf.train.FeatureList(feature=[integers([s[0], s[-1]]) for s in sentences]),
    }
    if len(sentences) == 3:
        del lists["ends"]
    context = {"sentences": integers([len(sentences)]), "first": integers(sentences[0][:4] if sentences else [])}
    return tf.train.SequenceExample(context=tf.train.Features(feature=context),
                                    feature_lists=tf.train.FeatureLists(feature_list=lists))


with tf.io.TFRecordWriter(os.path.join(here, "..", "words.tfrecord")) as writer:
    for sentence in read_sentences(1, 9):
        writer.write(words_example(sentence).SerializeToString(deterministic=True))
some = list(read_sentences(2, 14))
with tf.io.TFRecordWriter(os.path.join(here, "..", "chapters.tfrecord")) as writer:
    for first, last in [(0, 2), (2, 5), (5, 5), (5, 6), (6, 10), (10, 14)]:
        writer.write(chapter(some[first:last]).SerializeToString(deterministic=True))
first_words = vocabulary[:300]
with open(os.path.join(here, "..", "vocabulary.txt"), "w", encoding="utf-8") as file:
    file.writelines(x + "\n" for x in first_words)
examples = tf.data.TFRecordDataset(os.path.join(here, "..", "words.tfrecord"))
chapters = tf.data.TFRecordDataset(os.path.join(here, "..", "chapters.tfrecord"))

# -- parsing ------------------------------------------------------------------------------

variable = {"tokens": tf.io.VarLenFeature(tf.int64), "last": tf.io.VarLenFeature(tf.string),
            "none": tf.io.VarLenFeature(tf.float32)}
write("variable", examples.map(lambda x: {k: dense(v) for k, v in tf.io.parse_single_example(x, variable).items()}))
write("variable padded", examples.batch(4).map(
    lambda x: dense(tf.io.parse_example(x, {"tokens": variable["tokens"]})["tokens"], tf.constant(-1, tf.int64))))
write("default", examples.map(lambda x: tf.io.parse_single_example(
    x, {"last": tf.io.FixedLenFeature([], tf.string, "nothing")})["last"]))
write("missing", examples, lambda x: tf.io.parse_single_example(x, {"last": tf.io.FixedLenFeature([], tf.string)}))
write("steps", examples.map(lambda x: tf.io.parse_single_example(
    x, {"pairs": tf.io.FixedLenSequenceFeature([2], tf.int64, allow_missing=True)})["pairs"]))
sparse = {"share": tf.io.SparseFeature("place", "share", tf.float32, PLACES)}
write("sparse", examples.map(lambda x: thousandths(dense(tf.io.parse_single_example(x, sparse)["share"], -1.0))))
write("sparse batch", examples.batch(4).map(
    lambda x: tf.reduce_sum(thousandths(dense(tf.io.parse_example(x, sparse)["share"])), 0)))
pieces = {"pieces": tf.io.RaggedFeature(tf.string, "pieces", [tf.io.RaggedFeature.RowLengths("lengths")])}
write("ragged feature", examples.map(lambda x: tf.io.parse_single_example(x, pieces)["pieces"].to_tensor("-")))

context = {"sentences": tf.io.FixedLenFeature([], tf.int64), "first": tf.io.VarLenFeature(tf.int64)}
lists = {"words": tf.io.VarLenFeature(tf.string), "tokens": tf.io.VarLenFeature(tf.int64),
         "ends": tf.io.FixedLenSequenceFeature([2], tf.int64, allow_missing=True)}


def sequence(x):
    about, all_lists = tf.io.parse_single_sequence_example(x, context, lists)
    return (about["sentences"], dense(about["first"]), dense(all_lists["words"]), dense(all_lists["tokens"]),
            all_lists["ends"])


write("sequence", chapters.map(sequence))
write("sequence padded", chapters.map(sequence).map(lambda n, first, words, tokens, ends: (words, ends)).padded_batch(
    4, padding_values=("-", tf.constant(-1, tf.int64))))
write("sequence ragged", chapters.map(sequence).map(lambda n, first, words, tokens, ends: ends).ragged_batch(4))
write("sequence short", chapters, lambda x: tf.io.parse_single_sequence_example(
    x, sequence_features={"tokens": tf.io.FixedLenSequenceFeature([9], tf.int64)}))

# -- strings --------------------------------------------------------------------------------

lines = tf.data.TextLineDataset(os.path.join(here, "lines.txt")).map(lambda s: tf.strings.substr(s, 0, 70)).filter(
    lambda s: tf.strings.regex_full_match(s, r"[ -~]*"))
write("split", lines.map(lambda s: (tf.strings.split(s), tf.strings.split(s, "e"))))
write("split to padded", lines.batch(3).map(
    lambda s: (tf.strings.split(s).to_tensor("-", shape=[None, 4]), tf.strings.split(s, ",").to_tensor("", shape=[None, 2]))))
write("ASCII", lines.map(lambda s: (tf.strings.upper(s), tf.strings.lower(s), tf.strings.length(s),
                                    tf.strings.strip(" \t" + s + " \n"), tf.strings.join([s, s], "|"))))
write("substring", lines, lambda s: tf.strings.substr(s, [-20, 12, 0], [4, 100, 0]))
write("first replaced", lines.map(lambda s: tf.strings.regex_replace(s, "[aeiou]+([a-z])", r"<\1\0>", False)))
write("ngrams", lines.map(lambda s: (
    tf.strings.ngrams(tf.strings.split(s), 3, separator="-", pad_values=("(", ")"), padding_width=1),
    tf.strings.ngrams(tf.strings.split(s)[:2], 3, separator="-", preserve_short_sequences=True))))
write("buckets of words", lines.map(lambda s: tf.strings.to_hash_bucket_fast(tf.strings.split(s), 1000)))
letters = tf.data.Dataset.from_tensor_slices(["12", " -7 ", "+3", "1e3", "", "9223372036854775807", "1.5",
                                              "9223372036854775808"])
write("integers from text", letters, lambda s: tf.strings.to_number(s, tf.int64))
write("floats from text", letters, lambda s: tf.strings.as_string(tf.strings.to_number(s, tf.float64)))
write("texts of numbers", tf.data.Dataset.range(-3, 4).map(
    lambda x: tuple(tf.strings.as_string(y) for y in (x, x * 10**15, x > 0, tf.cast(x, tf.float32) / 7))))
most = tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(
    first_words, tf.range(300, dtype=tf.int64)), 5)
known = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(
    tf.range(300, dtype=tf.int64), first_words), "UNK")
write("vocabulary", lines.map(lambda s: most.lookup(tf.strings.split(tf.strings.lower(s)))))
write("words again", lines.map(lambda s: known.lookup(most.lookup(tf.strings.split(tf.strings.lower(s))))))

# -- numbers ----------------------------------------------------------------------------------

digit = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}
digits = tf.data.TFRecordDataset(os.path.join(data, "digits", "digits-gzip.tfrecord"), "GZIP").take(6).map(
    lambda x: tf.io.parse_single_example(x, digit)).map(
    lambda x: (tf.reshape(tf.io.decode_raw(x["image"], tf.uint8), [8, 8]), x["label"]))
squares = digits.map(lambda image, label: tf.cast(image, tf.int64)[1:5, 2:6])
write("reductions", squares.map(lambda x: (
    tf.reduce_sum(x), tf.reduce_max(x, 0), tf.reduce_min(x, 1, keepdims=True), tf.reduce_prod(x + 1, [0, 1]),
    thousandths(tf.reduce_mean(tf.cast(x, tf.float32), 1)), tf.reduce_any(x > 12, 0), tf.reduce_all(x > 2, 1), tf.argmax(x, 0), tf.argmin(x, 1))))
write("moved", squares.map(lambda x: (
    tf.transpose(x), tf.reverse(x, [1]), tf.roll(x, [1, -1], [0, 1]), tf.tile(x[:1], [2, 1]),
    tf.pad(x[1:3, 1:3], [[1, 0], [0, 2]], constant_values=-1), tf.pad(x[:, 0], [[2, 3]], "REFLECT"),
    tf.pad(x[0], [[1, 2]], "SYMMETRIC"), tf.stack([x[0], x[1]], 1), tf.concat([x[:, :1], x[:, 2:]], 1),
    tf.slice(x, [1, 0], [-1, 2]), tf.expand_dims(x[0], 1), x[::-2, 3])))
write("gathered along an axis", digits.map(lambda image, label: tf.gather(image, [label % 8, 7 - label % 8], axis=1)))
write("chosen", digits.map(lambda image, label: (
    tf.where(image[2] > 8, image[2], image[3]), tf.clip_by_value(image[4], 3, 9),
    tf.cond(label > 2, lambda: tf.cast(label, tf.uint8), lambda: image[2, 2]))))
signed = squares.map(lambda x: (x[0] - 7, x[1] % 5 + 1))
write("divided", signed.map(lambda x, y: (
    x // y, tf.math.floormod(x, y), tf.truncatediv(x, y), tf.math.mod(-x, y), x ** 3, tf.sign(x), abs(x),
    tf.bitwise.bitwise_and(x, y), tf.bitwise.bitwise_xor(x, y), tf.bitwise.left_shift(x, y),
    tf.bitwise.right_shift(x, y))))
write("division by zero", squares, lambda x: x[0] // x[1])
write("sorted rows", squares.map(lambda x: (
    tf.sort(x, 0), tf.argsort(x, 1, "DESCENDING", stable=True), tf.math.top_k(x, 2)[0], tf.math.top_k(x, 2)[1],
    tf.cumsum(x, 1), tf.cumsum(x, 0, exclusive=True), tf.math.cumprod(x, 1, reverse=True), tf.matmul(x, x),
    tf.matmul(x, x[:2], transpose_b=True))))
write("one hot along an axis", digits.map(lambda image, label: tf.one_hot([label, 9, -1], 10, 3, 1, axis=0)))
real = squares.map(lambda x: tf.cast(x[2], tf.float32) / 8 - 1)
write("thousandths", real.map(lambda x: thousandths(tf.stack([
    tf.exp(x), tf.sin(x), tf.cos(x), tf.tanh(x), tf.square(x), tf.sqrt(tf.abs(x)), tf.math.log(x + 1.5)]))))
write("rounded", real.map(lambda x: (tf.round(x * 4), tf.floor(x * 3), tf.math.ceil(x * 3))).map(
    lambda *xs: tuple(tf.cast(x, tf.int32) for x in xs)))
write("finite", real, lambda x: thousandths(tf.debugging.check_numerics(1 / (x - x[1]) if x[0] > 0 else x, "quotient")))


def asserted(x):
    tf.debugging.assert_less(x[0], x[1] + 3)
    return x[0]


write("asserted", squares, asserted)


def collatz(x):
    return tf.while_loop(lambda n, steps: n > 1,
                         lambda n, steps: (tf.where(n % 2 == 0, n // 2, 3 * n + 1), steps + 1), (x, x * 0))


write("loop", tf.data.Dataset.range(1, 13).map(collatz))
write("uniform", tf.data.Dataset.range(8).map(lambda i: (
    tf.random.stateless_uniform([3], [i, 5], -50, 50, tf.int32),
    tf.cast(tf.random.stateless_uniform([3], [i, 5], -50.0, 50.0) * 4096, tf.int64),
    thousandths(tf.random.stateless_normal([3], [i, 5])),
    thousandths(tf.random.stateless_truncated_normal([3], [i, 5])))))

# -- images -----------------------------------------------------------------------------------

crops = tf.data.TFRecordDataset(os.path.join(here, "..", "photos", "crops.tfrecord")).map(
    lambda x: tf.io.parse_single_example(x, {"encoded": tf.io.FixedLenFeature([], tf.string)})["encoded"])
corners = tf.data.Dataset.from_tensor_slices([
    (tf.io.decode_png(x) if x.startswith(b"\x89PNG") else tf.io.decode_jpeg(x, dct_method="INTEGER_ACCURATE"))[
        20:24, 30:35].numpy() for x in crops.as_numpy_iterator()])
write("kinds of pixels", crops.map(lambda x: tf.shape(tf.io.decode_image(x, 1, expand_animations=False), tf.int64)))
write("turned", corners.map(lambda x: (
    tf.image.flip_left_right(x)[0], tf.image.flip_up_down(x)[0], tf.image.transpose(x)[1], tf.image.rot90(x)[0],
    tf.image.crop_to_bounding_box(x, 1, 2, 2, 2), tf.image.pad_to_bounding_box(x[:2, :2, :1], 1, 0, 4, 3))))
write("fitted and filled", corners.map(lambda x: tf.cast(tf.round(
    tf.image.resize_with_pad(x, 6, 6, method="nearest")[:, 2]), tf.int32)))
write("grey again", corners.map(lambda x: tf.image.grayscale_to_rgb(x[:1, :3, :1])))
write("colours again", corners.map(lambda x: tf.cast(tf.round(tf.image.hsv_to_rgb(tf.image.rgb_to_hsv(
    tf.image.convert_image_dtype(x[:2], tf.float32))) * 255), tf.int32)))
write("dtypes", corners.map(lambda x: (
    tf.cast(tf.image.convert_image_dtype(x[0, :2], tf.float32) * 255, tf.int32),
    tf.image.convert_image_dtype(tf.cast(x[0, :2], tf.float32) / 200, tf.uint8, saturate=True))))
write("encoded losslessly", corners.map(lambda x: tf.io.decode_png(tf.io.encode_png(x))))
write("damaged", crops, lambda x: tf.shape(tf.io.decode_image(tf.strings.substr(x, 0, 400)), tf.int64))

with open(os.path.join(here, "functions.txt"), "w", encoding="utf-8") as file:
    file.write("\n".join(out) + "\n")
