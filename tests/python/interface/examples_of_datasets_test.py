"""The examples of the pages of tf.data.Dataset: a test for each, named after its section."""

from __future__ import annotations

import numpy as np
import pytest

from peer import differs, elements, ours, plain, tf

Dataset = tf.data.Dataset


def test_element_spec():
    spec = Dataset.from_tensor_slices([4, 5, 6]).element_spec
    assert (spec.shape, spec.dtype) == ((), tf.int32)


def test_apply():
    def below_four(ds):
        return ds.filter(lambda x: x < 4)
    assert elements(Dataset.range(60).apply(below_four)) == [0, 1, 2, 3]


def test_as_numpy_iterator_Elements():
    dataset = Dataset.from_tensor_slices([7, 8])
    assert [plain(x) for x in dataset] == [7, 8]
    assert list(dataset.as_numpy_iterator()) == [7, 8]


def test_as_numpy_iterator_KeepsTheNest():
    dataset = Dataset.from_tensor_slices({"p": ([1, 2], [3, 4]), "q": [5, 6]})
    assert list(dataset.as_numpy_iterator()) == [{"p": (1, 3), "q": 5}, {"p": (2, 4), "q": 6}]


def test_batch():
    assert elements(Dataset.range(7).batch(3)) == [[0, 1, 2], [3, 4, 5], [6]]


def test_batch_DropsTheRemainder():
    assert elements(Dataset.range(7).batch(3, drop_remainder=True)) == [[0, 1, 2], [3, 4, 5]]


def test_cache():
    dataset = Dataset.range(4).map(lambda x: x**2).cache()
    assert elements(dataset) == [0, 1, 4, 9] and elements(dataset) == [0, 1, 4, 9]


def test_cache_InAFile(tmp_path):
    path = str(tmp_path / "cache")
    assert elements(Dataset.range(4).cache(path)) == [0, 1, 2, 3]
    # The input of the cache has no effect until the file is removed.
    assert elements(Dataset.range(9).cache(path)) == [0, 1, 2, 3]


def test_cardinality():
    assert plain(Dataset.range(42).cardinality()) == 42
    endless = Dataset.range(42).repeat()
    assert plain(endless.cardinality() == tf.data.INFINITE_CARDINALITY)


@differs("of what never ends it is infinite")
def test_cardinality_OfAFilterOfAnEndlessOne():
    filtered = Dataset.range(42).repeat().filter(lambda x: True)
    assert plain(filtered.cardinality() == tf.data.UNKNOWN_CARDINALITY)


@ours("of what never ends it is infinite")
def test_cardinality_OfAFilter():
    filtered = Dataset.range(42).filter(lambda x: x >= 0)
    assert plain(filtered.cardinality() == tf.data.UNKNOWN_CARDINALITY)
    assert plain(filtered.repeat().filter(lambda x: x >= 0).cardinality()) == tf.data.INFINITE_CARDINALITY


def test_concatenate():
    assert elements(Dataset.range(1, 3).concatenate(Dataset.range(3, 6))) == [1, 2, 3, 4, 5]


def test_concatenate_OfOtherStructuresOrTypes():
    a = Dataset.range(1, 3)
    with pytest.raises(TypeError):
        a.concatenate(Dataset.zip((a, a)))
    with pytest.raises(TypeError):
        a.concatenate(Dataset.from_tensor_slices(["x", "y"]))


def test_enumerate():
    assert elements(Dataset.from_tensor_slices([3, 4]).enumerate(start=7)) == [(7, 3), (8, 4)]


def test_enumerate_OfArrays():
    assert elements(Dataset.from_tensor_slices([(7, 8), (9, 10)]).enumerate()) == [(0, [7, 8]), (1, [9, 10])]


def test_filter():
    dataset = Dataset.from_tensor_slices([1, 2, 3]).filter(lambda x: x < 3)
    assert elements(dataset) == [1, 2]

    def is_one(x):
        return tf.math.equal(x, 1)
    assert elements(dataset.filter(is_one)) == [1]


def test_flat_map():
    dataset = Dataset.from_tensor_slices([[1, 2], [3, 4], [5, 6]])
    assert elements(dataset.flat_map(lambda row: Dataset.from_tensor_slices(row))) == [1, 2, 3, 4, 5, 6]


