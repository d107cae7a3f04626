"""Channel averages of even rows from tables shared by all rows (a = start = 0; kernel ``channel_table``).

In units of its standard deviation such a row is a point (p, q), p = c_ft/sqrt(V) and q = (g/2)/sqrt(V); its averages
are sums over nodes ``u_j = j h`` of the density times monomials of (sinh u, cosh u, u). With steps h from a short list,
the monomials are tables made once, and the sums of all rows with one step are a single matrix product.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from numerics.kernels.channel_table import MONOMIALS, columns
from numerics.replica.quadrature import STEP

__all__ = ["REACH", "covered", "even_sums", "nodes_used"]

#: Half-width of the integration range in standard deviations of z: exp(-L^2/2) = 1e-20.
REACH = 9.6
#: Steps in u at the default accuracy; each serves the rows with p + q up to the bound beside it.
_COARSEST = 0.125
_RATIO = 4.0
_LEVELS = 60
#: Longest table: u up to 88, where the monomials are still far from overflow.
_LONGEST = 704
#: Nodes (at the default accuracy) of the products that rows are gathered in.
_SIZES = np.array([24, 40, 72, 104, 160, 256, _LONGEST])
_PER_UNIT = _RATIO ** np.arange(_LEVELS) / _COARSEST


def _bound(h: float) -> float:
    """Largest p + q that step h resolves to a relative 1e-15.

    The error is exp(-2 pi y/h) times the growth of the density at u + iy, at most exp((p + q)^2 sin(y)^2/2), with y up
    to pi/4 (beyond, the density grows without bound).
    """
    flat = 2.0 * np.sqrt(max(0.25 * np.pi**2 * 2.0 / h - 35.5, 0.0))
    return max(flat, 0.74 / h) if h < 0.1 else flat


_BOUNDS = np.array([_bound(_COARSEST / _RATIO**k) for k in range(_LEVELS)])


@lru_cache(maxsize=256)
def _table(level: int, share: float, size: int) -> tuple[np.ndarray, np.ndarray]:
    """((2, size) rows sinh u and u over sqrt 2; (size, monomials) weighted monomials) of a level's nodes."""
    h = share * _COARSEST / _RATIO**level
    u = h * np.arange(size)
    weight = np.full(size, 2.0 * h)
    weight[0] = h
    return np.stack([np.sinh(u), u]) * np.sqrt(0.5), np.ascontiguousarray(columns(u, weight).T)


def covered(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Which rows the tables serve: all but those of extreme scales."""
    return (p > 1e-36) & (p + q < 1e30)


def _plan(p, q, share):
    """Yield (level, size, rows) for the rows with one step and about one number of nodes."""
    total = p + q
    level = _BOUNDS.searchsorted(total)
    # p sinh u + q u = REACH lies below both, since sinh u >= u
    reach = np.minimum(np.arcsinh(REACH / p), REACH / total)
    key = len(_SIZES) * level + _SIZES.searchsorted(reach * _PER_UNIT[level])
    for each in np.bincount(key).nonzero()[0].tolist():
        level, size = divmod(each, len(_SIZES))
        yield level, int(_SIZES[size] / share) + 1, (key == each).nonzero()[0]


def even_sums(p: np.ndarray, q: np.ndarray, step: float = STEP) -> np.ndarray:
    """Sums over the nodes for every row, shape (monomials, rows); p and q have shape (rows,)."""
    share = step / STEP
    out = np.empty((len(MONOMIALS), len(p)))
    scales = np.stack([p, q], axis=1)
    for level, size, rows in _plan(p, q, share):
        nodes, monomials = _table(level, share, size)
        density = scales[rows] @ nodes
        density *= density
        np.negative(density, out=density)
        np.exp(density, out=density)
        out[:, rows] = (density @ monomials).T
    return out


def nodes_used(p: np.ndarray, q: np.ndarray, step: float = STEP) -> int:
    """How many densities :func:`even_sums` evaluates."""
    return sum(size * len(rows) for _, size, rows in _plan(p, q, step / STEP))
