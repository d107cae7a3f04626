"""Exact derivatives of the predicted error, by the implicit function theorem (derivation ``sensitivity``).

At the solution ``F(log s2, log g; p) = 0``, a parameter p moves the two integrals at fixed (s2, g); the Jacobian that
the solver used turns that into the motion of the solution. Parameters act through the components' weights, scales,
means, variances and starts (a `Tangent`), and for imperfect pretraining through its own saddle point as well.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numerics.kernels import c_ft_sensitivities, channel_moments, channel_sensitivities, potential_second_derivative
from numerics.law import conditional_law, group_probabilities
from numerics.replica.equations import Settings, channel_rows, linearise
from numerics.replica.mixture import Mixture, Pretraining, build, imprint, imprint_tangent
from numerics.replica.pretraining import pretraining_mixture
from numerics.replica.quadrature import STEP, integrate_rows
from numerics.task import Initialization, Task

__all__ = ["PARAMETERS", "error_gradient"]

#: What the error is differentiated in.
PARAMETERS = (
    "alpha", "c", "lam", "gamma", "noise", "ridge", "rho_pt", "rho_shared", "rho_new", "alpha_pt", "noise_pt",
)  # fmt: skip
_RHO = ("rho_pt", "rho_shared", "rho_new")


class Tangent(NamedTuple):
    """Derivatives of a mixture's fields in one parameter; each broadcasts against (settings, components)."""

    weight: np.ndarray | float = 0.0
    c: np.ndarray | float = 0.0
    a: np.ndarray | float = 0.0
    tau2: np.ndarray | float = 0.0
    start: np.ndarray | float = 0.0


