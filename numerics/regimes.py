"""Which of the paper's regimes a pair (l-order, PD) is in (THEORY section 4).

    I    rich, independent of pretraining    l-order near 1 (PD is near 0 then: the trade-off leaves no other place)
    II   lazy, dependent                     l-order near 2, PD near -1
    III  lazy, independent                   l-order near 2, PD near 0
    IV   rich, dependent                     between: away from all four edges

What lies near one edge only (half lazy and independent, or lazy and half dependent) is between two regimes:
"uncertain". How near is near is an argument, because the l-order approaches 1 only like 1/log: at 0.15 a coordinate is
in regime I from |beta_FT| = 1061 c_FT on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from numerics import kernels
from numerics.task import Initialization
from numerics.validate import as_array, check_number

__all__ = ["NAMES", "UNCERTAIN", "Nearness", "Regime", "classify", "explain", "initialization_regime", "regime"]

NAMES = ("I", "II", "III", "IV")
UNCERTAIN = "uncertain"


@dataclass(frozen=True)
class Nearness:
    """How near counts, each in (0, 0.5): an l-order up to ``1 + rich`` is rich, one from ``2 - lazy`` on is lazy; a PD
    from ``-independent`` on is independent, one up to ``-1 + dependent`` dependent."""

    rich: float = 0.15
    lazy: float = 0.15
    independent: float = 0.15
    dependent: float = 0.15

    def __post_init__(self) -> None:
        for name in ("rich", "lazy", "independent", "dependent"):
            value = check_number(name, getattr(self, name), 0.0, 0.5, open_low=True, open_high=True)
            object.__setattr__(self, name, value)


class Regime(NamedTuple):
    """``name`` is I, II, III, IV or "uncertain"; ``why`` says it in a sentence."""

    name: str
    ell_order: float
    pd: float
    why: str

    def __str__(self) -> str:
        return self.name


def classify(ell_order: object, pd: object, near: Nearness | None = None) -> np.ndarray:
    """Regime of every pair: array of words, of the broadcast shape; "uncertain" also where either is NaN.

    Raises TypeError or ValueError for what cannot be read as numbers or does not broadcast.
    """
    near = near or Nearness()
    order, dependence = np.broadcast_arrays(np.asarray(ell_order, float), np.asarray(pd, float))
    rich, lazy = order <= 1.0 + near.rich, order >= 2.0 - near.lazy
    free, bound = dependence >= -near.independent, dependence <= -1.0 + near.dependent
    between = (order > 1.0 + near.rich) & (order < 2.0 - near.lazy) & ~free & ~bound
    found = np.select(
        [rich & free, lazy & bound, lazy & free, between & np.isfinite(dependence)], NAMES, UNCERTAIN
    )
    return found.astype("<U9")


def regime(
    beta_ft: object,
    beta_pt: object,
    init: Initialization,
    *,
    rich: float = 0.15,
    lazy: float = 0.15,
    independent: float = 0.15,
    dependent: float = 0.15,
) -> Regime:
    """The regime of one coordinate (scalars) or of a whole solution (shape (D,): q-weighted means).

    Parameters
    ----------
    beta_ft, beta_pt : number or array_like, shape (D,)
    init : Initialization
    rich, lazy, independent, dependent : float
        How near counts: see :class:`Nearness`.

    Returns
    -------
    Regime
        With ``name``, ``ell_order``, ``pd`` and ``why``.

    Raises
    ------
    TypeError, ValueError
        For what is not finite real numbers, does not broadcast, or thresholds outside (0, 0.5).

    Source: THEORY section 4.
    """
    from numerics.metrics import solution_metrics

    near = Nearness(rich, lazy, independent, dependent)
    order, dependence = solution_metrics(beta_ft, beta_pt, init)
    name = str(classify(order, dependence, near))
    return Regime(
        name, order, dependence, f"l-order {order:.4g}, PD {dependence:.4g}: {explain(order, dependence, near)}"
    )


def explain(order: float, dependence: float, near: Nearness | None = None) -> str:
    """Why :func:`classify` puts this pair where it does, in a few words."""
    near = near or Nearness()
    name = str(classify(order, dependence, near))
    if name == "I":
        return f"rich (l-order <= {1 + near.rich:g}), independent of pretraining (PD >= {-near.independent:g})"
    if name == "II":
        return f"lazy (l-order >= {2 - near.lazy:g}), pretraining-dependent (PD <= {-1 + near.dependent:g})"
    if name == "III":
        return f"lazy (l-order >= {2 - near.lazy:g}), independent of pretraining (PD >= {-near.independent:g})"
    if name == "IV":
        return "between sparse and quadratic, and pretraining-dependent"
    if order >= 2 - near.lazy:
        return "lazy, between regimes II and III"
    if dependence >= -near.independent:
        return "independent of pretraining, between regimes I and III"
    return "on the border of two regimes for these thresholds"


def initialization_regime(
    c: object, lam: object, gamma: object, near: Nearness | None = None, reference: tuple[float, float] = (1.0, 1.0)
) -> np.ndarray:
    """Regime of initialisations at one coordinate ``reference = (beta_ft, beta_pt)``, as in the paper's figure.

    ``c``, ``lam``, ``gamma`` broadcast; returns words of their shape.
    """
    beta_ft, beta_pt = as_array("reference", reference, ndim=1)
    order = kernels.ell_order(beta_ft, kernels.c_ft(beta_pt, c, lam, gamma))
    return classify(order, kernels.pretraining_dependence(beta_ft, beta_pt, c, lam, gamma), near)
