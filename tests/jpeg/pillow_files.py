"""Compares our reader with Pillow on the PNG and JPEG files of Pillow's source package.

    pip download --no-binary :all: --no-deps pillow
    python tests/jpeg/pillow_files.py pillow-*.tar.gz target/release/examples/jpegs

Each file must give Pillow's pixels, upright, or be refused. What Pillow takes and we refuse is listed with our
reason and counts as a failure; so is what we take and Pillow refuses.
"""

import io
import sys
import tarfile
import warnings

import numpy as np
from PIL import Image, ImageFile, ImageOps

from differential import Decoder

SIGNATURES = b"\xff\xd8", b"\x89PNG\r\n\x1a\n"


def pillow(file, like):
    """Pillow's pixels in the format of ours, and how far the two may differ."""
    image = ImageOps.exif_transpose(Image.open(io.BytesIO(file)))
    image.load()
    channels = like.shape[2] if like.ndim == 3 else 1
    deep = image.mode.startswith("I")
    if channels == 1:
        pixels = np.asarray(image if deep else image.convert("L")).astype(int)
        return pixels if deep or like.dtype == np.uint8 else pixels * 257
    pixels = np.asarray(image.convert("RGB" if channels == 3 else "RGBA")).astype(int)
    # Pillow keeps the upper half of 16-bit colors.
    return pixels if like.dtype == np.uint8 else np.where(like >> 8 == pixels, like, pixels << 8)


def fault(file, decode):
    got = decode(file)
    try:
        like = got if isinstance(got, np.ndarray) else np.zeros((1, 1, 3), np.uint8)
        want = pillow(file, like)
    except Exception as error:  # whatever Pillow raises is a refusal
        return None if isinstance(got, str) else f"taken, though Pillow says: {error}"
    if isinstance(got, str):
        return f"refused: {got}"
    if got.shape != want.shape:
        return f"shape {got.shape}, not {want.shape}"
    worst = int(np.abs(got.astype(int) - want).max())
    return f"off by {worst}" if worst else None


def main():
    warnings.simplefilter("ignore")
    Image.MAX_IMAGE_PIXELS = None
    ImageFile.LOAD_TRUNCATED_IMAGES = False
    archive, binary = sys.argv[1:]
    decode, total, wrong = Decoder(binary, "mip"), 0, 0
    with tarfile.open(archive) as package:
        for member in package:
            file = package.extractfile(member).read() if member.isfile() else b""
            if not file.startswith(SIGNATURES):
                continue
            total += 1
            text = fault(file, decode)
            if text:
                wrong += 1
                print(f"{member.name}: {text}")
    print(f"{total} files, {wrong} differ")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
