"""Formulas of the scalar channel: estimator, envelope, and the saddle-point integrands (THEORY section 6).

`derivations.scalar_channel` proves them and passes them on.  One component of the task's mixture has prior
x ~ N(a, tau2) (tau2 = 0: a point mass) and z = x + sqrt(s2) N(0, 1); the mirror variable is u with
xhat = c_ft sinh(u), u0 its value where z = a, delta = u - u0, and `start` its value at the fine-tuning start.
"""

from __future__ import annotations

import sympy as sp

from derivations.mirror import potential
from derivations.symbols import c_ft, delta, g, s2, shift, start, tau2, u, u0, x, zeta


def stationarity(b: sp.Expr) -> sp.Expr:
    """z as a function of xhat = b: the inverse of the proximal map."""
    return b + g / 2 * sp.asinh(b / c_ft)


def moreau_envelope(b: sp.Expr) -> sp.Expr:
    """The minimum of (x - z)^2/(2g) + q(x) over x, written in the minimiser b."""
    return g / 8 * sp.asinh(b / c_ft) ** 2 + potential(b, c_ft)


def moreau_envelope_stable(v: sp.Expr) -> sp.Expr:
    """The same at b = c_ft sinh(v)."""
    return g * v**2 / 8 + c_ft / 2 * (v * sp.sinh(v) - 2 * sp.sinh(v / 2) ** 2)


def channel_z(v: sp.Expr) -> sp.Expr:
    """z as a function of v, where xhat = c_ft sinh(v); `start` is v at the fine-tuning start (0 in the paper)."""
    return c_ft * sp.sinh(v) + g / 2 * (v - start)


def channel_jacobian(v: sp.Expr) -> sp.Expr:
    """dz/dv."""
    return c_ft * sp.cosh(v) + g / 2


def channel_offset() -> sp.Expr:
    """zeta = z(u0 + delta) - z(u0), without cancellation."""
    return 2 * c_ft * sp.cosh(u0 + delta / 2) * sp.sinh(delta / 2) + g / 2 * delta


def channel_shift() -> sp.Expr:
    """d = xhat - a where a = z(u0), without cancellation for small delta."""
    return 2 * c_ft * sp.cosh(u0 + delta / 2) * sp.sinh(delta / 2) - g / 2 * (u0 - start)


def posterior_residual() -> sp.Expr:
    """xhat - E[x | z] = d - (tau2/V) zeta; with zeta = d + (g/2)(u - start) nothing cancels for s2 << tau2."""
    return (s2 * shift - tau2 * g / 2 * (u - start)) / (tau2 + s2)


def integrands() -> dict[str, sp.Expr]:
    """The saddle-point integrands in (u, zeta, d), before zeta and d are written out."""
    variance = tau2 + s2
    density = sp.exp(-(zeta**2) / (2 * variance)) / sp.sqrt(2 * sp.pi * variance)
    residual = posterior_residual()
    mass = density * channel_jacobian(u)
    return {
        "channel_mass": mass,
        "channel_error": mass * (residual**2 + tau2 * s2 / variance),
        "channel_dof": density * c_ft * sp.cosh(u),
        "channel_slack": density * g / 2,  # mass - dof, without its cancellation as alpha -> 1
    }


def along_g(integrand: sp.Expr) -> sp.Expr:
    """d/dg at fixed u: zeta = c_ft sinh(u) + (g/2)(u - start) - a moves by (u - start)/2, d does not move."""
    return sp.diff(integrand, g) + (u - start) / 2 * sp.diff(integrand, zeta)


def along_s2(integrand: sp.Expr) -> sp.Expr:
    """d/ds2 at fixed u: neither zeta nor d moves."""
    return sp.diff(integrand, s2)


def results() -> dict[str, sp.Expr]:
    """The named formulas; the channel_* integrands are functions of (delta, u0, start, c_ft, g, s2, tau2)."""
    inner = integrands()
    for name in ("channel_error", "channel_dof"):
        inner[f"{name}_g"] = along_g(inner[name])
        inner[f"{name}_s2"] = along_s2(inner[name])
    written_out = {zeta: channel_offset(), shift: channel_shift(), u: u0 + delta}
    return {
        "stationarity": stationarity(x),
        "channel_z": channel_z(u),
        "channel_jacobian": channel_jacobian(u),
        "moreau_envelope": moreau_envelope(x),
        "moreau_envelope_stable": moreau_envelope_stable(u),
        "channel_offset": channel_offset(),
        "channel_shift": channel_shift(),
        **{name: expr.subs(written_out, simultaneous=True) for name, expr in inner.items()},
    }
