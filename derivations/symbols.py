"""Every Symbol of the theory, made once.

The rest of the package imports from here, so that two derivations that speak of the same quantity speak of the
same object, with the same assumptions (SymPy compares symbols by name *and* assumptions).  `DOMAIN` narrows a
symbol further than SymPy's assumptions can say; the checker samples inside it and may use it in a proof.
Names follow the table of conventions: `lam` is the normalised relative scale, `noise` a variance, and so on.
"""

from __future__ import annotations

import sympy as sp

# --- the network and its two stages -----------------------------------------------------------------------------
beta, beta_pt, beta_ft, beta0 = sp.symbols("beta beta_pt beta_ft beta0", real=True)
c, c_ft, k = sp.symbols("c c_ft k", positive=True)
lam = sp.Symbol("lam", real=True)
gamma = sp.Symbol("gamma", nonnegative=True)

# --- the scalar channel and the saddle point --------------------------------------------------------------------
g, s2, alpha, V = sp.symbols("g s2 alpha V", positive=True)
tau2, noise, ridge = sp.symbols("tau2 noise ridge", nonnegative=True)
x, z, a, u, u0, start, delta, zeta, shift = sp.symbols("x z a u u0 start delta zeta d", real=True)
s, t = sp.symbols("s t", real=True)

#: Closed intervals narrower than the assumptions.
DOMAIN: dict[sp.Symbol, tuple[sp.Expr, sp.Expr]] = {lam: (sp.Integer(-1), sp.Integer(1))}
