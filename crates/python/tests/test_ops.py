"""Operators as functions, made of the registry, against the definitions of NumPy and OpenCV."""

import __future__
import inspect
import json
import re
import shlex
from pathlib import Path

import cv2
import mini_image_pipe as mip
import numpy as np
import pytest
from mini_image_pipe import _registry
from mini_image_pipe.stubs import text as stub

OPERATORS = {operator["name"]: operator for operator in _registry.OPERATORS}
# What takes no image in colours, lists of boxes, or several that are not alike.
OF_OTHER_IMAGES = {
    "composite", "crop_resize", "demosaic", "distance_transform", "draw", "flatten", "label", "merge", "nms", "redact", "regions", "remap",
    "yuv_to_rgb",
}  # fmt: skip


def near(ours, theirs, by):
    """Whether two images differ by at most `by` in each sample."""
    assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
    return np.abs(ours.astype(float) - theirs.astype(float)).max() <= by


def test_every_operator_is_a_function_with_its_parameters_and_text():
    assert sorted(mip.ops.__all__) == sorted(OPERATORS)
    for name, operator in OPERATORS.items():
        function = getattr(mip.ops, name)
        assert function.__name__ == name and operator["summary"] in function.__doc__
        given = inspect.signature(function).parameters
        for param in operator["params"]:
            assert given[param["name"]].kind is inspect.Parameter.KEYWORD_ONLY
            assert f"{param['name']}: {param['help']}" in function.__doc__
            assert (given[param["name"]].default is inspect.Parameter.empty) == param["required"]


def value(text):
    """A parameter's value, as it stands in an example."""
    try:
        return json.loads(text if "," not in text or text.startswith("[") else f"[{text}]")
    except ValueError:
        return text


def parameters(operator, example):
    """The parameters of an operator's example."""
    texts = {param["name"] for param in operator["params"] if param["type"] == "text"}
    parts = (part.split("=", 1) for part in shlex.split(example))
    return {param: text if param in texts else value(text) for param, text in parts}


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_every_example_of_every_operator_is_the_same_as_a_function(name, photo):
    operator = OPERATORS[name]
    ran = 0
    for example in operator["examples"]:
        params = parameters(operator, example)
        # `tile` takes as many as it is told.
        inputs = [*operator["inputs"], *(f"in{n}" for n in range(len(operator["inputs"]) + 1, params.get("count", 0) + 1))]
        sources = ",".join("@" + source for source in inputs)
        text = f"inputs={','.join(inputs)} ! {name} inputs={sources} {example}"
        if "\n" in example:
            # What has several lines is read as a pipeline file.
            lines = [f"{key} = {json.dumps(value)}" for key, value in params.items()]
            text = "\n".join(["[[task]]", 'name = "only"', f'op = "{name}"', *lines])
        pipe = mip.Pipeline(text)
        images = [np.roll(photo, number, axis=0) for number in range(len(inputs))]
        try:
            expected = pipe(*images)
        except mip.RequestError as refused:
            # Some are for images of another format, or larger ones.
            with pytest.raises(mip.RequestError, match=re.escape(str(refused))):
                getattr(mip.ops, name)(*images, **params)
            continue
        assert np.array_equal(getattr(mip.ops, name)(*images, **params), expected), example
        ran += 1
    assert ran or name in OF_OTHER_IMAGES, "an operator that no example of shows at work"


def test_tile_takes_as_many_images_as_there_are(photo):
    dark = photo // 2
    assert np.array_equal(mip.ops.tile(photo, dark), np.hstack([photo, dark]))
    assert np.array_equal(mip.ops.tile(photo, dark, photo, columns=1), np.vstack([photo, dark, photo]))
    assert np.array_equal(mip.ops.tile(count=3)(photo, dark, photo), np.hstack([photo, dark, photo]))


def test_the_stubs_are_current():
    checked_in = Path(mip.__file__).with_name("ops.pyi")
    assert checked_in.read_text() == stub(), "python -m mini_image_pipe.stubs > python/mini_image_pipe/ops.pyi"


def test_the_stub_of_the_native_half_has_its_names_and_arguments():
    source = Path(mip.__file__).with_name("_native.pyi").read_text()
    stub_of = {}
    exec(compile(source, "_native.pyi", "exec", flags=__future__.annotations.compiler_flag), stub_of)  # noqa: S102: our own file
    for name in ["Image", "Pipeline", "Plan", "Stream", "Task", "decode", "open", "save", "devices", "operators"]:
        native = getattr(mip._native, name)
        said = stub_of[name]
        members = [(native, said)] if not inspect.isclass(native) else [
            (getattr(native, member), getattr(said, member)) for member in vars(native) if not member.startswith("_")
        ]
        for real, described in members:
            if callable(real):
                real_names = [p.name for p in inspect.signature(real).parameters.values()]
                said_names = [p.name for p in inspect.signature(described).parameters.values()]
                assert real_names == said_names, real


def test_numbers_of_an_expression_are_parameters(photo):
    brighter = mip.ops.point(photo, expr="clamp(v * gain, 0, 255)", gain=1.5)
    assert near(brighter, np.clip(np.rint(photo * 1.5), 0, 255).astype(np.uint8), 1)


