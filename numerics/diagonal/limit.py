"""Both stages to their limit, by the exact solution or by integrating the flow in its dual variables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lstsq

from numerics.diagonal.data import Cell
from numerics.diagonal.dual_flow import dual_flow
from numerics.diagonal.interpolation import interpolate
from numerics.task import Initialization
from numerics.validate import check_number

__all__ = ["Outcome", "flow_limit", "solve_exact", "solve_flow"]


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


def solve_flow(cell: Cell, init: Initialization, stop: float = 1e-9, rtol: float = 1e-5) -> Outcome:
    """Both stages by :func:`dual_flow`, each until its relative training residual is ``stop``.

    The path follows the flow to ``rtol``; its end point does not depend on that, only on ``stop``.
    """
    stop = check_number("stop", stop, 0.0, 1.0, open_low=True, open_high=True)
    rtol = check_number("rtol", rtol, 1e-13, 1.0, open_high=True)
    beta_pt = cell.beta_pt
    if cell.X_pt is not None:
        beta_pt = dual_flow(cell.X_pt, cell.y_pt, np.full_like(beta_pt, init.c), stop, rtol).limit
    scale = init.c_ft(beta_pt)
    path = dual_flow(cell.X, cell.y, scale, stop, rtol)
    train = float(2.0 * path.loss[-1] / len(cell.y))
    exact = flow_limit(cell.X, cell.y, scale)[0]
    return Outcome(path.limit, beta_pt, path.residual, path.steps, train, exact)
