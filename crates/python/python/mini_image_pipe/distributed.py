"""One process a GPU, as torchrun, Slurm and MPI start them.

    # torchrun --nproc-per-node=8 tensors.py
    import mini_image_pipe as mip
    from mini_image_pipe.distributed import local_device, shard

    pipe = mip.Pipeline("resize width=224 height=224 ! cast to=f32", device=local_device())
    for path in shard(sorted(paths)):
        mip.save(pipe(mip.open(path)), f"{path}.npy")
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TypeVar

from ._native import devices

__all__ = ["local_device", "rank", "shard"]

# By whom the process was started: torchrun, Open MPI, MPICH and Intel MPI, Slurm.
_LOCAL = ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID")
_RANK = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")
_SIZE = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS")

T = TypeVar("T")


def _number(names: Sequence[str], environment: Mapping[str, str]) -> int | None:
    for name in names:
        if (text := environment.get(name)) is not None:
            if not text.isdecimal():
                raise ValueError(f"the environment variable {name} is {text!r}, but must be a whole number")
            return int(text)
    return None


def local_device(environment: Mapping[str, str] = os.environ) -> str:
    """The device of this process: `cuda:N` for the Nth process of a machine, `auto` where no launcher says which it is.

    Processes take turns where there are more of them than GPUs; where each sees a single GPU of its own
    (`CUDA_VISIBLE_DEVICES`) that is the one; without a GPU it is `cpu`.
    """
    local = _number(_LOCAL, environment)
    if local is None:
        return "auto"
    gpus = sum(device["available"] for device in devices() if device["device"].startswith("cuda"))
    return f"cuda:{local % gpus}" if gpus else "cpu"


def rank(environment: Mapping[str, str] = os.environ) -> tuple[int, int]:
    """The number of this process among all, and how many there are: (0, 1) without a launcher."""
    own, size = _number(_RANK, environment), _number(_SIZE, environment)
    if own is None or size is None:
        return 0, 1
    if own >= size:
        raise ValueError(f"this process is number {own} of {size}; numbers count from 0")
    return own, size


def shard(items: Sequence[T], environment: Mapping[str, str] = os.environ) -> Sequence[T]:
    """This process's part of a list: every item is in the part of one process."""
    own, size = rank(environment)
    return items[own::size]
