"""Images of mixed shapes through a pipeline, for runners that hand over columns of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._native import Pipeline, decode


# How many files are decoded before a pipeline runs over them: pictures are many times as large as their files, and no longer in any
# cache when there are more of them.
_DECODED = 8


def run_mixed(pipeline: Pipeline, images: Iterable[Any]) -> list[NDArray[Any]]:
    """Results for images of any shapes and types, in order: those of one shape run as batches. Bytes are files to decode."""
    given = list(images)
    if not any(isinstance(image, bytes) for image in given):
        return _run(pipeline, [np.asarray(image) for image in given])
    results: list[Any] = []
    for start in range(0, len(given), _DECODED):
        part = given[start : start + _DECODED]
        results += _run(pipeline, [decode(image) if isinstance(image, bytes) else np.asarray(image) for image in part])
    return results


def _run(pipeline: Pipeline, arrays: list[NDArray[Any]]) -> list[NDArray[Any]]:
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


def compiled(pipeline: str | Pipeline, device: str, max_batch: int, threads: int | None) -> Pipeline:
    """A pipeline of its own for this process: from text, from the name of a file in TOML, or a copy of one that is there already."""
    if isinstance(pipeline, Pipeline):
        return Pipeline(pipeline.to_toml(), device=device, max_batch_size=max_batch, threads=threads)
    if pipeline.endswith(".toml") and "\n" not in pipeline:
        return Pipeline.load(pipeline, device=device, max_batch_size=max_batch, threads=threads)
    return Pipeline(pipeline, device=device, max_batch_size=max_batch, threads=threads)
