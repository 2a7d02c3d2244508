"""Functions that read files, lines, examples and texts, or arrange values, as TensorFlow documents them."""

from __future__ import annotations

import numpy as np
import pytest

import headrace as hr


def of(value, f):
    """The result of `f` for one element."""
    return hr.Dataset.from_tensors(value).map(f).get_single_element()


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "words.txt"
    path.write_bytes(b"emerson 10\nlake 20\r\npalmer 30\n")
    return str(path)


WHOLE, NUMBER = hr.lookup.TextFileIndex.WHOLE_LINE, hr.lookup.TextFileIndex.LINE_NUMBER


def table(path, *how, otherwise=-1, **more):
    return hr.lookup.StaticHashTable(hr.lookup.TextFileInitializer(path, *how, **more), otherwise)


def test_TablesAreMadeOfTheLinesOfAFile(words):
    def found(keys, *how, **more):
        return of(keys, table(words, *how, **more).lookup).tolist()

    assert found(["lake", "x"], hr.string, 0, hr.int64, 1, delimiter=" ") == [20, -1]
    assert found(["lake 20", "palmer 30"], hr.string, WHOLE, hr.int64, NUMBER) == [1, 2]
    assert found(["lake 20", "x"], hr.string, WHOLE, hr.int64, NUMBER, value_index_offset=5) == [6, -1]
    assert found(np.array([1, 7]), hr.int64, NUMBER, hr.string, WHOLE, otherwise="?") == [b"lake 20", b"?"]
    assert found(["lake"], hr.string, 0, hr.float32, 1, delimiter=" ", otherwise=-1.0) == [20.0]
    assert table(words, hr.string, WHOLE, hr.int64, NUMBER, vocab_size=2).size() == 2
    first = hr.lookup.TextFileInitializer(words, hr.string, 0, hr.int64, NUMBER, delimiter=" ")
    assert of(["lake", "zz"], hr.lookup.StaticVocabularyTable(first, 2).lookup).tolist()[0] == 1


def test_AVocabularyMayHaveNumbersOfItsOwn():
    def numbers(keys, values):
        words = hr.lookup.KeyValueTensorInitializer(keys, values)
        return of(["b", "a", "x"], hr.lookup.StaticVocabularyTable(words, 1).lookup).tolist()

    assert numbers(["a", "b"], [2, 3]) == [3, 2, 2] and numbers(["a", "b"], [7, -4]) == [-4, 7, 2]
    assert numbers(["b", "a"], hr.range(1, 3, dtype=hr.int64)) == [1, 2, 2]
    with pytest.raises(ValueError, match="must be integers"):
        numbers(["a"], [1.5])


def test_ADefaultOfATableMayBeAVectorOfOne(tmp_path):
    path = tmp_path / "some.csv"
    path.write_text("1,\n,2.5\n")
    rows = hr.experimental.CsvDataset(str(path), [hr.constant([7], hr.int32), hr.constant([-1.0], hr.float32)])
    assert [(int(a), float(b)) for a, b in rows] == [(1, -1.0), (7, 2.5)]


@pytest.mark.parametrize("how, more, kind, text", [
    ((hr.string, WHOLE, hr.int64, NUMBER), {"vocab_size": 0}, ValueError, "vocab_size must be 1 or more"),
    ((hr.string, WHOLE, hr.int64, NUMBER), {"vocab_size": 9}, hr.errors.InvalidArgumentError, "has 3 lines"),
    ((hr.string, -3, hr.int64, NUMBER), {}, ValueError, "key_index"),
    ((hr.string, NUMBER, hr.int64, 0), {}, ValueError, "key_dtype must be int64"),
    ((hr.string, WHOLE, hr.int32, NUMBER), {}, ValueError, "value_dtype must be int64"),
    ((hr.string, 0, hr.int64, 0), {}, ValueError, "key_index and value_index must differ"),
    ((hr.string, 0, hr.int64, 2), {"delimiter": " "}, hr.errors.InvalidArgumentError, "line 1: there is no column 2"),
    ((hr.string, 1, hr.int64, 0), {"delimiter": " "}, hr.errors.InvalidArgumentError, "line 1: 'emerson' is no int64"),
    ((hr.string, 0, hr.int64, 1), {"delimiter": "ab"}, ValueError, "delimiter must be one character"),
    ((hr.string, 0, hr.int64, 1), {"value_index_offset": 1}, ValueError, "value_index_offset"),
])
def test_WhatIsWrongWithATablesFileIsNamed(words, how, more, kind, text):
    with pytest.raises(kind, match=text):
        hr.lookup.TextFileInitializer(words, *how, **more)


