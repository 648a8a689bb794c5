"""Pipelines in Daft: a function over a column of images, or of encoded files.

    import daft
    from mini_image_pipe.daft import over_images

    tensors = over_images("resize width=224 height=224 ! cast to=f32", dtype="float32", batch_size=32, gpus=1, max_concurrency=8)
    photos = daft.from_glob_path("photos/*.jpg").with_column("file", daft.col("path").download())
    photos.with_column("tensor", tensors(daft.col("file"))).write_parquet("tensors")

Daft gives each instance the GPUs that it asked for (`CUDA_VISIBLE_DEVICES`), so `device="auto"` is the right one there. It runs
the same function in this process, in processes beside it, or on Ray. Daft is imported when `over_images` is called.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from ._batches import compiled, run_mixed
from ._native import Pipeline

__all__ = ["over_images"]


class _Images:
    """A pipeline that is made where it runs: once for each instance, at the first batch."""

    def __init__(self, pipeline: str | Pipeline, device: str, max_batch: int, threads: int | None, dtype: str) -> None:
        self._pipeline = compiled(pipeline, device, max_batch, threads)
        self._dtype = np.dtype(dtype)

    def run(self, images: Any) -> list[Any]:
        """A batch of the column. Rows without an image stay without one."""
        column = images.to_pylist()
        given = [index for index, image in enumerate(column) if image is not None]
        results: list[Any] = [None] * len(column)
        for index, result in zip(given, run_mixed(self._pipeline, [column[index] for index in given]), strict=True):
            # Daft would convert without a word, and round or wrap numbers.
            if result.dtype != self._dtype:
                raise TypeError(f"the pipeline gives images of {result.dtype}, but dtype is '{self._dtype}'")
            results[index] = result
        return results


def over_images(
    pipeline: str | Pipeline,
    *,
    dtype: str = "uint8",
    shape: tuple[int, ...] | None = None,
    device: str = "auto",
    max_batch: int = 32,
    threads: int | None = None,
    batch_size: int | None = 32,
    gpus: float = 0,
    max_concurrency: int | None = None,
    use_process: bool | None = None,
) -> Callable[[Any], Any]:
    """A function from a column of Daft to the column of results of a pipeline of one input and one output.

    `pipeline` is a pipeline's text, the name of a file in TOML, or a `Pipeline`. The column holds images or tensors, (height,
    width) or (height, width, channels), or files as they are on disk (binary), which are decoded as `mip.decode` does; those of
    one shape run as batches of at most `max_batch`. Results are tensors of `dtype`, which Daft has to know beforehand, and of
    `shape` where all have that one; a pipeline that gives another type is refused when it runs. `threads` are those of the CPU:
    with several instances on a machine, each one's share of its cores.

    `batch_size`, `gpus`, `max_concurrency` and `use_process` are those of `daft.cls` and `daft.method.batch`.
    """
    daft: Any = import_module("daft")
    returns = daft.DataType.tensor(daft.DataType.from_numpy_dtype(np.dtype(dtype)), shape)
    # A class of its own for each call: Daft writes the type and the size of batches to the method.
    own = type("Images", (_Images,), {"run": daft.method.batch(_Images.run, return_dtype=returns, batch_size=batch_size)})
    made: Any = daft.cls(own, gpus=gpus, max_concurrency=max_concurrency, use_process=use_process)
    run: Callable[[Any], Any] = made(pipeline, device, max_batch, threads, dtype).run
    return run
