"""Polynomials for entire functions: the Taylor series in exact rationals, economised, rounded once.

Economisation subtracts the last term's shifted Chebyshev polynomial, which costs at most |a_n| / 2^(2n-1) on [0, 1] and
saves a degree.  No fitting is involved, so the coefficients are the same on every machine.
"""

from __future__ import annotations

from functools import cache

import sympy as sp

__all__ = ["Polynomial", "economised"]


class Polynomial(sp.Function):
    """Polynomial(x, a_0, a_1, ...) = a_0 + a_1 x + ...: kept together so that a printer writes Horner's scheme."""

    is_real = True

    @classmethod
    def eval(cls, *args):
        return None

    def definition(self):
        x, *coefficients = self.args
        return sp.Add(*[a * x**n for n, a in enumerate(coefficients)])

    def _eval_rewrite(self, rule, args, **hints):
        return self.definition()

    def _eval_evalf(self, prec):
        return self.definition()._eval_evalf(prec)

    def fdiff(self, argindex=1):
        x, *coefficients = self.args
        return Polynomial(x, *[n * a for n, a in enumerate(coefficients)][1:])


@cache
def economised(terms: tuple[sp.Rational, ...], degree: int) -> tuple[tuple[sp.Rational, ...], sp.Rational]:
    """(coefficients up to `degree`, bound of the error on [0, 1]) from the Taylor coefficients of an entire function.

    `terms` must be long enough that what follows them is negligible; the bound counts the economised terms only.
    """
    x = sp.Dummy("x")
    coefficients, bound = list(terms), sp.Integer(0)
    while len(coefficients) - 1 > degree:
        n = len(coefficients) - 1
        shifted = sp.Poly(sp.chebyshevt_poly(n, 2 * x - 1), x).all_coeffs()[::-1]
        factor = coefficients[-1] / shifted[-1]
        coefficients = [a - factor * s for a, s in zip(coefficients, shifted, strict=True)][:-1]
        bound += abs(factor)
    return tuple(coefficients), bound
