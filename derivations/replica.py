"""The two saddle-point equations, by the replica method and by the convex Gaussian min-max theorem (THEORY section 6).

        s2 = (noise + E(xhat - x)^2)/alpha,        g = (ridge + E[1/(1/g + q''(xhat))])/alpha

The average over the design and the limits are in `replica_average`, the second route in `gordon`.
"""

from __future__ import annotations

import sympy as sp

from derivations import gordon, replica_average
from derivations.ledger.proof import ByLimit
from derivations.ledger.step import Derivation, Step, both, eq
from derivations.mirror import potential, potential_second_derivative
from derivations.symbols import (
    Z,
    alpha,
    b,
    b_norm,
    c_ft,
    chi,
    dof,
    err,
    est,
    g,
    g_hat,
    mse,
    noise,
    part1,
    part2,
    ridge,
    s2,
    s_hat,
    site,
    t,
    tau,
    weight,
    x,
)  # fmt: skip

_REPLICA = "Rangan, Fletcher & Goyal 2012"


def free_energy() -> sp.Expr:
    """Per coordinate, at zero temperature, as a function of (mse, chi, g_hat, s_hat)."""
    return alpha * (noise + mse) / (2 * (1 + chi)) - (g_hat * mse - s_hat * chi) / 2 + site(g_hat, s_hat)


def effective_noise() -> sp.Expr:
    """s2 at the saddle point."""
    return (noise + err) / alpha


def effective_step() -> sp.Expr:
    """g at the saddle point, when E[1/(1 + g q'')] = dof."""
    return ridge / (alpha - dof)


def results() -> dict[str, sp.Expr]:
    """The saddle-point equations as residuals that vanish, and the free energy."""
    return {
        "s2_equation": s2 - effective_noise(),
        "g_equation": g - (ridge + g * dof) / alpha,
        "free_energy": free_energy(),
        "cgmt_functional": gordon.functional(),
    }


def _site_steps() -> list[Step]:
    """How the single-site average moves with its two parameters, pointwise in (x, Z)."""
    z = x + sp.sqrt(s_hat) * Z / g_hat
    value = g_hat / 2 * (b - z) ** 2 + ridge * potential(b, c_ft) - s_hat * Z**2 / (2 * g_hat)
    normal = sp.exp(-(t**2) / 2)
    return [
        Step(
            "derivative in g_hat",
            "identity",
            eq(sp.Derivative(value, g_hat), (b - x) ** 2 / 2),
            "At the minimiser b = xhat only the explicit dependence counts (scalar_channel). So dPhi/dg_hat = E(xhat "
            "- x)^2/2.",
            _REPLICA,
        ),
        Step(
            "derivative in s_hat",
            "identity",
            eq(sp.Derivative(value, s_hat), -(b - x) * Z / (2 * sp.sqrt(s_hat))),
            "dPhi/ds_hat = -E[(xhat - x) Z]/(2 sqrt(s_hat)); E[x Z] = 0.",
            _REPLICA,
        ),
        Step(
            "Stein's identity",
            "identity",
            eq(sp.Derivative(est(t) * normal, t), (sp.Derivative(est(t), t) - t * est(t)) * normal),
            "The left side integrates to 0, so E[xhat Z] = E dxhat/dZ = (sqrt(s_hat)/g_hat) E dxhat/dz, and "
            "dPhi/ds_hat = -dof/(2 g_hat) with dof = E dxhat/dz = E 1/(1 + g q'').",
            "Stein 1981",
        ),
    ]


def _stationarity() -> tuple[list[Step], Step]:
    slopes = Step(
        "slopes of the single-site average",
        "definition",
        both(
            eq(sp.Derivative(site(g_hat, s_hat), g_hat), err / 2),
            eq(sp.Derivative(site(g_hat, s_hat), s_hat), -dof / (2 * g_hat)),
        ),
        "Names for the two averages of the previous steps: err = E(xhat - x)^2 and dof = E[1/(1 + g q'')].",
    )
    energy = free_energy()
    gradient = {
        "mse": (mse, (alpha / (1 + chi) - g_hat) / 2, "g_hat = alpha/(1 + chi)"),
        "chi": (chi, (s_hat - alpha * (noise + mse) / (1 + chi) ** 2) / 2, "s_hat = alpha (noise + mse)/(1 + chi)^2"),
        "g_hat": (g_hat, (err - mse) / 2, "mse = E(xhat - x)^2: the order parameter is the error"),
        "s_hat": (s_hat, (chi - dof / g_hat) / 2, "chi = dof/g_hat"),
    }
    steps = [
        Step(
            f"stationary in {name}",
            "identity",
            eq(sp.Derivative(energy, symbol), slope),
            f"Where it vanishes: {words}.",
            _REPLICA,
            given=(slopes,),
        )
        for name, (symbol, slope, words) in gradient.items()
    ]
    saddle = Step(
        "saddle point",
        "definition",
        both(eq(s_hat, alpha * (noise + err) / (1 + chi) ** 2), eq(g_hat, alpha / (1 + chi))),
        "The four conditions together; mse is replaced by err.",
    )
    return [slopes, *steps, saddle], saddle


