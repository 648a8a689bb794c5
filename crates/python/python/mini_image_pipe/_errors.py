"""What goes wrong. The texts are those of the command line."""


class Error(Exception):
    """Whatever goes wrong. Its text says where, what was given, what is allowed and what to do.

    The same in parts, each None where the error has none: `place` (file, line and column), `task`, `operator`,
    `parameter`, `given`, `allowed`, `remedy`.
    """

    place: str | None = None
    task: str | None = None
    operator: str | None = None
    parameter: str | None = None
    given: str | None = None
    allowed: str | None = None
    remedy: str | None = None


class RequestError(Error, ValueError):
    """What was asked for is wrong: a graph, a parameter, a shape. Nothing has run."""


class RunError(Error, RuntimeError):
    """A task failed while running."""


class DeviceError(RunError):
    """A device cannot be opened or used; the text says why, and what to do."""


class OutOfMemoryError(RunError, MemoryError):
    """There was not enough memory, or a plan needs more than `memory_limit`."""


class FileError(Error, OSError):
    """A file that cannot be read or written."""


for _class in (Error, RequestError, RunError, DeviceError, OutOfMemoryError, FileError):
    # Where people find them, and pickle too.
    _class.__module__ = "mini_image_pipe"
