"""The mpmath printer: the formula as its derivation gives it, at any number of digits.

No rule has touched it: this is the oracle the other backends are measured against.  Cancellation is met with working
precision, doubled until
two answers agree.
"""

from __future__ import annotations

import sympy as sp

from numerics.codegen.passes import Trace
from numerics.codegen.program import FUNCTIONS, UnsupportedNode, lower
from numerics.codegen.text import Dialect, statements

__all__ = ["MPMATH", "print_function", "print_module", "print_root", "print_root_function"]

_ONE = "exp log log1p expm1 sin cos tan sinh cosh tanh sqrt asinh acosh atanh asin acos atan erf erfc floor ceil sign"
_CALLS = {
    **{name: f"mp.{name}({{0}})" for name in _ONE.split()},
    "abs": "abs({0})", "pow": "({0}) ** ({1})", "atan2": "mp.atan2({0}, {1})", "hypot": "mp.hypot({0}, {1})",
    "upper": "{0}", "known": "({1} if mp.isnan({0}) else {0})", "max": "max({0}, {1})", "min": "min({0}, {1})",
    "lt": "({0} < {1})", "le": "({0} <= {1})", "gt": "({0} > {1})", "ge": "({0} >= {1})", "eq": "({0} == {1})",
    "ne": "({0} != {1})",
    "and": "({0} and {1})", "or": "({0} or {1})", "not": "(not {0})", "where": "({1} if {0} else {2})",
}  # fmt: skip


_CONSTANTS = {sp.pi: "pi", sp.E: "e", sp.EulerGamma: "euler", sp.Catalan: "catalan", sp.GoldenRatio: "phi"}
_SIGNS = {sp.Mul: " * ", sp.Add: " + ", sp.Pow: " ** "}


def exact(number: sp.Expr) -> str:
    """A number as an mpmath expression, exact whatever the precision (a Float is the binary number it holds)."""
    if number.is_Integer:
        return f"mp.mpf({number})"
    if number.is_Float:
        return exact(sp.Rational(number))
    if number.is_Rational:
        return f"(mp.mpf({number.p}) / {number.q})"
    if number in _CONSTANTS:
        return f"mp.{_CONSTANTS[number]}"
    if type(number) in _SIGNS:
        return "(" + _SIGNS[type(number)].join(map(exact, number.args)) + ")"
    if type(number) in FUNCTIONS:
        return _CALLS[FUNCTIONS[type(number)]].format(*map(exact, number.args))
    raise UnsupportedNode(f"the mpmath printer cannot write the number {number}")


def _horner(x: str, coefficients: list[str]) -> str:
    *rest, text = coefficients
    for coefficient in reversed(rest):
        text = f"({coefficient} + {x} * {text})"
    return text


MPMATH = Dialect("mpmath", _CALLS, exact, polynomial=_horner)
RESERVED = ("mp", "digits", "values", "size", "move")

PRELUDE = '''import mpmath as mp


def _real(name, value):
    """The number itself; TypeError for what is not one real number."""
    number = value.item() if hasattr(value, "dtype") and getattr(value, "ndim", 1) == 0 else value
    try:
        if not isinstance(number, str):
            mp.mpf(number)
            return number
    except TypeError:
        pass
    raise TypeError(f"{name} must be a real number, got {value!r:.60} of type {type(value).__name__}")


def _settled(core, values, digits, ratio=None, far=None, near=None):
    """core(*values), a number or a tuple of numbers, to `digits` digits: the working precision doubles until two
    answers agree.  No digits asked for means 50, or mp.dps where that is more.

    It starts high when arguments are far from 1: two answers also agree when both have lost the same term.  Where
    `ratio` is infinite or zero the printed formula is inf - inf or 0/0, and its limits `far` and `near` are the answer.
    """
    digits = max(50, mp.mp.dps) if digits is None else digits
    if not isinstance(digits, int) or digits < 1:
        raise ValueError(f"digits = {digits!r} is not allowed: it must be a whole number of at least 1")
    size = [abs(mp.mpf(v)) for v in values]
    if ratio is not None and not all(mp.isnormal(s) or mp.isnan(s) for s in size):
        end = ratio(*map(mp.mpf, values))
        core = far if mp.isinf(end) and far else near if end == 0 and near else core
    before, precision = None, digits + 20 + 4 * sum(abs(int(mp.log10(s))) for s in size if mp.isnormal(s))
    while precision < 200_000:
        with mp.workdps(precision):
            now = core(*map(mp.mpf, values))
            parts = now if isinstance(now, tuple) else (now,)
            settled = before is not None and all(map(_agree, parts, before, [digits] * len(parts)))
            if settled or not any(map(mp.isfinite, parts)):
                return now
        before, precision = parts, 2 * precision
    raise ArithmeticError(f"no {digits} digits below 200000")


def _agree(now, before, digits):
    return mp.isnan(now) or now == before or abs(now - before) <= abs(now) * mp.mpf(10) ** -digits
'''

