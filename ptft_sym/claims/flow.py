"""C1 to C3: the weights of a small network integrated as they are, against what the theory says of them.

Every function returns (evidence, arrays for its figure).
"""

from __future__ import annotations

import numpy as np

from ptft_sym.claims import Evidence
from ptft_sym.claims.checked import derivation

__all__ = ["conservation", "effective_scale", "implicit_bias"]


def _problem(seed: int = 0, dim: int = 12, n: int = 5):
    rng = np.random.default_rng(seed)
    X, beta = rng.standard_normal((n, dim)) / np.sqrt(dim), rng.standard_normal(dim)
    return X, X @ beta


def _integrated_force(path) -> np.ndarray:
    """R(t) = integral of X^T (y - X beta) over time (T, D), by Gauss-Legendre quadrature between accepted times."""
    nodes, weights = np.polynomial.legendre.leggauss(6)
    left, step = path.t[:-1], np.diff(path.t)
    at = left[:, None] + step[:, None] * (nodes + 1) / 2
    beta = path.beta_at(at.ravel())
    force = ((path.y - beta @ path.X.T) @ path.X).reshape(len(step), len(nodes), -1)
    pieces = np.einsum("k,tkd->td", weights, force) * step[:, None] / 2
    return np.vstack([np.zeros((1, pieces.shape[1])), np.cumsum(pieces, axis=0)])


def conservation(_):
    """C1: conserved quantities along the path, and beta = c sinh(2R) with R by a quadrature of its own."""
    from numerics.diagonal import gradient_flow
    from numerics.task import Initialization

    path = gradient_flow(*_problem(), Initialization(0.05, 0.4))
    laws = path.weights.conserved()
    largest = np.maximum(path.c, sum(w**2 for w in path.weights).max(axis=0))
    change = (np.abs(laws - laws[:, :1]) / largest).max(axis=2)
    closed = path.c * np.sinh(2.0 * _integrated_force(path))
    apart = float(np.max(np.abs(closed - path.beta)) / np.max(np.abs(path.beta)))
    text = f"the four weight vectors integrated (D = 12, {path.steps} steps): conserved quantities drift by "
    return [
        derivation("gradient_flow"),
        Evidence("flow", f"{text}{path.drift:.1e} at most", bool(path.drift <= 1e-10)),
        Evidence("flow", f"beta along the path is within {apart:.1e} of c sinh(2R)", bool(apart <= 1e-8)),
    ], {"kind": "conservation", "t": path.t, "beta": path.beta, "closed": closed, "change": change}


def implicit_bias(_):
    """C2: where the flow ends is the minimiser; Q rises in every direction that keeps the training error at zero."""
    from numerics import kernels
    from numerics.diagonal import gradient_flow, interpolate
    from numerics.task import Initialization

    X, y = _problem(1)
    init = Initialization(0.02, -0.3)
    limit = gradient_flow(X, y, init).limit
    size = np.linalg.norm(limit)
    least, other = interpolate(X, y, init.c).beta, interpolate(X, y, 2.0 * init.c).beta
    right, wrong = np.linalg.norm(least - limit) / size, np.linalg.norm(other - limit) / size
    null = np.linalg.svd(X)[2][len(X) :]  # directions that X does not see
    steps = np.linspace(-0.5, 0.5, 41)
    directions = np.random.default_rng(0).standard_normal((8, len(null))) @ null
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    moved = limit + steps[:, None, None] * size * directions  # (41, 8, D)
    rise = kernels.potential(moved, init.c).sum(axis=2) - kernels.potential(limit, init.c).sum()
    text = f"flow of the weights against the minimiser (D = 12, n = 5): relative distance {right:.1e}; "
    return [
        derivation("implicit_bias"),
        Evidence(
            "flow",
            f"{text}a potential with twice the scale is {wrong:.1e} away",
            bool(right < 1e-8 < 1e-3 < wrong),
        ),
    ], {"kind": "minimiser", "limit": limit, "least": least, "other": other, "steps": steps, "rise": rise}


def effective_scale(_):
    """C3: both stages integrated, against the minimiser with c_FT and with two other scales."""
    from numerics.diagonal import gradient_flow, interpolate
    from numerics.task import Initialization

    (X, y), (X_ft, y_ft) = _problem(2), _problem(3)
    init = Initialization(0.05, -0.4, 0.3)
    both = gradient_flow(X, y, init, X_ft, y_ft)
    beta_pt = both.pretraining.limit
    readout = Initialization.from_readout(init.c, init.lam, init.gamma)  # v = gamma instead of gamma/sqrt(2)
    scales = {
        "c_FT": init.c_ft(beta_pt),
        "readout at gamma, not gamma/sqrt(2)": readout.c_ft(beta_pt),
        "beta_PT left out": init.c_ft(np.zeros_like(beta_pt)),
    }
    found = {name: interpolate(X_ft, y_ft, scale).beta for name, scale in scales.items()}
    size = np.linalg.norm(both.limit)
    far = {name: float(np.linalg.norm(beta - both.limit) / size) for name, beta in found.items()}
    right, *wrong = far.values()
    return [
        derivation("fine_tuning"),
        Evidence(
            "flow",
            f"both stages integrated: {right:.1e} from the minimiser with c_FT; the other readout convention is "
            f"{wrong[0]:.1e} away, c_FT without beta_PT {wrong[1]:.1e}",
            bool(right < 1e-7 < 1e-4 < min(wrong)),
        ),
    ], {"kind": "scale", "limit": both.limit, "found": found, "far": far}
