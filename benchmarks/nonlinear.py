"""Claims C8-C14 on nonlinear networks: run what is missing, compare in pairs over seeds, write benchmarks/nonlinear.md.

    python benchmarks/nonlinear.py                      # everything at CPU scale, 10 seeds; resumes where it stopped
    python benchmarks/nonlinear.py --only transformer --seeds 5
    python benchmarks/nonlinear.py --scale paper --data /path/to/cifar-100-python   # for a GPU; not run to its end

Every finished run is one line of `<store>/records.jsonl`; a kill loses the run in progress at most.
"""

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from numerics.networks.claims import FAMILIES, comparisons, grid, judge  # noqa: E402
from numerics.networks.downloads import fetch  # noqa: E402
from numerics.networks.store import key, run_missing  # noqa: E402

TABLE_HEAD = "| comparison | effect | s.e. | 95 % interval | p (Holm) | seeds | verdict |\n" + 7 * "|---" + "|"


def shorten(cell, steps, batch, device):
    """The same cell with at most `steps` steps a stage and `batch` rows a step, on `device`."""
    changes = {} if steps is None else {"max_steps": steps}
    changes |= {} if batch is None else {"batch_size": batch}
    changes |= {} if device is None else {"device": device, "precision": "float32"}
    experiment = cell.experiment
    experiment = replace(experiment, pt=replace(experiment.pt, **changes), ft=replace(experiment.ft, **changes))
    return cell._replace(experiment=experiment)


class Progress:
    """One line a run, with the seconds since the start."""

    def __init__(self):
        self.begun = time.monotonic()

    def __call__(self, done, missing, seed, name):
        print(f"{time.monotonic() - self.begun:7.0f} s  {done}/{missing}  seed {seed}  {name}", flush=True)


def by_cell(cells, records, seeds):
    """`{cell name: {seed: record}}` of the finished runs."""
    keys = {c.name: {s: key(c.experiment, s) for s in range(seeds)} for c in cells}
    return {name: {s: records[k] for s, k in own.items() if k in records} for name, own in keys.items()}


def page(judged, found, command, left):
    """The Markdown page; `left` runs of the command had not been made when it was written."""
    seconds = sum(r["pt_seconds"] + r["ft_seconds"] for runs in found.values() for r in runs.values())
    runs = sum(map(len, found.values()))
    counts = {v: sum(row[3] == v for row in judged) for v in ("supported", "not supported", "undecided", "not run")}
    lines = [
        "# Claims C8-C14 on nonlinear networks", "", f"Written by `{command}` (torch {torch.__version__}).",
        f"{runs} runs, {seconds / 60:.0f} minutes of training in all on one thread of a shared machine"
        + (f"; {left} runs of that command had not been made (column *seeds*)." if left else "."),
        "", *INTRODUCTION, "", "Verdicts: " + ", ".join(f"{n} {v}" for v, n in counts.items() if n) + ".",
    ]  # fmt: skip
    claim = None
    for row, comparison, p, verdict in judged:
        if row.claim != claim:
            claim = row.claim
            lines += ["", f"## {claim}", "", TABLE_HEAD]
        if comparison is None:
            lines.append(f"| {row.text} | | | | | 0 | not run |")
            continue
        c = comparison
        lines.append(
            f"| {row.text} | {c.effect:+.4f} | {c.error:.4f} | {c.low:+.4f} to {c.high:+.4f} | {c.p:.2g} ({p:.2g}) "
            f"| {c.pairs} | {verdict} |"
        )
    return "\n".join([*lines, "", *means(found)]) + "\n"


