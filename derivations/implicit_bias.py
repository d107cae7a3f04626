"""The potential that gradient flow minimises (THEORY section 2; Woodworth et al. 2020, Theorem 1)."""

from __future__ import annotations

import sympy as sp

from derivations.ledger.bounds import Rising, Signs
from derivations.ledger.proof import ByLimit, Match, MatrixAlgebra, Substitute
from derivations.ledger.step import Derivation, Step, eq, gt
from derivations.symbols import (
    X,
    b,
    beta,
    c,
    h,
    k,
    mu,
    nu,
    path,
    rest,
    rho,
    ridge,
    s,
    sigma,
    t,
    u,
    vec_b,
    vec_beta,
    vec_nu,
    x_id,
    y,
)  # fmt: skip

_WOODWORTH = "Woodworth et al. 2020, Theorem 1"
_BY_SINH = Substitute({beta: c * sp.sinh(s)}, {s: sp.asinh(beta / c)})


def potential(b: sp.Expr, scale: sp.Expr) -> sp.Expr:
    """q(b) = (scale/2) [1 - sqrt(1 + (b/scale)^2) + (b/scale) asinh(b/scale)], as it stands in print."""
    ratio = b / scale
    return scale / 2 * (1 - sp.sqrt(1 + ratio**2) + ratio * sp.asinh(ratio))


def potential_derivative(b: sp.Expr, scale: sp.Expr) -> sp.Expr:
    """q'(b) = (1/2) asinh(b/scale): the mirror map."""
    return sp.asinh(b / scale) / 2


def potential_second_derivative(b: sp.Expr, scale: sp.Expr) -> sp.Expr:
    """q''(b) = 1 / (2 sqrt(scale^2 + b^2))."""
    return 1 / (2 * sp.sqrt(scale**2 + b**2))


def dual_map(r: sp.Expr, scale: sp.Expr) -> sp.Expr:
    """beta = scale sinh(2 r): the inverse of the mirror map."""
    return scale * sp.sinh(2 * r)


def potential_stable(sigma: sp.Expr, scale: sp.Expr) -> sp.Expr:
    """The potential at b = scale sinh(sigma), without cancellation."""
    return scale / 2 * (sigma * sp.sinh(sigma) - 2 * sp.sinh(sigma / 2) ** 2)


def potential_without_sinh(ratio: sp.Expr, scale: sp.Expr) -> sp.Expr:
    """The potential at ratio = b/scale in asinh and sqrt alone."""
    return scale * ratio / 2 * (sp.asinh(ratio) - ratio / (1 + sp.sqrt(1 + ratio**2)))


def paper_potential(b: sp.Expr, parameter: sp.Expr) -> sp.Expr:
    """The potential in the paper's parameter k = 4 scale^2."""
    ratio = 2 * b / sp.sqrt(parameter)
    return sp.sqrt(parameter) / 4 * (1 - sp.sqrt(1 + ratio**2) + ratio * sp.asinh(ratio))


def dual_potential(r: sp.Expr, scale: sp.Expr) -> sp.Expr:
    """q*(r) = (scale/2)(cosh(2r) - 1): the convex conjugate; its gradient is the dual map."""
    return scale / 2 * (sp.cosh(2 * r) - 1)


def results() -> dict[str, sp.Expr]:
    """The named formulas of this derivation."""
    return {
        "potential": potential(beta, c),
        "potential_derivative": potential_derivative(beta, c),
        "potential_second_derivative": potential_second_derivative(beta, c),
        "dual_map": dual_map(t, c),
        "dual_potential": dual_potential(t, c),
        "potential_stable": potential_stable(s, c),
        "potential_without_sinh": potential_without_sinh(u, c),
    }


