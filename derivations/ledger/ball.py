"""Inequalities over a box by ball arithmetic (python-flint, optional).

A ball carries a rigorous radius through every operation, so a positive lower end over every sub-interval of a box is
a proof for that box.  Infinite ends need a bound derived on paper: `Split` joins pieces, each with its own proof.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp
from sympy.core.relational import Relational

from derivations.ledger.bounds import gap_of
from derivations.ledger.proof import Outcome, Proof
from derivations.symbols import DOMAIN

DEEPEST = 14
_UNARY = {
    sp.exp: "exp", sp.sinh: "sinh", sp.cosh: "cosh", sp.tanh: "tanh", sp.asinh: "asinh", sp.log: "log", sp.erf: "erf",
    sp.erfc: "erfc", sp.sin: "sin", sp.cos: "cos",
}  # fmt: skip


def to_ball(expr: sp.Expr, values: dict):
    """Evaluate a SymPy expression in ball arithmetic; `values` maps symbols to `arb`."""
    from flint import arb, fmpq

    if expr in values:
        return values[expr]
    if expr.is_Rational:
        return arb(fmpq(int(expr.p), int(expr.q)))
    if expr is sp.pi:
        return arb.pi()
    if expr is sp.E:
        return arb(1).exp()
    args = [to_ball(arg, values) for arg in expr.args]
    if expr.is_Add:
        return sum(args[1:], args[0])
    if expr.is_Mul:
        product = args[0]
        for factor in args[1:]:
            product *= factor
        return product
    if expr.is_Pow and expr.exp.is_Integer:
        return args[0] ** int(expr.exp)
    if expr.is_Pow and expr.exp.is_Rational and expr.exp.q == 2:
        return args[0].sqrt() ** int(expr.exp.p)
    if type(expr) in _UNARY:
        return getattr(args[0], _UNARY[type(expr)])()
    raise ValueError(f"no ball arithmetic for {type(expr).__name__}")


@dataclass(frozen=True)
class Number(Proof):
    """An inequality between two numbers, by ball arithmetic."""

    def prove(self, relation: Relational) -> Outcome:
        gap = gap_of(relation)
        if gap is None or gap.doit().free_symbols:
            return Outcome(False, "not an inequality between numbers")
        try:
            import flint  # noqa: F401
        except ImportError:
            return Outcome(False, "python-flint is not installed")
        ball = to_ball(gap.doit(), {})
        return Outcome(bool(ball > 0), f"ball arithmetic: the gap is {ball.str(8)}")


@dataclass(frozen=True)
class Ball(Proof):
    """gap > 0 for variable in [low, high] (the other symbols must be gone), by bisection.

    Alone it proves a claim only if the variable's DOMAIN is inside the box; inside a `Split` it covers its piece.
    """

    variable: sp.Symbol
    low: sp.Rational
    high: sp.Rational

    def prove(self, relation: Relational) -> Outcome:
        low, high = DOMAIN.get(self.variable, (-sp.oo, sp.oo))
        if low < self.low or high > self.high:
            return Outcome(False, f"{self.variable} may leave [{self.low}, {self.high}]")
        return self.on_box(relation)

    def on_box(self, relation: Relational) -> Outcome:
        """The claim for the variable inside the box."""
        gap = gap_of(relation)
        if gap is None or gap.doit().free_symbols != {self.variable}:
            return Outcome(False, "not an inequality in one variable")
        try:
            import flint  # noqa: F401
        except ImportError:
            return Outcome(False, "python-flint is not installed")
        count = self._cover(gap.doit(), sp.Rational(self.low), sp.Rational(self.high), DEEPEST)
        where = f"{self.variable} in [{self.low}, {self.high}]"
        if count is None:
            return Outcome(False, f"ball arithmetic does not settle {where}")
        return Outcome(True, f"ball arithmetic, {where}, {count} balls")

    def _cover(self, gap: sp.Expr, low: sp.Rational, high: sp.Rational, depth: int) -> int | None:
        from flint import arb, fmpq

        middle, radius = (low + high) / 2, (high - low) / 2
        ball = arb(fmpq(int(middle.p), int(middle.q)), fmpq(int(radius.p), int(radius.q)))
        if to_ball(gap, {self.variable: ball}) > 0:
            return 1
        if depth == 0:
            return None
        halves = [self._cover(gap, low, middle, depth - 1)]
        if halves[0] is None:
            return None
        halves.append(self._cover(gap, middle, high, depth - 1))
        return None if halves[1] is None else halves[0] + halves[1]


@dataclass(frozen=True)
class Split(Proof):
    """Prove a claim in one non-negative variable on [0, cut] and on [cut, oo) separately.

    `above` is asked about variable = cut + w with w >= 0, w the symbol `rest`.
    """

    variable: sp.Symbol
    cut: sp.Rational
    below: Ball
    above: Proof
    rest: sp.Symbol

    def prove(self, relation: Relational) -> Outcome:
        if not self.variable.is_nonnegative or not self.rest.is_nonnegative or self.rest.is_positive:
            return Outcome(False, "the pieces do not cover the range")
        if self.rest in relation.free_symbols:
            return Outcome(False, f"{self.rest} already means something else in the claim")
        if self.below.variable != self.variable or self.below.low > 0 or self.below.high < self.cut:
            return Outcome(False, "the box does not reach from 0 to the cut")
        near = self.below.on_box(relation)
        if not near.proved:
            return near
        sides = [side.doit().subs(self.variable, self.cut + self.rest) for side in relation.args]
        far = self.above.prove(relation.func(*sides, evaluate=False))
        return Outcome(far.proved, f"{near.text}; beyond {self.cut}: {far.text}")
