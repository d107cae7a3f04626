"""The mpmath printer: the formula as its derivation gives it, at any number of digits.

No rule has touched it: this is the oracle the other backends are measured against.  Cancellation is met with working
precision, doubled until
two answers agree.
"""

from __future__ import annotations

import sympy as sp

from numerics.codegen.passes import Trace
from numerics.codegen.program import lower
from numerics.codegen.text import Dialect, statements

__all__ = ["MPMATH", "print_function", "print_module"]

_ONE = "exp log log1p expm1 sin cos tan sinh cosh tanh sqrt asinh acosh atanh asin acos atan erf erfc floor ceil sign"
_CALLS = {
    **{name: f"mp.{name}({{0}})" for name in _ONE.split()},
    "abs": "abs({0})", "pow": "({0}) ** ({1})", "atan2": "mp.atan2({0}, {1})", "hypot": "mp.hypot({0}, {1})",
    "exact_hypot": "mp.hypot({0}, {1})", "max": "max({0}, {1})", "min": "min({0}, {1})",
    "lt": "({0} < {1})", "le": "({0} <= {1})", "gt": "({0} > {1})", "ge": "({0} >= {1})", "eq": "({0} == {1})",
    "ne": "({0} != {1})",
    "and": "({0} and {1})", "or": "({0} or {1})", "not": "(not {0})", "where": "({1} if {0} else {2})",
}  # fmt: skip


def exact(number: sp.Expr) -> str:
    """A number as an mpmath expression, exact whatever the precision."""
    if number.is_Integer:
        return f"mp.mpf({number})"
    if number.is_Rational:
        return f"(mp.mpf({number.p}) / {number.q})"
    if number is sp.pi:
        return "mp.pi"
    if number is sp.E:
        return "mp.e"
    if number.is_Mul:
        return "(" + " * ".join(exact(part) for part in number.args) + ")"
    if number.is_Add:
        return "(" + " + ".join(exact(part) for part in number.args) + ")"
    if number.is_Pow:
        return f"({exact(number.base)} ** {exact(number.exp)})"
    if isinstance(number, (sp.log, sp.exp)):
        return f"mp.{type(number).__name__}({exact(number.args[0])})"
    raise TypeError(f"the mpmath printer cannot write the number {number}")


MPMATH = Dialect("mpmath", _CALLS, exact)

PRELUDE = '''import mpmath as mp


def _settled(core, values, digits):
    """core(*values) to `digits` digits: the working precision doubles until two answers agree.

    It starts high when arguments are far from 1: two answers also agree when both have lost the same term.
    """
    orders = [abs(int(mp.log10(abs(mp.mpf(v))))) for v in values if v and mp.isfinite(v)]
    before, precision = None, digits + 20 + 4 * sum(orders)
    while precision < 200_000:
        with mp.workdps(precision):
            now = core(*(mp.mpf(v) for v in values))
            close = before is not None and abs(now - before) <= abs(now) * mp.mpf(10) ** -digits
            if mp.isnan(now) or mp.isinf(now) or close:
                return now
        before, precision = now, 2 * precision
    raise ArithmeticError(f"no {digits} digits below 200000")
'''


def print_function(name: str, trace: Trace, positive: tuple[str, ...] = (), doc: str = "") -> str:
    """name(..., digits=50) -> mpf."""
    arguments = ", ".join(trace.arguments.values())
    expression = trace.formula
    lines, (result,) = statements(lower(expression, trace.arguments), MPMATH, ("mp", "digits"))
    core = f"def _{name}({arguments}):\n" + "\n".join(f"    {line}" for line in [*lines, f"return {result}"])
    body = [f'"""{doc} (an mpf with `digits` digits)"""']
    for argument in positive:
        body.append(
            f'if {argument} <= 0:\n        raise ValueError(f"{argument} = {{{argument}}} is not allowed: '
            'it must be > 0")'
        )
    body.append(f"return _settled(_{name}, ({arguments},), digits)")
    return core + f"\n\n\ndef {name}({arguments}, digits=50):\n" + "\n".join(f"    {line}" for line in body)


def print_module(functions: list[str], header: str) -> str:
    """The module with these functions."""
    return f'"""{header}"""\n\n{PRELUDE}\n\n' + "\n\n\n".join(functions) + "\n"
