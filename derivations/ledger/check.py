"""The checker: a verdict for each step, and the ledger of a derivation.

A claim is first met at seeded points (50, then 100 digits): a contradiction is `failed`, whatever the proof says.
Then the proof is tried.  `proved` needs both; a claim that only survives the points is `sampled`; definitions and
assumptions are listed as `assumed`.  A claim that says nothing (both sides the same, or evaluated away) is `failed`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

from derivations.ledger.proof import Algebra, Outcome
from derivations.ledger.sample import sample
from derivations.ledger.step import Step

Level = Literal["proved", "sampled", "assumed", "failed"]


@dataclass(frozen=True)
class Verdict:
    """What the checker says: the level, the evidence in words, and the points used."""

    level: Level
    evidence: str
    points: tuple[dict[str, str], ...] = ()

    def __str__(self) -> str:
        return f"{self.level}: {self.evidence}"


def relations(claim: sp.Basic) -> tuple[sp.Basic, ...]:
    """The relations of a claim: itself, or the parts of a conjunction."""
    return claim.args if isinstance(claim, sp.And) else (claim,)


def with_given(relation: Relational, given: tuple[Step, ...]) -> Relational:
    """Use the equations of earlier steps, left to right; derivatives are taken before and after."""
    if not given:
        return relation
    rules = [(eq.lhs, eq.rhs) for step in given for eq in relations(step.claim)]
    sides = list(relation.args)
    for _ in range(2):
        for old, new in rules:
            sides = [side.doit(integrals=False).subs(old, new) for side in sides]
    return relation.func(*sides, evaluate=False)


def _ill_defined(relation: sp.Basic) -> str | None:
    """A definition gives a meaning to a symbol, a function value or its derivative, and not in terms of itself."""
    if not isinstance(relation, sp.Eq):
        return "a definition is an equation"
    name = relation.lhs
    whole = name.expr if isinstance(name, sp.Derivative) else name
    if not isinstance(whole, (sp.Symbol, AppliedUndef)):
        return f"{name} is not a name that can be defined"
    if relation.rhs.has(name):
        return f"{name} is defined by itself"
    return None


def _empty(relation: sp.Basic) -> str | None:
    """Why a relation says nothing, if it does."""
    if not isinstance(relation, Relational):
        return f"the claim is {relation}, which says nothing"
    if relation.lhs == relation.rhs:
        return "both sides are the same expression"
    return None


def _check_relation(relation: sp.Basic, step: Step) -> Verdict:
    empty = _empty(relation)
    if empty is None and step.given:
        used = [set(eq.args) for earlier in step.given for eq in relations(earlier.claim)]
        if set(relation.args) in used:
            empty = "the claim repeats what is given"
        relation = with_given(relation, step.given)
    if empty is not None:
        return Verdict("failed", empty)
    seen = sample(relation)
    if seen.holds is False:
        return Verdict("failed", f"contradicted: {seen.text}", seen.points)
    try:
        outcome = (step.proof or Algebra()).prove(relation)
    except (ArithmeticError, AttributeError, NotImplementedError, TypeError, ValueError, sp.PolynomialError) as error:
        outcome = Outcome(False, f"the proof stopped ({type(error).__name__}: {error})")
    if outcome.proved:
        guard = f"checked: {seen.text}" if seen.holds else f"not sampled: {seen.text}"
        return Verdict("proved", f"{outcome.text} [{guard}]", seen.points)
    if outcome.refuted:
        return Verdict("failed", f"refuted: {outcome.text}", seen.points)
    if seen.holds:
        return Verdict("sampled", f"{seen.text}; not proved: {outcome.text}", seen.points)
    return Verdict("failed", f"{seen.text}; not proved: {outcome.text}", seen.points)


def check_step(step: Step) -> Verdict:
    """The verdict on one step."""
    if step.claim.atoms(sp.Float):
        return Verdict("failed", "a floating-point number stands in the claim")
    parts = relations(step.claim)
    if step.kind in ("definition", "assumption"):
        tests = (_empty, _ill_defined) if step.kind == "definition" else (_empty,)
        wrong = next((why for test in tests for part in parts if (why := test(part))), None)
        if wrong is not None:
            return Verdict("failed", wrong)
        return Verdict("assumed", "a definition" if step.kind == "definition" else "taken as given, not checked")
    for used in step.given:
        if used.verdict.level == "failed":
            return Verdict("failed", f"rests on a failed step: {used.name}")
        if not all(isinstance(part, sp.Eq) for part in relations(used.claim)):
            return Verdict("failed", f"{used.name} is no equation and cannot be inserted")
    verdicts = [_check_relation(relation, step) for relation in parts]
    for level in ("failed", "sampled"):
        for verdict in verdicts:
            if verdict.level == level:
                return verdict
    weak = [used.name for used in step.given if used.verdict.level == "sampled"]
    if weak:
        return Verdict("sampled", f"rests on a step that is only sampled: {weak[0]}", verdicts[0].points)
    evidence = "; ".join(dict.fromkeys(verdict.evidence for verdict in verdicts))
    return Verdict("proved", evidence, tuple(point for verdict in verdicts for point in verdict.points))


@dataclass(frozen=True)
class Ledger:
    """The verdicts of one derivation; `str` is a table, `counts` the totals by level."""

    name: str
    entries: tuple[tuple[Step, Verdict], ...]

    @property
    def counts(self) -> dict[str, int]:
        """How many steps are definitions, assumptions, proved, sampled, failed."""
        tally = Counter(
            {"definition": "definitions", "assumption": "assumptions"}.get(step.kind, verdict.level)
            if verdict.level != "failed"
            else "failed"
            for step, verdict in self.entries
        )
        return {key: tally[key] for key in ("definitions", "assumptions", "proved", "sampled", "failed")}

    @property
    def ok(self) -> bool:
        """True when no step failed."""
        return self.counts["failed"] == 0

    def __iter__(self):
        return iter(self.entries)

    def __str__(self) -> str:
        lines = [f"{self.name}: " + ", ".join(f"{count} {key}" for key, count in self.counts.items() if count)]
        width = max((len(step.name) for step, _ in self.entries), default=0)
        for step, verdict in self.entries:
            lines.append(f"  {verdict.level:8} {step.kind:10} {step.name:{width}}  {verdict.evidence}")
        return "\n".join(lines)