def test_ATablesFileMustBeThere():
    with pytest.raises(hr.errors.NotFoundError, match="/nowhere/x"):
        hr.lookup.TextFileInitializer("/nowhere/x", hr.string, WHOLE, hr.int64, NUMBER)
    with pytest.raises(TypeError, match="TextFileInitializer"):
        hr.lookup.StaticHashTable({}, 1)


P = np.arange(24, dtype=np.int32).reshape(2, 3, 4)


@pytest.mark.parametrize("at, how, wanted", [
    ([[1, 0], [2, 2]], {"batch_dims": 1}, [[[4, 5, 6, 7], [0, 1, 2, 3]], [[20, 21, 22, 23], [20, 21, 22, 23]]]),
    ([[1, 0], [2, 2]], {"batch_dims": 1, "axis": 2}, [[[1, 0], [5, 4], [9, 8]], [[14, 14], [18, 18], [22, 22]]]),
    ([[1, 0], [2, 2]], {"batch_dims": 1, "axis": -1}, [[[1, 0], [5, 4], [9, 8]], [[14, 14], [18, 18], [22, 22]]]),
    ([[1, 0], [2, 2]], {"batch_dims": -1, "axis": 1},
     [[[4, 5, 6, 7], [0, 1, 2, 3]], [[20, 21, 22, 23], [20, 21, 22, 23]]]),
    ([[1, 0, 1], [2, 2, 1]], {"batch_dims": 2}, [[1, 4, 9], [14, 18, 21]]),
])
def test_GatherTakesFromEachBatchItsOwn(at, how, wanted):
    assert of((P, at), lambda p, at: hr.gather(p, at, **how)).tolist() == wanted


def test_GatherOfBatchesOfUnknownSize():
    ds = hr.Dataset.from_tensor_slices((P, [[1, 0], [2, 2]])).batch(2)
    got = ds.map(lambda p, at: hr.gather(p, at, batch_dims=1)).get_single_element()
    assert got[:, :, 0].tolist() == [[4, 0], [20, 20]]
    with pytest.raises(hr.errors.InvalidArgumentError, match="index -1 is not in"):
        of((P, [[1, -1], [2, 2]]), lambda p, at: hr.gather(p, at, batch_dims=1))
    with pytest.raises(hr.errors.InvalidArgumentError, match="differ in the first 1 extents"):
        of((P, [[1], [2], [0]]), lambda p, at: hr.gather(p, at, batch_dims=1))


def test_SplitOfAVectorIsRagged():
    got = of(["a b", "c", "", " d  e "], hr.strings.split)
    assert isinstance(got, hr.RaggedTensor)
    assert got.to_list() == [[b"a", b"b"], [b"c"], [], [b"d", b"e"]]
    got = of(["a,b", "c", ",", ""], lambda x: hr.strings.split(x, ","))
    assert got.to_list() == [[b"a", b"b"], [b"c"], [b"", b""], [b""]]
    assert of(["xaa", "ay"], lambda x: hr.strings.split(x, "aa")).to_list() == [[b"x", b""], [b"ay"]]
    lines = hr.Dataset.from_tensor_slices(["a b", "c", "d e f"]).batch(2)
    assert [x.tolist() for x in lines.map(lambda x: hr.strings.split(x).to_tensor("-"))] == [
        [[b"a", b"b"], [b"c", b"-"]], [[b"d", b"e", b"f"]]]


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def example(**features):
    """A serialised Example of integers."""
    return field(1, b"".join(
        field(1, field(1, name.encode()) + field(2, field(3, field(1, b"".join(map(varint, values))))))
        for name, values in features.items()))


def test_SequencesOfSeveralExamplesAreFilledWithTheirDefault():
    features = {"x": hr.io.FixedLenSequenceFeature([], hr.int64, allow_missing=True, default_value=-7),
                "y": hr.io.VarLenFeature(hr.int64), "z": hr.io.FixedLenFeature([2], hr.int64, [8, 9])}
    batch = [example(x=[1, 2]), example(y=[5], z=[1, 2]), example(x=[3], y=[6, 7])]
    got = of(batch, lambda s: hr.io.parse_example(s, features))
    assert got["x"].tolist() == [[1, 2], [-7, -7], [3, -7]]
    assert got["y"].tolist() == [[0, 0], [5, 0], [6, 7]]
    assert got["z"].tolist() == [[8, 9], [1, 2], [8, 9]]
    one = of(batch[0], lambda s: hr.io.parse_single_example(s, {"x": features["x"]}))
    assert one["x"].tolist() == [1, 2]
    none = of(example(), lambda s: hr.io.parse_single_example(s, {"x": features["x"]}))
    assert none["x"].tolist() == []
    with pytest.raises(hr.errors.InvalidArgumentError, match="default of feature 'x'"):
        of(batch, lambda s: hr.io.parse_example(s, {"x": hr.io.FixedLenSequenceFeature([2], hr.int64, True, [1, 2])}))


