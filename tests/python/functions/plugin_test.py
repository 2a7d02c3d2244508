"""C++ functions of plug-ins, called by name."""

from __future__ import annotations

import os
import pathlib

import pytest

import headrace as hr

PLUGIN = pathlib.Path(os.environ["HEADRACE_COMMAND"]).parents[1] / "examples" / "libtile_plugin.so"
IMAGE = hr.TensorSpec([None, None, 3], hr.uint8)
TILES = [b"TILE\2\2\1\0\3\2", b"TILE\4\1\4\3"]


@pytest.fixture(scope="module")
def loaded():
    hr.load_plugin(PLUGIN)


def decoded(tiles):
    return hr.Dataset.from_tensor_slices(tiles).map(hr.named_function("tile.decode", IMAGE))


def test_FunctionsOfAPluginRunHereAndOnWorkers(loaded, cluster):
    ds = decoded(TILES)
    assert ds.element_spec == IMAGE
    here = [x.tolist() for x in ds]
    there = [x.tolist() for x in ds.apply(hr.service.distribute("off", cluster().target))]
    assert there == here and [len(x) for x in here] == [2, 1]
    sizes = hr.Dataset.from_tensor_slices(TILES).map(hr.named_function("tile.bytes", hr.TensorSpec([], hr.int64)))
    assert list(sizes) == [10, 8]


def test_AnElementThatTheFunctionRefusesIsAnError(loaded):
    it = iter(decoded([b"no tile", TILES[1]]))
    with pytest.raises(hr.errors.DataLossError, match="tile"):
        next(it)
    assert next(it).shape == (1, 4, 3)


def test_WhatIsNotThereIsTold(loaded, tmp_path):
    with pytest.raises(hr.errors.NotFoundError, match="tile.encode"):
        list(hr.Dataset.range(1).map(hr.named_function("tile.encode", hr.int64)))
    with pytest.raises(hr.errors.NotFoundError, match="none.so"):
        hr.load_plugin(tmp_path / "none.so")
    (tmp_path / "text.so").write_text("text")
    with pytest.raises(hr.errors.FailedPreconditionError, match="text.so"):
        hr.load_plugin(tmp_path / "text.so")
    with pytest.raises(hr.errors.AlreadyExistsError, match="tile.decode"):
        hr.load_plugin(PLUGIN)
    with pytest.raises(TypeError, match="name must be a string"):
        hr.named_function(3, hr.int64)
    with pytest.raises(ValueError, match="C\\+\\+ function"):
        hr.named_function("python", hr.int64)
    with pytest.raises(TypeError, match="tile.bytes"):
        hr.Dataset.range(1).reduce(0, hr.named_function("tile.bytes", hr.int64))
