"""The four regimes: limits, rates, the norms they lead to, and how far from them one is (THEORY section 4).

I   c_FT -> 0              order 1, PD 0    l1 norm, reached only like 1/log
II  c -> 0, lam > -1       order 2, PD -1   l2 norm weighted by 1/|beta_PT| (where |beta_FT| is far below c_FT)
III c or gamma -> infinity order 2, PD 0    plain l2 norm
IV  in between             order in (1, 2), PD in (-1, 0)
"""

from __future__ import annotations

import sympy as sp

from derivations.fine_tuning import effective_scale
from derivations.ledger.ball import Ball, Number, Split
from derivations.ledger.bounds import AnyOf, Factors, Falling, Rising, Signs, rising
from derivations.ledger.proof import ByLimit, Substitute
from derivations.ledger.step import Derivation, Step, both, eq, gt, lt
from derivations.metrics import ell_order, ell_order_short, sensitivity
from derivations.mirror import potential
from derivations.symbols import beta, c, c_ft, eps, h, k, lam, mu, p

_PAPER = "arXiv 2602.20062; THEORY section 4"


def l1_approximation(b: sp.Expr, scale: sp.Expr) -> sp.Expr:
    """(b/2)(log(2 b/scale) - 1), b > 0: the potential far above its scale."""
    return b / 2 * (sp.log(2 * b / scale) - 1)


def l2_approximation(b: sp.Expr, scale: sp.Expr) -> sp.Expr:
    """b^2 / (4 scale): the potential far below its scale."""
    return b**2 / (4 * scale)


def results() -> dict[str, sp.Expr]:
    """The limiting penalties, for |beta_FT| = mu, and the slow approach of the l-order to 1."""
    return {
        "l1_approximation": l1_approximation(mu, c_ft),
        "l2_approximation": l2_approximation(beta, c_ft),
        "weighted_l2": beta**2 / (4 * (1 + lam) * mu),
        "ell_order_rich": 1 + 1 / (sp.log(2 * mu) - 1),
    }


def _excess(ratio: sp.Expr) -> sp.Expr:
    """2/c times (q - its l1 approximation), as a function of ratio = b/c."""
    return 1 + ratio * (sp.asinh(ratio) - sp.log(2 * ratio)) - (sp.sqrt(1 + ratio**2) - ratio)


def _regime_one() -> list[Step]:
    by_ratio = {"changes": {mu: c * h}, "inverse": {h: mu / c}}
    root = sp.sqrt(1 + h**2)
    shrinking = Falling(h, Signs(1 / (h * root * (root + h))))
    half = (c / 2, 1, Signs())
    slow = 2 * h / ((sp.exp(h) + 1) * (h - 1) * (h - sp.tanh(h / 2)))
    return [
        Step(
            "I: the scale vanishes",
            "limit",
            eq(sp.Limit(effective_scale(mu, c, eps - 1, eps), eps, 0, "+"), 0),
            "lam -> -1 and gamma -> 0 together (at the same rate here): c_FT -> 0 on every coordinate.",
            _PAPER,
            ByLimit(),
        ),
        Step(
            "I: l1 norm",
            "limit",
            eq(sp.Limit(potential(mu, h) / sp.log(1 / h), h, 0, "+"), mu / 2),
            "Divided by log(1/c_FT)/2 the penalty becomes |beta_FT|.",
            _PAPER,
            ByLimit(),
        ),
        Step(
            "I: lower bound",
            "inequality",
            gt(potential(mu, c), l1_approximation(mu, c)),
            "q minus its approximation is (c/2) H(mu/c) with H(0) = 0 and H' = asinh - log(2 .) > 0.",
            proof=Substitute(**by_ratio, then=Factors((half, (_excess(h), 1, Rising(h, shrinking))))),
        ),
        Step(
            "I: upper bound",
            "inequality",
            lt(potential(mu, c), l1_approximation(mu, c) + c / 2),
            "H rises to 1 at infinity: the approximation is within c/2 of the penalty for every mu, however large.",
            proof=Substitute(**by_ratio, then=Factors((half, (1 - _excess(h), 1, Falling(h, shrinking))))),
        ),
        Step(
            "I: how slowly the order falls",
            "limit",
            eq(sp.Limit((ell_order(h, sp.Integer(1)) - 1) * (sp.log(2 * h) - 1), h, sp.oo), 1),
            "l-order - 1 ~ 1/(log(2u) - 1) with u = |beta_FT|/c_FT: only the logarithm of the scale counts.",
            _PAPER,
            ByLimit(),
        ),
        Step(
            "I: the rest is exponentially small",
            "identity",
            eq(1 / (h - 1) - (ell_order_short(h) - 1), slow),
            "In s = asinh u = h > 1 the law is 1/(s - 1) up to a term of size 2 exp(-s)/s.",
        ),
        Step(
            "I: what slow means",
            "inequality",
            gt(ell_order_short(sp.Integer(10)), sp.Rational(11, 10)),
            "The order is decreasing (metrics), so it stays above 1.1 for every u below sinh(10), about eleven "
            "thousand.",
            proof=Number(),
        ),
    ]


