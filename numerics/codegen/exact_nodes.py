"""Stable nodes for contracts that have no room: what their sums and quotients round away is carried beside them."""

from __future__ import annotations

import sympy as sp

from numerics.codegen.exact_parts import Parts, carried_hypot, carried_quotient, carried_square, fast_two_sum, two_sum
from numerics.codegen.nodes import Known, Node, Rounded, hypot
from numerics.codegen.ratio_nodes import PotentialCore, RatioNode, TanhHalf

__all__ = ["DependenceProduct", "ExactCore", "ExactHypot", "ExactTanhHalf", "WholeCore", "WholeTanh"]


class ExactHypot(hypot):
    """sqrt(a^2 + b^2) for b > 0 to 0.6 ulp, without overflow: for formulas without room for the faster form's ulp."""

    def parts(self) -> Parts:
        """The rounded value, and what it rounds away."""
        return fast_two_sum(*carried_hypot(*self.args))

    def stable_form(self):
        return self.parts()[0]


class ExactTanhHalf(TanhHalf):
    """TanhHalf = 2 v/(1 + sqrt(1 + 4 v^2)) to 0.6 ulp: one rounding after the ratio's own."""

    def stable_form(self):
        (v,) = self.args
        u = Rounded(2 * v)
        longer, rest = carried_hypot(u, sp.Integer(1))
        near, lost = fast_two_sum(longer, sp.Integer(1))
        below, dropped = fast_two_sum(near, rest)
        return sp.Add(*carried_quotient(u, below, Rounded(lost + dropped)))


class ExactCore(PotentialCore):
    """PotentialCore from ExactTanhHalf, which stands beside it."""

    tanh_half = ExactTanhHalf


class WholeTanh(RatioNode):
    """tanh(asinh(u)/2), for whole arrays: one asinh, which WholeCore needs as well, and one tanh."""

    def definition(self):
        return TanhHalf(self.args[0] / 2).definition()

    def stable_form(self):
        return sp.tanh(Rounded(Rounded(sp.asinh(self.args[0])) / 2))

    def fdiff(self, argindex=1):
        return TanhHalf(self.args[0] / 2).fdiff() / 2


class WholeCore(RatioNode):
    """PotentialCore(u/2) for whole arrays: asinh less WholeTanh, so that the asinh's rounding enters only by half."""

    def definition(self):
        return PotentialCore(self.args[0] / 2).definition()

    def stable_form(self):
        (u,) = self.args
        return Rounded(sp.asinh(u)) - WholeTanh(u)

    def fdiff(self, argindex=1):
        return PotentialCore(self.args[0] / 2).fdiff() / 2


class DependenceProduct(Node):
    """b^2/(h (h + c + gamma^2/(2 (1 + lam)))) over/under with h = hypot(b, c), c > 0: S T/F, rounded at its end.

    Three quotients of 26 bits, whose product is taken once; what they leave is carried beside them.
    """

    nargs = 6
    is_real = True

    @classmethod
    def eval(cls, *args):
        shared = {*sp.Mul.make_args(args[4])} & {*sp.Mul.make_args(args[5])} - {sp.Integer(1)}
        return cls(*args[:4], *(part / sp.Mul(*shared) for part in args[4:])) if shared else None

    @property
    def divisor(self) -> sp.Expr:
        """`under`, which may vanish together with `over`."""
        return self.args[5]

    def definition(self):
        b, c, lam, gamma, over, under = self.args
        h = sp.sqrt(b**2 + c**2)
        return b**2 / (h * (h + c + gamma**2 / (2 * (1 + lam)))) * over / under

    def stable_form(self):
        b, c, lam, gamma, over, under = self.args
        h, h_lost = ExactHypot(b, c).parts()
        square, more = carried_square(gamma)
        factor, factor_lost = fast_two_sum(sp.Integer(1), lam)
        extra, extra_lost = fast_two_sum(*carried_quotient(square / 2, factor, factor_lost, more / 2))
        near, near_lost = fast_two_sum(h, c)
        total, total_lost = two_sum(near, extra)
        lost = Rounded(total_lost + Rounded(extra_lost + Rounded(h_lost + near_lost)))
        (p, p_rest), (q, q_rest) = carried_quotient(b, total, lost), carried_quotient(b, h, h_lost)
        product, rest = Rounded(p * q), Rounded(p * q_rest + p_rest * Rounded(q + q_rest))
        weight, weight_rest = carried_quotient(over, under)
        small = Rounded(rest * weight + Rounded(product + rest) * weight_rest)
        # an infinite argument, or lam = -1, leaves NaN, where the value is 0, or NaN indeed
        infinite = Rounded(b / Rounded(near + Rounded(square / factor))) * weight
        return Known(Rounded(Rounded(product * weight) + small), infinite)

    def fdiff(self, argindex=1):
        places = [sp.Dummy(real=True) for _ in self.args]  # an argument may occur in another
        slope = sp.diff(self.func(*places).definition(), places[argindex - 1])
        return slope.xreplace(dict(zip(places, self.args, strict=True)))
