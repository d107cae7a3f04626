"""The exact limit of gradient flow: the interpolator of least potential, and its ridge version.

``interpolate`` is what users call; the iteration itself is :mod:`numerics.diagonal.newton`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from numerics.diagonal.linear import Reduced, is_well_conditioned, reduce_rows
from numerics.diagonal.maps import angle
from numerics.diagonal.newton import Iterate, solve_on_curve
from numerics.validate import as_array, check_count, check_design, check_number

__all__ = ["Interpolation", "InterpolationError", "interpolate"]

ACCEPT = 1e-10  # a returned residual is never above this


class InterpolationError(RuntimeError):
    """The solver could not reach its tolerance; the message says how far it got and what to try."""


@dataclass(frozen=True)
class Interpolation:
    """The minimiser and its certificate.

    Attributes
    ----------
    beta : (D,) minimiser.
    nu : (n,) dual vector; ``X^T nu = q'(beta) = (1/2) asinh(beta/c_ft)`` at the minimiser.
    residual : larger of ``feasibility`` and ``stationarity``, recomputed from ``beta`` and ``nu`` on the data given.
    feasibility : ``||X beta + ridge nu - y|| / ||y||``; without ridge y is first projected on the range of X.
    stationarity : largest ``abs(asinh(beta/c_ft) - 2 X^T nu)`` relative to the largest angle or the largest
        ``2 abs(X)^T abs(nu)``.
    iterations : Newton steps taken, one n x n solve each; 0 where the constraints alone decide.
    rank : numerical rank of X.
    conflict : ``||part of y outside the range of X|| / ||y||``: rounding, unless ridge > 0.
    message : what was solved, in one sentence.
    """

    beta: np.ndarray
    nu: np.ndarray
    residual: float
    feasibility: float
    stationarity: float
    iterations: int
    rank: int
    conflict: float
    message: str


def interpolate(X: object, y: object, c_ft: object, ridge: float = 0.0, *, max_iterations: int = 150) -> Interpolation:
    """Exact ``argmin sum_d q_{c_d}(beta_d)`` subject to ``X beta = y``: where gradient flow on the weights ends.

    With ``ridge > 0``: ``argmin (1/2)||y - X beta||^2 + ridge sum_d q_{c_d}(beta_d)``.

    Parameters
    ----------
    X : (n, D) design; y : (n,) targets. Any real dtype; computed in float64. float32 data are taken as exact to
        float32 precision when the rank is decided.
    c_ft : scalar or (D,), positive: effective scale of each coordinate, in the units of beta.
    ridge : non-negative weight of the potential.
    max_iterations : Newton steps before giving up.

    Returns
    -------
    Interpolation
        With a residual of at most 1e-10, typically 1e-15. For n >= D without ridge the constraints determine beta
        (``message`` says so) and c_ft plays no role in it.

    Raises
    ------
    TypeError, ValueError
        For NaN, infinities, wrong shapes, ``c_ft <= 0``, ``ridge < 0``; and for ridge = 0 when no beta fits y
        (duplicate rows with different targets, n > D with noise, a zero row with non-zero target).
    InterpolationError
        If the residual stays above 1e-10 (above 1e-5 for rank-deficient float32 data).

    Source: THEORY section 7; the minimiser is unique because Q is strictly convex (THEORY section 2).
    """
    eps = max(np.finfo(np.float32 if _is_single(a) else np.float64).eps for a in (X, y))
    X, y = check_design(X, y)
    ridge = check_number("ridge", ridge, 0.0)
    max_iterations = check_count("max_iterations", max_iterations)
    # The problem is homogeneous: in these units max|X| = max|y| = 1, and nothing overflows that need not.
    size_x, size_y = float(np.max(np.abs(X))) or 1.0, float(np.max(np.abs(y))) or 1.0
    if size_x < 1e-290:  # the dual vector is in units of 1/X
        raise ValueError(f"max|X| = {size_x:g} is not allowed: it must be 0 or at least 1e-290; take other units")
    unit = size_y / size_x
    scaled = _Problem(X / size_x, y / size_y, _scales(c_ft, X.shape[1], unit), ridge / size_x / size_y, eps)
    rows = _full_rank_rows(scaled)
    found = _solve(scaled, rows, max_iterations)
    certificate = _certify(scaled, rows, found)
    return Interpolation(unit * found.beta, rows.lift(found.nu, scaled.ridge) / size_x, *certificate)


class _Problem(NamedTuple):
    """The data in units of their largest entries; ``eps`` is the precision they came with."""

    X: np.ndarray
    y: np.ndarray
    c: np.ndarray
    ridge: float
    eps: float


def _is_single(array: object) -> bool:
    return isinstance(array, np.ndarray) and array.dtype.kind == "f" and array.dtype.itemsize < 8


def _scales(c_ft: object, dim: int, unit: float) -> np.ndarray:
    """Checked scales of shape (dim,), in units of ``unit = max|y| / max|X|``."""
    c = as_array("c_ft", c_ft, low=0.0, open_low=True)
    if c.ndim > 1 or (c.ndim == 1 and c.size not in (1, dim)):
        raise ValueError(f"c_ft has shape {c.shape}: it must be a scalar or have shape ({dim},), one per column of X")
    low, high = c.min() / unit, c.max() / unit
    if low < 1e-60 or high > 1e60:
        raise ValueError(f"c_ft spans [{low:g}, {high:g}] in units of max|y|/max|X|: it must lie in [1e-60, 1e60]")
    return np.broadcast_to(c / unit, (dim,))


def _full_rank_rows(problem: _Problem) -> Reduced:
    """The constraints with dependent rows removed, and the refusal of contradictory ones."""
    X, y, _, ridge, eps = problem
    n = len(X)
    if n <= X.shape[1] and is_well_conditioned(X):
        return Reduced(X, y)
    scale = _row_scale(problem)
    rows = reduce_rows(X / scale[:, None], y / scale, eps)
    share = np.linalg.norm(rows.remainder) / (np.linalg.norm(y / scale) or 1.0)
    if ridge == 0.0 and share > 1e4 * eps * n**0.5:
        worst = int(np.argmax(np.abs(rows.remainder)))
        raise ValueError(
            f"no beta satisfies X beta = y: X has {n} rows of rank {rows.rank}, and a share {share:.3g} of y "
            f"is outside its range, most at row {worst}; equal inputs with different targets, or noise with n > D, "
            "need ridge > 0"
        )
    return Reduced(rows.X, rows.y, rows.U / scale[:, None], rows.remainder)


def _row_scale(problem: _Problem) -> np.ndarray:
    """Largest entry of each row, where rows may be rescaled: only constraints that must hold exactly."""
    scale = np.abs(problem.X).max(axis=1)
    return np.where((scale > 0.0) & (problem.ridge == 0.0), scale, 1.0)


def _solve(problem: _Problem, rows: Reduced, max_iterations: int) -> Iterate:
    """Minimiser for full-rank rows: zero, or the only feasible point, or Newton's method."""
    X, y, c = rows.X, rows.y, problem.c
    if not y.any():
        return Iterate(np.zeros(X.shape[1]), np.zeros(len(X)), 0.0, 0.0)
    used = np.abs(X).any(axis=0)
    if problem.ridge == 0.0 and rows.rank == used.sum():
        beta, square = np.zeros(X.shape[1]), X[:, used]
        beta[used] = np.linalg.solve(square, y)
        nu = np.linalg.solve(square.T, angle(beta[used], c[used]) / 2)
        return Iterate(beta, nu, 0.0, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):  # a step may overflow on the way to being refused
        return solve_on_curve(X, y, c, problem.ridge, ACCEPT, max_iterations)


