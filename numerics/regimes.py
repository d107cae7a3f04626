"""Which of the four regimes a solution is in: the corners of the (l-order, PD) plane, and the rich dependent interior.

Regimes I, II and III are limits, so they are corners (THEORY section 4); regime IV is what lies between I and II.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from numerics.metrics import solution_metrics
from numerics.task import Initialization
from numerics.validate import check_number

__all__ = ["CORNERS", "REGIMES", "UNCERTAIN", "Regime", "classify", "regime"]

#: (l-order, PD) of the three limiting regimes.
CORNERS = {"I": (1.0, 0.0), "II": (2.0, -1.0), "III": (2.0, 0.0)}
REGIMES = {
    "I": "rich, independent of pretraining",
    "II": "lazy, dependent on pretraining",
    "III": "lazy, independent of pretraining",
    "IV": "rich, dependent on pretraining",
}
UNCERTAIN = "uncertain"


@dataclass(frozen=True)
class Regime:
    """A solution's metrics, the regime they point to ("I", "II", "III", "IV" or "uncertain") and why."""

    name: str
    ell_order: float
    pd: float
    why: str


def classify(ell_order: object, pd: object, threshold: float = 0.1) -> np.ndarray:
    """Name of the regime for every pair of metrics.

    Parameters
    ----------
    ell_order, pd : array_like
        In [1, 2] and [-1, 0]; broadcast. NaN gives "uncertain".
    threshold : float
        In (0, 0.5). A point within ``threshold`` of a corner in both metrics belongs to it; a point farther than
        ``threshold`` from l-order 2 and from PD 0 is in regime IV; everything else is "uncertain".

    Returns
    -------
    ndarray of str, of the broadcast shape.
    """
    threshold = check_number("threshold", threshold, 0.0, 0.5, open_low=True, open_high=True)
    ell_order, pd = np.broadcast_arrays(np.asarray(ell_order, float), np.asarray(pd, float))
    names = np.full(ell_order.shape, UNCERTAIN, dtype="<U9")
    names[(ell_order < 2.0 - threshold) & (pd < -threshold)] = "IV"
    for name, (ell, dependence) in CORNERS.items():
        names[np.maximum(np.abs(ell_order - ell), np.abs(pd - dependence)) <= threshold] = name
    return names


def regime(beta_ft: object, beta_pt: object, init: Initialization, threshold: float = 0.1) -> Regime:
    """Metrics of a whole solution (q-weighted) and the regime they point to.

    Parameters
    ----------
    beta_ft, beta_pt : array_like
        Fine-tuned and pretrained vectors, or numbers; broadcast.
    init : Initialization
    threshold : float
        See :func:`classify`.

    Returns
    -------
    Regime

    Raises
    ------
    TypeError, ValueError
        For arrays that are not finite or do not broadcast, or a threshold out of range.

    Source: THEORY section 4.
    """
    ell_order, pd = (float(value) for value in solution_metrics(beta_ft, beta_pt, init))
    name = str(classify(ell_order, pd, threshold))
    return Regime(name, ell_order, pd, _why(name, ell_order, pd, threshold))


def _why(name: str, ell_order: float, pd: float, threshold: float) -> str:
    where = f"l-order {ell_order:.3f}, PD {pd:.3f}"
    if name in CORNERS:
        ell, dependence = CORNERS[name]
        return f"{where}: within {threshold:g} of ({ell:g}, {dependence:g}), {REGIMES[name]}"
    if name == "IV":
        return f"{where}: more than {threshold:g} below l-order 2 and below PD 0, {REGIMES[name]}"
    nearest = min(CORNERS, key=lambda k: max(abs(ell_order - CORNERS[k][0]), abs(pd - CORNERS[k][1])))
    return f"{where}: between the regimes, nearest to {nearest}"
