"""The saddle-point integrands as one program: what they share is named once.

Differentiated blindly, the eight integrands are eight long expressions.  Here the product rule is applied to the
factors
instead: with density Phi, Jacobian J and r = error/mass, every derivative is a multiple of Phi, of the mass or of dof.
All of it is computed from `derivations.scalar_channel` (the integrands and the two derivations `along_g`,
`along_s2`); the
passes compare the outcome with the written-out results at 50 digits.
"""

from __future__ import annotations

import sympy as sp

from numerics.codegen.nodes import Rounded

__all__ = ["factored"]


def factored(name: str) -> sp.Tuple | None:
    """The outputs of the multi-output kernel `name` with their shared factors fenced; None where that does not pay."""
    return factored_moments() if name == "channel_moments" else None


def factored_moments() -> sp.Tuple:
    """(mass, error, dof, slack, error_g, error_s2, dof_g, dof_s2) in (delta, u0, start, c_ft, g, s2, tau2)."""
    from derivations import scalar_channel as channel
    from derivations.symbols import V, delta, g, s2, shift, start, tau2, u, u0, zeta

    gain, lag = sp.symbols("G w", real=True)
    inner = channel.integrands()
    mass, error, dof, slack = (inner[f"channel_{name}"] for name in ("mass", "error", "dof", "slack"))
    density = slack * 2 / g
    residual = channel.posterior_residual()
    spread = error / mass - residual**2  # what the posterior leaves open; r = residual^2 + spread

    def tidy(expr: sp.Expr) -> sp.Expr:
        """In terms of V = s2 + tau2, G = tau2/V, w = u - start, with d = zeta - (g/2) w."""
        expr = expr.subs({shift: zeta - g / 2 * lag, u: lag + start}).subs({s2: V * (1 - gain), tau2: V * gain})
        return sp.factor(sp.cancel(sp.together(expr)))

    variance = Rounded(tau2 + s2)
    angle = Rounded(delta + u0)
    names = {
        V: variance,
        gain: Rounded(tau2 / variance),
        zeta: Rounded(channel.channel_offset()),
        shift: Rounded(channel.channel_shift()),
        lag: Rounded(angle - start),
        u: angle,
    }

    def named(expr: sp.Expr) -> sp.Expr:
        return Rounded(expr.xreplace(names))

    phi = Rounded(sp.exp(-named(zeta**2) * named(1 / (2 * V))) * named(1 / sp.sqrt(2 * sp.pi * V)))
    whole = Rounded(phi * named(channel.channel_jacobian(u)))
    still = Rounded(phi * named(dof / density))
    left = named(residual.xreplace({tau2 + s2: V, u: lag + start}))
    ratio = Rounded(named(left**2) + named(spread.xreplace({tau2 + s2: V})))
    total = Rounded(whole * ratio)
    by_g, by_s2 = named(tidy(channel.along_g(dof) / dof)), named(1 / V) * named(tidy(V * channel.along_s2(dof) / dof))
    mass_g = tidy(channel.along_g(mass) / density - channel.along_g(dof) / dof * mass / density)
    ratio_g = 2 * left * named(tidy(channel.along_g(residual))) + named(tidy(channel.along_g(spread)))
    ratio_s2 = 2 * left * named(tidy(channel.along_s2(residual))) + named(tidy(channel.along_s2(spread)))
    return sp.Tuple(
        whole,
        total,
        still,
        phi * named(slack / density),
        total * by_g + phi * (mass_g * ratio) + whole * ratio_g,
        total * by_s2 + whole * ratio_s2,
        still * by_g,
        still * by_s2,
    )
