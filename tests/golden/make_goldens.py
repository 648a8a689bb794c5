#!/usr/bin/env python3
"""Golden images: what OpenCV, Pillow, SciPy, NumPy and FFmpeg make of our inputs, where their definition is ours.

    python3 -m venv venv && venv/bin/pip install -r requirements.txt && venv/bin/python make_goldens.py

Writes inputs/, expected/ and manifest.toml beside this file. Tests read only those; nobody needs Python to run
them. Each case states the library's call, our operator and parameters, the tolerance and why. Pictures are
compared pixel by pixel with that tolerance, never by checksum.

Expected values in f64 are exact results before rounding, to which the numeric contract is applied; the tolerance
does not count there.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import cv2
import numpy as np
import PIL
import PIL.ImageOps
import scipy
import scipy.ndimage as ndi
import skimage
import skimage.metrics
import skimage.transform
from PIL import Image

from golden_colors import color_spaces
from golden_inputs import *
from golden_store import Store

ROOT = Path(__file__).parent
STORE = Store(ROOT)
OPENCV, PILLOW = f"OpenCV {cv2.__version__}", f"Pillow {PIL.__version__}"
SKIMAGE = f"scikit-image {skimage.__version__}"
SCIPY, NUMPY = f"SciPy {scipy.__version__}", f"NumPy {np.__version__}"
FFMPEG = subprocess.run(["ffmpeg", "-version"], capture_output=True, text=True, check=True).stdout.split("-")[0].removesuffix(" ")

FIXED_POINT = "the library works with 8-bit or 11-bit fixed-point weights and rounds halves up"
EXACT = "the same definition in f64: exact to 1e-13 of the value scale"
COPIES = "pixels are only moved"
BINARY32 = "binary32 in another order of operations"

# Our border name, OpenCV's, SciPy's.
BORDERS = [
    ("reflect101", cv2.BORDER_REFLECT_101, "mirror"),
    ("reflect", cv2.BORDER_REFLECT, "reflect"),
    ("replicate", cv2.BORDER_REPLICATE, "nearest"),
    ("constant", cv2.BORDER_CONSTANT, "constant"),
    ("wrap", None, "wrap"),
]


def f64(image):
    return image.astype(np.float64)


def by_plane(f, image):
    """Applies a function of a 2-D array to every channel."""
    return f(image) if image.ndim == 2 else np.dstack([f(image[:, :, c]) for c in range(image.shape[2])])


def premultiplied(f, rgba):
    """A linear filter on straight alpha: filter colour * alpha and alpha, then divide; clear stays 0."""
    alpha = by_plane(f, f64(rgba[:, :, 3]))
    colour = by_plane(f, f64(rgba[:, :, :3]) * f64(rgba[:, :, 3:]))
    straight = np.divide(colour, alpha[:, :, None], out=np.zeros_like(colour), where=alpha[:, :, None] > 0)
    return np.dstack([straight, alpha])


def resize_nearest():
    # Sizes at which no output centre falls on a border between two pixels: there the libraries' floats decide as
    # they happen to round (48 -> 31, column 15), while our integers take the right-hand pixel.
    for name, given, (w, h) in [("down", RGB8, (32, 22)), ("up", GRAY16, (80, 50)), ("alpha", RGBA8, (40, 9))]:
        STORE.case(
            f"resize_nearest_{name}", "resize", {"width": w, "height": h, "filter": "nearest"}, [given],
            cv2.resize(given[1], (w, h), interpolation=cv2.INTER_NEAREST_EXACT),
            OPENCV, "cv2.resize(INTER_NEAREST_EXACT)", COPIES)
    STORE.case(
        "resize_nearest_pillow", "resize", {"width": 64, "height": 21, "filter": "nearest"}, [RGB8],
        np.array(Image.fromarray(RGB8[1]).resize((64, 21), Image.Resampling.NEAREST)),
        PILLOW, "Image.resize(NEAREST)", COPIES)


def zoom(w, h):
    """SciPy's linear interpolation at half-pixel centres, clamped to the edge."""
    return lambda plane: ndi.zoom(
        plane, (h / plane.shape[0], w / plane.shape[1]), order=1, grid_mode=True, mode="nearest")