class _Channel:
    """Channel integrals by component at one solution, and what a tangent does to their sums."""

    def __init__(self, mixture: Mixture, s2: np.ndarray, g: np.ndarray, step: float):
        rows, shape = channel_rows(mixture, s2, g)
        _, self.error, self.dof, *_ = integrate_rows(channel_moments, *rows, step=step).reshape(-1, *shape)
        slopes = integrate_rows(channel_sensitivities, *rows, step=step).reshape(2, 4, *shape)
        self.slopes, self.weight = slopes, mixture.weight

    def move(self, tangent: Tangent) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives of E error and E dof at fixed (s2, g), each of shape (settings,)."""
        moved = []
        for value, by in zip((self.error, self.dof), self.slopes, strict=True):
            inside = sum(slope * part for slope, part in zip(by, tangent[1:], strict=True))
            moved.append(np.sum(tangent.weight * value + self.weight * inside, axis=-1))
        return tuple(moved)


def error_gradient(
    task: Task,
    init: Initialization,
    alpha: np.ndarray,
    s2: np.ndarray,
    g: np.ndarray,
    *,
    noise: float,
    ridge: float,
    pretraining: Pretraining,
    alpha_pt: float | None,
    noise_pt: float,
    start: float = 0.0,
    step: float = STEP,
) -> dict[str, np.ndarray]:
    """Derivatives of the error in every parameter of :data:`PARAMETERS`, each of shape (N,).

    Arguments are those of ``generalization_curve`` with its solution (s2, g) at ``alpha``; they are not checked again.
    Where the data determine the solution (``alpha >= 1`` without ridge) only alpha and noise matter. NaN stands for a
    parameter that the task does not have (densities of a task made from samples; perfect pretraining's alpha_pt).
    A default fine-tuning slab N(0, 1/rho_ft) follows the densities.
    """
    gradient = {name: np.zeros_like(alpha) for name in PARAMETERS}
    free = (alpha < 1.0) | (ridge > 0.0)
    if free.any():
        found = _free_gradient(
            task, init, alpha[free], s2[free], g[free], noise, ridge, pretraining, alpha_pt, noise_pt, start, step
        )
        for name, value in found.items():
            gradient[name][free] = value
    above = ~free & (alpha > 1.0)
    gradient["alpha"][above] = -s2[above] / (alpha[above] - 1.0)  # s2 = noise/(alpha - 1)
    gradient["noise"][above] = 1.0 / (alpha[above] - 1.0)
    if task.samples is not None:
        gradient |= {name: np.full_like(alpha, np.nan) for name in _RHO}
    if alpha_pt is None:
        gradient |= {name: np.full_like(alpha, np.nan) for name in ("alpha_pt", "noise_pt")}
    return gradient


def _free_gradient(task, init, alpha, s2, g, noise, ridge, pretraining, alpha_pt, noise_pt, start, step):
    law = task.law if task.samples is not None else conditional_law(task)
    channel_mixture = build(law, init, pretraining, start, step)
    weighted = channel_mixture
    if task.samples is None:
        probability, by_rho = group_probabilities(task)
        weighted = channel_mixture._replace(weight=channel_mixture.weight * probability[channel_mixture.group])
    settings = Settings(weighted, alpha, np.full_like(alpha, noise), np.full_like(alpha, ridge))
    lin = linearise(settings, np.log(s2), np.log(g), step)
    channel = _Channel(weighted, s2, g, step)
    still = np.zeros_like(alpha)

    def implied(error=still, dof=still, d_alpha=0.0, d_noise=0.0, d_ridge=0.0) -> np.ndarray:
        """Motion of the error when the parameter moves the integrals and the equations' own constants."""
        log_s2, _ = _motion(lin, alpha, noise, d_noise + error, dof + d_ridge / g, d_alpha)
        return alpha * s2 * log_s2 + d_alpha * s2 - d_noise

    gradient = {
        "alpha": implied(d_alpha=1.0),
        "noise": implied(d_noise=1.0),
        "ridge": implied(d_ridge=1.0),
    }
    by_stage = _PretrainingMotion(task, law, init.c, pretraining, alpha_pt, noise_pt, start, step)
    for name in ("c", "lam", "gamma", "alpha_pt", "noise_pt"):
        gradient[name] = implied(*channel.move(by_stage.tangent(weighted, init, name, start)))
    if task.samples is None:
        for row, name in enumerate(_RHO):
            tangent = by_stage.tangent(weighted, init, name, start)
            weight = tangent.weight + channel_mixture.weight * by_rho[row][channel_mixture.group]
            tangent = tangent._replace(weight=weight)
            if task.ft_slab_follows_rho:
                fall = -_density_slope(task)[row] / task.rho_ft  # d log(1/rho_ft)
                tangent = tangent._replace(
                    a=tangent.a + 0.5 * fall * weighted.a, tau2=tangent.tau2 + fall * weighted.tau2
                )
            gradient[name] = implied(*channel.move(tangent))
    return gradient


def _motion(lin, alpha, noise, d_power, d_constraint, d_alpha) -> tuple[np.ndarray, np.ndarray]:
    """(d log s2, d log g) when a parameter moves power, constraint and alpha at fixed (s2, g): J x' = -F_p."""
    f1 = d_alpha / alpha - d_power / (noise + lin.error)
    f2 = (d_constraint - d_alpha) / lin.scale
    determinant = lin.f1_s * lin.f2_g - lin.f1_g * lin.f2_s
    return (lin.f1_g * f2 - lin.f2_g * f1) / determinant, (lin.f2_s * f1 - lin.f1_s * f2) / determinant


def _density_slope(task: Task) -> tuple[float, float, float]:
    """Derivatives of rho_ft in (rho_pt, rho_shared, rho_new)."""
    return task.rho_shared - task.rho_new, task.rho_pt, 1.0 - task.rho_pt


class _PretrainingMotion:
    """How the components move with the parameters, directly and through the pretraining channel."""

    def __init__(self, task, law, c, pretraining, alpha_pt, noise_pt, start, step):
        self.left = imprint(law, c, pretraining, start, step)
        self.by_channel = imprint_tangent(law, c, pretraining, start, step)
        self.conditional = task.samples is None
        self.probability = group_probabilities(task)[0] if self.conditional else None
        self.channel = _channel_motion(task, law, c, pretraining, alpha_pt, noise_pt, step)

    def tangent(self, mixture: Mixture, init: Initialization, name: str, start: float) -> Tangent:
        """Tangent of the fine-tuning mixture along parameter ``name``."""
        direction = np.array([1.0 if name == "c" else 0.0, *self.channel.get(name, (0.0, 0.0))])
        weight, learned, pt_mean, pt_var = (direction @ field for field in self.by_channel)
        if self.conditional:
            weight = weight * self.probability[self.left.group]
        by_beta, *by_scale = c_ft_sensitivities(self.left.learned_pt, init.c, init.lam, init.gamma)
        scale = by_beta * learned
        if name in ("c", "lam", "gamma"):
            scale = scale + by_scale[("c", "lam", "gamma").index(name)]
        rest = self.left.learned_pt
        curvature = potential_second_derivative(start * rest, mixture.c)
        return Tangent(
            weight=weight,
            c=scale,
            a=self.left.slope * pt_mean,
            tau2=self.left.slope**2 * pt_var,
            start=2.0 * curvature * start * (learned - rest / mixture.c * scale),
        )


def _channel_motion(task, law, c, pretraining, alpha_pt, noise_pt, step) -> dict[str, tuple[float, float]]:
    """(dg, ds2) of the pretraining channel along each parameter it depends on."""
    if alpha_pt is None or pretraining.s2 == 0.0:
        return {}
    if alpha_pt > 1.0:
        return {"alpha_pt": (0.0, -pretraining.s2 / (alpha_pt - 1.0)), "noise_pt": (0.0, 1.0 / (alpha_pt - 1.0))}
    mixture = pretraining_mixture(law, c)
    share = np.array([1.0 - task.rho_pt, task.rho_pt])
    conditional = np.bincount(mixture.group[0], mixture.weight[0], 2)[mixture.group]
    slope = np.array([-1.0, 1.0])[mixture.group] * mixture.weight / conditional
    if task.samples is None:
        mixture = mixture._replace(weight=share[mixture.group] * mixture.weight / conditional)
    alpha, s2, g = (np.array([v]) for v in (alpha_pt, pretraining.s2, pretraining.g))
    lin = linearise(Settings(mixture, alpha, np.array([noise_pt]), np.zeros(1)), np.log(s2), np.log(g), step)
    channel = _Channel(mixture, s2, g, step)

    def implied(error=0.0, dof=0.0, d_alpha=0.0, d_noise=0.0) -> tuple[float, float]:
        log_s2, log_g = _motion(lin, alpha, noise_pt, d_noise + error, dof, d_alpha)
        return float(g[0] * log_g[0]), float(s2[0] * log_s2[0])

    motion = {
        "c": implied(*channel.move(Tangent(c=1.0))),
        "alpha_pt": implied(d_alpha=1.0),
        "noise_pt": implied(d_noise=1.0),
    }
    if task.samples is None:
        motion["rho_pt"] = implied(*channel.move(Tangent(weight=slope)))
    return motion
