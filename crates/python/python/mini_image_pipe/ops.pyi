# Written by `python -m mini_image_pipe.stubs`; a test says when it is not current.
from collections.abc import Sequence
from typing import Any, Literal, overload

from ._native import Image, ImageLike, Pipeline

@overload
def absdiff(a: Image, b: Image, /, *, device: str = "auto") -> Image:
    """Distance of two images: |a - b|.

    Takes 2 images: a, b, and gives its result; without images, a pipeline of this operator, to be chained with `|`."""

@overload
def absdiff(a: ImageLike, b: ImageLike, /, *, device: str = "auto") -> Any: ...
@overload
def absdiff(*, device: str = "auto") -> Pipeline: ...

@overload
def adaptive_threshold(image: Image, /, *, kernel: int = 11, c: float = 2.0, method: Literal["mean", "gaussian"] = "mean", mode: Literal["binary", "binary_inv"] = "binary", max_value: float | None = None, kernel_size: int | Sequence[int] = ..., ksize: int | Sequence[int] = ..., blockSize: int = ..., maxval: float | None = ..., maxValue: float | None = ..., C: float = ..., device: str = "auto") -> Image:
    """Compares each pixel with the mean around it: writing on uneven paper.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        kernel: Side of the square in pixels (an odd whole number from 3 to 31; default 11)
        c: Subtracted from the mean, in sample units (a number from -1000000 to 1000000; default 2; changes without a new plan)
        method: Which mean (one of mean, gaussian; default mean)
        mode: What becomes of samples above, and of the others (one of binary, binary_inv; default binary)
        max_value: In sample units; 255 if not given (a number from -1e30 to 1e30; changes without a new plan)

    Other names: kernel_size, ksize, blockSize for kernel; maxval, maxValue for max_value; C for c."""

@overload
def adaptive_threshold(image: ImageLike, /, *, kernel: int = 11, c: float = 2.0, method: Literal["mean", "gaussian"] = "mean", mode: Literal["binary", "binary_inv"] = "binary", max_value: float | None = None, kernel_size: int | Sequence[int] = ..., ksize: int | Sequence[int] = ..., blockSize: int = ..., maxval: float | None = ..., maxValue: float | None = ..., C: float = ..., device: str = "auto") -> Any: ...
@overload
def adaptive_threshold(*, kernel: int = 11, c: float = 2.0, method: Literal["mean", "gaussian"] = "mean", mode: Literal["binary", "binary_inv"] = "binary", max_value: float | None = None, kernel_size: int | Sequence[int] = ..., ksize: int | Sequence[int] = ..., blockSize: int = ..., maxval: float | None = ..., maxValue: float | None = ..., C: float = ..., device: str = "auto") -> Pipeline: ...

@overload
def arithmetic(a: Image, b: Image, /, *, operation: Literal["add", "subtract", "multiply", "divide", "min", "max", "weighted"] = "add", scale: float | None = None, alpha: float | None = None, beta: float | None = None, gamma: float | None = None, device: str = "auto") -> Image:
    """Computes with two images: sum, difference, product, ....

    Takes 2 images: a, b, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        operation: What is computed (one of add, subtract, multiply, divide, min, max, weighted; default add)
        scale: Factor of a product or quotient; 1 if not given (a number from -1000000 to 1000000; changes without a new plan)
        alpha: Weight of a in a weighted sum; 1 if not given (a number from -1000000 to 1000000; changes without a new plan)
        beta: Weight of b in a weighted sum; 1 if not given (a number from -1000000 to 1000000; changes without a new plan)
        gamma: Added to a weighted sum, in sample units; 0 if not given (a number from -1e30 to 1e30; changes without a new plan)"""

@overload
def arithmetic(a: ImageLike, b: ImageLike, /, *, operation: Literal["add", "subtract", "multiply", "divide", "min", "max", "weighted"] = "add", scale: float | None = None, alpha: float | None = None, beta: float | None = None, gamma: float | None = None, device: str = "auto") -> Any: ...
@overload
def arithmetic(*, operation: Literal["add", "subtract", "multiply", "divide", "min", "max", "weighted"] = "add", scale: float | None = None, alpha: float | None = None, beta: float | None = None, gamma: float | None = None, device: str = "auto") -> Pipeline: ...

@overload
def auto_threshold(image: Image, /, *, method: Literal["otsu", "triangle"] = "otsu", mode: Literal["binary", "binary_inv", "trunc", "tozero", "tozero_inv"] = "binary", max_value: float | None = None, maxval: float | None = ..., maxValue: float | None = ..., device: str = "auto") -> Image:
    """One value above a threshold that follows from the image, 0 elsewhere.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        method: How the threshold is found (one of otsu, triangle; default otsu)
        mode: What becomes of samples above the threshold, and of the others (one of binary, binary_inv, trunc, tozero, tozero_inv; default binary)
        max_value: In sample units; 255 if not given (a number from -1e30 to 1e30; changes without a new plan)

    Other names: maxval, maxValue for max_value."""

@overload
def auto_threshold(image: ImageLike, /, *, method: Literal["otsu", "triangle"] = "otsu", mode: Literal["binary", "binary_inv", "trunc", "tozero", "tozero_inv"] = "binary", max_value: float | None = None, maxval: float | None = ..., maxValue: float | None = ..., device: str = "auto") -> Any: ...
@overload
def auto_threshold(*, method: Literal["otsu", "triangle"] = "otsu", mode: Literal["binary", "binary_inv", "trunc", "tozero", "tozero_inv"] = "binary", max_value: float | None = None, maxval: float | None = ..., maxValue: float | None = ..., device: str = "auto") -> Pipeline: ...

@overload
def autocontrast(image: Image, /, *, cutoff: float = 0.0, device: str = "auto") -> Image:
    """Stretches each channel so that its darkest value becomes 0 and its brightest full scale.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        cutoff: Percent of the samples at each end that may be lost (a number from 0 to 50; default 0; changes without a new plan)"""

@overload
def autocontrast(image: ImageLike, /, *, cutoff: float = 0.0, device: str = "auto") -> Any: ...
@overload
def autocontrast(*, cutoff: float = 0.0, device: str = "auto") -> Pipeline: ...

@overload
def bilateral(image: Image, /, *, diameter: int = 5, sigma_color: float = ..., sigma_space: float = ..., border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "reflect101", border_value: float | None = None, padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., d: int = ..., sigmaColor: float = ..., sigmaSpace: float = ..., device: str = "auto") -> Image:
    """Smooths and keeps edges: the mean of pixels that are near and alike.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        diameter: Of the round neighbourhood in pixels; 0: that of the radius round(1.5 * sigma_space) (a whole number from 0 to 9; default 5)
        sigma_color: Standard deviation of the distance of colours, in sample units (a number from 0.001 to 1000000; must be given; changes without a new plan)
        sigma_space: Standard deviation of the distance in pixels (a number from 0.001 to 1000000; must be given)
        border: What is read outside the image (one of reflect101, reflect, replicate, wrap, constant; default reflect101)
        border_value: Value outside the image in sample units, 0 if not given; only with border = constant (a number from -1e30 to 1e30)

    Other names: padding_mode, borderType, borderMode, border_mode for border; d for diameter; sigmaColor for sigma_color; sigmaSpace for sigma_space."""

@overload
def bilateral(image: ImageLike, /, *, diameter: int = 5, sigma_color: float = ..., sigma_space: float = ..., border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "reflect101", border_value: float | None = None, padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., d: int = ..., sigmaColor: float = ..., sigmaSpace: float = ..., device: str = "auto") -> Any: ...
@overload
def bilateral(*, diameter: int = 5, sigma_color: float = ..., sigma_space: float = ..., border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "reflect101", border_value: float | None = None, padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., d: int = ..., sigmaColor: float = ..., sigmaSpace: float = ..., device: str = "auto") -> Pipeline: ...

@overload
def blend(a: Image, b: Image, /, *, alpha: float = 0.5, device: str = "auto") -> Image:
    """Weighted mean of two images.

    Takes 2 images: a, b, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        alpha: Weight of a; b weighs 1 - alpha (a number from 0 to 1; default 0.5; changes without a new plan)"""

@overload
def blend(a: ImageLike, b: ImageLike, /, *, alpha: float = 0.5, device: str = "auto") -> Any: ...
@overload
def blend(*, alpha: float = 0.5, device: str = "auto") -> Pipeline: ...

