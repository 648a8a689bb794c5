"""What pickle calls, and what modules here share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._native import Image, Pipeline
from ._registry import images

if TYPE_CHECKING:
    from ._native import Layout, PixelFormat


def pipeline(text: str, settings: dict[str, Any]) -> Pipeline:
    """A pipeline from its one-line form."""
    return Pipeline(text, **settings)


def image(array: Any, format: PixelFormat, layout: Layout) -> Image:
    """An image from its samples."""
    return Image(array, format=format, layout=layout)


def operator_pipeline(operator: dict[str, Any], count: int, device: str, params: dict[str, Any]) -> Pipeline:
    """A pipeline of one operator over so many images."""
    if any(param["name"] == "count" for param in operator["params"]):
        # `tile` says how many it takes: as many as there are, if it is not told.
        params = {"count": count, **params}
        count = params["count"]
    names = images(operator)
    names += [f"{names[0]}{number}" for number in range(len(names) + 1, count + 1)]
    name = operator["name"]
    if len(names) < 2:
        return Pipeline(device=device).add(name, name, **params)
    sources = [f"@{source}" for source in names]
    return Pipeline(inputs=names, device=device).add(name, name, inputs=sources, **params)
