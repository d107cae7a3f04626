"""The derivations as pages, by their own renderer: every claim is checked while its page is written."""

import re

import derivations
from derivations import symbols
from derivations.ledger import show


def write(folder):
    """One page a derivation and an index with the ledger; returns the names of those with a failed step."""
    folder.mkdir(parents=True, exist_ok=True)
    names, ledgers = derivations.names(), []
    for name in names:
        derivation = derivations.derive(name)
        (folder / f"{name}.md").write_text(_page(derivation, name), encoding="utf-8")
        ledgers.append(derivation.check())
    (folder / "index.md").write_text(_index(names, ledgers), encoding="utf-8")
    return [ledger.name for ledger in ledgers if not ledger.ok]


def _page(derivation, name):
    text = show.render(derivation, "md").replace("\n### ", "\n## ")  # steps are the sections of a page of their own
    text = re.sub(r"^\*(\w[\w ]*)\*: ", r'<span class="verdict \1">\1</span> ', text, flags=re.M)
    title, _, rest = text.partition("\n")
    return (
        f"{title}\n{rest}\n---\n\nPython: `pt.derive({name!r})`; on the command line: `ptft derive {name}`. "
        f"Source: `derivations/{name}.py`. What the verdicts mean: [What is proved](../docs/derivations.md#verdicts).\n"
    )


def _index(names, ledgers):
    table = show.table(ledgers)
    for name in names:
        table = table.replace(f"| {name} ", f"| [{name}]({name}.md) ", 1)
    assumed = [
        f"- {step.name} ([{ledger.name}]({ledger.name}.md)): {step.reason}"
        for ledger in ledgers
        for step, _ in ledger
        if step.kind == "assumption"
    ]
    return "\n".join([
        "# The derivations",
        "",
        "Each page was written by the derivation itself when this site was built, and every claim on it was checked",
        "then: the symbols and verdicts are those of the code, not a copy. In reading order:",
        "",
        table,
        "",
        "## Assumptions",
        "",
        "What is assumed, and not proved, is marked so where it is used:",
        "",
        *assumed,
        "",
        "```{toctree}", ":hidden:", "", *names, "```", "",
    ])


def symbol_table():
    """How the named symbols are printed and what is assumed of them, as Markdown."""
    rows = sorted((str(symbol), show.latex(symbol), symbol) for symbol in symbols.LATEX if symbol.is_Symbol)
    lines = ["| in code | printed | assumed |", "| --- | --- | --- |"]
    lines += [f"| `{name}` | ${printed}$ | {_assumed(symbol)} |" for name, printed, symbol in rows]
    return "\n".join(lines)


def _assumed(symbol):
    if symbol in symbols.DOMAIN:
        low, high = symbols.DOMAIN[symbol]
        return f"between {low} and {high}"
    if symbol.is_integer:
        return "positive integer" if symbol.is_positive else "integer"
    words = {"positive": symbol.is_positive, "not negative": symbol.is_nonnegative, "real": symbol.is_real}
    return next((word for word, holds in words.items() if holds), "")
