"""Imperfect pretraining: what it found is itself a scalar channel, and so is the law of c_FT (THEORY section 6).

Pretraining has homogeneous scale c, so its estimate of one coordinate is B = prox(beta*_PT + sqrt(s2_PT) Z; g_PT, c)
with (s2_PT, g_PT) from the saddle point of derivation replica at alpha_PT. Fine-tuning then sees c_FT(B).
"""

from __future__ import annotations

import sympy as sp

from derivations.fine_tuning import effective_scale
from derivations.ledger.bounds import Signs
from derivations.ledger.proof import ByLimit
from derivations.ledger.step import Derivation, Step, both, eq, ge, gt
from derivations.mirror import potential_derivative, potential_second_derivative
from derivations.symbols import (
    Z,
    alpha_pt,
    b,
    c,
    curve,
    dof,
    eps,
    est,
    force2,
    g,
    g_pt,
    gamma,
    h,
    lam,
    law,
    noise_pt,
    s2_pt,
    t,
    u,
    x,
)  # fmt: skip

_THEORY = "THEORY section 6"


def estimate(v: sp.Expr) -> sp.Expr:
    """B in the mirror variable."""
    return c * sp.sinh(v)


def observation(v: sp.Expr) -> sp.Expr:
    """z_PT = beta*_PT + sqrt(s2_PT) Z in the mirror variable."""
    return c * sp.sinh(v) + g_pt / 2 * v


def scale_in_mirror(v: sp.Expr) -> sp.Expr:
    """c_FT in the mirror variable: no root is left."""
    return 2 * c * (1 + lam) * sp.cosh(v / 2) ** 2 + gamma**2 / 2


def density(v: sp.Expr, truth: sp.Expr) -> sp.Expr:
    """Law of the mirror variable, given beta*_PT = truth."""
    normal = sp.exp(-((observation(v) - truth) ** 2) / (2 * s2_pt)) / sp.sqrt(2 * sp.pi * s2_pt)
    return normal * (c * sp.cosh(v) + g_pt / 2)


def results() -> dict[str, sp.Expr]:
    """The channel, the law of c_FT and the closed forms."""
    return {
        "pt_estimate": estimate(u),
        "pt_observation": observation(u),
        "pt_density": density(u, x),
        "c_ft_mirror": scale_in_mirror(u),
        "s2_pt_overdetermined": noise_pt / (alpha_pt - 1),
        "mse_pt_near_one": (1 - alpha_pt) * force2 / curve**2,
    }


def _law() -> list[Step]:
    distribution = (1 + sp.erf((observation(u) - x) / sp.sqrt(2 * s2_pt))) / 2
    return [
        Step(
            "independent stages",
            "assumption",
            eq(law(x, Z), law(x) * law(Z)),
            "The design and noise of the two stages are independent, so that given beta*_PT the estimate B carries a "
            "Z of its own, "
            "independent of beta*_FT: (x, c_FT) of fine-tuning has an explicit joint law.",
            _THEORY,
        ),
        Step(
            "pretraining estimate",
            "identity",
            eq(estimate(u) + g_pt * potential_derivative(estimate(u), c), observation(u)),
            "B is the proximal map of the observation: explicit in u.",
            "derivation scalar_channel",
        ),
        Step(
            "law of the mirror variable",
            "identity",
            eq(sp.Derivative(distribution, u), density(u, x)),
            "Its distribution function is that of a normal variable at z(u).",
        ),
        Step(
            "scale in the mirror variable",
            "identity",
            eq(effective_scale(estimate(u), c, lam, gamma), scale_in_mirror(u)),
            "1 + cosh u = 2 cosh(u/2)^2: the law of c_FT (and of k = 4 c_FT^2) follows from that of u without any "
            "root.",
            _THEORY,
        ),
        Step(
            "no signal is not no scale",
            "inequality",
            ge(scale_in_mirror(u), 2 * c * (1 + lam) + gamma**2 / 2),
            "Noise in B only raises c_FT above its value at beta_PT = 0.",
            proof=Signs(2 * c * (1 + lam) * sp.sinh(u / 2) ** 2),
        ),
    ]


