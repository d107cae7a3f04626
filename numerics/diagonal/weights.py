"""The network itself: four weight vectors, how they start, and how fine-tuning restarts them.

Nothing here is a result of the theory: these are the definitions it starts from (THEORY sections 1 and 3).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numerics.task import Initialization
from numerics.validate import check_number

__all__ = ["Weights"]


class Weights(NamedTuple):
    """First layers ``w_plus, w_minus`` and readouts ``v_plus, v_minus`` of the two paths, each (..., D)."""

    w_plus: np.ndarray
    w_minus: np.ndarray
    v_plus: np.ndarray
    v_minus: np.ndarray

    @classmethod
    def start(cls, init: Initialization, dim: int) -> Weights:
        """Weights before pretraining: both paths equal, so beta = 0."""
        w, v = (np.full(dim, x) for x in init.weights())
        return cls(w, w.copy(), v, v.copy())

    @classmethod
    def fine_tuning_start(cls, beta_pt: np.ndarray, init: Initialization) -> Weights:
        """Weights that :meth:`rebalance` would give after pretraining had reached ``beta_pt`` (D,) exactly."""
        v = np.full(np.shape(beta_pt), init.gamma / np.sqrt(2.0))
        w = np.sqrt(np.maximum(init.c_ft(beta_pt) - v**2, 0.0))
        return cls(w, w.copy(), v, v.copy())

    def rebalance(self, gamma: float, readout: float | None = None) -> Weights:
        """Weights before fine-tuning: both first layers become ``w_plus + w_minus``, readouts ``gamma / sqrt(2)``.

        ``readout`` overrides the readout weight itself: the named door for codes that set ``v = gamma``.
        """
        v = check_number("gamma", gamma, 0.0) / np.sqrt(2.0) if readout is None else check_number("readout", readout)
        w = self.w_plus + self.w_minus
        return Weights(w, w.copy(), np.full_like(w, v), np.full_like(w, v))

    @property
    def beta(self) -> np.ndarray:
        """Effective regression vector (..., D)."""
        return self.w_plus * self.v_plus - self.w_minus * self.v_minus

    def conserved(self) -> np.ndarray:
        """The four quantities (4, ..., D) that gradient flow conserves (THEORY section 2)."""
        wp, wm, vp, vm = self
        return np.stack([wp**2 - vp**2, wm**2 - vm**2, wp * wm + vp * vm, wp * vm + vp * wm])
