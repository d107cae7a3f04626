"""Limits with closed forms: ridge, minimum-l2 interpolation, least squares, basis pursuit (THEORY section 6).

Ridge and minimum l2 are c_FT -> infinity (the potential is a parabola), basis pursuit is c_FT -> 0 (it is an l1 norm).
The ridge result is compared with the Marchenko-Pastur law, a route that knows nothing of replicas.
"""

from __future__ import annotations

import sympy as sp

from derivations.ledger.bounds import Signs
from derivations.ledger.proof import ByLimit
from derivations.ledger.step import Derivation, Step, eq, gt
from derivations.pursuit import pursuit_results, pursuit_steps
from derivations.symbols import alpha, h, noise, penalty, power, s2, theta, z

_MP = "Marchenko & Pastur 1967"


def shrinkage() -> sp.Expr:
    """theta of xhat = z/(1 + theta), for the penalty (r/2) x^2."""
    slack = 1 + penalty - alpha
    return (slack + sp.sqrt(slack**2 + 4 * alpha * penalty)) / (2 * alpha)


def ridge_error(shrink: sp.Expr) -> sp.Expr:
    """The mse that solves the first saddle-point equation for xhat = z/(1 + shrink)."""
    return (noise + alpha * shrink**2 * power) / (alpha * (1 + shrink) ** 2 - 1)


def stieltjes(r: sp.Expr) -> sp.Expr:
    """m(r) = (1/D) trace (X^T X + r)^(-1) for X_ij ~ N(0, 1/D), D -> infinity."""
    slack = r + alpha - 1
    return (sp.sqrt(slack**2 + 4 * r) - slack) / (2 * r)


def results() -> dict[str, sp.Expr]:
    """Closed forms; `alpha` is the sample ratio, `r_ridge` the curvature of the penalty (r/2) x^2."""
    return {
        "ridge_shrinkage": shrinkage(),
        "ridge_mse": ridge_error(shrinkage()),
        "marchenko_pastur": stieltjes(penalty),
        "min_l2_mse": (1 - alpha) * power + noise * alpha / (1 - alpha),
        "least_squares_mse": noise / (alpha - 1),
        **pursuit_results(),
    }


def _ridge() -> list[Step]:
    linear = z / (1 + theta)
    error = (s2 + theta**2 * power) / (1 + theta) ** 2
    own = Step(
        "error of the shrunk estimate",
        "definition",
        eq(s2, (noise + ridge_error(theta)) / alpha),
        "The first saddle-point equation.",
        "derivation replica",
    )
    solved = Step(
        "shrinkage",
        "definition",
        eq(theta, shrinkage()),
        "The positive root of the quadratic.",
    )
    return [
        Step(
            "linear estimator",
            "identity",
            eq(sp.Derivative((linear - z) ** 2 / (2 * theta) + linear**2 / 2, z), (z - linear) / theta),
            "For the penalty x^2/2 with step theta the minimiser is z/(1 + theta), and the envelope's slope is (z - "
            "xhat)/theta: "
            "c_FT -> infinity with ridge = 2 c_FT r gives the penalty (r/2) x^2 (regimes).",
            "textbook",
        ),
        own,
        Step(
            "error at given shrinkage",
            "identity",
            eq(error, ridge_error(theta)),
            "E(xhat - x)^2 = (s2 + theta^2 E x^2)/(1 + theta)^2 closes on itself.",
            given=(own,),
        ),
        solved,
        Step(
            "shrinkage equation",
            "identity",
            eq(alpha * theta, penalty + theta / (1 + theta)),
            "The second saddle-point equation with dof = 1/(1 + theta) and g = theta in units of the curvature.",
            given=(solved,),
        ),
    ]


def _marchenko_pastur() -> list[Step]:
    m = stieltjes(penalty)
    slope = sp.Derivative(m, penalty)
    return [
        Step(
            "Marchenko-Pastur equation",
            "identity",
            eq(m, 1 / (penalty + alpha / (1 + m))),
            "The resolvent of X^T X at -r solves this fixed point; the root that is positive is m(r).",
            _MP,
        ),
        Step(
            "same degrees of freedom",
            "identity",
            eq(1 / (1 + shrinkage()), 1 - penalty * m),
            "dof of the saddle point against (1/D) trace X^T X (X^T X + r)^(-1).",
            _MP,
        ),
        Step(
            "same error",
            "identity",
            eq(ridge_error(shrinkage()), -(penalty**2) * slope * power + noise * (m + penalty * slope)),
            "Bias r^2 (1/D) trace (X^T X + r)^(-2) E x^2 plus variance noise (1/D) trace X^T X (X^T X + r)^(-2): the "
            "random "
            "matrix result is the replica result.",
            _MP,
        ),
    ]


def _interpolation() -> list[Step]:
    fewer = h / (1 + h)  # alpha in (0, 1)
    at = shrinkage().subs(alpha, fewer)
    error = ridge_error(shrinkage()).subs(alpha, fewer)
    many = ridge_error(shrinkage()).subs(alpha, 1 + h)
    return [
        Step(
            "shrinkage of the interpolator",
            "limit",
            eq(sp.Limit(at, penalty, 0, "+"), (1 - fewer) / fewer),
            "r -> 0 with alpha = h/(1 + h) < 1: theta = (1 - alpha)/alpha, that is dof = alpha.",
            proof=ByLimit(),
        ),
        Step(
            "minimum l2 norm",
            "limit",
            eq(sp.Limit(error, penalty, 0, "+"), (1 - fewer) * power + noise * fewer / (1 - fewer)),
            "mse = (1 - alpha) E x^2 + noise alpha/(1 - alpha).",
            "Hastie, Montanari, Rosset & Tibshirani 2022",
            ByLimit(),
        ),
        Step(
            "least squares",
            "limit",
            eq(sp.Limit(many, penalty, 0, "+"), noise / h),
            "alpha = 1 + h: mse = noise/(alpha - 1), here from the ridge side.",
            "textbook",
            ByLimit(),
        ),
        Step(
            "interpolation costs variance",
            "inequality",
            gt(fewer / (1 - fewer), fewer),
            "The noise term alpha/(1 - alpha) exceeds alpha, and diverges at alpha = 1.",
            proof=Signs(h**2 / (1 + h)),
        ),
    ]


def derive() -> Derivation:
    """Closed forms at the two ends of the scale."""
    formulas = results()
    return Derivation(
        "limits",
        "Limits with closed forms",
        (*_ridge(), *_marchenko_pastur(), *_interpolation(), *pursuit_steps()),
        formulas["ridge_mse"],
        formulas,
        "Ridge regression and least squares at one end of the scale, basis pursuit and its phase transition at the "
        "other.",
    )
