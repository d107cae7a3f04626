"""A derivation on paper: Markdown, LaTeX and HTML, and the ledger as a table.

Each step shows its claim, how it follows, its verdict with the evidence, and its source.  Printing asks for the
verdicts, so what is printed has been checked in the same process.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

import sympy as sp
from sympy.core.relational import Relational
from sympy.printing.latex import LatexPrinter

from derivations.ledger.check import Ledger, relations
from derivations.ledger.step import Derivation, Step
from derivations.symbols import LATEX

FORMATS = ("md", "tex", "html")
_MARK = {"proved": "proved", "sampled": "only sampled", "assumed": "assumed", "failed": "FAILED"}
_LONG = 170


class _Printer(LatexPrinter):
    """SymPy's LaTeX with the project's names, and relations that break before their sign."""

    def __init__(self) -> None:
        super().__init__({"symbol_names": LATEX, "ln_notation": True, "fold_short_frac": False})

    def _print_Identity(self, expr):
        return r"\mathbf{I}"

    def _print_OneMatrix(self, expr):
        return r"\mathbf{J}"


def latex(expr: sp.Basic) -> str:
    """LaTeX of an expression or a claim (without dollars); conjunctions and long relations are aligned."""
    parts = relations(expr)
    if len(parts) == 1 and not _is_long(parts[0]):
        return _Printer().doprint(expr)
    rows = [_row(part) for part in parts]
    return r"\begin{aligned}" + r" \\ ".join(rows) + r"\end{aligned}"


def _is_long(relation: sp.Basic) -> bool:
    return isinstance(relation, Relational) and len(_Printer().doprint(relation)) > _LONG


def _row(relation: sp.Basic) -> str:
    if not isinstance(relation, Relational):
        return "& " + _Printer().doprint(relation)
    left, right = (_Printer().doprint(side) for side in relation.args)
    sign = {"==": "=", "!=": r"\neq", "<=": r"\leq", ">=": r"\geq", "<": "<", ">": ">"}[relation.rel_op]
    turn = r" \\ & \quad " if len(left) + len(right) > _LONG else " "
    return f"& {left}{turn}{sign} {right}"


def _tex_text(text: str) -> str:
    """Plain words made safe for LaTeX."""
    out = []
    table = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "|": r"\textbar{}"}
    table |= {"<": r"\textless{}", ">": r"\textgreater{}"} | {mark: "\\" + mark for mark in "&%$#_{}"}
    for mark in text:
        out.append(table.get(mark, mark))
    return "".join(out)


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {key}" for key, count in counts.items() if count)


def step_markdown(step: Step, number: int | None = None) -> str:
    """One step as Markdown."""
    verdict = step.verdict
    head = f"**{step.name}** ({step.kind})" if number is None else f"### {number}. {step.name} ({step.kind})"
    used = f" Uses: {', '.join(earlier.name for earlier in step.given)}." if step.given else ""
    evidence = re.sub(r"([*`])", r"\\\1", verdict.evidence)  # the stars are products and powers, not emphasis
    word = "" if step.kind == "definition" else f"*{_MARK[verdict.level]}*: {evidence}. "
    return f"{head}\n\n$$\n{latex(step.claim)}\n$$\n\n{step.reason}{used}\n\n{word}*Source*: {step.source}.\n"


def to_markdown(derivation: Derivation) -> str:
    """The whole derivation as Markdown with $$ formulas."""
    ledger = derivation.check()
    head = f"# {derivation.title}\n\n{derivation.summary}\n\nLedger: {_counted(ledger.counts)}.\n"
    steps = "\n".join(step_markdown(step, number) for number, step in enumerate(derivation.steps, 1))
    return f"{head}\n{steps}\n## Result\n\n$$\n{latex(derivation.result)}\n$$\n"


def step_html(step: Step) -> str:
    """One step as HTML; the formulas are for MathJax, which notebooks bring along."""
    verdict = step.verdict
    used = f" Uses: {', '.join(earlier.name for earlier in step.given)}." if step.given else ""
    word = "" if step.kind == "definition" else f"<i>{_MARK[verdict.level]}</i>: {html.escape(verdict.evidence)}. "
    return (
        f"<div><b>{html.escape(step.name)}</b> ({step.kind})<br>$$ {html.escape(latex(step.claim))} $$"
        f"{html.escape(step.reason + used)}<br><small>{word}<i>Source</i>: {html.escape(step.source)}.</small></div>"
    )


def to_html(derivation: Derivation) -> str:
    """The whole derivation as an HTML fragment."""
    counts = _counted(derivation.check().counts)
    steps = "".join(f"<li>{step_html(step)}</li>" for step in derivation.steps)
    return (
        f"<div><h3>{html.escape(derivation.title)}</h3><p>{html.escape(derivation.summary)}</p><p>Ledger: {counts}.</p>"
        f"<ol>{steps}</ol><p>Result:</p>$$ {html.escape(latex(derivation.result))} $$</div>"
    )


_MATHJAX = "https://cdn.jsdelivr.net/npm/mathjax@3/es5/tex-chtml.js"


def to_page(derivation: Derivation) -> str:
    """The derivation as a page of its own (the formulas need a network connection once, for MathJax)."""
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(derivation.title)}</title>'
        f'<script async src="{_MATHJAX}"></script></head><body>{to_html(derivation)}</body></html>\n'
    )


_PREAMBLE = r"""\documentclass[11pt]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{amsmath,amssymb}
\usepackage[margin=2cm]{geometry}
\allowdisplaybreaks
\begin{document}
"""


def step_latex(step: Step) -> str:
    """One step as an item of a LaTeX list."""
    verdict = step.verdict
    used = f" Uses: {', '.join(earlier.name for earlier in step.given)}." if step.given else ""
    words = _tex_text(step.reason + used)
    evidence = _tex_text(f"Source: {step.source}.")
    if step.kind != "definition":
        evidence = f"\\emph{{{_MARK[verdict.level]}}}: {_tex_text(verdict.evidence)}. {evidence}"
    return (
        f"\\item \\textbf{{{_tex_text(step.name)}}} ({step.kind})\n\\[ {latex(step.claim)} \\]\n{words}\\\\\n"
        f"{{\\footnotesize\\raggedright {evidence}\\par}}\n"
    )


def to_latex(derivation: Derivation) -> str:
    """The whole derivation as a LaTeX document of its own."""
    ledger = derivation.check()
    steps = "\n".join(step_latex(step) for step in derivation.steps)
    return (
        f"{_PREAMBLE}\\section*{{{_tex_text(derivation.title)}}}\n{_tex_text(derivation.summary)}\n\n"
        f"Ledger: {_counted(ledger.counts)}.\n\\begin{{enumerate}}\n{steps}\\end{{enumerate}}\n"
        f"Result:\n\\[ {latex(derivation.result)} \\]\n\\end{{document}}\n"
    )


def render(derivation: Derivation, fmt: str) -> str:
    """The derivation in one of FORMATS.  Raises ValueError for another name."""
    if fmt not in FORMATS:
        raise ValueError(f"format = {fmt!r}: choose one of {', '.join(FORMATS)}")
    return {"md": to_markdown, "tex": to_latex, "html": to_page}[fmt](derivation)


def table(ledgers: Iterable[Ledger]) -> str:
    """The ledgers as one Markdown table, with totals."""
    keys = ("definitions", "assumptions", "proved", "sampled", "failed")
    rows = [(ledger.name, *(ledger.counts[key] for key in keys)) for ledger in ledgers]
    rows.append(("all", *(sum(row[i] for row in rows) for i in range(1, len(keys) + 1))))
    width = max(len(str(row[0])) for row in rows)
    lines = [f"| {'derivation':{width}} | " + " | ".join(keys) + " |"]
    lines.append(f"|{'-' * (width + 2)}|" + "|".join("-" * (len(key) + 1) + ":" for key in keys) + "|")
    for name, *counts in rows:
        cells = " | ".join(f"{count:>{len(key)}}" for key, count in zip(keys, counts, strict=True))
        lines.append(f"| {name:{width}} | {cells} |")
    return "\n".join(lines)
