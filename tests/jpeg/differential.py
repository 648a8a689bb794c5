"""Compares JPEG decoders with libjpeg (through Pillow) on generated files.

    pip install -r tests/jpeg/requirements.txt
    cargo build --release -p mip-io --example jpegs
    python tests/jpeg/differential.py target/release/examples/jpegs [--decoder mip|zune|jpeg-decoder] [--quick]
    python tests/jpeg/differential.py target/release/examples/jpegs --scale 2|4|8 [--quick]

Each file must decode to libjpeg's pixels, or be refused where the family says so. Exit code 1 when one does not.
Incomplete progressive files are compared with what libjpeg makes of the same coefficients coded sequentially:
by default it guesses at the missing ones (T.81 K.8), which is not decoding. Scaled pictures are compared with those of
OpenCV, whose libjpeg scales exactly as asked.
"""

import argparse
import collections
import io
import itertools
import pathlib
import subprocess
import sys
import tempfile

import cv2
import numpy as np
from PIL import Image

import coder
from coder import EOI, JFIF, SOI, Picture, adobe, baseline, progressive, segment

Case = collections.namedtuple("Case", "family name file want")
REFUSED = "refused"


def pillow(file):
    """Pixels as libjpeg has them, or the reason why there are none."""
    try:
        image = Image.open(io.BytesIO(file))
        return np.asarray(image if image.mode == "L" else image.convert("RGB"))
    except Exception as error:  # whatever Pillow raises is a refusal
        return str(error)


def scaled(file, scale):
    """Pixels of a scaled picture as libjpeg has them; of gray and of three components."""
    flags = {2: cv2.IMREAD_REDUCED_COLOR_2, 4: cv2.IMREAD_REDUCED_COLOR_4, 8: cv2.IMREAD_REDUCED_COLOR_8}[scale]
    pixels = cv2.imdecode(np.frombuffer(file, np.uint8), flags | cv2.IMREAD_IGNORE_ORIENTATION)
    if pixels is None:
        return "OpenCV refuses it"
    gray = Image.open(io.BytesIO(file)).mode == "L"
    return pixels[..., 0] if gray else pixels[..., ::-1]


