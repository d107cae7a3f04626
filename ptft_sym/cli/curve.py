"""`ptft curve`: the predicted test error against the number of fine-tuning samples."""

from __future__ import annotations

from typing import Annotated

import typer

from ptft_sym.cli.output import AsJson

WRITERS = {".csv": "table", ".nc": "NetCDF", ".png": "figure", ".svg": "figure", ".pdf": "figure"}


def command(
    rho_pt: Annotated[float, typer.Option(help="Share of dimensions active in pretraining.")] = 0.1,
    rho_ft: Annotated[float, typer.Option(help="Share of dimensions active in fine-tuning.")] = 0.04,
    omega: Annotated[float, typer.Option(help="Share of the latter that pretraining used too (overlap).")] = 1.0,
    c: Annotated[float, typer.Option(help="Absolute initial scale, > 0.")] = 1e-3,
    lam: Annotated[float, typer.Option(help="Relative scale in [-1, 1]; negative: earlier layer smaller.")] = 0.0,
    gamma: Annotated[float, typer.Option(help="Readout re-initialisation before fine-tuning, >= 0.")] = 0.0,
    alpha: Annotated[str, typer.Option(help="START:STOP:COUNT, or numbers separated by commas.")] = "0.02:0.5:25",
    alpha_pt: Annotated[float | None, typer.Option(help="Pretraining n/D (default: perfect).")] = None,
    noise: Annotated[float, typer.Option(help="Variance of the label noise in fine-tuning.")] = 0.0,
    noise_pt: Annotated[float, typer.Option(help="The same in pretraining.")] = 0.0,
    ridge: Annotated[float, typer.Option(help="Weight of the potential; 0: gradient flow run to its end.")] = 0.0,
    out: Annotated[list[str] | None, typer.Option(help="File(s) to write: .csv, .nc, .png, .svg or .pdf.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
    as_json: AsJson = False,
):
    """Predict the test error after pretraining and fine-tuning, for many samples and dimensions (replica theory)."""
    import ptft_sym as pt
    from ptft_sym.cli.output import emit
    from ptft_sym.files import output_file

    paths = [output_file(name, WRITERS, force) for name in out or ()]
    task = pt.Task.from_overlap(rho_pt, rho_ft, omega)
    init = pt.Initialization(c, lam, gamma)
    ds = pt.generalization_curve(task, init, ratios(alpha), alpha_pt, noise, noise_pt, ridge)
    for path in paths:
        _write(path, ds)
    if as_json:
        emit("curve", document(ds) | {"written": paths})
        return
    _print(ds)
    for path in paths:
        typer.echo(f"written: {path}")


def document(ds):
    """The settings, and one row of numbers for each sample ratio."""
    names = ["alpha", *(name for name in ds.data_vars if ds[name].dims == ("alpha",))]
    columns = [ds[name].values.tolist() for name in names]
    return {"settings": ds.attrs, "rows": [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]}


def ratios(text):
    """The sample ratios that START:STOP:COUNT or a list stands for. Raises ValueError for anything else."""
    import numpy as np

    try:
        if ":" in text:
            start, stop, count = text.split(":")
            count = int(count)
            if not 1 <= count <= 10_000:
                raise ValueError
            return np.linspace(float(start), float(stop), count)
        return np.array([float(part) for part in text.split(",")])
    except ValueError:
        raise ValueError(
            f"--alpha {text}: give START:STOP:COUNT with COUNT in [1, 10000], or numbers separated by commas"
        ) from None


def _print(ds):
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from ptft_sym.cli.output import console

    columns = {"alpha": ".4g", "mse": ".6g", "s2": ".4g", "g": ".4g", "ell_order": ".4f", "pd": ".4f"}
    columns["residual"] = ".0e"
    table = Table(*columns, title=_title(ds), title_justify="left", box=SIMPLE_HEAD)
    for j in range(ds.sizes["alpha"]):
        table.add_row(*(format(float(ds[name][j]), form) for name, form in columns.items()))
    console().print(table)


def _title(ds):
    a = ds.attrs
    task = f"rho_pt = {a['rho_pt']:g}, rho_shared = {a['rho_shared']:g}, rho_new = {a['rho_new']:g}"
    return f"{task}\nc = {a['c']:g}, lam = {a['lam']:g}, gamma = {a['gamma']:g}"


def _write(path, ds):
    from ptft_sym.files import replacing

    with replacing(path) as partial:
        if path.suffix.lower() == ".csv":
            names = [name for name in ds.data_vars if ds[name].dims == ("alpha",)]
            ds[names].to_dataframe().to_csv(partial)
        elif path.suffix.lower() == ".nc":
            ds.to_netcdf(partial, engine="scipy")
        else:
            from ptft_sym import plots

            plots.curve(ds["alpha"].values, ds["mse"].values, partial, _title(ds))
