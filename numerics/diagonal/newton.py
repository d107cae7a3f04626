"""Newton's method along the mirror curve: the one iteration behind every exact solution.

Unknowns are the dual vector ``nu`` (n) and one point ``(beta_d, s_d)`` per coordinate on the curve
``beta = c sinh s``. The equations are ``X beta + ridge nu = y`` (feasibility) and ``s = 2 X^T nu`` (stationarity).
Both classical methods solve the same linear system and differ in how they return to the curve: the primal one keeps
the new ``beta``, the dual one keeps the new ``s``. A tangent at a point of the exponential part is a terrible guide
outwards for the dual (``sinh`` explodes) and inwards for the primal (it crosses zero and explodes on the other side),
so each coordinate takes whichever of the two moves it less in angle. Started at beta = 0, the first step is the
weighted least-norm solution; about ten steps reach rounding error for scales between 1e-12 and 1e6.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from numerics.diagonal.linear import cholesky_step, orthogonal_step
from numerics.diagonal.maps import angle, mobility, point

__all__ = ["Iterate", "return_to_curve", "solve_on_curve"]

TARGET = 1e-13  # stop here: what is left is rounding
LARGEST = 1e100  # no iterate is larger, in units of max|y|/max|X|: the squares of the next step stay finite
TRUSTED_ANGLE = 0.3  # below this both tangents are good and the return is chosen for rounding, not for safety


@dataclass
class Iterate:
    """A point of the iteration with its two residuals, both relative."""

    beta: np.ndarray
    nu: np.ndarray
    feasibility: float
    stationarity: float
    iterations: int = 0

    @property
    def residual(self) -> float:
        """The larger of the two."""
        return max(self.feasibility, self.stationarity)


def solve_on_curve(X, y, c, ridge: float, accept: float, max_iterations: int) -> Iterate:
    """Best point found for ``X`` of full row rank (or ridge > 0) and ``y != 0``; the caller judges its residual.

    Stops at :data:`TARGET`, or below ``accept`` once three steps in a row bring no further gain.
    """
    n, dim = X.shape
    beta, s, nu = np.zeros(dim), np.zeros(dim), np.zeros(n)
    size, best, stale, orthogonal = np.linalg.norm(y), None, 0, False
    for iteration in range(max_iterations + 1):
        gap = y - X @ beta - ridge * nu
        tilt = X.T @ nu - s / 2
        now = Iterate(beta, nu, np.linalg.norm(gap) / size, _relative_angle(tilt, s), iteration)
        stale = 0 if best is None or now.residual < best.residual / 2 else stale + 1
        best = now if best is None or now.residual < best.residual else best
        if best.residual <= TARGET or (best.residual <= accept and stale >= 3) or iteration == max_iterations:
            break
        W = mobility(beta, c)
        orthogonal = orthogonal or stale >= 25
        step = None if orthogonal else cholesky_step(X, W, ridge, gap, tilt)
        if step is None:
            orthogonal, step = True, orthogonal_step(X, W, ridge, gap, tilt)
        nu = nu + step
        beta, s = return_to_curve(beta, s, c, W, 2 * (X.T @ step + tilt))
    best.iterations = iteration
    return best


def _relative_angle(tilt: np.ndarray, s: np.ndarray) -> float:
    """Largest error of an angle relative to the largest angle (the scale of rounding in ``X^T nu``)."""
    error = float(2 * np.max(np.abs(tilt)))
    return error / max(error, float(np.max(np.abs(s)))) if error else 0.0


def return_to_curve(beta, s, c, W, turn):
    """Point on the curve after the tangent step ``turn`` (change of angle predicted linearly); arrays (..., D)."""
    primal = beta + W * turn / 2
    primal_angle = angle(primal, c)
    # Near the solution: coordinates that carry y keep beta exactly feasible, tiny ones keep their angle exactly
    # stationary. Their beta is below the rounding of the sum X beta, which therefore says nothing about their angle.
    carries = np.max(np.abs(beta), axis=-1, keepdims=True) * 1e-2 < W
    keep_beta = np.where(np.abs(turn) < TRUSTED_ANGLE, carries, np.abs(primal_angle - s) < np.abs(turn))
    bound = angle(LARGEST, c)
    new_s = np.clip(np.where(keep_beta, primal_angle, s + turn), -bound, bound)
    return np.where(keep_beta & (np.abs(primal) < LARGEST), primal, point(new_s, c)), new_s
