"""Line ends, empty lines and odd numbers in tables. The expected values are those of TensorFlow 2.21."""

from __future__ import annotations

import numpy as np
import pytest

import headrace as hr

D = hr.Dataset
CsvDataset, make_csv_dataset = hr.data.experimental.CsvDataset, hr.data.experimental.make_csv_dataset


def decoded(line, defaults, **given):
    try:
        return next(iter(D.from_tensors(line).map(lambda s: tuple(hr.io.decode_csv(s, defaults, **given)))))
    except ValueError as e:
        return str(e)


@pytest.mark.parametrize("line", ["1,a\n2,b", "1,a\r", "1,a\n", "1,a\r\n", '1,"a"\r', "1,a\rb", "", "\n", "1\n,a", '"1"\n,"a"'])
def test_ALineThatEndsInARecordIsAnErrorOfTheElement(line):
    for quotes in (True, False):
        assert isinstance(decoded(line, [0, "d"], use_quote_delim=quotes), str)
    assert "decode_csv" in decoded(line, [0, "d"])


def test_LineEndsInQuotesAndBehindTheSelectedFieldsAreFine():
    assert decoded('1,"a\nb"', [0, "d"]) == (1, b"a\nb") and decoded('1,"a\r\n"', [0, "d"]) == (1, b"a\r\n")
    for line in ("1,a\n2,b", "1,a\r", '1,a"b', '1,"a"b'):
        assert decoded(line, ["d"], select_cols=[0]) == (b"1",)
    assert "0 fields" in decoded("", ["d"]) and "0 fields" in decoded("", [7])
    assert decoded("1,", [0, "d"]) == (1, b"d")


def rows(tmp_path, text, defaults, **given):
    path = tmp_path / "table.csv"
    path.write_bytes(text)
    out, it = [], iter(CsvDataset(str(path), defaults, **given))
    while True:
        try:
            out.append(next(it))
        except StopIteration:
            return out
        except ValueError:
            out.append("error")


def test_EmptyLinesAreRowsAndReturnsEndThem(tmp_path):
    def two(text, **given):
        return rows(tmp_path, text, [0, "d"], **given)

    assert two(b"1,a\n\n2,b\n") == [(1, b"a"), "error", (2, b"b")]
    assert two(b"1,a\n\n2,b\n", header=True) == ["error", (2, b"b")]
    assert two(b"1,a\n\n") == [(1, b"a"), "error"] == two(b"1,a\n\r\n")
    assert two(b"1,a\r\n2,b\r\n") == two(b"1,a\r2,b") == two(b"1,a\n2,b\r") == [(1, b"a"), (2, b"b")]
    assert two(b"1,a\n2\n3,c\n") == [(1, b"a"), "error", (3, b"c")]
    assert two(b'1,"a\nb"\n2,c\n') == [(1, b"a\nb"), (2, b"c")] and two(b"") == []
    assert rows(tmp_path, b"a\n\nb\n", ["d"]) == [(b"a",), (b"d",), (b"b",)]
    assert rows(tmp_path, b"\n", [hr.int32]) == ["error"]


def test_AByteOrderMarkIsLeftOut(tmp_path):
    # TensorFlow reads the byte order mark as a part of the first value (docs/migrating.md).
    assert rows(tmp_path, b"\xef\xbb\xbf1,a\n2,b\n", [0, "d"]) == [(1, b"a"), (2, b"b")]


#: Texts, each with the dtype that is inferred for a column with this text as its only value.
KINDS = {
    "NaN": "string", "inf": "string", "Infinity": "string", "-inf": "float32", "1e400": "string", "1e39": "float64",
    "-1e39": "float32", "1e-50": "float32", "2147483647": "int32", "2147483648": "int64", "-2147483649": "int64",
    "9223372036854775808": "float32", "0x10": "string", "+5": "int32", " 5": "int32", "1e5": "float32", "1.5f": "string",
    "True": "string", "3.4028235e38": "float32", "3.4028236e38": "float64", "16777217.5": "float32", "nan(1)": "string",
}


def made(tmp_path, text):
    path = tmp_path / "made.csv"
    path.write_bytes(text)
    return make_csv_dataset(str(path), 10, num_epochs=1, shuffle=False)


@pytest.mark.parametrize("text", KINDS)
def test_KindsOfColumnsAreInferredAsThere(text, tmp_path):
    ds = made(tmp_path, f"a,b\n{text},x\n".encode())
    assert ds.element_spec["a"].dtype == KINDS[text]
    assert len(list(ds)) == 1


def test_ColumnsOfSeveralKindsAndRowsThatDoNotFit(tmp_path):
    for first, second, kind in (("1", "2.5", "float32"), ("3000000000", "1.5", "float32"), ("1e39", "1", "float64"),
                                ("1", "x", "string"), ("1", "NaN", "string"), ("1.5", "1e39", "float64"), ("", "1", "int32")):
        assert made(tmp_path, f"a,b\n{first},x\n{second},y\n".encode()).element_spec["a"].dtype == kind
    for text in (b"a,b\n1,x\n\n2,y\n", b"a,b\n1\n2,y\n"):
        with pytest.raises(ValueError, match="fields"):
            made(tmp_path, text)
    assert list(made(tmp_path, b"a,b\r\n1,x\r\n2,y\r\n"))[0]["a"].tolist() == [1, 2]


#: Texts, and their values as float32 and float64.
NUMBERS = {"0x10": (16, 16), "-0X1F": (-31, -31), "0x1.8p1": (3, 3), "+0x10": (16, 16), " 0x.8 ": (0.5, 0.5), "1e39": (np.inf, 1e39),
           "-1e39": (-np.inf, -1e39), "1e400": (np.inf, np.inf), "1e-400": (0, 0), "INF": (np.inf, np.inf), "010": (10, 10),
           "3.4028236e38": (np.inf, 3.4028236e38)}


def test_NumbersAreReadAsThere(tmp_path):
    for text, expected in NUMBERS.items():
        for dtype, value in zip((hr.float32, hr.float64), expected):
            number = D.from_tensors(text).map(lambda s: hr.strings.to_number(s, dtype))
            assert next(iter(number)) == value, text
            assert decoded(f"{text},a", [dtype, "d"])[0] == value
            assert rows(tmp_path, f"{text},a\n".encode(), [dtype, "d"])[0][0] == value
    for text in ("0x", "0x1g", "1.5f", "1e", "+-1", "", " ", "1_0"):
        with pytest.raises(ValueError):
            next(iter(D.from_tensors(text).map(hr.strings.to_number)))
    for dtype in (hr.int32, hr.int64):
        with pytest.raises(ValueError):
            next(iter(D.from_tensors("0x10").map(lambda s: hr.strings.to_number(s, dtype))))
