"""l-order and pretraining dependence of an initialisation: one coordinate at a time, and of a whole solution."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numerics import kernels
from numerics.diagonal.metrics import weighted_metrics
from numerics.task import Initialization
from numerics.validate import as_array

__all__ = ["Metrics", "pretraining_dependence", "solution_metrics"]


class Metrics(NamedTuple):
    """``ell_order`` in [1, 2] and ``pd`` in [-1, 0] of the whole potential; (2, 0) where beta_FT is zero."""

    ell_order: float
    pd: float


def pretraining_dependence(beta_ft: object, beta_pt: object, init: Initialization) -> np.ndarray:
    """PD = d log q / d log|beta_PT| in [-1, 0], elementwise and broadcasting.

    Parameters
    ----------
    beta_ft, beta_pt : array_like
        Fine-tuned and pretrained values, in the same units as ``init.c``.
    init : Initialization

    Raises
    ------
    TypeError, ValueError
        For arrays that are not finite real numbers, or shapes that do not broadcast.

    Source: THEORY section 4; evaluated by the generated kernel of derivation ``metrics``.
    """
    _check_init(init)
    beta_ft, beta_pt = _pair(beta_ft, beta_pt)
    return kernels.pretraining_dependence(beta_ft, beta_pt, init.c, init.lam, init.gamma)


def solution_metrics(beta_ft: object, beta_pt: object, init: Initialization) -> Metrics:
    """l-order and PD of Q = sum q_d under beta_FT -> t beta_FT and beta_PT -> t beta_PT: the q-weighted means.

    Both have shape (D,), or broadcast to it. Raises as above. Source: THEORY section 4.
    """
    _check_init(init)
    beta_ft, beta_pt = (array.ravel() for array in _pair(beta_ft, beta_pt))
    return Metrics(*weighted_metrics(beta_ft, beta_pt, init))


def _check_init(init: object) -> None:
    if not isinstance(init, Initialization):
        raise TypeError(f"init must be an Initialization, got {init!r:.60} of type {type(init).__name__}")


def _pair(beta_ft: object, beta_pt: object) -> tuple[np.ndarray, np.ndarray]:
    beta_ft = as_array("beta_ft", beta_ft, allow_empty=True)
    beta_pt = as_array("beta_pt", beta_pt, allow_empty=True)
    try:
        return np.broadcast_arrays(beta_ft, beta_pt)
    except ValueError:
        raise ValueError(
            f"beta_ft has shape {beta_ft.shape} and beta_pt {beta_pt.shape}: they must broadcast to one shape"
        ) from None
