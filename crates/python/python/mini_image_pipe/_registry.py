"""The operators as the engine describes them, as signatures and texts of Python."""

import inspect
import json
from collections.abc import Container, Mapping, Sequence
from keyword import iskeyword
from typing import Any, Literal

from . import _aliases
from ._native import operators

OPERATORS: list[dict[str, Any]] = json.loads(operators())


def annotation(param: dict[str, Any]) -> str:
    """The type of a parameter, as Python writes it."""
    match param["type"]:
        case "int":
            return "int"
        case "float":
            return "float"
        case "bool":
            return "bool"
        case "text":
            return "str"
        case "choice":
            return "Literal[{}]".format(", ".join(f'"{word}"' for word in param["words"]))
        case "numbers" if 1 not in param["counts"]:
            return "Sequence[float]"
        case "numbers" | "perchannel":
            return "float | Sequence[float]"
        case other:
            raise NotImplementedError(f"a parameter of type {other} has no type in Python yet")


def default(param: dict[str, Any]) -> Any:
    """The default of a parameter as a value; None where it follows from others."""
    text = param["default"]
    if text is None:
        return None
    match param["type"]:
        case "int":
            return int(text)
        case "float" | "perchannel":
            return float(text) if not text.startswith("[") else json.loads(text)
        case "bool":
            return text == "true"
        case "numbers":
            return json.loads(text)
        case _:
            return text


def images(operator: dict[str, Any]) -> list[str]:
    """The names of an operator's inputs; `in` is a word of Python's own."""
    return ["image" if iskeyword(name) else name for name in operator["inputs"]]


def signature(operator: dict[str, Any], fixed: Container[str] = ()) -> inspect.Signature:
    """The signature of an operator's function, without the parameters that are fixed."""
    kinds = inspect.Parameter
    names = {"Literal": Literal, "Sequence": Sequence}
    parameters = [kinds("images", kinds.VAR_POSITIONAL)]
    for param in operator["params"]:
        if param["name"] in fixed:
            continue
        parameters.append(
            kinds(
                param["name"],
                kinds.KEYWORD_ONLY,
                default=kinds.empty if param["required"] else default(param),
                annotation=eval(annotation(param), names),  # noqa: S307: a text made above
            )
        )
    parameters.append(kinds("device", kinds.KEYWORD_ONLY, default="auto", annotation=str))
    if operator["numbers"]:
        parameters.append(kinds("numbers", kinds.VAR_KEYWORD, annotation=float))
    return inspect.Signature(parameters)


def documentation(operator: dict[str, Any], fixed: Mapping[str, Any] | None = None) -> str:
    """The docstring of an operator's function, or of one that has some parameters fixed."""
    fixed = fixed or {}
    inputs = images(operator)
    given = {0: "no image", 1: "one image"}.get(len(inputs), f"{len(inputs)} images: {', '.join(inputs)}")
    further = operator["further_inputs"]
    lines = [
        f"{operator['summary']}.",
        "",
        f"Takes {given}{f', and up to {further} more' if further else ''}, and gives its result; without images, a pipeline of this "
        "operator, to be chained with `|`.",
    ]
    if fixed:
        values = ", ".join(f"{name}={value!r}" for name, value in fixed.items())
        lines += ["", f"This is `{operator['name']}` with {values}."]
    if operator["params"] or operator["numbers"]:
        lines += ["", "Parameters"]
    for param in operator["params"]:
        if param["name"] in fixed:
            continue
        needed = "must be given" if param["required"] else ""
        if param["default"] is not None:
            needed = f"default {param['default']}"
        cost = "changes without a new plan" if param["change"] == "uniform" else ""
        notes = "; ".join(note for note in (param["allowed"], needed, cost) if note)
        lines.append(f"    {param['name']}: {param['help']} ({notes})")
    if operator["numbers"]:
        lines.append("    any other name: a number that the expression names, which changes without a new plan")
    names: dict[str, list[str]] = {}
    for alias, parameter in _aliases.of(operator).items():
        names.setdefault(", ".join(parameter.stands_for), []).append(alias)
    if names:
        said = "; ".join(f"{', '.join(aliases)} for {own}" for own, aliases in names.items())
        lines += ["", f"Other names: {said}."]
    return "\n".join(lines)
