"""Types of `mini_image_pipe.ops` for editors and type checkers, written from the registry.

    python -m mini_image_pipe.stubs > python/mini_image_pipe/ops.pyi
"""

from collections.abc import Mapping
from typing import Any

from . import _aliases
from ._registry import OPERATORS, annotation, default, documentation, images

HEAD = '''# Written by `python -m mini_image_pipe.stubs`; a test says when it is not current.
from collections.abc import Sequence
from typing import Any, Literal, overload

from ._native import Image, ImageLike, Pipeline

'''


def _arguments(operator: dict[str, Any], fixed: Mapping[str, Any]) -> str:
    aliases = {name: alias for name, alias in _aliases.of(operator).items() if fixed.keys().isdisjoint(alias.stands_for)}
    instead = {own for alias in aliases.values() for own in alias.stands_for}
    arguments, types = [], {}
    for param in operator["params"]:
        name, value = param["name"], default(param)
        # None is what is left out, where the default follows from other parameters.
        types[name] = annotation(param) if param["required"] or value is not None else f"{annotation(param)} | None"
        if name in fixed:
            continue
        if not param["required"]:
            text = f'"{value}"' if isinstance(value, str) else repr(value)
            arguments.append(f"{name}: {types[name]} = {text}")
        elif name in instead:
            # May be given by another name.
            arguments.append(f"{name}: {types[name]} = ...")
        else:
            arguments.append(f"{name}: {types[name]}")
    arguments += [f"{name}: {alias.type or types[alias.stands_for[0]]} = ..." for name, alias in aliases.items()]
    arguments.append('device: str = "auto"')
    if operator["numbers"]:
        arguments.append("**numbers: float")
    return ", ".join(arguments)


def _function(operator: dict[str, Any], name: str, fixed: Mapping[str, Any]) -> str:
    arguments = _arguments(operator, fixed)
    first = images(operator)
    further = [f"{first[0]}{n + 1 + len(first)}: {{0}} = ..." for n in range(operator["further_inputs"])]
    given = [f"{image}: {{0}}" for image in images(operator)]
    taken = ", ".join(given + further)
    doc = documentation(operator, fixed).replace("\\", "\\\\").replace("\n", "\n    ").replace("\n    \n", "\n\n")
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


def _aliased(name: str) -> str:
    of, fixed = _aliases.FUNCTIONS[name]
    operator = next(operator for operator in OPERATORS if operator["name"] == of)
    return _function(operator, name, fixed) if fixed else f"{name} = {of}"


def text() -> str:
    """The stub."""
    functions = [_function(operator, operator["name"], {}) for operator in OPERATORS]
    return HEAD + "\n\n".join([*functions, *map(_aliased, _aliases.FUNCTIONS)]) + "\n"


if __name__ == "__main__":
    print(text(), end="")  # noqa: T201
