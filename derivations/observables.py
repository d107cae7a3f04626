"""What the saddle point predicts besides the error: training error, groups, forgetting, metrics (THEORY sections 4, 6).

Every observable is an average over the scalar channel; the `channel_*` results are its integrands in the variables
(delta, u0, start, c_ft, g, s2, tau2), as in `scalar_channel`.
"""

from __future__ import annotations

import sympy as sp

from derivations import scalar_channel
from derivations.channel import channel_jacobian, channel_offset, channel_shift, channel_z
from derivations.ledger.bounds import Signs
from derivations.ledger.proof import ByLimit
from derivations.ledger.step import Derivation, Step, both, eq, ge
from derivations.metrics import ell_order_stable
from derivations.mirror import potential
from derivations.replica import effective_noise, effective_step
from derivations.symbols import (
    alpha,
    beta_lost,
    beta_new,
    beta_none,
    beta_pt,
    beta_shared,
    c_ft,
    chi,
    delta,
    dof,
    err,
    g,
    g_hat,
    inv_t,
    loss_weight,
    mse,
    noise,
    omega,
    rho_new,
    rho_pt,
    rho_shared,
    ridge,
    s,
    s2,
    shift,
    tau2,
    u,
    u0,
    zeta,
)  # fmt: skip

_THEORY = "THEORY section 6"


def training_error() -> sp.Expr:
    """Mean squared residual on the training samples."""
    return s2 * ridge**2 / (alpha * g**2)


def sparsity() -> sp.Expr:
    """rho_FT of the task."""
    return rho_pt * rho_shared + (1 - rho_pt) * rho_new


def _integrands() -> dict[str, sp.Expr]:
    """In (u, zeta, shift), before zeta and shift are written out; `beta_pt` is constant within a component."""
    variance = tau2 + s2
    mass = sp.exp(-(zeta**2) / (2 * variance)) / sp.sqrt(2 * sp.pi * variance) * channel_jacobian(u)
    at = c_ft * sp.sinh(u)
    truth = at - shift + tau2 / variance * zeta  # the posterior mean of x
    return {
        "channel_forgetting": mass * (at - beta_pt) ** 2,
        "channel_alignment": mass * at * truth,
        "channel_norm": mass * at**2,
        "channel_penalty": mass * c_ft / 2 * (u * sp.sinh(u) - 2 * sp.sinh(u / 2) ** 2),
        "channel_penalty_slope": mass * at * u / 2,
    }


def results() -> dict[str, sp.Expr]:
    """Named formulas and integrands."""
    written_out = {zeta: channel_offset(), shift: channel_shift(), u: u0 + delta}
    return {
        "training_error": training_error(),
        "rho_ft": sparsity(),
        **{name: expr.subs(written_out, simultaneous=True) for name, expr in _integrands().items()},
    }


def _errors() -> list[Step]:
    saddle = Step(
        "saddle point",
        "definition",
        both(eq(s2, effective_noise()), eq(chi, dof / g_hat), eq(g_hat, alpha - dof)),
        "From derivation replica.",
        "derivation replica",
    )
    weighted = loss_weight * (noise + mse) / (1 + loss_weight * chi)
    step = Step("step size", "definition", eq(g, effective_step()), "From derivation replica.", "derivation replica")
    return [
        saddle,
        Step(
            "parameter error",
            "identity",
            eq(alpha * s2 - noise, err),
            "The error per coordinate is read off s2; the test error of (x, y) with x ~ N(0, I/D) is noise + mse.",
            _THEORY,
            given=(saddle,),
        ),
        Step(
            "weighted loss",
            "limit",
            eq(
                sp.Limit(
                    (sp.log(1 + loss_weight * chi) + inv_t * weighted) / inv_t,
                    inv_t,
                    sp.oo,
                ),
                weighted,
            ),
            "A factor kappa on the loss multiplies B in the average over a row: the energetic part becomes "
            "(alpha/2) kappa (noise + mse)/(1 + kappa chi).",
            proof=ByLimit(),
        ),
        Step(
            "training error",
            "identity",
            eq(sp.Subs(sp.Derivative(weighted, loss_weight), loss_weight, 1), (noise + mse) / (1 + chi) ** 2),
            "The mean loss is the derivative by kappa at 1 (the other derivatives vanish at the saddle point): the "
            "training "
            "residual is the test residual over 1 + chi, as for leaving one sample out.",
            "Rangan, Fletcher & Goyal 2012",
        ),
        step,
        Step(
            "training error at the saddle point",
            "identity",
            eq((noise + err) / (1 + chi) ** 2, training_error()),
            "With 1 + chi = alpha/g_hat = alpha g/ridge: proportional to ridge^2.",
            given=(step, saddle),
        ),
        Step(
            "interpolation",
            "limit",
            eq(sp.Limit(training_error(), ridge, 0), 0),
            "At fixed (s2, g) the training error vanishes with the ridge.",
            proof=ByLimit(),
        ),
        Step(
            "training is easier than testing",
            "inequality",
            ge(noise + mse, (noise + mse) / (1 + chi) ** 2),
            "1 + chi > 1.",
            proof=Signs((noise + mse) * chi * (2 + chi) / (1 + chi) ** 2),
        ),
    ]


