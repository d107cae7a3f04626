"""Gradient descent on the weights, with momentum and minibatches: what the exact limit is compared with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from numerics.diagonal.data import Cell
from numerics.diagonal.limit import Outcome, flow_limit
from numerics.diagonal.network import DiagonalNetwork, check_device
from numerics.task import Initialization
from numerics.validate import check_count, check_number

__all__ = ["Descent", "DescentError", "descend", "solve_descent"]

CHECK = 64  # steps between two looks at the training error


class DescentError(RuntimeError):
    """Gradient descent diverged or ran out of steps; the message says how far it got and what to try."""


@dataclass(frozen=True)
class Descent:
    """How a run of gradient descent ended.

    Attributes
    ----------
    steps : (S,) steps each network took; a multiple of the checking interval.
    train_mse : (S,) mean squared training error at the end.
    stop : the training error that was asked for.
    distance : (S,) ``||beta - beta_limit|| / ||beta_limit||`` from the exact limit of the same flow, or None.
    """

    steps: np.ndarray
    train_mse: np.ndarray
    stop: float
    distance: np.ndarray | None = None

    @property
    def message(self) -> str:
        """One sentence; early stopping is called by its name."""
        text = f"gradient descent stopped at train MSE {self.train_mse.max():.2g} after {int(self.steps.max())} steps"
        if self.distance is None:
            return text
        far = self.distance.max()
        name = "early stopping, not the interpolant" if far > 1e-2 else "close to the interpolant"
        return f"{text}: {100 * far:.2g} % of ||beta|| away from the limit ({name})"


@torch.no_grad()
def descend(
    network: DiagonalNetwork,
    X: torch.Tensor,
    y: torch.Tensor,
    *,
    lr: float = 0.5,
    momentum: float = 0.0,
    batch_size: int | None = None,
    stop: float = 1e-8,
    max_steps: int = 5_000_000,
    seed: int = 0,
) -> Descent:
    """Train ``network`` in place on X (S, n, D), y (S, n) by gradient descent on ``(1/2n)||y - X beta||^2``.

    Parameters
    ----------
    lr, momentum : step size and heavy-ball coefficient in [0, 1).
    batch_size : rows drawn with replacement at each step, the same for all networks (stochastic gradient descent);
        None uses all rows.
    stop : training error ``(1/n)||y - X beta||^2`` at which a network is frozen; checked every 64 steps.
    max_steps : steps before giving up. seed : of the minibatches.

    Raises
    ------
    ValueError
        For arguments outside their range.
    DescentError
        If some network diverges or has not reached ``stop`` after ``max_steps``.
    """
    lr = check_number("lr", lr, 0.0, open_low=True)
    momentum = check_number("momentum", momentum, 0.0, 1.0, open_high=True)
    stop, max_steps = check_number("stop", stop, 0.0, open_low=True), check_count("max_steps", max_steps)
    n = X.shape[1]
    if batch_size is not None:
        batch_size = check_count("batch_size", batch_size, 1, n)
    generator = torch.Generator().manual_seed(check_count("seed", seed, 0))
    start = y.square().mean(dim=1)
    active, steps = torch.ones_like(start, dtype=torch.bool), torch.zeros_like(start, dtype=torch.long)
    velocity = [torch.zeros_like(p) for p in network.parameters()] if momentum else None
    for step in range(max_steps + 1):
        if step % CHECK == 0 or step == max_steps:
            mse = (y - network(X)).square().mean(dim=1)
            if not torch.isfinite(mse).all() or (mse > 1e3 * start + stop).any():
                raise DescentError(_diverged(network, X, lr, step))
            active &= mse > stop
            if not active.any():
                return Descent(steps.cpu().numpy(), mse.cpu().numpy(), stop)
            if step == max_steps:
                break
        steps += active
        _step(network, X, y, lr * active[:, None].to(X.dtype), momentum, velocity, batch_size, generator)
    raise DescentError(
        f"gradient descent: train MSE {float(mse.max()):.3g} after {max_steps} steps of size {lr:g}, {stop:g} was "
        f"asked for: raise max_steps or stop, or use method = 'exact' for the limit itself"
    )


def _step(network, X, y, lr, momentum, velocity, batch_size, generator) -> None:
    """One simultaneous update of the four weight vectors; ``lr`` (S, 1) is zero for frozen networks."""
    if batch_size is not None:
        rows = torch.randint(X.shape[1], (batch_size,), generator=generator).to(X.device)
        X, y = X[:, rows], y[:, rows]
    r = torch.matmul((y - network(X)).unsqueeze(1), X).squeeze(1) / X.shape[1]
    wp, wm, vp, vm = network.w_plus, network.w_minus, network.v_plus, network.v_minus
    direction = [r * vp, -r * vm, r * wp, -r * wm]
    if velocity is not None:
        for v, d in zip(velocity, direction, strict=True):
            v.mul_(momentum).add_(d)
        direction = velocity
    for p, d in zip((wp, wm, vp, vm), direction, strict=True):
        p.addcmul_(lr, d)


def _diverged(network: DiagonalNetwork, X: torch.Tensor, lr: float, step: int) -> str:
    return (
        f"gradient descent diverged at step {step} with lr = {lr:g}: the step must stay below about "
        "2 / (largest eigenvalue of X^T X/n times the largest w^2 + v^2 of the solution); lower lr"
    )


def solve_descent(
    cells: list[Cell], init: Initialization, *, dtype: str = "float64", device: str = "cpu", **options: object
) -> list[Outcome]:
    """Both stages of all cells (equal sizes) by :func:`descend`, in one tensor program; with distances to the limit."""
    if dtype not in ("float32", "float64"):
        raise ValueError(f"dtype = {dtype!r} is not allowed: it must be 'float64' or 'float32'")
    kind, device = getattr(torch, dtype), check_device(device)
    stack = lambda name: torch.as_tensor(np.stack([getattr(c, name) for c in cells])).to(device, kind)  # noqa: E731
    dim = cells[0].X.shape[1]
    network = DiagonalNetwork(init, dim, len(cells), dtype=kind, device=device)
    if cells[0].X_pt is None:
        beta_pt = stack("beta_pt")
        network.start_fine_tuning(beta_pt, init)
    else:
        descend(network, stack("X_pt"), stack("y_pt"), **options)
        beta_pt = network.beta.detach()
        network.rebalance(init.gamma)
    scale = network.scale.detach().double().cpu().numpy()
    report = descend(network, stack("X"), stack("y"), **options)
    betas, pretrained = (b.detach().double().cpu().numpy() for b in (network.beta, beta_pt))
    return [
        _outcome(cell, beta, pt, c, int(steps))
        for cell, beta, pt, c, steps in zip(cells, betas, pretrained, scale, report.steps, strict=True)
    ]


def _outcome(cell: Cell, beta: np.ndarray, beta_pt: np.ndarray, scale: np.ndarray, steps: int) -> Outcome:
    gap = cell.X @ beta - cell.y
    size = np.linalg.norm(cell.y) or 1.0
    limit = flow_limit(cell.X, cell.y, scale)[0]
    return Outcome(beta, beta_pt, float(np.linalg.norm(gap) / size), steps, float(np.mean(gap**2)), limit)
