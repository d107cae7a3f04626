"""Gaussian averages of polynomials by linearity, before SymPy is asked for the integral as a whole (much faster)."""

from __future__ import annotations

import sympy as sp


def gaussian_averages(expr: sp.Expr) -> sp.Expr:
    """Replace every integral of polynomial(t) exp(-t^2/2) over the line by the sum of its moments."""
    return expr.replace(lambda node: isinstance(node, sp.Integral), lambda node: _by_moments(node) or node)


def _by_moments(integral: sp.Integral) -> sp.Expr | None:
    """The integral term by term, or None if it is not of this kind."""
    if len(integral.limits) != 1 or tuple(integral.limits[0][1:]) != (-sp.oo, sp.oo):
        return None
    variable = integral.limits[0][0]
    bell = sp.exp(-(variable**2) / 2)
    rest = integral.function / bell
    if not rest.is_polynomial(variable):
        return None
    total = sp.Integer(0)
    for (power,), coefficient in sp.Poly(rest, variable).terms():
        total += coefficient * sp.integrate(variable**power * bell, (variable, -sp.oo, sp.oo))
    return total