def _order_bounds() -> list[Step]:
    """1 + 1/(1 + s) < l-order < 1 + 2/(1 + s) for every s = asinh u > 0."""
    bottom = (
        (h * sp.cosh(h / 2) - sp.sinh(h / 2), -1, Rising(h, Signs(sp.cosh(h / 2) / 2 + h * sp.sinh(h / 2) / 2))),
        (1 + h, -1, Signs()),
    )
    above = sp.exp(h) * (h - 3) + 3 * h + 3
    slope = Split(h, sp.Integer(2), Ball(h, 0, 2), Signs(p * sp.exp(p + 2) + 3), p)
    return [
        Step(
            "I: order from below",
            "inequality",
            gt(ell_order_short(h), 1 + 1 / (1 + h)),
            "The gap has exp(s) - 1 - s on top: the order exceeds 1 + 1/(1 + asinh u) everywhere.",
            proof=Factors(((sp.exp(-h / 2), 1, Signs()), (sp.exp(h) - 1 - h, 1, rising(h, 2)), *bottom)),
        ),
        Step(
            "I: order from above",
            "inequality",
            lt(ell_order_short(h), 1 + 2 / (1 + h)),
            "The gap has exp(s)(s - 3) + 3 s + 3 on top, which rises from 0: its slope exp(s)(s - 2) + 3 is positive "
            "on "
            "[0, 2] by ball arithmetic (the minimum is 3 - e) and obviously beyond.",
            proof=Factors(((sp.exp(-h / 2) / 2, 1, Signs()), (above, 1, Rising(h, slope)), *bottom)),
        ),
    ]


