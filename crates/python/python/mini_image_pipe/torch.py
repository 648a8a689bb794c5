"""Pipelines where PyTorch loads data: as a transform of a dataset, and over the batches of a `DataLoader`.

    from mini_image_pipe.torch import Collate, Transform

    tensors = Transform("resize shorter_side=256 ! crop width=224 height=224 center=true ! normalize mean=0.5 std=0.5")
    dataset = ImageFolder("train", transform=tensors)                            # or inside v2.Compose([...])
    loader = DataLoader(ImageFolder("train"), collate_fn=Collate("resize width=224 height=224"), batch_size=32)

Both can be pickled, so that they work in workers however those are started. They run on the CPU unless `device` says otherwise:
each worker would open a GPU of its own. PyTorch is imported when the first image is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module
from typing import Any

from . import ops
from ._errors import RequestError
from ._native import Image, Pipeline

__all__ = ["Collate", "Transform"]


@cache
def _torch() -> Any:
    return import_module("torch")


class Transform:
    """A pipeline of one input and one output as a transform: an image in, a tensor (channels, height, width) out.

    `pipeline` is a pipeline's text, or a `Pipeline`, which is copied with its own device and settings. An image is a picture of Pillow, an array
    (height, width) or (height, width, channels), or a tensor (channels, height, width), on a GPU too where the pipeline runs there;
    of a tensor with an axis more each image is transformed. A `tv_tensors.Image` stays one.

    A sample may be an image, a tuple or list that begins with one, a dictionary with one under "image", or several arguments as
    `v2.Compose` hands them on: what else it has is given back as it is. Boxes, masks and key points do not follow the pixels and are refused.
    """

    def __init__(self, pipeline: str | Pipeline, *, device: str = "cpu") -> None:
        self._pipeline = _planar(pipeline, device, None)

    @property
    def pipeline(self) -> Pipeline:
        """The pipeline, to read and to change its parameters."""
        return self._pipeline

    def __call__(self, sample: Any, *others: Any) -> Any:
        if others:
            return (self._image(sample), *map(_without_places, others))
        image, rest = _taken_apart(sample)
        return _put_together(sample, self._image(image), rest)

    def __repr__(self) -> str:
        return f"Transform({str(self._pipeline)!r})"

    def _image(self, given: Any) -> Any:
        torch = _torch()
        if not isinstance(given, torch.Tensor):
            return _tensor(self._pipeline(Image(given)))
        _without_places(given)
        if given.numel() == 0:
            raise RequestError(f"a tensor of shape {tuple(given.shape)} holds no image")
        if given.is_cuda:
            many = given.ndim == 4
            results = self._pipeline.run_batch(given, layout="chw") if many else [self._pipeline(given, layout="chw")]
        else:
            many = given.ndim > 3
            images = [_image(tensor) for tensor in given.reshape(-1, *given.shape[-3:])] if many else [_image(given)]
            results = self._pipeline.run_batch(images) if many else [self._pipeline(images[0])]
        tensors = [_tensor(result) for result in results]
        if many:
            stacked = torch.stack(tensors)
            out = stacked.reshape(*given.shape[:-3], *stacked.shape[1:])
        else:
            out = tensors[0]
        return out if type(given) is torch.Tensor else import_module("torchvision.tv_tensors").wrap(out, like=given)


class Collate:
    """A `collate_fn` that runs a pipeline over the images of a batch, which become one tensor (batch, channels, height, width).

    Samples are what `Transform` takes. Images of one shape run together, at most `max_batch` at once (of a `Pipeline` that is given, its own
    `max_batch_size`); their results must be of one shape. What else samples have goes through PyTorch's `default_collate`. Of tuples and lists it makes a list, of dictionaries one
    with the batch under "image".
    """

    def __init__(self, pipeline: str | Pipeline, *, device: str = "cpu", max_batch: int = 32) -> None:
        self._pipeline = _planar(pipeline, device, max_batch)

    @property
    def pipeline(self) -> Pipeline:
        """The pipeline, to read and to change its parameters."""
        return self._pipeline

    def __call__(self, samples: Sequence[Any]) -> Any:
        torch = _torch()
        if not samples:
            raise RequestError("a batch of no samples has no tensor; it must hold one at least")
        parts = [_taken_apart(sample) for sample in samples]
        batch = torch.stack(self._tensors([image for image, _ in parts]))
        if parts[0][1] is None:
            return batch
        rest = torch.utils.data.default_collate([rest for _, rest in parts])
        return {**rest, "image": batch} if isinstance(rest, dict) else [batch, *rest]

    def __repr__(self) -> str:
        return f"Collate({str(self._pipeline)!r})"

    def _tensors(self, given: Iterable[Any]) -> list[Any]:
        images = [_image(image) for image in given]
        groups: dict[tuple[Any, ...], list[int]] = {}
        for index, image in enumerate(images):
            groups.setdefault((image.shape, image.dtype, image.format, image.layout), []).append(index)
        tensors: list[Any] = [None] * len(images)
        for indices in groups.values():
            results = self._pipeline.run_batch([images[index] for index in indices])
            for index, result in zip(indices, results, strict=True):
                tensors[index] = _tensor(result)
        for tensor, image in zip(tensors, images, strict=True):
            if tensor.shape != tensors[0].shape or tensor.dtype != tensors[0].dtype:
                raise RequestError(
                    f"one tensor holds results of one shape, but an image of shape {images[0].shape} gives {tuple(tensors[0].shape)} and "
                    f"one of shape {image.shape} gives {tuple(tensor.shape)}; let the pipeline end with one size (resize width= height=, "
                    "letterbox, crop), and begin with color_convert where some are gray"
                )
        return tensors


def _planar(pipeline: str | Pipeline, device: str, max_batch: int | None) -> Pipeline:
    settings = {"device": device} if max_batch is None else {"device": device, "max_batch_size": max_batch}
    made = pipeline if isinstance(pipeline, Pipeline) else Pipeline(pipeline, **settings)
    if len(made.inputs) != 1:
        raise RequestError(f"a transform has one image, but this pipeline has the inputs {', '.join(made.inputs)}")
    return made | ops.layout(to="chw")  # type: ignore[attr-defined,unused-ignore,no-any-return]


def _image(given: Any) -> Image:
    """An image on the CPU, without a copy where its memory is in an order that is read."""
    torch = _torch()
    if not isinstance(given, torch.Tensor):
        return Image(given)
    _without_places(given)
    if given.ndim not in (2, 3):
        raise RequestError(f"a tensor of shape {tuple(given.shape)} is no image; it must be (channels, height, width) or (height, width)")
    if type(given) is not torch.Tensor:
        given = given.as_subclass(torch.Tensor)
    if given.ndim == 3 and not given.is_contiguous():
        # A view of an interleaved image, as torchvision makes of pictures.
        interleaved = given.permute(1, 2, 0)
        if interleaved.is_contiguous():
            return Image(interleaved)
    return Image(given.contiguous(), layout="chw")


def _tensor(result: Any) -> Any:
    tensor = result.torch()
    return tensor if tensor.ndim == 3 else tensor.unsqueeze(0)


def _taken_apart(sample: Any) -> tuple[Any, Any]:
    """The image of a sample, and what else there is; None where the sample is the image."""
    if isinstance(sample, dict):
        if "image" not in sample:
            raise RequestError(f"a sample that is a dictionary has an \"image\", but this one has {', '.join(map(repr, sample))}")
        return sample["image"], {name: _without_places(value) for name, value in sample.items() if name != "image"}
    if isinstance(sample, (tuple, list)):
        if not sample:
            raise RequestError("a sample that is a tuple or list begins with an image, but this one is empty")
        return sample[0], [_without_places(value) for value in sample[1:]]
    return sample, None


def _put_together(sample: Any, image: Any, rest: Any) -> Any:
    if rest is None:
        return image
    if isinstance(rest, dict):
        return {name: image if name == "image" else rest[name] for name in sample}
    if hasattr(sample, "_fields"):
        return type(sample)(image, *rest)
    return type(sample)((image, *rest))


def _without_places(value: Any) -> Any:
    """A value that goes by untouched, which holds nothing that should follow the pixels."""
    if isinstance(value, dict):
        for item in value.values():
            _without_places(item)
    elif isinstance(value, (tuple, list)):
        for item in value:
            _without_places(item)
    elif type(value).__module__.startswith("torchvision.tv_tensors") and type(value).__name__ not in ("Image", "Video"):
        raise RequestError(
            f"{type(value).__name__} would not follow the pixels; use torchvision's own transforms for what moves them, and pipelines "
            "for the rest, or give it as a plain tensor where nothing moves"
        )
    return value
