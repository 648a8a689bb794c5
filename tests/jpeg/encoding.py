"""Compares JPEG files that we write with libjpeg's (through OpenCV and Pillow), byte for byte.

    pip install -r tests/jpeg/requirements.txt
    cargo build --release -p mip-io --example jpegs
    python tests/jpeg/encoding.py target/release/examples/jpegs [--quick]
    python tests/jpeg/encoding.py --make crates/io/tests/jpeg_writing    that test's files

Sizes from 1x1 on, gray and colors, all samplings that we write, qualities, restart intervals; noise, gradients and
pictures of but black and white. Exit code 1 when a file differs.
"""

import argparse
import io
import itertools
import pathlib
import subprocess
import sys
import tempfile

import cv2
import numpy as np
from PIL import Image

SAMPLINGS = {
    "444": cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444,
    "422": cv2.IMWRITE_JPEG_SAMPLING_FACTOR_422,
    "440": cv2.IMWRITE_JPEG_SAMPLING_FACTOR_440,
    "420": cv2.IMWRITE_JPEG_SAMPLING_FACTOR_420,
    "411": cv2.IMWRITE_JPEG_SAMPLING_FACTOR_411,
}
PILLOW = {"444": 0, "422": 1, "420": 2}


class Encoder:
    """`jpegs --encode` as a process that answers picture by picture."""

    def __init__(self, binary):
        self.process = subprocess.Popen([binary, "--encode"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.folder = tempfile.TemporaryDirectory()

    def __call__(self, picture, quality, sampling, restart):
        path = pathlib.Path(self.folder.name) / "samples"
        path.write_bytes(picture.tobytes())
        height, width = picture.shape[:2]
        channels = 1 if picture.ndim == 2 else 3
        line = f"{path} {width} {height} {channels} {quality} {sampling} {restart}\n"
        self.process.stdin.write(line.encode())
        self.process.stdin.flush()
        return self.process.stdout.read(int(self.process.stdout.readline()))


def opencv(picture, quality, sampling, restart):
    options = [cv2.IMWRITE_JPEG_QUALITY, quality, cv2.IMWRITE_JPEG_RST_INTERVAL, restart]
    options += [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, SAMPLINGS[sampling]]
    pixels = picture if picture.ndim == 2 else np.ascontiguousarray(picture[..., ::-1])
    return cv2.imencode(".jpg", pixels, options)[1].tobytes()


def pillow(picture, quality, sampling):
    file = io.BytesIO()
    # Of gray Pillow would write the sampling too, which says nothing there.
    options = {} if picture.ndim == 2 else {"subsampling": PILLOW[sampling]}
    Image.fromarray(picture).save(file, "JPEG", quality=quality, **options)
    return file.getvalue()


def picture(kind, width, height, channels, seed):
    shape = (height, width, channels) if channels > 1 else (height, width)
    random = np.random.default_rng(seed)
    if kind == "noise":
        return random.integers(0, 256, shape, dtype=np.uint8)
    if kind == "black and white":
        return random.integers(0, 2, shape, dtype=np.uint8) * np.uint8(255)
    y, x = np.mgrid[0:height, 0:width]
    planes = [(x * (3 + c) + y * (5 - c)) % 256 for c in range(channels)]
    return np.stack(planes, axis=-1).reshape(shape).astype(np.uint8)


def cases(quick):
    sides = (1, 2, 7, 8, 9, 15, 16, 17, 33) if quick else range(1, 36)
    for width, height, sampling in itertools.product(sides, sides, SAMPLINGS):
        yield "noise", width, height, 3, 90, sampling, 0
    for width, height in itertools.product(sides, sides):
        yield "noise", width, height, 1, 75, "444", 0
    for kind, channels, quality in itertools.product(
        ("noise", "black and white", "gradient"), (1, 3), (1, 7, 100) if quick else range(1, 101)
    ):
        yield kind, 131, 77, channels, quality, "420", 0
    for channels, sampling, restart in itertools.product((1, 3), SAMPLINGS, (1, 2, 5, 9)):
        yield "gradient", 203, 61, channels, 85, sampling, restart
    for channels, quality in itertools.product((1, 3), (75, 90, 95)):
        yield "gradient", 1920, 1080, channels, quality, "420", 0


def make(folder):
    """Files of gradients by OpenCV, with all there is to know of them in their names."""
    chosen = [(1, 1, 3, 90, "444", 0), (33, 17, 3, 90, "444", 0), (33, 17, 3, 75, "420", 0), (47, 29, 3, 100, "422", 3)]
    chosen += [(19, 40, 3, 30, "440", 2), (70, 9, 3, 85, "411", 0), (33, 17, 1, 90, "444", 0), (40, 24, 1, 1, "444", 4)]
    for width, height, channels, quality, sampling, restart in chosen:
        file = opencv(picture("gradient", width, height, channels, 0), quality, sampling, restart)
        name = f"{width}x{height}x{channels}-q{quality}-{sampling}-r{restart}.jpg"
        (pathlib.Path(folder) / name).write_bytes(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", nargs="?")
    parser.add_argument("--make", metavar="FOLDER")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    if args.make:
        return make(args.make)
    ours, files, different = Encoder(args.binary), 0, 0
    for kind, width, height, channels, quality, sampling, restart in cases(args.quick):
        pixels = picture(kind, width, height, channels, files)
        file = ours(pixels, quality, sampling, restart)
        peers = {"OpenCV": opencv(pixels, quality, sampling, restart)}
        if restart == 0 and sampling in PILLOW:
            peers["Pillow"] = pillow(pixels, quality, sampling)
        for peer, expected in peers.items():
            files += 1
            if file != expected:
                different += 1
                print(f"{kind} {width}x{height}x{channels} quality {quality} {sampling} restart {restart}: not {peer}'s file")
    print(f"{files} files, {different} differ")
    sys.exit(different > 0)


if __name__ == "__main__":
    main()
