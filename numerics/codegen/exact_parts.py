"""Error-free transformations: sums, squares, quotients in two parts, the second what the first one's rounding lost.

The parts are expressions.  In mathematics every `Rounded` is the identity and the second parts of sums vanish; on the
machine value + rest holds about twice the digits of one double (Dekker 1971, Knuth's TwoSum).
"""

from __future__ import annotations

import sympy as sp

from numerics.codegen.nodes import Rounded, Upper

__all__ = ["carried_hypot", "carried_quotient", "carried_square", "fast_two_sum", "two_sum"]

Parts = tuple[sp.Expr, sp.Expr]
ZERO = sp.Integer(0)


def two_sum(a: sp.Expr, b: sp.Expr) -> Parts:
    """a + b, exactly."""
    total = Rounded(a + b)
    rest = Rounded(total - a)
    return total, Rounded(Rounded(a - Rounded(total - rest)) + Rounded(b - rest))


def fast_two_sum(a: sp.Expr, b: sp.Expr) -> Parts:
    """a + b, exactly where |a| >= |b|."""
    total = Rounded(a + b)
    return total, Rounded(b - Rounded(total - a))


def carried_hypot(a: sp.Expr, b: sp.Expr) -> Parts:
    """sqrt(a^2 + b^2) for b > 0: its longer leg, which is exact, and what is to be added, to 3 roundings of itself.

    With t the shorter leg over the longer one, what is to be added is (shorter leg) t/(1 + sqrt(1 + t^2)).
    """
    shorter = sp.Max(sp.Min(a, b), -b)  # with its sign: even and smooth at a = 0
    longer = sp.Max(sp.Abs(a), b)
    ratio = Rounded(shorter / longer)
    return longer, Rounded(shorter * Rounded(ratio / (1 + Rounded(sp.sqrt(1 + ratio**2)))))


def carried_square(x: sp.Expr) -> Parts:
    """x^2: the square of the upper half, which is exact, and the rest."""
    high = Upper(x)
    return Rounded(high**2), Rounded(Rounded(x + high) * Rounded(x - high))


def carried_quotient(a: sp.Expr, b: sp.Expr, lost: sp.Expr = ZERO, more: sp.Expr = ZERO) -> Parts:
    """(a + more)/(b + lost): a quotient of 26 bits, whose products with the two halves of b are exact, and the rest."""
    inverse, high = Rounded(1 / b), Upper(b)  # one division: neither part needs its last bits
    quotient = Upper(a * inverse)
    low = Rounded(Rounded(b - high) + lost)
    left = Rounded(Rounded(a - Rounded(quotient * high)) - Rounded(quotient * low))
    return quotient, Rounded(Rounded(left + more) * inverse)
