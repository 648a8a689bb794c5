"""Types of `mini_image_pipe.ops` for editors and type checkers, written from the registry.

    python -m mini_image_pipe.stubs > python/mini_image_pipe/ops.pyi
"""

from typing import Any

from ._registry import OPERATORS, annotation, default, documentation, images

HEAD = '''# Written by `python -m mini_image_pipe.stubs`; a test says when it is not current.
from collections.abc import Sequence
from typing import Any, Literal, overload

from ._native import Image, ImageLike, Pipeline

'''


def _arguments(operator: dict[str, Any]) -> str:
    arguments = []
    for param in operator["params"]:
        if param["required"]:
            arguments.append(f"{param['name']}: {annotation(param)}")
            continue
        value = default(param)
        # None is what is left out, where the default follows from other parameters.
        of = annotation(param) if value is not None else f"{annotation(param)} | None"
        text = f'"{value}"' if isinstance(value, str) else repr(value)
        arguments.append(f"{param['name']}: {of} = {text}")
    arguments.append('device: str = "auto"')
    if operator["numbers"]:
        arguments.append("**numbers: float")
    return ", ".join(arguments)


def _function(operator: dict[str, Any]) -> str:
    name, arguments = operator["name"], _arguments(operator)
    further = [f"{images(operator)[0]}{n + 2}: {{0}} = ..." for n in range(operator["further_inputs"])]
    given = [f"{image}: {{0}}" for image in images(operator)]
    taken = ", ".join(given + further)
    doc = documentation(operator).replace("\\", "\\\\").replace("\n", "\n    ").replace("\n    \n", "\n\n")
    return "\n".join(
        [
            "@overload",
            f"def {name}({taken.format('Image')}, /, *, {arguments}) -> Image:",
            f'    """{doc}"""',
            "",
            "@overload",
            f"def {name}({taken.format('ImageLike')}, /, *, {arguments}) -> Any: ...",
            "@overload",
            f"def {name}(*, {arguments}) -> Pipeline: ...",
        ]
    )


def text() -> str:
    """The stub."""
    return HEAD + "\n\n".join(map(_function, OPERATORS)) + "\n"


if __name__ == "__main__":
    print(text(), end="")  # noqa: T201
