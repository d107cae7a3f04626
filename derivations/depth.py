"""Depth-L diagonal networks, beta = w+^L - w-^L with all layers of a path equal (Woodworth et al. 2020).

With m = L - 2 > 0 and a common start alpha_0 per layer, the dual variable R = X^T nu lives in a bounded interval, the
potential's slope is the inverse of an explicit function, and the l-order falls from 2 to 1 as a power, not a logarithm.
"""

from __future__ import annotations

import sympy as sp

from derivations.ledger.bounds import Signs
from derivations.ledger.proof import ByLimit, Substitute
from derivations.ledger.step import Derivation, Step, both, eq, gt
from derivations.symbols import clock, excess, h, layer, phase, r, t, turn, walk_m, walk_p

_WOODWORTH = "Woodworth et al. 2020 (higher-order models)"
_L = excess + 2  # depth; excess = L - 2
#: phase = (h - 1)/(h + 1) reaches every value between -1 and 1 and keeps both 1 - phase and 1 + phase positive.
_INSIDE = Substitute({phase: (h - 1) / (h + 1)}, {h: (1 + phase) / (1 - phase)})


def weight_plus(dual: sp.Expr, m: sp.Expr = excess) -> sp.Expr:
    """w+ at the phase m alpha_0^m R of the dual variable, between -1 and 1."""
    return layer * (1 - dual) ** (-1 / m)


def weight_minus(dual: sp.Expr, m: sp.Expr = excess) -> sp.Expr:
    """w- at the same phase."""
    return layer * (1 + dual) ** (-1 / m)


def deep_dual_map(dual: sp.Expr, m: sp.Expr = excess) -> sp.Expr:
    """beta = w+^L - w-^L."""
    return weight_plus(dual, m) ** (m + 2) - weight_minus(dual, m) ** (m + 2)


def deep_dual_potential(dual: sp.Expr, m: sp.Expr = excess) -> sp.Expr:
    """q*(R) = (w+^2 + w-^2)/2 - alpha_0^2."""
    return (weight_plus(dual, m) ** 2 + weight_minus(dual, m) ** 2) / 2 - layer**2


def deep_potential(dual: sp.Expr, m: sp.Expr = excess) -> sp.Expr:
    """q = R beta - q*(R)."""
    return dual / (m * layer**m) * deep_dual_map(dual, m) - deep_dual_potential(dual, m)


def deep_ell_order(dual: sp.Expr, m: sp.Expr = excess) -> sp.Expr:
    """l-order at beta(R): R beta/(R beta - q*(R))."""
    product = dual / (m * layer**m) * deep_dual_map(dual, m)
    return product / deep_potential(dual, m)


def results() -> dict[str, sp.Expr]:
    """The dual map (its inverse is q'), the conjugate, and the l-order, in the phase m alpha_0^m R; m = L - 2."""
    return {
        "deep_dual_map": deep_dual_map(phase),
        "deep_dual_potential": deep_dual_potential(phase),
        "deep_potential": deep_potential(phase),
        "deep_ell_order": deep_ell_order(phase),
    }


def _flow() -> list[Step]:
    flow = Step(
        "flow of equal layers",
        "definition",
        both(
            eq(sp.Derivative(walk_p(t), t), r(t) * walk_p(t) ** (_L - 1)),
            eq(sp.Derivative(walk_m(t), t), -r(t) * walk_m(t) ** (_L - 1)),
        ),
        "The gradient of w+^L by one of its L equal factors; equal layers stay equal.",
        _WOODWORTH,
    )
    return [
        flow,
        Step(
            "clock of the positive path",
            "identity",
            eq(sp.Derivative(-(walk_p(t) ** (-excess)) / excess, t), r(t)),
            "A power of w+ is linear in R.",
            _WOODWORTH,
            given=(flow,),
        ),
        Step(
            "clock of the negative path",
            "identity",
            eq(sp.Derivative(walk_m(t) ** (-excess) / excess, t), r(t)),
            "The same with the sign turned.",
            _WOODWORTH,
            given=(flow,),
        ),
        Step(
            "conserved quantity",
            "identity",
            eq(sp.Derivative(walk_p(t) ** (-excess) + walk_m(t) ** (-excess), t), 0),
            "So w+^(2-L) + w-^(2-L) keeps its value 2 alpha_0^(2-L): one path grows only while the other shrinks.",
            given=(flow,),
        ),
        Step(
            "weights in the dual variable",
            "identity",
            both(
                eq(weight_plus(phase) ** (-excess), (1 - phase) / layer**excess),
                eq(weight_minus(phase) ** (-excess), (1 + phase) / layer**excess),
            ),
            "Solve the clocks from the start alpha_0: w^(-m) = alpha_0^(-m) -+ m R, with phase = m alpha_0^m R in "
            "(-1, 1).",
            _WOODWORTH,
            _INSIDE,
        ),
    ]


