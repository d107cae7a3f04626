"""`ptft claims`: the claims of the paper with their evidence and verdicts."""

from __future__ import annotations

from typing import Annotated

import typer

from ptft_sym.cli import complete
from ptft_sym.cli.output import AsJson, Quiet


def command(
    only: Annotated[
        list[str] | None,
        typer.Argument(help="Claims such as C1 C7 (default: all).", autocompletion=complete.claims),
    ] = None,
    seeds: Annotated[int, typer.Option(help="Seeds of each simulation.")] = 8,
    out: Annotated[str | None, typer.Option(help="Folder for claims.md and the figures (default: none).")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
):
    """Recompute the fast claims, read the slow ones, and say what the evidence supports."""
    from ptft_sym.claims import claims
    from ptft_sym.cli.output import emit, note
    from ptft_sym.files import refuse_folder

    refuse_folder(out, force)
    found = claims(only or None, seeds, progress=lambda name: note(f"{name} ...", quiet))
    written = [] if out is None else _write(found, out, force)
    if as_json:
        shown = ("name", "verdict", "statement", "evidence", "reproduce", "seconds")
        emit("claims", {"claims": [{k: getattr(c, k) for k in shown} for c in found], "written": written})
        return
    _table(found)
    if written:
        typer.echo(f"written: {written[-1]} and {len(written) - 1} figures")


def _table(found) -> None:
    from rich.table import Table

    from ptft_sym.cli.output import console

    table = Table("claim", "verdict", "statement and evidence", show_lines=True)
    sign = {True: "+", False: "-", None: "?"}
    for c in found:
        lines = [c.statement, *(f"{sign[e.ok]} {e.kind}: {e.text}" for e in c.evidence)]
        table.add_row(c.name, c.verdict, "\n".join(lines))
    console().print(table)


def _write(found, out, force) -> list:
    """The figures and, last, the page that shows them: the paths written."""
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
    return [*(folder / name for name in figures.values()), folder / "claims.md"]
