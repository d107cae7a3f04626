"""From pretraining to fine-tuning: the effective scale c_FT (THEORY section 3).

The general re-initialisation rule is w_FT+- = rho_w (w+ + w-) for the first layer of both paths and v_FT+- = readout
for their second layer.  The paper's rule is rho_w = 1, readout = gamma/sqrt(2); public code also has
readout = gamma, and an un-normalised relative scale.  All of them are derived here and named.
"""

from __future__ import annotations

import sympy as sp

from derivations.ledger.bounds import Same, Signs
from derivations.ledger.proof import ByLimit, Substitute
from derivations.ledger.step import Derivation, Step, both, eq, ge
from derivations.mirror import potential_derivative
from derivations.symbols import (
    R,
    beta_pt,
    c,
    gamma,
    h,
    lam,
    lam_raw,
    mu,
    p,
    readout,
    rho_w,
    s,
    t,
    v0,
    v_ft,
    w0,
    w_ft,
    w_m,
    w_p,
)

_PAPER = "arXiv 2602.20062; THEORY section 3"


def effective_scale(b: sp.Expr, scale: sp.Expr, relative: sp.Expr, readout: sp.Expr) -> sp.Expr:
    """c_FT = scale (1 + relative)(1 + sqrt(1 + (b/scale)^2)) + readout^2 / 2."""
    return scale * (1 + relative) * (1 + sp.sqrt(1 + (b / scale) ** 2)) + readout**2 / 2


def general_effective_scale(b: sp.Expr, scale: sp.Expr, relative: sp.Expr, factor: sp.Expr, v: sp.Expr) -> sp.Expr:
    """c_FT for w_FT = factor (w+ + w-) and v_FT = v on both paths."""
    return factor**2 * scale * (1 + relative) * (1 + sp.sqrt(1 + (b / scale) ** 2)) + v**2


def results() -> dict[str, sp.Expr]:
    """The named formulas of this derivation."""
    c_ft = effective_scale(beta_pt, c, lam, gamma)
    return {
        "c_ft": c_ft,
        "k": 4 * c_ft**2,
        "c_ft_general": general_effective_scale(beta_pt, c, lam, rho_w, readout),
    }


def _start() -> list[Step]:
    """Absolute and relative scale of the pretraining start."""
    scales = Step(
        "scales of the start",
        "definition",
        both(eq(c, w0**2 + v0**2), eq(lam, (w0**2 - v0**2) / (w0**2 + v0**2))),
        "Absolute and normalised relative scale; lam < 0 means the earlier layer is the smaller one.",
        _PAPER,
    )
    layers = Step(
        "layers of the start",
        "identity",
        both(eq(c * (1 + lam) / 2, w0**2), eq(c * (1 - lam) / 2, v0**2)),
        "Solve for the two layers: -1 <= lam <= 1, and lam = -1 is a dead first layer.",
        given=(scales,),
    )
    return [scales, layers]


def _features() -> list[Step]:
    """The first layer after pretraining has converged to beta_PT."""
    law = Step(
        "end of pretraining",
        "definition",
        both(eq(w_p(t), 2 * w0 * sp.cosh(R(t)) - w_m(t)), eq(R(t), potential_derivative(beta_pt, c))),
        "Pretraining keeps w+ + w- = 2 w0 cosh R and stops at beta_PT = c sinh(2R), so R = asinh(beta_PT/c)/2.",
        "derivation gradient_flow",
    )
    grown = Step(
        "first layer after pretraining",
        "identity",
        eq((2 * sp.cosh(R(t))) ** 2 * c * (1 + lam) / 2, c * (1 + lam) * (1 + sp.sqrt(1 + (beta_pt / c) ** 2))),
        "(w+ + w-)^2 with w0^2 = c (1 + lam)/2: 2 cosh(R)^2 = 1 + cosh(2R).",
        _PAPER,
        given=(law,),
    )
    return [law, grown]


def _restart(scales: Step, law: Step) -> list[Step]:
    """Re-balancing, new readout, and the scale that results."""
    rule = Step(
        "re-initialisation rule",
        "definition",
        both(eq(w_ft, rho_w * (w_p(t) + w_m(t))), eq(v_ft, readout)),
        "Both paths take w_FT = rho_w (w+ + w-) as first layer and v_FT = readout as second layer: the new stage "
        "starts at "
        "beta = w_FT v_FT - w_FT v_FT = 0, balanced between its paths.",
        _PAPER,
    )
    general = Step(
        "scale of fine-tuning, general rule",
        "identity",
        eq(w_ft**2 + v_ft**2, general_effective_scale(beta_pt, c, lam, rho_w, readout)),
        "The new stage is a balanced start, so its scale is w_FT^2 + v_FT^2 (gradient_flow).",
        given=(rule, law, scales),
    )
    paper = Step(
        "the paper's rule",
        "definition",
        both(eq(rho_w, 1), eq(readout, gamma / sp.sqrt(2))),
        "The first layer is kept whole, the readout is gamma/sqrt(2) on each path.",
        _PAPER,
    )
    scale = Step(
        "scale of fine-tuning",
        "identity",
        eq(
            general_effective_scale(beta_pt, c, lam, rho_w, readout),
            c * (1 + lam) + (1 + lam) * sp.sqrt(c**2 + beta_pt**2) + gamma**2 / 2,
        ),
        "c_FT; the root is written without the quotient.",
        _PAPER,
        given=(paper,),
    )
    same = Step(
        "two forms of c_FT",
        "identity",
        eq(
            effective_scale(beta_pt, c, lam, gamma),
            c * (1 + lam) + (1 + lam) * sp.sqrt(c**2 + beta_pt**2) + gamma**2 / 2,
        ),
        "The printed form and the form that does not divide by c.",
        _PAPER,
    )
    paper_k = (2 * c * (1 + lam) * (1 + sp.sqrt(1 + (beta_pt / c) ** 2)) + gamma**2) ** 2
    return [
        rule,
        general,
        paper,
        scale,
        same,
        Step(
            "the paper's k",
            "identity",
            eq(4 * effective_scale(beta_pt, c, lam, gamma) ** 2, paper_k),
            "k_d = 4 c_FT^2 is the paper's formula.",
            "arXiv 2602.20062, Theorem 4.1",
        ),
    ]


