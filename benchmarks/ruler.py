"""How good is the ruler? Bias and coverage on diagonal networks, where the truth is known; then nonlinear networks.

    python benchmarks/ruler.py                     # diagonal and two-layer networks: about four minutes on one core
    python benchmarks/ruler.py --replicas 20       # a quick look
    python benchmarks/ruler.py --networks          # MLPs, ResNets, Transformers: about 15 minutes, resumes
    python benchmarks/ruler.py --networks --quick --only transformer --out quick.md

Each call writes its own sections of benchmarks/ruler.md and leaves the others as they are.
"""

import argparse
import json
import re
import sys
import time
from pathlib import Path

import numpy as np
import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from ruler_networks import ask, subjects, two_layer  # noqa: E402

import ptft_sym as pt  # noqa: E402
from numerics.networks.probes import DiagonalModel, linear_probes  # noqa: E402
from numerics.networks.store import read_records, write_record  # noqa: E402

DIM = 200
REGIMES = {
    "I": (pt.Initialization(1e-3, -0.999999, 1e-6), 1.0, 1.0),
    "II": (pt.Initialization(1e-6, 0.99, 0.0), 1.0, 0.01),
    "III": (pt.Initialization(1e-3, 0.0, 10.0), 1.0, 1.0),
    "IV": (pt.Initialization(1e-3, -0.99, 0.0), 1.0, 1.0),
}


def diagonal(name, seed, nuisance):
    """One noisy replica of a regime: the estimate."""
    init, at, amplitude = REGIMES[name]
    beta = np.zeros(DIM)
    places = np.random.default_rng(seed).permutation(DIM)[:30]
    beta[places] = at * np.repeat([1 / 1.5, 1.0, 1.5], 10)
    probes = linear_probes(
        np.eye(DIM)[places], beta[places], at=at, amplitude=amplitude, nuisance=nuisance, seed=seed
    )
    return pt.estimate_bias(DiagonalModel(beta, init), probes, amplitude=amplitude, seed=seed, bootstrap=1000)


def covers(estimate, true):
    """Which of the two intervals hold the truth."""
    intervals = (estimate.ell_order_interval, estimate.pd_interval)
    return [low <= t <= high for t, (low, high) in zip(true, intervals, strict=True)]


def diagonal_rows(replicas):
    for nuisance in (0.1, 0.3, 1.0):
        for name, (init, at, amplitude) in REGIMES.items():
            true = float(pt.ell_order(amplitude, init.c_ft(at))), float(pt.pretraining_dependence(amplitude, at, init))
            found = [diagonal(name, seed, nuisance) for seed in range(replicas)]
            values = np.array([(e.ell_order, e.pd) for e in found]) - true
            inside = np.mean([covers(e, true) for e in found], axis=0)
            regimes = [e.regime for e in found]
            named, unsure = (regimes.count(word) / replicas for word in (name, "uncertain"))
            bias, spread = values.mean(0), values.std(0)
            yield (
                f"| {name} | {nuisance:g} | {true[0]:.3f}, {true[1]:.3f} | {bias[0]:+.3f}, {bias[1]:+.3f} "
                f"| {spread[0]:.3f}, {spread[1]:.3f} | {inside[0]:.1%}, {inside[1]:.1%} | {named:.0%} | {unsure:.0%} |"
            )


def two_layer_rows(number):
    for activation in ("linear", "relu"):
        for lam, gamma in ((-0.999, 0.0), (-0.9, 0.0), (0.0, 0.0), (0.9, 0.0), (0.0, 3.0)):
            tuner, probes, amplitude = two_layer(0, number, activation, lam, gamma, amplitude=0.3)
            e = pt.estimate_bias(tuner, probes, amplitude=amplitude)
            yield f"| {activation} | {lam:g} | {gamma:g} | {cells(vars(e))} |"


def cells(record):
    """The columns that all tables of networks share."""
    order, dependence = record["ell_order_interval"], record["pd_interval"]
    slope = f"{record['slope']:.2f}" if abs(record["slope"]) < 10 else ""  # a feature received nothing, or less
    pd, low, high = (value + 0.0 if abs(value) >= 0.005 else 0.0 for value in (record["pd"], *dependence))
    return (
        f"{record['ell_order']:.2f} [{order[0]:.2f}, {order[1]:.2f}] | {pd:.2f} [{low:.2f}, {high:.2f}] "
        f"| {slope} | {record['additivity']:.2f} | {record['regime']}{reason(record)}"
    )


def reason(record):
    """Why the ruler would not say, in a word."""
    words = {"add up": "additivity", "slope": "slope", "spans": "interval", "between": "between", "only": "resamples"}
    found = [word for text, word in words.items() if text in record["message"]]
    return f" ({found[0]})" if record["regime"] == "uncertain" else ""


def nonlinear_rows(families, seeds, number, store):
    """One row a network and seed; answers found in `store` are not asked for again."""
    known, wanted = read_records(store), [s for s in subjects() if s.family in families]
    for subject in wanted:
        for seed in range(seeds):
            key = json.dumps([subject, seed, number])
            if key not in known:
                begun = time.perf_counter()
                record = ask(subject, seed, number)
                known[key] = {**record, "seconds": round(time.perf_counter() - begun, 1)}
                write_record(store, key, subject.name, known[key])
                print(f"{known[key]['seconds']:6.1f} s  {subject.name}, seed {seed}: {record['message']}", flush=True)
            record = known[key]
            row = "| " + cells(record) if "ell_order" in record else "| | | | | none"
            yield f"| {subject.name} | {seed} {row} |", record["seconds"]


