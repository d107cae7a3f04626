"""Evaluate a claim at seeded points with 50 and then 100 digits.

A point depends on nothing but the names of the symbols, so the same claim meets the same points on every machine
and in every process.  Sampling can refute a claim; it never proves one.
"""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import dataclass

import mpmath
import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

from derivations.symbols import DOMAIN

POINTS = 4
DIGITS = (50, 100)
_SCALES = (sp.Rational(1), sp.Rational(1, 13), sp.Rational(5, 2), sp.Rational(1, 3))


@dataclass(frozen=True)
class Sample:
    """What sampling found: holds (None: it could not be evaluated), a sentence, and the points used."""

    holds: bool | None
    text: str
    points: tuple[dict[str, str], ...] = ()


def value_at(symbol: sp.Basic, index: int) -> sp.Rational:
    """The index-th exact rational value of a symbol (or of a function value, taken as a free number)."""
    digest = hashlib.sha256(f"{symbol}#{index}".encode()).digest()
    fraction = sp.Rational(int.from_bytes(digest[:4], "big") % 997 + 1, 1000)
    if symbol in DOMAIN:
        low, high = DOMAIN[symbol]
        return low + (high - low) * fraction
    if symbol.is_integer:
        return sp.Integer(int.from_bytes(digest[:4], "big") % 5 + 2)
    size = (fraction * 2 + sp.Rational(1, 10)) * _SCALES[index % len(_SCALES)]
    if symbol.is_negative or (not symbol.is_nonnegative and digest[4] % 2):
        return -size
    return size


def _free_numbers(expr: sp.Basic) -> tuple[sp.Basic, dict[sp.Basic, sp.Symbol]]:
    """Replace what is left of unspecified functions (values, derivatives) by symbols of the same name."""
    pieces = [p for p in expr.atoms(sp.Derivative) if p.expr.atoms(AppliedUndef)]
    pieces += list(expr.atoms(AppliedUndef))
    pieces += list(expr.atoms(sp.Indexed))
    names = {p: sp.Symbol(f"<{p}>", real=True, nonnegative=p.is_nonnegative) for p in pieces}
    for piece, symbol in sorted(names.items(), key=lambda item: -sp.count_ops(item[0])):
        expr = expr.subs(piece, symbol)
    return expr, names


def without_integrals(expr: sp.Basic) -> sp.Basic:
    """Take derivatives and finite sums, leave integrals (they go to quadrature) and limits as they are."""
    kept = {node: sp.Dummy(f"L{i}", real=True) for i, node in enumerate(expr.atoms(sp.Limit))}
    expr = expr.xreplace(kept).doit(integrals=False)
    return expr.xreplace({dummy: node for node, dummy in kept.items()})


class Numeric:
    """An expression as a function of exact points, evaluated with any number of digits (15 more inside)."""

    def __init__(self, expr: sp.Expr, symbols: list[sp.Symbol]) -> None:
        self.function = sp.lambdify(symbols, expr, "mpmath")
        self.symbols = symbols

    def __call__(self, point: dict[sp.Symbol, sp.Rational], digits: int) -> mpmath.mpf:
        with mpmath.workdps(digits + 15):
            value = self.function(*(mpmath.mpf(int(point[s].p)) / int(point[s].q) for s in self.symbols))
            if isinstance(value, mpmath.mpc):
                if abs(value.imag) > mpmath.mpf(10) ** (-digits) * (1 + abs(value.real)):
                    raise ValueError(f"complex value {mpmath.nstr(value, 8)}")
                value = value.real
            return +mpmath.mpf(value)


def _holds(relation: Relational, left: mpmath.mpf, right: mpmath.mpf, tolerance: mpmath.mpf) -> bool:
    scale = 1 + abs(left) + abs(right)
    if mpmath.isnan(left) or mpmath.isnan(right):
        return False
    if isinstance(relation, sp.Eq):
        return bool(abs(left - right) <= tolerance * scale)
    if isinstance(relation, sp.Ne):
        return bool(abs(left - right) > tolerance * scale)
    if isinstance(relation, (sp.Le, sp.Ge)):
        gap = right - left if isinstance(relation, sp.Le) else left - right
        return bool(gap >= -tolerance * scale)
    return bool(left < right if isinstance(relation, sp.Lt) else left > right)


