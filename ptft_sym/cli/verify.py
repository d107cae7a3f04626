"""`ptft verify`: measure every kernel again on this machine, and check that the committed files are what the
generator writes.
"""

from typing import Annotated

import typer

from ptft_sym.cli import complete
from ptft_sym.cli.output import AsJson, Quiet


def command(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Kernels; all of them by default.", autocompletion=complete.kernels),
    ] = None,
    points: Annotated[int, typer.Option(help="Seeded points per kernel, besides the adversarial ones.")] = 3000,
    seed: Annotated[int, typer.Option(help="Another seed (>= 0), other points.")] = 0,
    derivations: Annotated[bool, typer.Option(help="Check the derivations' steps as well (minutes).")] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
):
    """Check kernels (and derivations) at 50 digits on this machine; exit code 1 if a contract is broken."""
    from numerics.codegen import files
    from numerics.codegen.condition import several
    from numerics.codegen.formulas import formula
    from numerics.codegen.verify import measurable, unavailable
    from numerics.validate import check_count
    from ptft_sym.cli.output import emit, note

    check_count("--points", points, 1)
    check_count("--seed", seed, 0)
    chosen = [formula(name).name for name in names] if names else [*measurable(), *several()]
    tell = (lambda text: None) if as_json else typer.echo
    found = {"kernels": [], "stale": None, "derivations": None, "broken": []}
    for backend, reason in unavailable().items():
        tell(f"left out: {backend}, because {reason}")
    for name in chosen:
        note(f"measuring {name} ...", quiet)
        found["kernels"].append(_kernel(name, points, seed, tell))
        found["broken"] += [f"{name} ({m['backend']})" for m in found["kernels"][-1]["measured"] if not m["holds"]]
    if not names:
        found["stale"] = files.check()
        found["broken"] += found["stale"]
        tell(
            f"stale files: {', '.join(found['stale'])}"
            if found["stale"]
            else "the committed kernels are what the generator writes"
        )
    if derivations:
        found["derivations"] = _derivations(tell)
        found["broken"] += [f"{d['name']}: {step}" for d in found["derivations"] for step in d["failed"]]
    if as_json:
        emit("verify", found | {"ok": not found["broken"]})
    elif found["broken"]:
        typer.echo(f"broken: {', '.join(found['broken'])}", err=True)
    if found["broken"]:
        raise typer.Exit(1)


def _kernel(name: str, points: int, seed: int, tell) -> dict:
    """The passes of one kernel compared at 50 digits, and each of its backends measured where it has a contract."""
    from dataclasses import asdict

    from numerics.codegen import kernel
    from numerics.codegen.findings import findings

    stages = kernel(name).passes.check()
    tell(f"{name}: {stages} comparisons of its passes at 50 digits agree")
    row = {"name": name, "passes_compared": stages, "measured": []}
    for one in findings(name, points, seed):
        tell(f"    {one}")
        row["measured"].append(asdict(one) | {"holds": one.holds})
    if not row["measured"]:
        tell("    no contract over the whole domain")
    return row


def _derivations(tell) -> list[dict]:
    from derivations import derive
    from derivations import names as derivation_names

    rows = []
    for name in derivation_names():
        ledger = derive(name).check()
        tell(str(ledger))
        failed = [step.name for step, verdict in ledger if verdict.level == "failed"]
        rows.append({"name": name, "counts": ledger.counts, "failed": failed})
    return rows
