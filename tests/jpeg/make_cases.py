"""Writes the files of crates/io/tests/jpeg: small JPEG files, and their pixels by libjpeg as PNG files.

    python tests/jpeg/make_cases.py

Files in `refused` have no pixels. `cases.txt` lists the others. `scaled` has pictures of half, a quarter and an eighth, by the libjpeg
of OpenCV.
"""

import pathlib

import numpy as np
from PIL import Image

import coder
import differential
from coder import EOI, JFIF, SOI, Picture, adobe, baseline, progressive, segment
from differential import COLOR, pillow

FOLDER = pathlib.Path(__file__).parents[2] / "crates/io/tests/jpeg"
EACH = [[0], [1], [2]]


def right():
    """Name, file and, where libjpeg does not decode the file itself, one with the same pixels."""
    small = Picture(19, 21, COLOR["420"], seed=1)
    plain = baseline(small)
    for name in COLOR:
        for width, height in ((1, 1), (2, 9), (3, 5), (4, 4), (9, 2), (33, 17)):
            yield f"{name}_{width}x{height}", baseline(Picture(width, height, COLOR[name], seed=width)), None
    yield "scans_420", baseline(small, EACH), None
    yield "scans_420_restarts", baseline(small, EACH, 2), None
    yield "luma_11_21_21", baseline(Picture(21, 13, [(1, 1), (2, 1), (2, 1)])), None
    yield "luma_12_21_22", baseline(Picture(21, 13, [(1, 2), (2, 1), (2, 2)])), None
    yield "sampling_3", baseline(Picture(40, 30, [(3, 1), (1, 1), (1, 1)])), None
    yield "sampling_34", baseline(Picture(40, 30, [(3, 4), (1, 1), (1, 2)]), EACH), None
    yield "gray_factors", baseline(Picture(21, 13, [(3, 2)])), None
    yield "no_huffman_tables", baseline(small, tables=False), plain
    yield "dnl_repeats", baseline(small, dnl=segment(0xDC, b"\0\x15")), plain
    yield "dnl_says", baseline(small, dnl=segment(0xDC, b"\0\x15"), height=0), plain
    yield "dc_only", progressive(_flat(), [((0,), (0, 0), 0, 0)]), baseline(_flat())
    script = [((0, 1, 2), (0, 0), 0, 1)] + [((c,), (1, 63), 0, 2) for c in range(3)]
    script += [((c,), (1, 63), 2, 1) for c in range(3)] + [((0, 1, 2), (0, 0), 1, 0)] + [((c,), (1, 63), 1, 0) for c in range(3)]
    yield "successive", progressive(small, script), None
    yield "successive_restarts", progressive(small, script, 2), None
    yield "no_end", baseline(small, end=b""), plain
    yield "jfif_adobe_0", baseline(small, application=JFIF + adobe(0)), None
    yield "adobe_0", baseline(small, application=adobe(0)), None
    yield "adobe_cut", baseline(small, application=segment(0xEE, b"Adobe\0\x64")), None
    yield "application_without_length", SOI + b"\xff\xe5\0\0" + plain[2:], plain
    yield "cmyk", baseline(Picture(9, 9, [(1, 1)] * 4)), None
    yield "ycck", baseline(Picture(9, 9, [(2, 2), (1, 1), (1, 1), (2, 2)]), application=adobe(2)), None


def _flat():
    picture = Picture(8, 8, [(1, 1)], seed=2)
    picture.coefficients[0][..., 1:] = 0
    return picture


def refused():
    """One file of each kind of damage, the first in the differential run."""
    seen = set()
    for family in (differential.oddities, differential.damage):
        for case in family(True):
            kind = case.family, case.name.split()[-1]
            if isinstance(case.want, str) and kind not in seen and ("420" in case.name):
                seen.add(kind)
                yield "_".join(kind).replace(" ", "_").replace("[", "").replace("]", "").replace(",", ""), case.file


def main():
    for folder in ("refused", "scaled"):
        (FOLDER / folder).mkdir(parents=True, exist_ok=True)
    names = []
    for name, file, same in right():
        (FOLDER / f"{name}.jpg").write_bytes(file)
        Image.fromarray(pillow(same or file)).save(FOLDER / f"{name}.png", optimize=True)
        names.append(name)
        if name.endswith(("33x17", "9x2")) or name.startswith(("luma", "sampling", "gray", "successive", "scans")):
            for scale in (2, 4, 8):
                Image.fromarray(np.ascontiguousarray(differential.scaled(file, scale))).save(FOLDER / "scaled" / f"{name}_{scale}.png", optimize=True)
    (FOLDER / "cases.txt").write_text("\n".join(names) + "\n")
    for name, file in refused():
        (FOLDER / "refused" / f"{name}.jpg").write_bytes(file)


if __name__ == "__main__":
    main()
