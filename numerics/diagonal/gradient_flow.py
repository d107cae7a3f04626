"""Gradient flow of the actual network, and of the same flow in the n dual dimensions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

from numerics.diagonal.dual_flow import dual_flow
from numerics.diagonal.interpolation import interpolate
from numerics.diagonal.trajectory import Budget, FlowError, Trajectory, check_reachable
from numerics.diagonal.weights import Weights
from numerics.task import Initialization
from numerics.validate import as_array, check_design, check_number

__all__ = ["Agreement", "check_scale", "gradient_flow", "weight_flow"]

LATEST = 1e30


def gradient_flow(
    X: object,
    y: object,
    init: Initialization,
    X_ft: object = None,
    y_ft: object = None,
    *,
    beta_pt: object = None,
    variables: str = "weights",
    stop: float = 1e-12,
    rtol: float | None = None,
) -> Trajectory:
    """Path of gradient flow on ``(1/2)||y - X beta||^2``, one stage or both.

    Three ways to call it: ``(X, y, init)`` is one stage from the weights of ``init``; with ``X_ft, y_ft`` that stage
    is followed by re-balancing (``init.gamma``) and fine-tuning, and the trajectory of fine-tuning is returned with
    the first stage in ``.pretraining``; with ``beta_pt`` (D,) X and y are fine-tuning data and pretraining is taken to
    have reached ``beta_pt``.

    Parameters
    ----------
    X, y : (n, D), (n,). init : scales. X_ft, y_ft : (n_ft, D), (n_ft,), optional.
    variables : "weights" integrates the four weight vectors themselves (Radau, exact Jacobian of size 4D: small D);
        "dual" integrates the mirror variable in n dimensions (BDF), the same path at any D.
    stop : relative training residual at which a stage ends.
    rtol : relative tolerance of the integrator; default 1e-11 for weights, 1e-8 for dual. Absolute tolerances are
        scaled to the initialisation.

    Raises
    ------
    TypeError, ValueError
        For wrong shapes, non-finite entries, or tolerances outside (0, 1).
    FlowError
        If the residual cannot be brought to ``stop``: no interpolator exists, or the tolerance is too loose.

    Source: THEORY section 2; re-balancing section 3.
    """
    if not isinstance(init, Initialization):
        raise TypeError(f"init must be an Initialization, got {init!r:.60} of type {type(init).__name__}")
    X, y = check_design(X, y)
    if variables not in ("weights", "dual"):
        raise ValueError(f"variables = {variables!r} is not allowed: it must be 'weights' or 'dual'")
    stop = check_number("stop", stop, 0.0, 1.0, open_low=True, open_high=True)
    if rtol is None:
        rtol = 1e-11 if variables == "weights" else 1e-8
    rtol = check_number("rtol", rtol, 1e-13, 1.0, open_high=True)
    check_reachable(X, y, stop)
    weights = Weights.start(init, X.shape[1])
    if beta_pt is not None:
        beta_pt = as_array("beta_pt", beta_pt, ndim=1)
        if len(beta_pt) != X.shape[1] or X_ft is not None:
            raise ValueError(f"beta_pt has shape {beta_pt.shape}: it must have one entry per column of X, without X_ft")
        weights = Weights.fine_tuning_start(beta_pt, init)
    if (X_ft is None) != (y_ft is None):
        raise ValueError("X_ft and y_ft belong together: give both or neither")
    if X_ft is not None:  # checked before the first stage, which may take long
        X_ft, y_ft = check_design(X_ft, y_ft, "X_ft", "y_ft")
        if X_ft.shape[1] != X.shape[1]:
            raise ValueError(f"X_ft has {X_ft.shape[1]} columns and X has {X.shape[1]}: they must be equal")
        check_reachable(X_ft, y_ft, stop)
    first = _stage(X, y, weights, variables, stop, rtol)
    if X_ft is None:
        return first
    if first.weights is not None:
        weights = Weights(*(w[-1] for w in first.weights)).rebalance(init.gamma)
    else:
        weights = Weights.fine_tuning_start(first.limit, init)
    return _stage(X_ft, y_ft, weights, variables, stop, rtol, first)


def _stage(X, y, weights: Weights, variables: str, stop: float, rtol: float, before: Trajectory | None = None):
    if variables == "weights":
        return weight_flow(X, y, weights, stop, rtol, before)
    return dual_flow(X, y, weights.w_plus**2 + weights.v_plus**2, stop, rtol, before)


def weight_flow(X, y, start: Weights, stop: float = 1e-12, rtol: float = 1e-11, before: Trajectory | None = None):
    """:class:`Trajectory` of the four weight vectors from any ``start`` (both paths equal, each (D,)).

    ``dw = +-r v, dv = +-r w`` with ``r = X^T (y - X beta)`` (THEORY section 2): the definition of the flow, integrated
    as it stands. Absolute tolerance: rtol times the square root of the smallest scale of the start.
    """
    size, dim = np.linalg.norm(y), X.shape[1]
    G, Xty = X.T @ X, X.T @ y
    c = start.w_plus**2 + start.v_plus**2

    budget = Budget()

    def slope(time, state):
        budget.spend(time)
        wp, wm, vp, vm = state.reshape(4, dim)
        r = Xty - G @ (wp * vp - wm * vm)
        return np.concatenate([r * vp, -r * vm, r * wp, -r * wm])

    def jacobian(_, state):
        wp, wm, vp, vm = state.reshape(4, dim)
        rate = np.concatenate([vp, -vm, wp, -wm])  # d state = r * rate, and d beta = rate . d state, block by block
        J = -rate[:, None] * np.tile(G, (4, 4)) * rate
        r = Xty - G @ (wp * vp - wm * vm)
        d = np.arange(dim)
        for row, column, sign in ((0, 2, 1), (2, 0, 1), (1, 3, -1), (3, 1, -1)):
            J[row * dim + d, column * dim + d] += sign * r
        return J

    def arrived(_, state):
        return np.linalg.norm(y - X @ Weights(*state.reshape(4, dim)).beta) - stop * size

    arrived.terminal = True
    state = np.concatenate(start)
    floor = np.finfo(float).eps * np.linalg.norm(np.abs(X) @ c)
    if floor > stop * size > 0.0:
        raise FlowError(
            f"gradient_flow: with weights of squared size {c.max():.3g}, beta is a difference of products whose "
            f"rounding alone leaves a residual of {floor / size:.2g}, and stop = {stop:g} was asked for: "
            "use variables = 'dual'"
        )
    if size == 0.0:
        return _assemble(X, y, c, np.zeros(1), state[:, None], lambda t: np.outer(state, np.ones(np.size(t))), before)
    with np.errstate(over="ignore", invalid="ignore"):  # a trial step may overflow on its way to being refused
        found = solve_ivp(
            slope, (0.0, LATEST), state, "Radau", jac=jacobian, events=arrived, dense_output=True,
            rtol=rtol, atol=rtol * np.sqrt(c.min()),
            first_step=1e-3 / max(2.0 * np.linalg.norm(G, 2) * c.max(), np.abs(Xty).max()),
        )  # fmt: skip
    if found.status != 1:
        left = np.linalg.norm(y - X @ Weights(*found.y[:, -1].reshape(4, dim)).beta) / size
        raise FlowError(
            f"gradient_flow: training residual {left:.3g} at time {found.t[-1]:.3g}, {stop:g} was asked for "
            f"({found.message}): lower rtol or raise stop"
        )
    return _assemble(X, y, c, found.t, found.y, found.sol, before)


def _assemble(X, y, c, t, states, sol, before) -> Trajectory:
    """Trajectory from integrator output ``states`` (4 D, T)."""
    dim = X.shape[1]
    weights = Weights(*np.moveaxis(states.reshape(4, dim, -1), -1, 1))
    beta = weights.beta
    gap = y - beta @ X.T
    laws = weights.conserved()
    largest = np.maximum(c, sum(w**2 for w in weights).max(axis=0))
    drift = float(np.max(np.abs(laws - laws[:, :1]) / largest))

    def beta_at(time):
        values = np.moveaxis(np.asarray(sol(time)).reshape(4, dim, *np.shape(time)), 1, -1)
        return Weights(*values).beta

    residual = float(np.linalg.norm(gap[-1]) / (np.linalg.norm(y) or 1.0))
    return Trajectory(t, beta, 0.5 * np.sum(gap**2, axis=1), c, residual, drift, X, y, beta_at, weights, before)


class Agreement(NamedTuple):
    """Outcome of :func:`check_scale`."""

    distance: float
    agrees: bool
    message: str


def check_scale(trajectory: Trajectory, c_ft: object, tolerance: float = 1e-8) -> Agreement:
    """Whether the trajectory ended at the interpolator of least potential with the claimed scales ``c_ft``.

    Raises
    ------
    ValueError
        If the constraints leave no freedom (rank of X equal to the number of columns): then every potential has the
        same interpolator and the check can tell nothing.
    """
    X, y = trajectory.X, trajectory.y
    tolerance = check_number("tolerance", tolerance, 0.0, open_low=True)
    solution = interpolate(X, y, c_ft)
    if solution.rank >= X.shape[1]:
        raise ValueError(
            f"check_scale: X has {len(X)} rows of rank {solution.rank} = D, so beta is the same for every c_ft and the "
            "scale is unidentifiable; use fewer samples than dimensions"
        )
    largest = np.max(np.abs(solution.beta)) or 1.0
    distance = float(np.max(np.abs(trajectory.limit - solution.beta)) / largest)
    verb = "agrees with" if distance <= tolerance else "contradicts"
    message = f"the flow {verb} the claimed scale: distance {distance:.2g} of max|beta|, tolerance {tolerance:g}"
    return Agreement(distance, distance <= tolerance, message)
