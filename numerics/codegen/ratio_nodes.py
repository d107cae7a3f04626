"""Stable nodes of one ratio: arcsinh, the half-angle tangent and the cores of the potential and its quotients."""

from __future__ import annotations

from functools import cache

import sympy as sp

from numerics.codegen.nodes import Node, Rounded
from numerics.codegen.series import Polynomial, economised

__all__ = ["AsinhRatio", "CoreQuotient", "PotentialCore", "RatioNode", "ShortCore", "TanhHalf", "core_coefficients"]


def sign_and_log(ratio: sp.Expr, split: bool) -> tuple[sp.Expr, sp.Expr]:
    """sign(ratio) and log|ratio|; split: from numerator and denominator apart, because the ratio itself may
    overflow.
    """
    if not split:
        return sp.sign(ratio), sp.log(sp.Abs(Rounded(ratio)))
    over, under = sp.Integer(1), sp.Integer(1)
    for factor in sp.Mul.make_args(ratio):
        base, exponent = factor.as_base_exp()
        if exponent.is_Rational and exponent.is_negative:
            under *= base**-exponent
        else:
            over *= factor
    sign = [
        sp.Integer(1) if part.is_nonnegative else sp.sign(part) for part in (over, under)
    ]  # used for large ratios: not 0
    return sp.Mul(*sign), sp.log(sp.Abs(over)) - sp.log(sp.Abs(under))


class RatioNode(Node):
    """A function of one ratio x, with a form for |x| > 2^500 (error below 2/x) and one for |x| < 2^-500 (below x^2)."""

    nargs = 1
    is_real = True

    @classmethod
    def eval(cls, x):  # odd functions, all of them
        if x.is_zero:
            return sp.Integer(0)
        return -cls(-x) if x.could_extract_minus_sign() else None

    @property
    def region(self):
        return self.args[0], sp.Integer(2) ** -500, sp.Integer(2) ** 500


class AsinhRatio(RatioNode):
    """asinh(x), also where the ratio x overflows."""

    def definition(self):
        return sp.asinh(self.args[0])

    stable_form = definition

    def fdiff(self, argindex=1):
        return 1 / sp.sqrt(1 + self.args[0] ** 2)

    def far(self, split=True):
        sign, log_ratio = sign_and_log(self.args[0], split)
        return sign * (sp.log(2) + log_ratio)

    def near(self):
        x = self.args[0]
        return x - x**3 / 6


class TanhHalf(RatioNode):
    """T(v) = tanh(asinh(2 v)/2) = v / (1/2 + sqrt(1/4 + v^2)), so that sqrt(1 + 4 v^2) - 1 = 2 v T(v)."""

    def definition(self):
        (v,) = self.args
        return v / (sp.Rational(1, 2) + sp.sqrt(sp.Rational(1, 4) + v**2))

    stable_form = definition

    def fdiff(self, argindex=1):
        (v,) = self.args
        root = sp.sqrt(1 + 4 * v**2)
        return 2 / (root * (1 + root))

    def far(self, split=True):
        return sign_and_log(self.args[0], split)[0]

    def near(self):  # T = v (1 - v^2 + 2 v^4 - 5 v^6 + ...), with the Catalan numbers
        (v,) = self.args
        return v * Polynomial(Rounded(v) ** 2, *[(-1) ** n * sp.catalan(n) for n in range(NEAR_TERMS)])


class PotentialCore(RatioNode):
    """F(v) = asinh(2 v) - T(v): the potential is (beta/2) F(beta/(2 c)).  dF/dv = 2/(1 + sqrt(1 + 4 v^2)).

    The difference loses a bit or two; sinh(F) = 2 v [cosh t - (1 + t^2) sinh(t)/(2 t)] with t = T(v) does not, and the
    bracket is an entire function of t^2 in [0, 1]: 1/2 + (t^2/2) E(t^2).
    """

    tanh_half = TanhHalf

    def definition(self):
        (v,) = self.args
        return sp.asinh(2 * v) - v / (sp.Rational(1, 2) + sp.sqrt(sp.Rational(1, 4) + v**2))

    def stable_form(self):
        return self.series(7)

    def series(self, degree):
        (v,) = self.args
        square = self.tanh_half(v) ** 2
        return sp.asinh(v + v * Rounded(square * Polynomial(square, *core_coefficients(degree))))

    def fdiff(self, argindex=1):
        (v,) = self.args
        return 2 / (1 + sp.sqrt(1 + 4 * v**2))

    def far(self, split=True):
        sign, log_ratio = sign_and_log(self.args[0], split)
        return sign * (2 * sp.log(2) - 1 + log_ratio)

    def near(self):  # dF/dv = T/v
        (v,) = self.args
        return v * Polynomial(Rounded(v) ** 2, *[(-1) ** n * sp.catalan(n) / (2 * n + 1) for n in range(NEAR_TERMS)])


class ShortCore(PotentialCore):
    """PotentialCore for whole arrays, a term less: 1e-16 of the bracket at large v, where F has an ulp to spare."""

    def stable_form(self):
        return self.series(6)


class CoreQuotient(RatioNode):
    """T/F at u = 2 v: the l-order is 1 + T/F.  For whole arrays: one asinh and one tanh, no polynomial.

    F = asinh(u) - T loses a bit or two where u is small, and T/F = 1 there: what is lost is added to 1.  T is taken of
    the asinh that was computed, so that the rounding of the asinh enters F only by half.
    """

    @classmethod
    def eval(cls, x):  # even
        return cls(-x) if x.could_extract_minus_sign() else None

    def definition(self):
        half = self.args[0] / 2
        return TanhHalf(half).definition() / PotentialCore(half).definition()

    def stable_form(self):
        (u,) = self.args
        double = Rounded(sp.asinh(u))
        tanh = Rounded(sp.tanh(Rounded(double / 2)))
        return tanh / Rounded(double - tanh)

    def fdiff(self, argindex=1):
        return sp.diff(self.definition(), self.args[0])


NEAR_TERMS = 10  # for |v| < 2^-4 the next term is below 2^-60; autograd uses the series that far


@cache
def core_coefficients(degree: int = 7) -> tuple[sp.Rational, ...]:
    """E(x), where 2 cosh(t) - (1 + t^2) sinh(t)/t = 1 + x E(x) at x = t^2; error below 1e-19 on [0, 1]."""
    x = sp.Symbol("x")
    terms = 14
    cosh = [1 / sp.factorial(2 * n) for n in range(terms)]
    sinhc = [1 / sp.factorial(2 * n + 1) for n in range(terms)]
    bracket = sp.Poly([2 * a for a in reversed(cosh)], x) - sp.Poly([1, 1], x) * sp.Poly(list(reversed(sinhc)), x)
    return economised(tuple(bracket.all_coeffs()[::-1][1:terms]), degree)[0]
