"""The learned solution seen through the channel: integrands of its observables, and two closed forms.

In one component of the mixture beta*_PT has mean a + pt_gap, variance pt_var and covariance pt_cov with x = beta*_FT.
"""

from __future__ import annotations

import sympy as sp

from derivations import observables
from derivations.channel import channel_offset, channel_shift, integrands
from derivations.ledger.step import Derivation, Step, eq
from derivations.mirror import dual_map, potential_derivative, potential_stable
from derivations.symbols import (
    alpha,
    c_ft,
    delta,
    g,
    mu,
    noise,
    pt_cov,
    pt_gap,
    pt_var,
    pull,
    ridge,
    s2,
    shift,
    t,
    tau2,
    u,
    u0,
    z,
    zeta,
)


def forgetting() -> sp.Expr:
    """E[(xhat - beta*_PT)^2 | z], in (zeta, d)."""
    variance = tau2 + s2
    return (shift - pt_gap - pt_cov / variance * zeta) ** 2 + pt_var - pt_cov**2 / variance


def training_error() -> sp.Expr:
    """Mean squared training residual (derivation observables) with pull = ridge/g, which also covers ridge -> 0."""
    return sp.cancel(observables.training_error().subs(ridge, pull * g))


def least_squares_s2() -> sp.Expr:
    """s2 above alpha = 1 at ridge = 0."""
    return noise / (alpha - 1)


def results() -> dict[str, sp.Expr]:
    """Integrands in (delta, u0, start, c_ft, g, s2, tau2, pt_gap, pt_var, pt_cov), and closed forms."""
    mass, learned = integrands()["channel_mass"], dual_map(u / 2, c_ft)
    inner = {
        "channel_potential": mass * potential_stable(u, c_ft),
        "channel_potential_slope": mass * learned * u / 2,
        "channel_forgetting": mass * forgetting(),
    }
    written_out = {zeta: channel_offset(), shift: channel_shift(), u: u0 + delta}
    formulas = {name: expr.subs(written_out, simultaneous=True) for name, expr in inner.items()}
    return formulas | {"training_error": training_error(), "least_squares_s2": least_squares_s2()}


def _posterior() -> list[Step]:
    """Condition beta*_PT = mu on z, jointly Gaussian; a = 0 and pt_gap = 0 without loss of generality."""
    variance = tau2 + s2
    determinant = variance * pt_var - pt_cov**2
    joint = (pt_var * z**2 - 2 * pt_cov * z * mu + variance * mu**2) / (2 * determinant)
    mean, spread = pt_cov / variance * z, pt_var - pt_cov**2 / variance
    normal = sp.exp(-(t**2) / 2) / sp.sqrt(2 * sp.pi)
    return [
        Step(
            "posterior of the pretraining weight",
            "identity",
            eq(joint, z**2 / (2 * variance) + (mu - mean) ** 2 / (2 * spread)),
            "(z, beta*_PT) is Gaussian with covariance [[V, pt_cov], [pt_cov, pt_var]]; completing the square gives "
            "mean (pt_cov/V) z and variance pt_var - pt_cov^2/V given z.",
            "textbook",
        ),
        Step(
            "forgetting given z",
            "identity",
            eq(
                sp.Integral((shift - pt_gap - pt_cov / variance * zeta - mu * t) ** 2 * normal, (t, -sp.oo, sp.oo)),
                forgetting().subs(pt_var, mu**2 + pt_cov**2 / variance),
            ),
            "Average the squared distance over the posterior; mu^2 stands for its variance.",
        ),
    ]


def _weights() -> Step:
    learned = dual_map(u / 2, c_ft)
    return Step(
        "slope of the potential at the learned weight",
        "identity",
        eq(learned * potential_derivative(learned, c_ft), learned * u / 2),
        "xhat = c_ft sinh(u) and asinh undoes sinh, so x q'(x) = x u/2; E[x q']/E[q] is the q-weighted l-order.",
    )


def _closed_forms() -> list[Step]:
    s2_above = least_squares_s2()
    return [
        Step(
            "pull",
            "definition",
            eq(pull, ridge / g),
            "The saddle point says pull = alpha - dof; it is the length of the training residual in units of s "
            "(the dual variable of the min-max reduction).",
            "derivation replica",
        ),
        Step(
            "least squares above alpha = 1",
            "identity",
            eq(s2_above, (noise + s2_above) / alpha),
            "Without ridge g = 0, so xhat = z, the error is s2 itself, and s2 = (noise + s2)/alpha.",
            "THEORY section 6",
        ),
        Step(
            "training error of least squares",
            "identity",
            eq(training_error().subs({s2: s2_above, pull: alpha - 1}), noise * (1 - 1 / alpha)),
            "There dof = 1 and pull = alpha - 1; n - D of n degrees of freedom are left to the noise.",
            "textbook",
        ),
    ]


def derive() -> Derivation:
    """Observables of the learned solution."""
    formulas = results()
    return Derivation(
        "learned_solution",
        "The learned solution through the channel",
        (*_posterior(), _weights(), *_closed_forms()),
        formulas["channel_forgetting"],
        formulas,
        "Forgetting, potential and training error as integrands and closed forms that become kernels.",
    )
