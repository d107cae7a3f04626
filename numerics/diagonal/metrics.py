"""l-order and pretraining dependence of a whole solution: means over coordinates weighted by the potential."""

from __future__ import annotations

import numpy as np

from numerics.task import Initialization

__all__ = ["weighted_metrics"]


def weighted_metrics(beta: np.ndarray, beta_pt: np.ndarray, init: Initialization) -> tuple[float, float]:
    """``(l-order, PD)`` of Q = sum q at ``beta`` (D,) fine-tuned from ``beta_pt`` (D,); (2, 0) where beta = 0.

    Both are q-weighted means of the coordinates' values (THEORY section 4). At beta = 0 the potential is its own
    quadratic part, and no pretraining enters it.
    """
    from numerics.kernels import ell_order, potential, pretraining_dependence

    scale = init.c_ft(beta_pt)
    q = potential(beta, scale)
    total = q.sum()
    if not total > 0.0:
        return 2.0, 0.0
    pd = pretraining_dependence(beta, beta_pt, init.c, init.lam, init.gamma)
    return float(q @ ell_order(beta, scale) / total), float(q @ pd / total)
