"""Writes the files of crates/io/tests/jxl: small JPEG XL files by libjxl, and the pixels that libjxl reads from them.

    apt-get install libjxl-tools
    python -m venv target/pictures-venv && target/pictures-venv/bin/pip install -r tests/pictures/requirements.txt
    target/pictures-venv/bin/python tests/pictures/make_jxl.py

`cases.txt` lists them: file, width, height, format, sample type, and how far a sample may be from that of libjxl (of floats in
millionths); the pixels lie in the file's name plus `.raw`, little endian. 0 stands for the array that was written.
"""

import pathlib
import subprocess
import tempfile

import imagecodecs
import numpy as np
import pillow_jxl  # noqa: F401, makes Pillow write JPEG XL
from PIL import Image

FOLDER = pathlib.Path(__file__).parents[2] / "crates/io/tests/jxl"
NAMES = {1: "gray", 3: "rgb", 4: "rgba"}
TYPES = {"uint8": "u8", "uint16": "u16", "float16": "f16", "float32": "f32"}
CASES = []


def noise(height, width, channels, dtype, seed=1, largest=None):
    random = np.random.default_rng(seed)
    if np.issubdtype(dtype, np.floating):
        # Of f16 some below its smallest normal number, and none.
        values = random.random((height, width, channels)).astype(dtype)
        values.ravel()[:6] = [0, 1, 6e-8, 3e-5, 1e-4, 0.5]
    else:
        largest = largest or np.iinfo(dtype).max
        values = random.integers(0, largest, (height, width, channels), dtype=dtype, endpoint=True)
    return values[..., 0] if channels == 1 else values


