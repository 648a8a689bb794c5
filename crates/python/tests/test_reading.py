"""Files read otherwise than as they are stored: at less than their size, and by their ICC profile."""

import io

import mini_image_pipe as mip
import numpy as np
import pytest
from PIL import Image, ImageCms


@pytest.mark.parametrize("scale", [2, 4, 8])
def test_jpeg_files_are_decoded_smaller_to_the_pixels_of_pillow(tmp_path, photo, scale):
    height, width = (side // 8 * 8 for side in photo.shape[:2])
    path = tmp_path / "photo.jpg"
    Image.fromarray(photo[:height, :width]).save(path, quality=90)
    with Image.open(path) as theirs:
        theirs.draft("RGB", (width // scale, height // scale))
        expected = np.asarray(theirs.convert("RGB"))
    assert np.array_equal(mip.open(path, jpeg_scale=scale), expected)
    assert np.array_equal(mip.decode(path.read_bytes(), jpeg_scale=scale), expected)
    # Files of other formats stay as they are.
    mip.save(photo, tmp_path / "photo.png")
    assert np.array_equal(mip.open(tmp_path / "photo.png", jpeg_scale=scale), photo)


def test_profiles_are_applied_when_asked_for(tmp_path, photo):
    path = tmp_path / "lab.png"
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB"))
    Image.fromarray(photo).save(path, icc_profile=profile.tobytes())
    assert np.array_equal(mip.open(path), photo)
    near = mip.open(path, icc="srgb").astype(int)
    assert np.abs(near - photo).max() <= 1, "sRGB is sRGB"
    Image.fromarray(photo).save(path, icc_profile=b"no profile")
    with pytest.raises(mip.FileError, match="cannot be converted to sRGB"):
        mip.open(path, icc="srgb")


def test_values_that_are_none_are_refused(photo):
    file = io.BytesIO()
    Image.fromarray(photo).save(file, format="png")
    with pytest.raises(ValueError, match="jpeg_scale is 3"):
        mip.decode(file.getvalue(), jpeg_scale=3)
    with pytest.raises(ValueError, match="must be \"keep\" or \"srgb\""):
        mip.decode(file.getvalue(), icc="lab")