@overload
def box_blur(image: Image, /, *, kernel: float | Sequence[float] = 3, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "reflect101", border_value: float | None = None, kernel_size: int | Sequence[int] = ..., ksize: int | Sequence[int] = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Image:
    """Smooths with the mean of a rectangle.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        kernel: Side of the square in pixels, or width and height: odd whole numbers (a list of 1 or 2 numbers from -255 to 255; default 3)
        border: What is read outside the image (one of reflect101, reflect, replicate, wrap, constant; default reflect101)
        border_value: Value outside the image in sample units, 0 if not given; only with border = constant (a number from -1e30 to 1e30)

    Other names: kernel_size, ksize for kernel; padding_mode, borderType, borderMode, border_mode for border."""

@overload
def box_blur(image: ImageLike, /, *, kernel: float | Sequence[float] = 3, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "reflect101", border_value: float | None = None, kernel_size: int | Sequence[int] = ..., ksize: int | Sequence[int] = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Any: ...
@overload
def box_blur(*, kernel: float | Sequence[float] = 3, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "reflect101", border_value: float | None = None, kernel_size: int | Sequence[int] = ..., ksize: int | Sequence[int] = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Pipeline: ...

@overload
def brightness_contrast(image: Image, /, *, brightness: float = 1.0, contrast: float = 1.0, shift: float = 0.0, center: float | None = None, brightness_factor: float = ..., device: str = "auto") -> Image:
    """Brighter or darker, more or less contrast.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        brightness: Factor of everything (a number from -10 to 10; default 1; changes without a new plan)
        contrast: Factor of the distance from the center (a number from -10 to 10; default 1; changes without a new plan)
        shift: Added at the end, in sample units (a number from -1e30 to 1e30; default 0; changes without a new plan)
        center: What contrast leaves as it is, in sample units; half of full scale (127.5, 32767.5, 0.5) if not given (a number from -1e30 to 1e30; changes without a new plan)

    Other names: brightness_factor for brightness."""

@overload
def brightness_contrast(image: ImageLike, /, *, brightness: float = 1.0, contrast: float = 1.0, shift: float = 0.0, center: float | None = None, brightness_factor: float = ..., device: str = "auto") -> Any: ...
@overload
def brightness_contrast(*, brightness: float = 1.0, contrast: float = 1.0, shift: float = 0.0, center: float | None = None, brightness_factor: float = ..., device: str = "auto") -> Pipeline: ...

@overload
def canny(image: Image, /, *, low: float, high: float, l2_gradient: bool = False, device: str = "auto") -> Image:
    """Edges one pixel wide: 255 on them, 0 elsewhere.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        low: Strength above which an edge goes on (a number from 0 to 1000000; must be given; changes without a new plan)
        high: Strength above which an edge begins (a number from 0 to 1000000; must be given; changes without a new plan)
        l2_gradient: Whether the strength is sqrt(dx^2 + dy^2) instead of |dx| + |dy| (true or false; default false)"""

@overload
def canny(image: ImageLike, /, *, low: float, high: float, l2_gradient: bool = False, device: str = "auto") -> Any: ...
@overload
def canny(*, low: float, high: float, l2_gradient: bool = False, device: str = "auto") -> Pipeline: ...

@overload
def cast(image: Image, /, *, to: Literal["u8", "u16", "i16", "i32", "f16", "f32"], scale: bool = True, device: str = "auto") -> Image:
    """Changes the dtype.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        to: Dtype of the result (one of u8, u16, i16, i32, f16, f32; must be given)
        scale: Map full scale to full scale (255, 65535, 32767, 2147483647, 1.0); false keeps the number (true or false; default true; changes without a new plan)"""

@overload
def cast(image: ImageLike, /, *, to: Literal["u8", "u16", "i16", "i32", "f16", "f32"], scale: bool = True, device: str = "auto") -> Any: ...
@overload
def cast(*, to: Literal["u8", "u16", "i16", "i32", "f16", "f32"], scale: bool = True, device: str = "auto") -> Pipeline: ...

@overload
def clahe(image: Image, /, *, clip_limit: float = 40.0, tiles: float | Sequence[float] = 8, clipLimit: float = ..., tileGridSize: float | Sequence[float] = ..., device: str = "auto") -> Image:
    """Equalises contrast tile by tile, with a limit to it (CLAHE).

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        clip_limit: Most samples of a value, as a multiple of what all values would have alike; 0 for no limit (a number from 0 to 1000000; default 40; changes without a new plan)
        tiles: Tiles along each axis, or across and down: whole numbers from 1 to 64 (a list of 1 or 2 numbers from -64 to 64; default 8)

    Other names: clipLimit for clip_limit; tileGridSize for tiles."""

@overload
def clahe(image: ImageLike, /, *, clip_limit: float = 40.0, tiles: float | Sequence[float] = 8, clipLimit: float = ..., tileGridSize: float | Sequence[float] = ..., device: str = "auto") -> Any: ...
@overload
def clahe(*, clip_limit: float = 40.0, tiles: float | Sequence[float] = 8, clipLimit: float = ..., tileGridSize: float | Sequence[float] = ..., device: str = "auto") -> Pipeline: ...

@overload
def color_convert(image: Image, /, *, to: Literal["gray", "rgb", "bgr", "rgba", "bgra", "hsv", "hls", "ycbcr", "lab", "luv", "xyz", "linear"], device: str = "auto") -> Image:
    """Changes the channels: gray, rgb, bgr, rgba, bgra, or a colour space.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        to: Format of the result (one of gray, rgb, bgr, rgba, bgra, hsv, hls, ycbcr, lab, luv, xyz, linear; must be given)"""

@overload
def color_convert(image: ImageLike, /, *, to: Literal["gray", "rgb", "bgr", "rgba", "bgra", "hsv", "hls", "ycbcr", "lab", "luv", "xyz", "linear"], device: str = "auto") -> Any: ...
@overload
def color_convert(*, to: Literal["gray", "rgb", "bgr", "rgba", "bgra", "hsv", "hls", "ycbcr", "lab", "luv", "xyz", "linear"], device: str = "auto") -> Pipeline: ...

@overload
def color_matrix(image: Image, /, *, matrix: Sequence[float], device: str = "auto") -> Image:
    """Mixes red, green and blue by a matrix.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        matrix: Row by row: 3 x 3 for red, green, blue; 3 x 4 with an offset in sample units behind each row; 4 x 5 with alpha (a list of 9, 12 or 20 numbers from -1000000 to 1000000; must be given)"""

@overload
def color_matrix(image: ImageLike, /, *, matrix: Sequence[float], device: str = "auto") -> Any: ...
@overload
def color_matrix(*, matrix: Sequence[float], device: str = "auto") -> Pipeline: ...

@overload
def compare(a: Image, b: Image, /, *, metric: Literal["psnr", "ssim", "mse", "mae", "max_diff"] = "psnr", device: str = "auto") -> Image:
    """How far two images are apart, as one number: PSNR, SSIM, mean or largest difference.

    Takes 2 images: a, b, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        metric: psnr in decibels, ssim up to 1, mse, mae, max_diff (one of psnr, ssim, mse, mae, max_diff; default psnr)"""

@overload
def compare(a: ImageLike, b: ImageLike, /, *, metric: Literal["psnr", "ssim", "mse", "mae", "max_diff"] = "psnr", device: str = "auto") -> Any: ...
@overload
def compare(*, metric: Literal["psnr", "ssim", "mse", "mae", "max_diff"] = "psnr", device: str = "auto") -> Pipeline: ...

@overload
def composite(foreground: Image, background: Image, /, *, premultiplied: bool = False, device: str = "auto") -> Image:
    """Lays an image with alpha over another one.

    Takes 2 images: foreground, background, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        premultiplied: Whether colours are multiplied by alpha already, in both images and in the result (true or false; default false)"""

@overload
def composite(foreground: ImageLike, background: ImageLike, /, *, premultiplied: bool = False, device: str = "auto") -> Any: ...
@overload
def composite(*, premultiplied: bool = False, device: str = "auto") -> Pipeline: ...

@overload
def crop(image: Image, /, *, width: int = ..., height: int = ..., x: int | None = None, y: int | None = None, center: bool = False, size: int | Sequence[int] = ..., dsize: Sequence[int] = ..., device: str = "auto") -> Image:
    """Cuts out a rectangle.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        width: Width in pixels (a whole number from 1 to 2147483647; must be given)
        height: Height in pixels (a whole number from 1 to 2147483647; must be given)
        x: First column, 0 if not given; not with center (a whole number from 0 to 2147483646)
        y: First row, 0 if not given; not with center (a whole number from 0 to 2147483646)
        center: Cut out of the middle (true or false; default false)

    Other names: size, dsize for width, height."""

@overload
def crop(image: ImageLike, /, *, width: int = ..., height: int = ..., x: int | None = None, y: int | None = None, center: bool = False, size: int | Sequence[int] = ..., dsize: Sequence[int] = ..., device: str = "auto") -> Any: ...
@overload
def crop(*, width: int = ..., height: int = ..., x: int | None = None, y: int | None = None, center: bool = False, size: int | Sequence[int] = ..., dsize: Sequence[int] = ..., device: str = "auto") -> Pipeline: ...

@overload
def crop_resize(image: Image, boxes: Image, /, *, width: int = ..., height: int = ..., filter: Literal["nearest", "bilinear"] = "bilinear", max: int | None = None, interpolation: Any = ..., size: int | Sequence[int] = ..., dsize: Sequence[int] = ..., device: str = "auto") -> Image:
    """Cuts boxes out of the image and resizes each to one size: regions for a classifier.

    Takes 2 images: image, boxes, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        width: Width of each region in the result (a whole number from 1 to 65536; must be given)
        height: Height of each region in the result (a whole number from 1 to 65536; must be given)
        filter: How pixels between pixels are made (one of nearest, bilinear; default bilinear)
        max: Regions in the result: of the first boxes; as many as there are rows of boxes if not given (a whole number from 1 to 4096)

    Other names: interpolation for filter; size, dsize for width, height."""

@overload
def crop_resize(image: ImageLike, boxes: ImageLike, /, *, width: int = ..., height: int = ..., filter: Literal["nearest", "bilinear"] = "bilinear", max: int | None = None, interpolation: Any = ..., size: int | Sequence[int] = ..., dsize: Sequence[int] = ..., device: str = "auto") -> Any: ...
@overload
def crop_resize(*, width: int = ..., height: int = ..., filter: Literal["nearest", "bilinear"] = "bilinear", max: int | None = None, interpolation: Any = ..., size: int | Sequence[int] = ..., dsize: Sequence[int] = ..., device: str = "auto") -> Pipeline: ...

@overload
def demosaic(image: Image, /, *, pattern: Literal["rggb", "bggr", "grbg", "gbrg"] = "rggb", method: Literal["bilinear", "malvar"] = "bilinear", device: str = "auto") -> Image:
    """Colours of a camera's raw image.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        pattern: Colours of the first two pixels of the first two rows (one of rggb, bggr, grbg, gbrg; default rggb)
        method: How missing colours are made (one of bilinear, malvar; default bilinear)"""

@overload
def demosaic(image: ImageLike, /, *, pattern: Literal["rggb", "bggr", "grbg", "gbrg"] = "rggb", method: Literal["bilinear", "malvar"] = "bilinear", device: str = "auto") -> Any: ...
@overload
def demosaic(*, pattern: Literal["rggb", "bggr", "grbg", "gbrg"] = "rggb", method: Literal["bilinear", "malvar"] = "bilinear", device: str = "auto") -> Pipeline: ...

@overload
def dilate(image: Image, /, *, kernel: int = 3, shape: Literal["rect", "cross"] = "rect", border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "replicate", border_value: float | None = None, kernel_size: int | Sequence[int] = ..., ksize: int | Sequence[int] = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Image:
    """The highest sample around each pixel: bright parts grow.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        kernel: Side of the square in pixels; the pixel itself is at kernel / 2, rounded down (a whole number from 1 to 31; default 3)
        shape: Which pixels of the square count (one of rect, cross; default rect)
        border: What is read outside the image (one of reflect101, reflect, replicate, wrap, constant; default replicate)
        border_value: Value outside the image in sample units, 0 if not given; only with border = constant (a number from -1e30 to 1e30)

    Other names: kernel_size, ksize for kernel; padding_mode, borderType, borderMode, border_mode for border."""

@overload
def dilate(image: ImageLike, /, *, kernel: int = 3, shape: Literal["rect", "cross"] = "rect", border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "replicate", border_value: float | None = None, kernel_size: int | Sequence[int] = ..., ksize: int | Sequence[int] = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Any: ...
@overload
def dilate(*, kernel: int = 3, shape: Literal["rect", "cross"] = "rect", border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "replicate", border_value: float | None = None, kernel_size: int | Sequence[int] = ..., ksize: int | Sequence[int] = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Pipeline: ...

@overload
def distance_transform(image: Image, /, *, metric: Literal["l2", "l1", "linf"] = "l2", device: str = "auto") -> Image:
    """The distance of each pixel to the nearest one that is 0.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        metric: What a distance is (one of l2, l1, linf; default l2)"""

@overload
def distance_transform(image: ImageLike, /, *, metric: Literal["l2", "l1", "linf"] = "l2", device: str = "auto") -> Any: ...
@overload
def distance_transform(*, metric: Literal["l2", "l1", "linf"] = "l2", device: str = "auto") -> Pipeline: ...

@overload
def draw(image: Image, boxes: Image, /, *, color: float | Sequence[float] | None = None, thickness: int = 2, labels: str | None = None, scale: int = 1, text_color: float | Sequence[float] | None = None, device: str = "auto") -> Image:
    """Draws the outlines of boxes, and texts at them.

    Takes 2 images: image, boxes, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        color: One number, or one a channel in the image's own order, in sample units; full scale if not given (a number from -1e30 to 1e30, or a list of them, one a channel; changes without a new plan)
        thickness: Pixels from the box's edge inwards (a whole number from 1 to 65536; default 2; changes without a new plan)
        labels: Texts above the boxes' upper left corners, with | between them: box i gets the text i, and from the first again (texts with | between them, as a text in quotes)
        scale: Size of the texts' characters, in 6 by 10 pixels (a whole number from 1 to 64; default 1; changes without a new plan)
        text_color: Colour of the characters, as `color`, which is behind them; 0 (alpha: full scale) if not given (a number from -1e30 to 1e30, or a list of them, one a channel; changes without a new plan)"""

@overload
def draw(image: ImageLike, boxes: ImageLike, /, *, color: float | Sequence[float] | None = None, thickness: int = 2, labels: str | None = None, scale: int = 1, text_color: float | Sequence[float] | None = None, device: str = "auto") -> Any: ...
@overload
def draw(*, color: float | Sequence[float] | None = None, thickness: int = 2, labels: str | None = None, scale: int = 1, text_color: float | Sequence[float] | None = None, device: str = "auto") -> Pipeline: ...

@overload
def equalize_hist(image: Image, /, *, method: Literal["opencv", "pillow"] = "opencv", device: str = "auto") -> Image:
    """Spreads the values of each channel so that all occur about equally often.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        method: Whose arithmetic (one of opencv, pillow; default opencv)"""

@overload
def equalize_hist(image: ImageLike, /, *, method: Literal["opencv", "pillow"] = "opencv", device: str = "auto") -> Any: ...
@overload
def equalize_hist(*, method: Literal["opencv", "pillow"] = "opencv", device: str = "auto") -> Pipeline: ...

@overload
def erode(image: Image, /, *, kernel: int = 3, shape: Literal["rect", "cross"] = "rect", border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "replicate", border_value: float | None = None, kernel_size: int | Sequence[int] = ..., ksize: int | Sequence[int] = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Image:
    """The lowest sample around each pixel: bright parts shrink.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        kernel: Side of the square in pixels; the pixel itself is at kernel / 2, rounded down (a whole number from 1 to 31; default 3)
        shape: Which pixels of the square count (one of rect, cross; default rect)
        border: What is read outside the image (one of reflect101, reflect, replicate, wrap, constant; default replicate)
        border_value: Value outside the image in sample units, 0 if not given; only with border = constant (a number from -1e30 to 1e30)

    Other names: kernel_size, ksize for kernel; padding_mode, borderType, borderMode, border_mode for border."""

@overload
def erode(image: ImageLike, /, *, kernel: int = 3, shape: Literal["rect", "cross"] = "rect", border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "replicate", border_value: float | None = None, kernel_size: int | Sequence[int] = ..., ksize: int | Sequence[int] = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Any: ...
@overload
def erode(*, kernel: int = 3, shape: Literal["rect", "cross"] = "rect", border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "replicate", border_value: float | None = None, kernel_size: int | Sequence[int] = ..., ksize: int | Sequence[int] = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Pipeline: ...

@overload
def filter2d(image: Image, /, *, weights: float | Sequence[float], delta: float = 0.0, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "reflect101", border_value: float | None = None, padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Image:
    """Weighted sum of the pixels around each one, with weights of your own.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        weights: Row by row: 3 x 3, 5 x 5 or 7 x 7 numbers, the pixel itself in the middle (a list of 1, 9, 25 or 49 numbers from -1000000 to 1000000; must be given)
        delta: Added, in sample units (a number from -1e30 to 1e30; default 0; changes without a new plan)
        border: What is read outside the image (one of reflect101, reflect, replicate, wrap, constant; default reflect101)
        border_value: Value outside the image in sample units, 0 if not given; only with border = constant (a number from -1e30 to 1e30)

    Other names: padding_mode, borderType, borderMode, border_mode for border."""

@overload
def filter2d(image: ImageLike, /, *, weights: float | Sequence[float], delta: float = 0.0, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "reflect101", border_value: float | None = None, padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Any: ...
@overload
def filter2d(*, weights: float | Sequence[float], delta: float = 0.0, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "reflect101", border_value: float | None = None, padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Pipeline: ...

@overload
def flatten(image: Image, /, *, background: float | Sequence[float] = 0.0, device: str = "auto") -> Image:
    """Puts an image with alpha on a background of one colour.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        background: One number, or one a colour channel, in sample units (a number from -1e30 to 1e30, or a list of them, one a channel; default 0; changes without a new plan)"""

@overload
def flatten(image: ImageLike, /, *, background: float | Sequence[float] = 0.0, device: str = "auto") -> Any: ...
@overload
def flatten(*, background: float | Sequence[float] = 0.0, device: str = "auto") -> Pipeline: ...

@overload
def flip(image: Image, /, *, direction: Literal["horizontal", "vertical", "both"] = "horizontal", flipCode: Literal[0, 1, -1] = ..., device: str = "auto") -> Image:
    """Mirrors the image.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        direction: horizontal swaps left and right (one of horizontal, vertical, both; default horizontal)

    Other names: flipCode for direction."""

@overload
def flip(image: ImageLike, /, *, direction: Literal["horizontal", "vertical", "both"] = "horizontal", flipCode: Literal[0, 1, -1] = ..., device: str = "auto") -> Any: ...
@overload
def flip(*, direction: Literal["horizontal", "vertical", "both"] = "horizontal", flipCode: Literal[0, 1, -1] = ..., device: str = "auto") -> Pipeline: ...

@overload
def gamma(image: Image, /, *, gamma: float, gain: float = 1.0, device: str = "auto") -> Image:
    """Brightens or darkens by a power of the samples.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        gamma: Exponent: below 1 brightens dark parts, above 1 darkens them (a number from 0.01 to 10; must be given; changes without a new plan)
        gain: Factor of the result (a number from 0 to 100; default 1; changes without a new plan)"""

@overload
def gamma(image: ImageLike, /, *, gamma: float, gain: float = 1.0, device: str = "auto") -> Any: ...
@overload
def gamma(*, gamma: float, gain: float = 1.0, device: str = "auto") -> Pipeline: ...

@overload
def gaussian_blur(image: Image, /, *, kernel: int = 5, sigma: float | None = None, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "reflect101", border_value: float | None = None, kernel_size: int | Sequence[int] = ..., ksize: int | Sequence[int] = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., sigmaX: float | None = ..., device: str = "auto") -> Image:
    """Smooths with a Gaussian.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        kernel: Side of the neighbourhood in pixels (an odd whole number from 1 to 255; default 5)
        sigma: Standard deviation in pixels; 0.15 * kernel + 0.35 if not given (a number greater than 0 and at most 1000000; changes without a new plan)
        border: What is read outside the image (one of reflect101, reflect, replicate, wrap, constant; default reflect101)
        border_value: Value outside the image in sample units, 0 if not given; only with border = constant (a number from -1e30 to 1e30)

    Other names: kernel_size, ksize for kernel; padding_mode, borderType, borderMode, border_mode for border; sigmaX for sigma."""

@overload
def gaussian_blur(image: ImageLike, /, *, kernel: int = 5, sigma: float | None = None, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "reflect101", border_value: float | None = None, kernel_size: int | Sequence[int] = ..., ksize: int | Sequence[int] = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., sigmaX: float | None = ..., device: str = "auto") -> Any: ...
@overload
def gaussian_blur(*, kernel: int = 5, sigma: float | None = None, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "reflect101", border_value: float | None = None, kernel_size: int | Sequence[int] = ..., ksize: int | Sequence[int] = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., sigmaX: float | None = ..., device: str = "auto") -> Pipeline: ...

@overload
def histogram(image: Image, /, *, device: str = "auto") -> Image:
    """How often each value occurs: a row of 256 counts for each colour channel.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`."""

@overload
def histogram(image: ImageLike, /, *, device: str = "auto") -> Any: ...
@overload
def histogram(*, device: str = "auto") -> Pipeline: ...

@overload
def hue(image: Image, /, *, factor: float = ..., hue_factor: float = ..., device: str = "auto") -> Image:
    """Turns the colours around the wheel.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        factor: Turns: 1/3 makes red green, -1/3 makes it blue (a number from -0.5 to 0.5; must be given; changes without a new plan)

    Other names: hue_factor for factor."""

@overload
def hue(image: ImageLike, /, *, factor: float = ..., hue_factor: float = ..., device: str = "auto") -> Any: ...
@overload
def hue(*, factor: float = ..., hue_factor: float = ..., device: str = "auto") -> Pipeline: ...

@overload
def in_range(image: Image, /, *, lower: float | Sequence[float] = ..., upper: float | Sequence[float] = ..., lowerb: float | Sequence[float] = ..., upperb: float | Sequence[float] = ..., device: str = "auto") -> Image:
    """Mask of the pixels whose colours lie between two bounds.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        lower: Lowest sample inside: one number, or one a colour channel (a number from -1e30 to 1e30, or a list of them, one a channel; must be given; changes without a new plan)
        upper: Highest sample inside: one number, or one a colour channel (a number from -1e30 to 1e30, or a list of them, one a channel; must be given; changes without a new plan)

    Other names: lowerb for lower; upperb for upper."""

@overload
def in_range(image: ImageLike, /, *, lower: float | Sequence[float] = ..., upper: float | Sequence[float] = ..., lowerb: float | Sequence[float] = ..., upperb: float | Sequence[float] = ..., device: str = "auto") -> Any: ...
@overload
def in_range(*, lower: float | Sequence[float] = ..., upper: float | Sequence[float] = ..., lowerb: float | Sequence[float] = ..., upperb: float | Sequence[float] = ..., device: str = "auto") -> Pipeline: ...

@overload
def integral(image: Image, /, *, squared: bool = False, device: str = "auto") -> Image:
    """Sums of all samples above and to the left: the sum of any box is four of them.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        squared: Of the samples' squares, modulo 2^32: boxes of up to 33025 pixels are exact (true or false; default false)"""

@overload
def integral(image: ImageLike, /, *, squared: bool = False, device: str = "auto") -> Any: ...
@overload
def integral(*, squared: bool = False, device: str = "auto") -> Pipeline: ...

@overload
def invert(image: Image, /, *, device: str = "auto") -> Image:
    """The negative: full scale minus the sample.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`."""

@overload
def invert(image: ImageLike, /, *, device: str = "auto") -> Any: ...
@overload
def invert(*, device: str = "auto") -> Pipeline: ...

@overload
def label(image: Image, /, *, connectivity: Literal["4", "8"] = "8", min_area: int = 1, device: str = "auto") -> Image:
    """Numbers the connected regions of a mask: 1, 2, ... in reading order.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        connectivity: Neighbours that belong together (one of 4, 8; default 8)
        min_area: Pixels that a region has at least; smaller ones are left out (a whole number from 1 to 16777216; default 1)"""

@overload
def label(image: ImageLike, /, *, connectivity: Literal["4", "8"] = "8", min_area: int = 1, device: str = "auto") -> Any: ...
@overload
def label(*, connectivity: Literal["4", "8"] = "8", min_area: int = 1, device: str = "auto") -> Pipeline: ...

@overload
def laplacian(image: Image, /, *, kernel: int = 1, scale: float = 1.0, delta: float = 0.0, to: Literal["u8", "u16", "i16", "f16", "f32"] | None = None, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "reflect101", border_value: float | None = None, kernel_size: int | Sequence[int] = ..., ksize: int | Sequence[int] = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Image:
    """Second derivative: edges and specks in all directions.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        kernel: Side of the neighbourhood in pixels (an odd whole number from 1 to 5; default 1)
        scale: Factor of the result (a number from -1000000 to 1000000; default 1; changes without a new plan)
        delta: Added at the end, in sample units (a number from -1e30 to 1e30; default 0; changes without a new plan)
        to: Dtype of the result; the input's if not given (one of u8, u16, i16, f16, f32)
        border: What is read outside the image (one of reflect101, reflect, replicate, wrap, constant; default reflect101)
        border_value: Value outside the image in sample units, 0 if not given; only with border = constant (a number from -1e30 to 1e30)

    Other names: kernel_size, ksize for kernel; padding_mode, borderType, borderMode, border_mode for border."""

@overload
def laplacian(image: ImageLike, /, *, kernel: int = 1, scale: float = 1.0, delta: float = 0.0, to: Literal["u8", "u16", "i16", "f16", "f32"] | None = None, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "reflect101", border_value: float | None = None, kernel_size: int | Sequence[int] = ..., ksize: int | Sequence[int] = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Any: ...
@overload
def laplacian(*, kernel: int = 1, scale: float = 1.0, delta: float = 0.0, to: Literal["u8", "u16", "i16", "f16", "f32"] | None = None, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "reflect101", border_value: float | None = None, kernel_size: int | Sequence[int] = ..., ksize: int | Sequence[int] = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Pipeline: ...

@overload
def layout(image: Image, /, *, to: Literal["hwc", "chw"], device: str = "auto") -> Image:
    """Changes the layout: interleaved (hwc) or planar (chw).

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        to: Layout of the result (one of hwc, chw; must be given)"""

@overload
def layout(image: ImageLike, /, *, to: Literal["hwc", "chw"], device: str = "auto") -> Any: ...
@overload
def layout(*, to: Literal["hwc", "chw"], device: str = "auto") -> Pipeline: ...

@overload
def letterbox(image: Image, /, *, width: int = ..., height: int = ..., fill: float | Sequence[float] | None = None, align: Literal["center", "top_left"] = "center", scale_up: bool = True, stride: int | None = None, filter: Literal["bilinear", "nearest", "area", "bicubic", "lanczos3", "box", "hamming"] = "bilinear", antialias: bool = False, interpolation: Any = ..., size: int | Sequence[int] = ..., dsize: Sequence[int] = ..., device: str = "auto") -> Image:
    """Resizes to fit into a size, the ratio kept, and fills the rest.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        width: Width of the result in pixels (a whole number from 1 to 2097152; must be given)
        height: Height of the result in pixels (a whole number from 1 to 2097152; must be given)
        fill: Beside the image, in sample units: one number, or one a channel; 114 / 255 of full scale if not given (a number from -1e30 to 1e30, or a list of them, one a channel; changes without a new plan)
        align: Where the image lies (one of center, top_left; default center)
        scale_up: Whether smaller images are enlarged (true or false; default true)
        stride: Only so much room that the sides are multiples of it, instead of all of the size (a whole number from 1 to 65536)
        filter: Interpolation (one of bilinear, nearest, area, bicubic, lanczos3, box, hamming; default bilinear)
        antialias: Widen the filter when shrinking (true or false; default false)

    Other names: interpolation for filter; size, dsize for width, height."""

@overload
def letterbox(image: ImageLike, /, *, width: int = ..., height: int = ..., fill: float | Sequence[float] | None = None, align: Literal["center", "top_left"] = "center", scale_up: bool = True, stride: int | None = None, filter: Literal["bilinear", "nearest", "area", "bicubic", "lanczos3", "box", "hamming"] = "bilinear", antialias: bool = False, interpolation: Any = ..., size: int | Sequence[int] = ..., dsize: Sequence[int] = ..., device: str = "auto") -> Any: ...
@overload
def letterbox(*, width: int = ..., height: int = ..., fill: float | Sequence[float] | None = None, align: Literal["center", "top_left"] = "center", scale_up: bool = True, stride: int | None = None, filter: Literal["bilinear", "nearest", "area", "bicubic", "lanczos3", "box", "hamming"] = "bilinear", antialias: bool = False, interpolation: Any = ..., size: int | Sequence[int] = ..., dsize: Sequence[int] = ..., device: str = "auto") -> Pipeline: ...

@overload
def lut(image: Image, /, *, table: Sequence[float] | None = None, map: Literal["turbo", "viridis", "magma", "inferno", "plasma", "cividis"] | None = None, file: str | None = None, method: Literal["tetrahedral", "trilinear"] | None = None, to: Literal["u8", "u16", "i16", "f16", "f32"] | None = None, device: str = "auto") -> Image:
    """Looks colours up: in a table of your own, in a colour map, or in a .cube file.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        table: The results of the values 0 to 255, in sample units: 256 numbers, or 256 for each colour channel, one channel behind the other (a list of 256 or 768 numbers from -1e9 to 1e9)
        map: Colours for the values of a gray image, as matplotlib has them (one of turbo, viridis, magma, inferno, plasma, cividis)
        file: A .cube file with a one- or a three-dimensional table: its path, or its contents (the path of a .cube file, or its contents, as a text in quotes)
        method: How colours between those of a three-dimensional table are made; tetrahedral if not given (one of tetrahedral, trilinear)
        to: Dtype of the result of a table; the input's if not given (one of u8, u16, i16, f16, f32)"""

@overload
def lut(image: ImageLike, /, *, table: Sequence[float] | None = None, map: Literal["turbo", "viridis", "magma", "inferno", "plasma", "cividis"] | None = None, file: str | None = None, method: Literal["tetrahedral", "trilinear"] | None = None, to: Literal["u8", "u16", "i16", "f16", "f32"] | None = None, device: str = "auto") -> Any: ...
@overload
def lut(*, table: Sequence[float] | None = None, map: Literal["turbo", "viridis", "magma", "inferno", "plasma", "cividis"] | None = None, file: str | None = None, method: Literal["tetrahedral", "trilinear"] | None = None, to: Literal["u8", "u16", "i16", "f16", "f32"] | None = None, device: str = "auto") -> Pipeline: ...

@overload
def median(image: Image, /, *, kernel: int = 3, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "replicate", border_value: float | None = None, kernel_size: int | Sequence[int] = ..., ksize: int | Sequence[int] = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Image:
    """The middle sample around each pixel: removes specks, keeps edges.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        kernel: Side of the square in pixels; above 5 for u8 only (an odd whole number from 1 to 255; default 3)
        border: What is read outside the image (one of reflect101, reflect, replicate, wrap, constant; default replicate)
        border_value: Value outside the image in sample units, 0 if not given; only with border = constant (a number from -1e30 to 1e30)

    Other names: kernel_size, ksize for kernel; padding_mode, borderType, borderMode, border_mode for border."""

@overload
def median(image: ImageLike, /, *, kernel: int = 3, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "replicate", border_value: float | None = None, kernel_size: int | Sequence[int] = ..., ksize: int | Sequence[int] = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Any: ...
@overload
def median(*, kernel: int = 3, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "replicate", border_value: float | None = None, kernel_size: int | Sequence[int] = ..., ksize: int | Sequence[int] = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Pipeline: ...

@overload
def merge(r: Image, g: Image, b: Image, /, *, to: Literal["rgb", "bgr"] = "rgb", device: str = "auto") -> Image:
    """One colour image of three gray ones.

    Takes 3 images: r, g, b, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        to: Format of the result (one of rgb, bgr; default rgb)"""

@overload
def merge(r: ImageLike, g: ImageLike, b: ImageLike, /, *, to: Literal["rgb", "bgr"] = "rgb", device: str = "auto") -> Any: ...
@overload
def merge(*, to: Literal["rgb", "bgr"] = "rgb", device: str = "auto") -> Pipeline: ...

@overload
def morphology(image: Image, /, *, operation: Literal["open", "close", "gradient", "tophat", "blackhat"] = "open", kernel: int = 3, shape: Literal["rect", "cross"] = "rect", iterations: int = 1, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "replicate", border_value: float | None = None, kernel_size: int | Sequence[int] = ..., ksize: int | Sequence[int] = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., op: Literal["open", "close", "gradient", "tophat", "blackhat"] = ..., device: str = "auto") -> Image:
    """Opening, closing, outlines, and what they take away.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        operation: What is done (one of open, close, gradient, tophat, blackhat; default open)
        kernel: Side of the square in pixels; the pixel itself is at kernel / 2, rounded down (a whole number from 1 to 31; default 3)
        shape: Which pixels of the square count (one of rect, cross; default rect)
        iterations: So many erosions and so many dilations (a whole number from 1 to 16; default 1)
        border: What is read outside the image (one of reflect101, reflect, replicate, wrap, constant; default replicate)
        border_value: Value outside the image in sample units, 0 if not given; only with border = constant (a number from -1e30 to 1e30)

    Other names: kernel_size, ksize for kernel; padding_mode, borderType, borderMode, border_mode for border; op for operation."""

@overload
def morphology(image: ImageLike, /, *, operation: Literal["open", "close", "gradient", "tophat", "blackhat"] = "open", kernel: int = 3, shape: Literal["rect", "cross"] = "rect", iterations: int = 1, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "replicate", border_value: float | None = None, kernel_size: int | Sequence[int] = ..., ksize: int | Sequence[int] = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., op: Literal["open", "close", "gradient", "tophat", "blackhat"] = ..., device: str = "auto") -> Any: ...
@overload
def morphology(*, operation: Literal["open", "close", "gradient", "tophat", "blackhat"] = "open", kernel: int = 3, shape: Literal["rect", "cross"] = "rect", iterations: int = 1, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "replicate", border_value: float | None = None, kernel_size: int | Sequence[int] = ..., ksize: int | Sequence[int] = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., op: Literal["open", "close", "gradient", "tophat", "blackhat"] = ..., device: str = "auto") -> Pipeline: ...

@overload
def nms(boxes: Image, /, *, iou: float = 0.5, score: float = 0.0, device: str = "auto") -> Image:
    """Keeps the best of boxes that overlap (non-maximum suppression).

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        iou: Intersection over union up to which two boxes are both kept (a number from 0 to 1; default 0.5; changes without a new plan)
        score: Least score of a box that is kept (a number from -1e30 to 1e30; default 0; changes without a new plan)"""

@overload
def nms(boxes: ImageLike, /, *, iou: float = 0.5, score: float = 0.0, device: str = "auto") -> Any: ...
@overload
def nms(*, iou: float = 0.5, score: float = 0.0, device: str = "auto") -> Pipeline: ...

@overload
def normalize(image: Image, /, *, mean: float | Sequence[float] = 0.0, std: float | Sequence[float] = 1.0, scale: float | None = None, to: Literal["f16", "f32"] = "f32", device: str = "auto") -> Image:
    """To floats with mean 0 and deviation 1: (v * scale - mean) / std.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        mean: Subtracted after scaling: one number, or one a channel (a number from -1e30 to 1e30, or a list of them, one a channel; default 0; changes without a new plan)
        std: Divided by at the end: one number, or one a channel (a number greater than 0 and at most 1e30, or a list of them, one a channel; default 1; changes without a new plan)
        scale: Multiplied with first; 1 / full scale (1/255, 1/65535, 1) if not given (a number from -1e30 to 1e30; changes without a new plan)
        to: Dtype of the result (one of f16, f32; default f32)"""

@overload
def normalize(image: ImageLike, /, *, mean: float | Sequence[float] = 0.0, std: float | Sequence[float] = 1.0, scale: float | None = None, to: Literal["f16", "f32"] = "f32", device: str = "auto") -> Any: ...
@overload
def normalize(*, mean: float | Sequence[float] = 0.0, std: float | Sequence[float] = 1.0, scale: float | None = None, to: Literal["f16", "f32"] = "f32", device: str = "auto") -> Pipeline: ...

@overload
def pad(image: Image, /, *, left: int = 0, top: int = 0, right: int = 0, bottom: int = 0, width: int | None = None, height: int | None = None, align: Literal["center", "top_left"] = "center", border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "constant", border_value: float | Sequence[float] | None = None, padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., fill: float | Sequence[float] | None = ..., borderValue: float | Sequence[float] | None = ..., value: float | Sequence[float] | None = ..., size: int | Sequence[int] = ..., dsize: Sequence[int] = ..., padding: int | Sequence[int] = ..., device: str = "auto") -> Image:
    """Adds margins, or room up to a size.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        left: Columns added on the left (a whole number from 0 to 2147483647; default 0)
        top: Rows added above (a whole number from 0 to 2147483647; default 0)
        right: Columns added on the right (a whole number from 0 to 2147483647; default 0)
        bottom: Rows added below (a whole number from 0 to 2147483647; default 0)
        width: Width of the result, instead of left and right (a whole number from 1 to 2147483647)
        height: Height of the result, instead of top and bottom (a whole number from 1 to 2147483647)
        align: Where the image lies (one of center, top_left; default center)
        border: What is read outside the image (one of reflect101, reflect, replicate, wrap, constant; default constant)
        border_value: Of border = constant: one number, or one a channel, in sample units; 0 if not given (a number from -1e30 to 1e30, or a list of them, one a channel; changes without a new plan)

    Other names: padding_mode, borderType, borderMode, border_mode for border; fill, borderValue, value for border_value; size, dsize for width, height; padding for left, top, right, bottom."""

@overload
def pad(image: ImageLike, /, *, left: int = 0, top: int = 0, right: int = 0, bottom: int = 0, width: int | None = None, height: int | None = None, align: Literal["center", "top_left"] = "center", border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "constant", border_value: float | Sequence[float] | None = None, padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., fill: float | Sequence[float] | None = ..., borderValue: float | Sequence[float] | None = ..., value: float | Sequence[float] | None = ..., size: int | Sequence[int] = ..., dsize: Sequence[int] = ..., padding: int | Sequence[int] = ..., device: str = "auto") -> Any: ...
@overload
def pad(*, left: int = 0, top: int = 0, right: int = 0, bottom: int = 0, width: int | None = None, height: int | None = None, align: Literal["center", "top_left"] = "center", border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "constant", border_value: float | Sequence[float] | None = None, padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., fill: float | Sequence[float] | None = ..., borderValue: float | Sequence[float] | None = ..., value: float | Sequence[float] | None = ..., size: int | Sequence[int] = ..., dsize: Sequence[int] = ..., padding: int | Sequence[int] = ..., device: str = "auto") -> Pipeline: ...

@overload
def point(image: Image, image2: Image = ..., image3: Image = ..., image4: Image = ..., /, *, expr: str, to: Literal["u8", "u16", "i16", "i32", "f16", "f32"] | None = None, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "reflect101", border_value: float | None = None, device: str = "auto", **numbers: float) -> Image:
    """An expression of your own, computed for each pixel.

    Takes one image, and up to 3 more, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        expr: Of v (each channel), or of r g b a; v(1, 0) is right of the pixel, v2 of the second input; + - * / < ? : functions (an expression, as a text in quotes; must be given)
        to: Dtype of the result; the first input's if not given (one of u8, u16, i16, i32, f16, f32)
        border: What is read outside the image (one of reflect101, reflect, replicate, wrap, constant; default reflect101)
        border_value: Value outside the image in sample units, 0 if not given; only with border = constant (a number from -1e30 to 1e30)
        any other name: a number that the expression names, which changes without a new plan"""

@overload
def point(image: ImageLike, image2: ImageLike = ..., image3: ImageLike = ..., image4: ImageLike = ..., /, *, expr: str, to: Literal["u8", "u16", "i16", "i32", "f16", "f32"] | None = None, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "reflect101", border_value: float | None = None, device: str = "auto", **numbers: float) -> Any: ...
@overload
def point(*, expr: str, to: Literal["u8", "u16", "i16", "i32", "f16", "f32"] | None = None, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "reflect101", border_value: float | None = None, device: str = "auto", **numbers: float) -> Pipeline: ...

@overload
def pyramid(image: Image, /, *, direction: Literal["down", "up"] = "down", border: Literal["reflect101", "reflect", "replicate"] = "reflect101", padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Image:
    """One step of a Gaussian pyramid: half or twice the size.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        direction: To half or to twice the size (one of down, up; default down)
        border: What is read outside the image (one of reflect101, reflect, replicate; default reflect101)

    Other names: padding_mode, borderType, borderMode, border_mode for border."""

@overload
def pyramid(image: ImageLike, /, *, direction: Literal["down", "up"] = "down", border: Literal["reflect101", "reflect", "replicate"] = "reflect101", padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Any: ...
@overload
def pyramid(*, direction: Literal["down", "up"] = "down", border: Literal["reflect101", "reflect", "replicate"] = "reflect101", padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Pipeline: ...

@overload
def redact(image: Image, boxes: Image, /, *, method: Literal["mosaic", "blur"] = "mosaic", size: int | None = None, device: str = "auto") -> Image:
    """Makes boxes unrecognisable: faces, number plates, names.

    Takes 2 images: image, boxes, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        method: What becomes of the pixels (one of mosaic, blur; default mosaic)
        size: About the side of a square, 16 if not given; or the radius of the blur, at most 15, which is the default (a whole number from 2 to 64)"""

@overload
def redact(image: ImageLike, boxes: ImageLike, /, *, method: Literal["mosaic", "blur"] = "mosaic", size: int | None = None, device: str = "auto") -> Any: ...
@overload
def redact(*, method: Literal["mosaic", "blur"] = "mosaic", size: int | None = None, device: str = "auto") -> Pipeline: ...

@overload
def regions(image: Image, /, *, max: int = 256, device: str = "auto") -> Image:
    """Bounding boxes and areas of labelled regions.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        max: Regions that are measured: those numbered from 1 to this (a whole number from 1 to 65536; default 256)"""

@overload
def regions(image: ImageLike, /, *, max: int = 256, device: str = "auto") -> Any: ...
@overload
def regions(*, max: int = 256, device: str = "auto") -> Pipeline: ...

@overload
def remap(image: Image, x: Image, y: Image, /, *, coordinates: Literal["absolute", "normalized", "relative"] = "absolute", filter: Literal["nearest", "bilinear", "bicubic"] = "bilinear", border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "constant", border_value: float | None = None, interpolation: Any = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., fill: float | None = ..., borderValue: float | None = ..., device: str = "auto") -> Image:
    """Samples the image where two maps of coordinates say.

    Takes 3 images: image, x, y, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        coordinates: absolute: pixels of the input, whole ones are centres; normalized: -1 to 1 from edge to edge; relative: pixels from the result's own (one of absolute, normalized, relative; default absolute)
        filter: nearest: the nearest pixel, halves to even; bilinear: weighted mean of the four around; bicubic: of the sixteen around, with a = -0.75 (one of nearest, bilinear, bicubic; default bilinear)
        border: What is read outside the image (one of reflect101, reflect, replicate, wrap, constant; default constant)
        border_value: Value outside the image in sample units, 0 if not given; only with border = constant (a number from -1e30 to 1e30)

    Other names: interpolation for filter; padding_mode, borderType, borderMode, border_mode for border; fill, borderValue for border_value."""

@overload
def remap(image: ImageLike, x: ImageLike, y: ImageLike, /, *, coordinates: Literal["absolute", "normalized", "relative"] = "absolute", filter: Literal["nearest", "bilinear", "bicubic"] = "bilinear", border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "constant", border_value: float | None = None, interpolation: Any = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., fill: float | None = ..., borderValue: float | None = ..., device: str = "auto") -> Any: ...
@overload
def remap(*, coordinates: Literal["absolute", "normalized", "relative"] = "absolute", filter: Literal["nearest", "bilinear", "bicubic"] = "bilinear", border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "constant", border_value: float | None = None, interpolation: Any = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., fill: float | None = ..., borderValue: float | None = ..., device: str = "auto") -> Pipeline: ...

@overload
def resize(image: Image, /, *, width: int | None = None, height: int | None = None, shorter_side: int | None = None, longer_side: int | None = None, filter: Literal["bilinear", "nearest", "area", "bicubic", "lanczos3", "box", "hamming"] = "bilinear", antialias: bool = False, a: float | None = None, interpolation: Any = ..., size: int | Sequence[int] = ..., dsize: Sequence[int] = ..., device: str = "auto") -> Image:
    """Changes the size.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        width: Width in pixels; follows from height if only that is given (a whole number from 1 to 2097152)
        height: Height in pixels; follows from width if only that is given (a whole number from 1 to 2097152)
        shorter_side: Length of the shorter side in pixels, instead of width and height (a whole number from 1 to 2097152)
        longer_side: Length of the longer side in pixels, instead of width and height (a whole number from 1 to 2097152)
        filter: Interpolation (one of bilinear, nearest, area, bicubic, lanczos3, box, hamming; default bilinear)
        antialias: Widen the filter when shrinking (true or false; default false)
        a: Of filter = bicubic: -0.75 if not given, as in OpenCV; Pillow has -0.5 (a number from -2 to 0)

    Other names: interpolation for filter; size, dsize for width, height."""

@overload
def resize(image: ImageLike, /, *, width: int | None = None, height: int | None = None, shorter_side: int | None = None, longer_side: int | None = None, filter: Literal["bilinear", "nearest", "area", "bicubic", "lanczos3", "box", "hamming"] = "bilinear", antialias: bool = False, a: float | None = None, interpolation: Any = ..., size: int | Sequence[int] = ..., dsize: Sequence[int] = ..., device: str = "auto") -> Any: ...
@overload
def resize(*, width: int | None = None, height: int | None = None, shorter_side: int | None = None, longer_side: int | None = None, filter: Literal["bilinear", "nearest", "area", "bicubic", "lanczos3", "box", "hamming"] = "bilinear", antialias: bool = False, a: float | None = None, interpolation: Any = ..., size: int | Sequence[int] = ..., dsize: Sequence[int] = ..., device: str = "auto") -> Pipeline: ...

@overload
def rgb_to_yuv(image: Image, /, *, plane: Literal["y", "u", "v"], matrix: Literal["601", "709", "2020"], range: Literal["full", "limited"], sampling: Literal["420", "422", "444", "400"] = "420", bits: int = 8, device: str = "auto") -> Image:
    """Colours to one plane of YUV video.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        plane: The plane: luma, or one of both of chroma (one of y, u, v; must be given)
        matrix: The weights of luma: ITU-R BT.601, 709 or 2020 (one of 601, 709, 2020; must be given)
        range: Whether black is 16 and white 235, or 0 and 255 (one of full, limited; must be given)
        sampling: Resolution of chroma (one of 420, 422, 444, 400; default 420)
        bits: Bits of a sample (a whole number from 8 to 16; default 8)"""

@overload
def rgb_to_yuv(image: ImageLike, /, *, plane: Literal["y", "u", "v"], matrix: Literal["601", "709", "2020"], range: Literal["full", "limited"], sampling: Literal["420", "422", "444", "400"] = "420", bits: int = 8, device: str = "auto") -> Any: ...
@overload
def rgb_to_yuv(*, plane: Literal["y", "u", "v"], matrix: Literal["601", "709", "2020"], range: Literal["full", "limited"], sampling: Literal["420", "422", "444", "400"] = "420", bits: int = 8, device: str = "auto") -> Pipeline: ...

@overload
def rotate(image: Image, /, *, angle: float, center: Sequence[float] | None = None, scale: float = 1.0, filter: Literal["nearest", "bilinear", "bicubic"] = "bilinear", border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "constant", border_value: float | None = None, interpolation: Any = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., fill: float | None = ..., borderValue: float | None = ..., device: str = "auto") -> Image:
    """Turns the image by any angle, counter-clockwise.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        angle: Degrees, counter-clockwise as the image is looked at (a number from -1000000 to 1000000; must be given; changes without a new plan)
        center: [x, y] that stays where it is, in pixels from the centre of the first; the middle if not given (a list of 2 numbers from -1e9 to 1e9; changes without a new plan)
        scale: Size of the image in the result (a number from 0.000001 to 1000000; default 1; changes without a new plan)
        filter: nearest: the nearest pixel, halves to even; bilinear: weighted mean of the four around; bicubic: of the sixteen around, with a = -0.75 (one of nearest, bilinear, bicubic; default bilinear)
        border: What is read outside the image (one of reflect101, reflect, replicate, wrap, constant; default constant)
        border_value: Value outside the image in sample units, 0 if not given; only with border = constant (a number from -1e30 to 1e30)

    Other names: interpolation for filter; padding_mode, borderType, borderMode, border_mode for border; fill, borderValue for border_value."""

@overload
def rotate(image: ImageLike, /, *, angle: float, center: Sequence[float] | None = None, scale: float = 1.0, filter: Literal["nearest", "bilinear", "bicubic"] = "bilinear", border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "constant", border_value: float | None = None, interpolation: Any = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., fill: float | None = ..., borderValue: float | None = ..., device: str = "auto") -> Any: ...
@overload
def rotate(*, angle: float, center: Sequence[float] | None = None, scale: float = 1.0, filter: Literal["nearest", "bilinear", "bicubic"] = "bilinear", border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "constant", border_value: float | None = None, interpolation: Any = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., fill: float | None = ..., borderValue: float | None = ..., device: str = "auto") -> Pipeline: ...

@overload
def rotate90(image: Image, /, *, direction: Literal["cw", "ccw", "180"], device: str = "auto") -> Image:
    """Turns the image by 90 or 180 degrees.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        direction: Clockwise, counter-clockwise, or half a turn, as the image is looked at (one of cw, ccw, 180; must be given)"""

@overload
def rotate90(image: ImageLike, /, *, direction: Literal["cw", "ccw", "180"], device: str = "auto") -> Any: ...
@overload
def rotate90(*, direction: Literal["cw", "ccw", "180"], device: str = "auto") -> Pipeline: ...

@overload
def saturation(image: Image, /, *, factor: float = ..., saturation_factor: float = ..., device: str = "auto") -> Image:
    """Makes colours stronger or weaker.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        factor: 0: gray, 1: as it is, more: stronger (a number from -5 to 5; must be given; changes without a new plan)

    Other names: saturation_factor for factor."""

@overload
def saturation(image: ImageLike, /, *, factor: float = ..., saturation_factor: float = ..., device: str = "auto") -> Any: ...
@overload
def saturation(*, factor: float = ..., saturation_factor: float = ..., device: str = "auto") -> Pipeline: ...

@overload
def scharr(image: Image, /, *, scale: float = 1.0, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "reflect101", border_value: float | None = None, padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Image:
    """Strength of edges, the same in all directions: gradient magnitude of the gray image.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        scale: Factor of the result (a number from 0 to 1; default 1; changes without a new plan)
        border: What is read outside the image (one of reflect101, reflect, replicate, wrap, constant; default reflect101)
        border_value: Value outside the image in sample units, 0 if not given; only with border = constant (a number from -1e30 to 1e30)

    Other names: padding_mode, borderType, borderMode, border_mode for border."""

@overload
def scharr(image: ImageLike, /, *, scale: float = 1.0, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "reflect101", border_value: float | None = None, padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Any: ...
@overload
def scharr(*, scale: float = 1.0, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "reflect101", border_value: float | None = None, padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Pipeline: ...

@overload
def select(image: Image, /, *, channels: float | Sequence[float], device: str = "auto") -> Image:
    """Picks and reorders channels.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        channels: For each channel of the result the channel of the image, from 0 in its own order; -1 is filled with 0 (a list of 1, 3 or 4 numbers from -3 to 3; must be given)"""

@overload
def select(image: ImageLike, /, *, channels: float | Sequence[float], device: str = "auto") -> Any: ...
@overload
def select(*, channels: float | Sequence[float], device: str = "auto") -> Pipeline: ...

@overload
def sep_filter(image: Image, /, *, weights_x: float | Sequence[float], weights_y: float | Sequence[float] | None = None, delta: float = 0.0, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "reflect101", border_value: float | None = None, padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Image:
    """Weighted sum of the pixels around each one, with weights of your own for columns and for rows.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        weights_x: Along a row: 1 to 31 numbers, the pixel itself in the middle (a list of 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29 or 31 numbers from -1000000 to 1000000; must be given)
        weights_y: Along a column, from the top; `weights_x` if not given (a list of 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29 or 31 numbers from -1000000 to 1000000)
        delta: Added, in sample units (a number from -1e30 to 1e30; default 0; changes without a new plan)
        border: What is read outside the image (one of reflect101, reflect, replicate, wrap, constant; default reflect101)
        border_value: Value outside the image in sample units, 0 if not given; only with border = constant (a number from -1e30 to 1e30)

    Other names: padding_mode, borderType, borderMode, border_mode for border."""

@overload
def sep_filter(image: ImageLike, /, *, weights_x: float | Sequence[float], weights_y: float | Sequence[float] | None = None, delta: float = 0.0, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "reflect101", border_value: float | None = None, padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Any: ...
@overload
def sep_filter(*, weights_x: float | Sequence[float], weights_y: float | Sequence[float] | None = None, delta: float = 0.0, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "reflect101", border_value: float | None = None, padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Pipeline: ...

@overload
def sharpen(image: Image, /, *, amount: float = 1.0, kernel: int = 5, sigma: float | None = None, threshold: float = 0.0, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "reflect101", border_value: float | None = None, kernel_size: int | Sequence[int] = ..., ksize: int | Sequence[int] = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., sigmaX: float | None = ..., device: str = "auto") -> Image:
    """Unsharp mask: adds what a blur takes away.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        amount: How much is added (a number from -5 to 5; default 1; changes without a new plan)
        kernel: Side of the blur's neighbourhood in pixels (an odd whole number from 3 to 31; default 5)
        sigma: Standard deviation of the blur in pixels; 0.15 * kernel + 0.35 if not given (a number greater than 0 and at most 1000000; changes without a new plan)
        threshold: Smaller differences are left as they are, in sample units (a number from 0 to 1000000; default 0; changes without a new plan)
        border: What is read outside the image (one of reflect101, reflect, replicate, wrap, constant; default reflect101)
        border_value: Value outside the image in sample units, 0 if not given; only with border = constant (a number from -1e30 to 1e30)

    Other names: kernel_size, ksize for kernel; padding_mode, borderType, borderMode, border_mode for border; sigmaX for sigma."""

@overload
def sharpen(image: ImageLike, /, *, amount: float = 1.0, kernel: int = 5, sigma: float | None = None, threshold: float = 0.0, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "reflect101", border_value: float | None = None, kernel_size: int | Sequence[int] = ..., ksize: int | Sequence[int] = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., sigmaX: float | None = ..., device: str = "auto") -> Any: ...
@overload
def sharpen(*, amount: float = 1.0, kernel: int = 5, sigma: float | None = None, threshold: float = 0.0, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "reflect101", border_value: float | None = None, kernel_size: int | Sequence[int] = ..., ksize: int | Sequence[int] = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., sigmaX: float | None = ..., device: str = "auto") -> Pipeline: ...

@overload
def sobel(image: Image, /, *, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "reflect101", border_value: float | None = None, padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Image:
    """Strength of edges: gradient magnitude of the gray image.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        border: What is read outside the image (one of reflect101, reflect, replicate, wrap, constant; default reflect101)
        border_value: Value outside the image in sample units, 0 if not given; only with border = constant (a number from -1e30 to 1e30)

    Other names: padding_mode, borderType, borderMode, border_mode for border."""

@overload
def sobel(image: ImageLike, /, *, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "reflect101", border_value: float | None = None, padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Any: ...
@overload
def sobel(*, border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "reflect101", border_value: float | None = None, padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Pipeline: ...

@overload
def stats(image: Image, /, *, device: str = "auto") -> Image:
    """Mean, standard deviation, minimum, maximum and sum of each colour channel.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`."""

@overload
def stats(image: ImageLike, /, *, device: str = "auto") -> Any: ...
@overload
def stats(*, device: str = "auto") -> Pipeline: ...

@overload
def threshold(image: Image, /, *, threshold: float = ..., max_value: float | None = None, mode: Literal["binary", "binary_inv", "trunc", "tozero", "tozero_inv"] = "binary", thresh: float = ..., maxval: float | None = ..., maxValue: float | None = ..., device: str = "auto") -> Image:
    """One value above a threshold, 0 elsewhere.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        threshold: In sample units; samples above it count (a number from -1e30 to 1e30; must be given; changes without a new plan)
        max_value: Result above the threshold in sample units; full scale (255, 65535, 1.0) if not given (a number from -1e30 to 1e30; changes without a new plan)
        mode: What becomes of samples above the threshold, and of the others (one of binary, binary_inv, trunc, tozero, tozero_inv; default binary)

    Other names: thresh for threshold; maxval, maxValue for max_value."""

@overload
def threshold(image: ImageLike, /, *, threshold: float = ..., max_value: float | None = None, mode: Literal["binary", "binary_inv", "trunc", "tozero", "tozero_inv"] = "binary", thresh: float = ..., maxval: float | None = ..., maxValue: float | None = ..., device: str = "auto") -> Any: ...
@overload
def threshold(*, threshold: float = ..., max_value: float | None = None, mode: Literal["binary", "binary_inv", "trunc", "tozero", "tozero_inv"] = "binary", thresh: float = ..., maxval: float | None = ..., maxValue: float | None = ..., device: str = "auto") -> Pipeline: ...

@overload
def tile(image: Image, in2: Image, image3: Image = ..., image4: Image = ..., image5: Image = ..., image6: Image = ..., image7: Image = ..., image8: Image = ..., image9: Image = ..., image10: Image = ..., image11: Image = ..., image12: Image = ..., image13: Image = ..., image14: Image = ..., image15: Image = ..., image16: Image = ..., /, *, count: int = 2, columns: int | None = None, gap: int = 0, fill: float | Sequence[float] | None = None, device: str = "auto") -> Image:
    """Lays several images beside and below each other: contact sheets, comparisons.

    Takes 2 images: image, in2, and up to 14 more, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        count: How many images it takes (a whole number from 2 to 16; default 2)
        columns: Images beside each other; all if not given (a whole number from 1 to 16)
        gap: Pixels between images (a whole number from 0 to 4096; default 0)
        fill: Colour between images and where there is none: one number, or one a channel, in sample units; 0 if not given (a number from -1e30 to 1e30, or a list of them, one a channel; changes without a new plan)"""

@overload
def tile(image: ImageLike, in2: ImageLike, image3: ImageLike = ..., image4: ImageLike = ..., image5: ImageLike = ..., image6: ImageLike = ..., image7: ImageLike = ..., image8: ImageLike = ..., image9: ImageLike = ..., image10: ImageLike = ..., image11: ImageLike = ..., image12: ImageLike = ..., image13: ImageLike = ..., image14: ImageLike = ..., image15: ImageLike = ..., image16: ImageLike = ..., /, *, count: int = 2, columns: int | None = None, gap: int = 0, fill: float | Sequence[float] | None = None, device: str = "auto") -> Any: ...
@overload
def tile(*, count: int = 2, columns: int | None = None, gap: int = 0, fill: float | Sequence[float] | None = None, device: str = "auto") -> Pipeline: ...

@overload
def transpose(image: Image, /, *, device: str = "auto") -> Image:
    """Swaps rows and columns: mirrors the image at the diagonal through its top left corner.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`."""

@overload
def transpose(image: ImageLike, /, *, device: str = "auto") -> Any: ...
@overload
def transpose(*, device: str = "auto") -> Pipeline: ...

@overload
def undistort(image: Image, /, *, camera: Sequence[float], distortion: Sequence[float], new_camera: Sequence[float] | None = None, model: Literal["brown", "fisheye"] = "brown", filter: Literal["nearest", "bilinear", "bicubic"] = "bilinear", border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "constant", border_value: float | None = None, interpolation: Any = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., fill: float | None = ..., borderValue: float | None = ..., device: str = "auto") -> Image:
    """Removes the distortion of a camera's lens.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        camera: [fx, fy, cx, cy]: focal lengths and centre of the camera, in pixels (a list of 4 numbers from -1e9 to 1e9; must be given; changes without a new plan)
        distortion: [k1, k2, p1, p2] and further k3, k4 k5 k6, s1 s2 s3 s4 of brown; [k1, k2, k3, k4] of fisheye (a list of 4, 5, 8 or 12 numbers from -1000000 to 1000000; must be given; changes without a new plan)
        new_camera: [fx, fy, cx, cy] of the result, those of camera if not given (a list of 4 numbers from -1e9 to 1e9; changes without a new plan)
        model: What the lens does (one of brown, fisheye; default brown)
        filter: nearest: the nearest pixel, halves to even; bilinear: weighted mean of the four around; bicubic: of the sixteen around, with a = -0.75 (one of nearest, bilinear, bicubic; default bilinear)
        border: What is read outside the image (one of reflect101, reflect, replicate, wrap, constant; default constant)
        border_value: Value outside the image in sample units, 0 if not given; only with border = constant (a number from -1e30 to 1e30)

    Other names: interpolation for filter; padding_mode, borderType, borderMode, border_mode for border; fill, borderValue for border_value."""

@overload
def undistort(image: ImageLike, /, *, camera: Sequence[float], distortion: Sequence[float], new_camera: Sequence[float] | None = None, model: Literal["brown", "fisheye"] = "brown", filter: Literal["nearest", "bilinear", "bicubic"] = "bilinear", border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "constant", border_value: float | None = None, interpolation: Any = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., fill: float | None = ..., borderValue: float | None = ..., device: str = "auto") -> Any: ...
@overload
def undistort(*, camera: Sequence[float], distortion: Sequence[float], new_camera: Sequence[float] | None = None, model: Literal["brown", "fisheye"] = "brown", filter: Literal["nearest", "bilinear", "bicubic"] = "bilinear", border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "constant", border_value: float | None = None, interpolation: Any = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., fill: float | None = ..., borderValue: float | None = ..., device: str = "auto") -> Pipeline: ...

@overload
def warp_affine(image: Image, /, *, matrix: Sequence[float] = ..., inverse: bool = False, width: int | None = None, height: int | None = None, filter: Literal["nearest", "bilinear", "bicubic"] = "bilinear", border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "constant", border_value: float | None = None, interpolation: Any = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., fill: float | None = ..., borderValue: float | None = ..., size: int | Sequence[int] = ..., dsize: Sequence[int] = ..., M: Sequence[float] | Sequence[Sequence[float]] = ..., device: str = "auto") -> Image:
    """Moves, turns, scales and shears the image by a matrix of 2 x 3 numbers.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        matrix: [a, b, c, d, e, f]: (x, y) of the input goes to (a x + b y + c, d x + e y + f) (a list of 6 numbers from -1e9 to 1e9; must be given; changes without a new plan)
        inverse: The matrix maps the result to the input instead (true or false; default false; changes without a new plan)
        width: Width of the result in pixels, the input's if not given (a whole number from 1 to 2097152)
        height: Height of the result in pixels, the input's if not given (a whole number from 1 to 2097152)
        filter: nearest: the nearest pixel, halves to even; bilinear: weighted mean of the four around; bicubic: of the sixteen around, with a = -0.75 (one of nearest, bilinear, bicubic; default bilinear)
        border: What is read outside the image (one of reflect101, reflect, replicate, wrap, constant; default constant)
        border_value: Value outside the image in sample units, 0 if not given; only with border = constant (a number from -1e30 to 1e30)

    Other names: interpolation for filter; padding_mode, borderType, borderMode, border_mode for border; fill, borderValue for border_value; size, dsize for width, height; M for matrix."""

@overload
def warp_affine(image: ImageLike, /, *, matrix: Sequence[float] = ..., inverse: bool = False, width: int | None = None, height: int | None = None, filter: Literal["nearest", "bilinear", "bicubic"] = "bilinear", border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "constant", border_value: float | None = None, interpolation: Any = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., fill: float | None = ..., borderValue: float | None = ..., size: int | Sequence[int] = ..., dsize: Sequence[int] = ..., M: Sequence[float] | Sequence[Sequence[float]] = ..., device: str = "auto") -> Any: ...
@overload
def warp_affine(*, matrix: Sequence[float] = ..., inverse: bool = False, width: int | None = None, height: int | None = None, filter: Literal["nearest", "bilinear", "bicubic"] = "bilinear", border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "constant", border_value: float | None = None, interpolation: Any = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., fill: float | None = ..., borderValue: float | None = ..., size: int | Sequence[int] = ..., dsize: Sequence[int] = ..., M: Sequence[float] | Sequence[Sequence[float]] = ..., device: str = "auto") -> Pipeline: ...

@overload
def warp_perspective(image: Image, /, *, matrix: Sequence[float] | None = None, points: Sequence[float] | None = None, inverse: bool = False, width: int | None = None, height: int | None = None, filter: Literal["nearest", "bilinear", "bicubic"] = "bilinear", border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "constant", border_value: float | None = None, interpolation: Any = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., fill: float | None = ..., borderValue: float | None = ..., size: int | Sequence[int] = ..., dsize: Sequence[int] = ..., M: Sequence[float] | Sequence[Sequence[float]] = ..., device: str = "auto") -> Image:
    """Shows the image's plane from another point of view, by a matrix of 3 x 3 numbers or by four corners.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        matrix: Row by row: (x, y) of the input goes to (u / w, v / w) with (u, v, w) = matrix (x, y, 1) (a list of 9 numbers from -1e9 to 1e9; changes without a new plan)
        points: Instead of a matrix: four points [x, y, ...] of the input, then those of the result that they go to (a list of 16 numbers from -1e9 to 1e9; changes without a new plan)
        inverse: The matrix, or the points, map the result to the input instead (true or false; default false; changes without a new plan)
        width: Width of the result in pixels, the input's if not given (a whole number from 1 to 2097152)
        height: Height of the result in pixels, the input's if not given (a whole number from 1 to 2097152)
        filter: nearest: the nearest pixel, halves to even; bilinear: weighted mean of the four around; bicubic: of the sixteen around, with a = -0.75 (one of nearest, bilinear, bicubic; default bilinear)
        border: What is read outside the image (one of reflect101, reflect, replicate, wrap, constant; default constant)
        border_value: Value outside the image in sample units, 0 if not given; only with border = constant (a number from -1e30 to 1e30)

    Other names: interpolation for filter; padding_mode, borderType, borderMode, border_mode for border; fill, borderValue for border_value; size, dsize for width, height; M for matrix."""

@overload
def warp_perspective(image: ImageLike, /, *, matrix: Sequence[float] | None = None, points: Sequence[float] | None = None, inverse: bool = False, width: int | None = None, height: int | None = None, filter: Literal["nearest", "bilinear", "bicubic"] = "bilinear", border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "constant", border_value: float | None = None, interpolation: Any = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., fill: float | None = ..., borderValue: float | None = ..., size: int | Sequence[int] = ..., dsize: Sequence[int] = ..., M: Sequence[float] | Sequence[Sequence[float]] = ..., device: str = "auto") -> Any: ...
@overload
def warp_perspective(*, matrix: Sequence[float] | None = None, points: Sequence[float] | None = None, inverse: bool = False, width: int | None = None, height: int | None = None, filter: Literal["nearest", "bilinear", "bicubic"] = "bilinear", border: Literal["reflect101", "reflect", "replicate", "wrap", "constant"] = "constant", border_value: float | None = None, interpolation: Any = ..., padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., fill: float | None = ..., borderValue: float | None = ..., size: int | Sequence[int] = ..., dsize: Sequence[int] = ..., M: Sequence[float] | Sequence[Sequence[float]] = ..., device: str = "auto") -> Pipeline: ...

@overload
def yuv_to_rgb(y: Image, u: Image, v: Image, /, *, matrix: Literal["601", "709", "2020"], range: Literal["full", "limited"], sampling: Literal["420", "422", "444", "400"] = "420", packing: Literal["planar", "uv", "vu", "yuyv", "uyvy"] = "planar", chroma: Literal["nearest", "bilinear"] = "nearest", siting: Literal["left", "center", "top_left"] = "left", bits: int | None = None, shift: int = 0, to: Literal["gray", "rgb", "bgr", "rgba", "bgra"] = "rgb", device: str = "auto") -> Image:
    """Planes of YUV video to colours.

    Takes 3 images: y, u, v, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    Parameters
        matrix: The weights of luma: ITU-R BT.601, 709 or 2020 (one of 601, 709, 2020; must be given)
        range: Whether black is 16 and white 235, or 0 and 255 (one of full, limited; must be given)
        sampling: Resolution of chroma (one of 420, 422, 444, 400; default 420)
        packing: Where chroma is: planes of their own, or taking turns; inputs that share a plane all read it (one of planar, uv, vu, yuyv, uyvy; default planar)
        chroma: What pixels that share chroma get: the sample, or what lies between samples (one of nearest, bilinear; default nearest)
        siting: Where shared samples lie, for chroma = bilinear (one of left, center, top_left; default left)
        bits: Bits of a sample; 8 of u8 and 16 of u16 if not given (a whole number from 8 to 16)
        shift: Zero bits below them: 6 of P010 (a whole number from 0 to 8; default 0)
        to: Format of the result; gray is luma alone (one of gray, rgb, bgr, rgba, bgra; default rgb)"""

@overload
def yuv_to_rgb(y: ImageLike, u: ImageLike, v: ImageLike, /, *, matrix: Literal["601", "709", "2020"], range: Literal["full", "limited"], sampling: Literal["420", "422", "444", "400"] = "420", packing: Literal["planar", "uv", "vu", "yuyv", "uyvy"] = "planar", chroma: Literal["nearest", "bilinear"] = "nearest", siting: Literal["left", "center", "top_left"] = "left", bits: int | None = None, shift: int = 0, to: Literal["gray", "rgb", "bgr", "rgba", "bgra"] = "rgb", device: str = "auto") -> Any: ...
@overload
def yuv_to_rgb(*, matrix: Literal["601", "709", "2020"], range: Literal["full", "limited"], sampling: Literal["420", "422", "444", "400"] = "420", packing: Literal["planar", "uv", "vu", "yuyv", "uyvy"] = "planar", chroma: Literal["nearest", "bilinear"] = "nearest", siting: Literal["left", "center", "top_left"] = "left", bits: int | None = None, shift: int = 0, to: Literal["gray", "rgb", "bgr", "rgba", "bgra"] = "rgb", device: str = "auto") -> Pipeline: ...

Canny = canny

GaussianBlur = gaussian_blur

Laplacian = laplacian

adaptiveThreshold = adaptive_threshold

@overload
def add(a: Image, b: Image, /, *, scale: float | None = None, alpha: float | None = None, beta: float | None = None, gamma: float | None = None, device: str = "auto") -> Image:
    """Computes with two images: sum, difference, product, ....

    Takes 2 images: a, b, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    This is `arithmetic` with operation='add'.

    Parameters
        scale: Factor of a product or quotient; 1 if not given (a number from -1000000 to 1000000; changes without a new plan)
        alpha: Weight of a in a weighted sum; 1 if not given (a number from -1000000 to 1000000; changes without a new plan)
        beta: Weight of b in a weighted sum; 1 if not given (a number from -1000000 to 1000000; changes without a new plan)
        gamma: Added to a weighted sum, in sample units; 0 if not given (a number from -1e30 to 1e30; changes without a new plan)"""

@overload
def add(a: ImageLike, b: ImageLike, /, *, scale: float | None = None, alpha: float | None = None, beta: float | None = None, gamma: float | None = None, device: str = "auto") -> Any: ...
@overload
def add(*, scale: float | None = None, alpha: float | None = None, beta: float | None = None, gamma: float | None = None, device: str = "auto") -> Pipeline: ...

@overload
def addWeighted(a: Image, b: Image, /, *, scale: float | None = None, alpha: float | None = None, beta: float | None = None, gamma: float | None = None, device: str = "auto") -> Image:
    """Computes with two images: sum, difference, product, ....

    Takes 2 images: a, b, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    This is `arithmetic` with operation='weighted'.

    Parameters
        scale: Factor of a product or quotient; 1 if not given (a number from -1000000 to 1000000; changes without a new plan)
        alpha: Weight of a in a weighted sum; 1 if not given (a number from -1000000 to 1000000; changes without a new plan)
        beta: Weight of b in a weighted sum; 1 if not given (a number from -1000000 to 1000000; changes without a new plan)
        gamma: Added to a weighted sum, in sample units; 0 if not given (a number from -1e30 to 1e30; changes without a new plan)"""

@overload
def addWeighted(a: ImageLike, b: ImageLike, /, *, scale: float | None = None, alpha: float | None = None, beta: float | None = None, gamma: float | None = None, device: str = "auto") -> Any: ...
@overload
def addWeighted(*, scale: float | None = None, alpha: float | None = None, beta: float | None = None, gamma: float | None = None, device: str = "auto") -> Pipeline: ...

@overload
def add_weighted(a: Image, b: Image, /, *, scale: float | None = None, alpha: float | None = None, beta: float | None = None, gamma: float | None = None, device: str = "auto") -> Image:
    """Computes with two images: sum, difference, product, ....

    Takes 2 images: a, b, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    This is `arithmetic` with operation='weighted'.

    Parameters
        scale: Factor of a product or quotient; 1 if not given (a number from -1000000 to 1000000; changes without a new plan)
        alpha: Weight of a in a weighted sum; 1 if not given (a number from -1000000 to 1000000; changes without a new plan)
        beta: Weight of b in a weighted sum; 1 if not given (a number from -1000000 to 1000000; changes without a new plan)
        gamma: Added to a weighted sum, in sample units; 0 if not given (a number from -1e30 to 1e30; changes without a new plan)"""

@overload
def add_weighted(a: ImageLike, b: ImageLike, /, *, scale: float | None = None, alpha: float | None = None, beta: float | None = None, gamma: float | None = None, device: str = "auto") -> Any: ...
@overload
def add_weighted(*, scale: float | None = None, alpha: float | None = None, beta: float | None = None, gamma: float | None = None, device: str = "auto") -> Pipeline: ...

bilateralFilter = bilateral

bilateral_filter = bilateral

bitwise_not = invert

blur = box_blur

boxFilter = box_blur

box_filter = box_blur

copyMakeBorder = pad

copy_make_border = pad

cvtColor = color_convert

cvt_color = color_convert

distanceTransform = distance_transform

@overload
def divide(a: Image, b: Image, /, *, scale: float | None = None, alpha: float | None = None, beta: float | None = None, gamma: float | None = None, device: str = "auto") -> Image:
    """Computes with two images: sum, difference, product, ....

    Takes 2 images: a, b, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    This is `arithmetic` with operation='divide'.

    Parameters
        scale: Factor of a product or quotient; 1 if not given (a number from -1000000 to 1000000; changes without a new plan)
        alpha: Weight of a in a weighted sum; 1 if not given (a number from -1000000 to 1000000; changes without a new plan)
        beta: Weight of b in a weighted sum; 1 if not given (a number from -1000000 to 1000000; changes without a new plan)
        gamma: Added to a weighted sum, in sample units; 0 if not given (a number from -1e30 to 1e30; changes without a new plan)"""

@overload
def divide(a: ImageLike, b: ImageLike, /, *, scale: float | None = None, alpha: float | None = None, beta: float | None = None, gamma: float | None = None, device: str = "auto") -> Any: ...
@overload
def divide(*, scale: float | None = None, alpha: float | None = None, beta: float | None = None, gamma: float | None = None, device: str = "auto") -> Pipeline: ...

equalizeHist = equalize_hist

filter2D = filter2d

inRange = in_range

medianBlur = median

median_blur = median

morphologyEx = morphology

morphology_ex = morphology

@overload
def multiply(a: Image, b: Image, /, *, scale: float | None = None, alpha: float | None = None, beta: float | None = None, gamma: float | None = None, device: str = "auto") -> Image:
    """Computes with two images: sum, difference, product, ....

    Takes 2 images: a, b, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    This is `arithmetic` with operation='multiply'.

    Parameters
        scale: Factor of a product or quotient; 1 if not given (a number from -1000000 to 1000000; changes without a new plan)
        alpha: Weight of a in a weighted sum; 1 if not given (a number from -1000000 to 1000000; changes without a new plan)
        beta: Weight of b in a weighted sum; 1 if not given (a number from -1000000 to 1000000; changes without a new plan)
        gamma: Added to a weighted sum, in sample units; 0 if not given (a number from -1e30 to 1e30; changes without a new plan)"""

@overload
def multiply(a: ImageLike, b: ImageLike, /, *, scale: float | None = None, alpha: float | None = None, beta: float | None = None, gamma: float | None = None, device: str = "auto") -> Any: ...
@overload
def multiply(*, scale: float | None = None, alpha: float | None = None, beta: float | None = None, gamma: float | None = None, device: str = "auto") -> Pipeline: ...

@overload
def pyrDown(image: Image, /, *, border: Literal["reflect101", "reflect", "replicate"] = "reflect101", padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Image:
    """One step of a Gaussian pyramid: half or twice the size.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    This is `pyramid` with direction='down'.

    Parameters
        border: What is read outside the image (one of reflect101, reflect, replicate; default reflect101)

    Other names: padding_mode, borderType, borderMode, border_mode for border."""

@overload
def pyrDown(image: ImageLike, /, *, border: Literal["reflect101", "reflect", "replicate"] = "reflect101", padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Any: ...
@overload
def pyrDown(*, border: Literal["reflect101", "reflect", "replicate"] = "reflect101", padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Pipeline: ...

@overload
def pyrUp(image: Image, /, *, border: Literal["reflect101", "reflect", "replicate"] = "reflect101", padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Image:
    """One step of a Gaussian pyramid: half or twice the size.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    This is `pyramid` with direction='up'.

    Parameters
        border: What is read outside the image (one of reflect101, reflect, replicate; default reflect101)

    Other names: padding_mode, borderType, borderMode, border_mode for border."""

@overload
def pyrUp(image: ImageLike, /, *, border: Literal["reflect101", "reflect", "replicate"] = "reflect101", padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Any: ...
@overload
def pyrUp(*, border: Literal["reflect101", "reflect", "replicate"] = "reflect101", padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Pipeline: ...

@overload
def pyr_down(image: Image, /, *, border: Literal["reflect101", "reflect", "replicate"] = "reflect101", padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Image:
    """One step of a Gaussian pyramid: half or twice the size.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    This is `pyramid` with direction='down'.

    Parameters
        border: What is read outside the image (one of reflect101, reflect, replicate; default reflect101)

    Other names: padding_mode, borderType, borderMode, border_mode for border."""

@overload
def pyr_down(image: ImageLike, /, *, border: Literal["reflect101", "reflect", "replicate"] = "reflect101", padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Any: ...
@overload
def pyr_down(*, border: Literal["reflect101", "reflect", "replicate"] = "reflect101", padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Pipeline: ...

@overload
def pyr_up(image: Image, /, *, border: Literal["reflect101", "reflect", "replicate"] = "reflect101", padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Image:
    """One step of a Gaussian pyramid: half or twice the size.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    This is `pyramid` with direction='up'.

    Parameters
        border: What is read outside the image (one of reflect101, reflect, replicate; default reflect101)

    Other names: padding_mode, borderType, borderMode, border_mode for border."""

@overload
def pyr_up(image: ImageLike, /, *, border: Literal["reflect101", "reflect", "replicate"] = "reflect101", padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Any: ...
@overload
def pyr_up(*, border: Literal["reflect101", "reflect", "replicate"] = "reflect101", padding_mode: str = ..., borderType: int | str = ..., borderMode: int | str = ..., border_mode: int | str = ..., device: str = "auto") -> Pipeline: ...

sepFilter2D = sep_filter

@overload
def subtract(a: Image, b: Image, /, *, scale: float | None = None, alpha: float | None = None, beta: float | None = None, gamma: float | None = None, device: str = "auto") -> Image:
    """Computes with two images: sum, difference, product, ....

    Takes 2 images: a, b, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    This is `arithmetic` with operation='subtract'.

    Parameters
        scale: Factor of a product or quotient; 1 if not given (a number from -1000000 to 1000000; changes without a new plan)
        alpha: Weight of a in a weighted sum; 1 if not given (a number from -1000000 to 1000000; changes without a new plan)
        beta: Weight of b in a weighted sum; 1 if not given (a number from -1000000 to 1000000; changes without a new plan)
        gamma: Added to a weighted sum, in sample units; 0 if not given (a number from -1e30 to 1e30; changes without a new plan)"""

@overload
def subtract(a: ImageLike, b: ImageLike, /, *, scale: float | None = None, alpha: float | None = None, beta: float | None = None, gamma: float | None = None, device: str = "auto") -> Any: ...
@overload
def subtract(*, scale: float | None = None, alpha: float | None = None, beta: float | None = None, gamma: float | None = None, device: str = "auto") -> Pipeline: ...

warpAffine = warp_affine

warpPerspective = warp_perspective

adjust_brightness = brightness_contrast

adjust_gamma = gamma

adjust_hue = hue

adjust_saturation = saturation

@overload
def center_crop(image: Image, /, *, width: int = ..., height: int = ..., x: int | None = None, y: int | None = None, size: int | Sequence[int] = ..., dsize: Sequence[int] = ..., device: str = "auto") -> Image:
    """Cuts out a rectangle.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    This is `crop` with center=True.

    Parameters
        width: Width in pixels (a whole number from 1 to 2147483647; must be given)
        height: Height in pixels (a whole number from 1 to 2147483647; must be given)
        x: First column, 0 if not given; not with center (a whole number from 0 to 2147483646)
        y: First row, 0 if not given; not with center (a whole number from 0 to 2147483646)

    Other names: size, dsize for width, height."""

@overload
def center_crop(image: ImageLike, /, *, width: int = ..., height: int = ..., x: int | None = None, y: int | None = None, size: int | Sequence[int] = ..., dsize: Sequence[int] = ..., device: str = "auto") -> Any: ...
@overload
def center_crop(*, width: int = ..., height: int = ..., x: int | None = None, y: int | None = None, size: int | Sequence[int] = ..., dsize: Sequence[int] = ..., device: str = "auto") -> Pipeline: ...

@overload
def equalize(image: Image, /, *, device: str = "auto") -> Image:
    """Spreads the values of each channel so that all occur about equally often.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    This is `equalize_hist` with method='pillow'.

    Parameters"""

@overload
def equalize(image: ImageLike, /, *, device: str = "auto") -> Any: ...
@overload
def equalize(*, device: str = "auto") -> Pipeline: ...

@overload
def hflip(image: Image, /, *, device: str = "auto") -> Image:
    """Mirrors the image.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    This is `flip` with direction='horizontal'.

    Parameters

    Other names: flipCode for direction."""

@overload
def hflip(image: ImageLike, /, *, device: str = "auto") -> Any: ...
@overload
def hflip(*, device: str = "auto") -> Pipeline: ...

@overload
def horizontal_flip(image: Image, /, *, device: str = "auto") -> Image:
    """Mirrors the image.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    This is `flip` with direction='horizontal'.

    Parameters

    Other names: flipCode for direction."""

@overload
def horizontal_flip(image: ImageLike, /, *, device: str = "auto") -> Any: ...
@overload
def horizontal_flip(*, device: str = "auto") -> Pipeline: ...

@overload
def rgb_to_grayscale(image: Image, /, *, device: str = "auto") -> Image:
    """Changes the channels: gray, rgb, bgr, rgba, bgra, or a colour space.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    This is `color_convert` with to='gray'.

    Parameters"""

@overload
def rgb_to_grayscale(image: ImageLike, /, *, device: str = "auto") -> Any: ...
@overload
def rgb_to_grayscale(*, device: str = "auto") -> Pipeline: ...

@overload
def vertical_flip(image: Image, /, *, device: str = "auto") -> Image:
    """Mirrors the image.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    This is `flip` with direction='vertical'.

    Parameters

    Other names: flipCode for direction."""

@overload
def vertical_flip(image: ImageLike, /, *, device: str = "auto") -> Any: ...
@overload
def vertical_flip(*, device: str = "auto") -> Pipeline: ...

@overload
def vflip(image: Image, /, *, device: str = "auto") -> Image:
    """Mirrors the image.

    Takes one image, and gives its result; without images, a pipeline of this operator, to be chained with `|`.

    This is `flip` with direction='vertical'.

    Parameters

    Other names: flipCode for direction."""

@overload
def vflip(image: ImageLike, /, *, device: str = "auto") -> Any: ...
@overload
def vflip(*, device: str = "auto") -> Pipeline: ...
