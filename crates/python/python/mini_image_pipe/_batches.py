"""Images of mixed shapes through a pipeline, for runners that hand over columns of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._native import Pipeline, decode


def run_mixed(pipeline: Pipeline, images: Iterable[Any]) -> list[NDArray[Any]]:
    """Results for images of any shapes and types, in order: those of one shape run as batches. Bytes are files to decode."""
    arrays = [decode(image) if isinstance(image, bytes) else np.asarray(image) for image in images]
    groups: dict[tuple[tuple[int, ...], str], list[int]] = {}
    for index, array in enumerate(arrays):
        groups.setdefault((array.shape, array.dtype.str), []).append(index)
    results: list[Any] = [None] * len(arrays)
    for indices in groups.values():
        outputs = pipeline.run_batch([arrays[index] for index in indices])
        for index, output in zip(indices, outputs, strict=True):
            results[index] = np.asarray(output)
    return results


def column(results: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """One array where all results have one shape, else an array of arrays."""
    if results and all(result.shape == results[0].shape and result.dtype == results[0].dtype for result in results):
        return np.stack(results)
    mixed: NDArray[Any] = np.empty(len(results), dtype=object)
    for index, result in enumerate(results):
        mixed[index] = result
    return mixed


def compiled(pipeline: str | Pipeline, device: str, max_batch: int) -> Pipeline:
    """A pipeline of its own for this process: from text, from the name of a file in TOML, or a copy of one that is there already."""
    if isinstance(pipeline, Pipeline):
        return Pipeline(pipeline.to_toml(), device=device, max_batch_size=max_batch)
    if pipeline.endswith(".toml") and "\n" not in pipeline:
        return Pipeline.load(pipeline, device=device, max_batch_size=max_batch)
    return Pipeline(pipeline, device=device, max_batch_size=max_batch)
