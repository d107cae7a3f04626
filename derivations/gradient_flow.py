"""Gradient flow of one stage of a two-path diagonal network (THEORY section 2).

One coordinate d and its four weights; `r` is minus the derivative of the loss by beta_d, which carries the other
coordinates.  Everything that follows holds for any loss of the effective vector, because only `r` enters.
"""

from __future__ import annotations

import sympy as sp

from derivations.ledger.bounds import Signs
from derivations.ledger.step import Derivation, Step, both, eq, le
from derivations.mirror import dual_map, potential_second_derivative
from derivations.symbols import (
    R,
    beta,
    c,
    path,
    r,
    rest,
    t,
    v0,
    v1,
    v2,
    v_m,
    v_p,
    vm0,
    vp0,
    w0,
    w1,
    w2,
    w_m,
    w_p,
    wm0,
    wp0,
    x_id,
    y,
)  # fmt: skip

_WOODWORTH = "Woodworth et al. 2020"


def effective(a1: sp.Expr, b1: sp.Expr, a2: sp.Expr, b2: sp.Expr) -> sp.Expr:
    """beta = w+ v+ - w- v-."""
    return a1 * b1 - a2 * b2


def general_scale() -> sp.Expr:
    """The scale of the flow from an arbitrary start of the four weights."""
    growing = (wp0 + vp0) ** 2 + (wm0 - vm0) ** 2
    shrinking = (wp0 - vp0) ** 2 + (wm0 + vm0) ** 2
    return sp.sqrt(growing * shrinking) / 2


def _loss_steps() -> list[Step]:
    """Four identities: minus the gradient of one sample's squared loss by each weight."""
    loss = (y - x_id * effective(w1, v1, w2, v2) - rest) ** 2 / 2
    force = x_id * (y - x_id * effective(w1, v1, w2, v2) - rest)
    parts = ((w1, v1), (v1, w1), (w2, -v2), (v2, -w2))
    claim = both(*(eq(-sp.Derivative(loss, weight), force * partner) for weight, partner in parts))
    return [
        Step(
            "gradient",
            "identity",
            claim,
            "Chain rule for one sample and one coordinate; `rest` is what the other coordinates contribute. Samples "
            "add, "
            "so with r = sum_i X_id (y - X beta)_i the descent direction is r v+ for w+, r w+ for v+, -r v- for w-, "
            "-r w- for v-.",
            _WOODWORTH,
        )
    ]


def _flow() -> Step:
    equations = (
        eq(sp.Derivative(w_p(t), t), r(t) * v_p(t)),
        eq(sp.Derivative(v_p(t), t), r(t) * w_p(t)),
        eq(sp.Derivative(w_m(t), t), -r(t) * v_m(t)),
        eq(sp.Derivative(v_m(t), t), -r(t) * w_m(t)),
        eq(sp.Derivative(R(t), t), r(t)),
    )
    return Step(
        "flow",
        "definition",
        both(*equations),
        "Gradient flow, unit rate; R is the integral of r from 0 to t.",
        _WOODWORTH,
    )


def _conservation(flow: Step) -> list[Step]:
    """Nothing but the equations of motion is used."""
    quantities = {
        "balance of the positive path": w_p(t) ** 2 - v_p(t) ** 2,
        "balance of the negative path": w_m(t) ** 2 - v_m(t) ** 2,
        "parallel product": w_p(t) * w_m(t) + v_p(t) * v_m(t),
        "crossed product": w_p(t) * v_m(t) + v_p(t) * w_m(t),
    }
    return [
        Step(
            f"conserved: {name}",
            "identity",
            eq(sp.Derivative(quantity, t), 0),
            "Differentiate and insert the flow: the terms cancel in pairs.",
            "Azulay et al. 2021 (balancedness); this project (products)",
            given=(flow,),
        )
        for name, quantity in quantities.items()
    ]


def _modes(flow: Step) -> list[Step]:
    """Sums and differences of a path's weights only grow or shrink."""
    modes = {
        "w+ + v+": (w_p(t) + v_p(t)) * sp.exp(-R(t)),
        "w+ - v+": (w_p(t) - v_p(t)) * sp.exp(R(t)),
        "w- + v-": (w_m(t) + v_m(t)) * sp.exp(R(t)),
        "w- - v-": (w_m(t) - v_m(t)) * sp.exp(-R(t)),
    }
    return [
        Step(
            f"mode {name}",
            "identity",
            eq(sp.Derivative(quantity, t), 0),
            "The mode times the opposite exponential is constant, so the mode is its start times the exponential: no "
            "uniqueness theorem is needed.",
            _WOODWORTH,
            given=(flow,),
        )
        for name, quantity in modes.items()
    ]


def _closed_form() -> Step:
    grow, shrink = sp.exp(R(t)), sp.exp(-R(t))
    weights = (
        eq(w_p(t), ((wp0 + vp0) * grow + (wp0 - vp0) * shrink) / 2),
        eq(v_p(t), ((wp0 + vp0) * grow - (wp0 - vp0) * shrink) / 2),
        eq(w_m(t), ((wm0 + vm0) * shrink + (wm0 - vm0) * grow) / 2),
        eq(v_m(t), ((wm0 + vm0) * shrink - (wm0 - vm0) * grow) / 2),
    )
    return Step(
        "closed form",
        "definition",
        both(*weights),
        "The four modes of the previous steps, solved for the weights; the start is at R = 0.",
        _WOODWORTH,
    )


