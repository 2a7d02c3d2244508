"""Programs for tf.data and its service run with headrace after one import is changed. They were checked with
TensorFlow, too.
"""

from __future__ import annotations

import textwrap

import pytest

# Datasets are read under three processing modes. Operators before `distribute` run on workers, later ones in the
# trainer.
MODES = """
    import tensorflow as tf

    service = tf.data.experimental.service
    dispatcher = service.DispatchServer()
    address = dispatcher.target.split("://")[1]
    workers = [service.WorkerServer(service.WorkerConfig(dispatcher_address=address)) for _ in range(2)]

    def through(dataset, mode):
        return dataset.apply(service.distribute(processing_mode=mode, service=dispatcher.target))

    squares = tf.data.Dataset.range(5).map(lambda x: x * x)
    result = [
        sorted(through(squares, "parallel_epochs").map(lambda x: x + 1).as_numpy_iterator()),
        sorted(through(squares, service.ShardingPolicy.DYNAMIC).as_numpy_iterator()),
        sorted(through(tf.data.Dataset.range(7).shuffle(3), "distributed_epoch").batch(4).unbatch()
               .as_numpy_iterator()),
    ]
"""

# The workers parse records of files, and two consumers of one job share the elements.
RECORDS = """
    import tensorflow as tf

    service = tf.data.experimental.service
    dispatcher = service.DispatchServer(service.DispatcherConfig(port=0))
    workers = [service.WorkerServer(service.WorkerConfig(dispatcher.target.split("://")[1])) for _ in range(2)]
    features = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}

    def parse(record):
        example = tf.io.parse_single_example(record, features)
        pixels = tf.reshape(tf.io.decode_raw(example["image"], tf.uint8), [64])
        return tf.cast(pixels, tf.float32) / 16.0, example["label"]

    def dataset():
        files = tf.data.Dataset.from_tensor_slices(FILES)
        records = files.interleave(tf.data.TFRecordDataset, cycle_length=2, num_parallel_calls=tf.data.AUTOTUNE)
        parsed = records.map(parse, num_parallel_calls=tf.data.AUTOTUNE).shuffle(100).batch(32)
        return parsed.apply(service.distribute("distributed_epoch", dispatcher.target, job_name="digits",
                                               max_outstanding_requests=4)).prefetch(tf.data.AUTOTUNE)

    counts = [0] * 10
    iterators = [dataset().as_numpy_iterator(), dataset().as_numpy_iterator()]
    while iterators:
        for iterator in list(iterators):
            try:
                images, labels = next(iterator)
            except StopIteration:
                iterators.remove(iterator)
                continue
            assert images.shape == (len(labels), 64) and images.dtype == "float32" and images.max() <= 1
            for label in labels:
                counts[label] += 1
    result = [sum(counts), min(counts) > 0]
"""

# A dataset is registered, and read by its id.
REGISTERED = """
    import tensorflow as tf

    service = tf.data.experimental.service
    dispatcher = service.DispatchServer()
    worker = service.WorkerServer(service.WorkerConfig(dispatcher_address=dispatcher.target.split("://")[1]))
    words = tf.data.Dataset.from_tensor_slices({"word": ["one", "two", "three"], "n": [1, 2, 3]})
    words = words.map(lambda e: {"word": tf.strings.upper(e["word"]), "n": tf.where(e["n"] > 1, e["n"] * 10, 0)})
    options = tf.data.Options()
    options.deterministic = True
    words = words.with_options(options)
    dataset_id = service.register_dataset(dispatcher.target, words)
    dataset = service.from_dataset_id(
        processing_mode=service.ShardingPolicy.OFF, service=dispatcher.target, dataset_id=dataset_id,
        element_spec=words.element_spec, job_name="words")
    result = [(e["word"], int(e["n"])) for e in dataset.as_numpy_iterator()]
"""

# Pictures in a folder for each class.
PICTURES = """
    import tensorflow as tf

    names = tf.data.Dataset.list_files(FOLDER + "/*/*.png", shuffle=False)
    classes = ["cats", "dogs"]

    def label_of(path):
        return tf.argmax(tf.strings.split(path, "/")[-2] == classes)

    def load(path):
        image = tf.io.decode_png(tf.io.read_file(path), channels=3)
        image = tf.image.convert_image_dtype(image, tf.float32)
        return tf.image.resize(image, [4, 4]), label_of(path)

    def augment(image, label):
        image = tf.image.random_flip_left_right(image)
        return tf.clip_by_value(tf.image.random_brightness(image, max_delta=0.1), 0.0, 1.0), label

    dataset = names.map(load, num_parallel_calls=tf.data.AUTOTUNE).cache()
    dataset = dataset.shuffle(100, seed=1).map(augment, num_parallel_calls=tf.data.AUTOTUNE).batch(3)
    batches = list(dataset.prefetch(tf.data.AUTOTUNE).as_numpy_iterator())
    result = [[images.shape for images, _ in batches], sorted(int(x) for _, labels in batches for x in labels)]
"""

