"""`ptft derive`: a derivation with its verdicts, or the ledger of all of them."""

from pathlib import Path
from time import perf_counter, process_time
from typing import Annotated

import typer


def command(
    name: Annotated[str | None, typer.Argument(help="Which derivation; without it, their names.")] = None,
    format: Annotated[str, typer.Option(help="md, tex or html.")] = "md",
    out: Annotated[Path | None, typer.Option(help="Write here instead of printing.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    all: Annotated[bool, typer.Option("--all", help="Check every derivation and print the ledger table.")] = False,
):
    """Show a derivation step by step, each step checked as it is printed; exit code 1 when a step fails."""
    import derivations

    if out is not None and out.exists() and not force:
        raise ValueError(f"--out {out} exists: choose another name, or pass --force to replace it")
    if all and (name is not None or format != "md"):
        raise ValueError(f"--all prints the ledger of every derivation: leave out {name or f'--format {format}'}")
    if all:
        text, ok = ledger_of_all()
    elif name is None:
        text, ok = "\n".join(derivations.names()), True
    else:
        text, ok = rendered(name, format)
    if out is None:
        typer.echo(text)
    else:
        out.write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")
        typer.echo(f"wrote {out}")
    if not ok:
        raise typer.Exit(1)


def rendered(name: str, fmt: str) -> tuple[str, bool]:
    """One derivation in one of the formats, and whether no step failed."""
    import derivations
    from derivations.ledger import show

    if fmt not in show.FORMATS:
        raise ValueError(f"--format {fmt!r}: choose one of {', '.join(show.FORMATS)}")
    derivation = derivations.derive(name)
    return show.render(derivation, fmt), derivation.check().ok


def ledger_of_all() -> tuple[str, bool]:
    """The ledger table, what was only sampled or failed (with the reason), and whether no step failed."""
    import derivations
    from derivations.ledger import show

    begin, work, ledgers = perf_counter(), process_time(), []
    for name in derivations.names():
        typer.echo(f"checking {name} ...", err=True)
        ledgers.append(derivations.derive(name).check())
    lines = [show.table(ledgers)]
    for ledger in ledgers:
        lines += [
            f"{ledger.name}, {step.name}: {verdict}"
            for step, verdict in ledger
            if verdict.level in ("sampled", "failed")
        ]
    took, busy = perf_counter() - begin, process_time() - work
    lines.append(f"derived and checked in {took:.0f} s ({busy:.0f} s of processor time)")
    return "\n".join(lines), all_ok(ledgers)


def all_ok(ledgers) -> bool:
    """No failed step anywhere."""
    return not [ledger for ledger in ledgers if not ledger.ok]
