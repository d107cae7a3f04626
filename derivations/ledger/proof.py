"""How an identity or a limit is proved.

A proof hint says which move a person would make (change variables, differentiate and match, take the limit in another
variable); the checker makes the move and accepts only a literal zero at the end.  A hint can be wrong: then the
claim is not proved.  Inequalities have their own moves in `bounds`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import sympy as sp
from sympy.core.relational import Relational

from derivations.ledger.reduce import reduces_to_zero
from derivations.ledger.sample import sample
from derivations.ledger.signs import satisfies


class Outcome(NamedTuple):
    """Did the proof go through, and in which words; refuted: it found that the claim is false."""

    proved: bool
    text: str
    refuted: bool = False


class Proof:
    """A move that may prove a relation."""

    def prove(self, relation: Relational) -> Outcome:
        raise NotImplementedError


@dataclass(frozen=True)
class Algebra(Proof):
    """Take derivatives, write everything in exponentials and radicals, reduce the difference to 0."""

    def prove(self, relation: Relational) -> Outcome:
        if not isinstance(relation, sp.Eq):
            return Outcome(False, "algebra proves equalities only")
        if reduces_to_zero(relation.lhs - relation.rhs):
            return Outcome(True, "difference reduces to 0")
        return Outcome(False, "difference was not reduced to 0")


@dataclass(frozen=True)
class MatrixAlgebra(Proof):
    """Expand products of matrices of symbolic size; the difference must be the zero matrix."""

    def prove(self, relation: Relational) -> Outcome:
        difference = (relation.lhs - relation.rhs).doit().expand().doit()
        coefficients: dict[sp.Basic, sp.Expr] = {}
        for term in sp.MatAdd.make_args(difference):
            if getattr(term, "is_ZeroMatrix", False) or term == 0:
                continue
            factor, matrix = term.as_coeff_mmul() if isinstance(term, sp.MatMul) else (sp.Integer(1), term)
            coefficients[matrix] = coefficients.get(matrix, sp.Integer(0)) + factor
        if all(reduces_to_zero(coefficient) for coefficient in coefficients.values()):
            return Outcome(True, "matrix products expand to the zero matrix")
        return Outcome(False, "the matrices were not shown to be equal")


def _factored_bases(expr: sp.Expr) -> sp.Expr:
    """Write the base of every non-integer power as a product, so that its sign can be seen."""
    return expr.replace(
        lambda node: node.is_Pow and not node.exp.is_Integer and node.base.is_Add,
        lambda node: sp.factor(sp.together(node.base)) ** node.exp,
    )


@dataclass(frozen=True)
class Substitute(Proof):
    """Change variables, old -> expression in new symbols.

    The change must reach every value of the old variables: `inverse` gives each new symbol in terms of the old ones,
    and the checker verifies that the two undo each other and that the inverse meets the new symbol's assumptions.
    """

    changes: dict[sp.Symbol, sp.Expr]
    inverse: dict[sp.Symbol, sp.Expr]
    then: Proof = field(default_factory=Algebra)

    def prove(self, relation: Relational) -> Outcome:
        for old, new in self.changes.items():
            if not reduces_to_zero(new.subs(self.inverse, simultaneous=True) - old):
                return Outcome(False, f"{old} = {new} does not reach every {old}")
        if taken := set(self.inverse) & relation.free_symbols:
            return Outcome(False, f"{taken} already means something else in the claim")
        for symbol, expr in self.inverse.items():
            if not satisfies(expr, symbol):
                return Outcome(False, f"{expr} may leave the range of {symbol}")
        changed = [_factored_bases(side.doit().subs(self.changes, simultaneous=True)) for side in relation.args]
        inner = self.then.prove(relation.func(*changed, evaluate=False))
        how = ", ".join(f"{old} = {new}" for old, new in self.changes.items())
        return Outcome(inner.proved, f"with {how}: {inner.text}")


@dataclass(frozen=True)
class Match(Proof):
    """Two smooth functions agree when they agree at one point and have the same derivative."""

    variable: sp.Symbol
    at: sp.Expr
    then: Proof = field(default_factory=Algebra)

    def prove(self, relation: Relational) -> Outcome:
        left, right = (side.doit() for side in relation.args)
        at, slopes = [], []
        for side in (left, right):
            at.append(side.subs(self.variable, self.at))
            slopes.append(sp.diff(side, self.variable))
        start = self.then.prove(sp.Eq(*at, evaluate=False))
        slope = self.then.prove(sp.Eq(*slopes, evaluate=False))
        text = f"equal at {self.variable} = {self.at}, and the derivatives agree ({slope.text})"
        return Outcome(start.proved and slope.proved, text if start.proved and slope.proved else "no match")


@dataclass(frozen=True)
class ByLimit(Proof):
    """Let SymPy take the limit, after an optional change of variable and an optional rewriting (which is proved too).

    change = (new symbol, old variable as a function of it, its limit point).
    """

    change: tuple[sp.Symbol, sp.Expr, sp.Expr] | None = None
    rewrite: sp.Expr | None = None
    then: Proof = field(default_factory=Algebra)

    def prove(self, relation: Relational) -> Outcome:
        limit, value = relation.args
        if not isinstance(limit, sp.Limit):
            return Outcome(False, "no limit on the left")
        expr, variable, point, side = limit.args
        expr, how = expr.doit(), "limit taken"
        if self.change is not None:
            new, old, new_point = self.change
            if new in relation.free_symbols | expr.free_symbols:
                return Outcome(False, f"{new} already means something else in the claim")
            if sp.limit(old, new, new_point, "+") != point:
                return Outcome(False, f"{variable} = {old} does not tend to {point}")
            expr, how = expr.subs(variable, old), f"limit taken in {new}, {variable} = {old}"
            variable, point = new, new_point
        if self.rewrite is not None:
            if not reduces_to_zero(expr - self.rewrite):
                return Outcome(False, "the rewriting is not an identity")
            expr, how = self.rewrite, f"{how}, after the rewriting {self.rewrite}"
        found = sp.limit(expr, variable, point, str(side) if str(side) in "+-" else "+")
        if found in (sp.oo, -sp.oo) or value in (sp.oo, -sp.oo):
            return Outcome(found == value, how if found == value else f"the limit is {found}", found != value)
        if found.has(sp.Limit, sp.AccumBounds, sp.nan):
            return Outcome(False, "SymPy could not take the limit")
        inner = self.then.prove(sp.Eq(found, value, evaluate=False)) if found != value else Outcome(True, "")
        if inner.proved:
            return Outcome(True, how)
        other = sample(sp.Eq(found, value, evaluate=False)).holds is False
        return Outcome(False, f"the limit is {found}", other)
