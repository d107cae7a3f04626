"""Channel averages of even rows from tables shared by all rows (a = start = 0; kernel ``channel_table``).

In units of its standard deviation such a row is a point (p, q), p = c_ft/sqrt(V) and q = (g/2)/sqrt(V); its averages
are sums over nodes ``u_j = j h`` of the density times monomials of (sinh u, cosh u, u). Where the map sets the step,
all rows share it, the monomials are tables made once, and the sums of many rows are a single matrix product. Rows
whose Gaussian is narrow beside the map have a step of their own, and few nodes.
"""

from __future__ import annotations

import bisect
import math
from functools import lru_cache

import numpy as np

from numerics.kernels.channel_table import MONOMIALS, columns
from numerics.replica.quadrature import STEP

__all__ = ["covered", "even_sums", "nodes_used"]

#: Half-width of the integration range in standard deviations of z: exp(-L^2/2) = 1e-20.
_REACH = 9.6
#: Step in u at the default accuracy. Its error is exp(-2 pi y/h) times the growth of the density at u + iy, which is at
#: most exp((p + q)^2 sin(y)^2/2) for y <= pi/4: below 1e-15 for p + q up to 4.
_COARSEST, _WIDEST = 0.125, 4.0
#: Beyond, the step that resolves the Gaussian, in units of 1/(p + q); and how many of them reach the end.
_GAUSSIAN, _FEW = 0.6, 21
#: Nodes (at the default accuracy) of the products that rows are gathered in; the longest goes to u = 88, where the
#: monomials are still far from overflow.
_SIZES = np.array([40, 76, 128, 256, 704])
_EDGES = _SIZES[:-1].astype(float)
#: Rows times nodes evaluated in one go.
_BLOCK = 1 << 16
#: Exponents below are cut off here: exp is slow where it underflows.
_LEAST = -700.0
#: So few rows are one product, whatever their lengths.
_TOGETHER = 128


@lru_cache(maxsize=128)
def _table(share: float, size: int) -> tuple[np.ndarray, np.ndarray]:
    """((2, size) rows sinh u and u over sqrt 2; (size, monomials) weighted monomials) of the shared nodes."""
    h = share * _COARSEST
    u = h * np.arange(size)
    weight = np.full(size, 2.0 * h)
    weight[0] = h
    sinh = np.sinh(u)
    return np.stack([sinh, u]) * np.sqrt(0.5), np.ascontiguousarray(columns(u, sinh, weight).T)


def covered(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Which rows the tables serve: all but those of extreme scales."""
    return (p > 1e-36) & (p + q < 1e30)


def _plan(p, q, share):
    """Yield (nodes, rows): rows with about one number of shared nodes, in blocks; nodes = 0 for steps of their own."""
    total = p + q
    if len(p) <= _TOGETHER:
        shared = total <= _WIDEST
        some = shared.nonzero()[0]
        if len(some):
            reach = min(math.asinh(_REACH / p[some].min()), _REACH / total[some].min())
            longest = bisect.bisect_left(_EDGES, reach / _COARSEST)
            yield int(_SIZES[longest] / share) + 1, some
        if len(some) < len(p):
            yield 0, (~shared).nonzero()[0]
        return
    # p sinh u + q u = REACH lies below both, since sinh u >= u
    reach = np.minimum(np.arcsinh(_REACH / p), _REACH / total)
    kind = _EDGES.searchsorted(reach * (1.0 / _COARSEST)) + 1
    kind *= total <= _WIDEST
    for each in np.bincount(kind).nonzero()[0].tolist():
        rows = (kind == each).nonzero()[0]
        size = int(_SIZES[each - 1] / share) + 1 if each else 0
        block = max(1, _BLOCK // (size or int(_FEW / share)))
        for first in range(0, len(rows), block):
            yield size, rows[first : first + block]


def even_sums(p: np.ndarray, q: np.ndarray, step: float = STEP) -> np.ndarray:
    """Sums over the nodes for every row, shape (monomials, rows); p and q have shape (rows,)."""
    share = step / STEP
    out = np.empty((len(MONOMIALS), len(p)))
    scales = np.empty((len(p), 2))
    scales[:, 0], scales[:, 1] = p, q
    for size, rows in _plan(p, q, share):
        if not size:
            out[:, rows] = _own_steps(p[rows], q[rows], share)
            continue
        nodes, monomials = _table(share, size)
        density = scales[rows] @ nodes
        density *= density
        np.negative(density, out=density)
        np.maximum(density, _LEAST, out=density)
        np.exp(density, out=density)
        out[:, rows] = (density @ monomials).T
    return out


def _own_steps(p, q, share) -> np.ndarray:
    """As :func:`even_sums`, where each row has a step of its own."""
    h = np.minimum(_COARSEST, _GAUSSIAN / (p + q))
    h *= share
    u = h[:, None] * np.arange(int(_FEW / share))
    sinh = np.sinh(u)
    density = p[:, None] * sinh
    density += q[:, None] * u
    density *= density
    density *= -0.5
    np.exp(density, out=density)
    density[:, 0] *= 0.5
    sums = np.einsum("mrn,rn->mr", columns(u, sinh, 2.0), density)
    sums *= h
    return sums


def nodes_used(p: np.ndarray, q: np.ndarray, step: float = STEP) -> int:
    """How many densities :func:`even_sums` evaluates."""
    share = step / STEP
    return sum((size or int(_FEW / share)) * len(rows) for size, rows in _plan(p, q, share))
