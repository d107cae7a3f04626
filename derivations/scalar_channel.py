"""One coordinate of the replica-symmetric problem: a scalar denoising channel (THEORY section 6).

The estimator is the proximal map of q; with xhat = c_ft sinh(u) the map is explicit in the other direction, so that
every expectation is an integral over u without root finding.  The formulas themselves are in `derivations.channel`.
"""

from __future__ import annotations

import sympy as sp

from derivations import channel_balance
from derivations.channel import (
    along_g,
    along_s2,
    channel_jacobian,
    channel_offset,
    channel_shift,
    channel_z,
    integrands,
    moreau_envelope,
    moreau_envelope_stable,
    posterior_residual,
    results,
    stationarity,
)
from derivations.ledger.bounds import AnyOf, Signs
from derivations.ledger.proof import ByLimit
from derivations.ledger.step import Derivation, Step, both, eq, gt, lt
from derivations.mirror import potential, potential_second_derivative
from derivations.symbols import a, c_ft, delta, eps, g, h, mu, s2, shift, start, t, tau2, u, u0, x, z, zeta

_RANGAN = "Rangan, Fletcher & Goyal 2012"


def _estimator() -> list[Step]:
    """The proximal map: stationarity, convexity, and the map made explicit."""
    objective = (x - z) ** 2 / (2 * g) + potential(x, c_ft) - start / 2 * x
    at = c_ft * sp.sinh(u)
    slope = c_ft * sp.cosh(u) / channel_jacobian(u)
    return [
        Step(
            "stationarity",
            "identity",
            eq(g * sp.Derivative(objective, x), stationarity(x) - g / 2 * start - z),
            "xhat minimises (x - z)^2/(2g) + q(x) - (start/2) x: for a start other than 0 the penalty is the Bregman "
            "divergence, which adds a linear term (derivation bregman). The paper has start = 0.",
            _RANGAN,
        ),
        Step(
            "one minimiser",
            "inequality",
            gt(sp.Derivative(objective, (x, 2)), 0),
            "1/g + q'' > 0.",
            _RANGAN,
            Signs(1 / g + potential_second_derivative(x, c_ft)),
        ),
        Step(
            "no root finding",
            "identity",
            eq(stationarity(at) - g / 2 * start, channel_z(u)),
            "With xhat = c_ft sinh(u), asinh undoes sinh and z is explicit in u.",
            "THEORY section 6",
        ),
        Step(
            "jacobian",
            "identity",
            eq(sp.Derivative(channel_z(u), u), channel_jacobian(u)),
            "dz/du, positive: u and z are in one-to-one correspondence, so E f(xhat) is an integral over u with "
            "weight dz/du.",
            "THEORY section 6",
        ),
        Step(
            "slope of the estimator",
            "identity",
            eq(slope, 1 / (1 + g * potential_second_derivative(at, c_ft))),
            "d xhat/dz = (d xhat/du)/(dz/du): the degrees of freedom that one coordinate spends.",
            _RANGAN,
        ),
        Step(
            "contraction",
            "inequality",
            both(gt(slope, 0), lt(slope, 1)),
            "The estimator shrinks, and never reverses.",
            proof=AnyOf(Signs(), Signs(g / 2 / channel_jacobian(u))),
        ),
    ]


def _envelope() -> list[Step]:
    """The minimum value (Moreau envelope) and its derivatives, all at start = 0."""
    at = c_ft * sp.sinh(u)
    value = moreau_envelope(at)
    position = at + g / 2 * u
    gap = position - at
    along = sp.Derivative(value, g) - sp.Derivative(value, u) * sp.Derivative(position, g) / sp.Derivative(position, u)
    return [
        Step(
            "moreau envelope",
            "identity",
            eq((at - position) ** 2 / (2 * g) + potential(at, c_ft), moreau_envelope_stable(u)),
            "The objective at its minimiser, in u and without cancellation.",
            _RANGAN,
        ),
        Step(
            "envelope, slope in z",
            "identity",
            eq(sp.Derivative(value, u) / sp.Derivative(position, u), gap / g),
            "dM/dz = (z - xhat)/g.",
            "textbook",
        ),
        Step(
            "envelope, slope in g",
            "identity",
            eq(along, -(gap**2) / (2 * g**2)),
            "dM/dg at fixed z = -(z - xhat)^2/(2 g^2): the derivative of the explicit g alone, as at every minimum.",
            "textbook",
        ),
    ]


