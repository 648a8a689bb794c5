"""Pillow, DLPack and the array interface."""

import gc
import weakref

import mini_image_pipe as mip
import numpy as np
import pytest
from PIL import Image as Pillow

EDGES = mip.Pipeline("resize width=32 ! sobel")


class Tensor:
    """What only has DLPack, as a tensor of another library, in the protocol's version before 1.0 or since."""

    def __init__(self, array, versioned):
        self.array, self.versioned = array, versioned

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **options):
        if options and not self.versioned:
            raise TypeError("unexpected keyword argument")
        return self.array.__dlpack__(**options)


def address(array):
    return array.__array_interface__["data"][0]


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "F", "I;16"])
def test_pictures_of_pillow_go_in_and_come_out(mode):
    samples = {"L": np.uint8, "RGB": np.uint8, "RGBA": np.uint8, "F": np.float32, "I;16": np.uint16}[mode]
    channels = {"RGB": (3,), "RGBA": (4,)}.get(mode, ())
    array = np.random.default_rng(3).integers(0, 255, (5, 7, *channels)).astype(samples)
    picture = Pillow.fromarray(array)
    assert picture.mode == mode
    flipped = mip.Pipeline("flip direction=vertical")(picture)
    assert isinstance(flipped, Pillow.Image) and flipped.mode == mode
    assert np.array_equal(np.asarray(flipped), array[::-1])
    assert mip.Image(picture).pil().mode == mode


@pytest.mark.parametrize("mode", ["P", "1", "CMYK", "LA"])
def test_other_modes_are_refused_with_the_remedy(mode):
    with pytest.raises(mip.RequestError, match=r'mode .* use picture.convert\("RGB"\)'):
        EDGES(Pillow.new(mode, (8, 8)))


def test_what_pillow_does_not_hold_is_refused():
    with pytest.raises(mip.RequestError, match="Pillow has no 8x8 rgb f32"):
        mip.Pipeline("cast to=f32")(Pillow.new("RGB", (8, 8)))


@pytest.mark.parametrize("versioned", [False, True])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int16, np.float16, np.float32])
def test_tensors_are_read_where_they_lie(dtype, versioned):
    array = np.arange(4 * 5 * 3).reshape(4, 5, 3).astype(dtype)
    image = mip.Image(Tensor(array, versioned))
    assert address(np.asarray(image)) == address(array)
    part = array[1:3, :4]
    assert np.array_equal(mip.Image(Tensor(part, versioned)), part)
    assert np.array_equal(mip.Pipeline("flip")(Tensor(array, versioned)), mip.Pipeline("flip")(array))


def test_a_tensor_lives_as_long_as_what_reads_it():
    class Array(np.ndarray):
        pass

    array = np.zeros((4, 4), np.uint8).view(Array)
    gone = weakref.ref(array)
    image = mip.Image(Tensor(array, True))
    del array
    gc.collect()
    assert gone() is not None and np.asarray(image).sum() == 0
    del image
    gc.collect()
    assert gone() is None


def test_tensors_that_are_no_images_say_why():
    with pytest.raises(mip.RequestError, match="none of uint8"):
        mip.Image(Tensor(np.zeros((4, 4)), True))
    with pytest.raises(mip.RequestError, match=r"tensor.contiguous\(\)"):
        mip.Image(Tensor(np.zeros((4, 8), np.uint8)[:, ::2], True))


@pytest.mark.parametrize("shape", [(4, 5), (4, 5, 3)])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int16, np.float16, np.float32])
def test_images_are_tensors_over_the_same_memory(shape, dtype):
    array = np.random.default_rng(4).integers(0, 99, shape).astype(dtype)
    image = mip.Pipeline("flip")(mip.Image(array))
    tensor = np.from_dlpack(image)
    assert address(tensor) == address(np.asarray(image))
    assert np.array_equal(tensor, array[:, ::-1]) and tensor.flags.writeable
    del image
    gc.collect()
    assert np.array_equal(tensor, array[:, ::-1])
    lent = np.from_dlpack(mip.Image(array))
    assert address(lent) == address(array) and not lent.flags.writeable
    copied = np.from_dlpack(mip.Image(array), copy=True)
    assert address(copied) != address(array) and np.array_equal(copied, array)


def test_capsules_that_nobody_takes_are_freed_and_requests_that_do_not_fit_refused():
    image = mip.Pipeline("invert")(mip.Image(np.zeros((4, 4), np.uint8)))
    for _ in range(1000):
        image.__dlpack__()
        image.__dlpack__(max_version=(1, 0))
    assert image.__dlpack_device__() == (1, 0)
    lent = mip.Image(np.zeros((4, 4), np.uint8))
    with pytest.raises(BufferError, match="read-only"):
        lent.__dlpack__()
    with pytest.raises(BufferError, match="stream"):
        image.__dlpack__(stream=1)
    with pytest.raises(BufferError, match="CPU"):
        image.__dlpack__(dl_device=(2, 0))


def test_the_array_interface_is_enough():
    class Thing:
        def __init__(self, array):
            self.__array_interface__ = array.__array_interface__
            self.array = array

    array = np.random.default_rng(5).integers(0, 255, (48, 64, 3), np.uint8)
    assert np.array_equal(EDGES(Thing(array)), EDGES(array))


@pytest.mark.parametrize("extension", ["png", "tif", "bmp", "qoi", "webp", "ppm", "npy"])
def test_files_keep_every_pixel(tmp_path, photo, extension):
    path = tmp_path / f"photo.{extension}"
    mip.save(photo, path)
    assert np.array_equal(mip.open(path), photo)
    mip.save(photo[:, :, ::-1], path, format="bgr")
    assert np.array_equal(mip.open(path), photo)
    for held in (path.read_bytes(), bytearray(path.read_bytes())):
        assert np.array_equal(mip.decode(held), photo)


def test_files_of_jpeg_are_near(tmp_path, photo):
    smooth = mip.ops.gaussian_blur(photo, kernel=9)
    mip.save(smooth, tmp_path / "photo.jpg", quality=95)
    assert np.abs(mip.open(tmp_path / "photo.jpg").astype(int) - smooth).mean() < 3
    with pytest.raises(mip.RequestError, match="jpeg_quality is 101"):
        mip.save(smooth, tmp_path / "photo.jpg", quality=101)


def test_memory_of_pictures_that_are_gone_is_used_again_and_that_of_others_is_not(tmp_path, photo):
    mip.save(photo, tmp_path / "other.png")
    gone = [mip.open(tmp_path / "other.png") for _ in range(8)]
    del gone  # as many of another shape as are kept
    photo = photo[:37]  # a shape that no other test has left memory of
    for number in range(4):
        mip.save(np.roll(photo, number, axis=0), tmp_path / f"{number}.png")
    first = mip.open(tmp_path / "0.png")
    place, part = first.ctypes.data, mip.open(tmp_path / "1.png")[5:9]
    first[:] = 7  # its owner may write to it
    del first
    again = mip.open(tmp_path / "2.png")
    assert again.ctypes.data == place and np.array_equal(again, np.roll(photo, 2, axis=0))
    others = [mip.open(tmp_path / "3.png") for _ in range(3)]
    assert all(np.array_equal(other, np.roll(photo, 3, axis=0)) for other in others)
    assert np.array_equal(part, np.roll(photo, 1, axis=0)[5:9]) and np.array_equal(again, np.roll(photo, 2, axis=0))
