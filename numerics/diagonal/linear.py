"""Linear algebra of the interpolation problem: rank of the constraints, and one Newton step solved accurately.

The Newton matrix ``X W X^T`` has weights ``W`` that span as many decades as ``c_ft`` does. A Cholesky factor is fast
and usually enough; when it is not, an orthogonal factorisation of ``W^(1/2) X^T`` with rows sorted by size and columns
pivoted is accurate row by row (Cox & Higham 1998, "Stability of Householder QR factorization for weighted least
squares problems") because the product is never formed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, qr, solve_triangular, svd
from scipy.linalg.lapack import dpocon, dpotrf

__all__ = ["Reduced", "cholesky_step", "is_well_conditioned", "orthogonal_step", "reduce_rows"]


@dataclass(frozen=True)
class Reduced:
    """Constraints of full row rank: ``X = U X_r`` and ``y = U y_r + remainder``; ``U`` is None if unchanged."""

    X: np.ndarray
    y: np.ndarray
    U: np.ndarray | None = None
    remainder: np.ndarray | float = 0.0

    @property
    def rank(self) -> int:
        """Numerical rank of the constraints."""
        return len(self.X)

    def lift(self, nu: np.ndarray, ridge: float) -> np.ndarray:
        """Dual vector of the original rows; the part of ``y`` outside the range of X is ridge times its own dual."""
        if self.U is None:
            return nu
        return self.U @ nu + (self.remainder / ridge if ridge > 0.0 else 0.0)


def gram(X: np.ndarray, W: np.ndarray) -> np.ndarray:
    """``X diag(W) X^T`` as a product of one matrix with its own transpose, which BLAS does at half price."""
    scaled = X * np.sqrt(W)
    return scaled @ scaled.T


def is_well_conditioned(X: np.ndarray, limit: float = 1e-10) -> bool:
    """Whether ``X X^T`` has a Cholesky factor with reciprocal condition number above ``limit``.

    If it does, X certainly has full row rank, and the expensive :func:`reduce_rows` is not needed.
    """
    A = X @ X.T
    norm = np.abs(A).sum(axis=0).max()
    factor, info = dpotrf(A, lower=1, clean=0)
    if info != 0 or norm == 0.0:
        return False
    rcond, info = dpocon(factor, norm, uplo="L")
    return info == 0 and rcond > limit


def reduce_rows(X: np.ndarray, y: np.ndarray, eps: float) -> Reduced:
    """Equivalent constraints of full row rank; ``eps`` is the relative precision of the entries of X.

    ``(1/2)||y - X b||^2`` and ``(1/2)||y_r - X_r b||^2`` differ by a constant, so the same reduction serves the ridge
    problem; without ridge ``remainder`` is the part of y that no beta can produce.
    """
    U, sigma, Vt = svd(X, full_matrices=False, lapack_driver="gesvd")
    keep = sigma > eps * max(X.shape) * (sigma[0] if len(sigma) else 0.0)
    U, coordinates = U[:, keep], U[:, keep].T @ y
    remainder = y - U @ coordinates
    remainder -= U @ (U.T @ remainder)
    return Reduced(sigma[keep, None] * Vt[keep], coordinates, U, remainder)


def cholesky_step(X, W, ridge, feasibility, stationarity) -> np.ndarray | None:
    """Solve ``(X W X^T + ridge I) step = feasibility - X W stationarity``; None where Cholesky is not accurate enough.

    The residual of the solve is measured: a factorisation of a matrix with condition number beyond 1e16 can succeed
    and still return a step that is wrong in every digit.
    """
    A = gram(X, W)
    A[np.diag_indices_from(A)] += ridge
    factor, info = dpotrf(A, lower=1, clean=0, overwrite_a=1)
    if info != 0:
        return None
    target = feasibility - X @ (W * stationarity)
    step = cho_solve((factor, True), target, check_finite=False)
    error = np.linalg.norm(X @ (W * (X.T @ step)) + ridge * step - target)
    return step if error <= 1e-3 * np.linalg.norm(target) else None


def orthogonal_step(X, W, ridge, feasibility, stationarity) -> np.ndarray:
    """The same step from a row-sorted, column-pivoted QR of ``W^(1/2) X^T`` (stacked on ``sqrt(ridge) I``)."""
    root = np.sqrt(W)
    M, h = X.T * root[:, None], root * stationarity
    if ridge > 0.0:
        M = np.vstack([M, np.sqrt(ridge) * np.eye(len(X))])
        h = np.concatenate([h, np.zeros(len(X))])
    order = np.argsort(-np.abs(M).max(axis=1), kind="stable")
    Q, R, pivot = qr(M[order], mode="economic", pivoting=True, check_finite=False)
    inner = solve_triangular(R, feasibility[pivot], trans="T", check_finite=False)
    step = np.empty(len(X))
    step[pivot] = solve_triangular(R, inner - Q.T @ h[order], check_finite=False)
    return step
