"""Why the flow's limit is the minimiser of Q: stationarity, tangents, the dual problem, and convergence.

Steps only, for `derivations.implicit_bias`.
"""

from __future__ import annotations

import sympy as sp

from derivations.ledger.bounds import Rising, Signs
from derivations.ledger.proof import MatrixAlgebra
from derivations.ledger.step import Step, eq, gt
from derivations.mirror import dual_map, dual_potential, potential, potential_derivative, tangent_gap
from derivations.symbols import (
    X,
    b,
    beta,
    c,
    h,
    nu,
    path,
    rest,
    rho,
    ridge,
    s,
    sigma,
    t,
    vec_b,
    vec_beta,
    vec_nu,
    x_id,
    y,
)

_WOODWORTH = "Woodworth et al. 2020, Theorem 1"


def optimality() -> list[Step]:
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
            eq(gap, tangent_gap(sigma, s, c)),
            "The Bregman divergence of q between b = c sinh(sigma) and beta = c sinh(s).",
        ),
        Step(
            "above the tangent, to the right",
            "inequality",
            gt(tangent_gap(s + h, s, c), 0),
            "The gap vanishes at h = 0 and grows at the rate (c/2) h cosh(s + h): q lies strictly above its tangents.",
            proof=Rising(h, Signs(c / 2 * h * sp.cosh(s + h))),
        ),
        Step(
            "above the tangent, to the left",
            "inequality",
            gt(tangent_gap(s - h, s, c), 0),
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


def ridge_problem() -> list[Step]:
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


def convergence() -> list[Step]:
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