def test_from_generator():
    def numbers():
        yield 42, tf.ragged.constant([[1, 2], [3]])

    dataset = Dataset.from_generator(numbers, output_signature=(
        tf.TensorSpec(shape=(), dtype=tf.int32), tf.RaggedTensorSpec(shape=(2, None), dtype=tf.int32)))
    ((number, rows),) = dataset.take(1)
    assert plain(number) == 42 and plain(rows) == [[1, 2], [3]]


def test_from_tensor_slices():
    assert elements(Dataset.from_tensor_slices([1, 2, 3])) == [1, 2, 3]
    assert elements(Dataset.from_tensor_slices([[1, 2], [3, 4]])) == [[1, 2], [3, 4]]
    assert elements(Dataset.from_tensor_slices(([1, 2], [3, 4], [5, 6]))) == [(1, 3, 5), (2, 4, 6)]


def test_from_tensor_slices_OfADict():
    dataset = Dataset.from_tensor_slices({"m": [1, 2], "n": [3, 4]})
    assert list(dataset.as_numpy_iterator()) == [{"m": 1, "n": 3}, {"m": 2, "n": 4}]


def test_from_tensor_slices_OfFeaturesAndLabels():
    features, labels = tf.constant([[1, 3], [2, 1], [3, 3]]), tf.constant(["A", "B", "A"])
    both = Dataset.from_tensor_slices((features, labels))
    zipped = Dataset.zip((Dataset.from_tensor_slices(features), Dataset.from_tensor_slices(labels)))
    assert elements(both) == elements(zipped) == [([1, 3], b"A"), ([2, 1], b"B"), ([3, 3], b"A")]


def test_from_tensor_slices_OfBatches():
    features = tf.constant([[[1, 3], [2, 3]], [[2, 1], [1, 2]]], shape=(2, 2, 2))
    labels = tf.constant([["A", "A"], ["B", "B"]], shape=(2, 2, 1))
    assert elements(Dataset.from_tensor_slices((features, labels))) == [
        ([[1, 3], [2, 3]], [[b"A"], [b"A"]]), ([[2, 1], [1, 2]], [[b"B"], [b"B"]])]


def test_from_tensors():
    assert elements(Dataset.from_tensors([1, 2, 3])) == [[1, 2, 3]]
    assert elements(Dataset.from_tensors(([1, 2, 3], "A"))) == [([1, 2, 3], b"A")]
    example = tf.constant([1, 2, 3])
    assert elements(Dataset.from_tensors(example).repeat(2)) == [[1, 2, 3], [1, 2, 3]]


def test_interleave():
    dataset = Dataset.range(1, 6).interleave(lambda x: Dataset.from_tensors(x).repeat(6), cycle_length=2, block_length=4)
    assert elements(dataset) == [1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 3, 3, 4, 4,
                                 5, 5, 5, 5, 5, 5]


def test_interleave_OfFiles(tmp_path):
    names = []
    for i in range(4):
        names.append(str(tmp_path / f"{i}.txt"))
        (tmp_path / f"{i}.txt").write_text("".join(f"{10 * i + j}\n" for j in range(3)))

    def number(line):
        return tf.strings.to_number(line, tf.int32)

    dataset = Dataset.from_tensor_slices(names).interleave(
        lambda name: tf.data.TextLineDataset(name).map(number, num_parallel_calls=1), cycle_length=4, block_length=16)
    assert elements(dataset) == [0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32]


def test_interleave_InParallel(tmp_path):
    names = [str(tmp_path / f"{i}.tfrecord") for i in range(4)]
    for i, name in enumerate(names):
        with tf.io.TFRecordWriter(name) as writer:
            writer.write(b"%d" % i)
            writer.write(b"%d" % (10 + i))
    dataset = Dataset.from_tensor_slices(names).interleave(
        lambda name: tf.data.TFRecordDataset(name), cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE,
        deterministic=False)
    assert sorted(elements(dataset)) == sorted(b"%d" % (10 * j + i) for i in range(4) for j in range(2))


