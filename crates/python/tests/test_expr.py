"""Expressions by Python's operators, against NumPy's."""

import math

import mini_image_pipe as mip
import numpy as np
import pytest
from mini_image_pipe import expr
from mini_image_pipe.expr import a, b, g, r, v, v2, v3

ONE = np.random.default_rng(7).integers(0, 255, (9, 11), np.uint8)
TWO = np.random.default_rng(8).integers(0, 255, (9, 11), np.uint8)


def saturated(values):
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ((v - v2).abs() > 12, lambda p, q: abs(p - q) > 12),
        (abs(v - v2) + 1, lambda p, q: abs(p - q) + 1),
        (300 - v, lambda p, q: 300 - p),
        (v * 2 - v2 / 4, lambda p, q: p * 2 - q / 4),
        (-v + 255, lambda p, q: 255 - p),
        (1000 / (v + 1), lambda p, q: np.float32(1000) / (p + 1)),
        (v - (v2 - 3), lambda p, q: p - (q - 3)),
        (v * -1 + 200, lambda p, q: 200 - p),
        (expr.where((v > 100) & (v2 > 100) | ~(v2 >= 20), 255, v), lambda p, q: np.where((p > 100) & (q > 100) | (q < 20), 255, p)),
        (expr.where(v == v2, 1, 2), lambda p, q: np.where(p == q, 1, 2)),
        (expr.where(v != 7, v, 0), lambda p, q: np.where(p != 7, p, 0)),
        (v.min(v2).max(30).clamp(40, 200), lambda p, q: np.clip(np.maximum(np.minimum(p, q), 30), 40, 200)),
        ((v * 2).sqrt().floor() + (v / 3).ceil() + (v / 2).round(), lambda p, q: np.floor(np.sqrt(p * 2)) + np.ceil(p / 3) + np.rint(p / 2)),
        (expr.fma(v, 0.5, v2), lambda p, q: p * 0.5 + q),
        ((v / 255) ** 0.5 * 255 + (v + 1).log() * 9 + v.cbrt(), lambda p, q: (p / 255) ** 0.5 * 255 + np.log(p + 1) * 9 + np.cbrt(p)),
        ((v / 99).exp() + (v / 50).exp2() - (v + 1).log2(), lambda p, q: np.exp(p / 99) + np.exp2(p / 50) - np.log2(p + 1)),
        (expr.x * 2 + expr.y + expr.width - expr.height + v * 0, lambda p, q: np.arange(11) * 2 + np.arange(9)[:, None] + 2),
    ],
)
def test_operators_are_numpys(ours, theirs):
    one, two = ONE.astype(np.float32), TWO.astype(np.float32)
    images = (ONE, TWO) if "v2" in str(ours) else (ONE,)
    assert np.array_equal(ours(*images), saturated(theirs(one, two)))
    assert np.array_equal(ours.pipeline()(*images), saturated(theirs(one, two)))


def test_neighbours_and_channels():
    photo = np.random.default_rng(9).integers(0, 255, (6, 7, 3), np.uint8)
    wide = np.pad(ONE.astype(int), ((0, 0), (1, 1)), "edge")
    assert np.array_equal((v.at(1, 0) - v.at(-1, 0))(ONE, border="replicate"), saturated(wide[:, 2:] - wide[:, :-2]))
    assert np.array_equal(expr.channels(b, g, r)(photo), photo[:, :, ::-1])
    assert np.array_equal(expr.luma(r, g, b)(photo), mip.ops.color_convert(photo, to="gray"))
    assert np.array_equal(expr.channels(r, g, b, 255)(photo)[:, :, 3], np.full((6, 7), 255))
    assert str(a.at(-2, 3)) == "a(-2, 3)"
    assert ((v + v2 + v3) / 3)(ONE, ONE, ONE).shape == ONE.shape


def test_numbers_have_names_and_change():
    moved = (v - v2).abs() > expr.number("limit", 12)
    pipe = moved.pipeline()
    distance = abs(ONE.astype(int) - TWO)
    assert np.array_equal(pipe(ONE, TWO), distance > 12)
    pipe.point.limit = 40
    assert np.array_equal(pipe(ONE, TWO), distance > 40)
    assert np.array_equal(moved(ONE, TWO, limit=90), distance > 90)
    with pytest.raises(ValueError, match="'limit' is 1.0 in one place and 2.0 in another"):
        expr.number("limit", 1) + expr.number("limit", 2)


def test_what_is_no_expression_says_so():
    with pytest.raises(TypeError, match="use & | ~"):
        bool(v > 3)
    with pytest.raises(TypeError, match="'x' is no part"):
        v + "x"
    for wrong in (math.inf, math.nan):
        with pytest.raises(ValueError, match="finite"):
            v * wrong
    with pytest.raises(ValueError, match="no channel of the first image"):
        (v + 1).at(1, 0)
    with pytest.raises(ValueError, match="no channel of the first image"):
        v2.at(1, 0)
    with pytest.raises(TypeError, match="reads 2 images, and 1 are given"):
        (v - v2)(ONE)
    with pytest.raises(mip.RequestError):
        v(ONE, border="nothing")
    assert len({v, r}) == 2 and "v - v2" in repr(v - v2)
