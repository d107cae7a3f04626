"""Maps as figures: heat maps with contours and regime boundaries, regime maps, diagrams of the best initialisation.

Colours are safe for colour-blind readers: `cividis` for quantities, the colours of :mod:`ptft_sym.plots` for regimes,
which are also named inside their regions and separated by lines.
"""

from __future__ import annotations

import numpy as np

from ptft_sym.plots import REGIMES, new_figure

__all__ = ["check_figure", "draw"]

KINDS = ("heat", "regimes", "best")
KEYS = ("name", "kind", "value", "x", "y", "facet", "select", "contours", "log")
NEUTRAL = "#d9d9d9"
MOST_PANELS = 6
LABELS = {
    "lam": "relative scale  lam", "c": "absolute scale  c", "gamma": "readout re-initialisation  gamma",
    "alpha": "fine-tuning samples per dimension  alpha", "alpha_pt": "pretraining samples per dimension  alpha_PT",
    "rho_shared": "P(active in FT | active in PT)  rho_shared", "rho_new": "P(active in FT | inactive in PT)  rho_new",
    "rho_pt": "PT density  rho_PT", "rho_ft": "FT density  rho_FT", "omega": "overlap  omega", "noise": "label noise",
    "beta_pt": "pretrained weight  beta_PT", "beta_ft": "fine-tuned weight  beta_FT",
    "mse": "predicted test error", "best_mse": "least predicted test error", "ell_order": "l-order", "pd": "PD",
    "best_lam": "best lam", "gain": "error beyond the least",
    "relative_margin": "margin over the best other regime", "ell_order_plus_pd": "l-order + PD",
}


def check_figure(key, figure, axes, variables, over=()):
    """A figure's description with its axes settled; `axes`: name -> number of values. ValueError names the key."""
    for name in figure:
        if name not in KEYS:
            raise ValueError(f"{key}.{name}: unknown key; known are {', '.join(KEYS)}")
    kind = figure.get("kind", "heat")
    if kind not in KINDS:
        raise ValueError(f"{key}.kind = {kind!r} is not allowed: it must be one of {', '.join(KINDS)}")
    if kind == "best" and not over:
        raise ValueError(f"{key}.kind = 'best' needs a [best] table")
    value = {"regimes": "regime", "best": "best_regime"}.get(kind, figure.get("value", "mse"))
    if kind == "heat" and value not in variables:
        raise ValueError(f"{key}.value = {value!r} is not allowed: it must be one of {', '.join(variables)}")
    free = [a for a in axes if not ((kind == "best" or value.startswith("best_")) and a in over)]
    select = figure.get("select", {})
    if not isinstance(select, dict):
        raise ValueError(f"{key}.select = {select!r} is not allowed: write {{axis = value}}")
    for name in select:
        if name not in free:
            raise ValueError(f"{key}.select.{name}: not an axis of this figure; its axes are {', '.join(free)}")
    free = [a for a in free if a not in select]
    plane = _plane(key, figure, {name: axes[name] for name in free})
    rest = [a for a in free if a not in plane]
    if len(rest) > 1:
        raise ValueError(f"{key}: axes {', '.join(rest)} are left over; give {key}.select or one {key}.facet")
    if not all(isinstance(level, (int, float)) for level in figure.get("contours", [])):
        raise ValueError(f"{key}.contours = {figure['contours']!r} is not allowed: list numbers")
    return {
        "kind": kind, "value": value, "x": plane[0], "y": plane[1], "facet": rest[0] if rest else None,
        "select": select, "contours": sorted(figure.get("contours", [])), "log": bool(figure.get("log", False)),
        "name": str(figure.get("name", key.replace("[", "-").replace("]", ""))),
    }


def _plane(key, figure, free):
    """The two axes of a panel: as given, or the longest ones left (the last axis of a sweep across)."""
    named = [figure[n] for n in ("x", "y") if n in figure]
    for name in ("x", "y", "facet"):
        if name in figure and figure[name] not in free:
            left = ", ".join(free)
            raise ValueError(f"{key}.{name} = {figure[name]!r} is not an axis of this figure; left are {left}")
    spare = [a for a in free if a not in named and a != figure.get("facet")]
    spare = sorted(spare, key=lambda name: -free[name])[: 2 - len(named)]
    spare = [a for a in reversed(free) if a in spare]
    if len(named) + len(spare) < 2:
        raise ValueError(f"{key}: a map needs two axes, and only {', '.join(free) or 'none'} can be drawn")
    chosen = [figure.get("x"), figure.get("y")]
    chosen = [name if name is not None else spare.pop(0) for name in chosen]
    if chosen[0] == chosen[1]:
        raise ValueError(f"{key}: x and y are both {chosen[0]!r}")
    return chosen


