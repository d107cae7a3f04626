"""The mirror map of one coordinate in the three forms a solver needs, as ufunc-like functions of arrays.

All formulas are generated kernels (derivation ``implicit_bias``); this file only names them the way the solvers
speak: the curve is parametrised by the *angle* ``s = 2 q'(beta) = asinh(beta/c)``, so ``beta = dual_map(s/2, c)``.
"""

from __future__ import annotations

import numpy as np

__all__ = ["angle", "mobility", "point"]


def angle(beta: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Angle ``s`` of the point ``beta`` on the curve."""
    return np.arcsinh(beta / c)


def point(s: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Point ``beta`` of angle ``s``; angles are clipped where ``sinh`` would overflow."""
    return c * np.sinh(np.clip(s, -700.0, 700.0))


def mobility(beta: np.ndarray, c: np.ndarray) -> np.ndarray:
    """``1/q''(beta)``: how far ``beta`` moves per unit of the mirror variable ``R = s/2``."""
    return 2 * np.hypot(c, beta)
