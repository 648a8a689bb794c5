"""Names of OpenCV and torchvision: each stands for what there is, and means what those libraries mean."""

import enum
import inspect
import re
from pathlib import Path

import cv2
import mini_image_pipe as mip
import numpy as np
import pytest
from mini_image_pipe import _aliases, _registry
from PIL import Image as Pillow
from PIL import ImageOps
from test_ops import parameters

OPERATORS = {operator["name"]: operator for operator in _registry.OPERATORS}


def near(ours, theirs, by=1):
    assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
    assert np.abs(ours.astype(float) - theirs.astype(float)).max() <= by


@pytest.mark.parametrize("name", sorted(_aliases.FUNCTIONS))
def test_every_function_stands_for_an_operator_with_such_parameters(name):
    of, fixed = _aliases.FUNCTIONS[name]
    assert name not in OPERATORS
    function = getattr(mip.ops, name)
    assert (function is getattr(mip.ops, of)) == (not fixed)
    params = parameters(OPERATORS[of], OPERATORS[of]["examples"][0])
    params = {param: value for param, value in params.items() if param not in fixed}
    assert str(function(**params)) == str(getattr(mip.ops, of)(**fixed, **params))
    assert not inspect.signature(function).parameters.keys() & fixed.keys()


@pytest.mark.parametrize("alias", _aliases.PARAMETERS, ids=lambda alias: alias.names[0])
def test_every_parameter_stands_for_one_that_there_is(alias):
    fitting = [name for name, operator in OPERATORS.items() if alias.names[0] in _aliases.of(operator)]
    assert fitting, "no operator has what this stands for"
    assert set(fitting) == alias.only or alias.only is None, "a name of an operator that is none, or has no such parameter"
    for name in fitting:
        assert set(alias.stands_for) <= {param["name"] for param in OPERATORS[name]["params"]}
        assert alias.names[0] in getattr(mip.ops, name).__doc__


def test_the_documentation_has_every_name():
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    for name in [*_aliases.FUNCTIONS, *_aliases.DIFFERENT, *(name for alias in _aliases.PARAMETERS for name in alias.names)]:
        assert re.search(rf"`{name}`", readme), f"{name} is not in README.md"


def test_names_that_would_promise_something_else_say_what_there_is():
    for name in _aliases.DIFFERENT:
        assert name not in OPERATORS and name not in _aliases.FUNCTIONS
        with pytest.raises(AttributeError, match=f"there is no operator '{name}': "):
            getattr(mip.ops, name)
    for wrong, meant in [("GausianBlur", "GaussianBlur"), ("resise", "resize"), ("cvtColour", "cvtColor")]:
        with pytest.raises(AttributeError, match=f"did you mean '{meant}'"):
            getattr(mip.ops, wrong)


def test_unknown_parameters_say_which_is_meant(photo):
    for wrong, meant in [("kernel_sise", "kernel_size"), ("bordertype", "borderType"), ("sigm", "sigma")]:
        with pytest.raises(mip.RequestError, match=f"has no parameter '{wrong}' .did you mean '{meant}'") as refused:
            mip.ops.gaussian_blur(photo, **{wrong: 3})
        assert refused.value.operator == "gaussian_blur" and refused.value.parameter == wrong
    with pytest.raises(mip.RequestError, match="was given kernel and ksize, which both say what 'kernel' is"):
        mip.ops.gaussian_blur(photo, kernel=3, ksize=3)
    with pytest.raises(mip.RequestError, match=r"'ksize' of 'gaussian_blur' is \(3, 5\), but must be one number, or two"):
        mip.ops.GaussianBlur(photo, ksize=(3, 5))
    with pytest.raises(mip.RequestError, match=r"'size' of 'resize' is \(1, 2, 3\), but must be"):
        mip.ops.resize(photo, size=(1, 2, 3))
    with pytest.raises(mip.RequestError, match="must be one of bilinear, nearest"):
        mip.ops.resize(photo, size=9, interpolation="best")
    with pytest.raises(TypeError, match="takes 1 images, and 2 are given; parameters are given by name: kernel, sigma"):
        mip.ops.GaussianBlur(photo, (5, 5))
    with pytest.raises(TypeError, match="says itself what operation is"):
        mip.ops.subtract(photo, photo, operation="add")


