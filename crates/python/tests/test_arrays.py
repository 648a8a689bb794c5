"""NumPy in and out, without a copy where memory allows."""

import gc
import io
import time
import weakref

import mini_image_pipe as mip
import numpy as np
import pytest

DTYPES = [np.uint8, np.uint16, np.int16, np.int32, np.float16, np.float32]


def address(array):
    return array.__array_interface__["data"][0]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(5, 7), (5, 7, 1), (5, 7, 3), (5, 7, 4), (1, 1), (1, 9, 3), (9, 1, 4)])
def test_every_dtype_and_shape_goes_in_and_comes_out(dtype, shape):
    array = np.random.default_rng(2).integers(0, 255, shape).astype(dtype)
    flipped = mip.Pipeline("flip direction=horizontal", device="cpu")(array)
    assert flipped.dtype == dtype
    expected = array[:, ::-1]
    assert np.array_equal(flipped, expected[:, :, 0] if shape[2:] == (1,) else expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_image_lends_the_memory_of_an_array(dtype):
    array = np.zeros((40, 30, 3), dtype)
    assert address(np.asarray(mip.Image(array))) == address(array)


@pytest.mark.parametrize(
    "part",
    [np.s_[2:30, 4:20], np.s_[::2], np.s_[5:6], np.s_[:, :, :]],
    ids=["region", "every other row", "one row", "all"],
)
def test_regions_and_rows_with_gaps_are_read_in_place(photo, part):
    view = photo[part]
    assert address(np.asarray(mip.Image(view))) == address(view)
    assert np.array_equal(mip.Pipeline("invert")(view), 255 - view)


@pytest.mark.parametrize(
    "part",
    [np.s_[:, ::2], np.s_[::-1], np.s_[:, ::-1], np.s_[:, :, ::-1]],
    ids=["every other column", "upside down", "mirrored", "channels turned"],
)
def test_other_strides_give_their_own_pixels(photo, part):
    view = photo[part]
    assert np.array_equal(mip.Pipeline("invert")(view), 255 - view)
    assert np.array_equal(mip.Pipeline("invert")(view.transpose(1, 0, 2)), 255 - view.transpose(1, 0, 2))


def test_read_only_arrays_are_taken(photo):
    photo.flags.writeable = False
    assert np.array_equal(mip.Pipeline("invert")(photo), 255 - photo)
    assert not np.asarray(mip.Image(photo)).flags.writeable


def test_results_can_be_written_to_and_are_memory_of_their_own(photo):
    pipe = mip.Pipeline("invert")
    first = pipe(photo)
    second = pipe(photo)
    first[:] = 7
    assert np.array_equal(second, 255 - photo)
    assert np.array_equal(pipe(photo), 255 - photo)
    assert (first == 7).all()
    del pipe
    gc.collect()
    assert (first == 7).all(), "a result outlives its pipeline"


def test_results_of_a_batch_do_not_touch_each_other(photo):
    first, second = mip.Pipeline("invert").run_batch([photo, photo])
    first[:] = 7
    assert np.array_equal(second, 255 - photo)


def test_an_array_that_was_run_is_let_go_of(photo):
    class Array(np.ndarray):
        pass

    pipe = mip.Pipeline("invert")
    array = photo.view(Array)
    gone = weakref.ref(array)
    pipe(array)
    del array
    gc.collect()
    assert gone() is None


def test_memory_stays_flat(photo):
    import resource

    pipe = mip.Pipeline("resize width=32 ! sobel")
    for _ in range(2_000):
        pipe(photo)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(20_000):
        pipe(photo)
    # Kilobytes: a leak of one result a call would be 15 MB.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4_000


@pytest.mark.parametrize(
    ("array", "part"),
    [
        (np.zeros((4, 4), bool), "astype(np.uint8) * 255"),
        (np.zeros((4, 4)), "astype(np.float32)"),
        (np.zeros((4, 4), ">u2"), "newbyteorder"),
        (np.zeros((4, 4), np.int64), "allowed: uint8, uint16, int16, int32, float16 and float32"),
        (np.zeros((4, 4, 2), np.uint8), "1, 3 or 4"),
        (np.zeros((3, 8, 9), np.uint8), 'layout="chw"'),
        (np.zeros((2, 4, 4, 3), np.uint8), "run_batch"),
        (np.zeros((0, 4), np.uint8), "no pixels"),
        (np.zeros(4, np.uint8), "height x width"),
    ],
)
def test_arrays_that_are_no_images_say_why_and_what_to_do(array, part):
    with pytest.raises(mip.RequestError) as error:
        mip.Pipeline("sobel")(array)
    assert part in str(error.value)


def test_objects_that_are_no_images_are_type_errors():
    with pytest.raises(TypeError, match="list is no image"):
        mip.Pipeline("sobel")([1, 2])


def test_formats_and_planes_are_said(photo):
    bgr = photo[:, :, ::-1]
    to_gray = mip.Pipeline("color_convert to=gray")
    assert np.array_equal(to_gray(bgr, format="bgr"), to_gray(photo))
    planes = np.ascontiguousarray(photo.transpose(2, 0, 1))
    assert np.array_equal(to_gray(planes, layout="chw"), to_gray(photo)[None])
    image = mip.Image(planes, layout="chw")
    assert (image.shape, image.width, image.height, image.format, image.layout) == ((3, 48, 64), 64, 48, "rgb", "chw")
    assert (image.dtype, image.nbytes, repr(image)) == ("uint8", 9216, "<mini_image_pipe.Image 64x48 rgb u8 chw>")
    with pytest.raises(mip.RequestError, match="allowed: gray, rgb, bgr, rgba, bgra"):
        mip.Image(photo, format="grey")
    with pytest.raises(mip.RequestError, match="bgra has 4"):
        mip.Image(photo, format="bgra")


def test_images_come_back_as_images(photo):
    image = mip.Pipeline("resize width=32")(mip.Image(photo, format="bgr"))
    assert isinstance(image, mip.Image)
    assert (image.format, image.shape) == ("bgr", (24, 32, 3))
    assert np.array_equal(image.numpy(), mip.Pipeline("resize width=32")(photo))
    assert image._repr_png_().startswith(b"\x89PNG")


def test_bytes_and_memoryviews_are_images(gray):
    view = memoryview(gray.tobytes()).cast("B", gray.shape)
    assert np.array_equal(mip.Pipeline("invert")(view), 255 - gray)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", ["hwc", "chw"])
def test_images_have_the_buffer_protocol(dtype, layout):
    array = np.random.default_rng(3).integers(0, 255, (5, 7, 3)).astype(dtype)
    image = mip.Pipeline(f"flip direction=both ! layout to={layout}", device="cpu")(mip.Image(array))
    expected = array[::-1, ::-1] if layout == "hwc" else array[::-1, ::-1].transpose(2, 0, 1)
    view = memoryview(image)
    assert (view.format, view.itemsize, view.nbytes) == (np.dtype(dtype).char, array.itemsize, array.nbytes)
    assert view.shape == expected.shape and view.c_contiguous and not view.readonly
    assert bytes(view) == np.ascontiguousarray(expected).tobytes()
    whole = np.frombuffer(image, dtype)
    assert address(whole) == address(np.asarray(image)) and np.array_equal(whole, expected.ravel())
    del image, whole
    gc.collect()
    assert bytes(view) == np.ascontiguousarray(expected).tobytes()


def test_what_a_view_asks_for_and_an_image_does_not_have_is_refused(photo):
    lent = mip.Image(photo[:, :40])
    assert memoryview(lent).readonly and memoryview(lent).strides == photo.strides
    with pytest.raises(BufferError, match="gaps between"):
        np.frombuffer(lent, np.uint8)
    flat = np.frombuffer(mip.Image(photo), np.uint8)
    assert address(flat) == address(photo) and not flat.flags.writeable
    with pytest.raises(TypeError, match="read-write"):
        io.BytesIO(b"\7\7").readinto(mip.Image(photo))
    result = mip.Pipeline("flip", device="cpu")(mip.Image(photo))
    assert io.BytesIO(b"\7\7").readinto(result) == 2 and np.asarray(result)[0, 0, :2].tolist() == [7, 7]


def test_arrays_are_given_back_when_a_thread_of_the_engine_held_them_last():
    class Array(np.ndarray):
        pass

    pipe = mip.Pipeline("gaussian_blur ! sobel", device="cpu")
    kept = []
    for _ in range(200):
        array = np.zeros((64, 64), np.uint8).view(Array)
        kept.append(weakref.ref(array))
        pipe(array)
    del array
    # The interpreter gives them back where nobody calls any more: at a call of its own, or soon after.
    for _ in range(200):
        if all(gone() is None for gone in kept):
            break
        time.sleep(0.01)
    assert [gone() for gone in kept] == [None] * 200
