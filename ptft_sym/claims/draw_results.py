"""Figures of C7 to C14: prediction against simulation, the best relative scale, and the stored experiments."""

from __future__ import annotations

from textwrap import fill

import numpy as np

from ptft_sym.plots import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, SKY, new_figure

__all__ = ["agreement", "comparisons", "scan"]

ERROR = "test error  $E(\\hat\\beta-\\beta^*)^2$"
#: verdict -> colour and marker of its rows
VERDICTS = {"supported": (BLUE, "o"), "not supported": (RED, "s"), "undecided": (GREY, "D")}


def agreement(claim, path):
    """Simulated against predicted errors, one colour and marker for each setting; two standard errors."""
    panels = claim.figure["panels"]
    colours, marks = (BLUE, RED, GREEN, PURPLE, ORANGE, SKY), "osD^vP"
    with new_figure(path, (6.6, 6.0)) as (figure, axis):
        values = np.concatenate([np.concatenate([p["theory"], p["mean"]]) for p in panels])
        ends = [0.7 * values.min(), 1.4 * values.max()]
        axis.plot(ends, ends, color=GREY, linewidth=1, label="equal")
        for i, p in enumerate(panels):
            axis.errorbar(
                p["theory"], p["mean"], 2 * p["error"], fmt=marks[i % 6], color=colours[i % 6], markersize=5,
                capsize=2.5, linewidth=1, label=p["label"],
            )  # fmt: skip
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlabel("predicted " + ERROR)
        axis.set_ylabel("simulated " + ERROR)
        axis.set_title(f"{claim.name}: D = 800, {claim.figure['seeds']} seeds; bars: two standard errors", loc="left")
        figure.legend(loc="outside lower center", fontsize=7.5)


def scan(claim, path):
    """Predicted error against the relative scale, its optimum, and exact simulations at two scales."""
    data = claim.figure
    lam, mse, error = (np.array(column) for column in zip(*data["points"], strict=True))
    best, (gain, spread, expected) = data["best"], data["gain"]
    shown = lambda value: np.maximum(1 + np.asarray(value), 1e-7)  # noqa: E731  (lam = -1 at the left end of the axis)
    with new_figure(path, (5.8, 4.4)) as (_, axis):
        axis.plot(1 + data["lam"], data["mse"], "o-", color=BLUE, markersize=4, label="predicted")
        axis.plot([shown(best[0])], [best[1]], "*", color=RED, markersize=14, label=f"least: lam = {best[0]:.4g}")
        axis.errorbar(
            shown(lam), mse, 2 * error, fmt="s", color=GREEN, markersize=5.5, capsize=3,
            label=f"simulated, D = {data['dim']}, {data['seeds']} seeds (two s.e.)",
        )  # fmt: skip
        axis.set_xscale("log")
        edge = " (lam = -1 drawn at 1e-7)" if 1 + best[0] < 1e-7 else ""
        axis.set_xlabel("1 + relative scale, $1+\\lambda$" + edge)
        axis.set_ylabel(ERROR)
        axis.set_ylim(bottom=0)
        setting = data["setting"].replace(" = ", "\u00a0=\u00a0")  # lines break between settings only
        axis.set_title(fill(f"{claim.name}: {setting}", 62), loc="left", fontsize=9)
        words = f"same seeds, lam = {lam[0]:g} minus the optimum:\n{gain:.3f} ± {spread:.3f} (predicted {expected:.3f})"
        axis.plot([], [], linestyle="none", label=words)
        axis.legend(fontsize=8.5)


def comparisons(claim, path):
    """Every stored comparison with its 95 % interval, coloured by its verdict; one axis for each section and unit."""
    panels = [part for section in claim.figure["sections"] for part in _by_unit(section)]
    heights = [len(rows) + 2 for _, rows, _ in panels]
    with new_figure(
        path, (9.0, 0.8 + 0.17 * sum(heights) + 0.55 * len(panels)), len(panels), 1, height_ratios=heights,
        squeeze=False,
    ) as (figure, axes):  # fmt: skip
        for axis, (title, rows, unit) in zip(axes.flat, panels, strict=True):
            for i, (_, effect, low, high, verdict) in enumerate(rows):
                colour, marker = VERDICTS.get(verdict, (GREY, "x"))
                axis.plot([low, high], [i, i], color=colour, linewidth=1.2)
                axis.plot([effect], [i], marker, color=colour, markersize=4)
            axis.axvline(0, color=GREY, linewidth=1)
            axis.set_yticks(range(len(rows)), [row[0] for row in rows], fontsize=7)
            axis.set_ylim(len(rows) - 0.4, -0.6)
            axis.grid(axis="y", visible=False)
            axis.set_xlabel(f"{unit}: mean difference and 95 % interval over seeds", fontsize=8.5)
            axis.set_title(fill(title, 64), loc="left", fontsize=9.5)
        handles = [
            axes.flat[0].plot([], [], marker, color=colour, label=f"the claim is {verdict} here")[0]
            for verdict, (colour, marker) in VERDICTS.items()
        ]
        figure.legend(handles=handles, loc="outside upper center", ncols=3, fontsize=8.5)


def _by_unit(section):
    """(title, rows, unit) of a section: differences of dimensions and of alignment (CKA) do not share an axis."""
    title, rows = section["title"], section["rows"]
    if not title.startswith("C13"):
        return [(title, rows, "test accuracy")]
    cka = [row for row in rows if "CKA" in row[0]]
    other = [row for row in rows if "CKA" not in row[0]]
    parts = [(title, other, "dimensions (PR, ENSD)"), ("C13, alignment", cka, "CKA")]
    return [part for part in parts if part[1]]
