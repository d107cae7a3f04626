"""Figures. Colours are those of Okabe and Ito (distinct with every common colour blindness), doubled by line styles.

Every function takes plain arrays, draws one figure and writes it to a path whose ending says the format.
"""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np

BLUE, ORANGE, GREEN, PURPLE, SKY, RED, GREY = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#606060",
)
#: regime -> (colour, marker, line style)
REGIMES = {"I": (BLUE, "o", "-"), "II": (RED, "s", "--"), "III": (GREEN, "^", "-."), "IV": (PURPLE, "D", (0, (6, 1)))}
RC = {
    "font.size": 10, "axes.titlesize": 10.5, "axes.labelsize": 10, "legend.fontsize": 9, "xtick.labelsize": 9,
    "ytick.labelsize": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
    "grid.color": "#e4e4e4", "grid.linewidth": 0.6, "axes.axisbelow": True, "lines.linewidth": 1.8,
    "legend.frameon": False, "savefig.dpi": 160, "svg.hashsalt": "ptft",
}


@contextmanager
def new_figure(path, size, rows=1, columns=1, **options):
    """Axes of a new figure in the house style; saved to `path` and closed at the end, whatever backend a user has."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(RC):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        yield figure, figure.subplots(rows, columns, **options)
        figure.savefig(path)


def curves(panels, path):
    """Four panels, one a task: predicted error against alpha as lines, simulated means with error bars as points.

    `panels`: a list of dicts with ``title`` and ``series``: regime -> dict with ``alpha``, ``theory`` (line) and
    ``at``, ``mean``, ``se`` (points).
    """
    from matplotlib.lines import Line2D

    with new_figure(path, (9.6, 7.0), 2, 2) as (figure, axes):
        for axis, panel in zip(axes.flat, panels, strict=True):
            for regime, s in panel["series"].items():
                colour, marker, style = REGIMES[regime]
                axis.plot(s["alpha"], s["theory"], color=colour, linestyle=style, zorder=2)
                axis.errorbar(s["at"], s["mean"], s["se"], fmt=marker, color=colour, markersize=4.5, capsize=2.5,
                              linewidth=1.1, markeredgecolor="white", markeredgewidth=0.5, zorder=3)
            axis.set_title(panel["title"], loc="left")
            axis.set_ylim(0, 1.75)
            axis.set_xlim(left=0)
        for axis in axes[1]:
            axis.set_xlabel("fine-tuning samples per dimension  $\\alpha = n/D$")
        for axis in axes[:, 0]:
            axis.set_ylabel("test error  $E(\\hat\\beta-\\beta^*)^2$")
        handles = [
            Line2D([], [], color=c, linestyle=s, marker=m, markersize=5, label=f"initialised for regime {name}")
            for name, (c, m, s) in REGIMES.items()
        ]
        figure.legend(handles=handles, loc="outside upper center", ncols=4, columnspacing=1.4, handlelength=2.6)


def regime_plane(lam, order, dependence, marks, path, subtitle):
    """Left: the plane of PD and l-order with the region the trade-off allows. Right: both against the relative scale.

    `marks`: regime -> dict with ``lam``, ``ell_order``, ``pd`` (values at the four settings) and ``shown`` (whether
    its setting lies on the curves of the right panel, which hold gamma = 0).
    """
    with new_figure(path, (10.2, 4.4), 1, 2) as (_, (plane, scale)):
        _draw_plane(plane, order, dependence, marks)
        x = np.log10(1.0 + np.asarray(lam))
        scale.plot(x, order, color=GREY, label="l-order")
        scale.plot(x, dependence, color=GREY, linestyle="--", label="PD")
        for regime, mark in marks.items():
            if mark["shown"]:
                colour, marker, _ = REGIMES[regime]
                at = np.log10(1.0 + mark["lam"])
                scale.plot([at, at], [mark["ell_order"], mark["pd"]], marker, color=colour, linestyle="none")
                scale.annotate(regime, (at, mark["ell_order"]), (0, 8), textcoords="offset points", ha="center",
                               color=colour, fontweight="bold")
        _lam_axis(scale, x)
        scale.set_ylabel("l-order (solid), PD (dashed)")
        scale.set_ylim(-1.15, 2.25)
        scale.legend(loc="center left")
        scale.set_title(subtitle, loc="left")


def _draw_plane(axis, order, dependence, marks):
    axis.fill([-1, 0, 0], [2, 1, 2], color=SKY, alpha=0.18, linewidth=0)
    axis.plot([-1, 0], [2, 1], color=SKY, linewidth=1)
    axis.text(-0.55, 1.50, "l-order + PD = 1", rotation=-39, color=BLUE, fontsize=8.5, ha="center", va="center")
    axis.text(-0.99, 1.56, "excluded by\nthe trade-off", color=GREY, fontsize=9)
    for regime, corner in {"I": (0, 1), "II": (-1, 2), "III": (0, 2)}.items():
        colour, marker, _ = REGIMES[regime]
        axis.plot(*corner, marker, markersize=9, markerfacecolor="none", markeredgecolor=colour, clip_on=False)
    axis.plot([], [], "o", markersize=8, markerfacecolor="none", markeredgecolor=GREY, label="limits of I, II, III")
    axis.plot(dependence, order, color=GREY, linewidth=1.2, label="lam from -1 to 1, gamma = 0")
    for regime, mark in marks.items():
        colour, marker, _ = REGIMES[regime]
        axis.plot(mark["pd"], mark["ell_order"], marker, color=colour, markersize=8, label=mark["label"])
        axis.annotate(regime, (mark["pd"], mark["ell_order"]), (9, 3) if regime != "III" else (-22, -14),
                      textcoords="offset points", color=colour, fontweight="bold")
    axis.set_xlim(-1.04, 0.04)
    axis.set_ylim(0.97, 2.04)
    axis.set_xlabel("pretraining dependence PD")
    axis.set_ylabel("l-order (1: sparse, rich; 2: lazy)")
    axis.set_title("What an initialisation makes of one coordinate", loc="left")
    axis.legend(loc="lower left", fontsize=8)


def _lam_axis(axis, x):
    """x is log10(1 + lam): labels say lam."""
    values = [-0.99999, -0.9999, -0.999, -0.99, -0.9, 0.0, 1.0]
    at = np.log10(1.0 + np.array(values))
    inside = (at >= x.min() - 0.05) & (at <= x.max() + 0.05)
    axis.set_xticks(at[inside], [f"{v:g}" for v, i in zip(values, inside, strict=True) if i], rotation=30, ha="right")
    axis.set_xlabel("relative scale lam (axis: log of 1 + lam)")


def scan(table, path, title, best=None, controls=(), label="test error"):
    """Test error against lam with error bars, and l-order and PD below.

    `table`: rows (lam, l-order, PD, mse, its error, share of wrong signs, its error); the share is drawn where it is
    finite, else mse, else nothing. `best`: the row to mark. `controls`: (name, value) drawn as horizontal lines.
    """
    table = np.asarray(table, dtype=float)
    x = np.log10(1.0 + np.maximum(table[:, 0], -1.0 + 1e-6))
    by_sign = np.isfinite(table[:, 5]).all()
    error, bar = (100 * table[:, 5], 100 * table[:, 6]) if by_sign else (table[:, 3], table[:, 4])
    with new_figure(path, (7.0, 6.0), 2, 1, sharex=True, height_ratios=[3, 2]) as (_, (top, bottom)):
        if np.isfinite(error).all():
            top.errorbar(x, error, bar, fmt="o-", color=BLUE, markersize=4.5, capsize=2.5, label="fine-tuned")
            if best is not None:
                top.plot(x[best], error[best], "o", markersize=11, markerfacecolor="none", markeredgecolor=RED,
                         markeredgewidth=1.8, label=f"least: lam = {table[best, 0]:g}")
            for (name, value), colour, style in zip(controls, (GREEN, ORANGE, GREY), ("-.", "--", ":"), strict=False):
                top.axhline(100 * value if by_sign else value, color=colour, linestyle=style, label=name)
            top.set_ylabel(f"{label} (%)" if by_sign else f"{label} (mse)")
            top.set_ylim(bottom=0)
            top.legend(fontsize=8.5)
        else:
            top.text(0.5, 0.5, "no test data given", ha="center", transform=top.transAxes)
        top.set_title(title, loc="left")
        bottom.plot(x, table[:, 1], "-", color=PURPLE, label="l-order of the solution")
        bottom.plot(x, table[:, 2], "--", color=RED, label="PD of the solution")
        bottom.set_ylim(-1.1, 2.1)
        bottom.legend(fontsize=8.5, loc="center left")
        _lam_axis(bottom, x)


def curve(alpha, mse, path, title):
    """One predicted curve: error against alpha, on a logarithmic axis where it spans more than two decades."""
    with new_figure(path, (6.4, 4.2)) as (_, axis):
        finite = np.isfinite(mse) & (np.asarray(mse) > 0)
        axis.plot(np.asarray(alpha)[finite], np.asarray(mse)[finite], "o-", color=BLUE, markersize=3.5)
        if finite.any() and np.max(mse[finite]) > 100 * np.min(mse[finite]):
            axis.set_yscale("log")
        else:
            axis.set_ylim(bottom=0)
        axis.set_xlabel("fine-tuning samples per dimension  $\\alpha = n/D$")
        axis.set_ylabel("test error  $E(\\hat\\beta-\\beta^*)^2$")
        axis.set_title(title, loc="left", wrap=True)
