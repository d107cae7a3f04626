"""C4 to C6: l-order and pretraining dependence of single coordinates, at random and on the way to the limits."""

from __future__ import annotations

import numpy as np

from ptft_sym.claims import Evidence
from ptft_sym.claims.checked import derivation

__all__ = ["ranges", "regimes", "trade_off"]


def _random_metrics(count: int = 200_000):
    """l-order and PD at random settings over many decades, with u = |beta_FT|/c_FT and b = |beta_PT|/c."""
    from numerics import kernels

    rng = np.random.default_rng(0)
    beta_ft, beta_pt, c = 10 ** rng.uniform(-12, 12, (3, count))
    lam, gamma = -1 + 10 ** rng.uniform(-12, 0.301, count), 10 ** rng.uniform(-12, 6, count)
    scale = kernels.c_ft(beta_pt, c, lam, gamma)
    order = kernels.ell_order(beta_ft, scale)
    return order, kernels.pretraining_dependence(beta_ft, beta_pt, c, lam, gamma), beta_ft / scale, beta_pt / c


def ranges(_):
    """C4."""
    order, dependence, u, b = _random_metrics()
    inside = bool((order >= 1).all() and (order <= 2).all() and (dependence >= -1).all() and (dependence <= 0).all())
    text = f"200 000 random settings: l-order in [{order.min():.6f}, {order.max():.6f}], "
    text += f"PD in [{dependence.min():.6f}, {dependence.max():.6f}]"
    few = slice(4000)
    return [
        derivation("metrics", "above 1", "below 2", "range of PD"),
        Evidence("solver", text, inside),
    ], {"kind": "ranges", "order": order[few], "dependence": dependence[few], "u": u[few], "b": b[few]}


def trade_off(_):
    """C5."""
    order, dependence, _, _ = _random_metrics()
    total = order + dependence
    slack = 4e-16  # rounding of a sum of two correctly bounded numbers
    text = f"200 000 random settings: l-order + PD in [{total.min():.6f}, {total.max():.6f}]"
    return [
        derivation("metrics", "trade-off", "trade-off, range"),
        Evidence("solver", text, bool(total.min() >= 1 - slack and total.max() <= 2 + slack)),
    ], {"kind": "plane", "order": order[:4000], "dependence": dependence[:4000]}


def regimes(_):
    """C6: a setting near each limit and one between, and the ways to the limits."""
    import ptft_sym as pt

    settings = {  # CASES: a setting near each limit, and one in between
        "I": (1.0, 1.0, pt.Initialization(1e-3, -0.999999, 1e-6)),
        "II": (0.01, 1.0, pt.Initialization(1e-6, 0.99)),
        "III": (1.0, 1.0, pt.Initialization(1e-3, 0.0, 10.0)),
        "IV": (1.0, 1.0, pt.Initialization(1e-3, -0.99)),
    }
    found = {name: pt.regime(*setting) for name, setting in settings.items()}
    text = "; ".join(f"{name}: l-order {r.ell_order:.4f}, PD {r.pd:.4f}" for name, r in found.items())
    return [
        derivation("regimes"),
        Evidence("solver", text, all(r.name == name for name, r in found.items())),
    ], {"kind": "regimes", "ways": _ways(), "between": (found["IV"].pd, found["IV"].ell_order)}


def _ways():
    """Regime -> (what goes to its limit, PD and l-order on the way), for one coordinate at c = 1e-3."""
    from numerics import kernels

    k = np.arange(0.0, 16.0)
    one = np.ones_like(k)
    ways = {  # beta_FT, beta_PT, c, lam, gamma
        "I": ("lam -> -1, gamma = 0", one, one, 1e-3 * one, -1 + 10.0**-k, 0 * one),
        "II": ("beta_FT, c -> 0, lam = 1", 10.0 ** -(k / 4), one, 1e-3 * 10.0 ** -(k / 4), one, 0 * one),
        "III": ("gamma -> inf, lam = 0", one, one, 1e-3 * one, 0 * one, 10.0 ** (k / 4 - 1)),
    }
    return {
        name: (
            words,
            kernels.pretraining_dependence(b_ft, b_pt, c, lam, gamma),
            kernels.ell_order(b_ft, kernels.c_ft(b_pt, c, lam, gamma)),
        )
        for name, (words, b_ft, b_pt, c, lam, gamma) in ways.items()
    }