def resize_bilinear():
    exact = [("down", SMALL8, (15, 9)), ("up", SMALL8, (41, 30)), ("rgb16", RGB16, (15, 31)), ("f32", RGBF, (31, 11)),
             ("tiny", TINY8, (7, 5)), ("to_one", SMALL8, (1, 1)), ("row", ROW8, (4, 3)), ("column", COLUMN8, (2, 17))]
    for name, given, (w, h) in exact:
        # `zoom` drops an axis of one pixel at the input's edge; replicate it, which clamping does anyway.
        image = f64(given[1])
        image = np.vstack([image] * 2) if image.shape[0] == 1 else image
        image = np.hstack([image] * 2) if image.shape[1] == 1 else image
        STORE.case(
            f"resize_bilinear_{name}", "resize", {"width": w, "height": h, "filter": "bilinear"}, [given],
            by_plane(zoom(w, h), image), SCIPY, "ndimage.zoom(order=1, grid_mode=True, mode='nearest')", EXACT)
    for name, given, (w, h) in [("alpha8", RGBA8, (31, 11)), ("alpha16", RGBA16, (15, 25))]:
        STORE.case(
            f"resize_bilinear_{name}", "resize", {"width": w, "height": h, "filter": "bilinear"}, [given],
            premultiplied(zoom(w, h), given[1]),
            SCIPY, "ndimage.zoom as above on colour * alpha and on alpha, divided", EXACT)
    for name, given, (w, h), tolerance, why in [
        ("opencv_8", RGB8, (32, 25), 1, FIXED_POINT), ("opencv_8_up", RGB8, (77, 41), 1, FIXED_POINT),
        ("opencv_16", GRAY16, (32, 25), 1, BINARY32 + ", with coordinates rounded to binary32"),
        ("opencv_f32", GRAYF, (31, 40), 2e-6, BINARY32 + ", with coordinates rounded to binary32"),
    ]:
        STORE.case(
            f"resize_bilinear_{name}", "resize", {"width": w, "height": h, "filter": "bilinear"}, [given],
            cv2.resize(given[1], (w, h), interpolation=cv2.INTER_LINEAR), OPENCV, "cv2.resize(INTER_LINEAR)", why,
            tolerance)


def resize_area():
    for name, given, (w, h), tolerance, why in [
        ("half", RGB8, (24, 37), 1, "OpenCV rounds halves another way"),
        ("third", RGB8, (16, 37), 1, "OpenCV rounds halves another way"),
        ("uneven", RGB8, (31, 22), 1, "binary32 sums near a tie"),
        ("uneven_16", GRAY16, (31, 22), 1, "binary32 sums near a tie"),
        ("uneven_f32", RGBF, (10, 7), 2e-6, BINARY32),
        ("to_one", RGB8, (1, 1), 1, "binary32 sums near a tie"),
    ]:
        STORE.case(
            f"resize_area_{name}", "resize", {"width": w, "height": h, "filter": "area"}, [given],
            cv2.resize(given[1], (w, h), interpolation=cv2.INTER_AREA), OPENCV, "cv2.resize(INTER_AREA)", why, tolerance)
    STORE.case(
        "resize_area_reduce", "resize", {"width": 12, "height": 37, "filter": "area"}, [RGB8],
        np.array(Image.fromarray(RGB8[1]).reduce((4, 1))), PILLOW, "Image.reduce((4, 1))",
        "Pillow rounds halves up", 1)
    image = f64(RGBA16[1])[:16, :20]
    cut = ("rgba16_cut", RGBA16[1][:16, :20])
    blocks = lambda plane: plane.reshape(4, 4, 4, 5).mean(axis=(1, 3))
    STORE.case(
        "resize_area_alpha", "resize", {"width": 4, "height": 4, "filter": "area"}, [cut],
        premultiplied(blocks, image), NUMPY, "means of blocks of 5x4 of colour * alpha and of alpha, divided", EXACT)


def resize_antialias():
    two_roundings = "Pillow rounds between the two passes as well, with 22-bit fixed-point weights"
    for name, given, (w, h) in [("gray", GRAY8, (17, 11)), ("rgb", RGB8, (31, 22)), ("mixed", RGB8, (19, 60)),
                                ("to_one", GRAY8, (1, 1)), ("up", RGB8, (60, 60))]:
        STORE.case(
            f"resize_antialias_{name}", "resize",
            {"width": w, "height": h, "filter": "bilinear", "antialias": True}, [given],
            np.array(Image.fromarray(given[1]).resize((w, h), Image.Resampling.BILINEAR)),
            PILLOW, "Image.resize(BILINEAR)", two_roundings, 1)
    STORE.case(
        "resize_antialias_f32", "resize", {"width": 9, "height": 6, "filter": "bilinear", "antialias": True}, [GRAYF],
        np.array(Image.fromarray(GRAYF[1]).resize((9, 6), Image.Resampling.BILINEAR)),
        PILLOW, "Image.resize(BILINEAR) of mode F", BINARY32, 2e-6)


