"""Input pictures, from a fixed seed: shapes, slopes and noise at odd sizes."""

import numpy as np

RANDOM = np.random.Generator(np.random.PCG64(20260101))


def picture(width: int, height: int, channels: int, full: int, dtype) -> np.ndarray:
    """A slope, a bright disc, dark bars and a band of noise; another slope in each channel."""
    y, x = np.mgrid[0:height, 0:width]
    slopes = [x / (width - 1), y / (height - 1), 1 - (x + y) / (width + height - 2)]
    disc = (x - width * 0.6) ** 2 + (y - height * 0.4) ** 2 < (height * 0.28) ** 2
    bars = (x % 7 == 0) & (y > height * 0.7)
    planes = []
    for c in range(channels):
        plane = slopes[c] * 0.8 + 0.1
        plane = np.where(disc, 1.0 - 0.3 * c, plane)
        plane = np.where(bars, 0.0, plane)
        noisy = (y > height * 0.45) & (y < height * 0.7)
        planes.append(np.where(noisy, RANDOM.random((height, width)), plane))
    image = np.stack(planes, axis=2) * full
    image = np.rint(image) if np.issubdtype(dtype, np.integer) else image
    return image.astype(dtype).squeeze()


def with_alpha(rgb: np.ndarray, full: int) -> np.ndarray:
    """Alpha in patches of 4x3 pixels: clear (with colour left in it), opaque, and between."""
    height, width = rgb.shape[:2]
    patches = RANDOM.choice([0.0, 1.0, 0.25, 0.6], size=((height + 2) // 3, (width + 3) // 4))
    alpha = np.kron(patches, np.ones((3, 4)))[:height, :width] * full
    return np.dstack([rgb, np.rint(alpha).astype(rgb.dtype)])


GRAY8 = ("gray8", picture(48, 37, 1, 255, np.uint8))
RGB8 = ("rgb8", picture(48, 37, 3, 255, np.uint8))
OTHER8 = ("other8", RANDOM.integers(0, 256, (37, 48, 3), dtype=np.uint8))
RGBA8 = ("rgba8", with_alpha(picture(23, 17, 3, 255, np.uint8), 255))
GRAY16 = ("gray16", picture(48, 37, 1, 65535, np.uint16))
RGB16 = ("rgb16", picture(23, 17, 3, 65535, np.uint16))
RGBA16 = ("rgba16", with_alpha(picture(23, 17, 3, 65535, np.uint16), 65535))
GRAYF = ("grayf", (picture(23, 17, 1, 1, np.float32) * 3 - 1).astype(np.float32))
RGBF = ("rgbf", (picture(23, 17, 3, 1, np.float32) * 3 - 1).astype(np.float32))
SMALL8 = ("small8", picture(23, 17, 1, 255, np.uint8))
TINY8 = ("tiny8", RANDOM.integers(0, 256, (2, 3), dtype=np.uint8))
ROW8 = ("row8", RANDOM.integers(0, 256, (1, 9), dtype=np.uint8))
COLUMN8 = ("column8", RANDOM.integers(0, 256, (11, 1), dtype=np.uint8))
