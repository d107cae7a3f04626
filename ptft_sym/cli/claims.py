"""`ptft claims`: the claims of the paper with their evidence and verdicts."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer


def command(
    only: Annotated[list[str] | None, typer.Argument(help="Claims such as C1 C7 (default: all).")] = None,
    seeds: Annotated[int, typer.Option(help="Seeds of each simulation.")] = 8,
    out: Annotated[str | None, typer.Option(help="Folder for claims.md and the figures (default: none).")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of the table.")] = False,
):
    """Recompute the fast claims, read the slow ones, and say what the evidence supports."""
    from ptft_sym.claims import claims
    from ptft_sym.files import refuse_folder

    refuse_folder(out, force)
    found = claims(only or None, seeds, progress=lambda name: typer.echo(f"{name} ...", err=True))
    if as_json:
        rows = [{k: v for k, v in asdict(c).items() if k != "figure"} | {"verdict": c.verdict} for c in found]
        typer.echo(json.dumps(rows, indent=2))
    else:
        _table(found)
    if out is not None:
        _write(found, out, force)


def _table(found) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("claim", "verdict", "statement and evidence", show_lines=True)
    sign = {True: "+", False: "-", None: "?"}
    for c in found:
        lines = [c.statement, *(f"{sign[e.ok]} {e.kind}: {e.text}" for e in c.evidence)]
        table.add_row(c.name, c.verdict, "\n".join(lines))
    Console().print(table)


def _write(found, out, force) -> None:
    from ptft_sym.claims import to_markdown
    from ptft_sym.claims.figures import draw
    from ptft_sym.files import replacing, result_folder, write_text

    folder, figures = result_folder(out, "ptft-claims", force), {}
    for c in found:
        if c.figure:
            with replacing(folder / f"{c.name}.png") as partial:
                draw(c, partial)
            figures[c.name] = f"{c.name}.png"
    write_text(folder / "claims.md", to_markdown(found, figures))
    typer.echo(f"written: {folder / 'claims.md'} and {len(figures)} figures")
