"""`ptft train`: pretrain, change scales, fine-tune; over seeds, with a tidy table and figures."""

import time
from typing import Annotated

import typer

from ptft_sym.cli import complete
from ptft_sym.cli.output import AsJson, Quiet, emit, note


def command(
    kind: Annotated[
        str,
        typer.Argument(help="resnet, transformer, mlp, or all (with --quick).", autocompletion=complete.kinds),
    ] = "all",
    config: Annotated[str, typer.Option(help="TOML file: model, data, stages, variants, seeds.")] = "",
    quick: Annotated[bool, typer.Option("--quick", help="Embedded data, minutes on a CPU.")] = False,
    seeds: Annotated[int, typer.Option(help="With --quick: number of seeds.")] = 1,
    device: Annotated[str, typer.Option(help="cpu, cuda or cuda:i, for both stages; default: as in the file.")] = "",
    download: Annotated[
        bool, typer.Option("--download", help="Fetch cifar100 or svhn into the file's path (extra vision).")
    ] = False,
    out: Annotated[str, typer.Option(help="Folder of results; one begun earlier is continued.")] = "",
    force: Annotated[bool, typer.Option("--force", help="Write into a folder that holds other files.")] = False,
    threads: Annotated[int, typer.Option(help="Threads of torch; results are the same bits for the same number.")] = 1,
    quiet: Quiet = False,
    as_json: AsJson = False,
):
    """Pretrain, change scales, fine-tune: every variant for every seed, each with a control trained from scratch.

    Writes results.csv (one row a run), results.png, signature.png (participation ratio against shared dimensions) and
    records.jsonl, from which a killed run continues: give the same --out again.
    """
    _require_torch()
    plans = _plans(kind, config, quick, seeds, device or None, download)
    import torch

    from numerics.validate import check_count
    from ptft_sym.files import result_folder

    torch.set_num_threads(check_count("--threads", threads))
    folder = result_folder(out or None, "ptft-train", force=force or _begun(out))
    _fetch(plans, quiet)
    table = _run(plans, folder, quiet)
    written = [folder / "records.jsonl", *_write(table, folder)]
    if as_json:
        emit("train", {**_document(table), "folder": folder, "written": written})
        return
    typer.echo(_summary(table))
    typer.echo(f"\nresults in {folder}")


def _plans(kind, config, quick, seeds, device, download):
    """Plans by kind, everything in them checked."""
    from numerics.networks.config import quick_plan, read_plan
    from numerics.networks.experiment import KINDS
    from numerics.validate import check_count

    if bool(config) == quick:
        raise ValueError("give either --config FILE or --quick")
    if kind != "all" and kind not in KINDS:
        raise ValueError(f"KIND = {kind!r} is not allowed: it must be one of {', '.join(KINDS)}, or all with --quick")
    if config and kind == "all":
        raise ValueError(f"--config needs KIND, one of {', '.join(KINDS)}: ptft train KIND --config {config}")
    if download and not config:
        raise ValueError("--download needs --config FILE, whose [data] says which data set and where to")
    if config:
        return {kind: read_plan(config, kind, device=device, download=download)}
    seeds = check_count("--seeds", seeds)
    return {name: quick_plan(name, seeds, device) for name in (KINDS if kind == "all" else (kind,))}


def _require_torch():
    try:
        import torch  # noqa: F401
    except ImportError:
        raise ImportError("ptft train needs torch: pip install 'ptft-sym[torch]'") from None


def _begun(out):
    """Whether the folder holds a training that can be continued."""
    from pathlib import Path

    return bool(out) and (Path(out) / "records.jsonl").is_file()


def _fetch(plans, quiet):
    from numerics.networks.downloads import fetch

    for plan in plans.values():
        for name, path in plan.downloads:
            note(f"{name}: in {fetch(name, path)}", quiet)


class _Progress:
    """One line a run; within a run, one every ten seconds."""

    def __init__(self, kind, quiet):
        self.kind, self.quiet, self.last = kind, quiet, time.monotonic()

    def run(self, done, missing, seed, name):
        note(f"{self.kind}: {done}/{missing}  seed {seed}  {name}", self.quiet)
        self.last = time.monotonic()

    def step(self, stage, step, steps, loss):
        if time.monotonic() - self.last > 10.0:
            note(f"{self.kind}:   {stage}, step {step} of at most {steps}, loss {loss:.3g}", self.quiet)
            self.last = time.monotonic()


def _run(plans, folder, quiet):
    import pandas as pd

    from numerics.networks.store import key, run_missing

    rows = []
    for kind, plan in plans.items():
        shown = _Progress(kind, quiet)
        records, _ = run_missing(plan.variants, plan.seeds, folder, progress=shown.run, steps=shown.step)
        for name, experiment in plan.variants:
            rows += [{"name": f"{kind}: {name}", **records[key(experiment, s)]} for s in plan.seeds]
    return pd.DataFrame(rows)


def _write(table, folder):
    """Table and figures; returns their paths."""
    from numerics.networks.figures import results_figure, signature_figure
    from ptft_sym.files import replacing

    written = [folder / "results.csv"]
    with replacing(written[0]) as partial:
        table.to_csv(partial, index=False)
    for kind, rows in table.groupby("kind", sort=False):
        stem = "" if table["kind"].nunique() == 1 else f"-{kind}"
        for make, name in ((results_figure, "results"), (signature_figure, "signature")):
            written.append(folder / f"{name}{stem}.png")
            make(rows, written[-1])
    return written


def _means(table):
    """Means over seeds, one row a variant; columns that are empty are left out."""
    columns = ["ft_accuracy", "ft_loss", "pr_before", "pr_after", "ensd", "cka"]
    means = table.groupby("name", sort=False)[columns].mean()
    means.insert(0, "runs", table.groupby("name", sort=False).size())
    return means.dropna(axis=1, how="all")


def _missed(table):
    """The runs that did not reach their training loss."""
    return table[(table["ft_reason"] != "stop_loss") & ~(table["ft_train_loss"] < 0.01)]


def _document(table):
    missed = _missed(table)[["name", "seed", "ft_reason", "ft_train_loss"]]
    summary = _means(table).reset_index()
    return {name: rows.to_dict("records") for name, rows in (("runs", table), ("summary", summary), ("missed", missed))}


def _summary(table):
    means = _means(table)
    means.index.name = None
    text = means.to_string(float_format=lambda v: f"{v:.3f}", na_rep="")
    missed = _missed(table)
    if len(missed):
        names = ", ".join(dict.fromkeys(missed["name"]))
        text += f"\n{len(missed)} runs did not reach their training loss: {names}"
    return text
