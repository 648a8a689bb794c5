"""Compares our reader with Pillow on the PNG and JPEG files of Pillow's source package.

    pip download --no-binary :all: --no-deps pillow
    python tests/jpeg/pillow_files.py pillow-*.tar.gz target/release/examples/jpegs

Each file must give Pillow's pixels, upright, or be refused by both. DIFFERENCES lists where the two differ for a
reason, and how; a file that differs otherwise, or no longer, counts as a failure.
"""

import io
import sys
import tarfile
import warnings

import numpy as np
from PIL import Image, ImageFile, ImageOps

from differential import Decoder

SIGNATURES = b"\xff\xd8", b"\x89PNG\r\n\x1a\n"


# What is right where the two differ, by the end of a file's name, with the reason.
DIFFERENCES = {
    "apng/chunk_no_fctl.png": ("taken", "the frames of the animation are damaged, the default image is not"),
    "png_decompression_dos.png": ("taken", "texts that inflate to too much are not inflated, and are no pixels"),
    "unknown_compression_method.png": ("taken", "an ICC profile that cannot be read (iCCP is ancillary) is no reason to refuse pixels"),
    "exif_imagemagick_orientation.png": ("not turned", "PNG has Exif in eXIf (PNG section 11.3.4.5), not in texts"),
    "xmp_tags_orientation.png": ("not turned", "XMP is not read: the standard has the orientation in Exif"),
    "xmp_tags_orientation_exiftool.png": ("not turned", "as above"),
    "truncated_jpeg.jpg": ("no end", "only the end marker is missing: a warning, and refused by --strict"),
    # 47 of its 63 restart intervals have blocks of more than 64 coefficients, and behind 58 of them lie 45,125
    # bytes that belong to no block: libjpeg drops these with warnings and shows noise.
    "hopper_bad_exif.jpg": ("refused", "its image data is damaged"),
}


def pillow(file, like, kind):
    """Pillow's pixels in the format of ours."""
    ImageFile.LOAD_TRUNCATED_IMAGES = kind == "no end"
    image = Image.open(io.BytesIO(file))
    image.load()
    if kind != "not turned":
        image = ImageOps.exif_transpose(image)
    channels = like.shape[2] if like.ndim == 3 else 1
    deep = image.mode.startswith("I")
    if channels == 1:
        pixels = np.asarray(image if deep else image.convert("L")).astype(int)
        return pixels if deep or like.dtype == np.uint8 else pixels * 257
    if deep:
        # Converting, Pillow clips such samples to 255.
        gray = np.asarray(image).astype(int)
        alpha = np.where(gray == image.info["transparency"], 0, 65535)
        return np.stack([gray, gray, gray, alpha], -1)
    pixels = np.asarray(image.convert("RGB" if channels == 3 else "RGBA")).astype(int)
    # Pillow keeps the upper half of 16-bit colors.
    return pixels if like.dtype == np.uint8 else np.where(like >> 8 == pixels, like, pixels << 8)


def fault(file, decode, kind=None):
    got = decode(file)
    try:
        like = got if isinstance(got, np.ndarray) else np.zeros((1, 1, 3), np.uint8)
        want = pillow(file, like, kind)
    except Exception as error:  # whatever Pillow raises is a refusal
        if kind == "taken":
            return None if isinstance(got, np.ndarray) else f"refused: {got}"
        return None if isinstance(got, str) else f"taken, though Pillow says: {error}"
    if kind == "taken":
        return "Pillow takes it too"
    if isinstance(got, str):
        return None if kind == "refused" else f"refused: {got}"
    if got.shape != want.shape:
        return f"shape {got.shape}, not {want.shape}"
    worst = int(np.abs(got.astype(int) - want).max())
    return f"off by {worst}" if worst else None


def difference(name):
    return next((value for end, value in DIFFERENCES.items() if name.endswith("/" + end)), (None, None))


def main():
    warnings.simplefilter("ignore")
    Image.MAX_IMAGE_PIXELS = None
    archive, binary = sys.argv[1:]
    decode, total, wrong, known = Decoder(binary, "mip"), 0, 0, 0
    with tarfile.open(archive) as package:
        for member in package:
            file = package.extractfile(member).read() if member.isfile() else b""
            if not file.startswith(SIGNATURES):
                continue
            total += 1
            kind, reason = difference(member.name)
            text = fault(file, decode, kind)
            if kind and not text:
                known += 1
                print(f"{member.name}: {kind}: {reason}")
                text = None if fault(file, decode) else f"is listed as {kind!r}, but does not differ"
            if text:
                wrong += 1
                print(f"{member.name}: {text}")
    print(f"{total} files, {known} differ for a reason, {wrong} for none")
    sys.exit(0 if not wrong and known == len(DIFFERENCES) else 1)


if __name__ == "__main__":
    main()
