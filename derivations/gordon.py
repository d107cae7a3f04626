"""The second route: the convex Gaussian min-max theorem and its scalar reduction.

No replicas, no temperature: a Gaussian comparison theorem replaces the random matrix by two random vectors, and the
minimum of the new problem depends on two numbers (b_norm, tau).  Steps only; `derivations.replica` compares the result.
"""

from __future__ import annotations

import sympy as sp

from derivations.ledger.bounds import Signs
from derivations.ledger.step import Step, both, eq, ge, le
from derivations.symbols import (
    Z,
    a,
    alpha,
    auxiliary,
    b_norm,
    g_hat,
    kappa,
    mse,
    noise,
    primary,
    s_hat,
    site,
    t,
    tau,
    x,
)  # fmt: skip

_CGMT = "Thrampoulidis, Oymak & Hassibi 2015"


def functional() -> sp.Expr:
    """The auxiliary problem's value per coordinate; the single-site average is `site` plus b_norm tau/(2 "
    "sqrt(alpha))."""
    root = sp.sqrt(alpha)
    outer = b_norm * root * (tau / 2 + noise / (2 * tau)) - b_norm**2 / 2 - b_norm * tau / (2 * root)
    return outer + site(g_hat, s_hat) + s_hat / (2 * g_hat)


def channel() -> Step:
    """(g_hat, s_hat) in terms of (b_norm, tau)."""
    return Step(
        "parameters of the auxiliary problem",
        "definition",
        both(eq(g_hat, b_norm * sp.sqrt(alpha) / tau), eq(s_hat, b_norm**2)),
        "Read off from the completed square: curvature g_hat, noise s2 = s_hat/g_hat^2 = tau^2/alpha.",
        _CGMT,
    )


def steps() -> list[Step]:
    """From the min-max problem to the functional of two numbers."""
    step = sp.sqrt(noise + mse)
    curvature = b_norm * sp.sqrt(alpha) / tau
    shift = tau / sp.sqrt(alpha) * Z
    return [
        Step(
            "loss as a maximum",
            "inequality",
            le(kappa * t - kappa**2 / 2, t**2 / 2),
            "One residual t; equality at kappa = t. So |y - X beta|^2/2 is a maximum over a dual vector, linear in X.",
            "textbook",
            Signs((t - kappa) ** 2 / 2),
        ),
        Step(
            "Gordon's comparison",
            "assumption",
            eq(primary, auxiliary),
            "The minimum of the min-max problem with matrix X concentrates on that of the auxiliary one, where kappa "
            ". X w is "
            "replaced by (|w| g . kappa + |kappa| h . w)/sqrt(D), g and h standard normal vectors: a theorem, taken "
            "from the "
            "literature, for convex-concave problems on bounded sets (strict convexity gives them).",
            _CGMT,
        ),
        Step(
            "root as a minimum",
            "inequality",
            ge(tau / 2 + (noise + mse) / (2 * tau), step),
            "|w|^2 = D mse; the maximum over the direction of kappa leaves sqrt(noise + mse), which is this minimum "
            "over tau, "
            "attained at tau^2 = noise + mse.",
            "textbook",
            Signs((tau - step) ** 2 / (2 * tau)),
        ),
        Step(
            "coordinates decouple",
            "identity",
            eq(
                b_norm * Z * (a - x) + b_norm * sp.sqrt(alpha) * (a - x) ** 2 / (2 * tau),
                curvature / 2 * (a - (x - shift)) ** 2 - b_norm * tau / (2 * sp.sqrt(alpha)) * Z**2,
            ),
            "With |kappa| = sqrt(D) b_norm the problem is a sum over coordinates: again a proximal map of z = x - "
            "(tau/sqrt(alpha)) Z, of curvature g_hat = b_norm sqrt(alpha)/tau.",
            _CGMT,
        ),
    ]