def sample(claim: Relational, points: int = POINTS) -> Sample:
    """Evaluate both sides of `claim`; refuted at one point is refuted."""
    if claim.atoms(sp.Limit):
        return sample_limit(claim)
    if isinstance(claim.lhs, sp.MatrixExpr):
        return sample_matrices(claim)
    sides, _ = _free_numbers(sp.Tuple(*(without_integrals(side) for side in claim.args)))
    has_integral = bool(sides.atoms(sp.Integral))
    if has_integral:
        points = min(points, 2)
    symbols = sorted(sides.free_symbols, key=str)
    used = []
    functions = [Numeric(side, symbols) for side in sides]
    for index in range(points):
        point = {symbol: value_at(symbol, index) for symbol in symbols}
        used.append({str(symbol): str(value) for symbol, value in point.items()})
        for digits in (DIGITS[0] // 2,) if has_integral else DIGITS:
            try:
                left, right = (function(point, digits) for function in functions)
            except (TypeError, ValueError, ZeroDivisionError, NameError, AttributeError, KeyError) as error:
                return Sample(None, f"could not be evaluated numerically ({error})", tuple(used))
            with mpmath.workdps(digits):
                tolerance = mpmath.mpf(10) ** (10 - digits)
                if not _holds(claim, left, right, tolerance):
                    text = f"{mpmath.nstr(left, 12)} against {mpmath.nstr(right, 12)} at {used[-1]}"
                    return Sample(False, text, tuple(used))
        if not symbols:
            break
    how = "quadrature, 25 digits" if has_integral else " and ".join(map(str, DIGITS)) + " digits"
    return Sample(True, f"{len(used)} point{'s' * (len(used) > 1)} ({how})", tuple(used))


def sample_matrices(claim: Relational) -> Sample:
    """Give every dimension a small number and every entry a seeded rational: exact arithmetic, one point."""
    matrices = claim.atoms(sp.MatrixSymbol) | {claim.lhs}
    sizes = sorted({s for m in matrices for n in m.shape for s in sp.sympify(n).free_symbols}, key=str)
    point = {size: sp.Integer(position + 3) for position, size in enumerate(sizes)}
    sides = []
    for side in claim.args:
        side = side.subs(point).doit()
        entries = {
            m: sp.ImmutableMatrix(*m.shape, lambda i, j, m=m: value_at(sp.Symbol(f"{m}[{i},{j}]", real=True), 0))
            for m in side.atoms(sp.MatrixSymbol)
        }
        side = side.subs({symbol: value_at(symbol, 0) for symbol in side.free_symbols - set(entries)})
        sides.append(sp.ImmutableMatrix(side.xreplace(entries).doit().as_explicit()))
    shown = {str(size): str(value) for size, value in point.items()}
    text = f"matrices of size {', '.join(map(str, point.values()))} with seeded rational entries, exactly"
    return Sample(bool(sides[0] == sides[1]), text, (shown,))


def _approach(limit: sp.Limit, exponent: int) -> sp.Expr:
    """A point close to where the limit is taken."""
    _, _, target, side = limit.args
    step = sp.Integer(10) ** exponent
    if target in (sp.oo, -sp.oo):
        return step if target == sp.oo else -step
    return target - 1 / step if str(side) == "-" else target + 1 / step


def sample_limit(claim: Relational) -> Sample:
    """Walk towards the limit, to 10^400 (or 10^-400): the distance to the claimed value must shrink to nothing."""
    (limit,) = claim.atoms(sp.Limit)
    left, right = claim.args
    if left != limit:
        return Sample(None, "a limit is sampled only when it stands alone on the left")
    expr, variable = limit.args[0], limit.args[1]
    expr, right = _free_numbers(sp.Tuple(without_integrals(expr), right))[0]
    symbols = sorted((expr.free_symbols | right.free_symbols) - {variable}, key=str)
    seen = Sample(None, "")
    for exponents in ((1, 2, 3),) if expr.atoms(sp.Integral) else ((3, 12, 60, 400), (1, 2, 3, 4)):
        seen = _walk(expr, limit, right, symbols, exponents)
        if seen.holds is not None:
            break  # the second walk is for functions that overflow on the first
    return seen


def _walk(expr: sp.Expr, limit: sp.Limit, right: sp.Expr, symbols: list, exponents: tuple[int, ...]) -> Sample:
    numerical = bool(expr.atoms(sp.Integral))
    used = []
    function = Numeric(expr, [*symbols, limit.args[1]])
    for index in range(2):
        point = {symbol: value_at(symbol, index) for symbol in symbols}
        used.append({str(symbol): str(value) for symbol, value in point.items()})
        try:
            found = [_towards(function, limit, point, e, numerical) for e in exponents]
            good = _approaches(found, right, point)
        except (TypeError, ValueError, ZeroDivisionError, NameError, OverflowError) as error:
            return Sample(None, f"could not be evaluated numerically ({error})", tuple(used))
        if not good:
            return Sample(False, f"values {[mpmath.nstr(f, 8) for f in found]} do not approach {right}", tuple(used))
    return Sample(True, f"approached to 10^{exponents[-1]} at {len(used)} points", tuple(used))


def _approaches(found: list, right: sp.Expr, point: dict) -> bool:
    """Do the values close in on `right` (or keep growing, if it is infinite)?"""
    if right in (sp.oo, -sp.oo):
        sign = 1 if right == sp.oo else -1
        return all(sign * b > sign * a for a, b in itertools.pairwise(found)) and bool(sign * found[-1] > 3)
    value = Numeric(right, list(point))(point, 50)
    gaps = [abs(f - value) for f in found]
    if gaps[-1] <= mpmath.mpf(10) ** (-20) * (1 + abs(value)):
        return True
    close = gaps[-1] <= mpmath.mpf(1) / 50 * (abs(value) or 1)
    return bool(close and gaps[-1] <= mpmath.mpf(9) / 10 * gaps[-2])  # a gap that stays is another limit


def _towards(function: Numeric, limit: sp.Limit, point: dict, exponent: int, numerical: bool) -> mpmath.mpf:
    near = {**point, limit.args[1]: _approach(limit, exponent)}
    return function(near, 25 if numerical else 60 + 5 * exponent)
