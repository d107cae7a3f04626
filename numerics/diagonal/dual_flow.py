"""Gradient flow in n dimensions: the mirror variable ``R = X^T nu`` moves only in the span of the data.

``d nu/dt = y - X beta`` with ``beta = c sinh(2 X^T nu)`` (kernel ``dual_map``) is the whole flow of the 4 D weights
(THEORY sections 2 and 7). Whatever the step errors, the state stays on the mirror curve of the data, so the end point
is the exact limit up to the training residual alone.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

from numerics.diagonal.maps import angle, mobility, point
from numerics.diagonal.trajectory import Budget, FlowError, Trajectory

__all__ = ["dual_flow"]

LATEST = 1e30  # no flow that can be resolved in double precision takes longer, in units of 1/max eigenvalue


def dual_flow(
    X: np.ndarray, y: np.ndarray, c: np.ndarray, stop: float, rtol: float, before: Trajectory | None = None
) -> Trajectory:
    """Trajectory from beta = 0 with scales ``c`` (D,) until ``||X beta - y|| <= stop ||y||``; BDF, exact Jacobian.

    The absolute tolerance is set in units of the angle ``2 X^T nu``: one e-fold of beta_d is 1 however small the
    initialisation, and a large initialisation, which turns by less than 1, is followed in its own smaller unit.

    Raises
    ------
    FlowError
        If the integrator fails or makes no headway towards ``stop``.
    """
    size = np.linalg.norm(y)
    if size == 0.0:
        return _assemble(X, y, c, np.zeros(1), np.zeros((1, len(X))), lambda t: np.zeros((len(X), np.size(t))), before)
    beta_of = lambda nu: point(2 * (nu @ X), c)  # noqa: E731

    budget = Budget()

    def slope(time, nu):
        budget.spend(time)
        return y - X @ beta_of(nu)

    def jacobian(_, nu):
        root = np.sqrt(mobility(beta_of(nu), c))
        return -(X * root) @ (X * root).T

    def arrived(_, nu):
        return np.linalg.norm(y - X @ beta_of(nu)) / size - stop

    arrived.terminal = True
    turn = min(1.0, float(np.max(angle(np.abs(y).max() / np.abs(X).max(), c))))
    unit = turn / np.abs(X).sum(axis=0).max()  # size of the nu that make such a turn
    fastest = np.linalg.norm(-jacobian(0, np.zeros(len(X))), 2)
    with np.errstate(over="ignore", invalid="ignore"):  # a trial step may overflow on its way to being refused
        found = solve_ivp(
            slope, (0.0, LATEST / fastest), np.zeros(len(X)), "BDF", jac=jacobian, events=arrived, dense_output=True,
            rtol=rtol, atol=rtol * unit, first_step=1e-3 * rtol * unit / np.abs(y).max(),
        )  # fmt: skip
    if found.status != 1:
        left = np.linalg.norm(slope(0, found.y[:, -1])) / size
        raise FlowError(
            f"gradient_flow: training residual {left:.3g} at time {found.t[-1]:.3g}, {stop:g} was asked for "
            f"({found.message}): lower rtol or raise stop"
        )
    return _assemble(X, y, c, found.t, found.y.T, found.sol, before)


def _assemble(X, y, c, t, nu, sol, before) -> Trajectory:
    beta = point(2 * (nu @ X), c)
    gap = y - beta @ X.T
    residual = float(np.linalg.norm(gap[-1]) / (np.linalg.norm(y) or 1.0))
    at = lambda time: point(2 * (np.moveaxis(sol(time), 0, -1) @ X), c)  # noqa: E731
    return Trajectory(t, beta, 0.5 * np.sum(gap**2, axis=1), c, residual, 0.0, X, y, at, None, before)