def _after(closed: Step) -> list[Step]:
    """What the closed form says, from any start and from the balanced one."""
    equations = (
        eq(sp.Derivative(w_p(t), t), v_p(t) * sp.Derivative(R(t), t)),
        eq(sp.Derivative(v_p(t), t), w_p(t) * sp.Derivative(R(t), t)),
        eq(sp.Derivative(w_m(t), t), -v_m(t) * sp.Derivative(R(t), t)),
        eq(sp.Derivative(v_m(t), t), -w_m(t) * sp.Derivative(R(t), t)),
    )
    solves = Step(
        "closed form solves the flow",
        "identity",
        both(*equations),
        "Insert the closed form into the equations of motion, with r = dR/dt.",
        _WOODWORTH,
        given=(closed,),
    )
    starts = {w_p(t): wp0, v_p(t): vp0, w_m(t): wm0, v_m(t): vm0}
    weights = {equation.lhs: equation.rhs for equation in closed.claim.args}
    begins = Step(
        "closed form starts at the start",
        "identity",
        both(*(eq(sp.Subs(weights[weight], R(t), 0), start) for weight, start in starts.items())),
        "R = 0 at t = 0.",
        _WOODWORTH,
    )
    vector = effective(w_p(t), v_p(t), w_m(t), v_m(t))
    phase = sp.log(((wp0 + vp0) ** 2 + (wm0 - vm0) ** 2) / ((wp0 - vp0) ** 2 + (wm0 + vm0) ** 2)) / 2
    general = Step(
        "any start",
        "identity",
        eq(vector, general_scale() * sp.sinh(2 * R(t) + phase)),
        "Products of exponentials: an arbitrary start only shifts the argument of sinh and fixes the scale. The "
        "shift is "
        "asinh(beta(0)/scale).",
        "Azulay et al. 2021 (initialization shape)",
        given=(closed,),
    )
    return [solves, begins, general]


def _balanced(closed: Step) -> list[Step]:
    start = Step(
        "balanced start",
        "definition",
        both(eq(wp0, w0), eq(wm0, w0), eq(vp0, v0), eq(vm0, v0)),
        "Both paths start from the same pair, so that beta(0) = 0; w0 and v0 themselves may differ.",
        "Lippl & Lindsey 2024",
    )
    given = (closed, start)
    vector = effective(w_p(t), v_p(t), w_m(t), v_m(t))
    sinh_law = Step(
        "beta = c sinh 2R",
        "identity",
        eq(vector, dual_map(R(t), w0**2 + v0**2)),
        "The squares of the two modes add to 2 (w0^2 + v0^2): the scale is c = w0^2 + v0^2, whatever the ratio of "
        "the layers.",
        "Woodworth et al. 2020, Theorem 1; THEORY section 2",
        given=given,
    )
    scale = Step(
        "scale is conserved",
        "identity",
        eq(w_p(t) * w_m(t) + v_p(t) * v_m(t), w0**2 + v0**2),
        "The parallel product keeps its initial value at all times: it is the scale c.",
        "THEORY section 2",
        given=given,
    )
    layers = Step(
        "sums of the paths",
        "identity",
        both(eq(w_p(t) + w_m(t), 2 * w0 * sp.cosh(R(t))), eq(v_p(t) + v_m(t), 2 * v0 * sp.cosh(R(t)))),
        "The odd parts of the modes cancel: this is what fine-tuning will inherit.",
        "THEORY section 3",
        given=given,
    )
    return [start, sinh_law, scale, layers]


def _mirror() -> list[Step]:
    law = Step(
        "sinh law",
        "definition",
        eq(path(t), dual_map(R(t), c)),
        "The balanced flow, with c for w0^2 + v0^2; from here on only c and R matter.",
    )
    mirror = Step(
        "mirror flow",
        "identity",
        eq(sp.Derivative(sp.asinh(path(t) / c) / 2, t), sp.Derivative(R(t), t)),
        "q'(beta) = asinh(beta/c)/2 moves at the rate r: gradient flow on the weights is mirror flow on beta.",
        "Woodworth et al. 2020",
        given=(law,),
    )
    metric = Step(
        "natural rate",
        "identity",
        eq(sp.Derivative(path(t), t) * potential_second_derivative(path(t), c), sp.Derivative(R(t), t)),
        "The same in the metric q'' = 1/(2 sqrt(c^2 + beta^2)): d beta/dt = 2 sqrt(c^2 + beta^2) r.",
        "Woodworth et al. 2020",
        given=(law,),
    )
    descent = Step(
        "descent",
        "inequality",
        le(-r(t) * (r(t) / potential_second_derivative(beta, c)), 0),
        "dL/dt is the sum over coordinates of -r dbeta/dt, and each term is -2 sqrt(c^2 + beta^2) r^2.",
        proof=Signs(),
    )
    return [law, mirror, metric, descent]


def derive() -> Derivation:
    """From the four weights of a coordinate to beta = c sinh(2R)."""
    flow, closed = _flow(), _closed_form()
    steps = [*_loss_steps(), flow, *_conservation(flow), *_modes(flow), closed]
    steps += [*_after(closed), *_balanced(closed), *_mirror()]
    return Derivation(
        "gradient_flow",
        "Gradient flow of a two-path diagonal network",
        tuple(steps),
        dual_map(t, c),
        {"scale": w0**2 + v0**2, "general_scale": general_scale(), "dual_map": dual_map(t, c)},
        "Four conservation laws, four exponential modes, and the mirror flow beta = c sinh(2R).",
    )
