"""`ptft derive`: a derivation with its verdicts, or the ledger of all of them."""

from time import perf_counter, process_time
from typing import Annotated

import typer

from ptft_sym.cli import complete
from ptft_sym.cli.output import AsJson, Quiet


def command(
    name: Annotated[
        str | None,
        typer.Argument(help="Which derivation; without it, their names.", autocompletion=complete.derivations),
    ] = None,
    format: Annotated[str, typer.Option(help="md, tex or html.", autocompletion=complete.formats)] = "md",
    out: Annotated[str | None, typer.Option(help="Write here instead of printing.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    all: Annotated[bool, typer.Option("--all", help="Check every derivation and print the ledger table.")] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
):
    """Show a derivation step by step, each step checked as it is printed; exit code 1 when a step fails."""
    from derivations.ledger import show
    from ptft_sym.files import output_file, write_text

    path = None if out is None else output_file(out, force=force)
    if all and (name is not None or format != "md"):
        raise ValueError(f"--all prints the ledger of every derivation: leave out {name or f'--format {format}'}")
    if format not in show.FORMATS:
        raise ValueError(f"--format {format!r}: choose one of {', '.join(show.FORMATS)}")
    if all:
        text, ok, found = ledger_of_all(quiet)
    elif name is None:
        text, ok, found = _names()
    else:
        text, ok, found = rendered(name, format)
    if path is not None:
        write_text(path, text if text.endswith("\n") else text + "\n")
    if as_json:
        from ptft_sym.cli.output import emit

        emit("derive", found | {"ok": ok, "written": [] if path is None else [path]})
    else:
        typer.echo(text if path is None else f"written: {path}")
    if not ok:
        raise typer.Exit(1)


def _names():
    import derivations

    return "\n".join(derivations.names()), True, {"derivations": derivations.names()}


def rendered(name: str, fmt: str) -> tuple[str, bool, dict]:
    """One derivation in one of the formats, whether no step failed, and its steps as plain data."""
    import derivations
    from derivations.ledger import show

    derivation = derivations.derive(name)
    ledger = derivation.check()
    return show.render(derivation, fmt), ledger.ok, _document(ledger) | {"title": derivation.title}


def _document(ledger) -> dict:
    from derivations.ledger.show import latex

    steps = [
        {"name": step.name, "kind": step.kind, "claim": str(step.claim), "latex": latex(step.claim),
         "reason": step.reason, "source": step.source, "verdict": verdict.level, "evidence": verdict.evidence}
        for step, verdict in ledger
    ]  # fmt: skip
    return {"name": ledger.name, "counts": ledger.counts, "steps": steps}


def ledger_of_all(quiet: bool = False) -> tuple[str, bool, dict]:
    """The ledger table, what was only sampled or failed (with the reason), whether no step failed, and the data."""
    import derivations
    from derivations.ledger import show
    from ptft_sym.cli.output import note

    begin, work, ledgers = perf_counter(), process_time(), []
    for name in derivations.names():
        note(f"checking {name} ...", quiet)
        ledgers.append(derivations.derive(name).check())
    open_steps = [
        {"derivation": ledger.name, "step": step.name, "verdict": verdict.level, "evidence": verdict.evidence}
        for ledger in ledgers
        for step, verdict in ledger
        if verdict.level in ("sampled", "failed")
    ]
    lines = [show.table(ledgers)]
    lines += [f"{o['derivation']}, {o['step']}: {o['verdict']}: {o['evidence']}" for o in open_steps]
    took, busy = perf_counter() - begin, process_time() - work
    lines.append(f"derived and checked in {took:.0f} s ({busy:.0f} s of processor time)")
    counts = {ledger.name: ledger.counts for ledger in ledgers}
    found = {"counts": counts, "sampled_or_failed": open_steps, "seconds": took, "processor_seconds": busy}
    return "\n".join(lines), all_ok(ledgers), found


def all_ok(ledgers) -> bool:
    """No failed step anywhere."""
    return not [ledger for ledger in ledgers if not ledger.ok]
