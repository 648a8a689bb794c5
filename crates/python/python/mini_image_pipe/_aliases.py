"""Names of OpenCV, torchvision and Pillow for what is here under another: the one table of them.

An operator's own names go first: where it has a parameter `fill`, that is no alias.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from ._errors import RequestError

# Functions by other names, and the parameters that such a name stands for.
FUNCTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    # OpenCV, as it writes them, and with underscores.
    "Canny": ("canny", {}),
    "GaussianBlur": ("gaussian_blur", {}),
    "Laplacian": ("laplacian", {}),
    "adaptiveThreshold": ("adaptive_threshold", {}),
    "add": ("arithmetic", {"operation": "add"}),
    "addWeighted": ("arithmetic", {"operation": "weighted"}),
    "add_weighted": ("arithmetic", {"operation": "weighted"}),
    "bilateralFilter": ("bilateral", {}),
    "bilateral_filter": ("bilateral", {}),
    "bitwise_not": ("invert", {}),
    "blur": ("box_blur", {}),
    "boxFilter": ("box_blur", {}),
    "box_filter": ("box_blur", {}),
    "copyMakeBorder": ("pad", {}),
    "copy_make_border": ("pad", {}),
    "cvtColor": ("color_convert", {}),
    "cvt_color": ("color_convert", {}),
    "distanceTransform": ("distance_transform", {}),
    "divide": ("arithmetic", {"operation": "divide"}),
    "equalizeHist": ("equalize_hist", {}),
    "filter2D": ("filter2d", {}),
    "inRange": ("in_range", {}),
    "medianBlur": ("median", {}),
    "median_blur": ("median", {}),
    "morphologyEx": ("morphology", {}),
    "morphology_ex": ("morphology", {}),
    "multiply": ("arithmetic", {"operation": "multiply"}),
    "pyrDown": ("pyramid", {"direction": "down"}),
    "pyrUp": ("pyramid", {"direction": "up"}),
    "pyr_down": ("pyramid", {"direction": "down"}),
    "pyr_up": ("pyramid", {"direction": "up"}),
    "sepFilter2D": ("sep_filter", {}),
    "subtract": ("arithmetic", {"operation": "subtract"}),
    "warpAffine": ("warp_affine", {}),
    "warpPerspective": ("warp_perspective", {}),
    # torchvision's functional transforms, and Pillow's ImageOps.
    "adjust_brightness": ("brightness_contrast", {}),
    "adjust_gamma": ("gamma", {}),
    "adjust_hue": ("hue", {}),
    "adjust_saturation": ("saturation", {}),
    "center_crop": ("crop", {"center": True}),
    "equalize": ("equalize_hist", {"method": "pillow"}),
    "hflip": ("flip", {"direction": "horizontal"}),
    "horizontal_flip": ("flip", {"direction": "horizontal"}),
    "rgb_to_grayscale": ("color_convert", {"to": "gray"}),
    "vertical_flip": ("flip", {"direction": "vertical"}),
    "vflip": ("flip", {"direction": "vertical"}),
}

# Names that would promise something else than what is here.
DIFFERENT: dict[str, str] = {
    "Sobel": "OpenCV's is one derivative; sobel is the magnitude of both, and filter2d has any kernel",
    "Scharr": "OpenCV's is one derivative; scharr is the magnitude of both, and filter2d has any kernel",
    "adjust_contrast": "torchvision keeps the mean of the image; brightness_contrast keeps `center`, half of full scale if not given",
    "adjust_sharpness": "torchvision blends with a smoothed image; sharpen takes a Gaussian away",
    "createCLAHE": "clahe does it in one call: clahe(image, clip_limit=2, tiles=8)",
    "to_tensor": "normalize and layout make tensors; mini_image_pipe.torch.Transform does it for PyTorch",
}

# Words of OpenCV, torchvision and Pillow for how pixels between pixels are read.
_FILTERS = {
    "linear": "bilinear",
    "cubic": "bicubic",
    "lanczos": "lanczos3",
    "nearest-exact": "nearest",
    "nearest_exact": "nearest",
}
# NumPy's and torchvision's `reflect` does not repeat the edge, which OpenCV calls reflect101; its `reflect` does.
_PADDINGS = {"edge": "replicate", "reflect": "reflect101", "symmetric": "reflect", "circular": "wrap"}
_BORDERS = {0: "constant", 1: "replicate", 2: "reflect", 3: "wrap", 4: "reflect101", "reflect_101": "reflect101"}
_FLIPS = {0: "vertical", 1: "horizontal", -1: "both"}


@dataclass(frozen=True)
class Parameter:
    """Parameters by other names: of every operator that has what they stand for, or of those named."""

    names: tuple[str, ...]
    stands_for: tuple[str, ...]
    type: str
    """As stubs write it; empty: that of the one parameter that it stands for."""
    read: Callable[[Any, dict[str, Any]], dict[str, Any]]
    """What is given as parameters of this operator; a `ValueError` says what is allowed."""
    only: frozenset[str] | None = None

    def fits(self, operator: dict[str, Any]) -> bool:
        """Whether this operator has what the names stand for."""
        own = {param["name"] for param in operator["params"]}
        return own.issuperset(self.stands_for) and (self.only is None or operator["name"] in self.only)


def _same(name: str) -> Callable[[Any, dict[str, Any]], dict[str, Any]]:
    return lambda value, _: {name: value}


def _word(name: str, words: dict[Any, str]) -> Callable[[Any, dict[str, Any]], dict[str, Any]]:
    def read(value: Any, _: dict[str, Any]) -> dict[str, Any]:
        # Enumerations, as torchvision's InterpolationMode, hold a word.
        value = getattr(value, "value", value)
        return {name: words.get(value, value)}

    return read


def _numbers(name: str) -> Callable[[Any, dict[str, Any]], dict[str, Any]]:
    return lambda value, _: {name: np.ravel(value).tolist()}


def _kernel(value: Any, operator: dict[str, Any]) -> dict[str, Any]:
    kind = next(param["type"] for param in operator["params"] if param["name"] == "kernel")
    sides = np.ravel(value).tolist()
    if kind == "int" and len(sides) > 1:
        if len(sides) != 2 or sides[0] != sides[1]:
            raise ValueError("one number, or two that are the same: the neighbourhood is a square")
        return {"kernel": sides[0]}
    return {"kernel": value}


def _size(value: Any, operator: dict[str, Any]) -> dict[str, Any]:
    sides = np.ravel(value).tolist()
    if len(sides) == 2:
        return {"height": sides[0], "width": sides[1]}
    if len(sides) != 1:
        raise ValueError("one number or (height, width)")
    shorter = any(param["name"] == "shorter_side" for param in operator["params"])
    return {"shorter_side": sides[0]} if shorter else {"height": sides[0], "width": sides[0]}


def _dsize(value: Any, _: dict[str, Any]) -> dict[str, Any]:
    sides = np.ravel(value).tolist()
    if len(sides) != 2:
        raise ValueError("(width, height)")
    return {"width": sides[0], "height": sides[1]}


def _padding(value: Any, _: dict[str, Any]) -> dict[str, Any]:
    sides = np.ravel(value).tolist()
    if len(sides) not in (1, 2, 4):
        raise ValueError("one number, (left and right, top and bottom) or (left, top, right, bottom)")
    return dict(zip(("left", "top", "right", "bottom"), sides * (4 // len(sides)), strict=True))


_WARPS = frozenset({"warp_affine", "warp_perspective"})
# Where the outside is filled, and not read.
_FILLED = _WARPS | {"pad", "remap", "rotate", "undistort"}

PARAMETERS: tuple[Parameter, ...] = (
    Parameter(("kernel_size", "ksize"), ("kernel",), "int | Sequence[int]", _kernel),
    Parameter(("blockSize",), ("kernel",), "", _same("kernel"), frozenset({"adaptive_threshold"})),
    Parameter(("interpolation",), ("filter",), "Any", _word("filter", _FILTERS)),
    Parameter(("padding_mode",), ("border",), "str", _word("border", _PADDINGS)),
    Parameter(("borderType", "borderMode", "border_mode"), ("border",), "int | str", _word("border", _BORDERS)),
    Parameter(("fill", "borderValue"), ("border_value",), "", _same("border_value"), _FILLED),
    Parameter(("value",), ("border_value",), "", _same("border_value"), frozenset({"pad"})),
    Parameter(("size",), ("width", "height"), "int | Sequence[int]", _size),
    Parameter(("dsize",), ("width", "height"), "Sequence[int]", _dsize),
    Parameter(("padding",), ("left", "top", "right", "bottom"), "int | Sequence[int]", _padding),
    Parameter(("sigmaX",), ("sigma",), "", _same("sigma")),
    Parameter(("d",), ("diameter",), "", _same("diameter")),
    Parameter(("sigmaColor",), ("sigma_color",), "", _same("sigma_color")),
    Parameter(("sigmaSpace",), ("sigma_space",), "", _same("sigma_space")),
    Parameter(("clipLimit",), ("clip_limit",), "", _same("clip_limit")),
    Parameter(("tileGridSize",), ("tiles",), "", _same("tiles")),
    Parameter(("thresh",), ("threshold",), "", _same("threshold"), frozenset({"threshold"})),
    Parameter(("maxval", "maxValue"), ("max_value",), "", _same("max_value")),
    Parameter(("C",), ("c",), "", _same("c")),
    Parameter(("lowerb",), ("lower",), "", _same("lower")),
    Parameter(("upperb",), ("upper",), "", _same("upper")),
    Parameter(("op",), ("operation",), "", _same("operation"), frozenset({"morphology"})),
    Parameter(("M",), ("matrix",), "Sequence[float] | Sequence[Sequence[float]]", _numbers("matrix"), _WARPS),
    Parameter(("flipCode",), ("direction",), "Literal[0, 1, -1]", _word("direction", _FLIPS), frozenset({"flip"})),
    Parameter(("brightness_factor",), ("brightness",), "", _same("brightness")),
    Parameter(("saturation_factor",), ("factor",), "", _same("factor"), frozenset({"saturation"})),
    Parameter(("hue_factor",), ("factor",), "", _same("factor"), frozenset({"hue"})),
)


def of(operator: dict[str, Any]) -> dict[str, Parameter]:
    """The other names of an operator's parameters."""
    if operator["numbers"]:
        return {}  # any name may be a number of the expression's
    own = {param["name"] for param in operator["params"]}
    fitting = (alias for alias in PARAMETERS if alias.fits(operator))
    return {name: alias for alias in fitting for name in alias.names if name not in own}


