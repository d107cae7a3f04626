"""Formulas of the implicit-bias potential: q, its derivatives, its conjugate (THEORY section 2).

`derivations.implicit_bias` proves them and passes them on.
"""

from __future__ import annotations

import sympy as sp


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


def paper_potential(b: sp.Expr, parameter: sp.Expr) -> sp.Expr:
    """The potential in the paper's parameter k = 4 scale^2."""
    ratio = 2 * b / sp.sqrt(parameter)
    return sp.sqrt(parameter) / 4 * (1 - sp.sqrt(1 + ratio**2) + ratio * sp.asinh(ratio))


def dual_potential(r: sp.Expr, scale: sp.Expr) -> sp.Expr:
    """q*(r) = (scale/2)(cosh(2r) - 1): the convex conjugate; its gradient is the dual map."""
    return scale / 2 * (sp.cosh(2 * r) - 1)


def tangent_gap(upper: sp.Expr, lower: sp.Expr, scale: sp.Expr) -> sp.Expr:
    """q(b) - q(beta) - q'(beta)(b - beta) for b = scale sinh(upper), beta = scale sinh(lower)."""
    return scale / 2 * (sp.cosh(lower) - sp.cosh(upper) + (upper - lower) * sp.sinh(upper))
