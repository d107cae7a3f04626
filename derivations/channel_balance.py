"""The averages of the scalar channel with every term positive: integration by parts, once, of the integrands.

With d = xhat - a and w = z - xhat (so d + w = zeta and w = (g/2)(u - start)), z ~ N(a, V) and V = tau2 + s2, Stein's
identity turns the error into (s2/V) E d^2 + (tau2/V) E w^2: nothing cancels, and only eight sums over the nodes are
needed for all averages and their derivatives. `scalar_channel` proves each form and passes them on.
"""

from __future__ import annotations

import sympy as sp

from derivations.channel import (
    along_g,
    along_s2,
    channel_jacobian,
    channel_offset,
    channel_shift,
    channel_z,
    integrands,
    posterior_residual,
)
from derivations.ledger.step import Step, eq
from derivations.symbols import a, c_ft, delta, g, s2, shift, start, tau2, u, u0, zeta

__all__ = ["balanced", "boundary_terms", "results", "steps"]

_V = tau2 + s2


def _density() -> sp.Expr:
    return sp.exp(-(zeta**2) / (2 * _V)) / sp.sqrt(2 * sp.pi * _V)


def _lag() -> sp.Expr:
    """w = z - xhat."""
    return g / 2 * (u - start)


def balanced() -> dict[str, sp.Expr]:
    """Integrands in (u, zeta, d); their integrals are those of `channel.integrands` and of its derivatives."""
    give, slope, lag = _density(), c_ft * sp.cosh(u), _lag()
    mass = give * channel_jacobian(u)
    spread = s2 / _V * shift**2 + tau2 / _V * lag**2
    moved = give * zeta / _V * (s2 / _V * shift * slope + tau2 / _V * lag * g / 2)
    return {
        "balanced_error": mass * spread,
        "balanced_error_g": give * slope * (u - start) * (tau2 * lag - s2 * shift) / _V,
        "balanced_error_s2": mass * tau2 / _V**2 * (shift**2 - lag**2) + moved,
    }


def boundary_terms() -> dict[str, sp.Expr]:
    """What the integrands differ by is d/du of these; each dies like the density at both ends."""
    give, lag = _density(), _lag()
    carried = s2 * tau2 / _V * zeta * give
    spread = s2 / _V * shift**2 + tau2 / _V * lag**2
    misfit = posterior_residual() ** 2 + tau2 * s2 / _V
    return {
        "balanced_error": carried,
        "balanced_error_g": give * misfit * (u - start) / 2,
        "balanced_error_s2": sp.diff(carried, s2) - give * zeta * spread / (2 * _V),
    }


def steps() -> list[Step]:
    """Each balanced integrand against the one it replaces."""
    explicit = {zeta: channel_z(u) - a, shift: c_ft * sp.sinh(u) - a}
    error = integrands()["channel_error"]
    replaced = {
        "balanced_error": ("error", error, "E zeta^2 = V: the difference is s2 tau2/V times (1 - zeta^2/V)."),
        "balanced_error_g": (
            "error along g",
            along_g(error),
            "At fixed z only xhat moves, by -(u - start)/2 dxhat/dz.",
        ),
        "balanced_error_s2": (
            "error along s2",
            along_s2(error),
            "E f(z) moves with V by E[zeta f'(z)]/(2V) (Stein): no power of zeta is left in the integrand.",
        ),
    }
    forms, ends = balanced(), boundary_terms()
    return [
        Step(
            f"{words}, by parts",
            "identity",
            eq(
                integrand.subs(explicit, simultaneous=True),
                forms[name].subs(explicit, simultaneous=True)
                + sp.Derivative(ends[name].subs(explicit, simultaneous=True), u),
            ),
            f"The last term integrates to 0. {reason}",
            "Stein 1981",
        )
        for name, (words, integrand, reason) in replaced.items()
    ]


def results() -> dict[str, sp.Expr]:
    """The same forms as functions of (delta, u0, start, c_ft, g, s2, tau2)."""
    written_out = {zeta: channel_offset(), shift: channel_shift(), u: u0 + delta}
    return {name: form.subs(written_out, simultaneous=True) for name, form in balanced().items()}