# Words become numbers of a vocabulary; sentences of similar length stand in one batch.
SENTENCES = """
    import tensorflow as tf

    words = tf.lookup.TextFileInitializer(
        FOLDER + "/vocabulary.txt", key_dtype=tf.string, key_index=tf.lookup.TextFileIndex.WHOLE_LINE,
        value_dtype=tf.int64, value_index=tf.lookup.TextFileIndex.LINE_NUMBER)
    table = tf.lookup.StaticVocabularyTable(words, num_oov_buckets=1)

    def numbers(line):
        return table.lookup(tf.strings.split(tf.strings.regex_replace(tf.strings.lower(line), "[^a-z ]", "")))

    lines = tf.data.TextLineDataset(FOLDER + "/lines.txt").filter(lambda line: tf.strings.length(line) > 0)
    buckets = lines.map(numbers).bucket_by_sequence_length(
        lambda line: tf.shape(line)[0], bucket_boundaries=[3], bucket_batch_sizes=[2, 2],
        padding_values=tf.constant(-1, tf.int64))
    padded = lines.map(numbers).padded_batch(3, padded_shapes=[None])
    ragged = lines.batch(2).map(lambda some: tf.strings.split(some).row_lengths())
    pairs = lines.map(lambda line: tf.strings.substr(line, 0, 1)).window(2, shift=1, drop_remainder=True)
    result = [[x.tolist() for x in buckets.as_numpy_iterator()], [x.shape for x in padded.as_numpy_iterator()],
              [x.tolist() for x in ragged.as_numpy_iterator()],
              [[bytes(x) for x in pair.as_numpy_iterator()] for pair in pairs]]
"""

# A table is read line by line, and by a class for tables. A series of numbers is divided into windows and summed up,
# and numbers are taken from two parts of it in turn.
TABLES = """
    import tensorflow as tf

    columns, defaults = ["survived", "sex", "age"], [[0], [""], [30.0]]

    def parse(line):
        features = dict(zip(columns, tf.io.decode_csv(line, defaults)))
        label = features.pop("survived")
        return features, label

    path = FOLDER + "/table.csv"
    rows = tf.data.TextLineDataset(path).skip(1).map(parse).batch(2)
    result = [[{key: value.tolist() for key, value in features.items()} for features, _ in rows.as_numpy_iterator()]]
    known = tf.data.experimental.CsvDataset(path, [tf.string, tf.float32], header=True, select_cols=[1, 2])
    result.append([row for row in known.take(1).as_numpy_iterator()])
    series = tf.data.Dataset.range(8)
    steps = series.window(4, shift=2, drop_remainder=True).flat_map(lambda w: w.batch(4)).map(lambda w: (w[:-1], w[-1]))
    result.append([(x.tolist(), int(y)) for x, y in steps.as_numpy_iterator()])
    total = series.reduce(tf.constant(0, tf.int64), lambda sum, x: sum + x)
    balanced = tf.data.Dataset.choose_from_datasets([series.take(2), series.skip(6)], tf.data.Dataset.range(2).repeat(2))
    result.append([int(total), [int(x) for x in balanced.as_numpy_iterator()]])
"""


def run(program, **names):
    changed = textwrap.dedent(program).replace("import tensorflow as tf", "import headrace as tf")
    exec(changed, names)
    for server in (*names.get("workers", ()), names.get("worker"), names.get("dispatcher")):
        if server:
            server.stop()
    return names["result"]


def test_ModesOfProcessing():
    assert run(MODES) == [[1, 1, 2, 2, 5, 5, 10, 10, 17, 17], [0, 1, 4, 9, 16], [0, 1, 2, 3, 4, 5, 6]]


def test_RecordsSharedByConsumers(digits):
    import headrace as hr

    count = sum(1 for _ in hr.TFRecordDataset(digits))
    assert run(RECORDS, FILES=digits) == [count, True]


def test_RegisteredDatasets():
    assert run(REGISTERED) == [(b"ONE", 0), (b"TWO", 20), (b"THREE", 30)]


def test_PicturesOfFolders(tmp_path):
    import numpy as np

    import headrace as hr

    for kind, count in (("cats", 3), ("dogs", 2)):
        (tmp_path / kind).mkdir()
        for i in range(count):
            image = hr.Dataset.from_tensors(np.full((5 + i, 6, 3), 40 * i, np.uint8)).map(hr.image.encode_png)
            (tmp_path / kind / f"{i}.png").write_bytes(image.get_single_element())
    assert run(PICTURES, FOLDER=str(tmp_path)) == [[(3, 4, 4, 3), (2, 4, 4, 3)], [0, 0, 0, 1, 1]]


def test_SentencesOfAVocabulary(tmp_path):
    (tmp_path / "vocabulary.txt").write_text("the\nquick\nfox\n")
    (tmp_path / "lines.txt").write_text("The quick fox!\n\nFox\nthe the bear runs\nquick the\n")
    assert run(SENTENCES, FOLDER=str(tmp_path)) == [
        [[[0, 1, 2, -1], [0, 0, 3, 3]], [[2, -1], [1, 0]]], [(3, 4), (1, 2)], [[3, 1], [4, 2]],
        [[b"T", b"F"], [b"F", b"t"], [b"t", b"q"]]]


def test_TablesAndSeries(tmp_path):
    (tmp_path / "table.csv").write_text('survived,sex,age\n0,male,22.5\n1,female,\n1,"fe,male",4\n')
    assert run(TABLES, FOLDER=str(tmp_path)) == [
        [{"sex": [b"male", b"female"], "age": [22.5, 30.0]}, {"sex": [b"fe,male"], "age": [4.0]}],
        [(b"male", 22.5)], [([0, 1, 2], 3), ([2, 3, 4], 5), ([4, 5, 6], 7)], [28, [0, 6, 1, 7]]]


@pytest.mark.parametrize("program", [MODES, RECORDS, REGISTERED, PICTURES, SENTENCES, TABLES])
def test_OnlyTheImportNamesTensorFlow(program):
    assert program.count("tensorflow") == 1