def test_ParsingABatchIsParsingEach(digits):
    features = {"image": hr.io.FixedLenFeature([], hr.string), "label": hr.io.FixedLenFeature([], hr.int64)}
    records = hr.TFRecordDataset(digits[0])
    each = list(records.take(10).map(lambda s: hr.io.parse_single_example(s, features)).batch(4))
    whole = list(records.take(10).batch(4).map(lambda s: hr.io.parse_example(s, features)))
    assert len(whole) == 3
    assert all((a[key] == b[key]).all() for a, b in zip(each, whole, strict=True) for key in features)


def test_ABadExampleOfABatchIsNamed():
    features = {"z": hr.io.FixedLenFeature([], hr.int64)}
    with pytest.raises(hr.errors.OpError, match="example 1: feature 'z' is missing"):
        of([example(z=[1]), example()], lambda s: hr.io.parse_example(s, features))
    with pytest.raises(ValueError, match="parse_example takes several"):
        of([example(z=[1])], lambda s: hr.io.parse_single_example(s, features))


def test_FilesAreReadWhereTheFunctionRuns(tmp_path, cluster):
    for name, text in (("a.txt", b"x\0\n"), ("b.txt", b"")):
        (tmp_path / name).write_bytes(text)
    names = hr.Dataset.list_files(str(tmp_path / "*.txt"), shuffle=False)
    read = names.map(hr.io.read_file, num_parallel_calls=2)
    assert list(read) == [b"x\0\n", b""]
    assert sorted(read.apply(hr.service.distribute("dynamic", cluster(1).target))) == [b"", b"x\0\n"]
    with pytest.raises(hr.errors.NotFoundError, match="none.txt"):
        of(str(tmp_path / "none.txt"), hr.io.read_file)


def test_LinesAreDecoded():
    got = of(["1,a,2.5", '7,"x,""y",'], lambda s: tuple(hr.io.decode_csv(s, [[0], "", [9.0]])))
    assert [x.tolist() for x in got] == [[1, 7], [b"a", b'x,"y'], [2.5, 9.0]]
    assert [x.dtype for x in got] == [np.int32, object, np.float32]
    assert of("1,a,2.5", lambda s: tuple(hr.io.decode_csv(s, [[0], [9.0]], select_cols=[0, 2]))) == (1, 2.5)
    assert of("NA,a", lambda s: tuple(hr.io.decode_csv(s, [[5], [""]], na_value="NA"))) == (5, b"a")
    assert of('"a",1', lambda s: tuple(hr.io.decode_csv(s, [[""], [5]], use_quote_delim=False))) == (b'"a"', 1)
    required = hr.constant(np.zeros([0], np.int32))
    for line, text in ((",a", "field 0: it is missing"), ("1,a,3", "a line has 3 fields; 2 are asked for"),
                       ('1,"a', "quotes"), ('1,a"b', "quotes"), ("x,a", "field 0")):
        with pytest.raises(hr.errors.OpError, match=text):
            of(line, lambda s: tuple(hr.io.decode_csv(s, [required, ""])))
    with pytest.raises(ValueError, match="field_delim"):
        hr.io.decode_csv("a", [""], field_delim="--")


def test_ArrangingFunctions():
    assert of(["a", "b"], hr.zeros_like).tolist() == [b"", b""]
    assert of([1.5, float("nan")], hr.ones_like).tolist() == [1.0, 1.0]
    assert of(True, hr.zeros_like) == False  # noqa: E712
    ranges = of(0, lambda x: (hr.range(3), hr.range(1, 2.5), hr.range(5, 0, -2), hr.range(3, dtype=hr.int64), hr.range(0)))
    assert [r.tolist() for r in ranges] == [[0, 1, 2], [1.0, 2.0], [5, 3, 1], [0, 1, 2], []]
    assert [r.dtype for r in ranges] == [np.int32, np.float32, np.int32, np.int64, np.int32]
    assert [x.tolist() for x in of([1, 2, 3, 4], lambda x: tuple(hr.split(x, 2)))] == [[1, 2], [3, 4]]
    assert [x.tolist() for x in of([[1, 2, 3]], lambda x: tuple(hr.split(x, [1, -1], axis=1)))] == [[[1]], [[2, 3]]]
    with pytest.raises(ValueError, match="2 parts do not make up the 3"):
        of([1, 2, 3], lambda x: tuple(hr.split(x, 2)))
    assert of([False, True, True], lambda x: (hr.argmax(x), hr.argmin(x))) == (1, 0)
    m = [[1, 2], [3, 4]]
    assert of(m, lambda x: hr.repeat(x, 2)).tolist() == [1, 1, 2, 2, 3, 3, 4, 4]
    assert of(m, lambda x: hr.repeat(x, 2, axis=1)).tolist() == [[1, 1, 2, 2], [3, 3, 4, 4]]
    assert of(5, lambda x: hr.repeat(x, 2)).tolist() == [5, 5]
    assert of([[1, 2, 3], [4, 5, 6]], lambda x: hr.boolean_mask(x, [True, False, True], axis=1)).tolist() == [[1, 3], [4, 6]]
    assert of([1, 2], lambda x: hr.boolean_mask(x, x > 5)).tolist() == []
    assert of([1, 3], lambda n: hr.sequence_mask(n, 4)).tolist() == [[True, False, False, False], [True, True, True, False]]