def _conventions(scales: Step, law: Step) -> list[Step]:
    """What other people's parameters are in ours."""
    plain = general_effective_scale(beta_pt, c, lam, sp.Integer(1), gamma)
    raw = Step(
        "un-normalised relative scale",
        "definition",
        eq(lam_raw, lam * c),
        "Some public code calls w0^2 - v0^2 itself the relative scale.",
    )
    unnormalised = (c + lam_raw) * (1 + sp.sqrt(1 + (beta_pt / c) ** 2)) + gamma**2 / 2
    half = general_effective_scale(beta_pt, c, lam, sp.Rational(1, 2), readout)
    return [
        Step(
            "convention: readout = gamma",
            "identity",
            eq(4 * plain**2, (2 * c * (1 + lam) * (1 + sp.sqrt(1 + (beta_pt / c) ** 2)) + 2 * gamma**2) ** 2),
            "Code that sets v_FT = gamma instead of gamma/sqrt(2) has 2 gamma^2 where the paper's k has gamma^2.",
        ),
        Step(
            "convention: mean of the paths",
            "identity",
            eq(((w_p(t) + w_m(t)) / 2) ** 2 + readout**2, half),
            "rho_w = 1/2 (the mean instead of the sum of the two paths) divides the inherited part by four.",
            given=(law, scales),
        ),
        raw,
        Step(
            "convention: un-normalised lam",
            "identity",
            eq(unnormalised, effective_scale(beta_pt, c, lam, gamma)),
            "c (1 + lam) is c + lam_raw.",
            given=(raw,),
        ),
    ]


def _properties() -> list[Step]:
    """Signs, edges and growth of c_FT."""
    slope = c * (1 + lam) * p / (c**2 * sp.sqrt(1 + (p / c) ** 2))
    root = sp.sqrt(1 + (beta_pt / c) ** 2)
    dead = effective_scale(beta_pt, c, lam, gamma)
    return [
        Step(
            "lower bound",
            "inequality",
            ge(dead, 2 * c * (1 + lam) + gamma**2 / 2),
            "The root is at least 1. So c_FT > 0 unless lam = -1 and gamma = 0.",
            proof=Substitute(
                {beta_pt: c * sp.sinh(s)},
                {s: sp.asinh(beta_pt / c)},
                Same(2 * c * (1 + lam) * sp.sinh(s / 2) ** 2, Signs()),
            ),
        ),
        Step(
            "dead network",
            "identity",
            eq(sp.Subs(dead, (lam, gamma), (-1, 0)), 0),
            "lam = -1 and gamma = 0: first layer and readout are both 0 and the network cannot move. An error, not a "
            "number.",
        ),
        Step(
            "coordinate without pretraining signal",
            "identity",
            eq(sp.Subs(dead, beta_pt, 0), 2 * c * (1 + lam) + gamma**2 / 2),
            "beta_PT = 0 keeps w+ + w- = 2 w0: the scale is twice the inherited part of c.",
        ),
        Step(
            "grows with the pretraining signal",
            "inequality",
            ge(sp.Derivative(effective_scale(p, c, lam, gamma), p), 0),
            "c_FT increases with |beta_PT| (strictly for lam > -1): fine-tuning is laxer where pretraining has found "
            "signal.",
            proof=Signs(slope),
        ),
        Step(
            "large pretraining signal",
            "limit",
            eq(sp.Limit(effective_scale(mu, c, lam, gamma) / mu, mu, sp.oo), 1 + lam),
            "c_FT ~ (1 + lam) |beta_PT| far above c.",
            proof=ByLimit(),
        ),
        Step(
            "small absolute scale",
            "limit",
            eq(sp.Limit(effective_scale(mu, h, lam, gamma), h, 0, "+"), (1 + lam) * mu + gamma**2 / 2),
            "c -> 0 leaves (1 + lam)|beta_PT| + gamma^2/2: an active coordinate keeps a scale of its own.",
            proof=ByLimit(rewrite=(1 + lam) * (h + sp.sqrt(h**2 + mu**2)) + gamma**2 / 2),
        ),
        Step(
            "root of the growth",
            "identity",
            eq(2 * sp.cosh(sp.asinh(beta_pt / c) / 2) ** 2, 1 + root),
            "The half-angle formula behind the map.",
        ),
    ]


def derive() -> Derivation:
    """The pretraining-to-fine-tuning map."""
    formulas = results()
    start, features = _start(), _features()
    steps = (*start, *features, *_restart(start[0], features[0]), *_conventions(start[0], features[0]), *_properties())
    return Derivation(
        "fine_tuning",
        "From pretraining to fine-tuning",
        steps,
        formulas["c_ft"],
        formulas,
        "Fine-tuning minimises the same potential with a scale per coordinate, set by what pretraining found there.",
    )
