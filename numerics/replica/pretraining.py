"""The pretraining stage as a scalar channel (THEORY section 6, imperfect pretraining).

Pretraining starts from one homogeneous scale ``c``, so its own saddle point has the components of the pretraining law
alone; its solution (s2, g) says how the learned weight B scatters around the teacher's.
"""

from __future__ import annotations

import numpy as np

from numerics.kernels import least_squares_s2
from numerics.law import Law
from numerics.replica.mixture import ORACLE, Mixture, Pretraining
from numerics.replica.saddle_point import solve
from numerics.validate import check_number

__all__ = ["pretrain", "pretraining_mixture"]


def pretrain(law: Law, c: float, alpha_pt: float | None, noise_pt: float = 0.0) -> Pretraining:
    """Channel (s2, g) of interpolating pretraining with ``alpha_pt`` samples per dimension.

    Parameters
    ----------
    law : Law
        Joint law of the task; only its pretraining part matters here.
    c : float
        Absolute scale of the network before pretraining.
    alpha_pt : float or None
        ``None`` stands for perfect pretraining, as does ``alpha_pt >= 1`` without noise.
    noise_pt : float
        Variance of the label noise in pretraining.

    Returns
    -------
    Pretraining
        ``(0, 0)`` when B equals the teacher; ``(noise_pt/(alpha_pt - 1), 0)`` (least squares) above 1.

    Raises
    ------
    ValueError
        Out-of-range values; noise without ``alpha_pt``; ``alpha_pt = 1`` with noise, where the error diverges.
    ConvergenceError
        If the saddle point is not reached.
    """
    noise_pt = check_number("noise_pt", noise_pt, 0.0, 1e12)
    if alpha_pt is None:
        if noise_pt > 0.0:
            raise ValueError(f"noise_pt = {noise_pt} needs alpha_pt: perfect pretraining has no noise")
        return ORACLE
    alpha_pt = check_number("alpha_pt", alpha_pt, 1e-4, 1e6)
    if law.pt_second_moment == 0.0 and noise_pt == 0.0:
        return ORACLE
    if alpha_pt >= 1.0:
        if noise_pt == 0.0:
            return ORACLE
        if alpha_pt == 1.0:
            raise ValueError(
                f"alpha_pt = 1.0 with noise_pt = {noise_pt} is not allowed: the pretraining error diverges there; "
                "take alpha_pt < 1 or alpha_pt > 1"
            )
        return Pretraining(float(least_squares_s2(alpha_pt, noise_pt)), 0.0)
    solution = solve(pretraining_mixture(law, c), np.array([alpha_pt]), noise_pt)
    return Pretraining(float(solution.s2[0]), float(solution.g[0]))


def pretraining_mixture(law: Law, c: float) -> Mixture:
    """Components of the pretraining problem itself: one scale, one component for each |mean| and variance."""
    pairs, index = np.unique(np.stack([np.abs(law.pt_mean), law.pt_var]), axis=1, return_inverse=True)
    weight = np.bincount(index.ravel(), law.weight)
    zero = np.zeros_like(weight)
    active = (pairs != 0.0).any(axis=0).astype(int)
    mixture = Mixture(weight, pairs[0], pairs[1], zero + c, zero, active, zero, zero, zero, zero)
    return Mixture(*(field[None] for field in mixture))
