"""`ptft verify`: measure every kernel again on this machine, and check that the committed files are what the
generator writes.
"""

from typing import Annotated

import typer


def command(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Kernels; all of them by default.")
    ] = None,
    points: Annotated[int, typer.Option(min=1, help="Seeded points per kernel, besides the adversarial ones.")] = 3000,
    seed: Annotated[int, typer.Option(min=0, help="Another seed, other points.")] = 0,
    derivations: Annotated[bool, typer.Option(help="Check the derivations' steps as well (minutes).")] = False,
):
    """Check kernels (and derivations) at 50 digits on this machine; exit code 1 if a contract is broken."""
    from numerics.codegen import files, kernel
    from numerics.codegen.formulas import formula
    from numerics.codegen.verify import AGREEMENT, compare, implementations, measurable, second_opinion, truth

    chosen = [formula(name).name for name in names] if names else list(measurable())
    broken = []
    for name in chosen:
        stages = kernel(name).passes.check()
        typer.echo(f"{name}: {stages} comparisons of its passes at 50 digits agree")
        if name not in measurable():
            typer.echo("    no contract in ulp over the whole domain")
            continue
        true = truth(name, points, seed)
        for found in compare(implementations(name), true).values():
            typer.echo(f"    {found}")
            broken += [] if found.holds else [f"{found.kernel} ({found.backend})"]
        worst, compared = second_opinion(true)
        typer.echo(f"    the true values and the mpmath kernel: {worst:.1e} apart at most, {compared} points")
        broken += [] if worst <= AGREEMENT else [f"{name} (mpmath)"]
    if not names:
        stale = files.check()
        typer.echo(
            f"stale files: {', '.join(stale)}" if stale else "the committed kernels are what the generator writes"
        )
        broken += stale
    if derivations:
        broken += _derivations()
    if broken:
        typer.echo(f"broken: {', '.join(broken)}", err=True)
        raise typer.Exit(1)


def _derivations() -> list[str]:
    from derivations import derive
    from derivations import names as derivation_names

    failed = []
    for name in derivation_names():
        ledger = derive(name).check()
        typer.echo(str(ledger))
        failed += [f"{name}: {step.name}" for step in derive(name).steps if step.verdict.level == "failed"]
    return failed