def resolved(operator: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Parameters under an operator's own names. Names that nobody knows stay: the engine says what there is."""
    own = [param["name"] for param in operator["params"]]
    if operator["numbers"] or given.keys() <= set(own):
        return given
    aliases = of(operator)
    taken: dict[str, str] = {}
    params: dict[str, Any] = {}
    for name, value in given.items():
        read = {name: value} if name in own or value is None else _read(operator, aliases, name, value)
        for parameter in read:
            if (other := taken.setdefault(parameter, name)) != name:
                text = f"'{operator['name']}' was given {other} and {name}, which both say what '{parameter}' is; give one of them"
                raise _refused(operator, name, text)
        params |= read
    return params


def _read(operator: dict[str, Any], aliases: dict[str, Parameter], name: str, value: Any) -> dict[str, Any]:
    if (alias := aliases.get(name)) is not None:
        try:
            return alias.read(value, operator)
        except ValueError as error:
            text = f"parameter '{name}' of '{operator['name']}' is {value!r}, but must be {error}"
            raise _refused(operator, name, text) from None
    own = [param["name"] for param in operator["params"]]
    near = get_close_matches(name, [*own, *aliases], 1)
    if near and near[0] in aliases:
        known = ", ".join(own)
        text = f"'{operator['name']}' has no parameter '{name}' (did you mean '{near[0]}'?); it has: {known}"
        raise _refused(operator, name, text)
    return {name: value}


def _refused(operator: dict[str, Any], parameter: str, text: str) -> RequestError:
    error = RequestError(text)
    error.operator, error.parameter = operator["name"], parameter
    return error


def unknown(name: str, operators: list[str]) -> str:
    """What to say of a function that is not there."""
    if name in DIFFERENT:
        return f"there is no operator '{name}': {DIFFERENT[name]}"
    near = get_close_matches(name, [*operators, *FUNCTIONS], 1)
    hint = f" (did you mean '{near[0]}'?)" if near else ""
    return f"there is no operator '{name}'{hint}; mini_image_pipe.ops.__all__ lists them"