INTRODUCTION = [
    "Effects are differences between runs with the same seed: of test accuracy (classification), of log10 of the test",
    "error (two-layer regression; negative is better), or of PR, ENSD and CKA of the last hidden layer over 256 test",
    "inputs, centred. *Beyond scratch* takes off the same difference between models that were never pretrained. The",
    "verdict asks whether the claim's direction holds: supported (p < 0.05 after Holm's correction over the section),",
    "not supported (significant the other way, or an interval that excludes effects above 0.01 in",
    "ResNet accuracy, 0.02 in Transformer accuracy, 0.05 in log10 error, 0.1 dimensions, 0.02 in CKA), undecided",
    "otherwise. Settings: `numerics/networks/presets.py`; comparisons: `numerics/networks/claims.py`; kappa, gamma and",
    "the scales: `numerics/networks/interventions.py`. *Fitted*: runs that reached their training loss.",
    "",
    "Not planned in advance: after a look at runs with seeds 0 to 3 the sample sizes of the two-layer tasks were",
    "chosen, and gradient clipping (SGD Transformers), embeddings of unit length and batch-norm statistics measured",
    "again after scaling were introduced; all cells that this changed were run again.",
]


def means(found):
    """Mean and standard error of each cell, with the share of runs that reached their training loss."""
    head = "| cell | seeds | test accuracy or log10 error | s.e. | PR before | PR after | ENSD | fitted |"
    lines = ["## All cells", "", head, 8 * "|---" + "|"]
    for name, runs in found.items():
        rows = list(runs.values())
        if not rows:
            continue
        value = np.array([np.log10(r["ft_loss"]) if np.isnan(r["ft_accuracy"]) else r["ft_accuracy"] for r in rows])
        error = value.std(ddof=1) / np.sqrt(len(value)) if len(value) > 1 else np.nan
        before, after, shared = (np.mean([r[k] for r in rows]) for k in ("pr_before", "pr_after", "ensd"))
        fitted = [r["ft_reason"] == "stop_loss" or r["ft_train_loss"] < 0.01 for r in rows]  # NaN < 0.01 is False
        lines.append(
            f"| {name} | {len(rows)} | {value.mean():.3f} | {error:.3f} | {before:.2f} | {after:.2f} | {shared:.2f} "
            f"| {np.mean(fitted):.0%} |"
        )
    return lines


def command_of(arguments):
    """What to type for the same table: budgets and folders left out."""
    words = ["python benchmarks/nonlinear.py", f"--seeds {arguments.seeds}", f"--scale {arguments.scale}"]
    words += [f"--only {family}" for family in arguments.only or ()]
    limits = {name: getattr(arguments, name) for name in ("steps", "batch", "cells")}
    words += [f"--{name} {value}" for name, value in limits.items() if value is not None]
    return " ".join(words)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=FAMILIES, help="a family of networks (may be repeated)")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--scale", choices=("quick", "paper"), default="quick")
    parser.add_argument("--data", help="folder of CIFAR-100, python version (paper scale)")
    parser.add_argument("--download", action="store_true", help="fetch CIFAR-100 into --data (extra vision)")
    parser.add_argument("--device", help="cpu, cuda, ... (default: the preset's)")
    parser.add_argument("--steps", type=int, help="at most this many steps a stage: to see that everything runs")
    parser.add_argument("--batch", type=int, help="at most this many rows a step: likewise")
    parser.add_argument("--cells", type=int, help="only the first cells of each family: likewise")
    parser.add_argument("--store", type=Path, help="where finished runs are kept (default: build/nonlinear-<scale>)")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "nonlinear.md")
    parser.add_argument("--budget", type=float, help="seconds after which no further run is begun")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args(argv)
    torch.set_num_threads(arguments.threads)
    if arguments.download:
        if arguments.data is None:
            parser.error("--download needs --data, where CIFAR-100 is to be")
        fetch("cifar100", arguments.data)
    store = arguments.store or ROOT / "build" / f"nonlinear-{arguments.scale}"
    cells, rows = [], []
    for family in arguments.only or FAMILIES:
        own = grid(family, arguments.scale, arguments.data, arguments.device)
        cells += [shorten(c, arguments.steps, arguments.batch, arguments.device) for c in own[: arguments.cells]]
        rows += comparisons(family, arguments.scale)
    records, left = run_missing(cells, range(arguments.seeds), store, budget=arguments.budget, progress=Progress())
    if left:
        print(f"time budget of {arguments.budget} s is spent: {left} runs are left for the next call")
    found = by_cell(cells, records, arguments.seeds)
    arguments.out.write_text(page(judge(rows, found), found, command_of(arguments), left), encoding="utf-8")
    print(f"wrote {arguments.out}")


if __name__ == "__main__":
    main()
