"""`ptft train`: pretrain, change scales, fine-tune; over seeds, with a tidy table and figures."""

from typing import Annotated

import typer


def command(
    kind: Annotated[str, typer.Argument(help="resnet, transformer, mlp, or all (with --quick).")] = "all",
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
):
    """Pretrain, change scales, fine-tune: every variant for every seed, each with a control trained from scratch.

    Writes results.csv (one row a run), results.png, signature.png (participation ratio against shared dimensions) and
    records.jsonl, from which a killed run continues: give the same --out again.
    """
    from pathlib import Path

    _require_torch()
    from numerics.networks.config import quick_plan, read_plan
    from numerics.networks.experiment import KINDS

    if bool(config) == quick:
        raise ValueError("give either --config FILE or --quick")
    if kind != "all" and kind not in KINDS:
        raise ValueError(f"KIND = {kind!r} is not allowed: it must be one of {', '.join(KINDS)}, or all with --quick")
    if config and kind == "all":
        raise ValueError(f"--config needs KIND, one of {', '.join(KINDS)}: ptft train KIND --config {config}")
    if download and not config:
        raise ValueError("--download needs --config FILE, whose [data] says which data set and where to")
    from numerics.validate import check_count

    threads, kinds = check_count("--threads", threads), KINDS if kind == "all" else (kind,)
    settings = {"device": device or None}
    if config:
        plans = {kind: read_plan(config, kind, download=download, **settings)}
    else:
        plans = {name: quick_plan(name, check_count("--seeds", seeds), **settings) for name in kinds}
    import torch

    torch.set_num_threads(threads)
    folder = _folder(out, force)
    _fetch(plans)
    table = _run(plans, folder)
    _write(table, folder)
    typer.echo(_summary(table))
    typer.echo(f"\nresults in {Path(folder)}")


def _require_torch():
    try:
        import torch  # noqa: F401
    except ImportError:
        raise ImportError("ptft train needs torch: pip install 'ptft-sym[torch]'") from None


def _folder(out, force):
    from pathlib import Path

    from ptft_sym.files import result_folder

    begun = bool(out) and (Path(out) / "records.jsonl").is_file()
    return result_folder(out or None, "ptft-train", force=force or begun)


def _fetch(plans):
    from numerics.networks.downloads import fetch

    for plan in plans.values():
        for name, path in plan.downloads:
            typer.echo(f"{name}: in {fetch(name, path)}", err=True)


def _run(plans, folder):
    import pandas as pd

    from numerics.networks.store import key, run_missing

    rows = []
    for kind, plan in plans.items():
        def show(done, missing, seed, name, kind=kind):
            typer.echo(f"{kind}: {done}/{missing}  seed {seed}  {name}", err=True)

        records, _ = run_missing(plan.variants, plan.seeds, folder, progress=show)
        for name, experiment in plan.variants:
            rows += [{"name": f"{kind}: {name}", **records[key(experiment, s)]} for s in plan.seeds]
    return pd.DataFrame(rows)


def _write(table, folder):
    from numerics.networks.figures import results_figure, signature_figure
    from ptft_sym.files import replacing

    with replacing(folder / "results.csv") as partial:
        table.to_csv(partial, index=False)
    for kind, rows in table.groupby("kind", sort=False):
        stem = "" if table["kind"].nunique() == 1 else f"-{kind}"
        results_figure(rows, folder / f"results{stem}.png")
        signature_figure(rows, folder / f"signature{stem}.png")


def _summary(table):
    """Means over seeds, one row a variant."""
    columns = ["ft_accuracy", "ft_loss", "pr_before", "pr_after", "ensd", "cka"]
    means = table.groupby("name", sort=False)[columns].mean()
    means.insert(0, "runs", table.groupby("name", sort=False).size())
    means = means.dropna(axis=1, how="all")
    means.index.name = None
    text = means.to_string(float_format=lambda v: f"{v:.3f}", na_rep="")
    missed = table[(table["ft_reason"] != "stop_loss") & ~(table["ft_train_loss"] < 0.01)]
    if len(missed):
        names = ", ".join(dict.fromkeys(missed["name"]))
        text += f"\n{len(missed)} runs did not reach their training loss: {names}"
    return text