def _overdetermined() -> list[Step]:
    plain = Step(
        "no shrinkage",
        "definition",
        both(eq(b, x + sp.sqrt(s2_pt) * Z), eq(s2_pt, noise_pt / (alpha_pt - 1))),
        "At g_PT = 0 the proximal map is the identity.",
    )
    return [
        Step(
            "more samples than dimensions: g = 0",
            "inequality",
            gt((1 + h) * g - g * dof, 0),
            "With ridge = 0 the second equation is g (alpha - dof) = 0; for alpha = 1 + h > 1 and dof <= 1 only g = "
            "0 solves it.",
            _THEORY,
            Signs(g * (1 - dof) + g * h),
        ),
        Step(
            "shrinkage vanishes",
            "limit",
            eq(sp.Limit(1 / (1 + h * potential_second_derivative(x, c)), h, 0, "+"), 1),
            "dof -> 1 as g -> 0.",
            proof=ByLimit(),
        ),
        plain,
        Step(
            "least squares",
            "identity",
            eq((noise_pt + s2_pt) / alpha_pt, noise_pt / (alpha_pt - 1)),
            "xhat = z has error s2, so s2 = (noise + s2)/alpha, hence s2 = noise/(alpha - 1), whatever the "
            "initialisation. "
            "Without noise B = beta*_PT exactly.",
            _THEORY,
            given=(plain,),
        ),
    ]


def _near_one() -> list[Step]:
    """alpha_PT -> 1 from below, noiseless: how the error vanishes."""
    leading = Step(
        "leading order",
        "definition",
        both(eq(g, h / curve), eq(s2_pt, h * force2 / curve**2)),
        "h = 1 - alpha_PT; E q'^2 and E q'' at the true coefficients.",
    )
    normal = sp.exp(-(t**2) / 2)
    error = s2_pt - 2 * g * s2_pt * curve + g**2 * force2
    return [
        Step(
            "small shrinkage",
            "limit",
            eq(sp.Limit((x - _one_newton_step()) / eps, eps, 0, "+"), potential_derivative(x, c)),
            "xhat = z - g q'(z) to first order in g.",
            proof=ByLimit(),
        ),
        Step(
            "cross term",
            "identity",
            eq(sp.Derivative(est(t) * normal, t), (sp.Derivative(est(t), t) - t * est(t)) * normal),
            "Stein: E[(z - x) q'(z)] = s2 E q''. So E(xhat - x)^2 = s2 - 2 g s2 E q'' + g^2 E q'^2 to this order, "
            "and dof = 1 - g E q''.",
            "Stein 1981",
        ),
        leading,
        Step(
            "error near alpha = 1",
            "identity",
            eq(error, (1 - h) * s2_pt),
            "The equation alpha s2 = E(xhat - x)^2 at alpha = 1 - h, with dof = alpha already used for g. So mse_PT ~ "
            "(1 - alpha_PT) E q'^2/(E q'')^2: pretraining becomes perfect continuously, slowly where q'' is small.",
            given=(leading,),
        ),
    ]


def _one_newton_step() -> sp.Expr:
    """The root of b + eps q'(b) = x after one Newton step from x: exact to first order in eps."""
    return x - eps * potential_derivative(x, c) / (1 + eps * potential_second_derivative(x, c))


def derive() -> Derivation:
    """The pretraining channel."""
    formulas = results()
    return Derivation(
        "pretraining_channel",
        "Imperfect pretraining",
        (*_law(), *_overdetermined(), *_near_one()),
        formulas["c_ft_mirror"],
        formulas,
        "The law of the fine-tuning scale after pretraining on finitely many, noisy samples.",
    )
