"""The channel of basis pursuit, c_FT -> 0: averages of the soft threshold for a Gaussian target (or zero, tau2 = 0).

With z ~ N(0, V), V = tau2 + s2, and x given z of mean G z (G = tau2/V) and variance tau2 s2/V, the estimate is
z - theta sign(z) beyond the threshold and 0 below it.
"""

from __future__ import annotations

import sympy as sp

from derivations.ledger.proof import ByLimit
from derivations.ledger.step import Derivation, Step, eq
from derivations.pursuit import idle_error
from derivations.symbols import h, s2, t, tau2, theta, threshold, weight

_A = threshold
_DENSITY = sp.exp(-(_A**2) / 2) / sp.sqrt(2 * sp.pi)


def tail_moment(order: int) -> sp.Expr:
    """E |Z|^order 1(|Z| > a) for order 0, 1, 2."""
    outside = sp.erfc(_A / sp.sqrt(2))
    return {0: outside, 1: 2 * _DENSITY, 2: 2 * _A * _DENSITY + outside}[order]


def unit_error(gain: sp.Expr) -> sp.Expr:
    """E (xhat - G z)^2 / V as a function of a = theta/sqrt(V)."""
    beyond = (1 - gain) ** 2 * tail_moment(2) - 2 * (1 - gain) * _A * tail_moment(1) + _A**2 * tail_moment(0)
    return gain**2 * (1 - tail_moment(2)) + beyond


def results() -> dict[str, sp.Expr]:
    """Error and degrees of freedom of one component, in (theta, s2, tau2)."""
    variance = tau2 + s2
    at = {_A: theta / sp.sqrt(variance)}
    return {
        "soft_error": variance * unit_error(tau2 / variance).subs(at) + tau2 * s2 / variance,
        "soft_dof": tail_moment(0).subs(at),
    }


def _moments() -> list[Step]:
    normal = sp.exp(-(t**2) / 2) / sp.sqrt(2 * sp.pi)
    antiderivatives = (sp.erf(t / sp.sqrt(2)) / 2, -normal, sp.erf(t / sp.sqrt(2)) / 2 - t * normal)
    steps = []
    for order, primitive in enumerate(antiderivatives):
        steps.append(
            Step(
                f"antiderivative of order {order}",
                "identity",
                eq(sp.Derivative(primitive, t), t**order * normal),
                "Differentiate.",
                "textbook",
            )
        )
        steps.append(
            Step(
                f"tail moment of order {order}",
                "limit",
                eq(sp.Limit(2 * (primitive - primitive.subs(t, _A)), t, sp.oo), tail_moment(order)),
                "Both tails are equal.",
                "textbook",
                ByLimit(),
            )
        )
    return steps


def _error() -> list[Step]:
    gain = weight
    beyond = sp.expand(((1 - gain) * h - _A) ** 2)
    moments = sum(beyond.coeff(h, order) * tail_moment(order) for order in range(3))
    return [
        Step(
            "error beyond and below the threshold",
            "identity",
            eq(moments + gain**2 * (1 - tail_moment(2)), unit_error(gain)),
            "Beyond it xhat - G z = (1 - G) z - a sign(z), below it -G z, in units of sqrt(V); expand the square and "
            "put the tail moments in.",
        ),
        Step(
            "a coordinate without signal",
            "identity",
            eq(unit_error(sp.Integer(0)), idle_error()),
            "G = 0 gives the idle error of the phase transition (derivation limits).",
            "Donoho, Maleki & Montanari 2009",
        ),
    ]


def derive() -> Derivation:
    """The channel of basis pursuit."""
    formulas = results()
    return Derivation(
        "soft_threshold",
        "The channel of basis pursuit",
        (*_moments(), *_error()),
        formulas["soft_error"],
        formulas,
        "Error and degrees of freedom of the soft threshold in closed form: the l1 limit of the saddle point.",
    )
