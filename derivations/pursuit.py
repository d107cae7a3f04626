"""Basis pursuit, c_FT -> 0: the phase transition of exact recovery, derived in parametric form.

Steps only, for `derivations.limits`. The estimator is the soft threshold at a sqrt(s2); near exact recovery the signal
is either 0 or far above the noise, which leaves two Gaussian integrals.
"""

from __future__ import annotations

import sympy as sp

from derivations.ledger.bounds import Factors, Falling, Rising, Signs
from derivations.ledger.proof import ByLimit
from derivations.ledger.step import Step, both, eq, gt, lt
from derivations.symbols import t, threshold, weight

_DMM = "Donoho, Maleki & Montanari 2009; Donoho & Tanner 2005"
_A = threshold
_DENSITY = sp.exp(-(_A**2) / 2) / sp.sqrt(2 * sp.pi)
_TAIL = sp.erfc(_A / sp.sqrt(2)) / 2


def idle_error() -> sp.Expr:
    """E eta(Z; a)^2 for a coordinate whose signal is 0, in units of s2."""
    return 2 * ((1 + _A**2) * _TAIL - _A * _DENSITY)


def contraction() -> sp.Expr:
    """E(xhat - x)^2/s2 near exact recovery, with a fraction `weight` of active coordinates."""
    return weight * (1 + _A**2) + (1 - weight) * idle_error()


def excess() -> sp.Expr:
    """phi(a) - a Phi(-a)."""
    return _DENSITY - _A * _TAIL


def critical_alpha() -> sp.Expr:
    """delta(a): samples per dimension at the transition."""
    return 2 * _DENSITY / (_A + 2 * excess())


def critical_ratio() -> sp.Expr:
    """rho(a): nonzeros per sample at the transition."""
    return 1 - _A * _TAIL / _DENSITY


def critical_weight() -> sp.Expr:
    """Fraction of active coordinates at the transition."""
    return 2 * excess() / (_A + 2 * excess())


def pursuit_results() -> dict[str, sp.Expr]:
    """The curve of the transition, parametrised by the threshold a."""
    return {"critical_alpha": critical_alpha(), "critical_ratio": critical_ratio()}


def _integrals() -> list[Step]:
    normal = sp.exp(-(t**2) / 2) / sp.sqrt(2 * sp.pi)
    antiderivative = (1 + _A**2) * sp.erf(t / sp.sqrt(2)) / 2 + (2 * _A - t) * normal
    return [
        Step(
            "active coordinates",
            "identity",
            eq(sp.Integral((t - _A) ** 2 * normal, (t, -sp.oo, sp.oo)), 1 + _A**2),
            "A large signal is moved by the threshold: the error is Z - a, in units of sqrt(s2).",
            _DMM,
        ),
        Step(
            "idle coordinates: antiderivative",
            "identity",
            eq(sp.Derivative(antiderivative, t), (t - _A) ** 2 * normal),
            "Of the squared soft threshold.",
            "textbook",
        ),
        Step(
            "idle coordinates",
            "limit",
            eq(
                sp.Limit(2 * (antiderivative - antiderivative.subs(t, _A)), t, sp.oo),
                idle_error(),
            ),
            "Twice the integral over t > a.",
            _DMM,
            ByLimit(),
        ),
        Step(
            "degrees of freedom",
            "identity",
            eq(sp.Derivative(_TAIL, _A), -_DENSITY),
            "P(|Z| > a) = 2 Phi(-a), with Phi(-a) = erfc(a/sqrt 2)/2 the tail of the density.",
            "textbook",
        ),
    ]


