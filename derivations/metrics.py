"""The l-order, the sensitivity and the pretraining dependence (THEORY section 4).

The l-order is the logarithmic slope of the potential in |beta_FT| (2: a square, 1: an absolute value); the pretraining
dependence PD is its logarithmic slope in |beta_PT|.  Both are functions of s = asinh(|beta_FT|/c_FT) and of the
sensitivity S of log c_FT, and the two cannot be chosen independently: that is the trade-off.
"""

from __future__ import annotations

import sympy as sp

from derivations.fine_tuning import effective_scale
from derivations.ledger.bounds import AnyOf, Factors, Rising, Signs
from derivations.ledger.proof import ByLimit
from derivations.ledger.step import Derivation, Step, both, eq, ge, gt, le, lt
from derivations.mirror import potential
from derivations.symbols import beta, beta_pt, c, c_ft, ell, gamma, h, lam, mu, part1, part2, s, sens, t

_PAPER = "arXiv 2602.20062; THEORY section 4"
#: h cosh(h/2) - sinh(h/2): the positive denominator of everything below.
_DENOMINATOR = h * sp.cosh(h / 2) - sp.sinh(h / 2)
_DENOMINATOR_POSITIVE = Rising(h, Signs(sp.cosh(h / 2) / 2 + h * sp.sinh(h / 2) / 2))


def ell_order(b: sp.Expr, scale: sp.Expr) -> sp.Expr:
    """d log q / d log |b| = b q'(b) / q(b), as it stands in print."""
    ratio = b / scale
    return ratio * sp.asinh(ratio) / (1 - sp.sqrt(1 + ratio**2) + ratio * sp.asinh(ratio))


def ell_order_stable(sigma: sp.Expr) -> sp.Expr:
    """The l-order at |b|/scale = sinh(sigma), without cancellation."""
    return sigma * sp.sinh(sigma) / (sigma * sp.sinh(sigma) - 2 * sp.sinh(sigma / 2) ** 2)


def ell_order_short(sigma: sp.Expr) -> sp.Expr:
    """The l-order at |b|/scale = sinh(sigma), sigma not 0, in one hyperbolic function."""
    return 1 / (1 - sp.tanh(sigma / 2) / sigma)


def sensitivity(b: sp.Expr, scale: sp.Expr, relative: sp.Expr, readout: sp.Expr) -> sp.Expr:
    """S = d log c_FT / d log |beta_PT|."""
    ratio = b / scale
    numerator = scale * (1 + relative) * ratio**2 / sp.sqrt(1 + ratio**2)
    return numerator / effective_scale(b, scale, relative, readout)


def results() -> dict[str, sp.Expr]:
    """The named formulas of this derivation."""
    factor = sensitivity(beta_pt, c, lam, gamma)
    order = ell_order(beta, effective_scale(beta_pt, c, lam, gamma))
    return {
        "ell_order": ell_order(beta, c_ft),
        "sensitivity": factor,
        "pretraining_dependence": (1 - order) * factor,
        "ell_order_stable": ell_order_stable(s),
        "ell_order_short": ell_order_short(s),
        "trade_off": 1 + (ell - 1) * (1 - sens),
    }


def _forms() -> list[Step]:
    return [
        Step(
            "l-order",
            "identity",
            eq(mu * sp.Derivative(sp.log(potential(mu, c_ft)), mu), ell_order(mu, c_ft)),
            "The logarithmic slope of q at |beta_FT| = mu > 0.",
            _PAPER,
        ),
        Step(
            "stable form",
            "identity",
            eq(ell_order(c_ft * sp.sinh(s), c_ft), ell_order_stable(s)),
            "With s = asinh(|beta_FT|/c_FT), as for the potential itself.",
            "THEORY section 4",
        ),
        Step(
            "short form",
            "identity",
            eq(ell_order_stable(h), ell_order_short(h)),
            "sinh s = 2 sinh(s/2) cosh(s/2) cancels one factor: the l-order depends on tanh(s/2)/s alone.",
        ),
        Step(
            "small coefficients: order 2",
            "limit",
            eq(sp.Limit(ell_order_short(h), h, 0, "+"), 2),
            "tanh(s/2)/s -> 1/2.",
            _PAPER,
            ByLimit(),
        ),
        Step(
            "large coefficients: order 1",
            "limit",
            eq(sp.Limit(ell_order_short(h), h, sp.oo), 1),
            "tanh(s/2)/s -> 0.",
            _PAPER,
            ByLimit(),
        ),
    ]


def _monotone() -> list[Step]:
    longer = sp.sinh(h) - h
    slope = (longer, 1, Rising(h, Signs(2 * sp.sinh(h / 2) ** 2)))
    return [
        Step(
            "sinh h > h",
            "inequality",
            gt(sp.sinh(h), h),
            "Both start at 0, and cosh h - 1 = 2 sinh(h/2)^2 is positive.",
            "textbook",
            Rising(h, Signs(2 * sp.sinh(h / 2) ** 2)),
        ),
        Step(
            "strictly decreasing",
            "inequality",
            lt(sp.Derivative(ell_order_short(h), h), 0),
            "The slope is -(sinh h - h) over a square: the l-order falls from 2 to 1 without a plateau.",
            proof=Factors((slope, (sp.Integer(2), -1, Signs()), (_DENOMINATOR, -2, _DENOMINATOR_POSITIVE))),
        ),
        Step(
            "above 1",
            "inequality",
            gt(ell_order_stable(h), 1),
            "l-order - 1 = sinh(h/2) / (h cosh(h/2) - sinh(h/2)).",
            _PAPER,
            Factors(((sp.sinh(h / 2), 1, Signs()), (_DENOMINATOR, -1, _DENOMINATOR_POSITIVE))),
        ),
        Step(
            "below 2",
            "inequality",
            lt(ell_order_stable(h), 2),
            "2 - l-order has h cosh(h/2) - 2 sinh(h/2) on top, which grows at the rate (h/2) sinh(h/2).",
            _PAPER,
            Factors(
                (
                    (h * sp.cosh(h / 2) - 2 * sp.sinh(h / 2), 1, Rising(h, Signs(h * sp.sinh(h / 2) / 2))),
                    (_DENOMINATOR, -1, _DENOMINATOR_POSITIVE),
                )
            ),
        ),
    ]


