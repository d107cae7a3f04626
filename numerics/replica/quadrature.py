"""Expectations of the scalar channel without root finding (THEORY section 6).

With ``x = c sinh u`` the channel output ``z(u) = c sinh u + (g/2)(u - start)`` is explicit, so every expectation is an
integral over ``u`` of an analytic function that dies like a Gaussian at both ends. The trapezoidal rule then converges
exponentially; halving the step is the error estimate that the solver uses.

A *row* is one component of the mixture in one setting; rows of similar length share one array of nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["STEP", "Nodes", "integrate_rows", "invert", "row_nodes"]

#: Trapezoidal step in u that leaves a relative error near 1e-15 (the integrands are analytic in |Im u| < pi/2).
STEP = 0.22
#: Half-width of the integration range in standard deviations of z: exp(-L^2/2) = 2e-20.
_WIDTH = 9.5
#: Nodes that a purely Gaussian row needs over that range.
_GAUSSIAN_NODES = 40
_BUCKETS = np.array([48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 4096])
#: Nodes evaluated in one call, so that temporaries stay in the cache.
_BLOCK = 16384


class Nodes(NamedTuple):
    """Trapezoidal rules for some rows: ``delta`` (rows, nodes) from ``u0`` (rows, 1), and ``weight`` (rows, nodes or 1)."""

    rows: np.ndarray
    delta: np.ndarray
    weight: np.ndarray


def invert(z: np.ndarray, half_g: np.ndarray, c: np.ndarray, iterations: int = 10) -> np.ndarray:
    """Solve ``c sinh u + half_g u = z`` for u, elementwise.

    Newton from an upper bound of a function convex in ``|u|`` descends monotonically to the root; ``iterations``
    bounds the work (three are enough for an integration limit).
    """
    sign, size = np.sign(z), np.abs(z)
    u = np.minimum(np.arcsinh(size / c), size / (half_g + c))
    for _ in range(iterations):
        x = c * np.sinh(u)
        step = (x + half_g * u - size) / (np.hypot(x, c) + half_g)
        u = np.maximum(u - step, 0.0)
        if np.all(np.abs(step) <= 2e-16 * u):
            break
    return sign * u


def row_nodes(u0, a, start, half_g, c, variance, even, step: float):
    """Yield :class:`Nodes` for all rows; every argument but ``step`` has shape (rows,).

    Rows marked ``even`` have integrands even in u (which needs ``a = start = 0``) and use half the nodes.
    """
    reach = _WIDTH * np.sqrt(variance)
    shift = a + half_g * start
    high = invert(shift + reach, half_g, c, 4) - u0
    low = np.where(even, -high, invert(shift - reach, half_g, c, 4) - u0)
    wanted = (_GAUSSIAN_NODES + (high - low) / STEP) * (STEP / step)
    bucket = np.searchsorted(_BUCKETS, wanted)
    bucket = np.minimum(bucket, len(_BUCKETS) - 1)
    for index in np.unique(bucket):
        for symmetric in (True, False):
            rows = np.flatnonzero((bucket == index) & (even == symmetric))
            count = int(_BUCKETS[index])
            per_call = max(1, _BLOCK // count)
            for first in range(0, len(rows), per_call):
                yield _nodes(rows[first : first + per_call], low, high, count, symmetric)


def _nodes(rows, low, high, count: int, symmetric: bool) -> Nodes:
    if symmetric:
        half = count // 2
        width = high[rows, None] / (half - 1)
        weight = np.full(half, 2.0)
        weight[0] = 1.0
        return Nodes(rows, width * np.arange(half), width * weight)
    width = (high - low)[rows, None] / (count - 1)
    return Nodes(rows, low[rows, None] + width * np.arange(count), width)


def integrate_rows(integrand, u0, a, start, c, g, s2, tau2, step: float = STEP, extra=()) -> np.ndarray:
    """Integrate ``integrand(delta, u0, start, c, g, s2, tau2, *extra)`` over u for every row.

    Parameters
    ----------
    integrand : callable
        Returns a tuple of K arrays of shape (rows, nodes); its row arguments arrive with shape (rows, 1).
    u0, a, start, c, g, s2, tau2 : ndarray, shape (rows,)
        Centre, prior mean, mirror coordinate of the fine-tuning start, scale, channel parameters, prior variance.
    extra : sequence of ndarray, shape (rows,)
        Further row arguments.

    Returns
    -------
    ndarray, shape (K, rows)
    """
    parameters = (u0, start, c, g, s2, tau2, *extra)
    out = None
    even = (a == 0.0) & (start == 0.0)
    for nodes in row_nodes(u0, a, start, 0.5 * g, c, tau2 + s2, even, step):
        values = integrand(nodes.delta, *(p[nodes.rows, None] for p in parameters))
        if out is None:
            out = np.zeros((len(values), len(u0)))
        for k, value in enumerate(values):
            out[k, nodes.rows] = np.einsum("ij,ij->i", value, np.broadcast_to(nodes.weight, nodes.delta.shape))
    return out