def _prior() -> list[Step]:
    """Integrate out x given z; write everything around the prior mean."""
    variance = tau2 + s2
    residual = x - a - tau2 / variance * (z - a)
    v = tau2 * s2 / variance
    normal = sp.exp(-(t**2) / 2) / sp.sqrt(2 * sp.pi)
    at = c_ft * sp.sinh(u)
    return [
        Step(
            "posterior",
            "identity",
            eq(
                (x - a) ** 2 / (2 * tau2) + (z - x) ** 2 / (2 * s2),
                (z - a) ** 2 / (2 * variance) + residual**2 / (2 * v),
            ),
            "x ~ N(a, tau2) and z = x + sqrt(s2) N(0, 1) (tau2 > 0): completing the square, z ~ N(a, V) and "
            "x given z ~ N(a + (tau2/V)(z - a), tau2 s2/V), V = tau2 + s2. A point mass is tau2 = 0.",
            "textbook",
        ),
        Step(
            "error given z",
            "identity",
            eq(sp.Integral((shift - sp.sqrt(s2) * t) ** 2 * normal, (t, -sp.oo, sp.oo)), shift**2 + s2),
            "If x given z is xhat - shift + sqrt(s2) N(0, 1), the mean square error is shift^2 + s2; here s2 stands "
            "for the "
            "posterior variance and shift for xhat minus the posterior mean.",
            "textbook",
        ),
        Step(
            "distance to the posterior mean",
            "identity",
            eq(
                (at - a - tau2 / variance * (channel_z(u) - a)),
                posterior_residual().subs(shift, at - a),
            ),
            "xhat - E[x given z], with z - a = (xhat - a) + (g/2)(u - start) inserted: nothing cancels when s2 << "
            "tau2.",
        ),
        Step(
            "offset",
            "identity",
            eq(channel_z(u0 + delta) - channel_z(u0), channel_offset()),
            "z(u) - a where a = z(u0): a difference of sinh as a product, so that nothing cancels near the prior mean.",
        ),
        Step(
            "shift",
            "identity",
            eq(c_ft * sp.sinh(u0 + delta) - channel_z(u0), channel_shift()),
            "xhat - a in the same form.",
        ),
    ]


def _integrals() -> list[Step]:
    """The saddle-point integrands as functions of the offset delta."""
    formulas = results()
    spread = sp.sqrt(2 * (tau2 + s2))
    distribution = (1 + sp.erf(channel_offset() / spread)) / 2
    at = c_ft * sp.sinh(u0 + delta)
    mass, dof = formulas["channel_mass"], formulas["channel_dof"]
    ends = both(*(eq(sp.Limit(channel_offset(), delta, end), end) for end in (sp.oo, -sp.oo)))
    return [
        Step(
            "mass",
            "identity",
            eq(sp.Derivative(distribution, delta), mass),
            "The weight of d delta is the derivative of the distribution function of z.",
        ),
        Step(
            "mass is 1",
            "limit",
            ends,
            "zeta runs over the whole line with delta, so the distribution function runs from 0 to 1.",
            proof=ByLimit(),
        ),
        Step(
            "degrees of freedom",
            "identity",
            eq(mass / (1 + g * potential_second_derivative(at, c_ft)), dof),
            "E 1/(1 + g q''): the jacobian cancels the denominator.",
            "THEORY section 6",
        ),
        Step(
            "slack",
            "identity",
            eq(mass - dof, formulas["channel_slack"]),
            "1 - dof without its cancellation.",
        ),
    ]


def _derivatives() -> list[Step]:
    """The total derivatives at fixed u against the chain rule that generates code."""
    explicit = {zeta: channel_z(u) - a, shift: c_ft * sp.sinh(u) - a}
    steps = []
    for name in ("channel_error", "channel_dof"):
        integrand = integrands()[name]
        direct = integrand.subs(explicit, simultaneous=True)
        for rule, symbol in ((along_g, g), (along_s2, s2)):
            steps.append(
                Step(
                    f"{name.removeprefix('channel_')} along {symbol}",
                    "identity",
                    eq(sp.Derivative(direct, symbol), rule(integrand).subs(explicit, simultaneous=True)),
                    "At fixed u the integrand depends on the parameter directly and through zeta.",
                )
            )
    return steps


def _extremes() -> list[Step]:
    return [
        Step(
            "small scale: soft threshold",
            "limit",
            eq(sp.Limit(mu + eps / sp.log(1 / h) * sp.asinh(mu / h), h, 0, "+"), mu + eps),
            "With g = 2 theta/log(1/c_ft) and c_ft -> 0, z = xhat + theta sign(xhat): basis pursuit's soft threshold.",
            "Donoho, Maleki & Montanari 2009",
            ByLimit(),
        ),
        Step(
            "large scale: linear shrinkage",
            "limit",
            eq(sp.Limit(x + eps * h * sp.asinh(x / h), h, sp.oo), (1 + eps) * x),
            "With g = 2 c_ft theta and c_ft -> infinity, z = (1 + theta) xhat: ridge regression's shrinkage.",
            "textbook",
            ByLimit(),
        ),
    ]


def derive() -> Derivation:
    """The scalar channel."""
    formulas = results() | channel_balance.results()
    averages = (*_integrals(), *_derivatives(), *channel_balance.steps())
    steps = (*_estimator(), *_envelope(), *_prior(), *averages, *_extremes())
    return Derivation(
        "scalar_channel",
        "The scalar channel",
        steps,
        formulas["stationarity"],
        formulas,
        "One coordinate in Gaussian noise, its estimator, and its averages as integrals without root finding.",
    )
