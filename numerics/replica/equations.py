"""The two saddle-point equations and their Jacobian, for many settings at once (THEORY section 6).

    F1 = log s2 - log[(noise + E (xhat - x)^2) / alpha],        F2 = E[1/(1 + g q'')] + ridge/g - alpha  (scaled)

in the unknowns (log s2, log g). Every expectation comes from generated kernels: even components (a = start = 0) from
shared tables, the others from the channel integrands on nodes of their own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numerics.kernels import channel_moments
from numerics.kernels.channel_table import combine
from numerics.replica.mixture import Mixture
from numerics.replica.quadrature import STEP, integrate_rows, invert
from numerics.replica.tables import covered, even_sums

__all__ = ["Linearisation", "Moments", "Settings", "channel_rows", "linearise", "moments"]


class Moments(NamedTuple):
    """Expectations over the scalar channel, each of shape (settings,), and derivatives in (log g, log s2)."""

    error: np.ndarray
    dof: np.ndarray
    slack: np.ndarray
    error_g: np.ndarray
    error_s2: np.ndarray
    dof_g: np.ndarray
    dof_s2: np.ndarray


def channel_rows(mixture: Mixture, s2: np.ndarray, g: np.ndarray) -> tuple[tuple[np.ndarray, ...], tuple[int, int]]:
    """Flatten (settings, components) to rows ``(u0, a, start, c, g, s2, tau2)`` with the centre u0 of each."""
    fields = np.broadcast_arrays(mixture.a, mixture.start, mixture.c, g[:, None], s2[:, None], mixture.tau2)
    a, start, c, g_row, s2_row, tau2 = (np.ascontiguousarray(field).reshape(-1) for field in fields)
    half_g = 0.5 * g_row
    shifted = a + half_g * start
    u0 = invert(shifted, half_g, c) if shifted.any() else np.zeros_like(a)
    return (u0, a, start, c, g_row, s2_row, tau2), fields[0].shape


def moments(mixture: Mixture, s2: np.ndarray, g: np.ndarray, step: float = STEP) -> Moments:
    """Channel expectations at (s2, g), arrays of shape (settings,); see :class:`Moments`."""
    tau2, c = mixture.tau2.T, mixture.c.T  # (components, settings): what varies most comes last
    root = np.sqrt(tau2 + s2)
    p, q = c / root, 0.5 * g / root
    even = covered(p, q)
    if mixture.a.any() or mixture.start.any():
        even = even & ((mixture.a == 0.0) & (mixture.start == 0.0)).T
    if even.all():
        sums = even_sums(p.reshape(-1), q.reshape(-1), step)
        values = combine(sums.reshape(-1, *p.shape), p, q, s2, tau2)
    else:
        values = _by_kind(mixture, s2, g, p, q, even, step)
    weight = mixture.weight.T
    return Moments(*(np.add.reduce(value * weight, 0) for value in values))


def _by_kind(mixture, s2, g, p, q, even, step) -> np.ndarray:
    """The moments, shape (moments, components, settings), where some rows need nodes of their own."""
    rows, shape = channel_rows(mixture, s2, g)
    even = np.broadcast_to(even, p.shape).T.reshape(-1)
    other = [field[~even] for field in rows]
    _, error, dof, slack, error_g, error_s2, dof_g, dof_s2 = integrate_rows(channel_moments, *other, step=step)
    g_row, s2_row = other[4], other[5]
    values = np.empty((len(Moments._fields), len(even)))
    values[:, ~even] = error, dof, slack, g_row * error_g, s2_row * error_s2, g_row * dof_g, s2_row * dof_s2
    if even.any():
        own = [field.T.reshape(-1)[even] for field in (p, q)]
        values[:, even] = combine(even_sums(*own, step), *own, rows[5][even], rows[6][even])
    return values.reshape(-1, *shape).transpose(0, 2, 1)


class Settings(NamedTuple):
    """Problems to solve, each array of shape (settings,)."""

    mixture: Mixture
    alpha: np.ndarray
    noise: np.ndarray
    ridge: np.ndarray

    def take(self, keep: np.ndarray) -> Settings:
        mixture = Mixture(*(field[keep] if len(field) > 1 else field for field in self.mixture))
        return Settings(mixture, self.alpha[keep], self.noise[keep], self.ridge[keep])


class Linearisation(NamedTuple):
    """Residuals F1 (power), F2 (constraint) and their derivatives in (log s2, log g)."""

    f1: np.ndarray
    f2: np.ndarray
    f1_s: np.ndarray
    f1_g: np.ndarray
    f2_s: np.ndarray
    f2_g: np.ndarray
    scale: np.ndarray
    error: np.ndarray

    @property
    def residual(self) -> np.ndarray:
        return np.maximum(np.abs(self.f1), np.abs(self.f2))


def linearise(settings: Settings, log_s2: np.ndarray, log_g: np.ndarray, step: float) -> Linearisation:
    """Both equations and their Jacobian at (log s2, log g)."""
    s2, g = np.exp(log_s2), np.exp(log_g)
    m = moments(settings.mixture, s2, g, step)
    power = settings.noise + m.error
    pull = settings.ridge / g
    # the constraint is written with dof or with 1 - dof, whichever is the smaller number
    by_slack = (settings.alpha > 0.5) & (settings.alpha < 1.0)
    excess = np.where(by_slack, (1.0 - settings.alpha) - (m.slack - pull), (m.dof + pull) - settings.alpha)
    scale = np.where(by_slack, np.minimum(1.0 - settings.alpha, settings.alpha), settings.alpha)
    scale = np.maximum(scale, 1e-300)
    return Linearisation(
        f1=log_s2 - np.log(power / settings.alpha),
        f2=excess / scale,
        f1_s=1.0 - m.error_s2 / power,
        f1_g=-m.error_g / power,
        f2_s=m.dof_s2 / scale,
        f2_g=(m.dof_g - pull) / scale,
        scale=scale,
        error=m.error,
    )
