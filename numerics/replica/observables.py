"""What can be read off the scalar channel once (s2, g) is known (THEORY sections 4 and 6).

Every quantity is an expectation of ``mass * f(xhat)`` over the channel, one row per component; the potential, its
derivative and the sensitivity S come from the generated kernels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numerics.kernels import channel_moments, channel_observables, sensitivity
from numerics.law import GROUPS
from numerics.replica.equations import channel_rows
from numerics.replica.mixture import Mixture
from numerics.replica.quadrature import STEP, integrate_rows

__all__ = ["Observables", "observe"]


class Observables(NamedTuple):
    """Arrays of shape (settings,), and (settings, groups) for the error by group."""

    error: np.ndarray
    group_error: np.ndarray
    forgetting: np.ndarray
    ell_order: np.ndarray
    pd: np.ndarray
    dof: np.ndarray


def observe(mixture: Mixture, c, lam, gamma, s2: np.ndarray, g: np.ndarray, step: float = STEP) -> Observables:
    """Observables of the learned solution at (s2, g).

    ``c``, ``lam``, ``gamma`` broadcast against (settings, 1) and s2, g have shape (settings,). A channel without noise
    is read at a noise too small to matter; an infinite s2 gives NaN.
    """
    finite = np.isfinite(s2)
    floor = 1e-26 * mixture.second_moment
    seen = _observe(mixture, c, lam, gamma, np.where(finite, np.maximum(s2, floor), 1.0), g, step)
    if finite.all():
        return seen
    return Observables(*(np.where(finite if f.ndim == 1 else finite[:, None], f, np.nan) for f in seen))


def _observe(mixture, c, lam, gamma, s2, g, step) -> Observables:
    rows, shape = channel_rows(mixture, s2, g)
    _, error, dof, *_ = integrate_rows(channel_moments, *rows, step=step).reshape(-1, *shape)
    extra = [
        np.ascontiguousarray(np.broadcast_to(field, shape)).reshape(-1)
        for field in (mixture.pt_mean - mixture.a, mixture.pt_var, mixture.pt_cov)
    ]
    values = integrate_rows(channel_observables, *rows, step=step, extra=extra).reshape(-1, *shape)
    potential, slope, forgetting = values
    weight = np.broadcast_to(mixture.weight, shape)
    share = np.asarray(sensitivity(mixture.learned_pt, c, lam, gamma))
    total = np.sum(weight * potential, axis=-1)
    by_group = [_conditional(weight, error, mixture.group == index) for index in range(len(GROUPS))]
    return Observables(
        error=np.sum(weight * error, axis=-1),
        group_error=np.stack(by_group, axis=-1),
        forgetting=np.sum(weight * forgetting, axis=-1),
        # means of values in these ranges, which rounding may leave by an ulp
        ell_order=np.clip(np.sum(weight * slope, axis=-1) / total, 1.0, 2.0),
        pd=np.clip(np.sum(weight * (potential - slope) * share, axis=-1) / total, -1.0, 0.0),
        dof=np.sum(weight * dof, axis=-1),
    )


def _conditional(weight: np.ndarray, value: np.ndarray, member: np.ndarray) -> np.ndarray:
    """Mean of ``value`` over the components of a group; NaN where the group is empty."""
    weight = weight * member
    total = weight.sum(axis=-1)
    return np.where(total > 0.0, np.sum(weight * value, axis=-1) / np.where(total > 0.0, total, 1.0), np.nan)
