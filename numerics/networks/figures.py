"""Figures of this room; matplotlib is imported when one is drawn."""

from __future__ import annotations

import numpy as np

__all__ = ["drift_figure", "results_figure", "signature_figure"]


def _save(figure, path: object):
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure


def _new(columns: int, width: float, height: float = 3.4):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(1, columns, squeeze=False)[0]


def drift_figure(result, path: object = None):
    """Drift, dimensions and alignment by layer, from a :class:`numerics.networks.drift.Drift`."""
    table = result.table
    has_features = "cka" in table
    figure, axes = _new(3 if has_features else 2, 12 if has_features else 8, max(3.2, 1.6 + 0.16 * len(table)))
    places = np.arange(len(table))[::-1]

    def draw(axis, columns, title, limits=None):
        for column, label, marker in columns:
            axis.plot(table[column], places, marker, label=label, markersize=4, linewidth=1)
        axis.set_title(title)
        axis.set_yticks(places, table.index if axis is axes[0] else [""] * len(places), fontsize=7)
        axis.grid(alpha=0.3)
        axis.legend(fontsize=7)
        if limits:
            axis.set_xlim(*limits)

    drifts = [("weight_drift", "weights", "o-")] + [("feature_drift", "features", "s-")] * has_features
    draw(axes[0], drifts, "relative drift")
    if has_features:
        dimensions = [("pr_before", "PR before", "o-"), ("pr_after", "PR after", "s-"), ("ensd", "ENSD", "^-")]
        draw(axes[1], dimensions, "dimensions of the features")
        draw(axes[2], [("weight_cosine", "cosine of weights", "o-"), ("cka", "CKA of features", "s-")], "alignment",
             (-1.05, 1.05))  # fmt: skip
    else:
        draw(axes[1], [("weight_cosine", "cosine of weights", "o-")], "alignment", (-1.05, 1.05))
    return _save(figure, path)


def signature_figure(table, path: object = None):
    """PR after fine-tuning against ENSD with the pretrained state, one point a run; the line is ENSD = PR.

    ``table`` has columns ``pr_before``, ``pr_after``, ``ensd`` and ``scratch``. Rich and pretraining-dependent runs lie
    left of where they started and close to the line.
    """
    figure, (axis,) = _new(1, 4.4, 4.0)
    for scratch, label, marker in ((False, "pretrained, fine-tuned", "o"), (True, "fine-tuning task alone", "x")):
        rows = table[table["scratch"] == scratch]
        if len(rows):
            axis.plot(rows["pr_after"], rows["ensd"], marker, label=label, alpha=0.7)
    axis.plot(table["pr_before"], table["pr_before"], "k.", markersize=4, label="pretrained, before")
    top = float(np.nanmax([table["pr_before"].max(), table["pr_after"].max(), 1.0])) * 1.05
    axis.plot([0, top], [0, top], "k-", linewidth=0.5)
    axis.set(xlabel="participation ratio", ylabel="ENSD with the pretrained state", xlim=(0, top), ylim=(0, top))
    axis.legend(fontsize=7)
    axis.grid(alpha=0.3)
    return _save(figure, path)


def results_figure(table, path: object = None):
    """Test accuracy (or error, log scale) of every run, with the mean of each group of settings."""
    measure = "ft_accuracy" if table["ft_accuracy"].notna().any() else "ft_loss"
    groups = list(dict.fromkeys(table["name"]))
    figure, (axis,) = _new(1, 6.0, 1.4 + 0.35 * len(groups))
    for place, group in zip(range(len(groups))[::-1], groups, strict=True):
        values = table.loc[table["name"] == group, measure]
        axis.plot(values, [place] * len(values), "o", alpha=0.4, color="C0", markersize=4)
        axis.plot(values.mean(), place, "|", color="k", markersize=14)
    axis.set_yticks(range(len(groups))[::-1], groups, fontsize=8)
    axis.set_xlabel("fine-tuning test accuracy" if measure == "ft_accuracy" else "fine-tuning test error")
    if measure == "ft_loss":
        axis.set_xscale("log")
    axis.grid(alpha=0.3)
    return _save(figure, path)
