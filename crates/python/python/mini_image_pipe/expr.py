"""Expressions for the operator `point`, by Python's operators: `(a - b).abs() > 12`.

    from mini_image_pipe import expr

    moved = expr.where((expr.v - expr.v2).abs() > expr.number("limit", 12), 255, 0)
    mask = moved(before, after)                # computed for each pixel, fused, on the CPU or a GPU
    pipe = moved.pipeline(device="cuda")       # the pipeline, to be kept, chained and changed: pipe.point.limit = 20

`v` is the channel that is being computed, `r`, `g`, `b` and `a` are channels by name; `v2` to `v4` and so on are those of further images. What an
expression means is in the book's chapter on expressions: here it is only written down.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

from . import ops
from ._native import Pipeline
from ._registry import OPERATORS
from ._support import operator_pipeline

_POINT = next(operator for operator in OPERATORS if operator["name"] == "point")

Number: TypeAlias = "int | float"
Term: TypeAlias = "Expr | int | float"


class Expr:
    """An expression, or several of them, one for each channel. `str(expression)` is what `point` is given."""

    __slots__ = ("_images", "_numbers", "_sample", "_text")

    def __init__(self, text: str, images: int = 1, numbers: dict[str, float] | None = None, sample: str | None = None) -> None:
        self._text, self._images, self._numbers, self._sample = text, images, numbers or {}, sample

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<mini_image_pipe.expr.Expr {self._text}>"

    def __bool__(self) -> bool:
        raise TypeError("an expression is not true or false in Python: use & | ~ for and, or, not, and where(condition, p, q)")

    __hash__ = object.__hash__

    def __add__(self, other: Term) -> Expr:
        return _join("({} + {})", self, other)

    def __radd__(self, other: Number) -> Expr:
        return _join("({} + {})", other, self)

    def __sub__(self, other: Term) -> Expr:
        return _join("({} - {})", self, other)

    def __rsub__(self, other: Number) -> Expr:
        return _join("({} - {})", other, self)

    def __mul__(self, other: Term) -> Expr:
        return _join("({} * {})", self, other)

    def __rmul__(self, other: Number) -> Expr:
        return _join("({} * {})", other, self)

    def __truediv__(self, other: Term) -> Expr:
        return _join("({} / {})", self, other)

    def __rtruediv__(self, other: Number) -> Expr:
        return _join("({} / {})", other, self)

    def __neg__(self) -> Expr:
        return _join("(-{})", self)

    def __lt__(self, other: Term) -> Expr:
        return _join("({} < {})", self, other)

    def __le__(self, other: Term) -> Expr:
        return _join("({} <= {})", self, other)

    def __gt__(self, other: Term) -> Expr:
        return _join("({} > {})", self, other)

    def __ge__(self, other: Term) -> Expr:
        return _join("({} >= {})", self, other)

    def __eq__(self, other: object) -> Expr:  # type: ignore[override]
        return _join("({} == {})", self, other)

    def __ne__(self, other: object) -> Expr:  # type: ignore[override]
        return _join("({} != {})", self, other)

    def __and__(self, other: Term) -> Expr:
        return _join("({} && {})", self, other)

    def __or__(self, other: Term) -> Expr:
        return _join("({} || {})", self, other)

    def __invert__(self) -> Expr:
        return _join("(!{})", self)

    def __abs__(self) -> Expr:
        return self.abs()

    def abs(self) -> Expr:
        """Without its sign."""
        return _join("abs({})", self)

    def sqrt(self) -> Expr:
        """The square root."""
        return _join("sqrt({})", self)

    def cbrt(self) -> Expr:
        """The cube root."""
        return _join("cbrt({})", self)

    def exp(self) -> Expr:
        """e to this power."""
        return _join("exp({})", self)

    def exp2(self) -> Expr:
        """2 to this power."""
        return _join("exp2({})", self)

    def log(self) -> Expr:
        """The natural logarithm."""
        return _join("log({})", self)

    def log2(self) -> Expr:
        """The binary logarithm."""
        return _join("log2({})", self)

    def pow(self, exponent: Term) -> Expr:
        """This to the power of the exponent; `**` is the same."""
        return _join("pow({}, {})", self, exponent)

    def __pow__(self, exponent: Term) -> Expr:
        return self.pow(exponent)

    def __rpow__(self, base: Number) -> Expr:
        return _join("pow({}, {})", base, self)

    def floor(self) -> Expr:
        """The whole number at or below."""
        return _join("floor({})", self)

    def ceil(self) -> Expr:
        """The whole number at or above."""
        return _join("ceil({})", self)

    def round(self) -> Expr:
        """The nearest whole number; the even one of two."""
        return _join("round({})", self)

    def min(self, other: Term) -> Expr:
        """The smaller of two."""
        return _join("min({}, {})", self, other)

    def max(self, other: Term) -> Expr:
        """The larger of two."""
        return _join("max({}, {})", self, other)

    def clamp(self, low: Term, high: Term) -> Expr:
        """Not below `low`, not above `high`."""
        return _join("clamp({}, {}, {})", self, low, high)

    def at(self, dx: int, dy: int) -> Expr:
        """The same channel `dx` columns to the right and `dy` rows below, up to 15 away; of `v`, `r`, `g`, `b` and `a` alone."""
        if self._sample is None:
            raise ValueError(f"'{self._text}' is no channel of the first image; at() is asked of v, r, g, b or a")
        return Expr(f"{self._sample}({int(dx)}, {int(dy)})", self._images)

    def pipeline(self, *, device: str = "auto", **params: Any) -> Pipeline:
        """A pipeline of this expression; `params` are those of `point` (`to`, `border`) and its numbers."""
        return operator_pipeline(_POINT, self._images, device, {"expr": self._text, **self._numbers, **params})

    def __call__(self, *images: Any, device: str = "auto", **params: Any) -> Any:
        """The expression computed over images: as `mip.ops.point`."""
        if len(images) != self._images:
            raise TypeError(f"this expression reads {self._images} images, and {len(images)} are given")
        return ops.point(*images, device=device, expr=self._text, **{**self._numbers, **params})  # type: ignore[attr-defined,unused-ignore]


def _join(form: str, *terms: object) -> Expr:
    images, texts = 1, []
    numbers: dict[str, float] = {}
    for term in terms:
        if isinstance(term, Expr):
            for name, value in term._numbers.items():
                if numbers.setdefault(name, value) != value:
                    raise ValueError(f"the number '{name}' is {numbers[name]} in one place and {value} in another")
            images = max(images, term._images)
            texts.append(term._text)
        else:
            texts.append(_literal(term))
    return Expr(form.format(*texts), images, numbers)


def _literal(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        try:
            value = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise TypeError(f"{value!r} is no part of an expression; parts are expressions and numbers") from None
    if not math.isfinite(value):
        raise ValueError(f"{value} cannot stand in an expression; numbers are finite")
    text = repr(value)
    return f"({text})" if value < 0 else text


def number(name: str, value: Number) -> Expr:
    """A number with a name, which pipelines change without a new plan: `pipe.point.name = 3`."""
    return Expr(name, 1, {name: float(value)})


def where(condition: Term, then: Term, otherwise: Term) -> Expr:
    """`then` where the condition is not 0, and `otherwise` elsewhere."""
    return _join("({} ? {} : {})", condition, then, otherwise)


def fma(a: Term, b: Term, c: Term) -> Expr:
    """`a * b + c`, rounded once."""
    return _join("fma({}, {}, {})", a, b, c)


def luma(r: Term, g: Term, b: Term) -> Expr:
    """Gray as `color_convert` makes it."""
    return _join("luma({}, {}, {})", r, g, b)


def channels(*terms: Term) -> Expr:
    """A result for each channel: one makes gray, three rgb, four rgba."""
    return _join(", ".join("{}" for _ in terms), *terms)


def _sample(name: str, image: int) -> Expr:
    return Expr(name if image == 1 else f"{name}{image}", image, None, name if image == 1 else None)


v, r, g, b, a = (_sample(name, 1) for name in "vrgba")
v2, r2, g2, b2, a2 = (_sample(name, 2) for name in "vrgba")
v3, r3, g3, b3, a3 = (_sample(name, 3) for name in "vrgba")
v4, r4, g4, b4, a4 = (_sample(name, 4) for name in "vrgba")
x, y, width, height = (Expr(f"{name}()") for name in ("x", "y", "width", "height"))
