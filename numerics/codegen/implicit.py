"""Kernels that are functions of a root: what each is worth there, and the functions of the solver."""

from __future__ import annotations

import sympy as sp

from numerics.codegen.nodes import Rounded, hypot
from numerics.codegen.recheck import defined
from numerics.codegen.rules import ROOTS, rewrite

__all__ = ["ENVELOPE", "ROOT_SLOPE", "at_root", "conjugate", "expression", "far", "odd_series", "state", "wide_state"]

#: The kernel that is the dual's maximum, not a value at the root.
ENVELOPE = "moreau_envelope"
#: c_ft cosh(u) = sqrt(c_ft^2 + xhat^2), what z(u) less its linear part grows by.
ROOT_SLOPE = sp.Symbol("w", positive=True)


def expression(name: str) -> sp.Expr:
    """What the kernel `name` is worth in terms of x = xhat: the root itself, its derivatives, the envelope.

    With z = stationarity(x, g, c), the implicit function theorem gives dx/dz = 1/z_x, dx/dg = -z_g/z_x and dx/dc =
    -z_c/z_x.
    """
    from derivations import derive
    from derivations.symbols import c_ft, g, x

    results = derive("scalar_channel").results
    z = results["stationarity"]
    slope, h = sp.diff(z, x), sp.sqrt(c_ft**2 + x**2)
    return {
        "prox": x,
        "prox_derivative_z": 1 / slope,
        "prox_derivative_g": -sp.diff(z, g) / slope,
        # p = -z_c c/x is positive and z_x = 1 + p: (x/c) p/(1 + p) = (x/h)/(c/h + (c/h)/p), nothing of which overflows
        "prox_derivative_c_ft": Rounded(x / h) / (c_ft / h - x / (sp.diff(z, c_ft) * h)),
        "moreau_envelope": results["moreau_envelope"],
    }[name]


def _same(form: sp.Expr, meant: sp.Expr, what: str) -> None:
    """ArithmeticError unless both are equal to 50 digits at some positive points."""
    symbols = sorted(form.free_symbols | meant.free_symbols, key=sp.default_sort_key)
    for number in range(1, 9):
        at = {symbol: sp.Rational(2 * place + number, 3 + place) for place, symbol in enumerate(symbols)}
        mine, true = (defined(e).subs(at).evalf(60) for e in (form, meant))
        if not abs(mine - true) <= abs(true) * sp.Float(10) ** -50:
            raise ArithmeticError(f"{what} differs from what it is made from at {at}: {mine}, {true}")


def at_root(name: str) -> tuple[sp.Expr, dict[sp.Symbol, str]] | None:
    """The derivative `name` in terms of x = xhat, u = asinh(x/c_ft) and w = c_ft cosh(u), and its arguments' names.

    The solver knows all three to about an ulp, so that no asinh and no square root has to be taken of a root that was
    rounded.  None for the root itself and for the envelope, which is the dual's maximum (`conjugate`).
    """
    from derivations import derive
    from derivations.symbols import c_ft, g, u, x

    h = hypot(c_ft, x)
    if name == "prox_derivative_c_ft":  # (x/c)/(1 + 1/p) as above: least roundings, where no ratio overflows
        excess = rewrite(sp.diff(derive("scalar_channel").results["stationarity"], x) - 1, ROOTS)
        form = Rounded(x / c_ft) / (1 + 1 / excess)  # from x itself: its rounding and that of h cancel in part
    elif name.startswith("prox_derivative"):
        form = rewrite(expression(name).subs(sp.asinh(x / c_ft), u), ROOTS).xreplace({h: ROOT_SLOPE})
    else:
        return None
    _same(form.subs({u: sp.asinh(x / c_ft), ROOT_SLOPE: h}), expression(name), f"{name} at the root")
    used = [symbol for symbol in (x, u, ROOT_SLOPE) if form.has(symbol)]
    return form, {symbol: symbol.name for symbol in (*used, g, c_ft)}


def far(name: str) -> tuple[sp.Expr, sp.Expr] | None:
    """A ratio, and what `at_root(name)` is worth where that is huge, without what overflows or vanishes early."""
    from derivations.symbols import c_ft, g, u, x

    return {
        "prox_derivative_g": (g / ROOT_SLOPE, -Rounded(u * ROOT_SLOPE) / g),
        "prox_derivative_c_ft": (
            sp.Max(sp.Abs(Rounded(x / c_ft)), 2 * hypot(c_ft, x) / g),
            rewrite(expression("prox_derivative_c_ft"), ROOTS),
        ),
    }.get(name)


def conjugate() -> tuple[sp.Expr, dict[sp.Symbol, str]]:
    """c sinh(u/2)^2 and its arguments' names: less it, (u/2)(z - g u/4) has the envelope as its maximum (duality).

    Checked at 50 digits: with z = z(u) + rest this is the derivation's envelope at u plus rest u/2.  Raises
    ArithmeticError if it is not.
    """
    from derivations.channel import channel_z, moreau_envelope_stable
    from derivations.symbols import c_ft, g, start, u

    rest = sp.Symbol("rest", real=True)
    form = Rounded(c_ft * sp.sinh(u / 2)) * sp.sinh(u / 2)
    z = channel_z(u).subs(start, 0) + rest
    dual = u / 2 * (z - g * u / 4) - form
    exact = moreau_envelope_stable(u) + rest * u / 2
    _same(dual, exact, "the dual of the envelope")
    return form, {u: "u", c_ft: "c_ft"}


def _in_forms(forms) -> tuple[tuple[sp.Expr, sp.Expr], dict[sp.Symbol, str]]:
    """What the channel's z(u) and z'(u) have beside g, in the given forms of c sinh u and c cosh u.

    Raises ArithmeticError if a form is not what it stands for (at 50 digits).
    """
    from derivations import scalar_channel as channel
    from derivations.symbols import c_ft, g, start, u

    position = channel.channel_z(u).subs(start, 0) - g * u / 2
    slope = channel.channel_jacobian(u) - g / 2
    for form, meant in zip(forms, (position, slope), strict=True):
        _same(form, meant, f"a form of {meant}")
    return forms, {u: "u", c_ft: "c_ft"}


def state() -> tuple[tuple[sp.Expr, sp.Expr], dict[sp.Symbol, str]]:
    """(c sinh u, c cosh u) from one exponential, for 0 <= u < 700; c sinh u loses its last digits below u = 1."""
    from derivations.symbols import c_ft, u

    up = Rounded(sp.exp(u))
    down = Rounded(1 / up)
    return _in_forms((c_ft * Rounded(Rounded(up - down) / 2), c_ft * Rounded(Rounded(up + down) / 2)))


def wide_state() -> tuple[tuple[sp.Expr, sp.Expr], dict[sp.Symbol, str]]:
    """`state` as factors that do not overflow."""
    from derivations.symbols import c_ft, u

    lifted = Rounded(c_ft * sp.sinh(u / 2))
    return _in_forms((2 * Rounded(lifted * sp.cosh(u / 2)), c_ft + 2 * Rounded(lifted * sp.sinh(u / 2))))


def odd_series(terms: int) -> list[sp.Expr]:
    """sinh(u) = u + u^3 (the polynomial in u^2 with these coefficients), `terms` of them."""
    return [1 / sp.factorial(2 * n + 3) for n in range(terms)]
