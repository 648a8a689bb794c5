"""Pipelines called as Albumentations is, `transform(image=image)["image"]`, and as a step inside `A.Compose`.

    from mini_image_pipe.albumentations import Compose

    transform = Compose("resize width=224 height=224 ! clahe clip_limit=2")
    small = transform(image=photo)["image"]

    augment = A.Compose([Compose("clahe clip_limit=2").step(p=0.5), A.HorizontalFlip()])

Albumentations is imported by `step` alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from ._batches import run_mixed
from ._errors import RequestError
from ._native import Pipeline

__all__ = ["Compose"]

# What Albumentations moves with the pixels.
_PLACES = ("mask", "masks", "mask3d", "masks3d", "bboxes", "keypoints")


class Compose:
    """A pipeline of one input and one output with the call of `A.Compose`.

    `pipeline` is a pipeline's text, or a `Pipeline` with its own device. `image` is an array (height, width) or (height, width, channels);
    `images`, several of them, of any shapes. Names of `additional_targets` are images too, `{"right": "image"}`. Masks, boxes and key
    points do not follow the pixels and are refused, unless `moves_pixels=False` says that the pipeline leaves all pixels where they
    are: they and everything else are then given back as they came.
    """

    def __init__(
        self,
        pipeline: str | Pipeline,
        *,
        device: str = "cpu",
        additional_targets: Mapping[str, str] | None = None,
        moves_pixels: bool = True,
    ) -> None:
        self._pipeline = pipeline if isinstance(pipeline, Pipeline) else Pipeline(pipeline, device=device)
        self._targets = {"image": "image", "images": "images", **(additional_targets or {})}
        self._moves_pixels = moves_pixels
        if len(self._pipeline.inputs) != 1 or len(self._pipeline.outputs) != 1:
            raise RequestError(
                f"a transform has one image and one result, but this pipeline has the inputs {', '.join(self._pipeline.inputs)} and the "
                f"outputs {', '.join(self._pipeline.outputs)}"
            )

    @property
    def pipeline(self) -> Pipeline:
        """The pipeline, to read and to change its parameters."""
        return self._pipeline

    def __call__(self, *arguments: Any, **data: Any) -> dict[str, Any]:
        if arguments:
            raise TypeError("images are given by name: transform(image=image)")
        if not any(self._targets.get(name) in ("image", "images") for name in data):
            raise RequestError(f"there is no image among {', '.join(data) or 'no arguments'}; transform(image=image)")
        return {name: self._target(name, value) for name, value in data.items()}

    def __repr__(self) -> str:
        return f"Compose({str(self._pipeline)!r})"

    def step(self, p: float = 1.0) -> Any:
        """This pipeline as a transform inside `A.Compose`, applied with probability `p`. Albumentations gives masks and boxes by such a step, which
        changes colours alone, as it gives them by its own: a pipeline that moves pixels belongs before or behind.
        """
        return _step_class()(str(self._pipeline), pipeline=self._pipeline, p=p)

    def _target(self, name: str, value: Any) -> Any:
        match self._targets.get(name, name):
            case "image":
                return self._pipeline(np.asarray(value))
            case "images":
                results = run_mixed(self._pipeline, value)
                return np.stack(results) if isinstance(value, np.ndarray) else results
            case kind if kind in _PLACES and self._moves_pixels and value is not None:
                raise RequestError(
                    f"{name} would not follow the pixels; use Albumentations' own transforms for what moves them, or say "
                    "Compose(..., moves_pixels=False) where this pipeline moves none"
                )
        return value


@cache
def _step_class() -> Any:
    base: Any = import_module("albumentations").ImageOnlyTransform

    class PipelineStep(base):  # type: ignore[misc]
        """A pipeline of Mini-ImagePipe."""

        class InitSchema(base.InitSchema):  # type: ignore[misc]
            text: str
            pipeline: Any = None

        def __init__(self, text: str, pipeline: Pipeline | None = None, p: float = 1.0) -> None:
            super().__init__(p=p)
            self.text = text
            self.pipeline = pipeline or Pipeline(text, device="cpu")

        def apply(self, img: Any, **_: Any) -> Any:
            result = self.pipeline(np.ascontiguousarray(img))
            if result.shape[:2] != img.shape[:2]:
                raise RequestError(
                    f"a step of A.Compose leaves pixels where they are, but this pipeline makes {img.shape[:2]} of {result.shape[:2]}"
                )
            return result[:, :, np.newaxis] if result.ndim < img.ndim else result

        def get_transform_init_args_names(self) -> tuple[str, ...]:
            return ("text",)

    # Where pickle looks for it.
    PipelineStep.__qualname__ = "PipelineStep"
    return PipelineStep


def __getattr__(name: str) -> Any:
    if name == "PipelineStep":
        return _step_class()
    raise AttributeError(f"module {__name__} has no attribute '{name}'")