def test_WindowsAreIteratedOver():
    assert [list(w) for w in hr.Dataset.range(5).window(3)] == [[0, 1, 2], [3, 4]]
    pairs = hr.Dataset.zip({"a": hr.Dataset.range(3), "b": hr.Dataset.from_tensor_slices(["x", "y", "z"])}).window(2)
    assert [(list(w["a"]), list(w["b"])) for w in pairs] == [([0, 1], [b"x", b"y"]), ([2], [b"z"])]
    assert [list(w.as_numpy_iterator()) for w in hr.Dataset.range(4).batch(2).window(2).as_numpy_iterator()][0][1].tolist() \
        == [2, 3]
    numbered = hr.Dataset.range(3).window(2).enumerate()
    assert [(int(i), list(w)) for i, w in numbered] == [(0, [0, 1]), (1, [2])]
    assert list(hr.Dataset.range(3).window(9).get_single_element()) == [0, 1, 2]


def test_WindowsAreShuffledAnewSavedAndRestored():
    ds = hr.Dataset.range(100).shuffle(100, seed=3).window(10)
    passes = [[x for w in ds for x in w] for _ in range(2)]
    assert passes[0] != passes[1] and sorted(passes[0]) == sorted(passes[1]) == list(range(100))
    it = iter(ds)
    first = list(it.get_next())
    record = it.save()
    rest = [list(w) for w in it]
    assert [list(w) for w in ds.restore(record)] == rest and len(first) == 10
    it.restore(record)
    assert list(next(it)) == rest[0]
    it.close()
    assert list(it) == []


def test_AWindowWithAFailedElementFailsAndTheNextOneComes():
    it = iter(hr.Dataset.range(6).map(lambda x: 6 // (x - 1)).window(2))
    with pytest.raises(hr.errors.OpError):
        next(it)
    assert list(next(it)) == [6, 3]


def test_ImagesAreChangedByChanceDrawnForEach():
    image = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    ds = hr.Dataset.from_tensors(image).repeat(64)
    flipped = [int(x[0, 0, 0]) for x in ds.map(hr.image.random_flip_left_right)]
    assert set(flipped) == {0, 3}
    twice = ds.map(lambda x: (hr.image.random_flip_left_right(x, seed=5), hr.image.random_flip_left_right(x, seed=5)))
    assert [(a == b).all() for a, b in twice] == [True] * 64
    crops = {int(x[0, 0, 0]) for x in ds.map(lambda x: hr.image.random_crop(x, [1, 1, 3]))}
    assert crops == {0, 3, 6, 9}
    for f in (lambda x: hr.image.random_brightness(x, 0.2), lambda x: hr.image.random_contrast(x, 0.5, 1.5),
              lambda x: hr.image.random_saturation(x, 0.5, 1.5), lambda x: hr.image.random_hue(x, 0.2)):
        assert len({x.tobytes() for x in ds.map(f)}) > 1


def test_FunctionsOfFloats():
    x = np.array([[1.0, -2.0, 0.0], [np.inf, np.nan, 0.5]], np.float32)
    got = of(x, lambda x: (hr.math.is_finite(x), hr.math.is_inf(x), hr.math.divide_no_nan(x, x),
                           hr.math.sigmoid(x[0]), hr.math.reduce_std(x[0]), hr.math.reduce_variance(x[:1], axis=1)))
    assert got[0].tolist() == [[True, True, True], [False, False, True]]
    assert got[1].tolist() == [[False, False, False], [True, False, False]]
    assert got[2][0].tolist() == [1.0, 1.0, 0.0] and np.isnan(got[2][1, 0])
    np.testing.assert_allclose(got[3], 1 / (1 + np.exp(-x[0])), rtol=1e-6)
    np.testing.assert_allclose([got[4], got[5][0]], [x[0].std(), x[0].var()], rtol=1e-6)
    for f in (hr.math.is_finite, hr.math.reduce_std, hr.math.sigmoid):
        with pytest.raises(TypeError, match="floats are needed"):
            of([1, 2], f)
    with pytest.raises(ValueError, match="format is 'rgb'; the image has 1 channels"):
        of(np.zeros((2, 2, 1), np.uint8), lambda x: hr.image.encode_jpeg(x, format="rgb"))
