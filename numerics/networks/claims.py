"""What is run for claims C8-C14 and which differences are looked at: the grid, and one row for each comparison.

A comparison is a signed sum of measures of cells, over the same seeds: ``a - b`` for an effect, ``(a - b) - (c - d)``
for an effect with the one found without pretraining taken off. Accuracies are in [0, 1]; regression errors enter as
log10 of the test error, because a few runs with large errors would otherwise decide every mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from numerics.networks.experiment import Experiment, Intervention
from numerics.networks.presets import preset
from numerics.networks.verdict import Comparison, compare_paired, holm

__all__ = ["FAMILIES", "Cell", "Row", "comparisons", "grid", "judge"]

FAMILIES = ("mlp", "resnet", "transformer")

LAMS = (-0.999, -0.9, 0.0, 0.9, 0.99)
# task -> (pretraining features, fine-tuning features, shared, claim about it)
TEACHERS = {
    "full": (4, 4, 4, "C8 full overlap: lam -> 1 (lazy, pretraining-dependent) is best"),
    "none": (4, 1, 0, "C9 no overlap: lam -> -1 (rich, pretraining-independent) is best"),
    "subset": (4, 1, 1, "C10 fine-tuning features are one of the four pretrained: an intermediate lam is best"),
    "imperfect": (4, 4, 4, "C11 full overlap, pretraining from few samples: negative lam helps"),
}
SIZES = {
    ("mlp", "full"): (20, 40), ("mlp", "none"): (40, 80), ("mlp", "subset"): (10, 20), ("mlp", "imperfect"): (20, 40),
    ("mlp-linear", "full"): (8, 12), ("mlp-linear", "none"): (8, 12), ("mlp-linear", "subset"): (8, 12),
    ("mlp-linear", "imperfect"): (8, 12),
}  # fmt: skip
N_PT = {("mlp", "imperfect"): 60, ("mlp-linear", "imperfect"): 12}
PRIMES = {"m=3 (shared)": (3, 60), "m=15 (half new)": (15, 400), "m=5 (new)": (5, 300)}
PAPER_PRIMES = {"m=3 (shared)": (3, 600), "m=21 (half new)": (21, 4000), "m=7 (new)": (7, 3000)}
BALANCE = (0.1, 0.3, 1.0, 3.0)


class Cell(NamedTuple):
    """One experiment under the name that rows refer to."""

    name: str
    experiment: Experiment


class Row(NamedTuple):
    """One comparison: ``terms`` are (cell name, measure, sign), ``direction`` is what the claim says of their sum."""

    claim: str
    text: str
    terms: tuple[tuple[str, str, int], ...]
    direction: int
    margin: float


def grid(family: str, scale: str = "quick", path: str | None = None, device: str | None = None) -> list[Cell]:
    """All cells of a family, each to be run for every seed."""
    if family not in FAMILIES:
        raise ValueError(f"family = {family!r} is not allowed: it must be one of {', '.join(FAMILIES)}")
    make = {"mlp": _mlp_cells, "resnet": _resnet_cells, "transformer": _transformer_cells}[family]
    return [Cell(name, experiment) for name, experiment in make(lambda kind: preset(kind, scale, path, device), scale)]


def _mlp_cells(base, scale: str) -> Iterator[tuple[str, Experiment]]:
    big = scale == "paper"
    for (kind, task), sizes in SIZES.items():
        start = base(kind)
        width = start.data["pt_features"]
        pt, ft, shared, _ = (width // 4 * v if isinstance(v, int) else v for v in TEACHERS[task])
        for n in sizes:
            data = {**start.data, "pt_features": pt, "ft_features": ft, "shared": shared, "n_ft": n * (8 if big else 1)}
            if (kind, task) in N_PT:
                data["n_pt"] = N_PT[kind, task] * (8 if big else 1)
            for lam in LAMS:
                for scratch in (False, True):
                    cell = replace(
                        start, model={**start.model, "lam": lam}, data=data,
                        intervention=Intervention(gamma=0.0, scratch=scratch),
                    )  # fmt: skip
                    yield f"{kind} {task} n={n} lam={lam:g}{' scratch' if scratch else ''}", cell


def _resnet_variants(base: Experiment) -> dict[str, Intervention]:
    early = ("stem", "blocks.0", "blocks.1")
    if base.model["norm"] == "batch":
        affine = {"variant": "affine", "earlier": ("norm", *early[1:])}
        variants = {
            "base": {}, "early affine x.3": {"kappa": 0.3, **affine}, "early affine x3": {"kappa": 3.0, **affine},
            "early weights x.3": {"kappa": 0.3, "variant": "plain", "earlier": early},
            "all x.3": {"factor": 0.3}, "all x3": {"factor": 3.0},
            "gamma .1": {"gamma": 0.1}, "gamma 10": {"gamma": 10.0},
        }  # fmt: skip
        alone = ("base", "early affine x.3", "early affine x3")
    else:
        variants = {
            "base": {}, "kappa .3": {"kappa": 0.3}, "kappa 3": {"kappa": 3.0},
            "kappa .3, small steps": {"kappa": 0.3}, "small steps": {},
        }  # fmt: skip
        alone = ("base", "kappa .3", "kappa 3")
    variants |= {f"{name} scratch": {**variants[name], "scratch": True} for name in alone}
    return {name: Intervention(**options) for name, options in variants.items()}


def _resnet_cells(base, scale: str) -> Iterator[tuple[str, Experiment]]:
    for kind in ("resnet", "resnet-plain"):
        start = base(kind)
        for n in (10, 30, 100) if scale == "quick" else (10, 100, 800):
            for name, intervention in _resnet_variants(start).items():
                ft = start.ft
                if "small steps" in name:  # the step that suits weights kappa times as large
                    ft = replace(ft, lr=ft.lr * 0.09, max_steps=3 * ft.max_steps)
                yield (
                    f"{kind} n={n} {name}",
                    replace(start, data={**start.data, "n_ft": n}, ft=ft, intervention=intervention),
                )


def _transformer_cells(base, scale: str) -> Iterator[tuple[str, Experiment]]:
    primes = PRIMES if scale == "quick" else PAPER_PRIMES
    for kind in ("transformer", "transformer-sgd"):
        start = base(kind)
        for task, (label, n) in primes.items():
            if kind.endswith("sgd") and "half" in task:
                continue
            for kappa in BALANCE:
                for scratch in (False, True):
                    yield f"{kind} {task} kappa={kappa:g}{' scratch' if scratch else ''}", replace(
                        start, model={**start.model, "balancedness": kappa},
                        data={**start.data, "ft_label": label, "n_ft": n}, intervention=Intervention(scratch=scratch),
                    )  # fmt: skip


def comparisons(family: str, scale: str = "quick") -> list[Row]:
    """The comparisons of a family, in reading order."""
    make = {"mlp": _mlp_rows, "resnet": _resnet_rows, "transformer": _transformer_rows}[family]
    return list(make(scale))


def _effect(a: str, b: str, measure: str) -> tuple[tuple[str, str, int], ...]:
    return (a, measure, 1), (b, measure, -1)


def _beyond_scratch(a: str, b: str, measure: str) -> tuple[tuple[str, str, int], ...]:
    """The effect of a over b with pretraining, minus the same effect without."""
    return *_effect(a, b, measure), (f"{a} scratch", measure, -1), (f"{b} scratch", measure, 1)


def _mlp_rows(scale: str) -> Iterator[Row]:
    pairs = {
        "full": [(0.9, -0.999), (0.9, 0.0)], "none": [(-0.999, 0.9), (-0.999, 0.0)],
        "subset": [(-0.9, -0.999), (-0.9, 0.9), (0.0, -0.999), (0.0, 0.99)],
        "imperfect": [(-0.9, 0.0), (-0.9, 0.9)],
    }  # fmt: skip
    for task, choices in pairs.items():
        for kind in ("mlp-linear", "mlp"):
            words = "two-layer linear" if kind == "mlp-linear" else "two-layer ReLU"
            for n in SIZES[kind, task]:
                stem = f"{kind} {task} n={n} lam="
                for better, worse in choices:
                    a, b = f"{stem}{better:g}", f"{stem}{worse:g}"
                    text, claim = f"{words}, n = {n}: lam {better:g} minus {worse:g}", TEACHERS[task][3]
                    yield Row(claim, text, _effect(a, b, "ft_log_loss"), -1, 0.05)
                    yield Row(claim, f"{text}, beyond scratch", _beyond_scratch(a, b, "ft_log_loss"), -1, 0.05)


def _resnet_rows(scale: str) -> Iterator[Row]:
    sizes = (10, 30, 100) if scale == "quick" else (10, 100, 800)
    relative = "C12 ResNet: smaller relative scale of earlier layers helps"
    absolute = "C12 ResNet: absolute scale and readout scale matter (larger is lazier, hence worse)"
    for n in sizes:
        bn, plain = f"resnet n={n} ", f"resnet-plain n={n} "
        for stem, small, large in ((bn, "early affine x.3", "early affine x3"), (plain, "kappa .3", "kappa 3")):
            for name, sign in ((small, 1), (large, -1)):
                words = f"{stem.strip()}, {name} minus base"
                yield Row(relative, words, _effect(stem + name, stem + "base", "ft_accuracy"), sign, 0.01)
                terms = _beyond_scratch(stem + name, stem + "base", "ft_accuracy")
                yield Row(relative, f"{words}, beyond scratch", terms, sign, 0.01)
        for stem, name, control in (
            (bn, "early weights x.3", "base"), (plain, "kappa .3, small steps", "small steps")
        ):  # fmt: skip
            words = f"{stem.strip()}, {name} minus {control}"
            yield Row(relative, words, _effect(stem + name, stem + control, "ft_accuracy"), 1, 0.01)
    for n in sizes:
        stem = f"resnet n={n} "
        for name, sign in (("all x.3", 1), ("all x3", -1), ("gamma .1", 1), ("gamma 10", -1)):
            words = f"{stem.strip()}, {name} minus base"
            yield Row(absolute, words, _effect(stem + name, stem + "base", "ft_accuracy"), sign, 0.01)
        words = f"{stem.strip()}, pretrained minus scratch"
        yield Row(absolute, words, _effect(stem + "base", stem + "base scratch", "ft_accuracy"), 1, 0.01)
    yield from _representation_rows(sizes)


def _representation_rows(sizes: tuple[int, ...]) -> Iterator[Row]:
    claim = "C13 representation: PR falls in fine-tuning while ENSD with the pretrained state stays high"
    for kind in ("resnet", "resnet-plain"):
        for n in sizes:
            stem = f"{kind} n={n} "
            base = stem + "base"
            terms = (base, "pr_after", 1), (base, "pr_before", -1)
            yield Row(claim, f"{stem.strip()}, PR after minus before", terms, -1, 0.1)
            words = f"{stem.strip()}, ENSD with the pretrained state: fine-tuned minus scratch"
            yield Row(claim, words, _effect(base, base + " scratch", "ensd"), 1, 0.1)
            words = f"{stem.strip()}, CKA with the pretrained state: fine-tuned minus scratch"
            yield Row(claim, words, _effect(base, base + " scratch", "cka"), 1, 0.02)
            small = stem + ("early affine x.3" if kind == "resnet" else "kappa .3")
            yield Row(claim, f"{small}, PR after minus base", _effect(small, base, "pr_after"), -1, 0.1)
            if kind == "resnet":
                words = f"{stem.strip()}, gamma 10 loses ENSD: minus base"
                yield Row(claim, words, _effect(stem + "gamma 10", base, "ensd"), -1, 0.1)


def _transformer_rows(scale: str) -> Iterator[Row]:
    claim = "C14 Transformer: lower balancedness helps"
    more = "C14 Transformer: it helps most on new prime factors"
    useful = "C14 Transformer: pretraining helps at all"
    tasks = list(PRIMES if scale == "quick" else PAPER_PRIMES)
    for kind in ("transformer", "transformer-sgd"):
        words = "SGD" if kind.endswith("sgd") else "Adam"
        own = [t for t in tasks if words == "Adam" or "half" not in t]
        for task in own:
            for low, high in ((0.1, 1.0), (0.3, 1.0), (0.1, 3.0)):
                a, b = f"{kind} {task} kappa={low:g}", f"{kind} {task} kappa={high:g}"
                text = f"{words}, {task}: kappa {low:g} minus {high:g}"
                yield Row(claim, text, _effect(a, b, "ft_accuracy"), 1, 0.02)
                yield Row(claim, f"{text}, beyond scratch", _beyond_scratch(a, b, "ft_accuracy"), 1, 0.02)
        shared, new = tasks[0], tasks[-1]
        for low, high in ((0.1, 1.0), (0.1, 3.0)):
            a, b, c, d = (f"{kind} {t} kappa={k:g}" for t in (new, shared) for k in (low, high))
            terms = *_effect(a, b, "ft_accuracy"), (c, "ft_accuracy", -1), (d, "ft_accuracy", 1)
            yield Row(more, f"{words}: effect of kappa {low:g} over {high:g}, new minus shared", terms, 1, 0.02)
        for task in own:
            a, text = f"{kind} {task} kappa=1", f"{words}, {task}: pretrained minus scratch, kappa 1"
            yield Row(useful, text, _effect(a, f"{a} scratch", "ft_accuracy"), 1, 0.02)


def measure(record: dict, name: str) -> float:
    """A column of a record; ``ft_log_loss`` is log10 of the test error."""
    return math.log10(max(record["ft_loss"], 1e-12)) if name == "ft_log_loss" else record[name]


def judge(rows: list[Row], found: dict[str, dict[int, dict]]) -> list[tuple[Row, Comparison | None, float, str]]:
    """(row, comparison, corrected p, verdict) over the seeds that all cells of the row have; Holm within each claim.

    A row with fewer than two such seeds has no comparison and the verdict "not run". Values that are not finite (the
    features of a diverged run) are left out of a row, and the number of pairs shows it; the accuracy of such a run
    counts.
    """
    compared = []
    for row in rows:
        seeds = set.intersection(*(set(found.get(cell, {})) for cell, _, _ in row.terms))
        sums = [sum(s * measure(found[c][seed], m) for c, m, s in row.terms) for seed in sorted(seeds)]
        sums = [value for value in sums if math.isfinite(value)]
        compared.append(compare_paired(sums, np.zeros(len(sums)), row.direction, row.margin) if len(sums) > 1 else None)
    judged = []
    for claim in dict.fromkeys(row.claim for row in rows):
        own = [(row, c) for row, c in zip(rows, compared, strict=True) if row.claim == claim]
        corrected = iter(holm([c.p for _, c in own if c is not None]))
        for row, comparison in own:
            p = math.nan if comparison is None else float(next(corrected))
            judged.append((row, comparison, p, "not run" if comparison is None else comparison.verdict(p)))
    return judged
