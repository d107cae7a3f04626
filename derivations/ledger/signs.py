"""Signs that follow from the assumptions of the symbols, and from nothing else."""

from __future__ import annotations

import sympy as sp

from derivations.symbols import DOMAIN, OPEN


def widen(expr: sp.Basic) -> sp.Basic:
    """Write a symbol with a bounded DOMAIN as its lower end plus a non-negative number (a larger set)."""
    changes = {}
    for symbol in sorted(expr.free_symbols & set(DOMAIN), key=str):
        low = DOMAIN[symbol][0]
        sign = {"positive": True} if low == 0 and symbol.is_positive else {"nonnegative": True}
        changes[symbol] = low + sp.Dummy(f"{symbol}_above", **sign)
    return expr.subs(changes)


def has_sign(expr: sp.Expr, strict: bool) -> bool:
    """Does the sign follow from the assumptions: of the whole, or of the terms of a sum and the factors of a product?

    A factor that is affine in one symbol with a bounded DOMAIN is judged by its two ends.
    """
    wide = widen(expr)
    if wide.is_positive or (not strict and wide.is_nonnegative):
        return True
    if _ends_have_sign(expr, strict):
        return True
    if isinstance(expr, sp.erfc):
        return bool(expr.args[0].is_real)  # between 0 and 2
    if isinstance(expr, sp.erf):
        return has_sign(expr.args[0], strict)  # odd and increasing
    if expr.is_Add:
        ends = sp.Add(*(term for term in expr.args if term.free_symbols <= set(DOMAIN) and len(term.free_symbols) < 2))
        if ends not in (0, expr) and ends.free_symbols and _ends_have_sign(ends, False):
            return has_sign(expr - ends, strict) or (has_sign(ends, True) and has_sign(expr - ends, False))
        return all(has_sign(term, False) for term in expr.args) and (
            not strict or any(has_sign(term, True) for term in expr.args)
        )
    if expr.is_Mul:
        return all(has_sign(factor, strict) for factor in expr.args)
    if expr.is_Pow and expr.exp.is_Rational:
        return has_sign(expr.base, strict or bool(expr.exp.is_negative))
    return False


def _ends_have_sign(expr: sp.Expr, strict: bool) -> bool:
    symbols = expr.free_symbols
    if len(symbols) != 1 or not symbols <= set(DOMAIN):
        return False
    (symbol,) = symbols
    if sp.diff(expr, symbol, 2) != 0:
        return False
    ends = [expr.subs(symbol, end) for end in DOMAIN[symbol]]
    if symbol in OPEN and any(end != 0 for end in ends):
        strict = False  # the ends themselves are not reached
    return all(end > 0 if strict else end >= 0 for end in ends)


def satisfies(expr: sp.Expr, symbol: sp.Symbol) -> bool:
    """True when `expr` has every sign that `symbol` is assumed to have."""
    wanted = {
        "positive": lambda: has_sign(expr, True),
        "nonnegative": lambda: has_sign(expr, False),
        "negative": lambda: has_sign(-expr, True),
        "real": lambda: bool(widen(expr).is_real) or has_sign(expr, False) or has_sign(-expr, False),
    }
    return all(test() for assumption, test in wanted.items() if getattr(symbol, f"is_{assumption}"))
