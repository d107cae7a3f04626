"""`ptft finetune`: pretraining and fine-tuning solved exactly on a person's own arrays."""

from __future__ import annotations

from typing import Annotated

import typer

from ptft_sym.cli import complete
from ptft_sym.cli.output import AsJson

# lam + 1 in equal steps of its logarithm near -1, where the regimes change, and in equal steps of lam above
SCAN_LAM = (-0.9999, -0.9997, -0.999, -0.997, -0.99, -0.97, -0.9, -0.7, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 0.99)
FILES = "A .npy, .npz (FILE.npz:KEY picks an array) or .csv file (one line of column names is allowed)."


def command(
    x_pt: Annotated[str | None, typer.Option(help="Pretraining inputs. " + FILES, metavar="FILE")] = None,
    y_pt: Annotated[str | None, typer.Option(help="Pretraining targets.", metavar="FILE")] = None,
    x_ft: Annotated[str | None, typer.Option(help="Fine-tuning inputs, the same columns.", metavar="FILE")] = None,
    y_ft: Annotated[str | None, typer.Option(help="Fine-tuning targets.", metavar="FILE")] = None,
    x_test: Annotated[str | None, typer.Option(help="Test inputs.", metavar="FILE")] = None,
    y_test: Annotated[str | None, typer.Option(help="Test targets.", metavar="FILE")] = None,
    c: Annotated[float, typer.Option(help="Absolute initial scale, > 0.")] = 1e-3,
    lam: Annotated[float, typer.Option(help="Relative scale in [-1, 1]; negative: earlier layer smaller.")] = 0.0,
    gamma: Annotated[float, typer.Option(help="Readout re-initialisation before fine-tuning, >= 0.")] = 0.0,
    ridge: Annotated[float, typer.Option(help="Weight of the potential in fine-tuning; 0: gradient flow.")] = 0.0,
    standardise: Annotated[
        bool, typer.Option("--standardise/--raw", help="Bring columns to the theory's units, or take them as they are.")
    ] = True,
    scan: Annotated[str | None, typer.Option(
        help="'lam': solve over lam too, and plot.", metavar="lam", autocompletion=complete.scanned
    )] = None,
    draw: Annotated[int, typer.Option(help="Which fine-tuning images the digits example takes, >= 0.")] = 0,
    out: Annotated[str | None, typer.Option(help="Folder for the results (default: a new ptft-finetune).")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace results in a folder that is not empty.")] = False,
    as_json: AsJson = False,
):
    """Pretrain and fine-tune exactly (where gradient flow ends) on your own arrays.

    Without files: scikit-learn's digits, 3 against 8 and then 3 against 5 from six images.
    """
    import ptft_sym as pt
    from numerics.validate import check_count
    from ptft_sym import finetuning
    from ptft_sym.files import refuse_folder, result_folder

    check_count("--draw", draw, 0)
    if scan not in (None, "lam"):
        raise ValueError(f"--scan {scan}: only 'lam' can be scanned")
    refuse_folder(out, force, "ptft-finetune")
    init = pt.Initialization(c, lam, gamma)
    names = {"x_pt": x_pt, "y_pt": y_pt, "x_ft": x_ft, "y_ft": y_ft, "x_test": x_test, "y_test": y_test}
    data = finetuning.load(names, standardise, draw)
    solved = pt.finetune(*data.train, init, **data.test, ridge=ridge)
    scanned = pt.finetune_scan(*data.train, init, SCAN_LAM, **data.test, ridge=ridge) if scan else []
    folder = result_folder(out, "ptft-finetune", force)
    written = finetuning.save(folder, solved, data, scanned)
    if as_json:
        from ptft_sym.cli.output import emit

        found = finetuning.document(solved, scanned) | {"data": data.message}
        emit("finetune", found | {"written": [folder / name for name in written]})
        return
    typer.echo(data.message)
    finetuning.show(solved)
    if scanned:
        finetuning.show_scan(scanned)
    typer.echo(f"written to {folder}/: {', '.join(written)}")
