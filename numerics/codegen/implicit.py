"""Kernels that are functions of a root: what each is worth there, and the functions of the solver."""

from __future__ import annotations

import sympy as sp

from numerics.codegen.nodes import Rounded
from numerics.codegen.recheck import defined

__all__ = ["at_root", "conjugate", "expression", "state"]


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


def at_root(name: str) -> tuple[sp.Expr | None, dict[sp.Symbol, str]]:
    """The kernel `name` in terms of xhat and u = asinh(xhat/c_ft), and its arguments' names; None if u is not in it.

    The solver knows u to about an ulp, so that no asinh has to be taken of a root that was rounded.  (The envelope is
    the dual's maximum instead, `conjugate`.)
    """
    from derivations.symbols import c_ft, g, u, x

    given = expression(name)
    form = given.subs(sp.asinh(x / c_ft), u) if name == "prox_derivative_g" and given.has(sp.asinh) else None
    return form, {x: "x", u: "u", g: "g", c_ft: "c_ft"}


def far(name: str) -> tuple[sp.Expr, sp.Expr]:
    """g q''(xhat), and what `at_root(name)` is worth where that is huge, as a product that does not vanish early."""
    from derivations.symbols import c_ft, g, u, x

    curvature = sp.sqrt(c_ft**2 + x**2)
    return {"prox_derivative_g": (g / curvature, -Rounded(u * curvature) / g)}[name]


def conjugate() -> sp.Expr:
    """c sinh(u/2)^2, for which the envelope is the maximum over u of (u/2)(z - g u/4) - c sinh(u/2)^2 (duality).

    Checked at 50 digits: with z = z(u) + rest this is the derivation's envelope at u plus rest u/2.  Raises
    ArithmeticError if it is not.
    """
    from derivations.channel import channel_z, moreau_envelope_stable
    from derivations.symbols import c_ft, g, start, u

    rest = sp.Symbol("rest", real=True)
    form = Rounded(c_ft * sp.sinh(u / 2)) * sp.sinh(u / 2)
    z = channel_z(u).subs(start, 0) + rest
    dual = u / 2 * (z - g * u / 4) - defined(form)
    exact = moreau_envelope_stable(u) + rest * u / 2
    for number in range(1, 9):
        at = {u: sp.Rational(number, 3), g: sp.Rational(5, number + 1), c_ft: sp.Rational(number, 7), rest: number - 4}
        mine, true = (e.subs(at).evalf(60) for e in (dual, exact))
        if abs(mine - true) > abs(true) * sp.Float(10) ** -50:
            raise ArithmeticError(f"the dual of the envelope differs from its derivation at {at}: {mine}, {true}")
    return form


def state() -> tuple[tuple[sp.Expr, sp.Expr], dict[sp.Symbol, str]]:
    """(c sinh u, c cosh u) as factors that do not overflow, and the arguments they are in."""
    from derivations import scalar_channel as channel
    from derivations.symbols import c_ft, g, start, u

    position = channel.channel_z(u).subs(start, 0) - g * u / 2
    slope = channel.channel_jacobian(u) - g / 2
    half = sp.sinh(u / 2), sp.cosh(u / 2)
    lifted = Rounded(c_ft * half[0])
    forms = {
        c_ft * sp.sinh(u): 2 * Rounded(lifted * half[1]),
        c_ft * sp.cosh(u): c_ft + 2 * Rounded(lifted * half[0]),
    }
    return tuple(forms[expr] for expr in (position, slope)), {u: "u", c_ft: "c_ft"}