ROOT = '''def _channel_z(u, g, c_ft):
@STATE@


def _root(z, g, c_ft):
    """xhat = c_ft sinh(u) where c_ft sinh(u) + (g/2) u = z: convex and increasing for u >= 0, so that Newton's method
    falls onto the root from above.
    """
    size = abs(z)
    if mp.isnan(size + g + c_ft):
        return mp.nan
    if g == 0 or size == 0 or mp.isinf(size):
        return z
    u = min(mp.asinh(size / c_ft), size / (c_ft + g / 2))
    for _ in range(200):
        value, slope = _channel_z(u, g, c_ft)
        move = (value - size) / slope
        u = u - move
        if not abs(move) > abs(u) * mp.sqrt(mp.eps):
            return mp.sign(z) * c_ft * mp.sinh(u)
    raise ArithmeticError(f"no root of c_ft sinh(u) + (g/2) u = {z} in 200 steps")
'''


def _core(name: str, arguments: str, expression: sp.Expr, trace: Trace) -> str:
    """A function of mpf values: one number, or a tuple for a tuple of expressions."""
    several = isinstance(expression, sp.Tuple)
    program = lower(tuple(expression) if several else expression, trace.arguments)
    lines, results = statements(program, MPMATH, RESERVED)
    returned = f"({', '.join(results)},)" if several else results[0]
    return _function(name, arguments, [*lines, f"return {returned}"])


def _function(name: str, arguments: str, lines: list[str]) -> str:
    return f"def {name}({arguments}):\n" + "\n".join(f"    {line}" for line in lines)


def print_function(name: str, trace: Trace, positive: tuple[str, ...] = (), doc: str = "") -> str:
    """name(..., digits=None) -> mpf (a tuple of them for a formula of several results)."""
    arguments = ", ".join(trace.arguments.values())
    parts = [_core(f"_{name}", arguments, trace.formula, trace), *_limits(name, arguments, trace)]
    return "\n\n\n".join([*parts, _public(name, f"_{name}", arguments, positive, (), trace, doc)])


def print_root_function(name: str, trace: Trace, positive: tuple[str, ...], doc: str) -> str:
    """A kernel of the root: `_root` first, then the expression in x."""
    inner, outer = ", ".join(trace.arguments.values()), "z, g, c_ft"
    parts = [_core(f"_{name}_at", inner, trace.formula, trace)]
    if trace.regions:
        parts += _limits(f"{name}_at", inner, trace)
        at = f"_{name}_at_far if mp.isinf(x / c_ft) else _{name}_at"
        body = ["x = _root(z, g, c_ft)", f"return ({at})({inner})"]
    else:
        body = [f"return _{name}_at(_root(z, g, c_ft), g, c_ft)"]
    parts.append(_function(f"_{name}", outer, body))
    return "\n\n\n".join([*parts, _public(name, f"_{name}", outer, positive, ("g",), None, doc)])


def print_root() -> str:
    """`_root(z, g, c_ft)`, from the derivation's z(u) and its slope."""
    from derivations import scalar_channel as channel
    from derivations.symbols import c_ft, g, start, u

    state = channel.channel_z(u).subs(start, 0), channel.channel_jacobian(u)
    lines, results = statements(lower(state, {u: "u", g: "g", c_ft: "c_ft"}), MPMATH, RESERVED)
    body = "\n".join(f"    {line}" for line in [*lines, f"return {', '.join(results)}"])
    return ROOT.replace("@STATE@", body).strip()


def _limits(name: str, arguments: str, trace: Trace) -> list[str]:
    """The ratio that decides and the forms at its ends, for nodes that have such forms."""
    ends = [region for region in trace.regions if not region.fixed]
    if not ends:
        return []
    parts = [_core(f"_{name}_ratio", arguments, ends[0].x, trace)]
    return parts + [_core(f"_{name}_{region.name}", arguments, region.expression, trace) for region in ends]


def _public(name, core, arguments, positive, nonnegative, trace, doc) -> str:
    lines = [f'"""{doc} (to `digits` digits: 50, or mp.dps where that is more)"""']
    names = arguments.split(", ")
    lines.append(f"{arguments} = " + ", ".join(f'_real("{argument}", {argument})' for argument in names))
    for argument, relation, allowed in [(a, "<=", "> 0") for a in positive] + [(a, "<", ">= 0") for a in nonnegative]:
        told = f"{argument} = {{{argument}}} is not allowed: it must be {allowed}"
        lines += [f"if {argument} {relation} 0:", f'    raise ValueError(f"{told}")']
    ends = [region.name for region in trace.regions if not region.fixed] if trace else []
    extra = "".join(f", {end}={core}_{end}" for end in (["ratio", *ends] if ends else []))
    lines.append(f"return _settled({core}, ({arguments}{',' if len(names) == 1 else ''}), digits{extra})")
    return _function(name, f"{arguments}, digits=None", lines)


def print_module(functions: list[str], header: str) -> str:
    """The module with these functions."""
    return f'"""{header}"""\n\n{PRELUDE}\n\n' + "\n\n\n".join(functions) + "\n"