def _equations(saddle: Step) -> list[Step]:
    pair = Step(
        "channel parameters",
        "definition",
        eq(g, effective_step()),
        "g = ridge/g_hat with g_hat = alpha - dof.",
    )
    curvature = potential_second_derivative(x, c_ft)
    return [
        Step(
            "first saddle-point equation",
            "identity",
            eq(s_hat / g_hat**2, effective_noise()),
            "s2 = s_hat/g_hat^2: the noise that a coordinate sees is the noise of the samples plus the error, over "
            "alpha.",
            "THEORY section 6",
            given=(saddle,),
        ),
        Step(
            "g_hat = alpha - dof",
            "identity",
            eq(alpha / (1 + dof / g_hat) - g_hat, g_hat * (alpha - dof - g_hat) / (g_hat + dof)),
            "g_hat = alpha/(1 + chi) with chi = dof/g_hat has the single positive root alpha - dof.",
            _REPLICA,
        ),
        pair,
        Step(
            "second saddle-point equation",
            "identity",
            eq(alpha * g, ridge + g * dof),
            "g = ridge/g_hat satisfies g = (ridge + g dof)/alpha.",
            "THEORY section 6",
            given=(pair,),
        ),
        Step(
            "degrees of freedom, per coordinate",
            "identity",
            eq(g * (1 / (1 + g * curvature)), 1 / (1 / g + curvature)),
            "g dof is the average of 1/(1/g + q''), the form that is solved.",
            "THEORY section 6",
        ),
        Step(
            "ridge -> 0",
            "limit",
            eq(sp.Limit((ridge + g * dof) / alpha - g, ridge, 0), g * (dof / alpha - 1)),
            "g stays finite while g_hat = ridge/g vanishes: the second equation becomes dof = alpha. The "
            "interpolator spends exactly "
            "one degree of freedom per sample.",
            "THEORY section 6",
        ),
        Step(
            "the spurious root",
            "limit",
            eq(sp.Limit(1 / (1 + g * curvature), g, 0, "+"), 1),
            "At g = 0 every coordinate spends one degree of freedom, not alpha < 1: (s2, g) = (0, 0) solves g = g "
            "dof/alpha "
            "only because both sides vanish.",
            proof=ByLimit(),
        ),
    ]


def _heterogeneous() -> Step:
    return Step(
        "coordinates with different scales",
        "identity",
        eq(
            sp.Derivative(weight * part1(t) + (1 - weight) * part2(t), t),
            weight * sp.Derivative(part1(t), t) + (1 - weight) * sp.Derivative(part2(t), t),
        ),
        "With a joint law of (x, c_FT) the single-site average is a mixture, so its slopes, err and dof, are the "
        "same mixture of "
        "the groups' slopes. Nothing else in the derivation mentions c_FT.",
        "THEORY section 6",
    )


def _second_route() -> list[Step]:
    channel = gordon.channel()
    eliminated = Step(
        "replica parameters on that line",
        "definition",
        both(eq(mse, tau**2 - noise), eq(chi, alpha / g_hat - 1)),
        "Two of the replica conditions solved: tau^2 = noise + mse and g_hat = alpha/(1 + chi).",
    )
    outer, by_g, by_s = _cgmt_gradient()
    return [
        *gordon.steps(),
        channel,
        eliminated,
        Step(
            "the two functionals agree",
            "identity",
            eq(free_energy() - site(g_hat, s_hat), gordon.functional() - site(g_hat, s_hat)),
            "With mse and chi eliminated, the replica free energy is the min-max functional, term by term.",
            given=(eliminated, channel),
        ),
        Step(
            "min-max: stationary in tau and b_norm",
            "identity",
            both(
                eq(
                    outer[0] + by_g[0] * err / 2 - by_s[0] * dof / (2 * g_hat),
                    b_norm * sp.sqrt(alpha) * (tau**2 - noise - err) / (2 * tau**2),
                ),
                eq(
                    outer[1] + by_g[1] * err / 2 - by_s[1] * dof / (2 * g_hat),
                    sp.sqrt(alpha) * (noise + err - tau**2) / (2 * tau) + tau * (alpha - dof - g_hat) / sp.sqrt(alpha),
                ),
            ),
            "Chain rule through (g_hat, s_hat), with the slopes of the single-site average found above. The first "
            "bracket: tau^2 = noise + err, so s2 = tau^2/alpha is the "
            "first "
            "saddle-point equation; the second then leaves g_hat = alpha - dof, which is the second one.",
            given=(channel,),
        ),
    ]


def _cgmt_gradient():
    """Derivatives in (tau, b_norm) of the functional's outer part, of g_hat and of s_hat."""
    values = {g_hat: b_norm * sp.sqrt(alpha) / tau, s_hat: b_norm**2}
    outer = (gordon.functional() - site(g_hat, s_hat)).subs(values)
    return tuple(
        tuple(sp.Derivative(expr, variable) for variable in (tau, b_norm))
        for expr in (outer, values[g_hat], values[s_hat])
    )


def derive() -> Derivation:
    """The saddle-point equations."""
    formulas = results()
    stationarity, saddle = _stationarity()
    steps = [*replica_average.steps(), *_site_steps(), *stationarity, *_equations(saddle), _heterogeneous()]
    return Derivation(
        "replica",
        "The replica-symmetric prediction",
        (*steps, *_second_route()),
        formulas["free_energy"],
        formulas,
        "Replica method and convex Gaussian min-max theorem lead to the same functional and the same two equations.",
    )
