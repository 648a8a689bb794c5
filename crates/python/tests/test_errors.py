"""Errors: a small hierarchy, the command line's texts, and their parts."""

import mini_image_pipe as mip
import numpy as np
import pytest


def test_the_hierarchy():
    assert issubclass(mip.RequestError, (mip.Error, ValueError)) and issubclass(mip.RequestError, ValueError)
    assert issubclass(mip.RunError, RuntimeError) and issubclass(mip.DeviceError, mip.RunError)
    assert issubclass(mip.OutOfMemoryError, MemoryError) and issubclass(mip.FileError, OSError)
    for error in [mip.RequestError, mip.RunError, mip.DeviceError, mip.OutOfMemoryError, mip.FileError]:
        assert issubclass(error, mip.Error) and error.__module__ == "mini_image_pipe"


def test_a_request_says_where_what_was_given_and_what_is_allowed():
    with pytest.raises(mip.RequestError) as caught:
        mip.Pipeline("soft:gaussian_blur kernel=4")
    error = caught.value
    assert str(error) == (
        "pipeline:1:27: task 'soft': parameter 'kernel' of 'gaussian_blur' is 4, but must be an odd whole number from 1 to 255"
    )
    parts = (error.place, error.task, error.operator, error.parameter, error.given, error.allowed, error.remedy)
    assert parts == (
        "pipeline:1:27", "soft", "gaussian_blur", "kernel", "4", "an odd whole number from 1 to 255", None
    )


def test_slips_get_a_suggestion():
    with pytest.raises(mip.RequestError) as caught:
        mip.Pipeline("gausian_blur")
    assert caught.value.remedy == "did you mean 'gaussian_blur'?"
    with pytest.raises(mip.RequestError, match="did you mean 'width'"):
        mip.ops.resize(np.zeros((4, 4), np.uint8), widht=3)


def test_files(tmp_path, photo):
    with pytest.raises(mip.FileError, match="cannot read"):
        mip.open(tmp_path / "none.png")
    (tmp_path / "text.png").write_text("not a picture")
    with pytest.raises(mip.FileError, match="can be read"):
        mip.open(tmp_path / "text.png")
    with pytest.raises(mip.FileError, match="the bytes given.*can be read"):
        mip.decode(b"not a picture")
    with pytest.raises(mip.FileError, match="the bytes given.*more than"):
        mip.save(photo, tmp_path / "photo.png")
        mip.decode((tmp_path / "photo.png").read_bytes(), max_pixels=10)
    with pytest.raises(TypeError):
        mip.decode("photo.png")
    with pytest.raises(mip.RequestError) as caught:
        mip.save(photo.astype(np.float32), tmp_path / "photo.png")
    assert "cast to=u8" in caught.value.remedy
    with pytest.raises(mip.RequestError, match=r"\.xyz"):
        mip.save(photo, tmp_path / "photo.xyz")


def test_a_device_that_is_not_there_says_why(photo):
    with pytest.raises(mip.DeviceError, match="device"):
        mip.Pipeline("sobel", device="cuda:4000")(photo)
    cpu, *others = mip.devices()
    assert (cpu["device"], cpu["available"], cpu["reason"]) == ("cpu", True, None)
    assert all(device["available"] or device["reason"] for device in others)


def test_files_are_decoded_on_gpus_alone():
    pipe = mip.Pipeline("invert", device="cpu")
    with pytest.raises(mip.RequestError, match="decoded on the GPU that the pipeline runs on, and it runs on none"):
        pipe.decode([b""])
    with pytest.raises(TypeError):
        pipe.decode([1])
