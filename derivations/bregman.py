"""A fine-tuning start that is not zero: the penalty becomes a Bregman divergence (follow-up work needs it).

If the second stage starts at beta0 instead of 0, the flow stays a mirror flow with the same map q', so its limit is the
interpolator closest to beta0 in the divergence D(b, beta0) = q(b) - q(beta0) - q'(beta0)(b - beta0).
"""

from __future__ import annotations

import sympy as sp

from derivations.ledger.bounds import AnyOf, Rising, Signs
from derivations.ledger.proof import ByLimit
from derivations.ledger.step import Derivation, Step, both, eq, gt
from derivations.mirror import (
    potential,
    potential_derivative,
    potential_second_derivative,
    tangent_gap,
)
from derivations.symbols import R, b, beta, beta0, c, eps, h, mu, path, rho, s, sigma, start, t, vm0, vp0, wm0, wp0

_AZULAY = "Azulay et al. 2021 (initialization shape)"


def divergence(there: sp.Expr, origin: sp.Expr, scale: sp.Expr) -> sp.Expr:
    """D(there, origin), the penalty of a fine-tuning that starts at `origin`."""
    slope = potential_derivative(origin, scale)
    return potential(there, scale) - potential(origin, scale) - slope * (there - origin)


def divergence_stable(there: sp.Expr, origin: sp.Expr, scale: sp.Expr) -> sp.Expr:
    """The same for scale sinh(there) and scale sinh(origin), in mirror variables."""
    apart = there - origin
    return scale / 2 * (apart * sp.sinh(there) - 2 * sp.sinh((there + origin) / 2) * sp.sinh(apart / 2))


def results() -> dict[str, sp.Expr]:
    """The penalty, its slope, and the dual map with a start."""
    return {
        "bregman": divergence(beta, beta0, c),
        "bregman_stable": divergence_stable(s, start, c),
        "bregman_derivative": (sp.asinh(beta / c) - sp.asinh(beta0 / c)) / 2,
        "dual_map_start": c * sp.sinh(2 * t + start),
    }


def _flow() -> list[Step]:
    law = Step(
        "flow from a start",
        "definition",
        eq(path(t), c * sp.sinh(2 * R(t) + start)),
        "Any start of the four weights only shifts the argument of sinh (gradient_flow, step 'any start').",
        _AZULAY,
    )
    origin = Step(
        "start in the mirror variable",
        "definition",
        eq(beta0, c * sp.sinh(start)),
        "The flow at R = 0.",
    )
    unequal = wp0 * vp0 - wm0 * vm0
    growing = (wp0 + vp0) ** 2 + (wm0 - vm0) ** 2
    shrinking = (wp0 - vp0) ** 2 + (wm0 + vm0) ** 2
    return [
        law,
        origin,
        Step(
            "mirror flow from a start",
            "identity",
            eq(potential_derivative(path(t), c) - potential_derivative(beta0, c), R(t)),
            "R is the difference of q' between here and the start.",
            _AZULAY,
            given=(law, origin),
        ),
        Step(
            "start of the weights",
            "identity",
            eq(sp.sinh(sp.log(growing / shrinking) / 2) * sp.sqrt(growing * shrinking) / 2, unequal),
            "The shift of gradient_flow is asinh(beta(0)/scale) with the general scale, for any four weights.",
            _AZULAY,
        ),
        Step(
            "stationarity with a start",
            "identity",
            eq(potential_derivative(c * sp.sinh(2 * rho + start), c), rho + start / 2),
            "KKT: q'(b) - q'(beta0) = (X^T nu)_d = rho, so b = c sinh(2 rho + start): the exact finite-size solution "
            "with a "
            "shifted argument.",
        ),
    ]


