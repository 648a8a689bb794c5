"""Arrays of any shape, type and order in memory against the definitions of NumPy, OpenCV and SciPy; pipelines against their operators one by one."""

import cv2
import mini_image_pipe as mip
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_images import DTYPES, as_results, images, samples

INTEGERS = (np.uint8, np.uint16, np.int16)
# Modes of NumPy's pad, by our names.
BORDERS = {"reflect101": "reflect", "reflect": "symmetric", "replicate": "edge", "wrap": "wrap"}
borders = st.sampled_from(sorted(BORDERS))


def same(ours, theirs):
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    assert np.array_equal(ours, theirs, equal_nan=True)


def near(ours, exact, dtype):
    """Within what rounding to the type once, and f32 on the way, may cost."""
    assert ours.dtype == dtype and ours.shape == exact.shape
    limits = np.iinfo(dtype) if np.issubdtype(dtype, np.integer) else None
    exact = np.clip(exact, limits.min, limits.max) if limits else exact
    by = 0.5 + 2e-7 * np.abs(exact).max() * 8 if limits else (2e-3 if dtype == np.float16 else 4e-6)
    assert np.abs(ours.astype(np.float64) - exact).max() <= by


def widened(image, margins, border):
    """An image with what a window reads around it, in f64."""
    top, left = margins
    around = ((top, top), (left, left)) + ((0, 0),) * (image.ndim - 2)
    return np.pad(image.astype(np.float64), around, mode=BORDERS[border])


