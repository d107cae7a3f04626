"""Stable nodes: functions a naive formula would lose digits in, as ordinary SymPy Functions.

Each node knows three things besides its name: its definition (`rewrite("definition")`, the textbook form), its
derivative
(`fdiff`), and how it is computed without cancellation (`stable_form`, in other nodes and primitives).  Numerical
evaluation (`evalf`) goes through the definition at raised precision, so that a node can never be worth anything
else than what it stands for.  `far` is the node's asymptotic form for a large argument (given as a ratio, so that
the ratio itself
need not be representable), `near` its leading term for a small one.
"""

from __future__ import annotations

from functools import cache

import sympy as sp

from numerics.codegen.series import Polynomial, economised

__all__ = [
    "AsinhRatio",
    "CoreQuotient",
    "Divergence",
    "ExactHypot",
    "Node",
    "PotentialCore",
    "Rounded",
    "ScaledCosh",
    "ScaledSinh",
    "ScaledSum",
    "Select",
    "ShortCore",
    "SquaredScaledSum",
    "TanhHalf",
    "hypot",
]


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


class Node(sp.Function):
    """Base of the stable nodes; `region` is (x, small, large) when forms outside small <= |x| <= large exist."""

    region: tuple[sp.Expr, sp.Expr, sp.Expr] | None = None

    def definition(self) -> sp.Expr:
        """The same quantity in elementary functions, as printed in a textbook."""
        raise NotImplementedError

    def stable_form(self) -> sp.Expr:
        """The same quantity in the operations it is computed by."""
        raise NotImplementedError

    def _eval_rewrite(self, rule, args, **hints):
        return self.func(*args).definition() if rule in ("definition", sp.Function("definition")) else None

    def _eval_evalf(self, prec):
        # the definitions cancel: a hundred guard bits plus whatever the size of the argument costs
        value = self.definition().evalf(40 + int(prec / 3), maxn=2000)
        return value._to_mpmath(prec) and sp.Float._new(value._to_mpmath(prec)._mpf_, prec) if value.is_Float else value


class Rounded(Node):
    """A value as the machine rounded it: the identity in mathematics, a fence against algebra in a program."""

    nargs = 1
    is_real = True

    @classmethod
    def eval(cls, x):
        return x if x.is_Number else None

    def definition(self):
        return self.args[0]

    def stable_form(self):
        return self.args[0]

    def fdiff(self, argindex=1):
        return sp.Integer(1)


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

    def definition(self):
        (v,) = self.args
        return sp.asinh(2 * v) - v / (sp.Rational(1, 2) + sp.sqrt(sp.Rational(1, 4) + v**2))

    def stable_form(self):
        return self.series(7)

    def series(self, degree):
        (v,) = self.args
        square = TanhHalf(v) ** 2
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


class hypot(Node):
    """sqrt(a^2 + b^2) without overflow."""

    nargs = 2
    is_real = True

    @classmethod
    def eval(cls, a, b):  # even in both
        if a.could_extract_minus_sign() or b.could_extract_minus_sign():
            return cls(*(-x if x.could_extract_minus_sign() else x for x in (a, b)))

    def definition(self):
        a, b = self.args
        return sp.sqrt(a**2 + b**2)

    def fdiff(self, argindex=1):
        return self.args[argindex - 1] / self

    def _eval_is_positive(self):
        if any(a.is_positive for a in self.args):
            return True
        return None


class ExactHypot(hypot):
    """sqrt(a^2 + b^2) to the last bit, for formulas whose contract has no room for the faster form's ulp."""


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
        factor, total = Rounded(1 + lam), Rounded(c + h)
        lost = Rounded(lam - Rounded(factor - 1)), Rounded(c - Rounded(total - h))  # exact
        return Rounded(factor * total), Rounded(Rounded(factor * lost[1] + lost[0] * total) + extra)

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
        a, b = self.parts()
        total = Rounded(a + b)
        rest = Rounded(total - a)
        lost = Rounded(Rounded(a - Rounded(total - rest)) + Rounded(b - rest))
        return total**2 + Rounded(2 * total * lost)

    def fdiff(self, argindex=1):
        return 2 * ScaledSum(*self.args) * super().fdiff(argindex)


class Select(sp.Function):
    """Select(condition, a, b): a where the condition holds, else b; both are computed, and both must be finite."""

    is_real = True

    @classmethod
    def eval(cls, *args):
        return None


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
        same = sp.Or(sp.And(u > 0, v > 0), sp.And(u < 0, v < 0))  # a difference of asinh that cancels
        middle = Select(same, 1 + wu * wv + u * v, sp.Integer(8))
        middle = Rounded(sp.sqrt(Rounded(2 * middle)))  # 2 cosh of half the sum
        below = Rounded(c * middle)
        d = Rounded(Select(same, sp.asinh(gap / below), Rounded(sp.asinh(u) - sp.asinh(v)) / 2))
        tanh = Rounded((u + v) / (wu + wv))
        square = Rounded(d**2)
        odd = [1 / sp.factorial(2 * n + 2) - 1 / sp.factorial(2 * n + 3) for n in range(11)]
        sinhc = [1 / sp.factorial(2 * n + 1) for n in range(11)]
        bent = Rounded(square * Polynomial(square, *odd) / Polynomial(square, *sinhc))  # d coth d - 1, |d| < 3/2
        # the difference enters twice, by d and as a factor (once where the mirror variables were subtracted)
        near = Rounded(gap / 2) * (d + Rounded(tanh * bent + 2 * lost / below))
        # away from the origin d and T have one sign and nothing cancels in the first form; towards it, in the second
        outward = sp.Abs(d - Rounded(tanh / 4)) < sp.Rational(5, 4)
        return Select(outward, near, d * b - Rounded(gap / 2) * tanh)

    def fdiff(self, argindex=1):
        return sp.diff(self.definition(), self.args[argindex - 1])