def test_lists_and_arrays_are_parameters(photo):
    one = mip.ops.normalize(photo, mean=[0.1, 0.2, 0.3], std=np.float32(0.5))
    assert np.array_equal(one, mip.ops.normalize(photo, mean=np.array([0.1, 0.2, 0.3]), std=0.5))
    with pytest.raises(mip.RequestError, match="is true, but must be"):
        mip.ops.erode(photo, kernel=1)
        mip.ops.erode(photo, kernel=True)
    expected = (photo / 255 - np.array([0.1, 0.2, 0.3])) / 0.5
    assert np.allclose(one, expected, atol=1e-6)


@pytest.mark.parametrize("axis", ["horizontal", "vertical"])
def test_flip_crop_transpose_and_invert_are_those_of_numpy(photo, axis):
    assert np.array_equal(mip.ops.flip(photo, direction=axis), photo[:, ::-1] if axis == "horizontal" else photo[::-1])
    assert np.array_equal(mip.ops.crop(photo, x=3, y=5, width=20, height=10), photo[5:15, 3:23])
    assert np.array_equal(mip.ops.transpose(photo), photo.transpose(1, 0, 2))
    assert np.array_equal(mip.ops.invert(photo), 255 - photo)


def test_absdiff_blend_and_threshold_are_those_of_opencv(photo):
    other = np.roll(photo, 5, axis=1)
    assert np.array_equal(mip.ops.absdiff(photo, other), cv2.absdiff(photo, other))
    assert near(mip.ops.blend(photo, other, alpha=0.3), cv2.addWeighted(photo, 0.3, other, 0.7, 0), 1)
    assert np.array_equal(mip.ops.threshold(photo, threshold=90), cv2.threshold(photo, 90, 255, cv2.THRESH_BINARY)[1])


def test_erode_and_dilate_are_those_of_opencv(photo):
    square = np.ones((5, 5), np.uint8)
    assert np.array_equal(mip.ops.erode(photo, kernel=5), cv2.erode(photo, square))
    assert np.array_equal(mip.ops.dilate(photo, kernel=5), cv2.dilate(photo, square))


def test_blur_and_gray_are_near_those_of_opencv(photo):
    theirs = cv2.GaussianBlur(photo, (7, 7), 1.5, borderType=cv2.BORDER_REFLECT_101)
    assert near(mip.ops.gaussian_blur(photo, kernel=7, sigma=1.5), theirs, 1)
    assert near(mip.ops.color_convert(photo, to="gray"), cv2.cvtColor(photo, cv2.COLOR_RGB2GRAY), 1)
    assert np.array_equal(mip.ops.color_convert(photo, to="bgr"), photo[:, :, ::-1])


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("bilinear", cv2.INTER_LINEAR), ("nearest", cv2.INTER_NEAREST_EXACT), ("area", cv2.INTER_AREA)],
)
def test_resize_is_near_that_of_opencv(photo, ours, theirs):
    resized = mip.ops.resize(photo, width=32, height=24, filter=ours)
    assert near(resized, cv2.resize(photo, (32, 24), interpolation=theirs), 1)


def test_sobel_is_that_of_the_definition(gray):
    x = cv2.Sobel(gray, cv2.CV_64F, 1, 0, borderType=cv2.BORDER_REFLECT_101)
    y = cv2.Sobel(gray, cv2.CV_64F, 0, 1, borderType=cv2.BORDER_REFLECT_101)
    assert near(mip.ops.sobel(gray), np.clip(np.rint(np.hypot(x, y)), 0, 255).astype(np.uint8), 1)


def test_integral_images_are_those_of_opencv(photo, gray):
    for image in (photo, gray, np.full((300, 300), 255, np.uint8)):
        sums, squares = cv2.integral2(image, sdepth=cv2.CV_32S, sqdepth=cv2.CV_64F)
        ours = mip.ops.integral(image)
        assert ours.dtype == np.int32 and np.array_equal(ours, sums)
        # Theirs are f64, ours the same modulo 2^32.
        wrapped = squares.astype(np.int64).astype(np.uint32).view(np.int32)
        assert np.array_equal(mip.ops.integral(image, squared=True), wrapped)


def test_sums_of_32_bits_are_moved_as_they_are():
    sums = np.random.default_rng(4).integers(-(2**31), 2**31, (40, 30), np.int32)
    assert np.array_equal(mip.ops.flip(sums), sums[:, ::-1])
    assert np.array_equal(mip.ops.crop(sums, width=7, height=9, x=3), sums[:9, 3:10])
    assert np.array_equal(mip.ops.cast(sums, to="f32", scale=False), sums.astype(np.float32))
    assert np.array_equal(np.from_dlpack(mip.Image(sums)), sums)
    with pytest.raises(mip.RequestError, match="cast to=f32 scale=false"):
        mip.ops.gaussian_blur(sums)


def test_cast_and_layout_are_those_of_numpy(photo):
    assert np.array_equal(mip.ops.cast(photo, to="u16"), photo.astype(np.uint16) * 257)
    assert np.allclose(mip.ops.cast(photo, to="f32"), photo / np.float32(255))
    assert np.array_equal(mip.ops.layout(photo, to="chw"), photo.transpose(2, 0, 1))
