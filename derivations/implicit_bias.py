"""The potential that gradient flow minimises (THEORY section 2; Woodworth et al. 2020, Theorem 1)."""

from __future__ import annotations

import sympy as sp

from derivations.ledger.step import Derivation
from derivations.symbols import beta, c, s, t, u


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


def results() -> dict[str, sp.Expr]:
    """The named formulas of this derivation."""
    return {
        "potential": potential(beta, c),
        "potential_derivative": potential_derivative(beta, c),
        "potential_second_derivative": potential_second_derivative(beta, c),
        "dual_map": dual_map(t, c),
        "potential_stable": potential_stable(s, c),
        "potential_without_sinh": potential_without_sinh(u, c),
    }


def derive() -> Derivation:
    """The implicit-bias potential."""
    formulas = results()
    return Derivation("implicit_bias", "The implicit bias of gradient flow", (), formulas["potential"], formulas)
