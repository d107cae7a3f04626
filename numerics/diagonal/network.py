"""The two-path diagonal network as a torch module, many seeds side by side in one set of tensors."""

from __future__ import annotations

import torch

from numerics.task import Initialization
from numerics.validate import check_count, check_number

__all__ = ["DiagonalNetwork", "check_device"]


def check_device(device: str | torch.device) -> torch.device:
    """The torch device, or a ValueError where this torch or this machine does not have it."""
    try:
        torch.ones(1, device=device).cpu()  # "meta" makes tensors, but without numbers in them
    except (AssertionError, RuntimeError) as error:
        text = str(error).splitlines()[0]
        raise ValueError(f"device = {str(device)!r} is not available to torch here: {text}") from None
    return torch.device(device)


class DiagonalNetwork(torch.nn.Module):
    """``f(x) = sum_d (w+_d v+_d - w-_d v-_d) x_d`` for ``batch`` independent networks at once.

    Parameters
    ----------
    init : scales; both paths start at ``w = sqrt(c (1+lam)/2)``, ``v = sqrt(c (1-lam)/2)``, so beta = 0.
    dim, batch : input dimension D and number of networks S (seeds).
    dtype, device : of the four parameters ``w_plus, w_minus, v_plus, v_minus``, each (S, D).

    Source: THEORY sections 1 to 3.
    """

    def __init__(
        self,
        init: Initialization,
        dim: int,
        batch: int = 1,
        *,
        dtype: torch.dtype = torch.float64,
        device: str | torch.device = "cpu",
    ) -> None:
        super().__init__()
        shape = check_count("batch", batch), check_count("dim", dim)
        w, v = init.weights()
        for name, value in (("w_plus", w), ("w_minus", w), ("v_plus", v), ("v_minus", v)):
            self.register_parameter(name, torch.nn.Parameter(torch.full(shape, value, dtype=dtype, device=device)))

    @property
    def beta(self) -> torch.Tensor:
        """Effective regression vectors (S, D)."""
        return self.w_plus * self.v_plus - self.w_minus * self.v_minus

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """Predictions (S, n) for inputs (S, n, D), or (n, D) shared by all networks."""
        return torch.matmul(X, self.beta.unsqueeze(-1)).squeeze(-1)

    @torch.no_grad()
    def rebalance(self, gamma: float) -> DiagonalNetwork:
        """Prepare fine-tuning in place: both first layers become ``w_plus + w_minus``, readouts ``gamma/sqrt(2)``."""
        readout = check_number("gamma", gamma, 0.0) / 2.0**0.5
        first = self.w_plus + self.w_minus
        for w in (self.w_plus, self.w_minus):
            w.copy_(first)
        for v in (self.v_plus, self.v_minus):
            v.fill_(readout)
        return self

    @torch.no_grad()
    def start_fine_tuning(self, beta_pt: torch.Tensor, init: Initialization) -> DiagonalNetwork:
        """Weights that :meth:`rebalance` gives after pretraining reached ``beta_pt`` (S, D) exactly (the oracle)."""
        readout = init.gamma / 2.0**0.5
        scale = torch.as_tensor(init.c_ft(beta_pt.cpu().numpy()))
        first = (scale - readout**2).clamp_min(0.0).sqrt().to(self.w_plus)
        for w in (self.w_plus, self.w_minus):
            w.copy_(first)
        for v in (self.v_plus, self.v_minus):
            v.fill_(readout)
        return self

    @property
    def scale(self) -> torch.Tensor:
        """Effective scale ``w^2 + v^2`` (S, D) of the positive path: the c of the next stage when read at its start."""
        return self.w_plus**2 + self.v_plus**2
