"""Claims that took long runs: read from the page that `benchmarks/nonlinear.py` wrote, with its settings."""

from __future__ import annotations

from pathlib import Path

from ptft_sym.claims import Evidence

__all__ = ["PAGE", "comparisons", "evaluate", "read"]

_HERE = Path(__file__).resolve()
#: In a checkout where the experiments write it, in an installed package the copy that setup.py puts beside this file.
PAGE = next(
    (p for p in (_HERE.parents[2] / "benchmarks" / "nonlinear.md", _HERE.with_name("nonlinear.md")) if p.exists()),
    _HERE.parents[2] / "benchmarks" / "nonlinear.md",
)
_SAYS = {"supported": True, "not supported": False}


def read(claim: str, page: Path | None = None) -> list[Evidence]:
    """Evidence for C12, C13 or C14; empty where no results are stored.

    Single comparisons scatter, so one that goes the other way does not decide the claim: the summary of each section
    does, and it is open unless all of its comparisons that say something agree.
    """
    page = page or PAGE
    if not page.exists():
        return []
    text = page.read_text(encoding="utf-8")
    written = next((line for line in text.splitlines() if line.startswith("Written by")), "")
    runs = next((line for line in text.splitlines() if "runs," in line), "")
    evidence = []
    for heading, rows in _sections(text, claim):
        verdicts = [row[-1] for row in rows]
        said = [_SAYS.get(v) for v in verdicts]
        decided = [s for s in said if s is not None]
        ok = decided[0] if decided and len(set(decided)) == 1 and len(decided) > len(said) / 2 else None
        tally = ", ".join(f"{verdicts.count(v)} {v}" for v in sorted(set(verdicts)))
        strongest = max(rows, key=lambda row: abs(float(row[1])) / max(float(row[2]), 1e-4)) if rows else None
        detail = f"; largest effect: {strongest[0]}: {strongest[1]} +- {strongest[2]}" if strongest else ""
        evidence.append(Evidence("experiment", f"{heading}: {tally}{detail}. {written} {runs}".strip(), ok))
    return evidence


def evaluate(claim: str) -> tuple[list[Evidence], dict | None]:
    """The stored evidence, and its comparisons for the figure (None where nothing is stored)."""
    sections = comparisons(claim)
    return read(claim), {"kind": "comparisons", "sections": sections} if sections else None


def comparisons(claim: str, page: Path | None = None) -> list[dict]:
    """The sections about a claim: ``title`` and ``rows`` of (comparison, effect, low, high, verdict).

    ``low`` and ``high`` are the 95 % interval over seeds.
    """
    page = page or PAGE
    if not page.exists():
        return []
    found = []
    for heading, rows in _sections(page.read_text(encoding="utf-8"), claim):
        read_rows = [
            (row[0], float(row[1]), *(float(end) for end in row[3].split(" to ")), row[-1]) for row in rows
        ]
        if read_rows:
            found.append({"title": heading, "rows": read_rows})
    return found


def _sections(text: str, claim: str):
    """(heading, rows of cells) of the page's sections about a claim; rows that were not run are left out."""
    heading, rows = None, []
    for line in [*text.splitlines(), "## end"]:
        if line.startswith("## "):
            if heading and heading.split()[0].rstrip(":") == claim:
                yield heading, rows
            heading, rows = line[3:].strip(), []
        elif line.startswith("| ") and not line.startswith("| comparison"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if len(cells) == 7 and cells[1]:
                rows.append(cells)
