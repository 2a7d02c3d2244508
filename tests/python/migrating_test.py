"""Programs for tf.data's service run after one import is changed. They were checked with TensorFlow, too."""

from __future__ import annotations

import textwrap

import pytest

# Two modes, and what runs where.
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

# Records of files, parsed on the workers, read by two consumers of one job.
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

# Registered by one, read by another.
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


def run(program, **names):
    changed = textwrap.dedent(program).replace("import tensorflow as tf", "import headrace as tf")
    exec(changed, names)
    for server in (*names.get("workers", ()), names.get("worker"), names["dispatcher"]):
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


@pytest.mark.parametrize("program", [MODES, RECORDS, REGISTERED])
def test_OnlyTheImportNamesTensorFlow(program):
    assert program.count("tensorflow") == 1
