"""Where to start on a curve: a few of its points from scratch, the others by interpolation.

The solution is a smooth function of log(alpha/(1 - alpha)), of log alpha with ridge, and its slope is known (implicit
function theorem), so a cubic through some solved points is close to all. Only speed depends on it: whatever start comes
out, the saddle point is unique and every point is iterated to its own residual.
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
_STEPS, _POLISH, _CLIP = 16, 4, 3.0
#: A Newton step after which a coarse point is as good as the interpolation, and one after which nothing would change.
_NEARLY, _SETTLED = 0.3, 4e-6


class _Curve:
    """Settings that differ in alpha alone, all of even components: both equations in logarithms, in few calls."""

    def __init__(self, mixture, alpha, noise, ridge):
        self.c, self.tau2, weight = (f[0][:, None] for f in (mixture.c, mixture.tau2, mixture.weight))
        self.alpha, self.log_alpha, self.noise, self.ridge = alpha, np.log(alpha), noise, ridge
        self.weights = np.empty((4, len(weight), len(alpha)))
        self.weights[0], self.weights[3] = weight, weight * self.tau2
        self.scales = np.empty((2, len(weight), len(alpha)))

    def newton(self, x: np.ndarray, step: float) -> np.ndarray:
        """Newton step at x = (log s2, log g), limited; shape (2, settings)."""
        s2, g = np.exp(x)
        variance = self.tau2 + s2
        scales, weights = self.scales, self.weights
        scales[0], scales[1] = self.c, 0.5 * g
        scales /= np.sqrt(variance)
        np.divide(weights[3], variance, out=weights[1])
        np.divide(weights[0], variance, out=weights[2])
        weights[2] *= s2
        sums = even_sums(*scales.reshape(2, -1), step).reshape(-1, *variance.shape)
        error, dof, _, error_g, error_s2, dof_g, dof_s2 = average(sums, np.log(scales), s2, weights)
        power, total = self.noise + error, dof
        if self.ridge:
            pull = self.ridge / g
            total, dof_g = dof + pull, dof_g - pull
        f1, f2 = x[0] - np.log(power) + self.log_alpha, np.log(total) - self.log_alpha
        f2_s, f2_g = dof_s2 / total, dof_g / total
        # along the second equation's curve the first rises with s2; a flat stretch only says the direction
        ratio = error_g / -power / f2_g
        rise = np.maximum(1.0 - error_s2 / power - ratio * f2_s, 0.01)
        self.jacobian = ratio, rise, f2_s, f2_g
        move = np.empty_like(x)
        move[0] = (ratio * f2 - f1) / rise
        np.minimum(np.maximum(move[0], -_CLIP, out=move[0]), _CLIP, out=move[0])
        move[1] = (f2_s * move[0] + f2) / -f2_g
        np.minimum(np.maximum(move[1], -1.5 * _CLIP, out=move[1]), 1.5 * _CLIP, out=move[1])
        return move

    def slope(self) -> np.ndarray:
        """dx/d log alpha where the last Newton step was taken (exact at a solution)."""
        ratio, rise, f2_s, f2_g = self.jacobian
        by_s2 = (ratio + 1.0) / -rise
        return np.stack([by_s2, (1.0 - f2_s * by_s2) / f2_g])


def _iterate(curve: _Curve, x: np.ndarray, step: float, until: float, most: int, evaluations: np.ndarray):
    """Newton until the largest step is below ``until``, at most ``most`` times: (x, whether it is)."""
    for _ in range(most):
        move = curve.newton(x, step)
        evaluations += 1
        x = x + move
        if np.abs(move).max() < until:
            return x, True
    return x, False


def _cubic(at, values, slopes, t) -> np.ndarray:
    """The cubic Hermite interpolant of ``values`` with ``slopes`` at the increasing points ``at``."""
    left = np.minimum(at.searchsorted(t, "right") - 1, len(at) - 2)
    width = at[1:] - at[:-1]
    rise = (values[:, 1:] - values[:, :-1]) / width
    bend = (3.0 * rise - 2.0 * slopes[:, :-1] - slopes[:, 1:]) / width
    twist = (slopes[:, :-1] + slopes[:, 1:] - 2.0 * rise) / width**2
    d = t - at[left]
    return values[:, left] + d * (slopes[:, left] + d * (bend[:, left] + d * twist[:, left]))


def approach(settings, log_s2, log_g, step: float, evaluations: np.ndarray):
    """(log s2, log g) near most solutions of a curve, from the cold start (log_s2, log_g); None where it cannot serve.

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
    coarse, every = (_Curve(mixture, values, noise[0], ridge[0]) for values in (alpha[some], alpha))
    # without ridge alpha = 1 is where the solution ends
    rate = 1.0 if ridge[0] else 1.0 - alpha
    place = every.log_alpha - np.log(rate)
    if not (place[some[1:]] > place[some[:-1]]).all():
        return None
    used = np.zeros(len(some), int)
    with np.errstate(all="ignore"):
        x, settled = _iterate(coarse, np.stack([log_s2[some], log_g[some]]), _ROUGH * step, _NEARLY, _STEPS, used)
        evaluations[some] += used
        if not settled:
            return None
        x = _cubic(place[some], x, coarse.slope() * (rate if ridge[0] else rate[some]), place)
        x, _ = _iterate(every, x, _FIRST * step, np.inf, 1, evaluations)
        return _iterate(every, x, step, _SETTLED, _POLISH, evaluations)[0]
