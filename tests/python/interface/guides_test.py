"""The programs of examples/guides give the results of TensorFlow that `./run compare --same --store` has stored."""

from __future__ import annotations

import json

import numpy as np
import pytest

import guides

STORED = json.loads(guides.STORED.read_text())


@pytest.mark.parametrize("name", guides.PROGRAMS)
def test_AProgramGivesWhatItGaveWithTensorFlow(name, tmp_path):
    about = guides.load(name, "headrace")
    unordered, tolerance = getattr(about, "UNORDERED", []), getattr(about, "TOLERANCE", {})
    wanted = STORED["programs"][name]
    got = guides.run(name, "headrace", tmp_path)
    assert list(got) == list(wanted)
    for key, elements in got.items():
        summary = guides.summary(elements, key in unordered, tolerance.get(key, 0))
        assert guides.summaries_differ(summary, wanted[key], tolerance.get(key, 0)) == "", key
        assert elements, key


def test_AllThatIsKeptIsOfAProgramAndHasAnOrigin():
    assert sorted(STORED["programs"]) == guides.PROGRAMS
    assert STORED["origin"].startswith("tensorflow 2.")


ONE = [(1, np.float32([0.5, 0.25])), (2, np.float32([1, 2]))]


@pytest.mark.parametrize("other", [
    ONE[:1], ONE[::-1],
    [(1, np.float32([0.5, 0.25])), (2, np.float64([1, 2]))],
    [(1, np.float32([0.5, 0.25])), (2, np.float32([[1, 2]]))],
    [(1, np.float32([0.5, 0.25])), (2, np.float32([1, np.nextafter(np.float32(2), np.float32(3))]))],
    [(1, b"ab"), (2, np.float32([1, 2]))],
    [{"a": 1, "b": np.float32([0.5, 0.25])}, (2, np.float32([1, 2]))],
])
def test_TheJudgeTellsOthersApart(other):
    one, other = guides.read(ONE), guides.read(other)
    assert guides.difference(one, one) == "" and guides.difference(one, other)
    assert guides.summaries_differ(guides.summary(one), guides.summary(one)) == ""
    assert guides.summaries_differ(guides.summary(one), guides.summary(other))


def test_AnOrderOrTheLastBitsMayDifferWhereAProgramSaysSo():
    one = guides.read(ONE)
    assert guides.difference(one, one[::-1], unordered=True) == ""
    assert guides.summary(one, unordered=True) == guides.summary(one[::-1], unordered=True)
    near, far = (guides.read([(1, np.float32([0.5, 0.25])), (2, np.float32([1, 2 + x]))]) for x in (1e-6, 1e-3))
    assert guides.difference(one, near, tolerance=1e-5) == "" and guides.difference(one, far, tolerance=1e-5)
    kept = [guides.summary(x, tolerance=1e-5) for x in (one, near, far)]
    assert guides.summaries_differ(kept[0], kept[1], 1e-5) == "" and guides.summaries_differ(kept[0], kept[2], 1e-5)


def test_StringsThatJoinToOneTextAreTwo():
    one, other = (guides.read([np.array(x, object)]) for x in ([b"ab", b"c"], [b"a", b"bc"]))
    assert guides.difference(one, other)


def test_AProgramNamesTensorFlowOnceAlone(tmp_path, monkeypatch):
    monkeypatch.setattr(guides, "ROOT", tmp_path)
    folder = tmp_path / "examples" / "guides"
    folder.mkdir(parents=True)
    (folder / "some.py").write_text("import tensorflow as tf\nfrom tensorflow import data\n")
    with pytest.raises(ValueError, match="name tensorflow once"):
        guides.load("some", "headrace")
