"""Does an expression reduce to zero?  Algebra that a reader could redo, in one fixed order.

1. take the derivatives, sums and integrals that stand in it,
2. write sinh, cosh, tanh as exponentials and give every exp(w), radical, |w| and log a name (a generator) with the
   polynomial relation it satisfies (r^2 = radicand),
3. take the numerator over a common denominator and reduce it by those relations.

Every replacement is an identity for the assumptions of the symbols, so `True` is a proof; `False` only says that
this route did not get there.
"""

from __future__ import annotations

import sympy as sp

from derivations.ledger.integrals import gaussian_averages

_HYPERBOLIC = {
    sp.sinh: lambda w: (sp.exp(w) - sp.exp(-w)) / 2,
    sp.cosh: lambda w: (sp.exp(w) + sp.exp(-w)) / 2,
    sp.tanh: lambda w: (sp.exp(w) - sp.exp(-w)) / (sp.exp(w) + sp.exp(-w)),
    sp.coth: lambda w: (sp.exp(w) + sp.exp(-w)) / (sp.exp(w) - sp.exp(-w)),
    sp.sech: lambda w: 2 / (sp.exp(w) + sp.exp(-w)),
    sp.csch: lambda w: 2 / (sp.exp(w) - sp.exp(-w)),
    sp.erfc: lambda w: 1 - sp.erf(w),
}
_LONG_EXPONENT = 3