def _transition() -> list[Step]:
    critical = Step(
        "critical sparsity",
        "definition",
        eq(weight, critical_weight()),
        "The root of the slope in a.",
    )
    return [
        Step(
            "slope of the contraction",
            "identity",
            eq(sp.Derivative(contraction(), _A), 2 * _A * weight - 4 * (1 - weight) * excess()),
            "Exact recovery (s2 -> 0) is stable when the error falls short of alpha s2: contraction(a) < alpha for "
            "some a; the "
            "best a makes the slope vanish.",
            _DMM,
        ),
        Step(
            "the best threshold is unique",
            "inequality",
            gt(sp.Derivative(contraction(), (_A, 2)), 0),
            "The contraction is strictly convex in a.",
            proof=Signs(2 * weight + 4 * (1 - weight) * _TAIL),
        ),
        critical,
        Step(
            "slope vanishes",
            "identity",
            eq(2 * _A * weight - 4 * (1 - weight) * excess(), 0),
            "At weight = 2 (phi - a Phi(-a))/(a + 2 (phi - a Phi(-a))).",
            given=(critical,),
        ),
        Step(
            "critical sample ratio",
            "identity",
            eq(contraction(), critical_alpha()),
            "delta(a) = 2 phi(a)/(a + 2 (phi(a) - a Phi(-a))).",
            _DMM,
            given=(critical,),
        ),
        Step(
            "dof agrees",
            "identity",
            eq(weight + (1 - weight) * 2 * _TAIL, critical_alpha()),
            "The second saddle-point equation, dof = alpha (active coordinates count 1, idle ones P(|Z| > a)), gives "
            "the same "
            "curve: both equations hold at the transition.",
            "this project",
            given=(critical,),
        ),
        Step(
            "nonzeros per sample",
            "identity",
            eq(critical_weight() / critical_alpha(), critical_ratio()),
            "rho(a) = 1 - a Phi(-a)/phi(a).",
            _DMM,
        ),
    ]


def _curve() -> list[Step]:
    above = Falling(_A, Signs(_TAIL))
    inner = (1 + _A**2) * _TAIL - _A * _DENSITY
    central = sp.erf(_A / sp.sqrt(2))
    bracket = _A**2 * central + 2 * _A * _DENSITY + central
    bottom = _A + 2 * excess()
    return [
        Step(
            "Mills' inequality",
            "inequality",
            gt(excess(), 0),
            "phi - a Phi(-a) falls to 0 at the rate Phi(-a): so 0 < weight < 1 and rho < 1.",
            "textbook",
            above,
        ),
        Step(
            "second Mills inequality",
            "inequality",
            gt(inner, 0),
            "It falls to 0 at the rate 2 (phi - a Phi(-a)).",
            "textbook",
            Falling(_A, Factors(((sp.Integer(2), 1, Signs()), (excess(), 1, above)))),
        ),
        Step(
            "rho falls along the curve",
            "inequality",
            lt(sp.Derivative(critical_ratio(), _A), 0),
            "The slope is minus the second Mills expression over phi.",
            proof=Factors(
                (
                    (inner, 1, Falling(_A, Factors(((sp.Integer(2), 1, Signs()), (excess(), 1, above))))),
                    (_DENSITY, -1, Signs()),
                )
            ),
        ),
        Step(
            "delta falls along the curve",
            "inequality",
            lt(sp.Derivative(critical_alpha(), _A), 0),
            "So rho is an increasing function of delta: the transition is a curve, as drawn.",
            proof=Factors(
                (
                    (2 * _DENSITY, 1, Signs()),
                    (bracket, 1, Signs()),
                    (bottom, -2, Rising(_A, Rising(_A, Signs()))),
                )
            ),
        ),
        Step(
            "ends of the curve",
            "limit",
            both(
                eq(sp.Limit(critical_alpha(), _A, 0, "+"), 1),
                eq(sp.Limit(critical_ratio(), _A, 0, "+"), 1),
                eq(sp.Limit(critical_ratio(), _A, sp.oo), 0),
            ),
            "alpha = 1 needs no sparsity; few samples need ever sparser signals.",
            _DMM,
            ByLimit(),
        ),
    ]


def pursuit_steps() -> list[Step]:
    """All steps, in order."""
    return [*_integrals(), *_transition(), *_curve()]
