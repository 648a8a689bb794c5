"""The call of Albumentations, and a step inside it where it is installed."""

import pickle

import mini_image_pipe as mip
import numpy as np
import pytest
from mini_image_pipe.albumentations import Compose

LINE = "resize width=32 height=24 ! sobel"


def test_images_come_by_name(photo):
    transform, pipe = Compose(LINE, additional_targets={"right": "image"}), mip.Pipeline(LINE, device="cpu")
    out = transform(image=photo, right=photo[::-1], label=3)
    assert list(out) == ["image", "right", "label"] and out["label"] == 3
    assert np.array_equal(out["image"], pipe(photo)) and np.array_equal(out["right"], pipe(photo[::-1]))
    several = transform(images=[photo, photo[:20]])["images"]
    assert isinstance(several, list) and np.array_equal(several[1], pipe(photo[:20]))
    stacked = transform(images=np.stack([photo, photo[::-1]]))["images"]
    assert stacked.shape == (2, 24, 32) and np.array_equal(stacked[1], pipe(photo[::-1]))
    again = pickle.loads(pickle.dumps(transform))
    assert repr(again) == repr(transform) and np.array_equal(again(image=photo)["image"], out["image"])


@pytest.mark.parametrize("name", ["mask", "masks", "bboxes", "keypoints"])
def test_what_would_not_follow_is_refused_unless_nothing_moves(photo, name):
    with pytest.raises(mip.RequestError, match=f"{name} would not follow the pixels"):
        Compose(LINE)(image=photo, **{name: [photo]})
    places = [photo]
    assert Compose("invert", moves_pixels=False)(image=photo, **{name: places})[name] is places


def test_what_is_wrong_is_said(photo):
    with pytest.raises(TypeError, match="by name"):
        Compose(LINE)(photo)
    with pytest.raises(mip.RequestError, match="no image among label"):
        Compose(LINE)(label=3)
    with pytest.raises(mip.RequestError, match="has the inputs a, b and the outputs blend"):
        Compose("inputs=a,b ! blend inputs=@a,@b")


def test_it_is_a_step_of_albumentations_own_compose(photo):
    albumentations = pytest.importorskip("albumentations", reason="Albumentations is not installed")
    mask = np.arange(48 * 64, dtype=np.int32).reshape(48, 64)
    chain = albumentations.Compose([Compose("clahe clip_limit=2").step(), albumentations.HorizontalFlip(p=1)])
    out = chain(image=photo, mask=mask)
    expected = mip.ops.clahe(photo, clip_limit=2)[:, ::-1]
    assert np.array_equal(out["image"], expected) and np.array_equal(out["mask"], mask[:, ::-1])
    for again in (pickle.loads(pickle.dumps(chain)), albumentations.from_dict(albumentations.to_dict(chain))):
        assert np.array_equal(again(image=photo)["image"], expected)
    assert chain(image=photo[:, :, :1])["image"].shape == (48, 64, 1)
    with pytest.raises(mip.RequestError, match="leaves pixels where they are"):
        albumentations.Compose([Compose(LINE).step()])(image=photo)
