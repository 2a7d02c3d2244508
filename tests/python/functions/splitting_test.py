"""``strings.split`` of tensors with any number of axes, and with a limit on the number of parts."""

from __future__ import annotations

import random

import numpy as np
import pytest

import headrace as hr
from headrace import Dataset

WHITE = b" \t\n\v\f\r"


def reference(text, separator, most):
    """The parts as TensorFlow gives them."""
    if most == 0:
        return [text]
    if separator:
        return text.split(separator, most if most > 0 else -1)
    out, at = [], 0
    while True:
        while at < len(text) and text[at] in WHITE:
            at += 1
        if most > 0 and len(out) == most:
            return [*out, text[at:]]  # also if the rest is empty
        if at == len(text):
            return out
        begin = at
        while at < len(text) and text[at] not in WHITE:
            at += 1
        out.append(text[begin:at])


def parts(value, *args, **options):
    """The parts into which ``strings.split`` in a dataset's function splits the value, as lists."""
    out = Dataset.from_tensors(value).map(lambda x: hr.strings.split(x, *args, **options)).get_single_element()
    return out.to_list() if isinstance(out, hr.RaggedTensor) else out.tolist()


@pytest.mark.parametrize("text, sep, most, wanted", [
    # The expected parts are the results of TensorFlow 2.21.
    ("a b c d", None, 2, [b"a", b"b", b"c d"]),
    (" a  b c ", None, 1, [b"a", b"b c "]),
    ("a", None, 1, [b"a", b""]),
    ("a", None, 2, [b"a"]),
    ("a ", None, 1, [b"a", b""]),
    ("  ", None, 1, []),
    ("", None, 0, [b""]),
    ("a b", None, 0, [b"a b"]),
    ("a b c", None, -5, [b"a", b"b", b"c"]),
    ("a,,b,c", ",", 2, [b"a", b"", b"b,c"]),
    (",a,", ",", 1, [b"", b"a,"]),
    ("", ",", 3, [b""]),
    ("aaa a", "aa", 1, [b"", b"a a"]),
    ("a,;b,;,;c", ",;", 1, [b"a", b"b,;,;c"]),
    ("...", ".", 2, [b"", b"", b"."]),
])
def test_ABoundLeavesTheRestWhole(text, sep, most, wanted):
    assert parts(text, sep, maxsplit=most) == wanted == reference(text.encode(), (sep or "").encode(), most)


def test_AnyBytesAreSplitAsOneAfterTheOtherWouldBe():
    seed = random.randrange(1 << 30)
    print("seed", seed)
    draw = random.Random(seed)
    bytes_ = [b"a", b"b", b",", b";", *(WHITE[i:i + 1] for i in range(6)), b"\x00", b"\xff", b"\xc3", "é".encode(), b"\\", b".",
              *(bytes([c]) for c in range(1, 32))]
    for sep in ("", ",", ",;", "a", "aa", ".", "\\", "é", "\x01", "\x01\x02", "\n", "\x00"):
        for most in (-1, 0, 1, 2, 3, 7):
            texts = [b"".join(draw.choice(bytes_[:draw.randint(2, len(bytes_))]) for _ in range(draw.randint(0, 12)))
                     for _ in range(40)]
            texts = [t + sep.encode() + t if draw.random() < 0.3 else t for t in texts]
            assert parts(texts, sep, maxsplit=most) == [reference(t, sep.encode(), most) for t in texts], (sep, most)


def test_EachAxisStaysAnAxis():
    assert parts([["a b", "c"], ["", "d e f"]]) == [[[b"a", b"b"], [b"c"]], [[], [b"d", b"e", b"f"]]]
    assert parts([["a b", "c"], ["", "d e f"]], maxsplit=1) == [[[b"a", b"b"], [b"c", b""]], [[], [b"d", b"e f"]]]
    assert parts([[["a,b"], ["c"]], [["d"], [""]]], ",") == [[[[b"a", b"b"]], [[b"c"]]], [[[b"d"]], [[b""]]]]
    assert parts(np.zeros([2, 0], object)) == [[], []] and parts(np.zeros([0], object)) == []
    assert parts(np.zeros([2, 0, 3], object)) == [[], []] and parts(np.zeros([1, 2, 0], object)) == [[[], []]]


def test_BatchesWhoseLengthDiffersAreSplit():
    ds = Dataset.from_tensor_slices([["a b", "c"], ["d", ""], ["e", "f g"]]).batch(2).map(hr.strings.split)
    assert ds.element_spec.ragged_rank == 2 and ds.element_spec.shape[0] is None
    assert [x.to_list() for x in ds] == [[[[b"a", b"b"], [b"c"]], [[b"d"], []]], [[[b"e"], [b"f", b"g"]]]]


def test_RowsOfARaggedTensorAreSplit():
    out = Dataset.from_tensors(["a b,c", "d"]).map(lambda x: hr.strings.split(hr.strings.split(x, ","))).get_single_element()
    assert out.to_list() == [[[b"a", b"b"], [b"c"]], [[b"d"]]] and out.ragged_rank == 2


def test_AnInputOfAnUnknownRankIsAVector():
    def texts(value):
        return Dataset.from_generator(lambda: [value], output_signature=hr.TensorSpec(None, hr.string)).map(hr.strings.split)

    assert texts(np.array(["a b", "c"], object)).get_single_element().to_list() == [[b"a", b"b"], [b"c"]]
    with pytest.raises(hr.errors.InvalidArgumentError, match="shape"):
        list(texts(np.array("a b", object)))


def test_TheSeparatorMayBeATensor():
    assert parts("a,b", hr.constant(",")) == parts("a,b", sep=b",") == [b"a", b"b"]
    with pytest.raises(TypeError, match="sep must be a string that is the same for all elements"):
        Dataset.from_tensors(["a,b", ","]).map(lambda x: hr.strings.split(x[0], x[1]))
    with pytest.raises(TypeError, match="sep must be"):
        parts("a", 3)
    with pytest.raises(TypeError, match="sep must be one string"):
        parts("a", hr.constant([",", ";"]))


def test_TheBoundHasABound():
    text = " ".join(map(str, range(2000)))
    assert len(parts(text, maxsplit=1000)) == 1001 and len(parts(text, " ", maxsplit=1000)) == 1001
    with pytest.raises(hr.errors.UnimplementedError, match="1000 at most"):
        parts(text, maxsplit=1001)
    with pytest.raises(TypeError, match="maxsplit"):
        parts(text, maxsplit=1.5)
