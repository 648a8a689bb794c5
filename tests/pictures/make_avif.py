"""Writes the files of crates/io/tests/avif: small AVIF files by libavif, and the pixels that libavif reads from them.

    apt-get install libavif-bin ffmpeg
    python -m venv target/pictures-venv && target/pictures-venv/bin/pip install -r tests/pictures/requirements.txt
    target/pictures-venv/bin/python tests/pictures/make_avif.py

`cases.txt` lists them: file, width, height, format, sample type, and how far a sample may be from that of libavif. The pixels lie in
the file's name plus `.raw`, little endian; those of 10 and 12 bits are scaled to 16, where libavif leaves them.
"""

import pathlib
import subprocess
import tempfile

import imagecodecs
import numpy as np
from PIL import Image, ImageOps

FOLDER = pathlib.Path(__file__).parents[2] / "crates/io/tests/avif"
NAMES = {1: "gray", 3: "rgb", 4: "rgba"}
TYPES = {"uint8": "u8", "uint16": "u16"}
CASES = []


def noise(height, width, channels, seed=1):
    values = np.random.default_rng(seed).integers(0, 255, (height, width, channels), dtype=np.uint8, endpoint=True)
    return values[..., 0] if channels == 1 else values


def smooth(height, width):
    y, x = np.mgrid[0:height, 0:width]
    return np.stack([x * 255 // width, y * 255 // height, (60 + x * 3 + y * 2) % 256], -1).astype(np.uint8)


def case(name, file, pixels, apart=0, bits=8):
    """Writes a file, and notes what it holds."""
    (FOLDER / name).write_bytes(file)
    largest = (1 << bits) - 1
    if bits > 8:
        pixels = ((pixels.astype(np.uint64) * 65535 + largest // 2) // largest).astype(np.uint16)
    pixels = np.ascontiguousarray(pixels)
    height, width = pixels.shape[:2]
    channels = pixels.shape[2] if pixels.ndim == 3 else 1
    (FOLDER / f"{name}.raw").write_bytes(pixels.astype(pixels.dtype.newbyteorder("<")).tobytes())
    CASES.append(f"{name} {width} {height} {NAMES[channels]} {TYPES[pixels.dtype.name]} {apart}")


def avifenc(pixels, *options):
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder) / "a.png", pathlib.Path(folder) / "a.avif"
        Image.fromarray(pixels).save(source)
        subprocess.run(["avifenc", "-s", "6", "-j", "1", *options, source, target], check=True, capture_output=True)
        return target.read_bytes()


def libavif(file):
    return imagecodecs.avif_decode(file, numthreads=1)


def upright(file):
    """As Pillow, which says by EXIF how a picture is to be turned."""
    with tempfile.NamedTemporaryFile(suffix=".avif") as place:
        pathlib.Path(place.name).write_bytes(file)
        return np.array(ImageOps.exif_transpose(Image.open(place.name)))


def lossless():
    rgb, rgba = noise(5, 9, 3), noise(5, 9, 4)
    case("lossless.avif", avifenc(rgb, "--lossless"), rgb)
    case("lossless_alpha.avif", avifenc(rgba, "--lossless"), rgba)
    for bits in (10, 12):
        file = avifenc(rgba, "--lossless", "-d", str(bits))
        case(f"lossless_{bits}.avif", file, libavif(file), bits=bits)


def planes():
    rgb = smooth(9, 10)
    for sampling in ("444", "422", "420", "400"):
        for bits in (8, 10, 12):
            for levels in ("full", "limited"):
                file = avifenc(rgb, "-y", sampling, "-d", str(bits), "-r", levels, "--min", "5", "--max", "12")
                # libavif rounds to the bits of the file, of which 1 is then 64 or 16 of 65535; in 8 bits it computes with integers.
                apart = {8: 1 if sampling in ("444", "400") else 2, 10: 33, 12: 9}[bits]
                case(f"{sampling}_{bits}_{levels}.avif", file, libavif(file), apart, bits)
    for matrix in (1, 5, 6, 9):
        file = avifenc(rgb, "-y", "444", "--cicp", f"1/13/{matrix}", "--min", "5", "--max", "12")
        case(f"matrix_{matrix}.avif", file, libavif(file), 1)
    # In 8 bits the last column of an odd number is not interpolated by libyuv, which libavif uses there; with more bits it is.
    for width, height, apart in ((1, 1, 1), (1, 5, 1), (5, 1, 14), (2, 3, 1)):
        file = avifenc(smooth(height, width), "-y", "420", "--min", "5", "--max", "12")
        case(f"{width}x{height}.avif", file, libavif(file), apart)
    file = avifenc(smooth(1, 5), "-y", "420", "-d", "12", "--min", "5", "--max", "12")
    case("5x1_12.avif", file, libavif(file), 9, 12)


def alpha():
    rgba = np.dstack([smooth(9, 10), smooth(9, 10)[..., 0]])
    file = avifenc(rgba, "-y", "420", "--min", "5", "--max", "12")
    case("alpha.avif", file, libavif(file), 2)
    file = avifenc(rgba, "-y", "444", "--min", "0", "--max", "0", "--premultiply")
    # A difference of 1 is divided by alpha, of which the smallest is 25 of 255.
    case("multiplied.avif", file, libavif(file), 10)


def turned():
    rgb = smooth(10, 16)
    for angle in range(4):
        for axis in (None, 0, 1):
            mirror = [] if axis is None else ["--imir", str(axis)]
            file = avifenc(rgb, "--lossless", *(["--irot", str(angle)] if angle else []), *mirror)
            case(f"turned_{angle}{'' if axis is None else axis}.avif", file, upright(file))


def others():
    adobe = bytes(imagecodecs.cms_profile("adobergb"))
    (FOLDER / "icc.icc").write_bytes(adobe)
    with tempfile.TemporaryDirectory() as folder:
        profile = pathlib.Path(folder) / "a.icc"
        profile.write_bytes(adobe)
        file = avifenc(noise(5, 9, 3), "--lossless", "--icc", str(profile))
    case("icc.avif", file, noise(5, 9, 3))
    file = avifenc(smooth(9, 10), "-y", "444", "--cicp", "12/13/6", "--min", "5", "--max", "12")
    case("p3.avif", file, libavif(file), 1)
    file = avifenc(smooth(9, 10), "-y", "444", "-d", "10", "--cicp", "9/16/9", "--min", "5", "--max", "12")
    case("pq.avif", file, libavif(file), 33, 10)
    file = avifenc(smooth(64, 128), "-y", "420", "--grid", "2x1", "--min", "40", "--max", "50")
    case("grid.avif", file, libavif(file), 2)
    frames = [Image.fromarray(smooth(8, 10)[::step].repeat(step, 0)) for step in (1, 2, 4)]
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder) / "a.avif"
        frames[0].save(target, save_all=True, append_images=frames[1:], duration=50, quality=90)
        case("animated.avif", target.read_bytes(), np.array(Image.open(target)), 1)
        exif = Image.Exif()
        exif[0x010F] = "camera"
        frames[0].save(target, exif=exif.tobytes(), xmp=b"<x:xmpmeta/>", quality=90, subsampling="4:4:4")
        case("exif.avif", target.read_bytes(), np.array(Image.open(target)), 1)
        # By another program, with another writer of boxes, and no range or matrix but that of the stream.
        Image.fromarray(smooth(16, 24)).save(pathlib.Path(folder) / "a.png")
        subprocess.run(
            ["ffmpeg", "-y", "-i", f"{folder}/a.png", "-c:v", "libaom-av1", "-still-picture", "1", "-pix_fmt", "yuv444p", "-crf", "10", target],
            check=True, capture_output=True,
        )
        case("ffmpeg.avif", target.read_bytes(), libavif(target.read_bytes()), 1)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for file in FOLDER.iterdir():
        file.unlink()
    lossless()
    planes()
    alpha()
    turned()
    others()
    (FOLDER / "cases.txt").write_text("\n".join(CASES) + "\n")
    print(len(CASES), "cases,", sum(file.stat().st_size for file in FOLDER.iterdir()), "bytes")
