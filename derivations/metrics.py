"""The l-order, the sensitivity and the pretraining dependence (THEORY section 4)."""

from __future__ import annotations

import sympy as sp

from derivations.fine_tuning import effective_scale
from derivations.ledger.step import Derivation
from derivations.symbols import beta, beta_pt, c, c_ft, gamma, lam, s


def ell_order(b: sp.Expr, scale: sp.Expr) -> sp.Expr:
    """d log q / d log |b| = b q'(b) / q(b), as it stands in print."""
    ratio = b / scale
    return ratio * sp.asinh(ratio) / (1 - sp.sqrt(1 + ratio**2) + ratio * sp.asinh(ratio))


def ell_order_stable(sigma: sp.Expr) -> sp.Expr:
    """The l-order at |b|/scale = sinh(sigma), without cancellation."""
    return sigma * sp.sinh(sigma) / (sigma * sp.sinh(sigma) - 2 * sp.sinh(sigma / 2) ** 2)


def sensitivity(b: sp.Expr, scale: sp.Expr, relative: sp.Expr, readout: sp.Expr) -> sp.Expr:
    """S = d log c_FT / d log |beta_PT|."""
    ratio = b / scale
    numerator = scale * (1 + relative) * ratio**2 / sp.sqrt(1 + ratio**2)
    return numerator / effective_scale(b, scale, relative, readout)


def results() -> dict[str, sp.Expr]:
    """The named formulas of this derivation."""
    factor = sensitivity(beta_pt, c, lam, gamma)
    order = ell_order(beta, effective_scale(beta_pt, c, lam, gamma))
    return {
        "ell_order": ell_order(beta, c_ft),
        "sensitivity": factor,
        "pretraining_dependence": (1 - order) * factor,
        "ell_order_stable": ell_order_stable(s),
    }


def derive() -> Derivation:
    """l-order and pretraining dependence."""
    formulas = results()
    return Derivation("metrics", "l-order and pretraining dependence", (), formulas["ell_order"], formulas)
