"""Exact limits of many problems at once in torch, on CPU or GPU, with three inner solvers for large n.

The iteration is that of :mod:`numerics.diagonal.newton`; only its n x n systems are solved in torch, (S, n, n) at a
time. The curve itself is one-dimensional work per coordinate and stays in the generated NumPy kernels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from numerics.diagonal.data import Cell
from numerics.diagonal.interpolation import ACCEPT, InterpolationError
from numerics.diagonal.limit import Outcome, flow_limit
from numerics.diagonal.maps import mobility
from numerics.diagonal.network import check_device
from numerics.diagonal.newton import TARGET, return_to_curve
from numerics.task import Initialization
from numerics.validate import as_array, check_count

__all__ = ["BatchedInterpolation", "interpolate_batch", "solve_exact_batch"]

INNER = ("cholesky", "mixed", "cg")
FORCING = 1e-2  # a conjugate-gradient solve stops at this share of the Newton residual (squared near the end)
MOST_CG = 2000


@dataclass(frozen=True)
class BatchedInterpolation:
    """Minimisers ``beta`` (S, D), duals ``nu`` (S, n), relative residuals (S,), Newton steps and inner iterations."""

    beta: np.ndarray
    nu: np.ndarray
    residual: np.ndarray
    iterations: int
    inner_iterations: int


@torch.no_grad()
def interpolate_batch(
    X: object, y: object, c_ft: object, *, inner: str = "cholesky", device: str = "cpu", max_iterations: int = 100
) -> BatchedInterpolation:
    """:func:`interpolate` for S problems of equal size: ``argmin sum_d q_{c_d}(beta_d)`` subject to ``X beta = y``.

    Parameters
    ----------
    X : (S, n, D) tensor or array, n < D, full row rank. y : (S, n). c_ft : broadcastable to (S, D), positive.
    inner : "cholesky" (float64), "mixed" (Cholesky in float32, made exact by preconditioned conjugate gradients in
        float64) or "cg" (conjugate gradients with a diagonal preconditioner: no n x n matrix is ever formed).
    device : torch device of the linear algebra. X stays there in float64: 8 S n D bytes.

    Raises
    ------
    TypeError, ValueError
        For wrong shapes or values.
    InterpolationError
        If some residual stays above 1e-10, or an inner solver breaks down; dependent rows and scales over many
        decades are the business of :func:`interpolate`, which pays for orthogonal factorisations where needed.
    """
    X, y, c = _check(X, y, c_ft, inner, device)
    S, _, dim = X.shape
    max_iterations = check_count("max_iterations", max_iterations)
    size = y.norm(dim=1).clamp_min(1e-300)
    beta, s, nu = np.zeros((S, dim)), np.zeros((S, dim)), torch.zeros_like(y)
    spent, best = 0, np.full(S, np.inf)
    for iteration in range(max_iterations + 1):
        gap = y - _times(X, torch.as_tensor(beta, device=X.device))
        tilt = _transposed(X, nu) - torch.as_tensor(s / 2, device=X.device)
        feasibility = (gap.norm(dim=1) / size).cpu().numpy()
        error, largest = 2 * tilt.abs().amax(dim=1).cpu().numpy(), np.abs(s).max(axis=1)
        residual = np.maximum(feasibility, error / np.maximum(np.maximum(error, largest), 1e-300))
        if residual.max() <= TARGET or iteration == max_iterations:
            break
        if residual.max() <= ACCEPT and residual.max() >= 0.5 * best.max():
            break  # rounding
        best = np.minimum(best, residual)
        W = mobility(beta, c)
        Wt = torch.as_tensor(W, device=X.device)
        step, used = _solve(X, Wt, gap - _times(X, Wt * tilt), inner, residual)
        spent += used
        nu = nu + step
        turn = (2 * (_transposed(X, step) + tilt)).cpu().numpy()
        with np.errstate(over="ignore", invalid="ignore"):
            beta, s = return_to_curve(beta, s, c, W, turn)
    if not residual.max() <= ACCEPT:
        worst = int(np.argmax(residual))
        raise InterpolationError(
            f"interpolate_batch: problem {worst} of {S} has residual {residual[worst]:.3g} after {iteration} Newton "
            f"steps with inner = {inner!r}, {ACCEPT:g} is required: solve it by interpolate, which handles dependent "
            "rows and extreme scales"
        )
    return BatchedInterpolation(beta, nu.cpu().numpy(), residual, iteration, spent)


def _check(X, y, c_ft, inner: str, device: str):
    device = check_device(device)
    if inner not in INNER:
        raise ValueError(f"inner = {inner!r} is not allowed: it must be one of {', '.join(INNER)}")
    if not isinstance(X, torch.Tensor):
        X = torch.as_tensor(as_array("X", X, ndim=3))
    y = torch.as_tensor(as_array("y", y.cpu() if isinstance(y, torch.Tensor) else y, ndim=2))
    if X.ndim != 3 or tuple(y.shape) != tuple(X.shape[:2]) or X.shape[1] >= X.shape[2]:
        shapes = tuple(X.shape), tuple(y.shape)
        raise ValueError(f"X has shape {shapes[0]} and y {shapes[1]}: they must be (S, n, D) and (S, n) with n < D")
    if not torch.isfinite(X).all():
        raise ValueError("X has entries that are not finite numbers")
    c = as_array("c_ft", c_ft, low=0.0, open_low=True)
    c = np.ascontiguousarray(np.broadcast_to(c, (X.shape[0], X.shape[2])))
    return X.to(device, torch.float64), y.to(device, torch.float64), c


def _times(X: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return torch.matmul(X, v.unsqueeze(-1)).squeeze(-1)


def _transposed(X: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    return torch.matmul(u.unsqueeze(-2), X).squeeze(-2)


def _solve(X, W, target, inner: str, residual: np.ndarray) -> tuple[torch.Tensor, int]:
    """Step with ``X W X^T step = target`` and the number of inner iterations."""
    if inner == "cholesky":
        return torch.cholesky_solve(target.unsqueeze(-1), _factor(X, W)).squeeze(-1), 0
    if inner == "mixed":
        factor = _factor(X.float(), W.float())
        precondition = lambda r: torch.cholesky_solve(r.float().unsqueeze(-1), factor).squeeze(-1).to(r.dtype)  # noqa: E731
    else:
        diagonal = _times(X.square(), W)
        precondition = lambda r: r / diagonal  # noqa: E731
    # inexact Newton: solve no further than the outer residual deserves, quadratically tighter towards the end
    tolerance = max(1e-14, min(FORCING, float(residual.max()) ** 2 * 1e-2))
    return _conjugate_gradients(lambda v: _times(X, W * _transposed(X, v)), target, precondition, tolerance)


def _factor(X: torch.Tensor, W: torch.Tensor) -> torch.Tensor:
    """Cholesky factors (S, n, n) of ``X W X^T``, made one problem at a time: only one scaled copy of X is in memory."""
    factors = []
    for x, w in zip(X, W, strict=True):
        scaled = x * w.sqrt()
        factor, info = torch.linalg.cholesky_ex(scaled @ scaled.T)
        if int(info):
            raise InterpolationError(
                f"interpolate_batch: the Newton matrix is not positive definite in {str(x.dtype)[6:]}: dependent rows "
                "or scales over too many decades; use inner = 'cholesky', or interpolate"
            )
        factors.append(factor)
    return torch.stack(factors)


def _conjugate_gradients(apply, target, precondition, tolerance: float) -> tuple[torch.Tensor, int]:
    """Preconditioned conjugate gradients on (S, n) systems side by side; relative residual ``tolerance`` for all."""
    x, r = torch.zeros_like(target), target.clone()
    z = precondition(r)
    p, rho, aim = z, (r * z).sum(1, keepdim=True), tolerance * target.norm(dim=1)
    for iteration in range(1, MOST_CG + 1):
        image = apply(p)
        step = rho / (p * image).sum(1, keepdim=True).clamp_min(1e-300)
        x, r = x + step * p, r - step * image
        if bool((r.norm(dim=1) <= aim).all()):
            return x, iteration
        z = precondition(r)
        new = (r * z).sum(1, keepdim=True)
        p, rho = z + new / rho.clamp_min(1e-300) * p, new
    return x, MOST_CG  # an inexact Newton step is still a step; the outer residual decides


def solve_exact_batch(
    cells: list[Cell], init: Initialization, *, device: str = "cpu", inner: str = "cholesky"
) -> list[Outcome]:
    """Both stages of all cells (equal sizes) by :func:`interpolate_batch`; n_pt >= D is solved directly."""
    beta_pt = np.stack([cell.beta_pt for cell in cells])
    worst = np.zeros(len(cells))
    if cells[0].X_pt is not None and len(cells[0].X_pt) < beta_pt.shape[1]:
        first = interpolate_batch(*_stack(cells, "X_pt", "y_pt"), init.c, device=device, inner=inner)
        beta_pt, worst = first.beta, first.residual
    elif cells[0].X_pt is not None:
        solved = [flow_limit(cell.X_pt, cell.y_pt, init.c) for cell in cells]
        beta_pt, worst = np.stack([beta for beta, _, _ in solved]), np.array([r for _, r, _ in solved])
    found = interpolate_batch(*_stack(cells, "X", "y"), init.c_ft(beta_pt), device=device, inner=inner)
    residual = np.maximum(worst, found.residual)
    return [
        Outcome(beta, pt, float(r), found.iterations, float(np.mean((cell.X @ beta - cell.y) ** 2)))
        for cell, beta, pt, r in zip(cells, found.beta, beta_pt, residual, strict=True)
    ]


def _stack(cells: list[Cell], *names: str) -> list[np.ndarray]:
    return [np.stack([getattr(cell, name) for cell in cells]) for name in names]
