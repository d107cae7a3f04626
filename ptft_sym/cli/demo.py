"""`ptft demo`: the whole trip, with figures and a report in a folder."""

from __future__ import annotations

import os
import time
from typing import Annotated

import typer

from ptft_sym.cli.output import AsJson, Quiet

#: the files of a run
WRITTEN = ("curves.png", "digits.png", "points.csv", "regimes.png", "report.md")


def command(
    out: Annotated[str | None, typer.Option(help="Folder for the results (default: a new ptft-demo).")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace results in a folder that is not empty.")] = False,
    seeds: Annotated[int, typer.Option(help="Simulations per point, in [2, 1000].")] = 12,
    draws: Annotated[int, typer.Option(help="Choices of the digits' fine-tuning images, at least 2.")] = 20,
    quiet: Quiet = False,
    as_json: AsJson = False,
):
    """Derive, load the kernels, predict, simulate at finite dimension, compare: tables, figures, report.md."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # NumPy is not loaded yet; on matrices of this size threads mostly wait
    from numerics.validate import check_count
    from ptft_sym import digits, report
    from ptft_sym.cli.output import console as new_console
    from ptft_sym.cli.output import emit
    from ptft_sym.files import refuse_folder, result_folder, write_text

    check_count("--seeds", seeds, 2, 1000)
    check_count("--draws", draws, 2)
    digits.load()  # the last stage: what is missing for it is said before the first
    begun = time.perf_counter()
    refuse_folder(out, force, "ptft-demo")
    results = _run(new_console(stderr=as_json, quiet=quiet), seeds, draws)
    seconds = time.perf_counter() - begun
    folder = result_folder(out, "ptft-demo", force)
    _figures(folder, results)
    write_text(folder / "points.csv", report.as_csv(results["cells"]))
    write_text(folder / "report.md", report.write(results, seeds, draws, seconds))
    if as_json:
        found = report.document(results) | {"seconds": seconds}
        emit("demo", found | {"folder": folder, "written": sorted(folder / name for name in WRITTEN)})
        return
    console, cells = new_console(), results["cells"]
    console.print(report.terminal(report.comparison_table(cells), "test error of each regime on its own task"))
    console.print(results["agreement"].sentence, highlight=False, soft_wrap=True)
    title = "every task from every initialisation: theory (simulation), * least predicted"
    console.print(report.terminal(report.winner_table(cells), title))
    console.print(report.terminal(report.image_table(results["images"]), "scikit-learn's digits"))
    console.print(report.image_sentence(results["images"]), highlight=False, soft_wrap=True)
    console.print(f"{time.perf_counter() - begun:.0f} s; open {folder}/report.md", highlight=False, soft_wrap=True)


def _run(console, seeds, draws):
    """All stages under one progress bar; a line is left on the screen as each ends."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    import ptft_sym as pt
    from ptft_sym import demo, report

    pairs = len(demo.TASKS) * len(demo.INITS)
    columns = TextColumn("{task.description:48}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True) as bar:
        job = bar.add_task("", total=len(pt.derivations()) + 9 * pairs + draws)

        def step(weight=1):
            """A function that names what begins and counts what has ended."""
            done = [0]

            def tell(text):
                bar.update(job, description=text, advance=done[0])
                done[0] = weight

            return tell

        results = {"derived": demo.derive(step())}
        bar.console.print(report.derivation_sentence(results["derived"]), highlight=False, soft_wrap=True)
        results["kernels"] = demo.kernels()
        bar.console.print(f"{len(results['kernels'])} generated kernels loaded.", highlight=False, soft_wrap=True)
        predicted = demo.predict(step())
        worst = max(float(ds["residual"].max()) for ds in predicted.values())
        bar.console.print(f"{pairs} curves predicted, largest saddle-point residual {worst:.1e}.", highlight=False)
        results["cells"] = demo.simulate(predicted, seeds, step(8))
        results["agreement"] = demo.agreement(results["cells"])
        solved = sum(len(at) for _, at, _, _ in demo.SIMULATED.values()) * len(demo.INITS) * seeds
        bar.console.print(f"{solved} networks of dimension 1000 to 4000 solved exactly.", highlight=False)
        results["images"] = demo.images(draws, step())
        bar.console.print(f"{draws} choices of digits fine-tuned.", highlight=False)
    results["curve"] = demo.regime_marks()
    results["marks"] = results["curve"][3]
    return results


def _figures(folder, results):
    from ptft_sym import demo, plots
    from ptft_sym.files import replacing

    panels = []
    for t, (omega, rho_ft) in demo.TASKS.items():
        series = {}
        for i in demo.INITS:
            c = results["cells"][t, i]
            points = {"at": c.comparison.alpha, "mean": c.comparison.value, "se": c.comparison.value_error}
            series[i] = {"alpha": c.alpha, "theory": c.theory, **points}
        title = f"task favouring {t}: overlap $\\omega$ = {omega:g}, density $\\rho_{{FT}}$ = {rho_ft:g}"
        panels.append({"title": title, "series": series})
    with replacing(folder / "curves.png") as partial:
        plots.curves(panels, partial)
    with replacing(folder / "regimes.png") as partial:
        plots.regime_plane(*results["curve"], partial, "c = 0.001, beta_FT = beta_PT = 1, gamma = 0")
    images = results["images"]
    with replacing(folder / "digits.png") as partial:
        controls = [(name, value[0]) for name, value in images.controls.items()]
        best = int(images.table[:, 5].argmin())
        title = f"digits, 3 against 8 then 3 against 5 from {images.sizes[2]} images"
        plots.scan(images.table, partial, title, best=best, controls=controls)
