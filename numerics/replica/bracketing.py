"""The saddle point by nested bracketing: slower than Newton, but it cannot miss.

Written in s = sqrt(s2) and b = s/g, the equations are the stationarity of a functional Phi(s, b) that is convex in s
and concave in b (the scalar reduction of the convex Gaussian min-max theorem; derivation ``replica``):

    (2/b) dPhi/ds = alpha - P/s2,    (2/s) dPhi/db = P/s2 + alpha - 2 (dof + ridge/g),    P = noise + E (xhat-x)^2

At fixed s the second falls with b (so it rises with g) and has at most one root; on that curve the first rises with s.
Both are therefore safe to bracket, whatever the law, the start or the scales.
"""

from __future__ import annotations

import numpy as np

from numerics.replica.equations import Settings, linearise

__all__ = ["nested"]

_OUTER, _INNER = 120, 90
#: g is searched within these factors of s (in logarithm); beyond them the channel is the identity or constant.
_REACH = 400.0


def nested(settings: Settings, log_s2: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray, int]:
    """Solve every setting by a bracketed Newton iteration inside a bracketed Newton iteration.

    Parameters
    ----------
    settings : Settings
    log_s2 : ndarray, shape (settings,)
        Where to start; any value will do.
    step : float
        Trapezoidal step.

    Returns
    -------
    log_s2, log_g : ndarray, shape (settings,)
    evaluations : int
    """
    log_s2, log_g = log_s2.copy(), 0.5 * log_s2
    low, high = log_s2 - 800.0, log_s2 + 60.0
    # without ridge (hence alpha < 1) the functional has no maximum in b below s2 = noise/(1 - alpha)
    bounded = (settings.ridge == 0.0) & (settings.noise > 0.0)
    least = np.log(np.where(bounded, settings.noise / np.where(bounded, 1.0 - settings.alpha, 1.0), 1.0))
    low = np.where(bounded, np.maximum(low, least), low)
    log_s2 = np.clip(log_s2, low, high)
    used = 0
    for _ in range(_OUTER):
        log_g, lin, count = _inner(settings, log_s2, log_g, step)
        used += count
        if np.all((np.abs(lin.f1) < 1e-10) | (high - low < 1e-14 * np.maximum(1.0, np.abs(log_s2)))):
            break
        low, high = np.where(lin.f1 < 0.0, log_s2, low), np.where(lin.f1 > 0.0, log_s2, high)
        _, rise_s, rise_g = _in_b(settings, lin)
        along = lin.f1_s - lin.f1_g * rise_s / np.where(rise_g > 0.0, rise_g, np.inf)
        log_s2 = _step(log_s2, lin.f1, along, low, high)
    return log_s2, log_g, used


def _in_b(settings: Settings, lin) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(2/s) dPhi/db and its derivatives in (log s2, log g), from the two residuals."""
    ratio = settings.alpha * np.exp(-np.clip(lin.f1, -700.0, 700.0))
    value = ratio - settings.alpha - 2.0 * lin.scale * lin.f2
    return value, -ratio * lin.f1_s - 2.0 * lin.scale * lin.f2_s, -ratio * lin.f1_g - 2.0 * lin.scale * lin.f2_g


def _inner(settings: Settings, log_s2: np.ndarray, log_g: np.ndarray, step: float):
    """Root in log g at fixed s2."""
    low, high = 0.5 * log_s2 - _REACH, 0.5 * log_s2 + _REACH
    log_g = np.clip(log_g, low, high)
    count = 0
    while count < _INNER:
        count += 1
        lin = linearise(settings, log_s2, log_g, step)
        value, _, rise = _in_b(settings, lin)
        size = settings.alpha * np.exp(-np.clip(lin.f1, -700.0, 700.0)) + settings.alpha
        if np.all((np.abs(value) < 1e-12 * size) | (high - low < 1e-14 * np.maximum(1.0, np.abs(log_g)))):
            break
        low, high = np.where(value < 0.0, log_g, low), np.where(value > 0.0, log_g, high)
        log_g = _step(log_g, value, rise, low, high)
    return log_g, lin, count


def _step(point, value, rise, low, high) -> np.ndarray:
    """Newton where it stays inside the bracket (moving at most 8), else the middle."""
    move = np.where(rise > 0.0, -value / np.where(rise > 0.0, rise, 1.0), np.where(value > 0.0, -8.0, 8.0))
    goal = point + np.clip(move, -8.0, 8.0)
    return np.where((goal > low) & (goal < high), goal, 0.5 * (low + high))
