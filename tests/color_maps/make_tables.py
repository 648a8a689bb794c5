"""Writes the colour maps of `lut`: their bytes for the operator, and the numbers that those are rounded from for its reference.

    python -m venv target/color-maps-venv && target/color-maps-venv/bin/pip install -r tests/color_maps/requirements.txt
    target/color-maps-venv/bin/python tests/color_maps/make_tables.py

The maps are matplotlib's lists of 256 colours. Viridis, magma, inferno and plasma (Nathaniel J. Smith, Stefan van der Walt, Eric
Firing) and cividis (Jamie R. Nunez, Christopher R. Anderton, Ryan S. Renslow) are under CC0; turbo (Anton Mikhailov, Google LLC) is
under Apache-2.0. Bytes are the numbers times 255, rounded; OpenCV's `applyColorMap` has the same, which is checked here.
"""

import pathlib

import cv2
import matplotlib
import numpy as np

CRATES = pathlib.Path(__file__).parents[2] / "crates"
BYTES = CRATES / "ops/src/tables/color_maps.txt"
NUMBERS = CRATES / "testkit/src/reference/color_maps.txt"
NAMES = ["turbo", "viridis", "magma", "inferno", "plasma", "cividis"]
OF_OPENCV = {name: getattr(cv2, f"COLORMAP_{name.upper()}") for name in NAMES}
ROW = 16


def main() -> None:
    ramp = np.arange(256, dtype=np.uint8).reshape(1, 256)
    with BYTES.open("w") as of_bytes, NUMBERS.open("w") as of_numbers:
        for name in NAMES:
            numbers = matplotlib.colormaps[name](np.arange(256))[:, :3]
            rounded = np.rint(numbers * 255).astype(np.uint8)
            assert (rounded == cv2.applyColorMap(ramp, OF_OPENCV[name])[0, :, ::-1]).all(), name
            words = [bytes(color).hex() for color in rounded]
            of_bytes.write(f"{name}\n")
            of_bytes.writelines(" ".join(words[i : i + ROW]) + "\n" for i in range(0, 256, ROW))
            of_numbers.write(f"{name}\n")
            of_numbers.writelines(" ".join(f"{float(v):.6g}" for v in color) + "\n" for color in numbers)
    print(f"{len(NAMES)} maps")


if __name__ == "__main__":
    main()
