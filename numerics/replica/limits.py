"""Limits of the prediction with closed forms: basis pursuit (c_FT -> 0) and its phase transition, ridge, minimum norm.

Basis pursuit is the saddle point with the soft threshold in place of the potential's proximal map; the potential gets
there only logarithmically in c_FT (THEORY section 6), so a limit is not a value of ``generalization_curve``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from numerics.kernels import critical_alpha, critical_ratio, minimum_norm_mse, ridge_mse, soft_dof, soft_error
from numerics.task import Task
from numerics.validate import as_array, check_number

__all__ = ["Transition", "basis_pursuit", "minimum_norm", "phase_transition", "recovery_threshold", "ridge"]


class Transition(NamedTuple):
    """Weak recovery threshold of basis pursuit: at ``alpha`` samples per dimension, ``rho`` nonzeros per sample."""

    alpha: float
    rho: float
    threshold: float


def phase_transition(alpha: float) -> Transition:
    """Sparsity up to which l1 minimisation recovers a signed sparse vector exactly.

    Parameters
    ----------
    alpha : float
        n/D in (0, 1).

    Returns
    -------
    Transition

    Source: Donoho & Tanner 2005; derived in derivation ``limits`` (parametric in the soft threshold).
    """
    alpha = check_number("alpha", alpha, 1e-6, 1.0 - 1e-6)
    threshold = brentq(lambda a: critical_alpha(a) - alpha, 1e-9, 30.0, xtol=1e-14, rtol=8.9e-16)
    return Transition(alpha, float(critical_ratio(threshold)), float(threshold))


def recovery_threshold(rho: float) -> float:
    """Samples per dimension from which basis pursuit recovers a fraction ``rho`` in (0, 1) of nonzeros exactly."""
    rho = check_number("rho", rho, 1e-6, 1.0 - 1e-6)

    def excess(threshold):
        return critical_alpha(threshold) * critical_ratio(threshold) - rho

    return float(critical_alpha(brentq(excess, 1e-9, 30.0, xtol=1e-14, rtol=8.9e-16)))


def basis_pursuit(task: Task, alpha: object) -> np.ndarray:
    """Error of noiseless l1 interpolation, the limit c_FT -> 0 (equal scales) of the prediction.

    Parameters
    ----------
    task : Task
        With a Gaussian fine-tuning slab, uncorrelated with pretraining (which does not matter in this limit).
    alpha : array_like
        Sample ratios in (0, 1), any shape.

    Returns
    -------
    ndarray of alpha's shape; exactly 0 from the recovery threshold on.

    Raises
    ------
    TypeError, ValueError
        For another kind of task, or alpha out of range.

    Source: derivation ``soft_threshold``.
    """
    if not isinstance(task, Task) or task.samples is not None or task.ft_slab.kind != "gaussian" or task.correlation:
        raise ValueError(f"task = {task!r:.80} is not allowed: it needs an uncorrelated Gaussian fine-tuning slab")
    alpha = as_array("alpha", alpha, low=1e-6, high=1.0 - 1e-9)
    rho, tau2 = task.rho_ft, task.ft_slab.second_moment
    weight, variance = np.array([1.0 - rho, rho]), np.array([0.0, tau2])
    recovered = recovery_threshold(rho) if rho < 1.0 else 1.0
    out = [0.0 if a >= recovered else _pursue(weight, variance, float(a)) for a in alpha.ravel()]
    return np.array(out).reshape(alpha.shape)


def _pursue(weight: np.ndarray, variance: np.ndarray, alpha: float) -> float:
    """Root in log s2 of the first equation, with theta from the second at each s2 (both monotone)."""

    def theta(s2):
        scale = np.sqrt(s2 + variance.max())
        gap = lambda log: float(np.sum(weight * soft_dof(np.exp(log), s2, variance))) - alpha  # noqa: E731
        return np.exp(brentq(gap, np.log(1e-3 * np.sqrt(s2)) - 5.0, np.log(40.0 * scale), xtol=1e-14))

    def miss(log_s2):
        s2 = np.exp(log_s2)
        return log_s2 - np.log(np.sum(weight * soft_error(theta(s2), s2, variance)) / alpha)

    top = np.log(np.sum(weight * variance) / alpha) + 0.5
    bottom = top - 1.0
    while miss(bottom) > 0.0:
        bottom -= 2.0
        if bottom < top - 80.0:
            return 0.0
    return alpha * float(np.exp(brentq(miss, bottom, top, xtol=1e-13)))


def minimum_norm(task: Task, alpha: object, noise: object = 0.0) -> np.ndarray:
    """Error of minimum-l2-norm interpolation, the limit c_FT -> infinity, for alpha in (0, 1).

    Source: derivation ``limits``.
    """
    alpha = as_array("alpha", alpha, low=1e-9, high=1.0 - 1e-12)
    return minimum_norm_mse(alpha, as_array("noise", noise, low=0.0), task.law.second_moment)


def ridge(task: Task, alpha: object, penalty: object, noise: object = 0.0) -> np.ndarray:
    """Error of ridge regression with ``(penalty/2) |beta|^2``; ``ridge/(2 c_FT)`` is that penalty for c_FT -> infinity.

    Source: Marchenko & Pastur 1967; derivation ``limits``.
    """
    alpha = as_array("alpha", alpha, low=1e-9)
    penalty = as_array("penalty", penalty, low=0.0, open_low=True)
    return ridge_mse(alpha, as_array("noise", noise, low=0.0), task.law.second_moment, penalty)