def _penalty() -> list[Step]:
    return [
        Step(
            "slope of the divergence",
            "identity",
            eq(
                sp.Derivative(divergence(beta, beta0, c), beta),
                potential_derivative(beta, c) - potential_derivative(beta0, c),
            ),
            "So its stationarity under X beta = y is the one of the flow.",
        ),
        Step(
            "nothing at the start",
            "identity",
            both(
                eq(sp.Subs(divergence(beta, beta0, c), beta, beta0), 0),
                eq(sp.Subs(sp.Derivative(divergence(beta, beta0, c), beta), beta, beta0), 0),
            ),
            "Value and slope vanish at beta0.",
        ),
        Step(
            "stable form",
            "identity",
            eq(divergence(c * sp.sinh(sigma), c * sp.sinh(s), c), divergence_stable(sigma, s, c)),
            "A difference of cosh as a product, which cancels less near the start (the kernel goes further, by rules).",
        ),
        Step(
            "positive elsewhere",
            "inequality",
            both(gt(divergence_stable(s + h, s, c), 0), gt(divergence_stable(s - h, s, c), 0)),
            "The tangent gap of implicit_bias: its slope in the distance h of the mirror variables is (c/2) h cosh > "
            "0.",
            proof=AnyOf(
                Rising(h, Signs(c / 2 * h * sp.cosh(s + h))),
                Rising(h, Signs(c / 2 * h * sp.cosh(s - h))),
            ),
        ),
        Step(
            "tangent gap",
            "identity",
            eq(divergence_stable(sigma, s, c), tangent_gap(sigma, s, c)),
            "The form used in implicit_bias.",
        ),
        Step(
            "start at zero",
            "identity",
            eq(sp.Subs(divergence(beta, beta0, c), beta0, 0), potential(beta, c)),
            "The paper's case.",
        ),
        Step(
            "linear term",
            "identity",
            eq(
                sp.Derivative(divergence(beta, c * sp.sinh(start), c) - potential(beta, c), beta),
                -start / 2,
            ),
            "Against q the start adds a linear term -(start/2) beta: the scalar channel with `start`.",
        ),
        Step(
            "three points",
            "identity",
            eq(
                divergence(b, beta0, c) - divergence(b, beta, c) - divergence(beta, beta0, c),
                (potential_derivative(beta, c) - potential_derivative(beta0, c)) * (b - beta),
            ),
            "On an interpolator b the right side sums to nu . (X b - X beta) = 0: the limit is the projection of the "
            "start, with "
            "the Pythagorean identity.",
            "Bregman 1967",
        ),
    ]


def _regimes() -> list[Step]:
    return [
        Step(
            "lazy limit",
            "limit",
            eq(sp.Limit(4 * h * divergence(beta, beta0, h), h, sp.oo), (beta - beta0) ** 2),
            "c -> infinity: the distance to the start, as for a linearised network.",
            proof=ByLimit(),
        ),
        Step(
            "rich limit, same sign",
            "limit",
            eq(sp.Limit(divergence(mu, eps, h), h, 0, "+"), (mu * sp.log(mu / eps) - mu + eps) / 2),
            "c -> 0 with beta = mu > 0 and beta0 = eps > 0: a relative entropy, finite and free of the scale. What "
            "pretraining "
            "found is cheap to keep and to rescale.",
            proof=ByLimit(),
        ),
        Step(
            "rich limit, other sign",
            "limit",
            eq(sp.Limit(divergence(-mu, eps, h) / sp.log(1 / h), h, 0, "+"), mu),
            "Changing sign costs |beta| log(1/c), twice the price per unit of a start at zero.",
            proof=ByLimit(),
        ),
        Step(
            "close to the start",
            "limit",
            eq(
                sp.Limit(divergence(beta0 + h, beta0, c) / h**2, h, 0, "+"),
                potential_second_derivative(beta0, c) / 2,
            ),
            "Locally a parabola of curvature q''(beta0): order 2 around the start.",
            proof=ByLimit(),
        ),
    ]


def derive() -> Derivation:
    """The penalty of a non-zero fine-tuning start."""
    formulas = results()
    return Derivation(
        "bregman",
        "A non-zero fine-tuning start",
        (*_flow(), *_penalty(), *_regimes()),
        formulas["bregman"],
        formulas,
        "The flow's limit is the interpolator closest to the start in the Bregman divergence of q.",
    )
