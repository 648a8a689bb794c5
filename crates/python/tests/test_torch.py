"""Transforms and batches for PyTorch: with PyTorch where it is installed, else with what stands in for the part that is used."""

import importlib.util
import pickle
import subprocess
import sys
from collections import namedtuple

import fake_torch
import mini_image_pipe as mip
import mini_image_pipe.torch as adapter
import numpy as np
import pytest
from mini_image_pipe.torch import Collate, Transform
from PIL import Image as Pillow

LINE = "resize width=32 height=24 ! normalize mean=[0.4,0.5,0.6] std=0.25"
HAS_TORCH = importlib.util.find_spec("torch") is not None
needs_torchvision = pytest.mark.skipif(importlib.util.find_spec("torchvision") is None, reason="torchvision is not installed")


@pytest.fixture(params=["PyTorch", "what stands in for it"])
def torch(request, monkeypatch):
    if request.param == "PyTorch":
        module = pytest.importorskip("torch", reason="PyTorch is not installed")
    else:
        module = fake_torch.module()
        monkeypatch.setitem(sys.modules, "torch", module)
    adapter._torch.cache_clear()
    yield module
    adapter._torch.cache_clear()


def expected(photo, line=LINE):
    return mip.Pipeline(f"{line} ! layout to=chw", device="cpu")(photo)


def test_importing_it_imports_nothing():
    code = "import sys, mini_image_pipe.torch, mini_image_pipe.albumentations; sys.exit('torch' in sys.modules or 'albumentations' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_whatever_an_image_is_it_gives_the_same_tensor(torch, photo):
    transform = Transform(LINE)
    planar = torch.from_numpy(photo.transpose(2, 0, 1))
    for image in [photo, Pillow.fromarray(photo), planar, planar.contiguous(), torch.from_numpy(np.asfortranarray(photo)).permute(2, 0, 1)]:
        tensor = transform(image)
        assert isinstance(tensor, torch.Tensor) and tensor.is_contiguous()
        assert np.array_equal(np.asarray(tensor), expected(photo))
    for given in (mip.Pipeline(LINE, device="cpu"), f"{LINE} ! layout to=chw"):
        assert np.array_equal(np.asarray(Transform(given)(photo)), expected(photo))
    tensor[0, 0, 0] = 5  # memory of its own


def test_tensors_are_read_in_their_order(torch, photo):
    # Rows and columns that a wrong order of axes would show.
    planar = torch.from_numpy(photo.transpose(2, 0, 1))
    for image in (planar, planar.contiguous()):
        assert np.array_equal(np.asarray(Transform("crop x=3 y=5 width=20 height=10")(image)), photo[5:15, 3:23].transpose(2, 0, 1))


def test_gray_images_have_one_channel(torch, gray):
    for image in [gray, torch.from_numpy(gray), torch.from_numpy(gray[None]), Pillow.fromarray(gray)]:
        tensor = Transform("flip")(image)
        assert tuple(tensor.shape) == (1, 48, 64) and np.array_equal(np.asarray(tensor)[0], gray[:, ::-1])


def test_batches_are_transformed_one_by_one(torch, photo):
    images = np.stack([np.roll(photo, shift, axis=1) for shift in range(6)]).transpose(0, 3, 1, 2)
    batch = Transform(LINE)(torch.from_numpy(np.ascontiguousarray(images)))
    assert tuple(batch.shape) == (6, 3, 24, 32)
    for index, tensor in enumerate(batch):
        assert np.array_equal(np.asarray(tensor), expected(np.roll(photo, index, axis=1)))
    assert tuple(Transform(LINE)(torch.from_numpy(np.ascontiguousarray(images).reshape(2, 3, 3, 48, 64))).shape) == (2, 3, 3, 24, 32)
    with pytest.raises(mip.RequestError, match=r"of shape \(0, 3, 4, 4\) holds no image"):
        Transform(LINE)(torch.from_numpy(np.zeros((0, 3, 4, 4), np.uint8)))


def test_what_else_a_sample_has_comes_back(torch, photo):
    transform, tensor = Transform(LINE), expected(photo)
    image, label = transform(photo, 3)
    assert label == 3 and np.array_equal(np.asarray(image), tensor)
    for sample in [(photo, 3), [photo, 3], namedtuple("Sample", "picture label")(photo, 3)]:
        out = transform(sample)
        assert type(out) is type(sample) and out[1] == 3 and np.array_equal(np.asarray(out[0]), tensor)
    out = transform({"id": "x", "image": photo})
    assert list(out) == ["id", "image"] and out["id"] == "x" and np.array_equal(np.asarray(out["image"]), tensor)
    with pytest.raises(mip.RequestError, match="has an \"image\", but this one has 'picture'"):
        transform({"picture": photo})
    with pytest.raises(mip.RequestError, match="but this one is empty"):
        transform(())


