"""Figures of C1 to C3: the path of a small network, its end, and the scale that decides the end of fine-tuning."""

from __future__ import annotations

import numpy as np

from ptft_sym.plots import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, new_figure

__all__ = ["conservation", "minimiser", "scale"]

LAWS = ("$w_+^2 - v_+^2$", "$w_-^2 - v_-^2$", "$w_+w_- + v_+v_-$", "$w_+v_- + v_+w_-$")


def conservation(claim, path):
    """Left: beta along the path and the closed form. Right: how much each conserved quantity has changed."""
    data = claim.figure
    t, beta, closed = data["t"], data["beta"], data["closed"]
    shown = np.unique(np.searchsorted(t, np.geomspace(1e-4, 1.0, 22) * t[-1]).clip(0, len(t) - 1))
    largest = np.argsort(-np.abs(beta[-1]))[:4]
    with new_figure(path, (9.6, 4.0), 1, 2) as (_, (left, right)):
        for d, colour in zip(largest, (BLUE, RED, GREEN, PURPLE), strict=True):
            left.plot(t, beta[:, d], color=colour, linewidth=1.4)
            left.plot(t[shown], closed[shown, d], "o", color=colour, markersize=5, markerfacecolor="white")
        left.plot([], [], color=GREY, label="weights integrated: $w_+v_+ - w_-v_-$")
        left.plot([], [], "o", color=GREY, markerfacecolor="white", label="closed form: $c\\,\\sinh 2R$")
        left.set_xscale("log")
        left.set_xlim(t[-1] / 1e4, t[-1])
        left.set_ylim(top=1.35 * np.abs(beta[-1]).max())
        left.set_xlabel("time of gradient flow")
        left.set_ylabel("coefficient $\\beta_d$ (four largest of 12)")
        left.legend(loc="upper left", fontsize=8.5)
        left.set_title("C1: the path has a closed form", loc="left")
        for law, change, colour, style in zip(
            LAWS, data["change"], (BLUE, RED, GREEN, PURPLE), ("-", "--", "-.", ":"), strict=True
        ):
            right.plot(t[1:], np.maximum(change[1:], 1e-17), color=colour, linestyle=style, label=law, linewidth=1.3)
        right.set_xscale("log")
        right.set_yscale("log")
        right.set_xlim(t[-1] / 1e4, t[-1])
        right.set_ylim(1e-17, 1e-9)
        right.axhline(1e-10, color=GREY, linewidth=1, label="allowed: 1e-10")
        right.set_xlabel("time of gradient flow")
        right.set_ylabel("change since the start, relative")
        right.legend(fontsize=8.5, loc="lower right")
        right.set_title("four quantities stay what they were", loc="left")


def minimiser(claim, path):
    """Left: end of the flow against two minimisers. Right: the potential rises in every direction X does not see."""
    data = claim.figure
    with new_figure(path, (9.6, 4.0), 1, 2) as (_, (left, right)):
        _diagonal(left, data["limit"])
        left.plot(data["limit"], data["least"], "o", color=BLUE, markersize=6, label="minimiser of Q with scale c")
        left.plot(data["limit"], data["other"], "x", color=RED, markersize=6, label="minimiser with scale 2c")
        left.set_xlabel("where gradient flow ends, $\\beta_d$")
        left.set_ylabel("minimiser among interpolators, $\\beta_d$")
        left.legend(fontsize=8.5, loc="upper left")
        left.set_title("C2: the flow ends at the minimiser", loc="left")
        right.plot(data["steps"], data["rise"], color=GREY, linewidth=1)
        right.plot([0], [0], "o", color=BLUE, markersize=8, label="end of the flow")
        right.set_xlabel("step in the null space of X, in units of $\\|\\beta\\|$")
        right.set_ylabel("rise of the potential, $Q - Q$(end of the flow)")
        right.set_ylim(bottom=-0.03 * data["rise"].max())
        right.legend(fontsize=8.5, loc="upper center")
        right.set_title("eight random directions of zero training error", loc="left")


def scale(claim, path):
    """Left: end of fine-tuning against three minimisers. Right: how far away each of them is."""
    data = claim.figure
    marks = (("o", BLUE), ("x", RED), ("^", ORANGE))
    with new_figure(path, (9.6, 4.0), 1, 2) as (_, (left, right)):
        _diagonal(left, data["limit"])
        for (name, beta), (marker, colour) in zip(data["found"].items(), marks, strict=True):
            left.plot(data["limit"], beta, marker, color=colour, markersize=6, label=name)
        left.set_xlabel("where both stages end, $\\beta_d$")
        left.set_ylabel("minimiser with the scale named, $\\beta_d$")
        left.legend(fontsize=8.5, loc="upper left")
        left.set_title("C3: pretraining enters through $c_{FT}$", loc="left")
        names, far = list(data["far"]), list(data["far"].values())
        right.barh(names, far, color=[colour for _, colour in marks], height=0.5)
        for i, value in enumerate(far):
            right.text(value * 1.4, i, f"{value:.1e}", va="center", fontsize=9)
        right.set_xscale("log")
        right.set_xlim(min(far) / 10, 100 * max(far))
        right.set_yticks(range(len(names)), [name.replace(", ", ",\n") for name in names])
        right.invert_yaxis()
        right.set_xlabel("relative distance to where both stages end")
        right.set_title("", loc="left")


def _diagonal(axis, values):
    ends = [1.1 * min(values), 1.1 * max(values)]
    axis.plot(ends, ends, color=GREY, linewidth=1)
