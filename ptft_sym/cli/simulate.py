"""`ptft simulate`: learn at finite dimension over seeds, and compare with the prediction."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from ptft_sym.cli import complete
from ptft_sym.cli.output import AsJson, Quiet

#: method -> its own options; those of one method mean nothing to another
SPECIAL = {"exact": ("device",), "flow": ("stop",), "gd": ("stop", "lr", "momentum", "batch_size", "device")}


def command(
    rho_pt: Annotated[float, typer.Option(help="Share of dimensions active in pretraining.")] = 0.1,
    rho_ft: Annotated[float, typer.Option(help="Share of dimensions active in fine-tuning.")] = 0.1,
    omega: Annotated[float, typer.Option(help="Share of the latter that pretraining used too (overlap).")] = 0.5,
    c: Annotated[float, typer.Option(help="Absolute initial scale, > 0.")] = 1e-3,
    lam: Annotated[float, typer.Option(help="Relative scale in [-1, 1]; negative: earlier layer smaller.")] = 0.0,
    gamma: Annotated[float, typer.Option(help="Readout re-initialisation before fine-tuning, >= 0.")] = 0.0,
    alpha: Annotated[str, typer.Option(help="START:STOP:COUNT, or numbers separated by commas.")] = "0.05:0.5:10",
    dim: Annotated[str, typer.Option(help="Dimension D; several, with commas, extrapolate in 1/D.")] = "500",
    seeds: Annotated[int, typer.Option(help="Seeds per point: 0, 1, ..., SEEDS-1.")] = 8,
    method: Annotated[
        str,
        typer.Option(
            help="exact (the limit), flow (its path) or gd (gradient descent).", autocompletion=complete.methods
        ),
    ] = "exact",
    alpha_pt: Annotated[float | None, typer.Option(help="Pretraining n/D (default: perfect).")] = None,
    noise: Annotated[float, typer.Option(help="Variance of the label noise in fine-tuning.")] = 0.0,
    noise_pt: Annotated[float, typer.Option(help="The same in pretraining.")] = 0.0,
    ridge: Annotated[float, typer.Option(help="Weight of the potential (exact only); 0: gradient flow.")] = 0.0,
    stop: Annotated[
        float | None, typer.Option(help="gd: train MSE to stop at, > 0; flow: relative residual in (0, 1).")
    ] = None,
    lr: Annotated[float | None, typer.Option(help="gd: learning rate on (1/2n)||y - X beta||^2, > 0.")] = None,
    momentum: Annotated[float | None, typer.Option(help="gd: heavy-ball momentum in [0, 1).")] = None,
    batch_size: Annotated[int | None, typer.Option(help="gd: rows per step, at most n (default: all).")] = None,
    device: Annotated[str | None, typer.Option(help="gd, exact: torch device, for example cuda.")] = None,
    store: Annotated[str | None, typer.Option(help="Folder that keeps finished cells; run again to resume.")] = None,
    out: Annotated[list[str] | None, typer.Option(help="File(s) to write: .csv, .nc, .png, .svg or .pdf.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
):
    """Learn the task at dimension D over seeds (exactly, unless told otherwise) and compare with the replica theory."""
    import ptft_sym as pt
    from numerics.validate import check_count
    from ptft_sym.cli.curve import WRITERS, ratios
    from ptft_sym.cli.output import emit, note
    from ptft_sym.files import output_file

    paths = [output_file(name, WRITERS, force) for name in out or ()]
    task, init = pt.Task.from_overlap(rho_pt, rho_ft, omega), pt.Initialization(c, lam, gamma)
    dims = _dims(dim)
    at, rounded = _whole(ratios(alpha), dims)
    if rounded:
        (note if as_json else typer.echo)(rounded)
    stages = "oracle" if alpha_pt is None else "full"
    shared = {"alpha_pt": alpha_pt, "noise": noise, "noise_pt": noise_pt, "ridge": ridge}
    special = {"stop": stop, "lr": lr, "momentum": momentum, "batch_size": batch_size, "device": device}
    special = {name: value for name, value in special.items() if value is not None}
    check_count("--seeds", seeds, 1)
    _check_special(method, special, noise_pt)
    runs = _simulate(task, init, at, dims, seeds, stages, method, store, shared | special, quiet)
    predict = lambda where: pt.generalization_curve(task, init, where, **shared)  # noqa: E731
    found = document(predict(at), runs, method, seeds)
    for path in paths:
        _write(path, predict, runs)
    if as_json:
        emit("simulate", found | {"written": paths})
        return
    _report(found)
    for path in paths:
        typer.echo(f"written: {path}")


def _check_special(method, special, noise_pt):
    """Refuse what belongs to another method, and a noise that is no number."""
    from numerics.validate import check_number

    for name in special:
        if method in SPECIAL and name not in SPECIAL[method]:
            own = ", ".join("--" + n.replace("_", "-") for n in SPECIAL[method])
            raise ValueError(f"method {method!r} has no option {name!r}: it takes {own}")
    check_number("--noise-pt", noise_pt, 0.0)


def _dims(text):
    try:
        dims = sorted({int(part) for part in text.split(",")})
    except ValueError:
        dims = []
    if not dims or dims[0] < 1:
        raise ValueError(f"--dim {text}: give a positive integer in [1, 10000000], or several separated by commas")
    return dims


def _whole(alpha, dims):
    """The nearest ratios with a whole number of samples at every dimension, each once: other n are other points.

    Also a sentence where that changed them, else "".
    """
    for a in alpha:
        if not 0.0 < a <= 1e6:  # before rounding would make a sample out of it
            raise ValueError(f"--alpha {a:g} is not allowed: it must be a number in (0, 1e6]")
    common = math.gcd(*dims)
    numbers = sorted({max(1, round(a * common)) for a in alpha})
    snapped = [n / common for n in numbers]
    same = len(snapped) == len(alpha) and all(
        abs(a - b) <= 1e-9 for a, b in zip(sorted(alpha), snapped, strict=True)
    )
    return snapped, "" if same else f"alpha rounded to whole samples: {', '.join(f'{a:.4g}' for a in snapped)}"


def _simulate(task, init, alpha, dims, seeds, stages, method, store, options, quiet):
    """One dataset for each dimension, under a progress bar."""
    from pathlib import Path

    import ptft_sym as pt
    from ptft_sym.cli.output import progress_bar

    runs = []
    with progress_bar(quiet) as bar:
        for dim in dims:
            job = bar.add_task(f"D = {dim}", total=seeds * len(alpha))
            folder = None if store is None else Path(store) / f"dim-{dim}"
            tell = lambda done, total, job=job: bar.update(job, completed=done)  # noqa: E731
            plan = (task, init, alpha, dim, range(seeds), stages, method)
            runs.append(pt.simulate(*plan, store=folder, progress=tell, **options))
            bar.update(job, completed=seeds * len(alpha))
    return runs


def document(theory, runs, method, seeds):
    """Settings, one row for each ratio, the verdict over all of them, and how well the solver did its work.

    With one seed there is no error bar: rows without ``error`` and ``z``, and no comparison.
    """
    import ptft_sym as pt

    last = runs[-1]
    found = {"settings": last.attrs, "dims": [run.attrs["dim"] for run in runs], "seeds": seeds, "comparison": None}
    if seeds > 1:
        result = pt.compare(theory, runs)
        found["rows"] = result.rows()
        kept = ("chi_square", "p_value", "verdict")
        found["comparison"] = {"agree": result.p_value >= result.level, **{k: getattr(result, k) for k in kept}}
    else:
        columns = theory.alpha.values, theory.mse.values, last.mse.values[0]
        found["rows"] = [
            dict(zip(("alpha", "theory", "simulation"), row, strict=True)) for row in zip(*columns, strict=True)
        ]
    return found | {
        "method": method,
        "train_mse": float(last.train_mse.max()),
        "distance_from_limit": float(last.distance.max()),
        "residual": max(float(run.residual.max()) for run in runs),
        "steps": max(int(run.iterations.max()) for run in runs),
    }


def _report(found):
    """The document as people read it."""
    from ptft_sym.cli.output import table

    method = found["method"]
    if method != "exact":
        far = 100 * found["distance_from_limit"]
        left = found["train_mse"]
        typer.echo(f"{method} stopped at train MSE {left:.2g}, up to {far:.2g} % of ||beta|| from the exact limit")
    form = {"alpha": ".4g", "theory": ".6g", "simulation": ".6g", "error": ".2g", "z": "+.2f"}
    names = [name for name in form if name in found["rows"][0]]
    table(names, [[format(row[name], form[name]) for name in names] for row in found["rows"]])
    compared = found["comparison"]
    typer.echo(compared["verdict"] if compared else "one seed: no standard error, hence no comparison")
    what = "KKT residual" if method == "exact" else "training residual"
    typer.echo(f"worst {what} {found['residual']:.1e}, at most {found['steps']} steps")


def _write(path, predict, runs):
    from ptft_sym.files import replacing

    with replacing(path) as partial:
        if path.suffix.lower() == ".csv":
            import pandas as pd

            flat = [run.drop_dims("group").assign(dim=run.attrs["dim"]).to_dataframe().reset_index() for run in runs]
            pd.concat(flat).to_csv(partial, index=False)
        elif path.suffix.lower() == ".nc":
            import xarray as xr

            stacked = [run.reset_coords("n").assign_coords(dim=run.attrs["dim"]) for run in runs]
            xr.concat(stacked, "dim", coords="minimal", data_vars="all").to_netcdf(partial, engine="scipy")
        else:
            _figure(partial, predict, runs)


def _figure(path, predict, runs):
    """Theory as a line, means over seeds with two standard errors as points, one marker for each dimension."""
    import numpy as np

    from ptft_sym import plots

    a = runs[0].attrs
    fine = predict(np.linspace(float(runs[0].alpha.min()), float(runs[0].alpha.max()), 101))
    colours = (plots.RED, plots.GREEN, plots.PURPLE, plots.ORANGE, plots.SKY)
    with plots.new_figure(path, (6.4, 4.2)) as (_, axis):
        axis.plot(fine.alpha, fine.mse, color=plots.BLUE, label="replica theory")
        for i, run in enumerate(runs):
            error = 2 * run.mse.std("seed", ddof=min(1, run.sizes["seed"] - 1)) / np.sqrt(run.sizes["seed"])
            axis.errorbar(
                run.alpha, run.mse.mean("seed"), error, fmt="osD^v"[i % 5], color=colours[i % 5], markersize=4.5,
                capsize=2.5, linewidth=1.1, label=f"simulation, D = {run.attrs['dim']}, {run.sizes['seed']} seeds",
            )  # fmt: skip
        axis.set_xlabel("fine-tuning samples per dimension  $\\alpha = n/D$")
        axis.set_ylabel("test error  $E(\\hat\\beta-\\beta^*)^2$")
        axis.set_title(f"c = {a['c']:g}, lam = {a['lam']:g}, gamma = {a['gamma']:g}; error bars: two standard errors")
        axis.legend()
