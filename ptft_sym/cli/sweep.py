"""`ptft sweep`: many settings from a configuration file, resumable, on all cores or on a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ptft_sym.cli.output import AsJson, Quiet


def command(
    config: Annotated[Path, typer.Option(help="TOML file: what to compute (see docs/sweeps.md).")],
    store: Annotated[Path, typer.Option(help="Folder of results; what is there is not computed again.")] = Path(
        "sweeps"
    ),
    out: Annotated[Path | None, typer.Option(help="Folder for tables and figures (default: NAME-figures).")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes on this machine (default: one a core).")] = None,
    scheduler: Annotated[str | None, typer.Option(help="Address of a Dask scheduler, such as tcp://host:8786.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Only check the file and say what would be computed.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace tables and figures that exist.")] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
):
    """Compute every combination of the axes in a file; write a tidy table and the figures it asks for."""
    import sys

    from numerics.sweep.config import load
    from numerics.sweep.run import run_sweep
    from ptft_sym.cli.output import emit, note
    from ptft_sym.files import refuse_folder, result_folder

    sys.path.insert(0, "")  # functions beside the configuration, as `python -m` would find them
    plan = load(config)
    figures = checked_figures(plan)
    note(f"{plan.name}: {_size(plan.sweep)}, key {plan.sweep.key}", quiet and not check)
    found = _outline(plan)
    if check:
        if as_json:
            emit("sweep", found)
        return
    refuse_folder(out, force, f"{plan.name}-figures")
    ds = run_sweep(plan.sweep, store, workers, scheduler, not quiet)
    folder = result_folder(out, f"{plan.name}-figures", force)
    written, failed = _results(ds, plan, figures, folder)
    if as_json:
        rows = {path: number for path, number in written.items() if number}
        emit("sweep", found | {"failed": failed, "rows": rows, "written": list(written)})
        return
    for path, rows in written.items():
        typer.echo(f"written: {path} ({rows} rows)" if rows else f"written: {path}")
    if failed:
        note(f"{failed} settings failed; column message of results.csv says why")


def _outline(plan):
    axes = {axis.name: len(axis) for axis in plan.sweep.axes}
    names = {"name": plan.name, "kind": plan.sweep.kind, "key": plan.sweep.key, "axes": axes}
    return names | {"settings": plan.sweep.size, "blocks": plan.sweep.count}


def checked_figures(plan):
    """The figures of a plan, each settled or refused before anything runs."""
    from ptft_sym.heatmaps import check_figure

    axes = {axis.name: len(axis) for axis in plan.sweep.axes}
    best = ("best_mse", "best_lam", "best_c", "best_gamma", "margin", "relative_margin", "gain") if plan.over else ()
    found = [
        check_figure(f"figures[{i}]", figure, axes, (*plan.sweep.target.outputs, *best), plan.over)
        for i, figure in enumerate(plan.figures)
    ]
    names = [figure["name"] for figure in found]
    if len(set(names)) != len(names) or any("/" in name for name in names):
        raise ValueError(f"figures: names must differ and be plain words, got {', '.join(names)}")
    return found


def _size(sweep):
    sides = " x ".join(f"{axis.name} {len(axis)}" for axis in sweep.axes)
    return f"{sweep.kind} sweep over {sides} = {sweep.size} settings in {sweep.count} blocks"


def _results(ds, plan, figures, folder):
    """Write the tables and figures: path -> rows of a table (0 of a figure), and the number of failed settings."""
    from numerics.regimes import classify
    from numerics.sweep.phases import best
    from numerics.sweep.table import write_csv
    from ptft_sym import heatmaps
    from ptft_sym.files import replacing

    written, failed = {}, int((ds["status"] == 2).sum())

    def table(dataset, name):
        with replacing(folder / name) as partial, partial.open("w", encoding="utf-8", newline="") as file:
            written[str(folder / name)] = write_csv(dataset, file)

    table(ds, "results.csv")
    if plan.over:
        ds = best(ds, plan.over, plan.near, plan.reference)
        outer = [dim for dim in ds["mse"].dims if dim not in plan.over]
        table(ds[[n for n, v in ds.data_vars.items() if list(v.dims) == outer]], "best.csv")
    if figures and "ell_order" in ds:
        regimes = classify(ds["ell_order"].values, ds["pd"].values, plan.near)
        ds = ds.assign(regime_of_solution=(ds["ell_order"].dims, regimes))
    for figure in figures:
        paths = [folder / f"{figure['name']}{ending}" for ending in (".png", ".pdf", ".svg")]
        heatmaps.draw(_with_regime(ds, figure), figure, paths, plan.name)
        written |= dict.fromkeys(map(str, paths), 0)
    return written, failed


def _with_regime(ds, figure):
    """The dataset with `regime` standing for the regime of the solution, which figures of kind "regimes" draw."""
    if "regime_of_solution" not in ds or figure["value"].startswith("best_") or figure["kind"] == "best":
        return ds
    named = ds["regime_of_solution"]
    return ds.drop_vars([n for n in ds.variables if "regime" in ds[n].dims or n == "regime"]).assign(regime=named)
