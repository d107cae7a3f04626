"""Rewrite rules: from the form in which a formula is printed to the form in which it is computed.

A rule is an object with a name and a reason.  It looks at one node of an expression (after its children were
rewritten) and
answers with a replacement, or with None.  `rewrite` applies an ordered tuple of rules bottom-up until nothing changes.
Every rule is an identity; the passes re-check each application at 50 digits, so a wrong rule cannot go unnoticed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import sympy as sp

from numerics.codegen.exact_nodes import DependenceProduct, ExactCore, ExactTanhHalf, WholeCore, WholeTanh
from numerics.codegen.nodes import Rounded, hypot
from numerics.codegen.ratio_nodes import AsinhRatio, CoreQuotient, PotentialCore, ShortCore, TanhHalf
from numerics.codegen.scale_nodes import Divergence, ScaledCosh, ScaledSinh, ScaledSum, SquaredScaledSum

__all__ = ["ARRAY_RULES", "ROOTS", "RULES", "Rule", "rewrite"]


@dataclass(frozen=True)
class Rule:
    """An identity, applied to one node: `apply(node)` is the replacement or None."""

    name: str
    reason: str
    apply: Callable[[sp.Expr], sp.Expr | None]


def square_root(square: sp.Expr) -> sp.Expr | None:
    """x such that square = x^2, read off the exponents (the sign of x is free); None if it is no perfect square."""
    root = sp.Integer(1)
    for factor in sp.Mul.make_args(square):
        base, exponent = factor.as_base_exp()
        if factor.is_Rational:
            half = sp.sqrt(factor)
            if not half.is_Rational:
                return None
            root *= half
        elif (exponent / 2).is_Integer and base.is_real:
            root *= base ** (exponent / 2)
        else:
            return None
    return root


def one_plus_square(node: sp.Expr) -> sp.Expr | None:
    """x where node = sqrt(1 + x^2), else None."""
    if isinstance(node, sp.Pow) and node.exp == sp.Rational(1, 2) and node.base.is_Add:
        return square_root(node.base - 1)
    return None


def terms_with(
    node: sp.Add, recognise: Callable[[sp.Expr], sp.Expr | None]
) -> Iterator[tuple[sp.Expr, sp.Expr, sp.Expr]]:
    """(term, cofactor, x) for every term of a sum that has one factor in which `recognise` finds an x."""
    for term in node.args:
        for factor in sp.Mul.make_args(term):
            x = recognise(factor)
            if x is not None:
                yield term, term / factor, x


def _root_minus_one(node):
    if not node.is_Add:
        return None
    for term, cofactor, x in terms_with(node, one_plus_square):
        if -cofactor in node.args:
            return node - term + cofactor + cofactor * x * TanhHalf(x / 2)
    return None


def _sinh_half_squared(node):
    if isinstance(node, sp.Pow) and node.exp == 2 and isinstance(node.base, sp.sinh):
        inner = 2 * node.base.args[0]
        if isinstance(inner, sp.asinh):
            return inner.args[0] * TanhHalf(inner.args[0] / 2) / 2
    return None


def _asinh_argument(factor):
    return factor.args[0] if isinstance(factor, sp.asinh) else None


def _asinh_minus_tanh_half(node):
    if not node.is_Add:
        return None
    for term, cofactor, x in terms_with(node, _asinh_argument):
        other = -cofactor * TanhHalf(x / 2)
        if other in node.args:
            return node - term - other + cofactor * PotentialCore(x / 2)
    return None


def _logarithmic_slope(node):
    if not node.is_Mul:
        return None
    for factor in node.args:
        if isinstance(factor, sp.asinh) and 1 / PotentialCore(factor.args[0] / 2) in node.args:
            half = factor.args[0] / 2
            return node / factor * PotentialCore(half) * (1 + Rounded(TanhHalf(half) / PotentialCore(half)))
    return None


def _sum_of_squares(node):
    if not (isinstance(node, sp.Pow) and node.exp in (sp.Rational(1, 2), -sp.Rational(1, 2)) and node.base.is_Add):
        return None
    if len(node.base.args) != 2:
        return None
    roots = [square_root(term) for term in node.base.args]
    if None in roots:
        return None
    scale = sp.Mul(*[sp.denom(root) for root in roots])
    if not scale.is_positive:
        return None
    a, b = sorted((root * scale for root in roots), key=sp.default_sort_key)
    return (hypot(a, b) / scale) ** (2 * node.exp)


def _common_scale(node):
    """s (a + b/s) = s a + b: a scale meets the sum that was divided by it."""
    if not node.is_Mul:
        return None
    for total in node.args:
        if not total.is_Add:
            continue
        for scale in node.args:
            if scale.is_Symbol and any(1 / scale in term.args for term in total.args if term.is_Mul):
                return node / total / scale * sp.Add(*[term * scale for term in total.args])
    return None


def _square_over_hypot(node):
    if not node.is_Mul:
        return None
    below = [f for f in node.args if isinstance(f, sp.Pow) and f.exp == -1]
    for factor in below:
        for side in factor.base.args if isinstance(factor.base, hypot) else ():
            if side**2 in node.args:
                rest = node / factor / side**2
                for other in below:
                    if other.base.is_Add or isinstance(other.base, ScaledSum):
                        return rest / other * Rounded(side * factor) * Rounded(side * other)
                return rest * Rounded(side * Rounded(side * factor))
    return None


def _relative_scale(node):
    if not node.is_Mul:
        return None
    for factor in node.args:
        if not factor.is_Add:
            continue
        for below in node.args:
            if isinstance(below, sp.Pow) and below.exp == -1 and below.base.is_Add:
                terms = [term / factor for term in below.base.args]
                if any(term.is_Add for term in terms):
                    return node / factor / below / sp.Add(*terms)
    return None


def _scaled_sinh(node):
    if not node.is_Mul:
        return None
    for factor in node.args:
        form = {sp.sinh: ScaledSinh, sp.cosh: ScaledCosh}.get(type(factor))
        for scale in node.args if form else ():
            if scale.is_Symbol and scale.is_positive:
                return node / factor / scale * form(scale, factor.args[0])
    return None


def _scaled_sum(node):
    """extra + (1 + lam)(c + hypot(b, c)) inside a sum of two terms."""
    if not (node.is_Add and len(node.args) == 2):
        return None
    for product in node.args:
        factors = product.args if product.is_Mul and len(product.args) == 2 else ()
        for factor, total in (factors, factors[::-1]) if factors else ():
            tall = [h for h in total.args if isinstance(h, hypot)] if total.is_Add and len(total.args) == 2 else []
            if tall and factor.is_Add and 1 in factor.args and (c := total - tall[0]) in tall[0].args and c.is_positive:
                return ScaledSum(factor - 1, c, tall[0], node - product)
    return None


def _squared_scaled_sum(node):
    if isinstance(node, sp.Pow) and node.exp == 2 and isinstance(node.base, ScaledSum):
        return SquaredScaledSum(*node.base.args)
    return None


def _asinh_of_a_ratio(node):
    return AsinhRatio(node.args[0]) if isinstance(node, sp.asinh) and not node.args[0].is_Atom else None


def _square_with_weight(node):
    if not node.is_Mul:
        return None
    for factor in node.args:
        if isinstance(factor, sp.Pow) and factor.exp == 2 and isinstance(factor.base, AsinhRatio):
            for weight in node.args:
                if weight.is_Symbol:
                    return node / factor / weight * Rounded(weight * factor.base) * factor.base
    return None


def _divergence(node):
    if not (node.is_Add and node.has(sp.asinh)):
        return None
    scales = sorted((s for s in node.free_symbols if s.is_positive), key=sp.default_sort_key)
    others = sorted(node.free_symbols - set(scales), key=sp.default_sort_key)
    for c in scales if len(others) == 2 else ():
        for b, b0 in (others, others[::-1]):
            if node == Divergence(b, b0, c).definition():
                return Divergence(b, b0, c)
    return None


def _core_quotient(node):
    if not node.is_Mul:
        return None
    for factor in node.args:
        if isinstance(factor, TanhHalf) and 1 / PotentialCore(factor.args[0]) in node.args:
            half = factor.args[0]
            return node / factor * PotentialCore(half) * CoreQuotient(2 * half)
    return None


def _scales(extra):
    """(lam, gamma) where extra = gamma^2/(2 (1 + lam)), else None."""
    square, factor = (2 * extra).as_numer_denom()
    lam, gamma = sp.expand(factor) - 1, square_root(square)
    return (lam, gamma) if lam.is_Symbol and gamma is not None else None


def _carried_product(node):
    """(b/h)(b/(h + c + extra)) T/F, times a number."""
    if not node.is_Mul:
        return None
    number, product = node.as_coeff_Mul()
    quotients = [sp.fraction(factor.args[0]) for factor in product.args if isinstance(factor, Rounded)]
    if not len(quotients) == len(product.args) == 3:
        return None
    below = {under: over for over, under in quotients}
    (h,) = [u for u in below if isinstance(u, hypot)] or [None]
    cores = [u for u in below if isinstance(u, PotentialCore)]
    total = [u for u in below if u.is_Add and h in u.args]
    if not (total and cores and below[h] == below[total[0]] and below[h] in h.args):
        return None
    v = cores[0].args[0]
    (c,) = (leg for leg in h.args if leg != below[h])
    found = _scales(total[0] - h - c)
    if not (found and c.is_positive and below[cores[0]] == TanhHalf(v)):
        return None
    return number * DependenceProduct(below[h], c, *found, ExactTanhHalf(v), ExactCore(v))


def _whole_product(node):
    if not isinstance(node, DependenceProduct) or not isinstance(node.divisor, ExactCore):
        return None
    u = 2 * node.divisor.args[0]
    return DependenceProduct(*node.args[:4], WholeTanh(u), WholeCore(u))


def _short_core(node):
    return ShortCore(*node.args) if type(node) is PotentialCore else None


RULES = (
    Rule("divergence", "q(b) - q(b0) - q'(b0)(b - b0) is one function, small when b is near b0", _divergence),
    Rule("root minus one", "1 - sqrt(1 + x^2) = -x tanh(asinh(x)/2): no difference of close numbers", _root_minus_one),
    Rule("half-angle", "sinh(asinh(x)/2)^2 = x tanh(asinh(x)/2) / 2", _sinh_half_squared),
    Rule("potential core", "asinh(x) - tanh(asinh(x)/2) is one function, F(x)", _asinh_minus_tanh_half),
    Rule(
        "logarithmic slope",
        "asinh(x) / F(x) = 1 + tanh(asinh(x)/2) / F(x): what is subtracted later is 1",
        _logarithmic_slope,
    ),
    Rule("hypotenuse", "sqrt(a^2 + b^2) is one function that does not overflow", _sum_of_squares),
    Rule("common scale", "s (a + b/s) = s a + b", _common_scale),
    Rule("relative scale", "p x/(p s + y) = x/(s + y/p): the roundings of p do not enter", _relative_scale),
    Rule("scaled sum", "(1 + lam)(c + h) + e: what the sums round away is added back", _scaled_sum),
    Rule("squared sum", "(s + e)^2 = s^2 + 2 s e + ...: nor is the last rounding squared", _squared_scaled_sum),
    Rule(
        "square over hypotenuse", "b^2 / (h s) = (b / h)(b / s): no square that overflows", _square_over_hypot
    ),
    Rule(
        "scaled sinh", "c sinh(x) and c cosh(x) are one function each, finite where sinh(x) alone is not", _scaled_sinh
    ),
    Rule("asinh of a ratio", "asinh(b/c) is log(2b) - log(c) where b/c overflows", _asinh_of_a_ratio),
    Rule("square with weight", "g asinh(x)^2 = (g asinh(x)) asinh(x): no square that underflows", _square_with_weight),
    Rule("carried product", "S T/F rounded only at its end, from parts that are exact", _carried_product),
)

#: The rules that only take overflow out of square roots.
ROOTS = tuple(rule for rule in RULES if rule.name in ("hypotenuse", "common scale"))

#: For code that works on whole arrays, where every operation is a pass over memory.
ARRAY_RULES = (
    Rule("core quotient", "T/F from one asinh and one tanh: the polynomial of F is fifteen passes", _core_quotient),
    Rule("whole product", "T and F from one asinh and one tanh, as they stand in the quotient", _whole_product),
    Rule("short core", "a term less in the polynomial of F: two passes less", _short_core),
)


def rewrite(expr: sp.Expr, rules: tuple[Rule, ...] = RULES, log: list[str] | None = None) -> sp.Expr:
    """Apply the rules, in order, bottom-up and to the end; the names of the rules used are appended to `log`."""
    for rule in rules:
        while True:
            new = _once(expr, rule)
            if new == expr:
                break
            if log is not None:
                log.append(rule.name)
            expr = new
    return expr


def _once(expr: sp.Expr, rule: Rule) -> sp.Expr:
    if expr.is_Atom:
        return expr
    children = [_once(child, rule) for child in expr.args]
    if children != list(expr.args):
        expr = expr.func(*children)
    found = rule.apply(expr)
    return expr if found is None else found