def windows(image, sides, border):
    """The window of every pixel: (height, width, [channels,] rows, columns)."""
    rows, columns = sides
    return np.lib.stride_tricks.sliding_window_view(widened(image, (rows // 2, columns // 2), border), sides, axis=(0, 1))


@given(images())
def test_pixels_are_read_in_any_order_of_memory_and_not_written(image):
    before = image.copy()
    same(np.asarray(mip.Image(image)), as_results(image))
    same(mip.ops.flip(image, direction="both"), as_results(image)[::-1, ::-1])
    same(mip.ops.transpose(image), as_results(image).swapaxes(0, 1))
    same(mip.ops.rotate90(image, direction="ccw"), as_results(np.rot90(image)))
    same(image, before)


@given(images(channels=(3, 4)))
def test_channels_and_planes_are_those_of_numpy(image):
    same(mip.ops.layout(image, to="chw"), image.transpose(2, 0, 1))
    planar = np.ascontiguousarray(image.transpose(2, 0, 1))
    same(mip.Pipeline("layout to=hwc", device="cpu")(planar, layout="chw"), image)
    same(mip.ops.select(image, channels=[2, 0, 1]), image[:, :, [2, 0, 1]])


@given(images(), st.data())
def test_crop_and_pad_are_those_of_numpy(image, data):
    height, width = image.shape[:2]
    x, y = data.draw(st.integers(0, width - 1)), data.draw(st.integers(0, height - 1))
    w, h = data.draw(st.integers(1, width - x)), data.draw(st.integers(1, height - y))
    same(mip.ops.crop(image, x=x, y=y, width=w, height=h), as_results(image)[y : y + h, x : x + w])
    left, top, right, bottom = (data.draw(st.integers(0, 40)) for _ in range(4))
    around = ((top, bottom), (left, right)) + ((0, 0),) * (as_results(image).ndim - 2)
    border = data.draw(borders)
    padded = mip.ops.pad(image, left=left, top=top, right=right, bottom=bottom, border=border)
    same(padded, np.pad(as_results(image), around, mode=BORDERS[border]))


# Alpha is no sample to compute with: it stays that of the first image.
@given(images(dtypes=INTEGERS, channels=(None, 1, 3)), st.integers(0, 2**32 - 1))
def test_two_images_are_computed_with_as_numpy_does(image, seed):
    other = samples(seed, image.shape, image.dtype.type)
    a, b = as_results(image).astype(np.int64), as_results(other).astype(np.int64)
    limits = np.iinfo(image.dtype)
    for ours, exact in [
        (mip.ops.absdiff(image, other), np.abs(a - b)),
        (mip.ops.add(image, other), a + b),
        (mip.ops.subtract(image, other), a - b),
        (mip.ops.arithmetic(image, other, operation="min"), np.minimum(a, b)),
        (mip.ops.arithmetic(image, other, operation="max"), np.maximum(a, b)),
    ]:
        same(ours, np.clip(exact, limits.min, limits.max).astype(image.dtype))


@given(images(channels=(None, 1, 3)), st.floats(-0.5, 1.5, width=16))
def test_thresholds_are_those_of_numpy(image, at):
    if np.issubdtype(image.dtype, np.integer):
        limits = np.iinfo(image.dtype)
        at = float(np.rint(limits.min + (at + 0.5) / 2 * (int(limits.max) - limits.min)))
    plain = as_results(image)
    high = 7
    same(mip.ops.threshold(image, threshold=at, max_value=high), np.where(plain > at, high, 0).astype(image.dtype))
    same(mip.ops.threshold(image, threshold=at, mode="tozero"), np.where(plain > at, plain, 0).astype(image.dtype))


@given(images(dtypes=(np.uint8, np.uint16, np.float32), channels=(None, 3)), st.sampled_from([1, 3, 5]), borders)
def test_medians_and_morphology_are_those_of_the_windows(image, kernel, border):
    seen = windows(image, (kernel, kernel), border)
    same(mip.ops.median(image, kernel=kernel, border=border), np.median(seen, axis=(-2, -1)).astype(image.dtype))
    same(mip.ops.erode(image, kernel=kernel, border=border), seen.min(axis=(-2, -1)).astype(image.dtype))
    same(mip.ops.dilate(image, kernel=kernel, border=border), seen.max(axis=(-2, -1)).astype(image.dtype))


@given(images(channels=(None, 3)), st.sampled_from([1, 3, 5, 9]), st.sampled_from([1, 3, 7]), borders)
def test_means_are_those_of_the_windows(image, rows, columns, border):
    exact = windows(image, (rows, columns), border).mean(axis=(-2, -1))
    near(mip.ops.box_blur(image, kernel=[columns, rows], border=border), exact, image.dtype)


@given(images(channels=(None, 3)), st.sampled_from([3, 5, 7]), st.floats(0.3, 4), borders)
def test_gaussians_are_sums_with_the_weights_of_opencv(image, kernel, sigma, border):
    weights = cv2.getGaussianKernel(kernel, sigma, cv2.CV_64F)
    exact = (windows(image, (kernel, kernel), border) * (weights @ weights.T)).sum(axis=(-2, -1))
    near(mip.ops.gaussian_blur(image, kernel=kernel, sigma=sigma, border=border), exact, image.dtype)


@given(images(channels=(None, 3)), st.lists(st.integers(-8, 8), min_size=9, max_size=9), borders)
def test_filters_are_sums_with_their_weights(image, weights, border):
    if not np.issubdtype(image.dtype, np.integer):
        weights = [weight / 64 for weight in weights]
    exact = (windows(image, (3, 3), border) * np.reshape(weights, (3, 3))).sum(axis=(-2, -1))
    near(mip.ops.filter2d(image, weights=weights, border=border), exact, image.dtype)


@given(images(channels=(None, 3)), st.integers(1, 40), st.integers(1, 40))
def test_resizes_are_those_of_scipys_interpolation(image, width, height):
    ndimage = pytest.importorskip("scipy.ndimage", reason="SciPy is not installed")
    rows = (np.arange(height) + 0.5) * image.shape[0] / height - 0.5
    columns = (np.arange(width) + 0.5) * image.shape[1] / width - 0.5
    at = np.meshgrid(rows, columns, indexing="ij")
    planes = [image] if image.ndim == 2 else [image[:, :, channel] for channel in range(3)]
    exact = [ndimage.map_coordinates(plane.astype(np.float64), at, order=1, mode="nearest") for plane in planes]
    exact = exact[0] if image.ndim == 2 else np.stack(exact, axis=2)
    resized = mip.ops.resize(image, width=width, height=height)
    # Where a pixel lies is computed in f32.
    spread = float(image.astype(np.float64).max() - image.astype(np.float64).min())
    limits = 0.5 if np.issubdtype(image.dtype, np.integer) else (2e-3 if image.dtype == np.float16 else 0)
    assert resized.dtype == image.dtype and np.abs(resized.astype(np.float64) - exact).max() <= limits + spread * 1e-5


@given(images(dtypes=INTEGERS, channels=(None, 3)), st.data())
def test_affine_maps_are_those_of_scipys_interpolation(image, data):
    ndimage = pytest.importorskip("scipy.ndimage", reason="SciPy is not installed")
    a, b, d, e = (data.draw(st.integers(-32, 32)) / 16 for _ in range(4))
    c, f = (data.draw(st.integers(-64, 64)) / 8 for _ in range(2))
    warped = mip.ops.warp_affine(image, matrix=[a, b, c, d, e, f], inverse=True, border="replicate")
    y, x = np.mgrid[: image.shape[0], : image.shape[1]]
    at = [d * x + e * y + f, a * x + b * y + c]
    planes = [image] if image.ndim == 2 else [image[:, :, channel] for channel in range(3)]
    exact = [ndimage.map_coordinates(plane.astype(np.float64), at, order=1, mode="nearest") for plane in planes]
    exact = exact[0] if image.ndim == 2 else np.stack(exact, axis=2)
    spread = float(image.max()) - float(image.min())
    assert np.abs(warped.astype(np.float64) - exact).max() <= 0.5 + spread * 1e-5


@given(images(dtypes=(np.uint8, np.uint16, np.float32), channels=(3,)))
def test_gray_is_near_that_of_opencv(image):
    theirs = cv2.cvtColor(np.ascontiguousarray(image), cv2.COLOR_RGB2GRAY)
    ours = mip.ops.color_convert(image, to="gray")
    assert ours.dtype == theirs.dtype
    by = 1 if np.issubdtype(image.dtype, np.integer) else 1e-5
    # OpenCV's weights of integers have 14 or 15 bits.
    assert np.abs(ours.astype(np.float64) - theirs).max() <= max(by, float(np.abs(theirs).max()) * 5e-5)


@given(images(), st.sampled_from(DTYPES))
def test_casts_keep_the_scale(image, to):
    def scale(dtype):
        return float(np.iinfo(dtype).max) if np.issubdtype(dtype, np.integer) else 1.0

    names = {np.uint8: "u8", np.uint16: "u16", np.int16: "i16", np.float16: "f16", np.float32: "f32"}
    exact = as_results(image).astype(np.float64) * (scale(to) / scale(image.dtype.type))
    near(mip.ops.cast(image, to=names[to]), exact, np.dtype(to))


STEPS = st.one_of(
    st.sampled_from(
        [
            "flip", "flip direction=vertical", "transpose", "rotate90 direction=cw", "invert", "sobel", "pyramid", "equalize_hist",
            "erode kernel=3", "dilate kernel=2 shape=cross", "median kernel=3", "color_convert to=gray", "color_convert to=bgr",
            "color_convert to=rgba", "layout to=chw", "layout to=hwc", "cast to=f32", "cast to=u8", "scharr border=wrap",
            "point expr=\"v * 0.75 + x()\"", "morphology operation=gradient", "autocontrast", "sharpen amount=0.5",
        ]
    ),
    st.builds("resize width={} height={} filter={}".format, st.integers(1, 30), st.integers(1, 30), st.sampled_from(["bilinear", "nearest", "area"])),
    st.builds("gaussian_blur kernel={} sigma={} border={}".format, st.sampled_from([3, 5, 7]), st.floats(0.25, 3, width=16), borders),
    st.builds("box_blur kernel={} border={}".format, st.sampled_from([1, 3, 5]), borders),
    st.builds("threshold threshold={}".format, st.integers(0, 255)),
    st.builds("pad left={} top={} right={} border={}".format, *[st.integers(0, 6)] * 3, borders),
    st.builds("crop width={} height={} center=true".format, st.integers(1, 12), st.integers(1, 12)),
    st.builds("normalize mean={} std={}".format, st.floats(0, 1, width=16), st.floats(0.125, 1, width=16)),
    st.builds("rotate angle={} filter={} border={}".format, st.integers(-180, 180), st.sampled_from(["nearest", "bilinear"]), borders),
    st.builds("letterbox width={} height={}".format, st.integers(1, 24), st.integers(1, 24)),
)  # fmt: skip


def outcome(run):
    """A result with its meaning, or that it is refused."""
    try:
        return run()
    except mip.RequestError as error:
        return type(error)


@given(images(channels=(None, 3, 4), most=16), st.lists(STEPS, min_size=2, max_size=5), st.booleans())
def test_a_pipeline_is_its_operators_one_by_one(image, steps, alone):
    def one_by_one():
        result = mip.Image(image)
        for step in steps:
            result = mip.Pipeline(step, device="cpu")(result)
        return result

    line = " ! ".join(steps)
    expected = outcome(one_by_one)
    fused = outcome(lambda: mip.Pipeline(line, device="cpu", num_streams=1 if alone else 4)(mip.Image(image)))
    assert fused == expected
    assert outcome(lambda: mip.Pipeline(line, device="cpu", fuse=False)(mip.Image(image))) == expected
    others = [mip.Image(np.ascontiguousarray(image[::-1])), mip.Image(image)]
    batch = outcome(lambda: mip.Pipeline(line, device="cpu", max_batch_size=2).run_batch(others)[1])
    assert batch == expected
