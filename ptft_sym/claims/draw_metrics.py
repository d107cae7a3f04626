"""Figures of C4 to C6: l-order and pretraining dependence of single coordinates."""

from __future__ import annotations

from ptft_sym.plots import BLUE, GREY, PURPLE, RED, REGIMES, SKY, new_figure

__all__ = ["plane", "ranges", "regimes"]


def ranges(claim, path):
    """Each metric at random settings against what moves it most, with the bounds claimed."""
    data = claim.figure
    with new_figure(path, (9.6, 4.0), 1, 2) as (_, (left, right)):
        left.plot(data["u"], data["order"], ".", color=BLUE, markersize=3)
        left.set_xlabel("size against scale, $|\\beta_{FT}|\\,/\\,c_{FT}$")
        left.set_ylabel("l-order")
        right.plot(data["b"], data["dependence"], ".", color=PURPLE, markersize=3)
        right.set_xlabel("pretraining, $|\\beta_{PT}|\\,/\\,c$")
        right.set_ylabel("pretraining dependence PD")
        for axis, bounds in ((left, (1, 2)), (right, (-1, 0))):
            for bound in bounds:
                axis.axhline(bound, color=RED, linestyle="--", linewidth=1.2)
            axis.set_xscale("log")
            axis.set_ylim(bounds[0] - 0.12, bounds[1] + 0.12)
        left.set_title(f"{claim.name}: l-order lies in [1, 2] (4000 random settings)", loc="left")
        right.set_title("PD lies in [-1, 0] (the same settings)", loc="left")


def plane(claim, path):
    """The plane of both metrics, with the line that no setting crosses."""
    data = claim.figure
    with new_figure(path, (5.6, 4.4)) as (_, axis):
        _allowed(axis)
        axis.plot(data["dependence"], data["order"], ".", color=BLUE, markersize=3, label="4000 random settings")
        axis.legend(loc="lower left", fontsize=8.5)
        axis.set_title(f"{claim.name}: no setting is below the line", loc="left")


def regimes(claim, path):
    """The ways to the three limits, and a setting of regime IV between them."""
    data = claim.figure
    corners = {"I": (0, 1), "II": (-1, 2), "III": (0, 2)}
    with new_figure(path, (6.6, 4.8)) as (_, axis):
        _allowed(axis)
        for name, (words, dependence, order) in data["ways"].items():
            colour, marker, style = REGIMES[name]
            axis.plot(dependence, order, color=colour, linestyle=style, linewidth=1.2, clip_on=False,
                      marker=marker, markersize=4, label=f"to {name}: {words}")  # fmt: skip
            axis.plot(*corners[name], marker, color=colour, markersize=13, markerfacecolor="none", clip_on=False)
        colour, marker, _ = REGIMES["IV"]
        axis.plot(*data["between"], marker, color=colour, markersize=8, label="IV: lam = -0.99")
        axis.set_title(f"{claim.name}: three limits (large marks), IV between", loc="left")
        axis.legend(loc="lower left", fontsize=8.5)


def _allowed(axis):
    axis.fill([-1, 0, 0], [2, 1, 2], color=SKY, alpha=0.15, linewidth=0)
    axis.plot([-1, 0], [2, 1], color=RED, linewidth=1.2, label="trade-off: l-order + PD = 1")
    axis.text(-0.98, 1.42, "excluded", color=GREY, fontsize=9)
    axis.set_xlim(-1.04, 0.04)
    axis.set_ylim(0.96, 2.04)
    axis.set_xlabel("pretraining dependence PD")
    axis.set_ylabel("l-order (1: sparse, rich; 2: lazy)")
