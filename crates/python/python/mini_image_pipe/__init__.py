"""Mini-ImagePipe: graphs of image operators, checked, planned, fused and run on the CPU or an NVIDIA GPU.

    import mini_image_pipe as mip

    edges = mip.Pipeline("resize width=640 ! sobel")
    mip.save(edges(mip.open("photo.jpg")), "edges.png")

Images are NumPy arrays, (height, width) or (height, width, channels), read where they lie; pictures of Pillow and whatever
has DLPack go in and out as well; tensors on a GPU stay there. Every device, number of threads and mode gives the same bytes. `mip.ops` holds each operator as
a function; `mip.devices()` says what there is to run on.
"""

from . import expr, ops
from ._errors import DeviceError, Error, FileError, OutOfMemoryError, RequestError, RunError
from ._native import DeviceImage, Image, Pipeline, Plan, Stream, Task, __version__, decode, devices, open, save

__all__ = [
    "DeviceError",
    "DeviceImage",
    "Error",
    "FileError",
    "Image",
    "OutOfMemoryError",
    "Pipeline",
    "Plan",
    "RequestError",
    "RunError",
    "Stream",
    "Task",
    "__version__",
    "decode",
    "devices",
    "expr",
    "open",
    "ops",
    "save",
]