def color_convert():
    to_gray = [("opencv_8", RGB8, 1, "OpenCV's 15-bit fixed-point weights near a tie"),
               ("opencv_16", RGB16, 1, "OpenCV's 14-bit fixed-point weights, which carry over to 1 near a tie"),
               ("opencv_f32", RGBF, 1e-6, BINARY32)]
    for name, given, tolerance, why in to_gray:
        STORE.case(
            f"gray_{name}", "color_convert", {"to": "gray"}, [given], cv2.cvtColor(given[1], cv2.COLOR_RGB2GRAY),
            OPENCV, "cv2.cvtColor(COLOR_RGB2GRAY)", why, tolerance)
    STORE.case(
        "gray_pillow", "color_convert", {"to": "gray"}, [RGB8], np.array(Image.fromarray(RGB8[1]).convert("L")),
        PILLOW, "Image.convert('L')", "Pillow's 16-bit fixed-point weights near a tie", 1)
    STORE.case(
        "gray_bgra", "color_convert", {"to": "gray"}, [("bgra8", RGBA8[1], "bgra")],
        cv2.cvtColor(RGBA8[1], cv2.COLOR_BGRA2GRAY), OPENCV, "cv2.cvtColor(COLOR_BGRA2GRAY)", "as gray_opencv_8", 1)
    for name, given, to, code in [
        ("rgb_to_bgr", RGB8, "bgr", "RGB2BGR"), ("rgb_to_rgba", RGB16, "rgba", "RGB2RGBA"),
        ("rgb_to_bgra", RGB8, "bgra", "RGB2BGRA"), ("rgba_to_bgr", RGBA8, "bgr", "RGBA2BGR"),
        ("rgba_to_bgra", RGBA16, "bgra", "RGBA2BGRA"), ("gray_to_rgb", GRAY8, "rgb", "GRAY2RGB"),
        ("gray_to_bgra", GRAY8, "bgra", "GRAY2BGRA"), ("f32_to_rgba", RGBF, "rgba", "RGB2RGBA"),
    ]:
        STORE.case(
            f"color_{name}", "color_convert", {"to": to}, [given],
            cv2.cvtColor(given[1], getattr(cv2, f"COLOR_{code}")), OPENCV, f"cv2.cvtColor(COLOR_{code})", COPIES, format=to)


