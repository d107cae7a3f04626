"""A path of gradient flow: times, dense output of beta, and what is measured along it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from numerics.diagonal.weights import Weights
from numerics.validate import as_array

__all__ = ["Budget", "FlowError", "Trajectory", "check_reachable", "effective_rank"]


class FlowError(RuntimeError):
    """The integrator could not bring the training error down; the message says how far it got and what to try."""


def effective_rank(beta: np.ndarray) -> np.ndarray:
    """Effective rank (...) of diag(beta), beta (..., D): exponential of the entropy of |beta_d| / sum |beta|.

    Between 1 and D; 0 for beta = 0. Source: Roy & Vetterli 2007, "The effective rank".
    """
    size = np.abs(beta)
    total = size.sum(axis=-1, keepdims=True)
    share = size / np.where(total > 0.0, total, 1.0)
    entropy = -np.sum(share * np.log(np.where(share > 0.0, share, 1.0)), axis=-1)
    return np.where(total[..., 0] > 0.0, np.exp(entropy), 0.0)


def check_reachable(X: np.ndarray, y: np.ndarray, stop: float) -> None:
    """Raise FlowError where no beta brings the relative training residual down to ``stop``."""
    size = np.linalg.norm(y)
    floor = np.linalg.norm(y - X @ np.linalg.lstsq(X, y)[0]) / (size or 1.0)
    if floor > stop:
        raise FlowError(
            f"gradient_flow: the training residual cannot fall below {floor:.3g} on these data (noise with n > D, or "
            f"equal rows with different targets), and stop = {stop:g} was asked for: raise stop or use fewer samples"
        )


class Budget:
    """Counts evaluations of a flow and raises FlowError when an integrator makes no headway."""

    def __init__(self, calls: int = 1_000_000) -> None:
        self.left = self.calls = calls

    def spend(self, time: float) -> None:
        """One evaluation at ``time``."""
        self.left -= 1
        if self.left < 0:
            raise FlowError(f"gradient_flow: {self.calls} evaluations only reached time {time:.3g}: raise stop or rtol")


@dataclass(frozen=True)
class Trajectory:
    """Gradient flow on ``(1/2)||y - X beta||^2`` from its start until the relative training residual is ``stop``.

    Attributes
    ----------
    t : (T,) accepted times of the integrator; time is that of ``dw/dt = -dL/dw`` with the sum (not mean) loss.
    beta : (T, D) effective vectors at these times; ``beta_at(t)`` interpolates between them (dense output).
    loss : (T,) values of ``(1/2)||y - X beta||^2``.
    c : (D,) effective scale of the start, ``w(0)^2 + v(0)^2``.
    residual : final ``||X beta - y|| / ||y||``.
    drift : largest change of the four conserved quantities along the path, relative to ``c`` or to the largest
        square of a weight where that is larger; 0 by construction for the dual variables.
    weights : the four weight vectors (T, D), or None for the dual variables.
    pretraining : the trajectory of the first stage, or None.
    """

    t: np.ndarray
    beta: np.ndarray
    loss: np.ndarray
    c: np.ndarray
    residual: float
    drift: float
    X: np.ndarray = field(repr=False)
    y: np.ndarray = field(repr=False)
    beta_at: Callable[[object], np.ndarray] = field(repr=False)
    weights: Weights | None = field(default=None, repr=False)
    pretraining: Trajectory | None = field(default=None, repr=False)

    def at(self, times: object) -> Trajectory:
        """The trajectory read at any increasing ``times`` (T,) by dense output, with loss, rank and l-order there."""
        times = as_array("times", times, ndim=1, low=0.0, high=float(self.t[-1]))
        beta = self.beta_at(times)
        gap = self.y - beta @ self.X.T
        return replace(self, t=times, beta=beta, loss=0.5 * np.sum(gap**2, axis=1), weights=None)

    @property
    def limit(self) -> np.ndarray:
        """Last beta (D,)."""
        return self.beta[-1]

    @property
    def steps(self) -> int:
        """Accepted steps of the integrator."""
        return len(self.t) - 1

    @property
    def effective_rank(self) -> np.ndarray:
        """(T,) effective rank of diag(beta)."""
        return effective_rank(self.beta)

    @property
    def ell_order(self) -> np.ndarray:
        """(T,) l-order of the potential at beta, q-weighted over coordinates; 2 at beta = 0 (THEORY section 4)."""
        from numerics.kernels import ell_order, potential

        q = potential(self.beta, self.c)
        total = q.sum(axis=1)
        mean = np.sum(q * ell_order(self.beta, self.c), axis=1) / np.where(total > 0.0, total, 1.0)
        return np.where(total > 0.0, mean, 2.0)