def _mirror_map() -> list[Step]:
    """q is the integral of the inverse of beta = c sinh(2R)."""
    return [
        Step(
            "inverse of the sinh law",
            "identity",
            eq(potential_derivative(dual_map(t, c), c), t),
            "beta = c sinh(2R) is a bijection of the real line; its inverse is R = asinh(beta/c)/2.",
            _WOODWORTH,
        ),
        Step(
            "potential",
            "identity",
            eq(sp.Integral(potential_derivative(b, c), (b, 0, beta)), potential(beta, c)),
            "q is the antiderivative of the mirror map that vanishes at 0.",
            _WOODWORTH,
            Match(beta, sp.Integer(0)),
        ),
        Step(
            "gradient of the potential",
            "identity",
            eq(sp.Derivative(potential(beta, c), beta), potential_derivative(beta, c)),
            "The terms with the square root cancel.",
            _WOODWORTH,
        ),
        Step(
            "curvature",
            "identity",
            eq(sp.Derivative(potential(beta, c), (beta, 2)), potential_second_derivative(beta, c)),
            "Differentiate once more.",
            _WOODWORTH,
        ),
        Step(
            "strict convexity",
            "inequality",
            gt(sp.Derivative(potential(beta, c), (beta, 2)), 0),
            "The curvature is one over a positive root.",
            _WOODWORTH,
            Signs(potential_second_derivative(beta, c)),
        ),
        Step(
            "coercive",
            "limit",
            eq(sp.Limit(potential(mu, c) / mu, mu, sp.oo), sp.oo),
            "q grows faster than |beta|, by a logarithm; with convexity, a minimiser under X beta = y exists and is "
            "unique.",
            proof=ByLimit(),
        ),
    ]


def _forms() -> list[Step]:
    """The same function in the forms that are printed, computed and compared."""
    return [
        Step(
            "stable form",
            "identity",
            eq(potential(beta, c), potential_stable(sp.asinh(beta / c), c)),
            "With s = asinh(beta/c): 1 - cosh s = -2 sinh(s/2)^2, so nothing of size 1 is subtracted from 1 any more.",
            "THEORY section 2",
            _BY_SINH,
        ),
        Step(
            "form without sinh",
            "identity",
            eq(potential(beta, c), potential_without_sinh(beta / c, c)),
            "1 - sqrt(1 + u^2) = -u^2/(1 + sqrt(1 + u^2)): one asinh and one square root.",
        ),
        Step(
            "the paper's form",
            "identity",
            eq(paper_potential(beta, k), potential_without_sinh(2 * beta / sp.sqrt(k), sp.sqrt(k) / 2)),
            "The paper writes k = 4 c^2; its potential is ours with c = sqrt(k)/2.",
            "arXiv 2602.20062, Theorem 4.1",
        ),
        Step(
            "homogeneity",
            "identity",
            eq(
                beta * sp.Derivative(potential(beta, c), beta) + c * sp.Derivative(potential(beta, c), c),
                potential(beta, c),
            ),
            "Euler's relation for degree one in (beta, c) together: up to a factor only beta/c matters.",
        ),
        Step(
            "small coefficients",
            "limit",
            eq(sp.Limit(potential(mu, c) / mu**2, mu, 0, "+"), 1 / (4 * c)),
            "Far below the scale the penalty is the plain square beta^2/(4c).",
            proof=ByLimit(),
        ),
        Step(
            "large coefficients",
            "limit",
            eq(sp.Limit(potential(mu, c) / (mu * sp.log(mu)), mu, sp.oo), sp.Rational(1, 2)),
            "Far above the scale it is |beta| times a logarithm.",
            proof=ByLimit(),
        ),
    ]


def tangent_gap(upper: sp.Expr, lower: sp.Expr) -> sp.Expr:
    """q(b) - q(beta) - q'(beta)(b - beta) for b = c sinh(upper), beta = c sinh(lower), simplified."""
    return c / 2 * (sp.cosh(lower) - sp.cosh(upper) + (upper - lower) * sp.sinh(upper))


