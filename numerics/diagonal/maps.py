"""The mirror map of one coordinate in the three forms the solvers speak.

The formulas are generated kernels (derivation ``implicit_bias``). A solver parametrises the curve by the *angle*
``s = 2 q'(beta) = asinh(beta/c)``: one unit is one e-fold of beta, whatever its size.
"""

from __future__ import annotations

import numpy as np

from numerics.kernels import dual_map, potential_derivative, potential_second_derivative

__all__ = ["angle", "mobility", "point"]


def angle(beta: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Angle ``s`` of the point ``beta`` on the curve."""
    return 2.0 * potential_derivative(beta, c)


def point(s: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Point ``beta`` of angle ``s``; angles are clipped where the exponential would overflow."""
    return dual_map(np.clip(s, -700.0, 700.0) / 2.0, c)


def mobility(beta: np.ndarray, c: np.ndarray) -> np.ndarray:
    """``1/q''(beta)``: how far ``beta`` moves per unit of the mirror variable ``R = s/2``."""
    return 1.0 / potential_second_derivative(beta, c)
