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
STEP = 0.15
#: Half-width of the integration range in standard deviations of z: exp(-L^2/2) = 1e-24.
_WIDTH = 10.5
#: Largest step in standard deviations of z where the map is linear.
_PER_SIGMA = 0.5
_MARGIN = 24
_BUCKETS = np.array([48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 4096])
#: Nodes evaluated in one call, so that temporaries stay in the cache.
_BLOCK = 16384


class Nodes(NamedTuple):
    """Trapezoidal rules for some rows: ``delta`` (rows, nodes) from ``u0``, weights ``width`` (rows,) x ``profile``."""

    rows: np.ndarray
    delta: np.ndarray
    width: np.ndarray
    profile: np.ndarray

    @property
    def weight(self) -> np.ndarray:
        """Shape (rows, nodes)."""
        return self.width[:, None] * self.profile


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
    slope = np.hypot(c * np.sinh(u0), c) + half_g
    # a Gaussian much narrower than its distance from zero would cancel in u(z) - u0: there the map is linear
    narrow = reach < 1e-4 * np.abs(shift)
    high = np.where(narrow, reach / slope, invert(shift + reach, half_g, c, 4) - u0)
    low = -high if even.all() else np.where(even | narrow, -high, invert(shift - reach, half_g, c, 4) - u0)
    # two lengths to resolve: that of the map (fixed strip of analyticity) and that of the Gaussian around its centre
    gaussian = _PER_SIGMA * np.sqrt(variance) / slope
    wanted = (_MARGIN + (high - low) / np.minimum(STEP, gaussian)) * (STEP / step)
    bucket = np.searchsorted(_BUCKETS, wanted)
    bucket = np.minimum(bucket, len(_BUCKETS) - 1)
    kind = 2 * bucket + even
    for key in np.unique(kind):
        rows, count, symmetric = np.flatnonzero(kind == key), int(_BUCKETS[key // 2]), bool(key % 2)
        per_call = max(1, _BLOCK // count)
        for first in range(0, len(rows), per_call):
            yield _nodes(rows[first : first + per_call], low, high, count, symmetric)


def _nodes(rows, low, high, count: int, symmetric: bool) -> Nodes:
    if symmetric:
        half = count // 2
        width = high[rows] / (half - 1)
        profile = np.full(half, 2.0)
        profile[0] = 1.0
        return Nodes(rows, width[:, None] * np.arange(half), width, profile)
    width = (high - low)[rows] / (count - 1)
    return Nodes(rows, low[rows, None] + width[:, None] * np.arange(count), width, np.ones(count))


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
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is judged by the residual, not by a warning
            for k, value in enumerate(values):
                out[k, nodes.rows] = (value @ nodes.profile) * nodes.width
    return out