def _optimality() -> list[Step]:
    """The flow's limit is the minimiser: a stationary point of the Lagrangian, and nothing lies below its tangent."""
    over, here = c * sp.sinh(sigma), c * sp.sinh(s)
    gap = potential(over, c) - potential(here, c) - potential_derivative(here, c) * (over - here)
    swap = (X.T * vec_nu).T * (vec_b - vec_beta)
    return [
        Step(
            "stationarity (KKT)",
            "identity",
            eq(sp.Subs(sp.Derivative(potential(beta, c) - rho * beta, beta), beta, dual_map(rho, c)), 0),
            "One coordinate of the Lagrangian of min q subject to X beta = y, with rho = (X^T nu)_d: the dual map is "
            "stationary.",
            _WOODWORTH,
        ),
        Step(
            "tangent gap",
            "identity",
            eq(gap, tangent_gap(sigma, s)),
            "The Bregman divergence of q between b = c sinh(sigma) and beta = c sinh(s).",
        ),
        Step(
            "above the tangent, to the right",
            "inequality",
            gt(tangent_gap(s + h, s), 0),
            "The gap vanishes at h = 0 and grows at the rate (c/2) h cosh(s + h): q lies strictly above its tangents.",
            proof=Rising(h, Signs(c / 2 * h * sp.cosh(s + h))),
        ),
        Step(
            "above the tangent, to the left",
            "inequality",
            gt(tangent_gap(s - h, s), 0),
            "The same on the other side.",
            proof=Rising(h, Signs(c / 2 * h * sp.cosh(s - h))),
        ),
        Step(
            "multipliers see only X beta",
            "identity",
            eq(swap, vec_nu.T * (X * vec_b - X * vec_beta)),
            "Summed over coordinates the tangent's slope X^T nu meets b - beta as nu . (X b - X beta), which is 0 "
            "for two "
            "interpolators: hence Q(b) > Q(beta) for every other interpolator b, and the flow's limit is the unique "
            "argmin.",
            _WOODWORTH,
            MatrixAlgebra(),
        ),
        Step(
            "conjugate",
            "identity",
            eq(rho * dual_map(rho, c) - potential(dual_map(rho, c), c), dual_potential(rho, c)),
            "Legendre transform at the stationary point.",
        ),
        Step(
            "dual gradient",
            "identity",
            eq(sp.Derivative(dual_potential(rest + x_id * nu, c), nu), x_id * dual_map(rest + x_id * nu, c)),
            "So X beta(nu) = y is the stationarity of sum_d q*((X^T nu)_d) - y . nu, a smooth strictly convex "
            "function of n "
            "variables: the exact finite-size solution.",
            "THEORY section 7",
        ),
    ]


def _ridge() -> list[Step]:
    residual = Step(
        "multiplier of the ridge problem",
        "definition",
        eq(y, x_id * beta + rest + ridge * nu),
        "With ridge > 0 the residual is ridge times nu.",
        "THEORY section 7",
    )
    loss = (y - x_id * beta - rest) ** 2 / 2 + ridge * potential(beta, c)
    return [
        residual,
        Step(
            "ridge stationarity",
            "identity",
            eq(sp.Derivative(loss, beta), ridge * (potential_derivative(beta, c) - x_id * nu)),
            "One sample; samples add. So q'(beta) = X^T nu again, and X beta(nu) + ridge nu = y.",
            "THEORY section 7",
            given=(residual,),
        ),
    ]


def _convergence() -> list[Step]:
    """The Bregman divergence to any interpolator is a Lyapunov function of the flow."""
    gap = potential(b, c) - potential(path(t), c) - potential_derivative(path(t), c) * (b - path(t))
    rate = sp.Derivative(potential_derivative(path(t), c), t)
    miss = X * vec_b - X * vec_beta
    return [
        Step(
            "divergence along the flow",
            "identity",
            eq(sp.Derivative(gap, t), -rate * (b - path(t))),
            "For any path: the divergence from b to beta(t) changes at the rate -(b - beta) d q'(beta)/dt, which on "
            "the mirror "
            "flow is -(b - beta) r.",
            "this project, after Alvarez et al. 2004",
        ),
        Step(
            "divergence falls by the training error",
            "identity",
            eq((X.T * miss).T * (vec_b - vec_beta), miss.T * miss),
            "With r = X^T (y - X beta) and y = X b, the sum over coordinates of r (b - beta) is |X (b - beta)|^2, "
            "twice the loss: "
            "the loss has a finite integral and decreases, so it tends to 0 whenever an interpolator exists.",
            proof=MatrixAlgebra(),
        ),
    ]


def derive() -> Derivation:
    """The implicit-bias potential: what the flow minimises, in every form that is used."""
    formulas = results()
    steps = (*_mirror_map(), *_forms(), *_optimality(), *_ridge(), *_convergence())
    return Derivation(
        "implicit_bias",
        "The implicit bias of gradient flow",
        steps,
        formulas["potential"],
        formulas,
        "The zero-error limit of the flow is the unique minimiser of sum_d q(beta_d) subject to X beta = y.",
    )
