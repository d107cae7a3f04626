"""How an inequality is proved.

Every move ends in signs that follow from the assumptions of the symbols, or in ball arithmetic over a box (`ball`);
a sign that SymPy does not know is not proved.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import sympy as sp
from sympy.core.relational import Relational

from derivations.ledger.proof import Outcome, Proof
from derivations.ledger.reduce import reduces_to_zero
from derivations.ledger.signs import has_sign

STRICT = (sp.Lt, sp.Gt)


def gap_of(relation: Relational) -> sp.Expr | None:
    """The expression that the relation says is positive (or non-negative)."""
    if isinstance(relation, (sp.Gt, sp.Ge)):
        return relation.lhs - relation.rhs
    if isinstance(relation, (sp.Lt, sp.Le)):
        return relation.rhs - relation.lhs
    return None


def _claim(gap: sp.Expr, strict: bool) -> Relational:
    return (sp.Gt if strict else sp.Ge)(gap, sp.Integer(0), evaluate=False)


@dataclass(frozen=True)
class Signs(Proof):
    """The gap equals `witness` (by algebra), whose sign follows from the assumptions of its symbols."""

    witness: sp.Expr | None = None

    def prove(self, relation: Relational) -> Outcome:
        gap = gap_of(relation)
        if gap is None:
            return Outcome(False, "not an inequality")
        gap = gap.doit()
        strict = isinstance(relation, STRICT)
        word = "> 0" if strict else ">= 0"
        if self.witness is None:
            good = has_sign(gap, strict) or has_sign(sp.expand(gap), strict) or (not strict and reduces_to_zero(gap))
            return Outcome(good, f"{gap} {word} term by term" if good else "sign not known")
        if not reduces_to_zero(gap - self.witness):
            return Outcome(False, "the gap is not the stated expression")
        good = has_sign(self.witness, strict)
        return Outcome(good, f"the gap is {self.witness} {word}" if good else f"sign of {self.witness} not known")


@dataclass(frozen=True)
class Rising(Proof):
    """gap(0) >= 0 and gap' > 0 (or >= 0) for variable > 0, hence gap > 0 (or >= 0) there.

    The variable must be assumed non-negative (positive for a strict claim).
    """

    variable: sp.Symbol
    slope: Proof = field(default_factory=Signs)

    def prove(self, relation: Relational) -> Outcome:
        gap = gap_of(relation)
        if gap is None:
            return Outcome(False, "not an inequality")
        strict = isinstance(relation, STRICT)
        if not (self.variable.is_positive if strict else self.variable.is_nonnegative):
            return Outcome(False, f"{self.variable} is not known to start at 0")
        gap = gap.doit()
        start = gap.subs(self.variable, 0)
        if start.has(sp.nan, sp.zoo, sp.oo, -sp.oo):
            start = sp.limit(gap, self.variable, 0, "+")
        if not (has_sign(start, False) or reduces_to_zero(start)):
            return Outcome(False, f"not known to be >= 0 at {self.variable} = 0")
        inner = self.slope.prove(_claim(sp.diff(gap, self.variable), strict))
        return Outcome(inner.proved, f">= 0 at {self.variable} = 0 and rising there on: {inner.text}")


def rising(variable: sp.Symbol, times: int, last: Proof | None = None) -> Proof:
    """Rising, applied to the slope, to the slope of the slope, ... `times` times; then `last` (Signs)."""
    proof = last or Signs()
    for _ in range(times):
        proof = Rising(variable, proof)
    return proof


@dataclass(frozen=True)
class Falling(Proof):
    """gap -> a limit >= 0 at infinity and gap' < 0 all the way, hence gap > 0."""

    variable: sp.Symbol
    slope: Proof = field(default_factory=Signs)

    def prove(self, relation: Relational) -> Outcome:
        gap = gap_of(relation)
        if gap is None:
            return Outcome(False, "not an inequality")
        gap = gap.doit()
        end = sp.limit(gap, self.variable, sp.oo)
        if not (end == 0 or has_sign(end, False)):
            return Outcome(False, f"limit {end} at infinity is not known to be >= 0")
        inner = self.slope.prove(_claim(-sp.diff(gap, self.variable), True))
        return Outcome(inner.proved, f"falls towards {end} as {self.variable} grows: {inner.text}")