def _regime_two() -> list[Step]:
    root = sp.sqrt(c**2 + mu**2)
    second = mu**2 / (2 * c * root * (root + c))
    third = mu**3 * (root**2 + root * c + c**2) / ((root + c) * 2 * c**3 * root**3)
    top = h**2 / 6 * (h * sp.cosh(h / 2) - sp.sinh(h / 2)) - (h * sp.cosh(h / 2) - 2 * sp.sinh(h / 2))
    bottom = h * sp.cosh(h / 2) - sp.sinh(h / 2)
    return [
        Step(
            "II: full sensitivity",
            "limit",
            eq(sp.Limit(sensitivity(mu, h, k - 1, sp.Integer(0)), h, 0, "+"), 1),
            "c -> 0 at gamma = 0 and any lam = k - 1 > -1: c_FT is proportional to |beta_PT|, S -> 1.",
            _PAPER,
            ByLimit(),
        ),
        Step(
            "II: rate of the sensitivity",
            "limit",
            eq(sp.Limit((1 - sensitivity(mu, h, k - 1, sp.Integer(0))) / h, h, 0, "+"), 1 / mu),
            "1 - S ~ c/|beta_PT|.",
            proof=ByLimit(),
        ),
        Step(
            "II: weighted l2 norm",
            "limit",
            eq(
                sp.Limit(potential(eps * beta, effective_scale(mu, eps, k - 1, sp.Integer(0))) / eps**2, eps, 0, "+"),
                l2_approximation(beta, k * mu),
            ),
            "c and beta_FT vanish together: c_FT -> (1 + lam)|beta_PT| with lam = k - 1, and the penalty is "
            "beta_FT^2 / (4 (1 + lam)|beta_PT|).",
            _PAPER,
            ByLimit(),
        ),
        Step(
            "II and III: below the parabola",
            "inequality",
            lt(potential(mu, c), l2_approximation(mu, c)),
            "The difference has value and slope 0 at 0 and positive curvature 1/(2c) - q''.",
            proof=rising(mu, 2, Signs(second)),
        ),
        Step(
            "II and III: error of the parabola",
            "inequality",
            gt(potential(mu, c), l2_approximation(mu, c) - mu**4 / (48 * c**3)),
            "Three derivatives: mu/(2 c^3) exceeds mu/(2 (c^2 + mu^2)^(3/2)). The relative error is below (mu/c)^2/12.",
            proof=rising(mu, 3, Signs(third)),
        ),
        Step(
            "II and III: error of the order",
            "inequality",
            lt(2 - ell_order_short(h), h**2 / 6),
            "2 - l-order < s^2/6 <= u^2/6: quadratic, hence easily reached.",
            proof=Factors(((top, 1, rising(h, 4)), (bottom, -1, Rising(h, Signs())))),
        ),
    ]


def _regime_three() -> list[Step]:
    return [
        Step(
            "III: large absolute scale",
            "limit",
            eq(sp.Limit(h**2 * sensitivity(mu, h, k - 1, sp.Integer(0)), h, sp.oo), mu**2 / 2),
            "S ~ (beta_PT/c)^2/2 -> 0 as c -> infinity (lam = k - 1 > -1).",
            _PAPER,
            ByLimit(),
        ),
        Step(
            "III: large readout",
            "limit",
            eq(
                sp.Limit(h**2 * sensitivity(mu, c, k - 1, h), h, sp.oo),
                2 * c * k * (mu / c) ** 2 / sp.sqrt(1 + (mu / c) ** 2),
            ),
            "S ~ 1/gamma^2 -> 0 as gamma -> infinity.",
            _PAPER,
            ByLimit(),
        ),
        Step(
            "III: plain l2 norm",
            "limit",
            eq(sp.Limit(4 * h * potential(beta, h), h, sp.oo), beta**2),
            "c_FT -> infinity: 4 c_FT q -> beta_FT^2, with the same factor on every coordinate.",
            _PAPER,
            ByLimit(),
        ),
    ]


def _regime_four() -> list[Step]:
    order = (2 + h) / (1 + h)  # the open interval (1, 2)
    factor = mu / (1 + mu)  # the open interval (0, 1)
    dependence = (1 - order) * factor
    tops = (mu, 1 + h + h * mu, sp.Integer(1), h + h * mu + mu)
    return [
        Step(
            "IV: in between",
            "inequality",
            both(lt(dependence, 0), gt(dependence, -1), gt(order + dependence, 1), lt(order + dependence, 2)),
            "For finite u > 0 and alive first layers the order is in (1, 2) and S in (0, 1) (metrics), written as (2 "
            "+ h)/(1 + h) "
            "and mu/(1 + mu): then PD and the sum are strictly inside.",
            _PAPER,
            AnyOf(*(Signs(top / ((1 + h) * (1 + mu))) for top in tops)),
        )
    ]


def derive() -> Derivation:
    """The regimes as limits, with rates and uniform error bounds."""
    formulas = results()
    steps = (*_regime_one(), *_order_bounds(), *_regime_two(), *_regime_three(), *_regime_four())
    return Derivation(
        "regimes",
        "The four regimes",
        steps,
        formulas["weighted_l2"],
        formulas,
        "Rich, lazy and pretraining-dependent limits; the rich one is reached only logarithmically.",
    )