def test_list_files(tmp_path):
    for name in ("a.txt", "b.py", "c.py"):
        (tmp_path / name).write_text("")
    found = elements(Dataset.list_files(str(tmp_path / "*.py")))
    assert sorted(found) == [str(tmp_path / name).encode() for name in ("b.py", "c.py")]


def test_map():
    assert elements(Dataset.range(1, 5).map(lambda x: x + 1)) == [2, 3, 4, 5]


def test_map_OfTwoComponents():
    pairs = [(1, "one"), (2, "two")]
    dataset = Dataset.from_generator(lambda: pairs, (tf.int32, tf.string))
    assert elements(dataset.map(lambda number, word: number)) == [1, 2]


@differs("the description of a tensor is no data")
def test_map_OfADict():
    rows = [{"n": 1, "word": "one"}, {"n": 2, "word": "two"}]
    dataset = Dataset.from_generator(lambda: rows, {"n": tf.int32, "word": tf.string})
    # str() of a tensor describes the traced tensor, and not its value.
    first = elements(dataset.map(lambda row: str(row["n"]) + row["word"]))[0]
    assert first.endswith(b"one")


@ours("strings.as_string")
def test_map_OfADict_AsString():
    rows = [{"n": 1, "word": "one"}, {"n": 2, "word": "two"}]
    dataset = Dataset.from_generator(lambda: rows, {"n": tf.int32, "word": tf.string})
    assert elements(dataset.map(lambda row: tf.strings.as_string(row["n"]) + row["word"])) == [b"1one", b"2two"]


def test_map_ElementSpecs():
    dataset = Dataset.range(3)

    def two(x):
        return tf.constant(37.0), tf.constant(["Foo", "Bar", "Baz"])

    def three(x):
        return 37.0, ["Foo", "Bar"], np.array([1.0, 2.0], dtype=np.float64)

    def nested(x):
        return (37.0, [42, 16]), "foo"

    assert dataset.map(two).element_spec == (tf.TensorSpec((), tf.float32), tf.TensorSpec((3,), tf.string))
    assert dataset.map(three).element_spec == (
        tf.TensorSpec((), tf.float32), tf.TensorSpec((2,), tf.string), tf.TensorSpec((2,), tf.float64))
    assert dataset.map(nested).element_spec == (
        (tf.TensorSpec((), tf.float32), tf.TensorSpec((2,), tf.int32)), tf.TensorSpec((), tf.string))


@differs("py_function stands in place of the lambda")
def test_map_OfAPyFunction():
    def louder(t):
        return t.numpy().decode("utf-8").upper()
    dataset = Dataset.from_tensor_slices(["hello", "world"])
    dataset = dataset.map(lambda x: tf.py_function(func=louder, inp=[x], Tout=tf.string))
    assert elements(dataset) == [b"HELLO", b"WORLD"]


@ours("py_function stands in place of the lambda")
def test_map_OfAPyFunctionInPlaceOfTheLambda():
    def louder(t):
        return t.decode("utf-8").upper()
    dataset = Dataset.from_tensor_slices(["hello", "world"]).map(tf.py_function(louder, tf.string))
    assert elements(dataset) == [b"HELLO", b"WORLD"]


@differs("py_function stands in place of numpy_function")
def test_map_OfANumpyFunction():
    def louder(t):
        return t.decode("utf-8").upper()
    dataset = Dataset.from_tensor_slices(["hello", "world"])
    dataset = dataset.map(lambda x: tf.numpy_function(func=louder, inp=[x], Tout=tf.string))
    assert elements(dataset) == [b"HELLO", b"WORLD"]


def test_map_InParallel():
    dataset = Dataset.range(1, 6).map(lambda x: x + 1, num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)
    assert sorted(elements(dataset)) == [2, 3, 4, 5, 6]


def rows_of_padded_batch():
    return Dataset.range(1, 5, output_type=tf.int32).map(lambda x: tf.fill([x], x))


def test_padded_batch():
    assert elements(rows_of_padded_batch().padded_batch(2)) == [
        [[1, 0], [2, 2]], [[3, 3, 3, 0], [4, 4, 4, 4]]]


def test_padded_batch_ToAFixedSize():
    assert elements(rows_of_padded_batch().padded_batch(2, padded_shapes=5)) == [
        [[1, 0, 0, 0, 0], [2, 2, 0, 0, 0]], [[3, 3, 3, 0, 0], [4, 4, 4, 4, 0]]]