@dataclass(frozen=True)
class BothSigns(Proof):
    """Prove the claim for variable = p and for variable = -p, p >= 0."""

    variable: sp.Symbol
    magnitude: sp.Symbol
    positive: Proof
    negative: Proof | None = None

    def prove(self, relation: Relational) -> Outcome:
        if not self.magnitude.is_nonnegative or self.magnitude.is_positive:
            return Outcome(False, f"{self.magnitude} must be non-negative and may be 0")
        if self.magnitude in relation.free_symbols:
            return Outcome(False, f"{self.magnitude} already means something else in the claim")
        words = []
        for value, proof in ((self.magnitude, self.positive), (-self.magnitude, self.negative or self.positive)):
            sides = [side.doit().subs(self.variable, value) for side in relation.args]
            inner = proof.prove(relation.func(*sides, evaluate=False))
            if not inner.proved:
                return Outcome(False, f"{self.variable} = {value}: {inner.text}")
            words.append(f"{self.variable} = {value}: {inner.text}")
        return Outcome(True, "; ".join(words))


@dataclass(frozen=True)
class Times(Proof):
    """The gap times a factor known to be positive is the gap of an easier claim."""

    factor: sp.Expr
    then: Proof

    def prove(self, relation: Relational) -> Outcome:
        gap = gap_of(relation)
        if gap is None or not has_sign(self.factor, True):
            return Outcome(False, f"{self.factor} is not known to be positive")
        inner = self.then.prove(_claim(sp.cancel(gap.doit() * self.factor), isinstance(relation, STRICT)))
        return Outcome(inner.proved, f"times {self.factor} > 0: {inner.text}")


@dataclass(frozen=True)
class Same(Proof):
    """The gap equals `form` by algebra; then prove that `form` has the sign."""

    form: sp.Expr
    then: Proof

    def prove(self, relation: Relational) -> Outcome:
        gap = gap_of(relation)
        if gap is None or not reduces_to_zero(gap - self.form):
            return Outcome(False, "the gap is not the stated expression")
        inner = self.then.prove(_claim(self.form, isinstance(relation, STRICT)))
        return Outcome(inner.proved, f"the gap is {self.form}: {inner.text}")


@dataclass(frozen=True)
class Factors(Proof):
    """The gap is a product of powers of factors, each proved positive by its own proof."""

    factors: tuple[tuple[sp.Expr, int, Proof], ...]

    def prove(self, relation: Relational) -> Outcome:
        gap = gap_of(relation)
        if gap is None:
            return Outcome(False, "not an inequality")
        product = sp.Mul(*(expr**power for expr, power, _ in self.factors))
        if not reduces_to_zero(gap.doit() - product):
            return Outcome(False, "the gap is not the stated product")
        words = []
        for expr, _, proof in self.factors:
            inner = proof.prove(_claim(expr, True))
            if not inner.proved:
                return Outcome(False, f"factor {expr}: {inner.text}")
            words.append(f"{expr} > 0 ({inner.text})")
        return Outcome(True, f"the gap is {product}: " + ", ".join(words))


class AnyOf(Proof):
    """The first of several proofs that goes through (for a conjunction whose parts need different ones)."""

    def __init__(self, *proofs: Proof) -> None:
        self.proofs = proofs

    def prove(self, relation: Relational) -> Outcome:
        outcome = Outcome(False, "no proof given")
        for proof in self.proofs:
            outcome = proof.prove(relation)
            if outcome.proved:
                break
        return outcome
