"""From pretraining to fine-tuning: the effective scale c_FT (THEORY section 3)."""

from __future__ import annotations

import sympy as sp

from derivations.ledger.step import Derivation
from derivations.symbols import beta_pt, c, gamma, lam


def effective_scale(b: sp.Expr, scale: sp.Expr, relative: sp.Expr, readout: sp.Expr) -> sp.Expr:
    """c_FT = scale (1 + relative)(1 + sqrt(1 + (b/scale)^2)) + readout^2 / 2."""
    return scale * (1 + relative) * (1 + sp.sqrt(1 + (b / scale) ** 2)) + readout**2 / 2


def results() -> dict[str, sp.Expr]:
    """The named formulas of this derivation."""
    c_ft = effective_scale(beta_pt, c, lam, gamma)
    return {"c_ft": c_ft, "k": 4 * c_ft**2}


def derive() -> Derivation:
    """The pretraining-to-fine-tuning map."""
    formulas = results()
    return Derivation("fine_tuning", "From pretraining to fine-tuning", (), formulas["c_ft"], formulas)
