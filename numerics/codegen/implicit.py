"""Kernels that are functions of a root: what each is worth in terms of xhat, and the two functions of the solver."""

from __future__ import annotations

import sympy as sp

from numerics.codegen.nodes import Rounded

__all__ = ["expression", "state"]


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