def draw(ds, figure, paths, title=""):
    """Draw a checked figure of a dataset to every path."""
    part = ds
    for name, value in figure["select"].items():
        numeric = ds[name].dtype.kind in "fiu"
        part = part.sel({name: value}, **({"method": "nearest"} if numeric else {}))
    shown = {name: np.asarray(part[name].values).item() for name in figure["select"]}
    title = ", ".join([title, *(_named(name, value) for name, value in shown.items())]).strip(", ")
    facet = figure["facet"]
    panels = _panels(part, facet)
    rows = ("best_lam", "best_regime", "relative_margin") if figure["kind"] == "best" else (figure["value"],)
    rows = [name for name in rows if name != "best_lam" or np.unique(part[name].values).size > 1]
    many = len(panels) if len(rows) == 1 else len(rows)
    lines = 1 if len(rows) == 1 else len(panels)
    for path in paths:
        with new_figure(path, (1.1 + 4.4 * many, 0.55 + 3.7 * lines), lines, many, squeeze=False) as (page, axes):
            page.suptitle(title, x=0.01, ha="left", fontsize=11)
            for i, (label, panel) in enumerate(panels):
                for j, name in enumerate(rows):
                    axis = axes[i][j] if len(rows) > 1 else axes[0][i]
                    _panel(page, axis, panel, name, figure, _range(part, name, figure))
                    axis.set_title(", ".join(filter(None, (_title(name) if len(rows) > 1 else "", label))), loc="left")


def _panels(ds, facet):
    if facet is None:
        return [("", ds)]
    count = ds.sizes[facet]
    pick = np.unique(np.linspace(0, count - 1, min(count, MOST_PANELS)).round().astype(int))
    return [(_named(facet, np.asarray(ds[facet].values)[i].item()), ds.isel({facet: int(i)})) for i in pick]


def _named(name, value):
    return f"{name} = {value:g}" if isinstance(value, (int, float)) else f"{name} = {value}"


def _title(name):
    return {"best_regime": "regime of the best initialisation"}.get(name, LABELS.get(name, name))


def _range(ds, name, figure):
    """One colour scale for all panels: (low, high)."""
    if name.endswith("regime"):
        return None
    values = np.asarray(ds[name].values, float)
    values = _lam(values) if name == "best_lam" else values
    values = values[np.isfinite(values) & ((values > 0) | (not figure["log"]))]
    if name == "relative_margin":
        return 0.0, 1.0
    return (float(values.min()), float(values.max())) if values.size else (0.1, 1.0)


def _panel(page, axis, ds, name, figure, limits):
    from matplotlib.colors import LogNorm, Normalize

    x, y = figure["x"], figure["y"]
    at_x, at_y = _positions(ds, x), _positions(ds, y)
    axis.grid(False)
    if name.endswith("regime"):
        _regions(axis, at_x, at_y, ds[name].transpose(y, x).values)
    else:
        values = np.asarray(ds[name].transpose(y, x).values, float)
        log = figure["log"] and name == figure["value"]
        norm = (LogNorm if log else Normalize)(*limits)
        shown = _lam(values) if name == "best_lam" else np.where(values > 0, values, np.nan) if log else values
        mesh = axis.pcolormesh(_edges(at_x), _edges(at_y), shown, cmap="cividis", norm=norm, rasterized=True)
        axis.set_facecolor(NEUTRAL)
        scale = page.colorbar(mesh, ax=axis, shrink=0.9)
        scale.set_label(LABELS.get(name, name))
        if name == "best_lam":
            _lam_ticks(scale.ax.yaxis, scale, limits)
        _contours(axis, at_x, at_y, values, figure["contours"] if name == figure["value"] else [])
        for words in ("regime", "best_regime"):
            if words in ds and set(ds[words].dims) == {x, y}:
                _borders(axis, at_x, at_y, ds[words].transpose(y, x).values)
    for side, dim, at in ((axis.xaxis, x, at_x), (axis.yaxis, y, at_y)):
        _ticks(side, ds, dim, at)


def _lam(values):
    return np.log10(np.maximum(1.0 + np.asarray(values, float), 1e-16))


def _scaled(name, values):
    """How an axis is drawn: "one-plus-log" (lam), "log" or "linear"."""
    if values.dtype.kind not in "fiu" or len(values) < 3:
        return "linear"
    if name == "lam" and values.min() > -1.0 and (1 + values.max()) / (1 + values.min()) > 50:
        return "one-plus-log"
    if values.min() <= 0:
        return "linear"
    steps = np.diff(np.log(values))
    even = np.ptp(steps) < 1e-6 * abs(steps[0])  # values that were chosen in equal ratios
    return "log" if values.max() / values.min() > (5 if even else 50) else "linear"


