"""Every operator as a function, made of the engine's registry: `ops.resize(image, width=640)`.

Without an image it is a pipeline to be chained: `ops.resize(width=640) | ops.sobel()`. Chains are what to use where several
operators follow each other: they are planned and fused as one, while each call of a function makes its whole result.

Many answer to the names of OpenCV and torchvision too, and so do their parameters: `ops.GaussianBlur(image, ksize=5)`.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from . import _aliases
from ._native import Pipeline
from ._registry import OPERATORS, documentation, images, signature
from ._support import operator_pipeline


@lru_cache(maxsize=256)
def _ready(index: int, count: int, device: str, params: tuple[tuple[str, type, Any], ...]) -> Pipeline:
    """The pipeline behind a function called with these parameters, with its plan and memory."""
    operator = OPERATORS[index]
    given = {name: value for name, _, value in params}
    return operator_pipeline(operator, count, device, _aliases.resolved(operator, given))


def _key(name: str, value: Any) -> tuple[str, type, Any]:
    """A parameter as a part of a key: with its type, since True and 1 are the same to a dictionary, and lists as tuples."""
    try:
        hash(value)
    except TypeError:
        value = tuple(np.ravel(value).tolist())
    return name, type(value), value


def _function(index: int, operator: dict[str, Any], name: str, fixed: dict[str, Any]) -> Callable[..., Any]:
    expected = len(images(operator))
    at_most = expected + operator["further_inputs"]

    def function(*images: Any, device: str = "auto", **params: Any) -> Any:
        if fixed:
            if twice := fixed.keys() & params.keys():
                raise TypeError(f"{name}() says itself what {', '.join(twice)} is; {operator['name']}() does not")
            params = {**fixed, **params}
        if not images:
            return operator_pipeline(operator, expected, device, _aliases.resolved(operator, params))
        count = len(images)
        if count > at_most:
            known = ", ".join(param["name"] for param in operator["params"])
            text = f"{name}() takes {at_most} images, and {count} are given; parameters are given by name: {known}"
            raise TypeError(text)
        key = tuple(_key(name, value) for name, value in params.items())
        return _ready(index, max(expected, count), device, key)(*images)

    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    function.__doc__ = documentation(operator, fixed)
    function.__signature__ = signature(operator, fixed)  # type: ignore[attr-defined]
    return function


for _index, _operator in enumerate(OPERATORS):
    globals()[_operator["name"]] = _function(_index, _operator, _operator["name"], {})

__all__ = [operator["name"] for operator in OPERATORS]

for _name, (_of, _fixed) in _aliases.FUNCTIONS.items():
    _index = __all__.index(_of)
    globals()[_name] = _function(_index, OPERATORS[_index], _name, _fixed) if _fixed else globals()[_of]


def __getattr__(name: str) -> Any:
    raise AttributeError("" if name.startswith("__") else _aliases.unknown(name, __all__))