def smooth(height, width):
    y, x = np.mgrid[0:height, 0:width]
    return np.stack([x * 255 // width, y * 255 // height, (60 + x * 3 + y * 2) % 256], -1).astype(np.uint8)


def spread(pairs):
    """Gray and alpha as rgba."""
    return np.stack([pairs[..., 0]] * 3 + [pairs[..., 1]], -1)


def case(name, file, pixels, apart=0):
    """Writes a file, and notes what it holds."""
    (FOLDER / name).write_bytes(file)
    pixels = np.ascontiguousarray(pixels)
    height, width = pixels.shape[:2]
    channels = pixels.shape[2] if pixels.ndim == 3 else 1
    (FOLDER / f"{name}.raw").write_bytes(pixels.astype(pixels.dtype.newbyteorder("<")).tobytes())
    CASES.append(f"{name} {width} {height} {NAMES[channels]} {TYPES[pixels.dtype.name]} {apart}")


def cjxl(picture, *options, suffix="png", **how):
    """What cjxl makes of a picture, or of a file."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder) / f"a.{suffix}", pathlib.Path(folder) / "a.jxl"
        if isinstance(picture, bytes):
            source.write_bytes(picture)
        else:
            picture.save(source, **how)
        subprocess.run(["cjxl", source, target, *options], check=True, capture_output=True)
        return target.read_bytes()


def djxl(file, *options):
    """The 8-bit pixels that djxl writes, upright."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder) / "a.jxl", pathlib.Path(folder) / "a.png"
        source.write_bytes(file)
        subprocess.run(["djxl", source, target, *options], check=True, capture_output=True)
        return np.array(Image.open(target))


def lossless():
    for dtype in (np.uint8, np.uint16, np.float16, np.float32):
        for channels in (1, 2, 3, 4):
            pixels = noise(5, 9, channels, dtype)
            name = f"{TYPES[np.dtype(dtype).name]}_{channels}.jxl"
            file = imagecodecs.jpegxl_encode(pixels, lossless=True)
            case(name, file, spread(pixels) if channels == 2 else pixels)
    for bits in (1, 4, 10, 12):
        largest, dtype = (1 << bits) - 1, np.uint8 if bits <= 8 else np.uint16
        pixels = noise(6, 11, 3, dtype, bits, largest)
        file = imagecodecs.jpegxl_encode(pixels, lossless=True, bitspersample=bits)
        full = np.iinfo(dtype).max
        case(f"bits_{bits}.jxl", file, ((pixels.astype(np.uint64) * full + largest // 2) // largest).astype(dtype))
    # Several groups, and a palette.
    large = (smooth(5, 300) // 64 * 64)[..., :1].repeat(3, -1)
    case("groups.jxl", cjxl(Image.fromarray(large), "-d", "0", "-e", "7", "-g", "0"), large)
    case("boxes.jxl", imagecodecs.jpegxl_encode(noise(5, 9, 3, np.uint8), lossless=True, usecontainer=True), noise(5, 9, 3, np.uint8))


def lossy():
    rgb = smooth(13, 25)
    for name, pixels in (("lossy", rgb), ("lossy_alpha", np.dstack([rgb, rgb[..., 0]])), ("lossy_gray", rgb[..., 2])):
        file = imagecodecs.jpegxl_encode(np.ascontiguousarray(pixels), distance=1.5)
        case(f"{name}.jxl", file, imagecodecs.jpegxl_decode(file), 1)
    deep = rgb.astype(np.uint16) * 257
    file = imagecodecs.jpegxl_encode(deep, distance=1.0)
    case("lossy_16.jxl", file, imagecodecs.jpegxl_decode(file), 64)
    file = imagecodecs.jpegxl_encode((rgb / np.float32(255)).astype(np.float32), distance=1.0)
    case("lossy_float.jxl", file, imagecodecs.jpegxl_decode(file), 1000)
    file = cjxl(Image.fromarray(rgb), "-m", "1", "-d", "2")
    case("lossy_modular.jxl", file, djxl(file), 1)
    file = cjxl(Image.fromarray(rgb), "-p", "-d", "2")
    case("progressive.jxl", file, djxl(file), 1)


def turned():
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        with tempfile.TemporaryDirectory() as folder:
            jpeg = pathlib.Path(folder) / "a.jpg"
            Image.fromarray(smooth(10, 16)).save(jpeg, exif=exif, quality=90)
            # The coefficients of a JPEG file, in another packing.
            file = cjxl(jpeg.read_bytes(), "--lossless_jpeg=1", suffix="jpg")
        case(f"turned_{orientation}.jxl", file, djxl(file), 1)


def colours():
    rgb = noise(5, 9, 3, np.uint8)
    adobe = bytes(imagecodecs.cms_profile("adobergb"))
    file = cjxl(Image.fromarray(rgb), "-d", "0", icc_profile=adobe)
    case("icc.jxl", file, rgb)
    (FOLDER / "icc.icc").write_bytes(adobe)
    # Colours that sRGB has not, as XYB.
    for name, space, apart in (
        ("p3", "RGB_D65_DCI_Rel_SRG", 2),
        ("bt2020", "RGB_D65_202_Rel_709", 1),
        ("gamma", "RGB_D65_DCI_Rel_g0.4545455", 3),
    ):
        file = cjxl(Image.fromarray(smooth(13, 25)), "-d", "1", "-x", f"color_space={space}", suffix="ppm")
        # libjxl has faster approximations of powers, which show near black.
        case(f"{name}.jxl", file, imagecodecs.jpegxl_decode(file), apart)


def others():
    frames = [Image.fromarray(smooth(8, 9)[::step].repeat(step, 0)) for step in (1, 2, 4)]
    file = cjxl(frames[0], "-d", "0", save_all=True, append_images=frames[1:], duration=50)
    case("animated.jxl", file, np.array(frames[0]))
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder) / "a.jxl"
        exif = Image.Exif()
        exif[0x010F], exif[0x0112] = "camera", 6
        rgb = noise(5, 9, 3, np.uint8)
        Image.fromarray(rgb).save(target, lossless=True, exif=exif.tobytes(), xmp=b"<x:xmpmeta/>")
        case("exif.jxl", target.read_bytes(), rgb)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for file in FOLDER.iterdir():
        file.unlink()
    lossless()
    lossy()
    turned()
    colours()
    others()
    (FOLDER / "cases.txt").write_text("\n".join(CASES) + "\n")
    print(len(CASES), "cases,", sum(file.stat().st_size for file in FOLDER.iterdir()), "bytes")
