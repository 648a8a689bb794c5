"""Pipelines in Ray Data. Nothing of Ray is imported here: `PipelineActor` is a class that `map_batches` makes actors of.

    import ray
    from mini_image_pipe.ray import PipelineActor

    images = ray.data.read_images("photos", include_paths=True)
    tensors = images.map_batches(
        PipelineActor,
        fn_constructor_kwargs={"pipeline": "resize width=224 height=224 ! cast to=f32", "output": "tensor"},
        batch_size=32,
        num_gpus=1,
        compute=ray.data.ActorPoolStrategy(min_size=1, max_size=8),
    )
    tensors.write_parquet("tensors")

Ray gives each actor the GPUs that it asked for, so `device="auto"` is the right one there. An actor that dies is started
again by Ray and its batches are repeated: pipelines are deterministic, so the output is the same.
"""

from __future__ import annotations

import os
from typing import Any

from ._batches import column as stacked
from ._batches import compiled, run_mixed
from ._native import Pipeline

__all__ = ["PipelineActor"]


def _assigned() -> int | None:
    """Threads for this process: Ray tells them by OMP_NUM_THREADS. Two actors with as many threads as the machine has cores are slower than
    one."""
    threads = os.environ.get("OMP_NUM_THREADS", "")
    return int(threads) if threads.isdecimal() and int(threads) > 0 else None


class PipelineActor:
    """A pipeline of one input and one output, kept ready, over a column of images.

    `pipeline` is a pipeline's text, the name of a file in TOML, or a `Pipeline`. Images are the arrays of `column`, read-only
    ones too, of any shapes, or the bytes of files: those of one shape run as batches of at most `max_batch`. Results go to the column `output`
    (`column` itself if left out): one array where they are of one shape, else an array of arrays. Other columns stay.
    On the CPU it works with `threads` threads; if left out, with as many as Ray has given the actor cores (`num_cpus`).
    """

    def __init__(
        self,
        pipeline: str | Pipeline,
        *,
        column: str = "image",
        output: str | None = None,
        device: str = "auto",
        max_batch: int = 32,
        threads: int | None = None,
    ) -> None:
        self._pipeline = compiled(pipeline, device, max_batch, threads or _assigned())
        self._column = column
        self._output = output or column

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        if self._column not in batch:
            raise KeyError(f"there is no column '{self._column}' in the batch; columns: {', '.join(batch)}")
        return {**batch, self._output: stacked(run_mixed(self._pipeline, batch[self._column]))}
