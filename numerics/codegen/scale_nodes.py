"""Stable nodes with a scale: c sinh and c cosh, the sum behind c_FT and its square, the Bregman divergence."""

from __future__ import annotations

import sympy as sp

from numerics.codegen.exact_parts import fast_two_sum, two_sum
from numerics.codegen.nodes import Node, Rounded, Select
from numerics.codegen.series import Polynomial

__all__ = ["Divergence", "ScaledCosh", "ScaledSinh", "ScaledSum", "SquaredScaledSum"]


class ScaledSinh(Node):
    """c sinh(x), representable beyond the point where sinh(x) alone overflows."""

    nargs = 2
    is_real = True

    @property
    def region(self):
        return self.args[1], sp.Integer(0), sp.Integer(700)

    def definition(self):
        c, x = self.args
        return c * sp.sinh(x)

    stable_form = definition

    def far(self):
        return _scaled_half_exp(*self.args) * sp.sign(self.args[1])

    def fdiff(self, argindex=1):
        c, x = self.args
        return sp.sinh(x) if argindex == 1 else c * sp.cosh(x)


class ScaledCosh(ScaledSinh):
    """c cosh(x), representable beyond the point where cosh(x) alone overflows."""

    def definition(self):
        c, x = self.args
        return c * sp.cosh(x)

    stable_form = definition

    def far(self):
        return _scaled_half_exp(*self.args)

    def fdiff(self, argindex=1):
        c, x = self.args
        return sp.cosh(x) if argindex == 1 else c * sp.sinh(x)


def _scaled_half_exp(c: sp.Expr, x: sp.Expr) -> sp.Expr:
    """(c/2) exp|x| for |x| > 700 (the other exponential is below the last digit by hundreds).

    exp|x| = E^2 exp(K) with E = exp((|x| - K)/2), K near 700 and short enough that |x| - K is exact; no factor, and
    no derivative
    of a factor, overflows before the result does.
    """
    shift = sp.Rational(round(1010 * sp.log(2).evalf(40) * 2**42), 2**42)
    half = sp.exp((sp.Abs(x) - shift) / 2)
    scaled = Rounded(Rounded(c * sp.Integer(2) ** 505) * half)
    return Rounded(scaled * half) * Rounded(sp.exp(shift) / sp.Integer(2) ** 506)


class ScaledSum(Node):
    """(1 + lam)(c + h) + extra for lam in [-1, 1] and 0 < c <= h, with the roundings of the two sums given back."""

    nargs = 4
    is_real = True

    def definition(self):
        lam, c, h, extra = self.args
        return (1 + lam) * (c + h) + extra

    def parts(self):
        """The rounded product, and everything else."""
        lam, c, h, extra = self.args
        (factor, lost), (total, dropped) = fast_two_sum(sp.Integer(1), lam), fast_two_sum(h, c)
        return Rounded(factor * total), Rounded(Rounded(factor * dropped + lost * total) + extra)

    def stable_form(self):
        return sp.Add(*self.parts())

    def fdiff(self, argindex=1):
        lam, c, h, _ = self.args
        return {1: c + h, 4: sp.Integer(1)}.get(argindex, 1 + lam)


class SquaredScaledSum(ScaledSum):
    """ScaledSum squared; the rounding of its last sum, recovered exactly, enters to first order."""

    @property
    def region(self):
        return ScaledSum(*self.args), sp.Integer(0), sp.Integer(2) ** 500

    def far(self):
        return ScaledSum(*self.args) ** 2

    def definition(self):
        return super().definition() ** 2

    def stable_form(self):
        total, lost = two_sum(*self.parts())
        return total**2 + Rounded(2 * total * lost)

    def fdiff(self, argindex=1):
        return 2 * ScaledSum(*self.args) * super().fdiff(argindex)


class Divergence(Node):
    """D(b, b0) = q(b) - q(b0) - q'(b0)(b - b0) at scale c, without its cancellations.

    With d half the difference of the mirror variables asinh(b/c), asinh(b0/c) and T the tanh of half their sum,
    D = (b - b0)/2 (d + T (d coth d - 1)) near the origin b0, and D = d b - (b - b0) T/2 away from it.
    """

    nargs = 3
    is_real = True

    def definition(self):
        b, b0, c = self.args
        u, v = b / c, b0 / c
        q, q0 = (c / 2 * (1 - sp.sqrt(1 + x**2) + x * sp.asinh(x)) for x in (u, v))
        return q - q0 - sp.asinh(v) / 2 * (b - b0)

    def stable_form(self):
        b, b0, c = self.args
        gap = Rounded(b - b0)
        turn = Rounded(gap - b)
        lost = Rounded(Rounded(b - Rounded(gap - turn)) - Rounded(b0 + turn))  # exactly what the difference rounds away
        u, v = Rounded(b / c), Rounded(b0 / c)
        wu, wv = Rounded(sp.sqrt(1 + u**2)), Rounded(sp.sqrt(1 + v**2))
        product, longer = Rounded(u * v), Rounded(wu * wv)
        longer = Rounded(longer + sp.Abs(product))
        # cosh of the sum of the mirror variables: w w0 + u v, whose cancellation for opposite signs is the quotient
        whole = Select(product > 0, longer, Rounded(Rounded(1 + u**2) + v**2) / longer)
        below = Rounded(c * Rounded(sp.sqrt(Rounded(2 * Rounded(1 + whole)))))  # 2 c cosh of half the sum
        sinh = Rounded(gap / below)
        d = Rounded(sp.asinh(sinh))
        tanh = Rounded((u + v) / (wu + wv))
        square = Rounded(d**2)
        odd = [1 / sp.factorial(2 * n + 2) - 1 / sp.factorial(2 * n + 3) for n in range(11)]
        rise = Rounded(square * Polynomial(square, *(1 / sp.factorial(2 * n + 3) for n in range(10))))  # sinh d/d - 1
        bent = Rounded(square * Polynomial(square, *odd) / Rounded(1 + rise))  # d coth d - 1, |d| < 3/2
        late = Rounded(Rounded(Rounded(sinh - d) - d * rise) / sp.sqrt(1 + sinh**2))  # what a library's asinh is off by
        # the difference enters twice, by d and as a factor
        near = Rounded(gap / 2) * (d + Rounded(tanh * bent + Rounded(2 * lost / below + late)))
        # away from the origin d and T have one sign and nothing cancels in the first form; towards it, in the second
        outward = sp.Abs(d - Rounded(tanh / 4)) < sp.Rational(5, 4)
        return Select(outward, near, d * b - Rounded(gap / 2) * tanh)

    def fdiff(self, argindex=1):
        return sp.diff(self.definition(), self.args[argindex - 1])
