"""Where to start on a curve: a few of its points from scratch, the others by interpolation.

The solution is a smooth function of log alpha with a known slope (implicit function theorem), so a cubic through some
solved points is close to all. Only speed depends on it: whatever start comes out, the saddle point is unique and every
point is iterated to its own residual.
"""

from __future__ import annotations

import numpy as np

from numerics.kernels.channel_table import average
from numerics.replica.tables import even_sums

__all__ = ["approach"]

#: Fewest settings that pay for the coarse stage, and how many settings one of its points stands for.
_LEAST, _SHARE = 24, 5
#: Trapezoidal step of the coarse stage, and of the first look at all points, in units of the final one.
_ROUGH, _FIRST = 2.0, 1.5
_STEPS, _CLIP = 14, 3.0


class _Curve:
    """Settings that differ in alpha alone, all of even components: both equations in logarithms, in few calls."""

    def __init__(self, mixture, alpha, noise, ridge):
        self.c, self.tau2, weight = (f[0][:, None] for f in (mixture.c, mixture.tau2, mixture.weight))
        self.alpha, self.log_alpha, self.noise, self.ridge = alpha, np.log(alpha), noise, ridge
        self.weights = np.empty((4, len(weight), len(alpha)))
        self.weights[0], self.weights[3] = weight, weight * self.tau2
        self.scales = np.empty((2, len(weight), len(alpha)))

    def newton(self, x: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
        """Newton step at x = (log s2, log g), limited, and dx/d log alpha (exact at a solution)."""
        s2, g = np.exp(x)
        variance = self.tau2 + s2
        scales, weights = self.scales, self.weights
        scales[0], scales[1] = self.c, 0.5 * g
        scales /= np.sqrt(variance)
        np.divide(weights[3], variance, out=weights[1])
        np.divide(weights[0], variance, out=weights[2])
        weights[2] *= s2
        sums = even_sums(scales[0].reshape(-1), scales[1].reshape(-1), step).reshape(-1, *variance.shape)
        log_p, log_q = np.log(scales)
        error, dof, _, error_g, error_s2, dof_g, dof_s2 = average(sums, log_p, log_q, s2, weights)
        pull = self.ridge / g
        power, total = self.noise + error, dof + pull
        f1_s, f1_g = 1.0 - error_s2 / power, error_g / -power
        f2_s, f2_g = dof_s2 / total, (dof_g - pull) / total
        f1, f2 = x[0] - np.log(power) + self.log_alpha, np.log(total) - self.log_alpha
        # along the second equation's curve the first rises with s2; a flat stretch only says the direction
        ratio = f1_g / f2_g
        rise = np.maximum(f1_s - ratio * f2_s, 0.01)
        move, slope = np.empty((2, 2, len(s2)))
        move[0] = (ratio * f2 - f1) / rise
        np.minimum(np.maximum(move[0], -_CLIP, out=move[0]), _CLIP, out=move[0])
        move[1] = (f2_s * move[0] + f2) / -f2_g
        np.minimum(np.maximum(move[1], -1.5 * _CLIP, out=move[1]), 1.5 * _CLIP, out=move[1])
        slope[0] = (ratio + 1.0) / -rise
        slope[1] = (1.0 - f2_s * slope[0]) / f2_g
        return move, slope


def _iterate(curve: _Curve, x: np.ndarray, step: float, until: float, most: int, evaluations: np.ndarray):
    """Newton until the largest step is below ``until``: (x, slope), or None when it is not in ``most`` steps."""
    for _ in range(most):
        move, slope = curve.newton(x, step)
        evaluations += 1
        x = x + move
        if np.abs(move).max() < until:
            return x, slope
    return None


def _cubic(at, values, slopes, t) -> np.ndarray:
    """The cubic Hermite interpolant of ``values`` with ``slopes`` at the increasing points ``at``."""
    left = np.minimum(at.searchsorted(t, "right") - 1, len(at) - 2)
    width = np.diff(at)
    rise = np.diff(values) / width
    bend = (3.0 * rise - 2.0 * slopes[:, :-1] - slopes[:, 1:]) / width
    twist = (slopes[:, :-1] + slopes[:, 1:] - 2.0 * rise) / width**2
    d = t - at[left]
    return values[:, left] + d * (slopes[:, left] + d * (bend[:, left] + d * twist[:, left]))


def approach(settings, log_s2, log_g, step: float, evaluations: np.ndarray):
    """(log s2, log g) near the solutions of a curve, from the cold start (log_s2, log_g); None where it does not serve.

    It serves perfect or discrete pretraining from start 0 with targets of mean 0, one noise and one ridge.
    ``evaluations`` is counted up in place.
    """
    mixture, alpha, noise, ridge = settings
    if len(alpha) < _LEAST or any(len(field) > 1 for field in mixture):
        return None
    if mixture.a.any() or mixture.start.any() or (noise != noise[0]).any() or (ridge != ridge[0]).any():
        return None
    order = alpha.argsort(kind="stable")
    some = order[np.linspace(0, len(order) - 1, len(order) // _SHARE + 2).astype(int)]
    at = np.log(alpha[some])
    if not (np.diff(at) > 0.0).all():
        return None
    coarse, every = (_Curve(mixture, values, noise[0], ridge[0]) for values in (alpha[some], alpha))
    used = np.zeros(len(some), int)
    with np.errstate(all="ignore"):
        found = _iterate(coarse, np.stack([log_s2[some], log_g[some]]), _ROUGH * step, 0.1, _STEPS, used)
        evaluations[some] += used
        if found is None:
            return None
        x = _cubic(at, *found, every.log_alpha)
        found = _iterate(every, x, _FIRST * step, np.inf, 1, evaluations)
        found = _iterate(every, found[0], step, 1e-6, 4, evaluations)
    return None if found is None else found[0]
