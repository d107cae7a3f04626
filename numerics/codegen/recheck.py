"""Every pass is checked again, numerically: a rule that is no identity cannot reach a kernel.

The stages of a trace are evaluated at seeded points with 50 digits, each stable node through its definition, and
compared with the formula as
the derivation gives it; the forms for extreme ratios at points where they apply, to the digits they promise.
"""

from __future__ import annotations

import mpmath
import sympy as sp

from numerics.codegen.nodes import Node
from numerics.codegen.series import Polynomial

__all__ = ["check_trace", "defined"]


def defined(expr: sp.Basic) -> sp.Basic:
    """The expression with every stable node replaced by its definition."""
    while nodes := expr.atoms(Node, Polynomial):
        expr = expr.xreplace({node: node.definition() for node in nodes})
    return expr


def check_trace(trace, count: int, digits: int) -> int:
    """See `Trace.check`."""
    symbols = sorted(trace.arguments, key=sp.default_sort_key)
    start = 0
    if trace.from_registry:
        start = max(i for i, stage in enumerate(trace.stages) if stage.name in ("arguments", "derivative"))
        _compare(
            trace.stages[0].expression.subs(trace.renamed, simultaneous=True), trace.stages[1], symbols, count, digits
        )
    base, compared = trace.stages[start].expression, 0
    beside = [trace.array_form] if trace.array_form else []
    for stage in [*trace.stages[start + 1 :], *beside]:
        compared += _compare(base, stage, symbols, count, digits)
    for region in trace.regions:
        compared += _compare_region(base, region, symbols, count)
    return compared


def _compare(base, stage, symbols, count: int, digits: int) -> int:
    compared = 0
    for one, other in zip(_entries(base), _entries(stage.expression), strict=True):
        first, second = (sp.lambdify(symbols, defined(e), "mpmath") for e in (one, other))
        for point in _points(symbols, count):
            with mpmath.workdps(3 * digits):
                a, b = first(*point), second(*point)
                if not abs(a - b) <= max(abs(a), abs(b)) * mpmath.mpf(10) ** -digits:
                    raise ArithmeticError(f"pass {stage.name!r} changed the value at {point}: {a} became {b}")
            compared += 1
    return compared


def _compare_region(base, region, symbols, count: int) -> int:
    """At points where the region's form is used; it may differ by less than a thousandth of an ulp."""
    value, form, x = (sp.lambdify(symbols, defined(e), "mpmath") for e in (base, region.expression, region.x))
    compared = 0
    for point in _points(symbols, 200 * count, wide=True):
        with mpmath.workdps(1400):
            size = abs(x(*point))
            if (
                (size > int(region.bound))
                if region.relation == ">"
                else (size < mpmath.mpf(region.bound.p) / region.bound.q)
            ):
                try:
                    a, b = value(*point), form(*point)
                except ZeroDivisionError:  # the printed formula is 0/0 at this precision
                    continue
                if not abs(a - b) <= abs(a) * mpmath.mpf(2) ** -63:
                    raise ArithmeticError(
                        f"the form for |{region.x}| {region.relation} {region.bound} is wrong at {point}: {a}, {b}"
                    )
                compared += 1
        if compared >= count:
            break
    return compared


def _entries(expr) -> tuple:
    return tuple(expr) if isinstance(expr, sp.Tuple) else (expr,)


def _points(symbols, count: int, wide: bool = False):
    """Seeded points inside the symbols' assumptions, as mpf; `wide` ones span hundreds of orders of magnitude."""
    import random

    rng = random.Random(2602)
    spread = 300 if wide else 1
    for _ in range(count):
        point = []
        for symbol in symbols:
            size = mpmath.mpf(10) ** rng.uniform(-spread, spread)
            if symbol.name == "lam":
                size = mpmath.mpf(rng.uniform(0, 0.99))
            if symbol.name == "t" and wide:
                size = mpmath.mpf(rng.uniform(0, 700))
            sign = 1 if symbol.is_nonnegative or rng.random() < 0.5 else -1
            point.append(sign * size)
        yield tuple(point)