def _sensitivity() -> list[Step]:
    alive = sensitivity(mu, c, h - 1, gamma)
    root = sp.sqrt(1 + (mu / c) ** 2)
    return [
        Step(
            "sensitivity",
            "identity",
            eq(
                mu * sp.Derivative(sp.log(effective_scale(mu, c, lam, gamma)), mu),
                sensitivity(mu, c, lam, gamma),
            ),
            "The logarithmic slope of c_FT at |beta_PT| = mu > 0.",
            _PAPER,
        ),
        Step(
            "sensitivity is not negative",
            "inequality",
            ge(alive, 0),
            "Written with 1 + lam = h > 0, every factor is positive.",
            _PAPER,
            Signs(),
        ),
        Step(
            "sensitivity is below 1",
            "inequality",
            lt(alive, 1),
            "root - b^2/root = 1/root leaves c (1 + lam)(1 + 1/root) + gamma^2/2 on top of 1 - S.",
            _PAPER,
            Signs((c * h * (1 + 1 / root) + gamma**2 / 2) / effective_scale(mu, c, h - 1, gamma)),
        ),
        Step(
            "dead first layer",
            "identity",
            eq(sp.Subs(sensitivity(mu, c, lam, h), lam, -1), 0),
            "lam = -1 (with gamma = h > 0): nothing of pretraining is inherited, S = 0.",
        ),
    ]


def _dependence() -> list[Step]:
    scale = effective_scale(mu, c, lam, gamma)
    return [
        Step(
            "slope in the scale",
            "identity",
            eq(c_ft * sp.Derivative(sp.log(potential(beta, c_ft)), c_ft), 1 - ell_order(beta, c_ft)),
            "Euler's relation for degree one in (beta, c_FT).",
        ),
        Step(
            "pretraining dependence",
            "identity",
            eq(
                mu * sp.Derivative(sp.log(potential(beta, scale)), mu),
                (1 - ell_order(beta, scale)) * sensitivity(mu, c, lam, gamma),
            ),
            "PD = d log q / d log |beta_PT| by the chain rule: (1 - l-order) times S.",
            _PAPER,
        ),
        Step(
            "range of PD",
            "inequality",
            both(le((1 - ell) * sens, 0), ge((1 - ell) * sens, 1 - ell), ge(1 - ell, -1)),
            "With l-order in [1, 2] and S in [0, 1] (previous steps): -1 <= 1 - l-order <= PD <= 0. PD = -1 needs "
            "l-order 2.",
            _PAPER,
            AnyOf(*(Signs(form) for form in ((ell - 1) * sens, (ell - 1) * (1 - sens), 2 - ell))),
        ),
        Step(
            "trade-off",
            "identity",
            eq(ell + (1 - ell) * sens, 1 + (ell - 1) * (1 - sens)),
            "The sum of l-order and PD.",
            _PAPER,
        ),
        Step(
            "trade-off, range",
            "inequality",
            both(ge(ell + (1 - ell) * sens, 1), le(ell + (1 - ell) * sens, 2)),
            "Both ends follow from the two ranges; 1 is reached when l-order = 1 or S = 1, 2 only when l-order = 2 "
            "and S = 0. "
            "So l-order = 1 and PD = -1 exclude each other.",
            _PAPER,
            AnyOf(Signs((ell - 1) * (1 - sens)), Signs(2 - ell + (ell - 1) * sens)),
        ),
        Step(
            "attained at both ends",
            "identity",
            both(
                eq(sp.Subs(ell + (1 - ell) * sens, (ell, sens), (2, 0)), 2),
                eq(sp.Subs(ell + (1 - ell) * sens, ell, 1), 1),
                eq(sp.Subs(ell + (1 - ell) * sens, sens, 1), 1),
            ),
            "The cases of equality.",
        ),
    ]


def _whole_vector() -> list[Step]:
    total = part1(t) + part2(t)
    slopes = [t * sp.Derivative(part(t), t) / part(t) for part in (part1, part2)]
    return [
        Step(
            "whole vector",
            "identity",
            eq(
                t * sp.Derivative(sp.log(total), t),
                (part1(t) * slopes[0] + part2(t) * slopes[1]) / total,
            ),
            "The logarithmic slope of a sum is the mean of the slopes weighted with the parts. Applied coordinate by "
            "coordinate: l-order and PD of Q under a common rescaling are the q-weighted means of their coordinates, "
            "so they keep the ranges above.",
            "THEORY section 4",
        )
    ]


def derive() -> Derivation:
    """l-order and pretraining dependence."""
    formulas = results()
    steps = (*_forms(), *_monotone(), *_sensitivity(), *_dependence(), *_whole_vector())
    return Derivation(
        "metrics",
        "l-order and pretraining dependence",
        steps,
        formulas["ell_order"],
        formulas,
        "The l-order falls from 2 to 1, PD lies in [-1, 0], and their sum stays in [1, 2].",
    )