def _potential() -> list[Step]:
    rate = (excess + 2) * (weight_plus(phase) ** (2 * excess + 2) + weight_minus(phase) ** (2 * excess + 2))
    tick = excess * layer**excess  # d phase/dR
    return [
        Step(
            "slope of the dual map",
            "identity",
            eq(tick * sp.Derivative(deep_dual_map(phase), phase), rate),
            "d beta/dR = L (w+^(2L-2) + w-^(2L-2)): so q'' is one over it.",
            _WOODWORTH,
            _INSIDE,
        ),
        Step(
            "the dual map is a bijection",
            "inequality",
            gt(rate, 0),
            "Its slope is positive; with the limits below, beta runs over the whole line.",
            proof=Substitute(_INSIDE.changes, _INSIDE.inverse, Signs()),
        ),
        Step(
            "conjugate potential",
            "identity",
            eq(tick * sp.Derivative(deep_dual_potential(phase), phase), deep_dual_map(phase)),
            "The conjugate is half the squared weights, less their start: as for depth two, where c (cosh 2R - 1)/2 "
            "is the same.",
            proof=_INSIDE,
        ),
        Step(
            "conjugate at zero",
            "identity",
            eq(sp.Subs(deep_dual_potential(phase), phase, 0), 0),
            "So q(beta) = R beta - q*(R) vanishes at beta = 0.",
        ),
        Step(
            "slope of the potential",
            "identity",
            eq(sp.Derivative(deep_potential(phase), phase), phase / tick * sp.Derivative(deep_dual_map(phase), phase)),
            "dq = R dbeta: the implicit function R(beta), the inverse of the dual map, is q'.",
            proof=_INSIDE,
        ),
    ]


def _depths(make, depths: tuple[int, ...]):
    """The claim for m = 1, 2, ... (depth three, four, ...)."""
    return both(*(make(sp.Integer(m)) for m in depths))


def _limits() -> list[Step]:
    # turn = 1 - phase runs over (0, 1) as R does over (0, end)
    def gap(m):
        return (deep_ell_order(1 - turn, m) - 1) / turn

    return [
        Step(
            "depth two",
            "limit",
            eq(sp.Limit(deep_dual_map(h * layer**h * clock, h), h, 0, "+"), 2 * layer**2 * sp.sinh(2 * clock)),
            "m = h -> 0: the powers become exponentials and beta = c sinh(2R) with c = 2 alpha_0^2.",
            _WOODWORTH,
            ByLimit(),
        ),
        Step(
            "unbounded",
            "limit",
            _depths(lambda m: eq(sp.Limit(deep_dual_map(1 - turn, m), turn, 0, "+"), sp.oo), (1, 2, 3)),
            "beta -> infinity as R tends to the end of its interval (depths three to five).",
            _WOODWORTH,
            ByLimit(),
        ),
        Step(
            "order 2 at small coefficients",
            "limit",
            _depths(lambda m: eq(sp.Limit(deep_ell_order(h, m), h, 0, "+"), 2), (1, 2, 3)),
            "Every depth starts as a parabola.",
            proof=ByLimit(),
        ),
        Step(
            "order 1 at large coefficients",
            "limit",
            _depths(lambda m: eq(sp.Limit(deep_ell_order(1 - turn, m), turn, 0, "+"), 1), (1, 2, 3)),
            "And ends as an absolute value.",
            proof=ByLimit(),
        ),
        Step(
            "rate",
            "limit",
            _depths(lambda m: eq(sp.Limit(gap(m), turn, 0, "+"), m / 2), (1, 2, 3)),
            "l-order - 1 ~ (m/2) (1 - phase), and beta = alpha_0^L (1 - phase)^(-L/m): a power "
            "(alpha_0^L/beta)^((L-2)/L), where depth two has "
            "only 1/log.",
            proof=ByLimit(),
        ),
    ]


def derive() -> Derivation:
    """The potential of a depth-L diagonal network."""
    formulas = results()
    return Derivation(
        "depth",
        "Depth-L diagonal networks",
        (*_flow(), *_potential(), *_limits()),
        formulas["deep_dual_map"],
        formulas,
        "Deeper networks reach the rich regime as a power of the scale.",
    )
