"""What a type checker is to accept; checked, not run."""

from pathlib import Path

import mini_image_pipe as mip
import numpy as np


def edges(photo: "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]", folder: Path) -> mip.Image:
    pipe = mip.Pipeline("resize width=640 ! sobel", device="cpu", num_streams=2)
    pipe["resize.width"] = 320
    mip.save(pipe(photo), folder / "edges.png")
    chain: mip.Pipeline = mip.ops.resize(width=640, filter="area") | mip.ops.sobel()
    for result in chain.stream([photo, photo], frames_in_flight=2):
        result.sum()
    image = mip.Image(photo, format="bgr")
    small: mip.Image = mip.ops.resize(image, width=20)
    plan: mip.Plan = chain.plan((1080, 1920, 3), dtype="float32")
    plan.to_svg()
    return small


def on_the_gpu(tensor: object) -> tuple[int, int]:
    result: mip.DeviceImage = mip.Pipeline("invert", device="cuda")(tensor, layout="chw")
    if not result.is_done:
        result.wait()
    result.numpy().sum()
    mip.save(result.cpu(), "inverted.png")
    return result.__dlpack_device__()
