"""The law that one coordinate of the fine-tuning problem sees, as a finite Gaussian mixture.

A component fixes what pretraining left in the coordinate (hence its scale ``c_FT``) and keeps the target Gaussian:
``beta*_FT ~ N(a, tau2)``. Continuous pretraining results (Gaussian slabs, imperfect pretraining) become components by
the same trapezoidal rule in the mirror variable that the channel itself uses, so nothing below distinguishes the cases.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numerics.kernels import (
    c_ft,
    channel_mass_sensitivities,
    channel_moments,
    channel_offset,
    dual_map,
    potential_derivative,
)
from numerics.law import Law
from numerics.replica.quadrature import STEP, invert, row_nodes
from numerics.task import Initialization

__all__ = ["ORACLE", "Imprint", "Mixture", "Pretraining", "build", "imprint", "imprint_tangent", "with_scales"]


class Pretraining(NamedTuple):
    """Scalar channel of the pretraining stage: ``B = prox(beta*_PT + sqrt(s2) Z; g, c_PT)``; zeros are the oracle."""

    s2: float
    g: float


ORACLE = Pretraining(0.0, 0.0)


class Mixture(NamedTuple):
    """Components along the last axis; every field broadcasts against shape (settings, components).

    ``pt_mean``, ``pt_var`` and ``pt_cov`` are mean and variance of ``beta*_PT`` given the component and its covariance
    with ``beta*_FT``; ``learned_pt`` is the pretrained weight B; ``start`` the mirror coordinate of the initial value.
    """

    weight: np.ndarray
    a: np.ndarray
    tau2: np.ndarray
    c: np.ndarray
    start: np.ndarray
    group: np.ndarray
    pt_mean: np.ndarray
    pt_var: np.ndarray
    pt_cov: np.ndarray
    learned_pt: np.ndarray

    @property
    def second_moment(self) -> np.ndarray:
        """E beta*_FT^2, shape (settings,)."""
        return np.sum(self.weight * (self.a**2 + self.tau2), axis=-1)


class Imprint(NamedTuple):
    """What pretraining left, before the scales of fine-tuning are known; fields of shape (components,)."""

    weight: np.ndarray
    learned_pt: np.ndarray
    pt_mean: np.ndarray
    pt_var: np.ndarray
    slope: np.ndarray
    offset: np.ndarray
    ft_var: np.ndarray
    group: np.ndarray


def imprint(law: Law, c: float, pretraining: Pretraining = ORACLE, start: float = 0.0, step: float = STEP) -> Imprint:
    """Components of the law after pretraining from ``c`` (irrelevant for perfect pretraining of discrete laws)."""
    law = _canonical(law)
    fixed = law.pt_var + pretraining.s2 == 0.0
    parts = [_points(law, np.flatnonzero(fixed))] if fixed.any() else []
    parts += [_channel(law, int(row), c, pretraining, start, step) for row in np.flatnonzero(~fixed)]
    return Imprint(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def with_scales(imprint: Imprint, c, lam, gamma, start: float = 0.0) -> Mixture:
    """The mixture for scales of shape (settings, 1) or scalars."""
    scale = np.atleast_2d(c_ft(imprint.learned_pt, c, lam, gamma))
    mixture = Mixture(
        weight=imprint.weight,
        a=imprint.offset + imprint.slope * imprint.pt_mean,
        tau2=imprint.ft_var + imprint.slope**2 * imprint.pt_var,
        c=scale,
        start=2.0 * potential_derivative(start * imprint.learned_pt, scale),
        group=imprint.group,
        pt_mean=imprint.pt_mean,
        pt_var=imprint.pt_var,
        pt_cov=imprint.slope * imprint.pt_var,
        learned_pt=imprint.learned_pt,
    )
    return Mixture(*(np.atleast_2d(field) for field in mixture))


def build(
    law: Law,
    init: Initialization,
    pretraining: Pretraining = ORACLE,
    start: float = 0.0,
    step: float = STEP,
) -> Mixture:
    """Components of the fine-tuning problem after pretraining.

    Parameters
    ----------
    law : Law
        Joint law of (beta*_PT, beta*_FT) of one coordinate.
    init : Initialization
    pretraining : Pretraining
        Channel of the first stage; the default is perfect ("oracle") pretraining.
    start : float
        Fine-tuning starts at ``start * B`` instead of 0 (the Bregman centre).
    step : float
        Trapezoidal step in the mirror variable of the pretrained weight.

    Returns
    -------
    Mixture
        With fields of shape (1, components).

    Source: THEORY section 6 (imperfect pretraining as a scalar channel).
    """
    return with_scales(imprint(law, init.c, pretraining, start, step), init.c, init.lam, init.gamma, start)


def _canonical(law: Law) -> Law:
    """Flip (beta_PT, beta_FT) jointly where that makes the target's mean, then the pretrained mean, non-negative."""
    target = law.offset + law.slope * law.pt_mean
    sign = np.where(target != 0.0, np.sign(target), np.where(law.pt_mean < 0.0, -1.0, 1.0))
    law = law._replace(pt_mean=sign * law.pt_mean, offset=sign * law.offset)
    rows, index = np.unique(np.stack(law[1:]), axis=1, return_inverse=True)
    weight = np.bincount(index.ravel(), law.weight)
    return Law(weight, *rows[:5], rows[5].astype(int))


