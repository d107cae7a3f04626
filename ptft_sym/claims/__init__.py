"""The claims of the paper (THEORY section 8), each with its evidence, recomputed here or read from stored results."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from inspect import signature
from types import ModuleType

__all__ = ["VERDICTS", "Claim", "Evidence", "claims", "names", "to_markdown"]

VERDICTS = ("supported", "not supported", "undecided", "not run")


@dataclass(frozen=True)
class Evidence:
    """One piece of evidence: ``kind`` (derivation, solver, simulation, flow, experiment), a sentence, and what it says.

    ``ok`` is True (for the claim), False (against it) or None (does not decide it).
    """

    kind: str
    text: str
    ok: bool | None


@dataclass(frozen=True)
class Claim:
    """A claim with its evidence, the verdict that follows, and how to reproduce it.

    ``figure`` holds plain arrays for a figure (see ``ptft_sym.claims.figures``) or None.
    """

    name: str
    statement: str
    evidence: tuple[Evidence, ...]
    reproduce: str
    seconds: float = 0.0
    figure: dict | None = None

    @property
    def verdict(self) -> str:
        """Not supported as soon as one piece is against it, supported when every piece is for it, else undecided."""
        said = [e.ok for e in self.evidence]
        if not said:
            return "not run"
        if any(ok is False for ok in said):
            return "not supported"
        return "supported" if all(said) else "undecided"


def names() -> tuple[str, ...]:
    """C1 to C14."""
    from ptft_sym.claims.statements import STATEMENTS

    return tuple(STATEMENTS)


def claims(only: list[str] | tuple[str, ...] | None = None, seeds: int = 8, progress=None) -> list[Claim]:
    """Evaluate the claims; the fast ones are recomputed, C12-C14 are read from the stored experiments.

    Parameters
    ----------
    only : sequence of str, optional
        Names such as ``["C1", "C7"]``; default all.
    seeds : int
        Seeds of each finite-size simulation.
    progress : callable, optional
        Called with the name of each claim before it is evaluated.

    Returns
    -------
    list of Claim

    Raises
    ------
    ValueError
        For a name that is no claim, or ``seeds`` outside [2, 1000].
    """
    from numerics.validate import check_callable, check_count
    from ptft_sym.claims.evidence import EVALUATE
    from ptft_sym.claims.statements import STATEMENTS

    seeds = check_count("seeds", seeds, 2, 1000)
    check_callable("progress", progress)
    if only is not None and (isinstance(only, str) or not isinstance(only, (list, tuple)) or not only):
        raise TypeError(f"only = {only!r:.60} is not allowed: it must be a list of claims, or None for all")
    chosen = list(STATEMENTS) if only is None else [str(name).upper() for name in only]
    for name in chosen:
        if name not in STATEMENTS:
            raise ValueError(f"only = {name!r} is no claim: choose among {', '.join(STATEMENTS)}")
    found = []
    for name in chosen:
        if progress:
            progress(name)
        begin = time.perf_counter()
        evidence, figure = EVALUATE[name](seeds)
        statement, reproduce = STATEMENTS[name]
        found.append(Claim(name, statement, tuple(evidence), reproduce, time.perf_counter() - begin, figure))
    return found


def to_markdown(found: list[Claim], figures: dict[str, str] | None = None) -> str:
    """A page: the table of verdicts, then each claim with its evidence. ``figures``: claim name -> image address."""
    lines = ["# Claims", "", "| claim | statement | verdict |", "| --- | --- | --- |"]
    lines += [f"| {c.name} | {c.statement} | {c.verdict} |" for c in found]
    sign = {True: "for", False: "against", None: "open"}
    for c in found:
        lines += ["", f"## {c.name}: {c.verdict}", "", c.statement, ""]
        lines += [f"- {e.kind} ({sign[e.ok]}): {e.text}" for e in c.evidence] or ["- nothing was run"]
        lines += ["", f"Reproduce: `{c.reproduce}`"]
        if figures and c.name in figures:
            lines += ["", f"![{c.name}]({figures[c.name]})"]
    return "\n".join(lines) + "\n"


class _CallableModule(ModuleType):
    """Importing this package binds its name in `ptft_sym`, over the function: `pt.claims()` must work all the same."""

    __signature__ = signature(claims)

    def __call__(self, *arguments, **named):
        return claims(*arguments, **named)


sys.modules[__name__].__class__ = _CallableModule