def _certify(problem: _Problem, rows: Reduced, found: Iterate) -> tuple[float, float, float, int, int, float, str]:
    """Residuals recomputed from all rows of the data, and the statement; an exception where they are too large."""
    X, y, c, ridge, eps = problem
    beta, nu, size = found.beta, rows.lift(found.nu, ridge), np.linalg.norm(y) or 1.0
    outside = 0.0 if rows.U is None else _row_scale(problem) * rows.remainder
    target = y if ridge > 0.0 else y - outside
    feasibility = float(np.linalg.norm(X @ beta + ridge * nu - target) / size)
    s = angle(beta, c)
    turn = max(np.max(np.abs(s)), np.max(2 * np.abs(X.T) @ np.abs(nu))) or 1.0
    stationarity = float(np.max(np.abs(s - 2 * X.T @ nu)) / turn)
    residual, allowed = max(feasibility, stationarity), max(ACCEPT, 100 * eps)
    if not residual <= allowed:
        raise InterpolationError(
            f"interpolate: residual {residual:.3g} (feasibility {feasibility:.3g}, stationarity {stationarity:.3g}) "
            f"after {found.iterations} Newton steps, {allowed:.1g} is required; n = {len(X)}, D = {X.shape[1]}, rank "
            f"{rows.rank}, c_ft in [{c.min():.3g}, {c.max():.3g}] max|y|/max|X|. Usual causes: nearly dependent rows, "
            "or scales far below the rounding of y (1e-13 and less). Drop rows, raise c_ft, add a ridge, or raise "
            "max_iterations"
        )
    message, conflict = _statement(problem, rows, found.iterations), float(np.linalg.norm(outside) / size)
    return residual, feasibility, stationarity, found.iterations, rows.rank, conflict, message


def _statement(problem: _Problem, rows: Reduced, iterations: int) -> str:
    free = int(np.abs(problem.X).any(axis=0).sum()) - rows.rank
    if not problem.y.any():
        return "y = 0: the minimiser is beta = 0 for every c_ft"
    if problem.ridge > 0.0:
        return f"ridge problem, {len(problem.X)} rows of rank {rows.rank}, solved in {iterations} Newton steps"
    if free == 0:
        return f"rank {rows.rank} = number of nonzero columns: the constraints alone determine beta, c_ft plays no role"
    return f"least potential among interpolators (rank {rows.rank}, {free} free directions), {iterations} Newton steps"