DIAGONAL = """## Diagonal networks, where the truth is known

{written}

D = 200, ten features each at strength 1/1.5, 1 and 1.5, twelve probes of each family, 95 % intervals; {replicas}
replicas. *Noise* is the root mean square length of the Gaussian nuisance added to every training and test input
(features have length 1). Pairs are (l-order, PD). *Named*: share of replicas in which the true regime was reported;
*uncertain*: share in which none was. Regimes are those of `numerics/regimes.py`.

| regime | noise | truth | bias | standard deviation | coverage | named | uncertain |
|---|---|---|---|---|---|---|---|
{rows}"""

TWO_LAYER = """## Two-layer networks

{written}

Width 200, 20 inputs, c = 0.01, pretrained on seven orthonormal features of strengths 1/1.5, 1, 1.5 (one output a
feature); {number} probes of each family, amplitude 0.3, noise 0.1; one network each. No truth is known here: the
numbers are those of the diagonal network that allocates in the same way. *Slope*: S before it is limited to [0, 1];
*additivity*: response to the two features over the response to both.

| network | lam | gamma | l-order | PD | slope | additivity | regime |
|---|---|---|---|---|---|---|---|
{rows}"""

NONLINEAR = """## Nonlinear networks

{written}

Networks as in `benchmarks/nonlinear.md`, pretrained on features of strengths 1/1.5, 1, 1.5 (see
`benchmarks/ruler_networks.py`) and asked with {number} probes of each family at amplitude 1: a single feature that
explained a probe alone would be used as strongly as pretraining used a feature of strength 1. *ResNet*: width 8, no
normalisation unless named, seven patterns of 8x8 images, probes in both signs. *Transformer*: N = 30, two characters of
a + b and two of a - b. gamma is 1 unless named; *scratch*: never pretrained; *labels*: classification, to a margin of
1. Intervals: 95 %, bootstrap over probes. "Uncertain" is what the ruler says itself, and why: two features that do not
share the target (*additivity* outside 0.4 to 1.25), a *slope* that no diagonal network has (interval outside -0.25 to
1.25), an *interval* wider than 0.3, a pair *between* two regimes, fewer than 80 % of the *resamples* in one. "None": a
probe was not learned.

Outcomes: {counts}.

| network | seed | l-order | PD | slope | additivity | regime |
|---|---|---|---|---|---|---|
{rows}"""


def sections(text):
    """`{title: section}` of a page, in order; what precedes the first title is under the empty one."""
    parts = re.split(r"(?m)^(?=## )", text)
    return {part.splitlines()[0] if part.startswith("## ") else "": part.strip() for part in parts if part.strip()}


def write(path, new):
    """Replace these sections in the page."""
    old = sections(path.read_text(encoding="utf-8")) if path.exists() else {}
    page = {"": "# The ruler, measured", **{k: v for k, v in old.items() if k}}
    for section in new:
        page[section.splitlines()[0]] = section
    path.write_text("\n\n".join(page.values()) + "\n", encoding="utf-8")


def written(arguments, seconds):
    command = " ".join(["python benchmarks/ruler.py", *arguments])
    return f"Written by `{command}` in {seconds:.0f} s on one thread of a shared machine."


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replicas", type=int, default=200)
    parser.add_argument("--probes", type=int, help="of each family, for networks that are not diagonal")
    parser.add_argument("--networks", action="store_true", help="the section on nonlinear networks instead")
    parser.add_argument("--only", action="append", choices=("mlp", "resnet", "transformer"), help="with --networks")
    parser.add_argument("--seeds", type=int, default=3, help="with --networks")
    parser.add_argument("--quick", action="store_true", help="with --networks: one seed, four probes of each family")
    parser.add_argument("--store", type=Path, default=ROOT / "build" / "ruler", help="where answers are kept")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "ruler.md")
    options = parser.parse_args(argv)
    torch.set_num_threads(1)
    begun, arguments = time.perf_counter(), sys.argv[1:] if argv is None else argv
    if options.networks:
        number = options.probes or (4 if options.quick else 10)
        families = options.only or ("mlp", "resnet", "transformer")
        found = list(nonlinear_rows(families, 1 if options.quick else options.seeds, number, options.store))
        outcomes = [row.strip("| ").rpartition("| ")[2] for row, _ in found]
        counts = ", ".join(f"{outcomes.count(name)} {name}" for name in dict.fromkeys(sorted(outcomes)))
        rows = "\n".join(row for row, _ in found)
        note = written(arguments, sum(seconds for _, seconds in found))
        write(options.out, [NONLINEAR.format(written=note, number=number, counts=counts, rows=rows)])
    else:
        rows, number = "\n".join(diagonal_rows(options.replicas)), options.probes or 12
        middle = time.perf_counter()
        first = DIAGONAL.format(written=written(arguments, middle - begun), replicas=options.replicas, rows=rows)
        rows = "\n".join(two_layer_rows(number))
        note = written(arguments, time.perf_counter() - middle)
        write(options.out, [first, TWO_LAYER.format(written=note, number=number, rows=rows)])
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