def _points(law: Law, rows: np.ndarray) -> tuple[np.ndarray, ...]:
    """Atoms that pretraining reproduces exactly."""
    weight, pt_mean, *rest = (field[rows] for field in law)
    return weight, pt_mean, pt_mean, *rest


class _Spread(NamedTuple):
    """One atom over the pretrained weight B = c sinh v, with z(v) = c sinh v + (g/2) v Gaussian."""

    v: np.ndarray
    zeta: np.ndarray
    variance: float
    weight: np.ndarray
    at: tuple


def _spread(law: Law, row: int, c: float, pretraining: Pretraining, start: float, step: float) -> _Spread:
    _, pt_mean, pt_var, slope, offset, _, _ = (field[row] for field in law)
    one, half_g = np.ones(1), np.array([0.5 * pretraining.g])
    variance = pt_var + pretraining.s2
    centre = invert(pt_mean * one, half_g, c * one)
    # B -> -B changes nothing when the whole atom flips with it, or when the target does not look at B's sign
    blind = slope == 0.0 and pt_var == 0.0 and start == 0.0
    even = np.array([pt_mean == 0.0 and (offset == 0.0 or blind)])
    (nodes,) = row_nodes(centre, pt_mean * one, 0.0 * one, half_g, c * one, variance * one, even, step)
    delta = nodes.delta[0]
    at = (delta, centre, 0.0, c, pretraining.g, pretraining.s2, pt_var)
    zeta = channel_offset(delta, centre, c, pretraining.g)
    return _Spread(centre + delta, zeta, variance, law.weight[row] * nodes.weight[0], at)


def _channel(law: Law, row: int, c: float, pretraining: Pretraining, start: float, step: float):
    """Fields of :class:`Imprint` for one atom."""
    _, pt_mean, pt_var, slope, offset, ft_var, group = (field[row] for field in law)
    nodes = _spread(law, row, c, pretraining, start, step)
    gain, full = pt_var / nodes.variance, np.ones_like(nodes.v)
    return (
        nodes.weight * channel_moments(*nodes.at)[0],
        dual_map(0.5 * nodes.v, c),
        pt_mean + gain * nodes.zeta,
        gain * pretraining.s2 * full,
        slope * full,
        offset * full,
        ft_var * full,
        np.full(len(nodes.v), group),
    )


class ImprintTangent(NamedTuple):
    """Derivatives of an imprint in (c, g, s2) of pretraining; fields of shape (3, components)."""

    weight: np.ndarray
    learned_pt: np.ndarray
    pt_mean: np.ndarray
    pt_var: np.ndarray


def imprint_tangent(law: Law, c: float, pretraining: Pretraining, start: float, step: float) -> ImprintTangent:
    """Derivatives of :func:`imprint` (same arguments) at fixed nodes v; zero where pretraining is exact."""
    law = _canonical(law)
    fixed = law.pt_var + pretraining.s2 == 0.0
    parts = [ImprintTangent(*(np.zeros((3, int(fixed.sum()))) for _ in range(4)))] if fixed.any() else []
    for row in np.flatnonzero(~fixed):
        nodes = _spread(law, int(row), c, pretraining, start, step)
        gain, zero = law.pt_var[row] / nodes.variance, np.zeros_like(nodes.v)
        rise = dual_map(0.5 * nodes.v, 1.0)  # d(c sinh v)/dc
        weight = nodes.weight * np.stack(channel_mass_sensitivities(*nodes.at))
        pt_mean = np.stack([gain * rise, 0.5 * gain * nodes.v, -gain / nodes.variance * nodes.zeta])
        pt_var = np.stack([zero, zero, gain**2 + zero])
        parts.append(ImprintTangent(weight, np.stack([rise, zero, zero]), pt_mean, pt_var))
    return ImprintTangent(*(np.concatenate(column, axis=1) for column in zip(*parts, strict=True)))
