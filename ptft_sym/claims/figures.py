"""One figure a claim, from the arrays that its evaluation kept."""

from __future__ import annotations

import numpy as np

from ptft_sym.plots import BLUE, GREY, RED, new_figure

__all__ = ["draw"]


def draw(claim, path) -> bool:
    """Write the claim's figure to ``path``; False where it has none."""
    if not claim.figure:
        return False
    {"plane": _plane, "agreement": _agreement, "scan": _scan}[claim.figure["kind"]](claim, path)
    return True


def _plane(claim, path):
    data = claim.figure
    with new_figure(path, (5.2, 4.2)) as (_, axis):
        axis.plot(data["order"], data["dependence"], ".", color=BLUE, markersize=2.5, alpha=0.5)
        axis.plot([1, 2], [0, -1], color=RED, linewidth=1.2, label="trade-off: l-order + PD = 1")
        axis.set_xlabel("l-order")
        axis.set_ylabel("pretraining dependence PD")
        axis.set_title(f"{claim.name}: random settings", loc="left")
        axis.legend(loc="upper right")


def _agreement(claim, path):
    panels = claim.figure["panels"]
    theory, mean, error = (np.concatenate([p[key] for p in panels]) for key in ("theory", "mean", "error"))
    with new_figure(path, (5.2, 4.2)) as (_, axis):
        ends = [0.8 * min(theory.min(), mean.min()), 1.25 * max(theory.max(), mean.max())]
        axis.plot(ends, ends, color=GREY, linewidth=1)
        axis.errorbar(theory, mean, error, fmt="o", color=BLUE, markersize=4, capsize=2.5, linewidth=1)
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlabel("predicted error")
        axis.set_ylabel("simulated error (mean, s.e.)")
        axis.set_title(f"{claim.name}: replica prediction and exact simulations", loc="left")


def _scan(claim, path):
    data = claim.figure
    with new_figure(path, (5.2, 4.2)) as (_, axis):
        axis.plot(1 + data["lam"], data["mse"], "o-", color=BLUE, markersize=4)
        axis.plot([1 + data["best"][0]], [data["best"][1]], "*", color=RED, markersize=13, label="optimum")
        axis.set_xscale("log")
        axis.set_xlabel("1 + relative scale  $1+\\lambda$")
        axis.set_ylabel("predicted error")
        axis.set_ylim(bottom=0)
        axis.set_title(f"{claim.name}: error against the relative scale", loc="left")
        axis.legend()