def test_opencv_means_the_same(photo):
    other = np.roll(photo, 7, axis=0)
    near(mip.ops.GaussianBlur(photo, ksize=(5, 5), sigmaX=1.2), cv2.GaussianBlur(photo, ksize=(5, 5), sigmaX=1.2))
    border = cv2.BORDER_REFLECT
    near(mip.ops.blur(photo, ksize=(3, 5), borderType=border), cv2.blur(photo, ksize=(3, 5), borderType=border))
    near(mip.ops.medianBlur(photo, ksize=5), cv2.medianBlur(photo, ksize=5), 0)
    near(mip.ops.addWeighted(photo, other, alpha=0.25, beta=0.5, gamma=3), cv2.addWeighted(photo, 0.25, other, 0.5, 3))
    near(mip.ops.subtract(photo, other), cv2.subtract(photo, other), 0)
    near(mip.ops.equalizeHist(photo[:, :, 1]), cv2.equalizeHist(np.ascontiguousarray(photo[:, :, 1])), 0)
    near(mip.ops.flip(photo, flipCode=0), cv2.flip(photo, 0), 0)
    edge = {"top": 2, "bottom": 1, "left": 3, "right": 4, "borderType": cv2.BORDER_REFLECT_101}
    near(mip.ops.copyMakeBorder(photo, **edge), cv2.copyMakeBorder(photo, **edge), 0)
    constant = {"top": 2, "bottom": 1, "left": 3, "right": 4, "borderType": cv2.BORDER_CONSTANT, "value": (9, 8, 7)}
    near(mip.ops.copyMakeBorder(photo, **constant), cv2.copyMakeBorder(photo, **constant), 0)
    shift = np.array([[1, 0, 5], [0, 1, -2]], float)
    near(mip.ops.warpAffine(photo, M=shift, dsize=(60, 40)), cv2.warpAffine(photo, M=shift, dsize=(60, 40)), 0)
    near(mip.ops.resize(photo, dsize=(32, 24)), cv2.resize(photo, dsize=(32, 24)))
    near(mip.ops.threshold(photo, thresh=90, maxval=200), cv2.threshold(photo, 90, 200, cv2.THRESH_BINARY)[1], 0)
    limits = {"lowerb": (50, 0, 90), "upperb": (200, 255, 180)}
    near(mip.ops.inRange(photo, **limits), cv2.inRange(photo, **limits), 0)
    near(mip.ops.morphologyEx(photo, op="close", ksize=3), cv2.morphologyEx(photo, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8)), 0)
    near(mip.ops.pyrDown(photo), cv2.pyrDown(photo))


def test_torchvision_means_the_same(photo):
    class InterpolationMode(enum.Enum):
        BICUBIC = "bicubic"

    assert mip.ops.resize(photo, size=24).shape == (24, 32, 3)
    assert mip.ops.resize(photo, size=(20, 30)).shape == (20, 30, 3)
    cubic = mip.ops.resize(photo, size=(20, 30), interpolation=InterpolationMode.BICUBIC)
    assert np.array_equal(cubic, mip.ops.resize(photo, height=20, width=30, filter="bicubic"))
    assert np.array_equal(mip.ops.center_crop(photo, size=(20, 30)), photo[14:34, 17:47])
    # NumPy's modes are what torchvision's are.
    for mode, theirs in [("edge", "edge"), ("reflect", "reflect"), ("symmetric", "symmetric")]:
        ours = mip.ops.pad(photo, padding=(3, 1, 2, 4), padding_mode=mode)
        assert np.array_equal(ours, np.pad(photo, ((1, 4), (3, 2), (0, 0)), mode=theirs))
    assert np.array_equal(mip.ops.pad(photo, padding=2, fill=7), np.pad(photo, ((2, 2), (2, 2), (0, 0)), constant_values=7))
    assert np.array_equal(mip.ops.pad(photo, padding=[1, 2]), np.pad(photo, ((2, 2), (1, 1), (0, 0))))
    turned = mip.ops.rotate(photo, angle=90, fill=255, interpolation="nearest")
    assert (turned == 255).any()
    assert np.array_equal(mip.ops.hflip(photo), photo[:, ::-1]) and np.array_equal(mip.ops.vflip(photo), photo[::-1])
    assert np.array_equal(mip.ops.rgb_to_grayscale(photo), mip.ops.color_convert(photo, to="gray"))
    assert np.array_equal(mip.ops.equalize(photo), np.asarray(ImageOps.equalize(Pillow.fromarray(photo))))
    assert np.array_equal(mip.ops.adjust_hue(photo, hue_factor=0.25), mip.ops.hue(photo, factor=0.25))


def test_an_operators_own_parameter_goes_first(photo):
    assert "fill" not in _aliases.of(OPERATORS["letterbox"])
    assert (mip.ops.letterbox(photo, size=64, fill=9)[0] == 9).all()


def test_numbers_of_expressions_may_have_any_name(photo):
    assert np.array_equal(mip.ops.point(photo, expr="v + padding_mode", padding_mode=0), photo)
