"""Step and Derivation: what a derivation is made of.

A Step is one claim that a reader can follow on paper and a checker can refuse; a Derivation is an ordered list of
Steps that ends in named formulas.  Nothing is checked when a Derivation is built: `Step.verdict` and
`Derivation.check()` do the work when they are asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import sympy as sp

if TYPE_CHECKING:
    from derivations.ledger.check import Ledger, Verdict
    from derivations.ledger.proof import Proof

Kind = Literal["definition", "assumption", "identity", "limit", "inequality"]
KINDS: tuple[str, ...] = ("definition", "assumption", "identity", "limit", "inequality")


def eq(left: sp.Basic, right: sp.Basic) -> sp.Eq:
    """left = right, kept as written (SymPy would otherwise decide some equalities by itself)."""
    return sp.Eq(left, right, evaluate=False)


def gt(left: sp.Expr, right: sp.Expr) -> sp.Gt:
    """left > right, kept as written."""
    return sp.Gt(left, right, evaluate=False)


def ge(left: sp.Expr, right: sp.Expr) -> sp.Ge:
    """left >= right, kept as written."""
    return sp.Ge(left, right, evaluate=False)


def lt(left: sp.Expr, right: sp.Expr) -> sp.Lt:
    """left < right, kept as written."""
    return sp.Lt(left, right, evaluate=False)


def le(left: sp.Expr, right: sp.Expr) -> sp.Le:
    """left <= right, kept as written."""
    return sp.Le(left, right, evaluate=False)


def both(*claims: sp.Basic) -> sp.And:
    """All of the claims, kept as written."""
    return sp.And(*claims, evaluate=False)


@dataclass(frozen=True)
class Step:
    """One line of a derivation.

    name:   short and unique within its derivation
    kind:   definition | assumption | identity | limit | inequality
    claim:  a SymPy relation (or a conjunction of relations); Derivative, Integral and Limit inside it stay
            unevaluated, so that it reads as mathematics
    reason: how it follows, in one or two sentences
    source: where the claim is found in print, or "this project"
    proof:  how the checker is to prove it (a `Proof`); without one it tries plain algebra
    given:  earlier steps whose equations are used, each from left to right, before anything else
    """

    name: str
    kind: Kind
    claim: sp.Basic
    reason: str
    source: str = "this project"
    proof: Proof | None = None
    given: tuple[Step, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind = {self.kind!r}: a step is one of {', '.join(KINDS)}")

    @cached_property
    def verdict(self) -> Verdict:
        """The checker's word on this step: .level (proved, sampled, assumed, failed) and .evidence."""
        from derivations.ledger.check import check_step

        return check_step(self)

    def _repr_markdown_(self) -> str:
        from derivations.ledger.show import step_markdown

        return step_markdown(self)

    def _repr_html_(self) -> str:
        from derivations.ledger.show import step_html

        return step_html(self)

    def _repr_latex_(self) -> str:
        from derivations.ledger.show import latex

        return f"$\\displaystyle {latex(self.claim)}$"


@dataclass(frozen=True)
class Derivation:
    """Steps in reading order, and the formulas they end in.

    result is the main formula; results holds every named formula that other rooms use (code generation reads it).
    """

    name: str
    title: str
    steps: tuple[Step, ...]
    result: sp.Expr
    results: dict[str, sp.Expr] = field(default_factory=dict)
    summary: str = ""

    def __post_init__(self) -> None:
        names = [step.name for step in self.steps]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"derivation {self.name!r}: step names used twice: {', '.join(twice)}")
        for position, step in enumerate(self.steps):
            for used in step.given:
                if all(used is not earlier for earlier in self.steps[:position]):
                    raise ValueError(f"{self.name!r}: step {step.name!r} uses {used.name!r}, which is not before it")

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __getitem__(self, name: str) -> Step:
        for step in self.steps:
            if step.name == name:
                return step
        raise KeyError(f"derivation {self.name!r} has no step {name!r}; it has {', '.join(s.name for s in self.steps)}")

    def check(self) -> Ledger:
        """Check every step and return the ledger (its `str` is a table)."""
        from derivations.ledger.check import Ledger

        return Ledger(self.name, tuple((step, step.verdict) for step in self.steps))

    def _repr_markdown_(self) -> str:
        from derivations.ledger.show import to_markdown

        return to_markdown(self)

    def _repr_html_(self) -> str:
        from derivations.ledger.show import to_html

        return to_html(self)

    def _repr_latex_(self) -> str:
        from derivations.ledger.show import latex

        return f"$\\displaystyle {latex(self.result)}$"
