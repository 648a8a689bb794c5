"""Colour spaces, as OpenCV has them."""

import cv2
import numpy as np

from golden_inputs import RGB8, RGBF

SHORT = "the library's tables of 8-bit samples have fewer digits"


def color_spaces(store, library):
    rows, floats = ("rgb8_rows", RGB8[1][10:26]), ("rgbf_rows", np.clip(RGBF[1][4:10], 0, 1))
    for name, eight_bits, floating in [("lab", 2, 0.5), ("luv", 1, 0.02)]:
        there, back = (f"COLOR_{call}" for call in (f"RGB2{name.upper()}", f"{name.upper()}2RGB"))
        image = cv2.cvtColor(rows[1], getattr(cv2, there))
        store.case(f"color_{name}", "color_convert", {"to": name}, [rows], image, library, f"cv2.cvtColor({there})", SHORT,
                   eight_bits, format=name)
        store.case(f"color_{name}_rgb", "color_convert", {"to": "rgb"}, [(f"rgb8_{name}", image, name)],
                   cv2.cvtColor(image, getattr(cv2, back)), library, f"cv2.cvtColor({back})", SHORT, 1)
        store.case(f"color_{name}_f32", "color_convert", {"to": name}, [floats], cv2.cvtColor(floats[1], getattr(cv2, there)),
                   library, f"cv2.cvtColor({there})", "the library looks values up in tables", floating, format=name)