class Decoder:
    """`jpegs` as a process that answers file by file."""

    def __init__(self, binary, decoder):
        self.process = subprocess.Popen([binary, decoder], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.folder = tempfile.TemporaryDirectory()

    def __call__(self, file):
        path = pathlib.Path(self.folder.name) / "it.jpg"
        path.write_bytes(file)
        self.process.stdin.write(f"{path}\n".encode())
        self.process.stdin.flush()
        answer = self.process.stdout.readline().decode().rstrip("\n")
        kind, _, rest = answer.partition(" ")
        if kind != "ok":
            return rest or "it panicked"
        width, height, channels, size, _ = map(int, rest.split())
        data = self.process.stdout.read(width * height * channels * size)
        shape = (height, width) if channels == 1 else (height, width, channels)
        return np.frombuffer(data, np.uint8 if size == 1 else np.uint16).reshape(shape)


COLOR = {"444": [(1, 1)] * 3, "422": [(2, 1), (1, 1), (1, 1)], "420": [(2, 2), (1, 1), (1, 1)],
         "440": [(1, 2), (1, 1), (1, 1)], "411": [(4, 1), (1, 1), (1, 1)], "410": [(4, 2), (1, 1), (1, 1)]}


def sizes(quick):
    wanted = (1, 2, 3, 4, 5, 8, 9, 16, 17, 33) if quick else range(1, 34)
    for width, height, name in itertools.product(wanted, wanted, COLOR):
        picture = Picture(width, height, COLOR[name], seed=width * 40 + height)
        yield Case("sizes", f"{width}x{height} {name}", baseline(picture), None)


def factors(quick):
    every = list(itertools.product(range(1, 5), repeat=2))
    small = [f for f in every if max(f) < 3]
    combinations = set(itertools.product(small, repeat=3)) | {(y, c, c) for y in every for c in every}
    combinations |= set() if quick else {(y, (1, 1), c) for y in every for c in every}
    for chosen in sorted(combinations):
        picture = Picture(37, 29, list(chosen), seed=3)
        if sum(h * v for h, v in chosen) <= 10:
            yield Case("factors, interleaved", str(chosen), baseline(picture), None)
        yield Case("factors, one scan each", str(chosen), baseline(picture, [[0], [1], [2]]), None)
    for factor in every:
        yield Case("gray with factors", str(factor), baseline(Picture(37, 29, [factor])), None)


def scans(quick):
    scripts = {
        "dc first": [((0, 1, 2), (0, 0), 0, 0)] + [((c,), (1, 63), 0, 0) for c in range(3)],
        "spectral": [((c,), (0, 0), 0, 0) for c in range(3)]
        + [((c,), band, 0, 0) for band in ((1, 5), (6, 20), (21, 63)) for c in range(3)],
        "successive": [((0, 1, 2), (0, 0), 0, 1)] + [((c,), (1, 63), 0, 2) for c in range(3)]
        + [((c,), (1, 63), 2, 1) for c in range(3)] + [((0, 1, 2), (0, 0), 1, 0)]
        + [((c,), (1, 63), 1, 0) for c in range(3)],
        "one by one": [((0, 1, 2), (0, 0), 0, 0)] + [((c,), (k, k), 0, 0) for c in range(3) for k in range(1, 64)],
    }
    for layout, size, restart in itertools.product(COLOR, ((1, 1), (7, 40), (50, 37), (64, 64)), (0, 1, 3)):
        picture = Picture(*size, COLOR[layout], seed=5)
        for order in ([[0], [1], [2]], [[2], [0], [1]], [[0], [1, 2]], [[0, 1, 2]]):
            yield Case("scans", f"{layout} {size} {order} {restart}", baseline(picture, order, restart), None)
        for name, script in scripts.items():
            if name != "one by one" or (restart, size) == (0, (50, 37)):
                yield Case("progressive", f"{layout} {size} {name} {restart}", progressive(picture, script, restart), None)


def coarse(quick):
    """Progressive files that leave coefficients out."""
    for layout in COLOR:
        for keep in (1, 6):
            picture = Picture(50, 37, COLOR[layout], seed=6)
            for stored in picture.coefficients:
                stored[..., coder.ZIGZAG[keep:]] = 0
            script = [((0, 1, 2), (0, 0), 0, 0)] + [((c,), (1, keep - 1), 0, 0) for c in range(3) if keep > 1]
            yield Case("coarse", f"{layout} {keep}", progressive(picture, script), pillow(baseline(picture)))


def colors(quick):
    applications = {"nothing": b"", "JFIF": JFIF, "short JFIF": segment(0xE0, b"JFIF\0\1"), "cut Adobe": segment(0xEE, b"Adobe\0\x64")}
    applications |= {f"Adobe {t}": adobe(t) for t in range(3)} | {f"JFIF, Adobe {t}": JFIF + adobe(t) for t in range(3)}
    applications |= {f"Adobe {t}, JFIF": adobe(t) + JFIF for t in range(3)}
    odd = {"empty": b"", "junk": b"\0" * 5, "Exif": b"Exif\0\0MM\0*\0\0\0\x08\0\xff", "Exif cut": b"Exif\0"}
    applications |= {f"APP{n} {name}": segment(0xE0 + n, body) for n in range(16) for name, body in odd.items()}
    applications["COM"] = segment(0xFE, b"hello")
    for (name, application), ids in itertools.product(applications.items(), (None, b"RGB", [0, 1, 2], [34, 35, 36])):
        picture = Picture(19, 21, COLOR["444"], seed=8)
        # Pillow itself, not libjpeg, refuses a short JFIF segment.
        want = pillow(baseline(picture, ids=ids)) if name == "short JFIF" else None
        yield Case("colors", f"{name} {ids}", baseline(picture, application=application, ids=ids), want)
    for (name, application), layout in itertools.product(applications.items(), ([(1, 1)] * 4, [(2, 2), (1, 1), (1, 1), (2, 2)])):
        picture = Picture(19, 21, layout, seed=8)
        want = pillow(baseline(picture)) if name == "short JFIF" else None
        yield Case("four colors", f"{name} {layout}", baseline(picture, application=application), want)


def oddities(quick):
    for layout in COLOR:
        picture = Picture(50, 37, COLOR[layout], seed=9)
        right = pillow(baseline(picture))
        dnl = segment(0xDC, (37).to_bytes(2, "big"))
        yield Case("no Huffman tables", layout, baseline(picture, tables=False), right)
        yield Case("no end marker", layout, baseline(picture, end=b""), right)
        yield Case("no end marker", f"{layout} but filling", baseline(picture, end=b"\xff\xff"), right)
        yield Case("DNL", f"{layout} repeats", baseline(picture, dnl=dnl), right)
        yield Case("DNL", f"{layout} says", baseline(picture, dnl=dnl, height=0), right)
        yield Case("DNL", f"{layout} contradicts", baseline(picture, dnl=segment(0xDC, b"\0\x08")), REFUSED)
        yield Case("extended", layout, baseline(picture, sof=0xC1), right)
        for kind in (0xC3, *range(0xC5, 0xC8), *range(0xC9, 0xCC), *range(0xCD, 0xD0)):
            yield Case("other processes", f"{layout} {kind:X}", baseline(picture, sof=kind), REFUSED)
        frame = picture.frame(0xC0)
        twelve = baseline(picture).replace(frame, picture.frame(0xC1, precision=12))
        yield Case("other processes", f"{layout} 12 bits", twelve, REFUSED)
        yield Case("segments without length", layout, SOI + b"\xff\xe5\0\0" + baseline(picture)[2:], right)
        # It takes the tables with it, here and in libjpeg.
        yield Case("segment longer than the file", layout, SOI + b"\xff\xe1\xff\xf0" + baseline(picture)[2:], REFUSED)
        yield Case("cut segment at the end", layout, baseline(picture, end=b"\xff\xe1\x10\0abc"), right)


def damage(quick):
    followers = {"EOI": EOI, "COM": segment(0xFE, b"x") + EOI, "DHT": Picture(8, 8, [(1, 1)]).tables()[1] + EOI,
                 "APP1": segment(0xE1, b"Exif\0\0") + EOI, "nothing": b""}
    for layout, restart, order in itertools.product(COLOR, (0, 2), ([[0, 1, 2]], [[0], [1], [2]])):
        picture = Picture(70, 61, COLOR[layout], seed=11)
        head = SOI + picture.tables()[0] + picture.frame(0xC0) + picture.tables()[1] + coder.restart_segment(restart)
        parts = [picture.scan(list(parts), restart) for parts in order]
        for cut, (scan, (header, intervals)) in itertools.product((0.1, 0.5, 0.9), enumerate(parts)):
            data = coder.joined(header, intervals)
            short = data[:len(header) + int((len(data) - len(header)) * cut)].rstrip(b"\xff")
            before = b"".join(coder.joined(*p) for p in parts[:scan])
            behind = b"".join(coder.joined(*p) for p in parts[scan + 1:])
            for name, follower in followers.items():
                yield Case("cut scans", f"{layout} {restart} {order} {scan} {cut} {name}", head + before + short + follower, REFUSED)
            if behind:
                yield Case("cut scans", f"{layout} {restart} {order} {scan} {cut} scans", head + before + short + behind + EOI, REFUSED)
        for scan, (header, intervals) in enumerate(parts if restart else []):
            rest = [coder.joined(*p) for p in parts]
            count = len(intervals)
            for name, chosen in {"lost": [i for i in range(count) if i != 1], "repeated": sorted([*range(count), 1]),
                                 "eight lost": [i for i in range(count) if not 0 < i < 9], "last lost": range(count - 1)}.items():
                chosen = list(chosen)
                if chosen == list(range(count)) or name == "eight lost" and count < 10:
                    continue
                for kind, numbers in (("", [(i - 1) % 8 for i in chosen[1:]]), ("renumbered", None)):
                    rest[scan] = coder.joined(header, [intervals[i] for i in chosen], numbers)
                    yield Case("restarts", f"{layout} {order} {scan} {name} {kind}", head + b"".join(rest) + EOI, REFUSED)
        script = [((0, 1, 2), (0, 0), 0, 1)] + [((c,), (1, 63), 0, 0) for c in range(3)] + [((0, 1, 2), (0, 0), 1, 0)]
        for lost in range(len(script) - 1):
            yield Case("scans lost", f"{layout} {lost}", progressive(picture, [s for i, s in enumerate(script) if i != lost] + [((0,), (1, 63), 1, 0)]), REFUSED)
            yield Case("scans repeated", f"{layout} {lost}", progressive(picture, sorted(script + [script[lost]], key=script.index)), REFUSED)


def check(case, decode, tolerance, libjpeg):
    """What is wrong with the decoder's answer, or nothing; and the largest difference of a sample."""
    got = decode(case.file)
    want = libjpeg(case.file) if case.want is None else case.want
    if isinstance(want, str):
        return (None if isinstance(got, str) else f"accepted, but: {want}"), 0
    if isinstance(got, str):
        return f"refused: {got}", 0
    if got.shape != want.shape:
        return f"shape {got.shape}, not {want.shape}", 0
    worst = int(np.abs(got.astype(int) - want).max())
    return (f"off by {worst}" if worst > tolerance else None), worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--decoder", default="mip")
    parser.add_argument("--scale", type=int, choices=(2, 4, 8), help="compare pictures of half, a quarter or an eighth")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--tolerance", type=int, default=0, help="largest difference that is no failure")
    parser.add_argument("--show", type=int, default=3, help="failures printed for each family")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the files that fail")
    args = parser.parse_args()
    decode = Decoder(args.binary, f"mip/{args.scale}" if args.scale else args.decoder)
    families = (sizes, factors, scans) if args.scale else (sizes, factors, scans, coarse, colors, oddities, damage)
    libjpeg = (lambda file: scaled(file, args.scale)) if args.scale else pillow
    totals, wrong, worst = collections.Counter(), collections.Counter(), collections.Counter()
    for family in families:
        for case in family(args.quick):
            fault, off = check(case, decode, args.tolerance, libjpeg)
            totals[case.family] += 1
            worst[case.family] = max(worst[case.family], off)
            if fault:
                wrong[case.family] += 1
                if wrong[case.family] <= args.show:
                    print(f"{case.family}: {case.name}: {fault}", file=sys.stderr)
                if args.keep:
                    args.keep.mkdir(exist_ok=True)
                    (args.keep / f"{case.family} {case.name}.jpg".replace("/", "_")).write_bytes(case.file)
    for family, total in totals.items():
        print(f"{family:28} {total:6} files, {wrong[family]:5} wrong, largest difference {worst[family]}")
    sys.exit(1 if wrong.total() else 0)


if __name__ == "__main__":
    main()