def _positions(ds, name):
    values = np.asarray(ds[name].values)
    if values.dtype.kind not in "fiu":
        return np.arange(len(values), dtype=float)
    scale = _scaled(name, values)
    return {"linear": np.asarray, "log": np.log10, "one-plus-log": _lam}[scale](values.astype(float))


def _edges(at):
    if len(at) == 1:
        return np.array([at[0] - 0.5, at[0] + 0.5])
    middle = (at[1:] + at[:-1]) / 2
    return np.concatenate([[2 * at[0] - middle[0]], middle, [2 * at[-1] - middle[-1]]])


def _ticks(side, ds, name, at):
    values = np.asarray(ds[name].values)
    side.set_label_text(LABELS.get(name, name))
    if values.dtype.kind not in "fiu":
        side.set_ticks(at, [str(v) for v in values])
        return
    scale = _scaled(name, values)
    if scale == "one-plus-log":
        _lam_ticks(side, side, (at.min(), at.max()))
    elif scale == "log":
        low, high = int(np.ceil(at.min() - 1e-9)), int(np.floor(at.max() + 1e-9))
        step = max(1, (high - low) // 6)
        whole = np.arange(low, high + 1, step)
        side.set_ticks(whole, [f"$10^{{{v}}}$" for v in whole])


def _lam_ticks(side, target, limits):
    lam = np.array([-0.999999, -0.99999, -0.9999, -0.999, -0.99, -0.9, 0.0, 0.99])
    at = _lam(lam)
    inside = (at >= limits[0] - 0.02) & (at <= limits[1] + 0.02)
    target.set_ticks(at[inside], labels=[f"{v:g}" for v in lam[inside]])
    side.set_tick_params(labelrotation=30 if getattr(side, "axis_name", "") == "x" else 0)


def _regions(axis, at_x, at_y, words):
    """Regimes as flat colours with their names inside and lines between."""
    from matplotlib.colors import ListedColormap

    names = [*REGIMES, "uncertain", ""]
    colours = [*(colour for colour, *_ in REGIMES.values()), NEUTRAL, "white"]
    codes = np.searchsorted(sorted(names), words)
    codes = np.array([names.index(n) for n in sorted(names)])[codes]
    axis.pcolormesh(_edges(at_x), _edges(at_y), codes, cmap=ListedColormap(colours), vmin=-0.5, vmax=5.5, alpha=0.55,
                    rasterized=True)
    _borders(axis, at_x, at_y, words)
    for name in [*REGIMES, "uncertain"]:
        where = np.argwhere(words == name)
        if len(where) >= max(3, words.size // 150):
            i, j = _deepest(words == name)
            axis.text(at_x[j], at_y[i], name, ha="center", va="center",
                      fontweight="bold" if name in REGIMES else "normal", fontsize=11 if name in REGIMES else 8.5)


def _deepest(inside):
    """The cell of a region that is farthest from its border, and of those the nearest to its middle."""
    from scipy.ndimage import distance_transform_cdt

    depth = distance_transform_cdt(np.pad(inside, 1), metric="chessboard")[1:-1, 1:-1]
    best = np.argwhere(depth == depth.max())
    return best[np.argmin(np.sum(((best - np.argwhere(inside).mean(0)) / inside.shape) ** 2, axis=1))]


def _borders(axis, at_x, at_y, words):
    """Lines where neighbouring cells are in different regimes."""
    from matplotlib.collections import LineCollection

    edge_x, edge_y = _edges(at_x), _edges(at_y)
    across = [[(edge_x[j + 1], edge_y[i]), (edge_x[j + 1], edge_y[i + 1])]
              for i, j in np.argwhere(words[:, 1:] != words[:, :-1])]
    along = [[(edge_x[j], edge_y[i + 1]), (edge_x[j + 1], edge_y[i + 1])]
             for i, j in np.argwhere(words[1:] != words[:-1])]
    axis.add_collection(LineCollection(across + along, colors="white", linewidths=2.6))
    axis.add_collection(LineCollection(across + along, colors="black", linewidths=1.1))


def _contours(axis, at_x, at_y, values, levels):
    if levels and min(values.shape) > 1:
        inside = [v for v in levels if np.nanmin(values) < v < np.nanmax(values)]
        if inside:
            lines = axis.contour(at_x, at_y, values, levels=inside, colors="white", linewidths=1.2, linestyles="--")
            axis.clabel(lines, fmt="%g", fontsize=8)
