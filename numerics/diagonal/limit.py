"""Both stages solved exactly: pretraining to its limit, the map to the fine-tuning scale, fine-tuning to its limit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lstsq

from numerics.diagonal.data import Cell
from numerics.diagonal.interpolation import interpolate
from numerics.task import Initialization

__all__ = ["Outcome", "flow_limit", "solve_exact"]


@dataclass(frozen=True)
class Outcome:
    """What one method found for one cell: ``beta`` (D,), the pretrained ``beta_pt`` (D,), residual and effort.

    ``beta_limit`` (D,) is the exact limit of the same fine-tuning problem where ``beta`` is not that limit itself.
    """

    beta: np.ndarray
    beta_pt: np.ndarray
    residual: float
    iterations: int
    train_mse: float
    beta_limit: np.ndarray | None = None


def flow_limit(X: np.ndarray, y: np.ndarray, c: object, ridge: float = 0.0) -> tuple[np.ndarray, float, int]:
    """``(beta, residual, iterations)`` where gradient flow ends, for any n.

    With n > D and noise no beta interpolates: the flow then ends at least squares, whatever the initialisation
    (THEORY section 6); its residual is that of the normal equations.
    """
    n, dim = X.shape
    if n > dim and ridge == 0.0:
        beta = lstsq(X, y, lapack_driver="gelsy", check_finite=False)[0]
        slope = X.T @ (X @ beta - y)
        size = np.linalg.norm(X.T @ y)
        return beta, float(np.linalg.norm(slope) / size) if size else 0.0, 0
    solution = interpolate(X, y, c, ridge)
    return solution.beta, solution.residual, solution.iterations


def solve_exact(cell: Cell, init: Initialization, ridge: float = 0.0) -> Outcome:
    """The limits of both stages; oracle pretraining knows its teacher. ``ridge`` acts on fine-tuning alone."""
    beta_pt, residual_pt = cell.beta_pt, 0.0
    if cell.X_pt is not None:
        beta_pt, residual_pt, _ = flow_limit(cell.X_pt, cell.y_pt, init.c)
    beta, residual, iterations = flow_limit(cell.X, cell.y, init.c_ft(beta_pt), ridge)
    train = float(np.mean((cell.X @ beta - cell.y) ** 2))
    return Outcome(beta, beta_pt, max(residual, residual_pt), iterations, train)
