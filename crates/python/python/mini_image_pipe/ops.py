"""Every operator as a function, made of the engine's registry: `ops.resize(image, width=640)`.

Without an image it is a pipeline to be chained: `ops.resize(width=640) | ops.sobel()`. Chains are what to use where several
operators follow each other: they are planned and fused as one, while each call of a function makes its whole result.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from ._native import Pipeline
from ._registry import OPERATORS, documentation, images, signature
from ._support import operator_pipeline


@lru_cache(maxsize=256)
def _ready(index: int, count: int, device: str, params: tuple[tuple[str, type, Any], ...]) -> Pipeline:
    """The pipeline behind a function called with these parameters, with its plan and memory."""
    return operator_pipeline(OPERATORS[index], count, device, {name: value for name, _, value in params})


def _key(name: str, value: Any) -> tuple[str, type, Any]:
    """A parameter as a part of a key: with its type, since True and 1 are the same to a dictionary, and lists as tuples."""
    try:
        hash(value)
    except TypeError:
        value = tuple(float(item) for item in value)
    return name, type(value), value


def _function(index: int, operator: dict[str, Any]) -> Callable[..., Any]:
    expected = len(images(operator))

    def function(*images: Any, device: str = "auto", **params: Any) -> Any:
        if not images:
            return operator_pipeline(operator, expected, device, params)
        count = max(expected, min(len(images), expected + operator["further_inputs"]))
        key = tuple(_key(name, value) for name, value in params.items())
        return _ready(index, count, device, key)(*images)

    function.__name__ = function.__qualname__ = operator["name"]
    function.__module__ = __name__
    function.__doc__ = documentation(operator)
    function.__signature__ = signature(operator)  # type: ignore[attr-defined]
    return function


for _index, _operator in enumerate(OPERATORS):
    globals()[_operator["name"]] = _function(_index, _operator)

__all__ = [operator["name"] for operator in OPERATORS]