def test_padded_batch_WithAValue():
    assert elements(rows_of_padded_batch().padded_batch(2, padded_shapes=5, padding_values=-1)) == [
        [[1, -1, -1, -1, -1], [2, 2, -1, -1, -1]], [[3, 3, 3, -1, -1], [4, 4, 4, 4, -1]]]


def test_padded_batch_OfComponentsEachByItself():
    rows = [([1, 2, 3], [10]), ([4, 5], [11, 12])]
    dataset = Dataset.from_generator(lambda: iter(rows), (tf.int32, tf.int32))
    dataset = dataset.padded_batch(2, padded_shapes=([4], [None]), padding_values=(-1, 100))
    assert elements(dataset) == [([[1, 2, 3, -1], [4, 5, -1, -1]], [[10, 100], [11, 12]])]


def test_padded_batch_WithOneValueForAll():
    a = rows_of_padded_batch()
    assert elements(Dataset.zip((a, a)).padded_batch(2, padding_values=-1)) == [
        ([[1, -1], [2, 2]],) * 2, ([[3, 3, 3, -1], [4, 4, 4, 4]],) * 2]


def test_prefetch():
    assert elements(Dataset.range(3).prefetch(2)) == [0, 1, 2]


def test_range():
    assert elements(Dataset.range(5)) == [0, 1, 2, 3, 4]
    assert elements(Dataset.range(2, 5)) == [2, 3, 4]
    assert elements(Dataset.range(1, 5, 2)) == [1, 3]
    assert elements(Dataset.range(1, 5, -2)) == [] == elements(Dataset.range(5, 1))
    assert elements(Dataset.range(5, 1, -2)) == [5, 3]
    assert elements(Dataset.range(2, 5, output_type=tf.int32)) == [2, 3, 4]
    assert elements(Dataset.range(1, 5, 2, output_type=tf.float32)) == [1.0, 3.0]


def test_reduce():
    assert plain(Dataset.range(5).reduce(np.int64(0), lambda x, _: x + 1)) == 5
    assert plain(Dataset.range(5).reduce(np.int64(0), lambda x, y: x + y)) == 10


def test_repeat():
    assert elements(Dataset.from_tensor_slices([1, 2]).repeat(3)) == [1, 2, 1, 2, 1, 2]


def test_shard():
    a = Dataset.range(10)
    assert [elements(a.shard(num_shards=3, index=i)) for i in range(3)] == [[0, 3, 6, 9], [1, 4, 7], [2, 5, 8]]


