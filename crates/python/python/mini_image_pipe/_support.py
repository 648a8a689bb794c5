"""What pickle calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._native import Image, Pipeline

if TYPE_CHECKING:
    from ._native import Layout, PixelFormat


def pipeline(text: str, settings: dict[str, Any]) -> Pipeline:
    """A pipeline from its one-line form."""
    return Pipeline(text, **settings)


def image(array: Any, format: PixelFormat, layout: Layout) -> Image:
    """An image from its samples."""
    return Image(array, format=format, layout=layout)