def _groups() -> list[Step]:
    overlap = Step(
        "overlap form",
        "definition",
        both(
            eq(rho_shared, omega * s / rho_pt),
            eq(rho_new, (1 - omega) * s / (1 - rho_pt)),
        ),
        "rho_FT = s and omega, the share of fine-tuning's active coordinates that pretraining had too.",
        "THEORY section 5",
    )
    weights = {
        beta_shared: rho_pt * rho_shared,
        beta_new: (1 - rho_pt) * rho_new,
        beta_lost: rho_pt * (1 - rho_shared),
        beta_none: (1 - rho_pt) * (1 - rho_new),
    }
    return [
        Step(
            "four groups",
            "identity",
            eq(sum(weights.values()), 1),
            "Shared, new, lost (pretraining only) and idle coordinates exhaust the task; mse is the mean of the "
            "group errors "
            "with these weights.",
            "THEORY section 5",
        ),
        overlap,
        Step(
            "sparsity of the overlap form",
            "identity",
            eq(sparsity(), s),
            "rho_FT comes out whatever omega.",
            "THEORY section 5",
            given=(overlap,),
        ),
        Step(
            "share of the overlap form",
            "identity",
            eq(rho_pt * rho_shared / sparsity(), omega),
            "The shared fraction of the active coordinates is omega.",
            "THEORY section 5",
            given=(overlap,),
        ),
    ]


def _channel() -> list[Step]:
    formulas = results()
    variance = tau2 + s2
    position = c_ft * sp.sinh(u0 + delta)
    truth = channel_z(u0) + tau2 / variance * channel_offset()
    v = tau2 * s2 / variance
    channel = scalar_channel.results()
    mass = channel["channel_mass"]
    away = truth - beta_pt
    moved = 2 * mass * (position - truth) * away + mass * (away**2 - v)
    return [
        Step(
            "error from moments",
            "identity",
            eq(
                channel["channel_error"],
                formulas["channel_norm"] - 2 * formulas["channel_alignment"] + mass * (truth**2 + v),
            ),
            "(xhat - x)^2 = xhat^2 - 2 xhat x + x^2 with x averaged given z: the alignment E[xhat x] and the norm E "
            "xhat^2 "
            "are integrals of the same kind.",
        ),
        Step(
            "forgetting",
            "identity",
            eq(formulas["channel_forgetting"], channel["channel_error"] + moved),
            "Distance to what pretraining had learned, (xhat - beta_PT)^2, against the error: expand around the "
            "posterior mean.",
        ),
        Step(
            "penalty",
            "identity",
            eq(mass * potential(position, c_ft), formulas["channel_penalty"]),
            "q of the learned coordinate, in the stable form.",
        ),
        Step(
            "l-order of the solution",
            "identity",
            eq(mass * potential(position, c_ft) * ell_order_stable(u0 + delta), formulas["channel_penalty_slope"]),
            "The q-weighted mean of the l-order is E[xhat q'(xhat)]/E[q(xhat)]; PD is E[(q - xhat q') S]/E[q], with "
            "the S of "
            "each coordinate.",
            "THEORY section 4",
        ),
    ]


def derive() -> Derivation:
    """Observables at the saddle point."""
    formulas = results()
    return Derivation(
        "observables",
        "What the saddle point predicts",
        (*_errors(), *_groups(), *_channel()),
        formulas["training_error"],
        formulas,
        "Errors, groups, forgetting and metrics as averages over one scalar channel.",
    )
