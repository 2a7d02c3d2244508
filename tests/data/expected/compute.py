#!/usr/bin/env python3
"""Computes results of functions with TensorFlow, with which tests compare the functions of this project.

    python3 compute.py FOLDER_WITH_THE_REAL_DATA

writes the files of results next to this script, and two files with a few records that the tests read:
../photos/crops.tfrecord and ../sentences.tfrecord. `expected.txt` has the version of TensorFlow and a list of the
files of results. Files of numbers have the raw bytes, little-endian; files of texts have one text on each line.
"""
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

data = sys.argv[1]
here = os.path.dirname(os.path.abspath(__file__))
log = []


def write(name, tensor):
    values = tensor.numpy()
    with open(os.path.join(here, name), "wb") as file:
        file.write(values.tobytes())
    log.append(f"{name} {values.dtype} {list(values.shape)}")


def write_lines(name, strings):
    lines = [s.decode("utf-8") for s in strings]
    assert not any("\n" in line for line in lines)
    with open(os.path.join(here, name), "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)
    log.append(f"{name} {len(lines)} lines")


# -- images: two JPEGs and a PNG of the photographs ----------------------------

records = list(tf.data.TFRecordDataset(os.path.join(data, "photos", "crops.tfrecord")).as_numpy_iterator())
features = {
    "encoded": tf.io.FixedLenFeature([], tf.string),
    "label": tf.io.FixedLenFeature([], tf.int64),
    "name": tf.io.FixedLenFeature([], tf.string),
    "box": tf.io.FixedLenFeature([4], tf.float32),
}
parsed = [tf.io.parse_single_example(r, features) for r in records]
kinds = [p["encoded"].numpy()[:4] == b"\x89PNG" for p in parsed]
jpegs = sorted((i for i, png in enumerate(kinds) if not png), key=lambda i: len(records[i]))
pngs = sorted((i for i, png in enumerate(kinds) if png), key=lambda i: len(records[i]))
chosen = jpegs[:2] + pngs[:1]
with tf.io.TFRecordWriter(os.path.join(here, "..", "photos", "crops.tfrecord")) as writer:
    for i in chosen:
        writer.write(records[i])
write("labels.i64", tf.stack([parsed[i]["label"] for i in chosen]))
write("boxes.f32", tf.stack([parsed[i]["box"] for i in chosen]))
write_lines("names.txt", [parsed[i]["name"].numpy() for i in chosen])

jpeg, png = parsed[chosen[0]]["encoded"], parsed[chosen[2]]["encoded"]
whole = tf.io.decode_jpeg(jpeg, dct_method="INTEGER_ACCURATE")
log.append(f"the JPEG has {list(whole.shape)}, the PNG {list(tf.io.decode_png(png).shape)}")
write("jpeg_ratio_8.u8", tf.io.decode_jpeg(jpeg, ratio=8, dct_method="INTEGER_ACCURATE"))
write("jpeg_ratio_2.u8", tf.io.decode_jpeg(jpeg, ratio=2, dct_method="INTEGER_ACCURATE")[:16, :16])
write("jpeg_corner.u8", whole[:24, :24])
write("jpeg_grey_corner.u8", tf.io.decode_jpeg(jpeg, channels=1, dct_method="INTEGER_ACCURATE")[:24, :24])
write("png_corner.u8", tf.io.decode_png(png)[:24, :24])

small = whole[:9, :11]
for method in ["bilinear", "nearest", "bicubic", "area"]:
    for antialias in [False, True]:
        if antialias and method in ["nearest", "area"]:
            continue
        name = method + ("_antialias" if antialias else "")
        kind = ".u8" if method == "nearest" else ".f32"
        write(f"shrunk_{name}{kind}", tf.image.resize(whole, [13, 17], method=method, antialias=antialias))
        write(f"grown_{name}{kind}", tf.image.resize(small, [20, 31], method=method, antialias=antialias))
write("fitted.f32", tf.image.resize(whole, [13, 30], preserve_aspect_ratio=True))

corner = whole[:16, :20]
write("brightness.u8", tf.image.adjust_brightness(corner, 0.2))
write("contrast.u8", tf.image.adjust_contrast(corner, 1.7))
write("saturation.u8", tf.image.adjust_saturation(corner, 0.4))
write("hue.u8", tf.image.adjust_hue(corner, 0.3))
write("gamma.u8", tf.image.adjust_gamma(corner, 1.5, 0.9))
write("grey.u8", tf.image.rgb_to_grayscale(corner))
write("hsv.f32", tf.image.rgb_to_hsv(tf.image.convert_image_dtype(corner, tf.float32)))
write("wide.u16", tf.image.convert_image_dtype(corner, tf.uint16))
write("standard.f32", tf.image.per_image_standardization(corner))
write("rotated.u8", tf.image.rot90(corner, 3))
write("central.u8", tf.image.central_crop(corner, 0.55))
write("padded.u8", tf.image.resize_with_crop_or_pad(corner, 11, 27))

seed = [3, 14]
write("random_crop.u8", tf.image.stateless_random_crop(corner, [5, 6, 3], seed))
write("random_flip.u8", tf.stack([tf.image.stateless_random_flip_left_right(corner[:2, :3], [i, 1]) for i in range(8)]))
write("random_brightness.u8", tf.image.stateless_random_brightness(corner, 0.4, seed))
write("random_contrast.u8", tf.image.stateless_random_contrast(corner, 0.3, 1.9, seed))
write("random_saturation.u8", tf.image.stateless_random_saturation(corner, 0.3, 1.9, seed))
write("random_hue.u8", tf.image.stateless_random_hue(corner, 0.5, seed))

# -- strings: lines of a book --------------------------------------------------

with open(os.path.join(data, "moby_dick", "chapter-001.txt"), "rb") as file:
    lines = [line for line in file.read().decode("utf-8").splitlines() if line.strip()][:12]
lines += ["Grüße, ΑΒΓ — “Жук”", "ﬃ ŉ ǅ İ", ""]
text = tf.constant([line.encode("utf-8") for line in lines])
write_lines("lines.txt", text.numpy())
write_lines("upper.txt", tf.strings.upper(text, encoding="utf-8").numpy())
write_lines("lower.txt", tf.strings.lower(text, encoding="utf-8").numpy())
write_lines("replaced.txt", tf.strings.regex_replace(text, r"([a-z]+)ing\b", r"<\1>").numpy())
write("matched.bool", tf.strings.regex_full_match(text, r".*\bI\b.*"))
write("hashed.i64", tf.strings.to_hash_bucket_fast(text, 1 << 40))
write("characters.i32", tf.strings.length(text, unit="UTF8_CHAR"))
starts = tf.maximum(-7, -tf.strings.length(text, unit="UTF8_CHAR"))
tails = tf.strings.substr(text, starts, tf.fill([len(lines)], 5), unit="UTF8_CHAR")
write_lines("tails.txt", tails.numpy())
grams = [tf.strings.ngrams(tf.strings.split(line), [1, 3], separator="_", pad_values=("<", ">")) for line in text]
write_lines("ngrams.txt", [tf.strings.reduce_join(g, separator=" ").numpy() for g in grams])

# -- numbers --------------------------------------------------------------------

numbers = tf.cast(corner, tf.float32) / 255
write("top_k.f32", tf.math.top_k(numbers[:, :, 0], 3).values)
write("top_k.i32", tf.math.top_k(numbers[:, :, 0], 3).indices)
write("argsort.i32", tf.argsort(numbers[:, :, 1], axis=0, stable=True))
write("cumsum.f32", tf.cumsum(numbers[:, :, 2], axis=1, exclusive=True, reverse=True))
write("matmul.f32", tf.matmul(numbers[:, :, 0], numbers[:, :, 1], transpose_b=True))

# -- variable features: sentences as lists of ids --------------------------------

sentences = os.path.join(data, "sentences", "sentences-00000-of-00008.tfrecord")
first = list(tf.data.TFRecordDataset(sentences).take(6).as_numpy_iterator())
with tf.io.TFRecordWriter(os.path.join(here, "..", "sentences.tfrecord")) as writer:
    for record in first:
        writer.write(record)
sequence = {"tokens": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True, default_value=-1)}
write("tokens.i64", tf.io.parse_example(first, sequence)["tokens"])

with open(os.path.join(here, "expected.txt"), "w", encoding="utf-8") as file:
    file.write(f"Computed by compute.py with TensorFlow {tf.__version__}.\n\n" + "\n".join(log) + "\n")
