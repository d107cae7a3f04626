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

import sympy as sp

__all__ = ["Known", "Node", "Rounded", "Select", "Upper", "hypot"]


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


class Upper(Rounded):
    """The upper 26 bits of a value: its product with another such is exact.  What is cut off is carried beside it."""


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


class Select(sp.Function):
    """Select(condition, a, b): a where the condition holds, else b; both are computed, and both must be finite."""

    is_real = True

    @classmethod
    def eval(cls, *args):
        return None


class Known(sp.Function):
    """Known(a, b): a where it is a number, b where it is NaN (an infinity met its like in a carried form)."""

    is_real = True

    @classmethod
    def eval(cls, a, b):
        return a if a.is_number else None