class _Generators:
    """Names for the transcendental and algebraic pieces of one expression."""

    def __init__(self, whole_exponents: bool) -> None:
        self.whole_exponents = whole_exponents  # keep exp(long sum) as one piece: much smaller polynomials
        self.kept_whole = False
        self.lowered: dict[sp.Expr, sp.Expr] = {}
        self.opaque: dict[sp.Expr, sp.Symbol] = {}
        self.logs: dict[sp.Symbol, sp.Expr] = {}  # the generator of log(base) -> base
        self.exponents: dict[sp.Symbol, sp.Expr] = {}  # the generator of exp(arg) -> arg
        self.radicals: list[tuple[sp.Symbol, sp.Expr]] = []  # (r, r^2), inner ones first

    def name(self, expr: sp.Expr, **assumptions: bool) -> sp.Symbol:
        if expr not in self.opaque:
            self.opaque[expr] = sp.Dummy(f"e{len(self.opaque)}", **assumptions)
        return self.opaque[expr]

    def exponential(self, arg: sp.Expr) -> sp.Expr:
        """exp(sum of terms) as a product; exp((p/q) w) as a power of the generator of exp(w)."""
        product = sp.Integer(1)
        terms = _terms(arg)
        if self.whole_exponents and len(terms) > _LONG_EXPONENT:
            self.kept_whole = True
            content, arg = sp.Add(*terms).as_content_primitive()
            if arg.could_extract_minus_sign():
                content, arg = -content, -arg
            return self._exponential_of(arg) ** content
        for term in terms:
            rational, rest = term.as_coeff_Mul(rational=True)
            if rest in self.logs:
                product *= self.logs[rest] ** rational
            elif rest == 1:
                product *= self.name(sp.exp(1), positive=True) ** rational
            else:
                product *= self._exponential_of(rest) ** rational
        return product

    def root(self, base: sp.Expr) -> sp.Expr:
        """sqrt(base) = (factors that leave the root) * r with r^2 = the square-free rest."""
        top, bottom = sp.fraction(sp.cancel(sp.together(base)))
        if not (bottom.is_nonnegative or sp.factor(bottom).is_nonnegative):  # it divides, so it is not 0
            return self._radical(base)
        coefficient, factors = sp.factor_list(sp.expand(top * bottom))
        outside = self._rational_root(abs(coefficient)) / bottom
        inside = sp.sign(coefficient)
        for factor, power in factors:
            if power > 1 and (factor.is_nonnegative or (power // 2) % 2 == 0):
                outside *= factor ** (power // 2)
                power %= 2
            if factor.is_positive and power == 1:
                outside *= self._radical(factor)
            else:
                inside *= factor**power
        return outside if inside == 1 else outside * self._radical(sp.expand(inside))

    def _rational_root(self, value: sp.Rational) -> sp.Expr:
        """sqrt of a rational: the square factors leave the root, the rest is a generator."""
        outside, inside = sp.sqrt(value).as_coeff_Mul(rational=True)
        return outside if inside == 1 else outside * self._radical(inside**2)

    def _radical(self, inside: sp.Expr) -> sp.Symbol:
        for symbol, square in self.radicals:
            if square == inside:
                return symbol
        symbol = sp.Dummy(f"r{len(self.radicals)}", nonnegative=bool(inside.is_nonnegative), real=True)
        if inside.is_positive:
            symbol = sp.Dummy(f"r{len(self.radicals)}", positive=True)
        self.radicals.append((symbol, inside))
        return symbol

    def lower(self, expr: sp.Expr) -> sp.Expr:
        """The expression with every non-rational piece replaced by its generator, inner pieces first."""
        if expr.is_Symbol or expr.is_Number:
            return expr
        if expr not in self.lowered:
            self.lowered[expr] = self._lower(expr)
        return self.lowered[expr]

    def _lower(self, expr: sp.Expr) -> sp.Expr:
        if isinstance(expr, tuple(_HYPERBOLIC)):
            return self.lower(_HYPERBOLIC[type(expr)](expr.args[0]))
        if isinstance(expr, sp.exp):
            return self._exp_of(expr.args[0])
        if expr is sp.E or expr.is_NumberSymbol:
            return self.name(expr, positive=True)
        if isinstance(expr, sp.asinh) and isinstance(expr.args[0], sp.sinh) and expr.args[0].args[0].is_real:
            return self.lower(expr.args[0].args[0])
        args = [self.lower(arg) for arg in expr.args]
        if expr.is_Add or expr.is_Mul:
            return expr.func(*args)
        if expr.is_Pow:
            return self._power(*args)
        if isinstance(expr, sp.Abs):
            return self.root(args[0] ** 2)
        if isinstance(expr, sp.log):
            return self._log(args[0])
        rebuilt = expr.func(*[sp.cancel(sp.together(arg)) for arg in args])
        if not isinstance(rebuilt, type(expr)):  # an odd function that pulled out a sign
            return rebuilt if rebuilt.is_Symbol else rebuilt.replace(type(expr), lambda *w: self.name(expr.func(*w)))
        return self.name(rebuilt, positive=True) if expr.is_positive else self.name(rebuilt, real=bool(expr.is_real))

    def _exp_of(self, arg: sp.Expr) -> sp.Expr:
        """exp of asinh(w) is w + sqrt(1 + w^2); everything else gets a generator."""
        product = sp.Integer(1)
        rest = sp.Integer(0)
        for term in sp.Add.make_args(sp.expand(arg)):
            rational, inner = term.as_coeff_Mul(rational=True)
            if isinstance(inner, sp.asinh) and (2 * rational).is_Integer:
                base = inner.args[0] + sp.sqrt(1 + inner.args[0] ** 2)
                product *= (
                    self.lower(base) ** rational
                    if rational.is_Integer
                    else self.root(self.lower(base)) ** (2 * rational)
                )
            else:
                rest += rational * self.lower(inner)
        return product * self.exponential(rest)

    def _power(self, base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
        if exponent.is_Integer:
            return base**exponent
        if exponent.is_Rational and exponent.q == 2:
            return self.root(base) ** exponent.p
        if base.is_positive:
            return self.exponential(sp.expand(exponent * self._log(base)))
        return self.name(sp.Pow(base, exponent, evaluate=False))

    def _log(self, arg: sp.Expr) -> sp.Expr:
        """log of a product of positive factors as a sum."""
        total = sp.Integer(0)
        rest = sp.Integer(1)
        for piece in sp.Mul.make_args(sp.factor(sp.together(arg))):
            base, power = piece.as_base_exp()
            if piece.is_Rational and piece.is_positive:
                for prime, order in sp.factorrat(piece).items():
                    total += order * self._plain_log(sp.Integer(prime))
            elif base.is_positive:
                total += power * self._plain_log(base)
            else:
                rest *= piece
        return total if rest == 1 else total + self.name(sp.log(rest))

    def _exponential_of(self, arg: sp.Expr) -> sp.Symbol:
        symbol = self.name(sp.exp(arg), positive=True)
        self.exponents[symbol] = arg
        return symbol

    def _plain_log(self, base: sp.Expr) -> sp.Expr:
        if base in self.exponents:
            return self.exponents[base]
        symbol = self.name(sp.log(base), real=True)
        self.logs[symbol] = base
        return symbol


def _terms(arg: sp.Expr) -> list[sp.Expr]:
    """The terms of an exponent over one denominator, its rational content taken out: equal terms then look equal."""
    top, bottom = sp.fraction(sp.cancel(sp.together(arg)))
    content, bottom = bottom.as_content_primitive()
    return [term / content / bottom for term in sp.Add.make_args(sp.expand(top))]


def _integer_powers(expr: sp.Expr) -> sp.Expr:
    """Replace generators that stand under fractional powers by a root of themselves, so that powers are integers."""
    orders: dict[sp.Expr, int] = {}
    for power in expr.atoms(sp.Pow):
        if power.exp.is_Rational and power.exp.q > 1:
            orders[power.base] = sp.ilcm(orders.get(power.base, 1), power.exp.q)
    for base, order in orders.items():
        if base.is_Symbol and base.is_positive:
            expr = expr.subs(base, sp.Dummy(f"{base.name}", positive=True) ** order)
    return expr


def _reduce(numerator: sp.Expr, radicals: list[tuple[sp.Symbol, sp.Expr]]) -> sp.Expr:
    """Apply r^2 = radicand, outermost radical first, until at most first powers are left."""
    for symbol, square in reversed(radicals):
        if not numerator.has(symbol):
            continue
        poly = sp.Poly(numerator, symbol)
        even = odd = sp.Integer(0)
        for (power,), coefficient in poly.terms():
            if power % 2:
                odd += coefficient * square ** (power // 2)
            else:
                even += coefficient * square ** (power // 2)
        numerator = sp.expand(even + odd * symbol)
        numerator = sp.expand(sp.fraction(sp.together(numerator))[0])
        if numerator == 0:
            break
    return numerator


def _reduced(expr: sp.Expr, generators: _Generators) -> sp.Expr:
    lowered = _integer_powers(generators.lower(expr))
    numerator = sp.expand(sp.fraction(sp.together(lowered))[0])
    return _reduce(numerator, generators.radicals)


def reduces_to_zero(expr: sp.Expr) -> bool:
    """True when `expr` is identically zero by the algebra of this module."""
    expr = gaussian_averages(expr).doit()
    if expr == 0:
        return True
    generators = _Generators(True)
    if _reduced(expr, generators) == 0:
        return True
    return generators.kept_whole and _reduced(expr, _Generators(False)) == 0