def gaussian_blur():
    for ours, _, theirs in BORDERS:
        for name, given, kernel, sigma in [("8", SMALL8, 5, 1.1), ("f32", GRAYF, 7, 2.0), ("tiny", TINY8, 15, 3.0),
                                           ("row", ROW8, 31, 4.0), ("column", COLUMN8, 9, None)]:
            if name in ("row", "column") and ours in ("constant", "replicate"):
                continue
            params = {"kernel": kernel, "border": ours} | ({"border_value": 77.0} if ours == "constant" else {})
            params |= {} if sigma is None else {"sigma": sigma}
            width = sigma or 0.15 * kernel + 0.35
            STORE.case(
                f"gaussian_{ours}_{name}", "gaussian_blur", params, [given],
                ndi.gaussian_filter(f64(given[1]), width, radius=kernel // 2, mode=theirs, cval=77.0),
                SCIPY, f"ndimage.gaussian_filter(radius={kernel // 2}, mode='{theirs}')", EXACT)
    for ours, opencv, _ in BORDERS[:4]:
        STORE.case(
            f"gaussian_opencv_{ours}", "gaussian_blur", {"kernel": 7, "sigma": 1.5, "border": ours}, [RGB8],
            cv2.GaussianBlur(RGB8[1], (7, 7), 1.5, borderType=opencv),
            OPENCV, "cv2.GaussianBlur (7, 7)", FIXED_POINT, 1)
    STORE.case(
        "gaussian_opencv_default_sigma", "gaussian_blur", {"kernel": 11}, [GRAY16],
        cv2.GaussianBlur(GRAY16[1], (11, 11), 0), OPENCV, "cv2.GaussianBlur (11, 11), sigma 0",
        "16-bit fixed-point weights, each off by up to 2^-17 of full scale", 2)
    rgba = premultiplied(lambda p: ndi.gaussian_filter(p, 1.1, radius=2, mode="mirror"), RGBA8[1])
    STORE.case(
        "gaussian_alpha", "gaussian_blur", {"kernel": 5, "sigma": 1.1}, [RGBA8], rgba,
        SCIPY, "ndimage.gaussian_filter on colour * alpha and on alpha, divided", EXACT)


def sobel():
    across = np.array([[-1.0, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    for ours, opencv, theirs in BORDERS:
        params = {"border": ours} | ({"border_value": 77} if ours == "constant" else {})
        # Not ndimage.sobel, whose second pass takes the constant for a derivative.
        edges = [ndi.correlate(f64(SMALL8[1]), kernel, mode=theirs, cval=77.0) for kernel in (across, across.T)]
        STORE.case(
            f"sobel_{ours}", "sobel", params, [SMALL8], np.hypot(*edges),
            SCIPY, f"hypot of ndimage.correlate(mode='{theirs}') with the 3x3 kernels", EXACT)
        if opencv is not None:
            gx, gy = (cv2.Sobel(TINY8[1], cv2.CV_64F, *d, ksize=3, borderType=opencv) for d in [(1, 0), (0, 1)])
            STORE.case(
                f"sobel_opencv_{ours}", "sobel", {"border": ours}, [TINY8], np.hypot(gx, gy),
                OPENCV, "hypot of cv2.Sobel(CV_64F)", EXACT)
    gx, gy = (cv2.Sobel(GRAYF[1], cv2.CV_64F, *d, ksize=3) for d in [(1, 0), (0, 1)])
    STORE.case("sobel_f32", "sobel", {}, [GRAYF], np.hypot(gx, gy), OPENCV, "hypot of cv2.Sobel(CV_64F)", EXACT)
    gx, gy = (cv2.Sobel(GRAY16[1], cv2.CV_64F, *d, ksize=3) for d in [(1, 0), (0, 1)])
    STORE.case(
        "sobel_16", "sobel", {}, [GRAY16], np.minimum(np.rint(np.hypot(gx, gy)), 65535).astype(np.uint16),
        OPENCV, "hypot of cv2.Sobel(CV_64F), rounded", "f64, then one rounding; ours is binary32, so 1 near a tie", 1)
    gray = np.rint(f64(RGB8[1]) @ [299, 587, 114] / 1000)
    gx, gy = (cv2.Sobel(gray, cv2.CV_64F, *d, ksize=3) for d in [(1, 0), (0, 1)])
    STORE.case(
        "sobel_rgb", "sobel", {}, [RGB8], np.minimum(np.rint(np.hypot(gx, gy)), 255).astype(np.uint8),
        OPENCV, "hypot of cv2.Sobel(CV_64F) of the gray image rounded by NumPy", "no magnitude lies on a tie")


def moves():
    for name, code, params in [("horizontal", 1, {"direction": "horizontal"}), ("vertical", 0, {"direction": "vertical"}),
                               ("both", -1, {"direction": "both"})]:
        STORE.case(f"flip_{name}", "flip", params, [RGB8], cv2.flip(RGB8[1], code), OPENCV, f"cv2.flip({code})", COPIES)
    STORE.case(
        "crop", "crop", {"x": 5, "y": 7, "width": 31, "height": 19}, [RGB8],
        np.array(Image.fromarray(RGB8[1]).crop((5, 7, 36, 26))), PILLOW, "Image.crop((5, 7, 36, 26))", COPIES)
    for name, given in [("8", RGB8), ("f32", RGBF)]:
        STORE.case(
            f"layout_chw_{name}", "layout", {"to": "chw"}, [given], given[1].transpose(2, 0, 1),
            NUMPY, "transpose(2, 0, 1)", COPIES, layout="chw")


def arithmetic():
    for name, given, level, high in [("8", RGB8, 127.0, 255.0), ("16", GRAY16, 30000.0, 60000.0), ("f32", GRAYF, 0.5, 2.0)]:
        params = {"threshold": level, "max_value": high}
        STORE.case(
            f"threshold_{name}", "threshold", params, [given],
            cv2.threshold(given[1], level, high, cv2.THRESH_BINARY)[1], OPENCV, "cv2.threshold(THRESH_BINARY)",
            "strictly greater in both")
    STORE.case(
        "blend_half", "blend", {"alpha": 0.5}, [RGB8, OTHER8], cv2.addWeighted(RGB8[1], 0.5, OTHER8[1], 0.5, 0),
        OPENCV, "cv2.addWeighted(0.5, 0.5)", "halves are ties, which OpenCV may round another way", 1)
    STORE.case(
        "blend_uneven", "blend", {"alpha": 0.3}, [RGB8, OTHER8], f64(RGB8[1]) * 0.3 + f64(OTHER8[1]) * 0.7,
        NUMPY, "a * 0.3 + b * 0.7", EXACT)
    mean, std = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
    STORE.case(
        "normalize_imagenet", "normalize", {"mean": mean, "std": std}, [RGB8], (f64(RGB8[1]) / 255 - mean) / std,
        NUMPY, "(v / 255 - mean) / std", EXACT)
    STORE.case(
        "cast_16_to_8", "cast", {"to": "u8"}, [RGB16], f64(RGB16[1]) / 257, NUMPY, "v / 257", EXACT)
    STORE.case(
        "cast_8_to_16", "cast", {"to": "u16"}, [RGB8], RGB8[1].astype(np.uint16) * 257, NUMPY, "v * 257", "integers")
    STORE.case("cast_8_to_f32", "cast", {"to": "f32"}, [RGBA8], f64(RGBA8[1]) / 255, NUMPY, "v / 255", EXACT)


def each_channel(f, image):
    return f(image) if image.ndim == 2 else np.dstack([f(np.ascontiguousarray(image[:, :, c])) for c in range(image.shape[2])])


def counted():
    same = "the same arithmetic"
    for name, given in [("gray", GRAY8), ("rgb", RGB8), ("tiny", TINY8)]:
        STORE.case(
            f"equalize_opencv_{name}", "equalize_hist", {}, [given], each_channel(cv2.equalizeHist, given[1]),
            OPENCV, "cv2.equalizeHist of each channel", same)
        STORE.case(
            f"equalize_pillow_{name}", "equalize_hist", {"method": "pillow"}, [given],
            np.array(PIL.ImageOps.equalize(Image.fromarray(given[1]))), PILLOW, "ImageOps.equalize", same)
    for name, given, cutoff in [("gray", GRAY8, 0), ("rgb", RGB8, 0), ("cut", RGB8, 3)]:
        STORE.case(
            f"autocontrast_{name}", "autocontrast", {"cutoff": cutoff}, [given],
            np.array(PIL.ImageOps.autocontrast(Image.fromarray(given[1]), cutoff)), PILLOW,
            f"ImageOps.autocontrast({cutoff})", "Pillow cuts fractions off", 1)
    ramp = ("ramp8", np.repeat(np.uint8(np.linspace(30, 220, 64) ** 2 / 250)[None], 9, axis=0))
    for method, flag in [("otsu", cv2.THRESH_OTSU), ("triangle", cv2.THRESH_TRIANGLE)]:
        for given in (GRAY8, SMALL8, ramp):
            STORE.case(
                f"{method}_{given[0]}", "auto_threshold", {"method": method}, [given],
                cv2.threshold(given[1], 0, 255, cv2.THRESH_BINARY | flag)[1], OPENCV,
                f"cv2.threshold(THRESH_{method.upper()})", same)
        for mode, theirs in [("binary_inv", cv2.THRESH_BINARY_INV), ("trunc", cv2.THRESH_TRUNC),
                             ("tozero", cv2.THRESH_TOZERO), ("tozero_inv", cv2.THRESH_TOZERO_INV)]:
            STORE.case(
                f"{method}_{mode}", "auto_threshold", {"method": method, "mode": mode}, [GRAY8],
                cv2.threshold(GRAY8[1], 0, 255, theirs | flag)[1], OPENCV,
                f"cv2.threshold(THRESH_{mode.upper()} | THRESH_{method.upper()})", same)
    for name, given, clip, tiles in [
        ("gray", GRAY8, 40.0, (8, 8)), ("clipped", GRAY8, 2.0, (4, 3)), ("divides", GRAY8, 3.0, (6, 37)),
        ("rgb", RGB8, 2.5, (5, 7)), ("tiny", TINY8, 2.0, (8, 8)), ("no_limit", SMALL8, 0.0, (2, 2)), ("one", SMALL8, 4.0, (1, 1)),
        ("row", ROW8, 2.0, (4, 3)), ("column", COLUMN8, 1.5, (2, 3)),
    ]:
        clahe = cv2.createCLAHE(clip, tiles)
        STORE.case(
            f"clahe_{name}", "clahe", {"clip_limit": clip, "tiles": list(map(float, tiles))}, [given],
            each_channel(clahe.apply, given[1]), OPENCV, f"cv2.createCLAHE({clip}, {tiles}).apply of each channel", same)
    for name, given in [("gray", GRAY8), ("rgb", RGB8)]:
        channels = [given[1]] if given[1].ndim == 2 else cv2.split(given[1])
        STORE.case(
            f"histogram_{name}", "histogram", {}, [given],
            np.vstack([cv2.calcHist([c], [0], None, [256], [0, 256]).T for c in channels]).astype(np.float32),
            OPENCV, "cv2.calcHist of each channel", "whole numbers")
        STORE.case(
            f"stats_{name}", "stats", {}, [given],
            np.array([[c.mean(), c.std(), c.min(), c.max(), c.sum()] for c in channels], dtype=np.float64), NUMPY,
            "mean, std, min, max, sum", EXACT)


def whole_images():
    same = "the same definition, in whole numbers"
    soft = ("soft8", cv2.GaussianBlur(cv2.resize(GRAY8[1], (97, 71)), (0, 0), 1.2))
    for given in (GRAY8, SMALL8, soft, ROW8, COLUMN8):
        for low, high, l2 in [(40, 120, False), (20, 60, True), (90, 30, False), (0, 0, False), (10.7, 25.3, True)]:
            STORE.case(
                f"canny_{given[0]}_{int(low)}_{int(high)}_{'l2' if l2 else 'l1'}", "canny",
                {"low": low, "high": high, "l2_gradient": l2}, [given],
                cv2.Canny(given[1], low, high, L2gradient=l2), OPENCV, f"cv2.Canny({low}, {high}, L2gradient={l2})", same)
    random = np.random.default_rng(7)
    noise = ("mask_noise", np.uint8(random.random((30, 41)) < 0.55) * np.uint8(255))
    blobs = ("mask_blobs", np.uint8(ndi.gaussian_filter(random.random((33, 50)), 1.5) > 0.51))
    stripes = ("mask_spiral", np.uint8((np.hypot(*np.indices((40, 40)) - 19.5)
                                         + np.arctan2(*(np.indices((40, 40)) - 19.5)) / np.pi * 3) % 6 < 3))
    for given in (noise, blobs, stripes):
        for connectivity in (4, 8):
            count, labels, stats, _ = cv2.connectedComponentsWithStatsWithAlgorithm(
                given[1], connectivity, cv2.CV_32S, cv2.CCL_WU)
            STORE.case(
                f"label_{given[0]}_{connectivity}", "label", {"connectivity": str(connectivity)}, [given],
                np.float32(labels), OPENCV, f"cv2.connectedComponentsWithAlgorithm({connectivity}, CCL_WU)", same)
            rows = np.zeros((40, 5), np.float32)
            rows[: min(count - 1, 40)] = stats[1:41]
            STORE.case(
                f"regions_{given[0]}_{connectivity}", "regions", {"max": 40},
                [(f"labels_{given[0]}_{connectivity}", np.float32(labels))], rows, OPENCV,
                "cv2.connectedComponentsWithStats, without the background", same)
        labels, _ = ndi.label(given[1])
        areas = np.bincount(labels.ravel())
        kept = [number for number in range(1, len(areas)) if areas[number] >= 6]
        renumbered = np.zeros(len(areas), np.float32)
        renumbered[kept] = np.arange(1, len(kept) + 1)
        STORE.case(
            f"label_{given[0]}_large", "label", {"connectivity": "4", "min_area": 6}, [given], renumbered[labels], SCIPY,
            "ndimage.label, regions of fewer than 6 pixels left out", same)
        for metric, theirs in [("l1", cv2.DIST_L1), ("linf", cv2.DIST_C)]:
            STORE.case(
                f"distance_{given[0]}_{metric}", "distance_transform", {"metric": metric}, [given],
                cv2.distanceTransform(given[1], theirs, 3), OPENCV, f"cv2.distanceTransform({metric})", same)
        STORE.case(
            f"distance_{given[0]}_l2", "distance_transform", {}, [given],
            ndi.distance_transform_edt(given[1]), SCIPY, "ndimage.distance_transform_edt", EXACT)


def cube_text(steps, *rows):
    return f"LUT_3D_SIZE {steps}\n" + "".join(f"{r:g} {g:g} {b:g}\n" for r, g, b in rows)


def through_ffmpeg(image, text, interpolation):
    """FFmpeg's lut3d of an rgb or rgba picture."""
    kind, (h, w) = {3: "rgb24", 4: "rgba"}[image.shape[2]], image.shape[:2]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "table.cube").write_text(text)
        raw = ["-f", "rawvideo", "-pix_fmt", kind, "-s", f"{w}x{h}"]
        command = ["ffmpeg", "-v", "error", *raw, "-i", "-", "-vf", f"lut3d=table.cube:interp={interpolation}", *raw, "-"]
        made = subprocess.run(command, input=image.tobytes(), capture_output=True, check=True, cwd=folder).stdout
    return np.frombuffer(made, np.uint8).reshape(image.shape)


def looked_up():
    curve = np.uint8(np.arange(256) ** 2 // 255)
    of_each = np.dstack([curve, 255 - curve, np.arange(256, dtype=np.uint8)[::-1] // 2]).reshape(1, 256, 3)
    for name, given, format in [("gray", GRAY8, "gray"), ("rgb", RGB8, "rgb")]:
        STORE.case(
            f"lut_{name}", "lut", {"table": curve.tolist()}, [given], cv2.LUT(given[1], curve), OPENCV, "cv2.LUT",
            "bytes of a table", format=format)
    table = of_each[0].T.ravel().tolist()
    for name, given, format in [("rgb", RGB8, "rgb"), ("bgr", (*RGB8, "bgr"), "bgr")]:
        STORE.case(
            f"lut_each_{name}", "lut", {"table": table}, [given], cv2.LUT(given[1], of_each), OPENCV,
            "cv2.LUT of a table for each channel", "bytes of a table", format=format)
    floats = (np.arange(256) / 7 - 3).astype(np.float32)
    STORE.case(
        "lut_f32", "lut", {"table": floats.tolist(), "to": "f32"}, [GRAY8], cv2.LUT(GRAY8[1], floats), OPENCV, "cv2.LUT",
        "numbers of a table")
    for name in ["turbo", "viridis", "magma", "inferno", "plasma", "cividis"]:
        colors = cv2.applyColorMap(GRAY8[1], getattr(cv2, f"COLORMAP_{name.upper()}"))
        STORE.case(
            f"lut_{name}", "lut", {"map": name}, [GRAY8], colors[:, :, ::-1], OPENCV, f"cv2.applyColorMap({name})",
            "bytes of a table")
    rows = [[((i * a + i * i) % 97) / 96 for a in (5, 11, 23)] for i in range(27)]
    for method in ["tetrahedral", "trilinear"]:
        for given in (RGB8, RGBA8):
            text = cube_text(3, *rows)
            STORE.case(
                f"lut_{method}_{given[0]}", "lut", {"file": text, "method": method}, [given],
                through_ffmpeg(given[1], text, method), FFMPEG, f"lut3d=interp={method}", "FFmpeg cuts fractions off", 1)


def large_windows():
    for name, given, kernel, sigma in [("gray", SMALL8, 33, 5.0), ("f32", GRAYF, 61, 12.0), ("row", ROW8, 63, 12.0)]:
        for ours, _, theirs in BORDERS[:3] if name == "row" else BORDERS[:1]:
            STORE.case(
                f"gaussian_large_{ours}_{name}", "gaussian_blur", {"kernel": kernel, "sigma": sigma, "border": ours}, [given],
                ndi.gaussian_filter(f64(given[1]), sigma, radius=kernel // 2, mode=theirs),
                SCIPY, f"ndimage.gaussian_filter(radius={kernel // 2}, mode='{theirs}')", EXACT)
    for width, height in [(35, 5)]:
        STORE.case(
            f"box_large_{width}_{height}", "box_blur", {"kernel": [float(width), float(height)], "border": "reflect"}, [SMALL8],
            ndi.uniform_filter(f64(SMALL8[1]), (height, width), mode="reflect"),
            SCIPY, f"ndimage.uniform_filter(({height}, {width}))", EXACT)
    for name, given, kernel in [("gray", SMALL8, 15), ("rgb", RGB8, 7), ("tiny", TINY8, 31)]:
        STORE.case(
            f"median_large_{name}", "median", {"kernel": kernel}, [given], cv2.medianBlur(given[1], kernel), OPENCV,
            f"cv2.medianBlur(ksize={kernel})", "values that are there")
    across, down = [1, 0, -2, 0.5, 3], [0.25, 0.5, 0.25]
    for name, given, delta in [("gray", SMALL8, 0.0), ("tiny", TINY8, 2.5)]:
        line = lambda p, weights, axis: ndi.correlate1d(p, np.float32(weights).astype(float), axis=axis, mode="mirror")
        STORE.case(
            f"sep_filter_{name}", "sep_filter", {"weights_x": across, "weights_y": down, "delta": delta}, [given],
            by_plane(lambda p: line(line(p, across, 1), down, 0) + delta, f64(given[1])),
            SCIPY, "ndimage.correlate1d along both axes", EXACT)
    STORE.case(
        "sep_filter_opencv", "sep_filter", {"weights_x": [-1, 0, 1], "weights_y": [1, 2, 1], "delta": 100, "border": "replicate"},
        [SMALL8], cv2.sepFilter2D(SMALL8[1], -1, np.float32([-1, 0, 1]), np.float32([1, 2, 1]), delta=100,
                                  borderType=cv2.BORDER_REPLICATE), OPENCV, "cv2.sepFilter2D", "whole numbers")


def two_images():
    number = lambda v: np.array([[v]], dtype=np.float64)
    soft = ("small8_soft", cv2.GaussianBlur(SMALL8[1], (5, 5), 0))
    turned = ("rgb8_turned", np.ascontiguousarray(RGB8[1][::-1]))
    for given, other in [(SMALL8, soft), (RGB8, turned)]:
        a, b = f64(given[1]), f64(other[1])
        axis = {"channel_axis": 2} if a.ndim == 3 else {}
        ssim = skimage.metrics.structural_similarity(
            a, b, gaussian_weights=True, sigma=1.5, use_sample_covariance=False, data_range=255, **axis)
        for metric, library, call, value in [
            ("psnr", OPENCV, "cv2.PSNR", cv2.PSNR(given[1], other[1])),
            ("ssim", SKIMAGE, "metrics.structural_similarity(gaussian_weights=True, use_sample_covariance=False)", ssim),
            ("mse", NUMPY, "((a - b) ** 2).mean()", ((a - b) ** 2).mean()),
            ("mae", NUMPY, "abs(a - b).mean()", abs(a - b).mean()),
            ("max_diff", NUMPY, "abs(a - b).max()", abs(a - b).max()),
        ]:
            STORE.case(f"compare_{metric}_{given[0]}", "compare", {"metric": metric}, [given, other], number(value), library,
                       call, BINARY32)


def cut_boxes():
    rows = np.float32([[2, 3, 17, 11, 1], [0, 0, 4, 4, 0.5], [5.4, 6.6, 9.2, 3.9, 0], [-3, 8, 9, 40, 0], [0, 0, 0, 0, 0]])
    boxes = ("boxes", rows)
    for name, given in [("gray", SMALL8), ("rgb", RGB8)]:
        h, w = given[1].shape[:2]
        nearest = lambda part: np.array(Image.fromarray(part).resize((16, 8), Image.Resampling.NEAREST))
        bilinear = lambda part: cv2.resize(part, (16, 8), interpolation=cv2.INTER_LINEAR)
        for filter, resize, library, call, why, by in [
            ("nearest", nearest, PILLOW, "crop and resize(NEAREST)", COPIES, 0),
            ("bilinear", bilinear, OPENCV, "cv2.resize of parts", FIXED_POINT, 1),
        ]:
            cells = []
            for x, y, bw, bh, _ in rows:
                edge = lambda v, side: int(np.clip(np.floor(np.float32(v) + np.float32(0.5)), 0, side))
                part = given[1][edge(y, h):edge(y + bh, h), edge(x, w):edge(x + bw, w)]
                empty = np.zeros((8, 16, *given[1].shape[2:]), np.uint8)
                cells.append(resize(np.ascontiguousarray(part)) if part.size else empty)
            STORE.case(
                f"crop_resize_{filter}_{name}", "crop_resize", {"width": 16, "height": 8, "filter": filter}, [given, boxes],
                np.vstack(cells), library, call, why, by)


def sums_before():
    whole = "whole numbers"
    part = ("rgb8_part", np.ascontiguousarray(RGB8[1][10:19, 20:33]))
    for given in (SMALL8, part, ROW8):
        sums, squares = cv2.integral2(given[1], sdepth=cv2.CV_32S, sqdepth=cv2.CV_64F)
        STORE.case(f"integral_{given[0]}", "integral", {}, [given], sums, OPENCV, "cv2.integral", whole)
        modulo = squares.astype(np.int64).astype(np.uint32).view(np.int32)
        STORE.case(
            f"integral_squared_{given[0]}", "integral", {"squared": True}, [given], modulo, OPENCV,
            "cv2.integral2, its squares modulo 2^32", whole)
    inner = skimage.transform.integral_image(TINY8[1].astype(np.int64)).astype(np.int32)
    STORE.case(
        "integral_tiny8", "integral", {}, [TINY8], np.pad(inner, ((1, 0), (1, 0))), SKIMAGE,
        "transform.integral_image, with a row and a column of 0 in front", whole)


def main():
    for folder in ("inputs", "expected"):
        shutil.rmtree(ROOT / folder, ignore_errors=True)
    for family in (resize_nearest, resize_bilinear, resize_area, resize_antialias, color_convert, gaussian_blur, sobel,
                   moves, arithmetic, counted, whole_images, looked_up, large_windows, two_images, cut_boxes, sums_before):
        family()
    color_spaces(STORE, OPENCV)
    STORE.write_manifest(f"Written by make_goldens.py with {OPENCV}, {PILLOW}, {SCIPY}, {SKIMAGE}, {NUMPY}, {FFMPEG}; see there.")
    size = sum(f.stat().st_size for f in ROOT.rglob("*") if f.suffix in (".png", ".npy"))
    print(f"{len(STORE.cases)} cases, {size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
