"""True values: a formula evaluated in ball arithmetic (Arb) or by mpmath, with as many digits as its cancellations
need.

The formula evaluated here is the one the derivation gives, before any rule was applied, so that the oracle shares
nothing with the
kernels.  Arb (python-flint) is fast enough for 1e5 points and its error bounds are rigorous; mpmath at 50 digits
and more is the independent second opinion, and the only one where python-flint is not installed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import sympy as sp

from numerics.codegen.nodes import Rounded

__all__ = ["ball_oracle", "mpmath_oracle", "root_oracle"]

GUARD_BITS = 90


def mpmath_oracle(expression: sp.Expr, arguments: Sequence[sp.Symbol], digits: int = 50) -> Callable[..., object]:
    """A function of floats that returns an mpf correct to `digits`: the precision doubles until two answers agree.

    It starts where arguments so far from 1 can no longer cancel each other unseen: two answers also agree when both
    have lost the same term.
    """
    import mpmath

    raw = sp.lambdify(list(arguments), expression, "mpmath")

    def evaluate(*values: float):
        before, precision = None, digits + 20 + sum(4 * _orders(value) for value in values)
        while precision < 200_000:
            with mpmath.workdps(precision):
                now = raw(*(mpmath.mpf(float(value)) for value in values))
                if before is not None and abs(now - before) <= abs(now) * mpmath.mpf(10) ** -digits:
                    return now
            before, precision = now, 2 * precision
        raise ArithmeticError(f"no {digits} digits of {expression} at {values} below 200000 digits")

    return evaluate


def _orders(value: float) -> int:
    """Decimal orders of magnitude between a number and 1."""
    return abs(int(math.log10(abs(value)))) if value and math.isfinite(value) else 0


def ball_oracle(expression: sp.Expr, arguments: Sequence[sp.Symbol]) -> Callable[..., object]:
    """A function of floats that returns an arb whose radius is below 2^-90 of its midpoint (or an exact zero)."""
    from flint import arb, ctx

    shared, (last,) = sp.cse(expression, order="canonical")
    index = {symbol: i for i, symbol in enumerate([*arguments, *(symbol for symbol, _ in shared)])}
    steps = [_compile(part, index, arb) for _, part in shared]
    result = _compile(last, index, arb)

    def at_balls(balls: list):
        balls = list(balls)
        for step in steps:
            balls.append(step(balls))
        return result(balls)

    def oracle(*values: float):
        precision = 192
        while precision < 40_000:
            ctx.prec = precision
            value = at_balls([arb(float(value)) for value in values])
            if value.rel_accuracy_bits() >= GUARD_BITS or value.is_exact():
                return value
            precision *= 2
        raise ArithmeticError(f"no {GUARD_BITS} bits of {expression} at {values}")

    oracle.at_balls = at_balls
    return oracle


def root_oracle(expression: sp.Expr, arguments: Sequence[sp.Symbol]) -> Callable[..., object]:
    """A function of (z, g, c_ft) for an expression in x = c_ft sinh(u), where channel_z(u) = z: Newton in Arb, from
    above.
    """
    from flint import arb, ctx

    inner = ball_oracle(expression, arguments)  # in (x, g, c_ft)

    def root(z: float, g: float, c: float):
        precision = 400
        while precision < 8000:
            ctx.prec = precision
            x = _root(arb(abs(z)), arb(g) / 2, arb(c), precision)
            if z != 0 and not 2.3e-308 <= float(x) <= 1.7e308:
                raise ArithmeticError("the root is not a normal number: outside the domain of what is computed from it")
            value = inner.at_balls([x if z >= 0 else -x, arb(g), arb(c)])
            if value.rel_accuracy_bits() >= GUARD_BITS or value.is_exact():
                return value
            precision *= 2
        raise ArithmeticError(f"no {GUARD_BITS} bits of {expression} at the root for {z, g, c}")

    return root


def _root(size, half, scale, precision: int):
    """scale sinh(u) at the root of scale sinh(u) + half u = size, to about `precision` bits."""
    u = min((size / scale).asinh(), size / (scale + half)).mid()
    for _ in range(80):
        step = ((scale * u.sinh() + half * u - size) / (scale * u.cosh() + half)).mid()
        u = (u - step).mid()
        if abs(step) <= abs(u) * type(u)(2) ** -(precision // 2):
            return (scale * u.sinh()).mid()
    raise ArithmeticError(f"no root for size {size}, g/2 {half}, c_ft {scale}")


def _compile(expr: sp.Expr, index: dict[sp.Symbol, int], arb) -> Callable:
    """A closure on a list of balls; raises TypeError for a node it does not know."""
    if expr.is_Symbol:
        position = index[expr]
        return lambda balls: balls[position]
    if expr.is_Rational:
        p, q = int(expr.p), int(expr.q)
        return lambda balls: arb(p) / q
    if expr is sp.pi:
        return lambda balls: arb.pi()
    parts = [_compile(child, index, arb) for child in expr.args]
    if isinstance(expr, Rounded):
        return parts[0]
    if isinstance(expr, sp.Add):
        return lambda balls: _total(part(balls) for part in parts)
    if isinstance(expr, sp.Mul):
        return lambda balls: _product(part(balls) for part in parts)
    if isinstance(expr, sp.Pow):
        base, exponent = parts[0], expr.exp
        if exponent.is_Integer:
            n = int(exponent)
            return lambda balls: base(balls) ** n
        if exponent.is_Rational and exponent.q == 2:
            n = int(exponent.p)
            return lambda balls: base(balls).sqrt() ** n
    names = {
        sp.asinh: "asinh", sp.sinh: "sinh", sp.cosh: "cosh", sp.tanh: "tanh", sp.exp: "exp", sp.log: "log",
        sp.Abs: "__abs__", sp.sign: "sgn",
    }  # fmt: skip
    for kind, name in names.items():
        if isinstance(expr, kind):
            inner = parts[0]
            return lambda balls: getattr(inner(balls), name)()
    raise TypeError(f"the ball oracle does not know {type(expr).__name__} in {expr}")


def _total(values):
    total = 0
    for value in values:
        total = total + value
    return total


def _product(values):
    product = 1
    for value in values:
        product = product * value
    return product
