"""The potential that gradient flow minimises (THEORY section 2; Woodworth et al. 2020, Theorem 1).

The formulas themselves are in `derivations.mirror`, the steps on optimality in `derivations.optimality`.
"""

from __future__ import annotations

import sympy as sp

from derivations.ledger.bounds import Signs
from derivations.ledger.proof import ByLimit, Match, Substitute
from derivations.ledger.step import Derivation, Step, eq, gt
from derivations.mirror import (
    dual_map,
    dual_potential,
    paper_potential,
    potential,
    potential_derivative,
    potential_second_derivative,
    potential_stable,
    potential_without_sinh,
)
from derivations.optimality import convergence, optimality, ridge_problem
from derivations.symbols import b, beta, c, k, mu, s, t, u

_WOODWORTH = "Woodworth et al. 2020, Theorem 1"
_BY_SINH = Substitute({beta: c * sp.sinh(s)}, {s: sp.asinh(beta / c)})


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


def derive() -> Derivation:
    """The implicit-bias potential: what the flow minimises, in every form that is used."""
    formulas = results()
    steps = (*_mirror_map(), *_forms(), *optimality(), *ridge_problem(), *convergence())
    return Derivation(
        "implicit_bias",
        "The implicit bias of gradient flow",
        steps,
        formulas["potential"],
        formulas,
        "The zero-error limit of the flow is the unique minimiser of sum_d q(beta_d) subject to X beta = y.",
    )