def test_batches_of_samples_of_several_shapes_become_one_tensor(torch, photo):
    collate = Collate(LINE, max_batch=2)
    images = [photo, photo[:30], Pillow.fromarray(photo[::-1].copy()), photo[:, 5:], torch.from_numpy(photo.transpose(2, 0, 1))]
    arrays = [photo, photo[:30], photo[::-1], photo[:, 5:], photo]
    for batch in (collate(images), collate([(image, n) for n, image in enumerate(images)])[0], collate([{"image": i} for i in images])["image"]):
        assert isinstance(batch, torch.Tensor) and tuple(batch.shape) == (5, 3, 24, 32)
        for tensor, array in zip(batch, arrays, strict=True):
            assert np.array_equal(np.asarray(tensor), expected(array))
    _, labels, names = collate([(photo, 7, "a"), (photo, 8, "b")])
    assert np.array_equal(np.asarray(labels), [7, 8]) and list(names) == ["a", "b"]
    sample = collate([{"image": photo, "label": 7}, {"image": photo, "label": 8}])
    assert np.array_equal(np.asarray(sample["label"]), [7, 8])
    with pytest.raises(mip.RequestError, match=r"\(48, 64, 3\) gives \(3, 48, 64\) and one of shape \(30, 64, 3\) gives \(3, 30, 64\)"):
        Collate("flip")([photo, photo[:30]])
    with pytest.raises(mip.RequestError, match="no samples"):
        collate([])


def test_they_can_be_pickled_and_shown(torch, photo):
    for made in (Transform(LINE), Collate(LINE)):
        again = pickle.loads(pickle.dumps(made))
        assert repr(again) == repr(made) and "resize" in repr(made)
    assert np.array_equal(np.asarray(pickle.loads(pickle.dumps(Transform(LINE)))(photo)), expected(photo))
    transform = Transform("normalize std=0.5")
    transform.pipeline["normalize.std"] = 0.25
    assert np.array_equal(np.asarray(transform(photo)), expected(photo, "normalize std=0.25"))


def test_pipelines_that_are_no_transforms_are_refused(torch, photo):
    with pytest.raises(mip.RequestError, match="has the inputs a, b"):
        Transform("inputs=a,b ! blend inputs=@a,@b")
    with pytest.raises(mip.RequestError, match="no image; it must be"):
        Transform(LINE)(torch.from_numpy(photo[0, 0]))


@needs_torchvision
def test_it_composes_with_torchvision(photo):
    torch = pytest.importorskip("torch")
    from torchvision import tv_tensors
    from torchvision.transforms import v2

    chain = v2.Compose([v2.ToImage(), Transform(LINE), v2.ToDtype(torch.float64)])
    assert np.array_equal(chain(Pillow.fromarray(photo)).numpy(), expected(photo).astype(np.float64))
    image, label = v2.Compose([Transform(LINE), v2.Normalize([0, 0, 0], [2, 2, 2])])(photo, 3)
    assert label == 3 and np.allclose(image.numpy(), expected(photo) / 2)
    wrapped = Transform(LINE)(v2.functional.to_image(photo))
    assert type(wrapped) is tv_tensors.Image
    boxes = tv_tensors.BoundingBoxes([[0, 0, 4, 4]], format="XYXY", canvas_size=(48, 64))
    for places in (boxes, tv_tensors.Mask(torch.zeros(48, 64))):
        with pytest.raises(mip.RequestError, match=f"{type(places).__name__} would not follow the pixels"):
            Transform(LINE)(photo, {"target": [places]})
    # Its resize is near ours, as its numbers are.
    ours = Transform("resize width=32 height=24")(photo)
    theirs = v2.functional.resize(torch.from_numpy(photo.transpose(2, 0, 1).copy()), [24, 32], antialias=False)
    assert (ours.int() - theirs.int()).abs().max() <= 1


class Photos:
    """A dataset; at the top of a module, where workers find it."""

    def __init__(self, transform=None):
        self.transform = transform

    def __len__(self):
        return 8

    def __getitem__(self, index):
        image = np.random.default_rng(index).integers(0, 256, (40 + index % 2, 50, 3), dtype=np.uint8)
        return (self.transform(image) if self.transform else image), index


@pytest.mark.skipif(not HAS_TORCH, reason="PyTorch is not installed")
@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_data_loaders_use_it_in_workers(start):
    from torch.utils.data import DataLoader

    settings = {"batch_size": 4, "num_workers": 2, "multiprocessing_context": start}
    Transform(LINE)(Photos()[0][0])  # an engine that a fork must not use
    for loader in (DataLoader(Photos(Transform(LINE)), **settings), DataLoader(Photos(), collate_fn=Collate(LINE), **settings)):
        seen = [(tensor, int(label)) for batch, labels in loader for tensor, label in zip(batch, labels, strict=True)]
        assert [label for _, label in seen] == list(range(8))
        for tensor, label in seen:
            assert np.array_equal(tensor.numpy(), expected(Photos()[label][0]))