@pytest.mark.parametrize("index", [0, 1])
def test_shard_OfOneFile(tmp_path, index):
    path = str(tmp_path / "some.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for i in range(5):
            writer.write(b"%d" % i)
    d = tf.data.TFRecordDataset(path).shard(2, index).repeat(2).shuffle(10)
    d = d.map(lambda record: tf.strings.to_number(record, tf.int32), num_parallel_calls=2)
    assert sorted(elements(d)) == sorted(2 * list(range(index, 5, 2)))


def test_shard_OfFiles(tmp_path):
    for i in range(4):
        with tf.io.TFRecordWriter(str(tmp_path / f"{i}.tfrecord")) as writer:
            writer.write(b"%d" % i)
    seen = []
    for index in range(2):
        d = Dataset.list_files(str(tmp_path / "*.tfrecord"), shuffle=False).shard(2, index).repeat(2).shuffle(10)
        d = d.interleave(tf.data.TFRecordDataset, cycle_length=2, block_length=1)
        seen.append(sorted(elements(d.map(lambda x: tf.strings.to_number(x, tf.int32), num_parallel_calls=2))))
    assert seen == [[0, 0, 2, 2], [1, 1, 3, 3]]


def test_shuffle_AnewInEachRepetition():
    got = [elements(Dataset.range(50).shuffle(50, reshuffle_each_iteration=again).repeat(2)) for again in (True, False)]
    assert all(sorted(x[:50]) == sorted(x[50:]) == list(range(50)) for x in got)
    assert got[0][:50] != got[0][50:] and got[1][:50] == got[1][50:]


def test_shuffle_AnewInEachIteration():
    anew = Dataset.range(50).shuffle(50, reshuffle_each_iteration=True)
    same = Dataset.range(50).shuffle(50, reshuffle_each_iteration=False)
    assert elements(anew) != elements(anew) and elements(same) == elements(same)


def test_skip():
    assert elements(Dataset.range(9).skip(6)) == [6, 7, 8]


def test_take():
    assert elements(Dataset.range(9).take(3)) == [0, 1, 2]


def test_unbatch():
    rows = [[1, 2, 3], [1, 2], [1, 2, 3, 4]]
    dataset = Dataset.from_generator(lambda: rows, tf.int64).unbatch()
    assert elements(dataset) == [1, 2, 3, 1, 2, 1, 2, 3, 4]


def test_window():
    assert [elements(w) for w in Dataset.range(7).window(2)] == [[0, 1], [2, 3], [4, 5], [6]]
    assert [elements(w) for w in Dataset.range(7).window(3, 2, 1, True)] == [[0, 1, 2], [2, 3, 4], [4, 5, 6]]
    assert [elements(w) for w in Dataset.range(7).window(3, 1, 2, True)] == [[0, 2, 4], [1, 3, 5], [2, 4, 6]]


def test_window_OfATuple():
    windows = Dataset.from_tensor_slices(([1, 2, 3, 4], [5, 6, 7, 8])).window(2)
    assert [tuple(elements(part) for part in w) for w in windows] == [([1, 2], [5, 6]), ([3, 4], [7, 8])]


def test_window_OfADict():
    windows = Dataset.from_tensor_slices({"a": [1, 2, 3, 4]}).window(2)
    assert [{"a": elements(w["a"])} for w in windows] == [{"a": [1, 2]}, {"a": [3, 4]}]


def test_with_options():
    ds = Dataset.range(5).interleave(lambda x: Dataset.range(5), cycle_length=3, num_parallel_calls=3)
    options = tf.data.Options()
    options.experimental_deterministic = False
    assert sorted(elements(ds.with_options(options))) == sorted(5 * list(range(5)))


def test_zip():
    a, b = Dataset.range(1, 4), Dataset.range(4, 7)
    assert elements(Dataset.zip((a, b))) == [(1, 4), (2, 5), (3, 6)]
    assert elements(Dataset.zip((b, a))) == [(4, 1), (5, 2), (6, 3)]
    c = Dataset.range(7, 13).batch(2)
    assert elements(Dataset.zip((a, b, c))) == [(1, 4, [7, 8]), (2, 5, [9, 10]), (3, 6, [11, 12])]
    d = Dataset.range(13, 15)
    assert elements(Dataset.zip((a, d))) == [(1, 13), (2, 14)]


def test_Options_OfADataset():
    dataset = Dataset.range(42)
    options = tf.data.Options()
    options.experimental_deterministic = False
    dataset = dataset.with_options(options)
    assert dataset.options().experimental_deterministic is False


@pytest.mark.parametrize("way", ["for", "get_next"])
def test_Iterator(way):
    iterator = iter(Dataset.range(2))
    got = [plain(x) for x in iterator] if way == "for" else [plain(iterator.get_next()) for _ in range(2)]
    assert got == [0, 1]


def test_Iterator_get_next():
    assert plain(iter(Dataset.from_tensors(42)).get_next()) == 42


def test_Iterator_get_next_as_optional():
    iterator = iter(Dataset.from_tensors(42))
    optional = iterator.get_next_as_optional()
    assert plain(optional.has_value()) and plain(optional.get_value()) == 42
    assert not plain(iterator.get_next_as_optional().has_value())


def test_Iterator_element_spec():
    assert iter(Dataset.from_tensors(42)).element_spec == tf.TensorSpec((), tf.int32)


@differs("functions are traced anyhow, and iterators do not stand in them")
def test_IteratorSpec():
    @tf.function(input_signature=[tf.data.IteratorSpec(tf.TensorSpec(shape=(), dtype=tf.int32, name=None))])
    def square(iterator):
        x = iterator.get_next()
        return x * x
    assert plain(square(iter(Dataset.from_tensors(5)))) == 25
