"""Images that are resized in bands of lines, beside values that do not depend on them."""

from __future__ import annotations

import numpy as np
import pytest

import headrace as hr

IMAGE = np.arange(5 * 6 * 3, dtype=np.uint8).reshape(5, 6, 3)


def late(x, steps):
    """Returns the values of ``x``, which must be one line or all be equal, after ``steps`` functions that change
    nothing. The functions are not elementwise, so that the values are computed in a later step of the traced function.
    """
    for _ in range(steps):
        x = hr.reverse(x, [0])
    return x


@pytest.mark.parametrize("steps", range(6))
@pytest.mark.parametrize("form", [lambda x, b: x * 2. + b, lambda x, b: b + x, lambda x, b: hr.exp(x * .01) * b - x, lambda x, b: (b + 1.) * x])
def test_ValuesBesideAnImageOfOneLineAreThereWhereTheImageIsNot(steps, form):
    file = hr.Dataset.from_tensors(IMAGE).map(hr.image.encode_png).get_single_element()
    others = np.ones((4, 1, 4, 3), np.float32) * np.arange(1, 5, dtype=np.float32)[:, None, None, None]

    def f(file, other, n):
        b = late(other, steps) * 3.
        x = hr.image.resize(hr.image.decode_image(file, channels=3), (1, 4))
        return hr.cond(n > 2., lambda: form(x, b), lambda: hr.zeros([1, 4, 3])), b
    ds = hr.Dataset.from_tensor_slices(([file] * 4, others, np.array([3, 1, 3, 1], np.float32)))
    assert [float(b[0, 0, 0]) for _, b in ds.map(f)] == [3, 6, 9, 12]


@pytest.mark.parametrize("steps", range(5))
def test_AValueFailsOnlyWhereItReadsWhatFailed(steps):
    image = (IMAGE.astype(np.float32) * 3) % 256
    images = np.stack([image, image * 3, image, image * 3])

    def f(x, n, other):
        x = hr.image.resize(x, (4, 3))
        a = x * late(other, steps)[0]
        y = hr.cast(hr.cast(x, hr.uint8), hr.float32) + 1.  # fails for the larger images
        return a, hr.where(n > 2., hr.reverse(a + y, [1]), hr.zeros([4, 3, 3]))
    ds = hr.Dataset.from_tensor_slices((images, np.array([3, 3, 1, 1], np.float32), np.ones((4, 7), np.float32)))
    assert len(list(ds.map(f).ignore_errors())) == 3
    with pytest.raises(hr.errors.InvalidArgumentError, match="does not fit uint8"):
        list(ds.map(f))


def test_BranchesOfDifferentRanksAreErrorsSideBySide():
    ds = hr.Dataset.from_tensor_slices(np.array([1, 1, 5, 5])).map(
        lambda n: hr.cond(n < 3, lambda: hr.zeros([2]), lambda: hr.zeros([2, 2])))
    with pytest.raises(hr.errors.UnimplementedError, match="different ranks"):
        list(ds)
