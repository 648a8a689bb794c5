"""Reads what `mip` writes with programs that are not ours, and compares the pixels with those of the array that it read.

    cargo build --release && target/pictures-venv/bin/python tests/pictures/read_back.py target/release/mip

Needs what make_cases.py needs. Every format, sample type and number of channels that is written.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import cv2
import numpy as np
import OpenEXR
import tifffile
from PIL import Image

from make_cases import noise


def by_pillow(path):
    return np.array(Image.open(path))


def by_opencv(path):
    pixels = cv2.imread(path, cv2.IMREAD_UNCHANGED)
    return pixels if pixels.ndim == 2 else pixels[..., [2, 1, 0, 3][: pixels.shape[2]]]


def by_openexr(path):
    with OpenEXR.File(path) as file:
        return next(iter(file.channels().values())).pixels


def by_header(path):
    """PAM as pam(5) tells; OpenCV takes its red for blue."""
    head, data = pathlib.Path(path).read_bytes().split(b"ENDHDR\n", 1)
    words = dict(line.split(" ", 1) for line in head.decode().splitlines()[1:])
    shape = int(words["HEIGHT"]), int(words["WIDTH"]), int(words["DEPTH"])
    pixels = np.frombuffer(data, ">u2" if words["MAXVAL"] == "65535" else "u1").reshape(shape)
    pixels = pixels.astype(pixels.dtype.newbyteorder("="))
    return pixels[..., 0] if shape[2] == 1 else pixels


# Extension, sample types, channels, readers.
WRITTEN = [
    ("png", "u1", (1, 3, 4), [by_pillow, by_opencv]),
    ("png", "u2", (1, 3, 4), [by_opencv]),
    ("pgm", "u1", (1,), [by_pillow, by_opencv]),
    ("pgm", "u2", (1,), [by_opencv]),
    ("ppm", "u1", (3,), [by_pillow, by_opencv]),
    ("ppm", "u2", (3,), [by_opencv]),
    ("pnm", "u1", (1, 3), [by_pillow, by_opencv]),
    ("pam", "u1", (1, 3, 4), [by_header]),
    ("pam", "u2", (1, 3, 4), [by_header]),
    ("bmp", "u1", (1, 3, 4), [by_pillow]),
    ("qoi", "u1", (3, 4), [by_pillow]),
    ("tga", "u1", (1, 3, 4), [by_pillow]),
    ("webp", "u1", (3, 4), [by_pillow]),
    # OpenCV multiplies 8-bit colours with alpha.
    ("tif", "u1", (1, 3), [by_opencv]),
    ("tif", "u1", (1, 3, 4), [by_pillow, tifffile.imread]),
    ("tif", "u2", (1, 3, 4), [tifffile.imread, by_opencv]),
    ("tif", "f2", (1, 3, 4), [tifffile.imread]),
    ("tif", "f4", (1, 3, 4), [tifffile.imread, by_opencv]),
    ("npy", "u1", (1, 3, 4), [np.load]),
    ("npy", "u2", (1, 3, 4), [np.load]),
    ("npy", "i2", (1, 3, 4), [np.load]),
    ("npy", "f2", (1, 3, 4), [np.load]),
    ("npy", "f4", (1, 3, 4), [np.load]),
    ("exr", "f2", (1, 3, 4), [by_openexr]),
    ("exr", "f4", (1, 3, 4), [by_openexr]),
]


def stacks(mip, folder):
    """One array of many images, and shards of it."""
    compared = 0
    for dtype in ("u1", "u2", "i2", "f2", "f4"):
        given = [noise(13, 21, 3, np.dtype(dtype).type, seed) for seed in range(5)]
        for number, pixels in enumerate(given):
            np.save(folder / f"given{number}.npy", pixels)
        for layout, axes in (("hwc", (0, 1, 2, 3)), ("chw", (0, 3, 1, 2))):
            for options, names in (([], ["all"]), (["--shard", "2"], ["all-00000", "all-00001", "all-00002"])):
                inputs = [str(folder / f"given{number}.npy") for number in range(5)]
                run = [mip, "run", "-e", f"layout to={layout}", *inputs, "-o", str(folder / "all.npy"), *options]
                subprocess.run(run, check=True, capture_output=True)
                read = np.concatenate([np.load(folder / f"{name}.npy") for name in names])
                wanted = np.stack(given).transpose(axes)
                if read.dtype != wanted.dtype or not np.array_equal(read, wanted):
                    sys.exit(f"a stack of {dtype}, {layout}, {options}: {read.dtype} {read.shape}, values differ")
                index = json.loads((folder / "all.index.json").read_text())
                if index["rows"] != inputs or sum(a["rows"] for a in index["arrays"]) != 5:
                    sys.exit(f"the index of a stack of {dtype}, {layout}, {options} is wrong: {index}")
                compared += 1
    return compared


def main(mip):
    compared = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for extension, dtype, channels, readers in WRITTEN:
            for count in channels:
                pixels = noise(13, 21, count, np.dtype(dtype).type)
                given, written = str(folder / "given.npy"), str(folder / f"{dtype}_{count}.{extension}")
                np.save(given, pixels)
                subprocess.run([mip, "run", "-e", "flip ! flip", given, "-o", written], check=True, capture_output=True)
                for reader in readers:
                    read = reader(written)
                    same = read.dtype == pixels.dtype and np.array_equal(read, pixels)
                    if not same:
                        sys.exit(f"{written} by {reader.__name__}: {read.dtype} {read.shape}, pixels differ")
                    compared += 1
        # Eight bits of the largest channel.
        pixels = np.abs(noise(13, 21, 3, np.float32))
        np.save(given, pixels)
        written = str(folder / "x.hdr")
        subprocess.run([mip, "run", "-e", "flip ! flip", given, "-o", written], check=True, capture_output=True)
        if not (np.abs(by_opencv(written) - pixels) <= pixels.max(-1, keepdims=True) / 255).all():
            sys.exit("x.hdr by OpenCV: pixels differ by more than the format's precision")
        compared += stacks(mip, folder)
    print(compared + 1, "files and readers agree")


if __name__ == "__main__":
    main(str(pathlib.Path(sys.argv[1]).resolve()))
