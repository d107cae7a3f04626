"""`ptft map`: regimes of a coordinate, or the best initialisation for every task, as a figure or a table."""

from __future__ import annotations

from typing import Annotated

import typer

from ptft_sym.cli import complete
from ptft_sym.cli.output import AsJson, Quiet

WRITERS = (".png", ".pdf", ".svg", ".csv", ".nc")
VALUES = ("regime", "ell_order", "pd", "ell_order_plus_pd")
#: How a range without a spacing is spread out.
SPACING = {"lam": "one-plus-log", "c": "log"}
Range = Annotated[str | None, typer.Option(help="A number, START:STOP:COUNT[:SPACING], or numbers with commas.")]


def command(
    what: Annotated[
        str,
        typer.Argument(
            help="'regimes' of one coordinate, or 'phases': the best initialisation.", autocompletion=complete.maps
        ),
    ] = "regimes",
    beta_ft: Range = None, beta_pt: Range = None,
    c: Range = None, lam: Range = None, gamma: Range = None,
    rho_pt: Range = None, rho_shared: Range = None, rho_new: Range = None, rho_ft: Range = None, omega: Range = None,
    alpha: Range = None, alpha_pt: Range = None, noise: Range = None, noise_pt: Range = None, ridge: Range = None,
    tolerance: Annotated[float, typer.Option(help="How near a regime counts as in it, in (0, 0.5).")] = 0.15,
    value: Annotated[
        str,
        typer.Option(
            help="regimes: draw regime, ell_order, pd or ell_order_plus_pd.", autocompletion=complete.values
        ),
    ] = "regime",
    out: Annotated[
        list[str] | None,
        typer.Option(help=f"File(s) to write: {', '.join(WRITERS)} (default: WHAT.png; with --json: none)."),
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Processes on this machine (default: one a core).")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
):
    """Draw a map: SPACING is linear, log, or one-plus-log (the default of lam; log is that of c)."""
    from numerics.validate import check_number

    given = {
        "beta_ft": beta_ft, "beta_pt": beta_pt, "c": c, "lam": lam, "gamma": gamma, "rho_pt": rho_pt,
        "rho_shared": rho_shared, "rho_new": rho_new, "rho_ft": rho_ft, "omega": omega, "alpha": alpha,
        "alpha_pt": alpha_pt, "noise": noise, "noise_pt": noise_pt, "ridge": ridge,
    }
    makers = {"regimes": _regimes, "phases": _phases}
    if what not in makers:
        raise ValueError(f"{what!r} is no map: say 'regimes' or 'phases'")
    if value not in VALUES or (what == "phases" and value != "regime"):
        raise ValueError(f"--value {value}: choose among {', '.join(VALUES)}, for a map of regimes only")
    check_number("--tolerance", tolerance, 0.0, 0.5, open_low=True, open_high=True)
    values = {name: parse(name, text) for name, text in given.items() if text is not None}
    from ptft_sym.cli.output import emit
    from ptft_sym.files import output_file

    names = out or ([] if as_json else [f"{what}.png"])
    paths = [output_file(name, WRITERS, force) for name in names]
    ds, figure, title = makers[what](values, tolerance, value, workers, quiet)
    for path in paths:
        _write(path, ds, figure, title)
    if as_json:
        emit("map", {"what": what, **document(ds), "written": paths})
        return
    for path in paths:
        typer.echo(f"written: {path}")


def document(ds):
    """Settings, axes (name -> values), and each quantity with the axes it runs over, the first outermost."""
    axes = {name: ds[name].values for name in ds.dims if name in ds.coords}
    values = {name: {"axes": one.dims, "values": one.values} for name, one in ds.data_vars.items()}
    return {"settings": ds.attrs, "axes": axes, "quantities": values}


def parse(name, text):
    """A number, or the values that START:STOP:COUNT[:SPACING] or a list stands for. ValueError names the option."""
    from numerics.sweep.axes import spaced

    option = f"--{name.replace('_', '-')}"
    try:
        if ":" in text:
            start, stop, count, *spacing = text.split(":")
            if len(spacing) > 1:
                raise ValueError
            start, stop, count = float(start), float(stop), int(count)
        else:
            numbers = [float(part) for part in text.split(",")]
            return numbers[0] if len(numbers) == 1 else numbers
    except ValueError:
        raise ValueError(
            f"{option} {text}: give a number, START:STOP:COUNT[:SPACING], or numbers separated by commas"
        ) from None
    return spaced(option, start, stop, count, spacing[0] if spacing else SPACING.get(name, "linear"))


def _regimes(values, tolerance, value, workers, quiet):
    import numpy as np

    import ptft_sym as pt
    from ptft_sym.heatmaps import check_figure

    unknown = [n for n in values if n not in ("beta_ft", "beta_pt", "c", "lam", "gamma")]
    if unknown:
        raise ValueError(f"--{unknown[0].replace('_', '-')} belongs to 'phases': a regime map has no task")
    if not any(np.ndim(v) for v in values.values()):
        values.setdefault("lam", parse("lam", "-0.999999:0.99:121"))
        values.setdefault("c", parse("c", "1e-6:10:121"))
    near = dict.fromkeys(("rich", "lazy", "independent", "dependent"), tolerance)
    ds = pt.regime_map(**values, **near, chunks=None)
    axes = dict(ds.sizes)
    spec = {"kind": "regimes"} if value == "regime" else {"kind": "heat", "value": value}
    figure = check_figure("map", spec, axes, ("ell_order", "pd", "ell_order_plus_pd"))
    fixed = ", ".join(f"{n} = {ds.attrs[n]:g}" for n in ("beta_ft", "beta_pt", "c", "lam", "gamma") if n in ds.attrs)
    return ds, figure, f"regimes of one coordinate, {fixed}"


def _phases(values, tolerance, value, workers, quiet):
    import numpy as np

    import ptft_sym as pt
    from ptft_sym.heatmaps import check_figure

    for name in ("beta_ft", "beta_pt"):
        if name in values:
            raise ValueError(f"--{name.replace('_', '-')} belongs to 'regimes': a phase diagram has a task instead")
    if not {"rho_shared", "rho_new", "rho_ft", "omega"} & values.keys():
        values |= {"rho_shared": parse("rho_shared", "0.1:1:10"), "rho_new": parse("rho_new", "0:0.1:11")}
    values.setdefault("rho_pt", 0.1)
    values.setdefault("alpha", 0.1)
    near = dict.fromkeys(("rich", "lazy", "independent", "dependent"), tolerance)
    axes = {n: len(v) for n, v in values.items() if np.ndim(v) and n not in ("c", "lam", "gamma")}
    figure = check_figure("map", {"kind": "best"}, axes, (), over=("lam",))
    ds = pt.phase_diagram(**values, **near, workers=workers, progress=not quiet)
    scalars = ", ".join(f"{n} = {v:g}" for n, v in values.items() if not np.ndim(v))
    return ds, figure, f"best initialisation, {scalars}"


def _write(path, ds, figure, title):
    from ptft_sym.files import replacing

    with replacing(path) as partial:
        ending = path.suffix.lower()
        if ending == ".csv":
            from numerics.sweep.table import write_csv

            with partial.open("w", encoding="utf-8", newline="") as file:
                write_csv(ds, file)
        elif ending == ".nc":
            ds.drop_vars("message", errors="ignore").to_netcdf(partial, engine="scipy")
        else:
            from ptft_sym import heatmaps

            heatmaps.draw(ds, figure, [partial], title)
