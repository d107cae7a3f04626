"""A small Transformer for modular arithmetic: three tokens ``a b =``, attention blocks with ReLU MLPs, one readout.

No layer norm, so the scales of the layers mean what they say; weights start at standard deviation ``1/sqrt(fan_in)``,
embeddings at ``1/sqrt(dim)`` (vectors of length one).
"""

from __future__ import annotations

import torch
from torch import nn

from numerics.validate import check_count, check_flag, check_number

__all__ = ["Attention", "Block", "Transformer"]


def _linear(inputs: int, outputs: int) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    nn.init.normal_(layer.weight, std=inputs**-0.5)
    nn.init.zeros_(layer.bias)
    return layer


class Attention(nn.Module):
    """Multi-head self-attention over (batch, tokens, dim); causal masks later tokens (decoder).

    With ``last`` only the last token asks, and the result is (batch, 1, dim): all that a readout at that token needs.
    """

    def __init__(self, dim: int, heads: int, causal: bool) -> None:
        super().__init__()
        if dim % heads:
            raise ValueError(f"heads = {heads} is not allowed: it must divide dim = {dim}")
        self.heads, self.causal = heads, causal
        self.qkv, self.out = _linear(dim, 3 * dim), _linear(dim, dim)

    def forward(self, x: torch.Tensor, last: bool = False) -> torch.Tensor:
        batch, tokens, dim = x.shape
        q, k, v = self.qkv(x).view(batch, tokens, 3, self.heads, dim // self.heads).permute(2, 0, 3, 1, 4)
        q = q[:, :, -1:] if last else q
        scores = q @ k.transpose(-1, -2) * (dim // self.heads) ** -0.5
        if self.causal and not last:
            later = torch.ones(tokens, tokens, dtype=torch.bool, device=x.device).triu(1)
            scores = scores.masked_fill(later, float("-inf"))
        mixed = scores.softmax(-1) @ v
        return self.out(mixed.transpose(1, 2).reshape(batch, -1, dim))


class Block(nn.Module):
    """``x + attention(x)``, then ``x + W2 relu(W1 x)``; with ``last``, for the last token alone."""

    def __init__(self, dim: int, heads: int, hidden: int, causal: bool) -> None:
        super().__init__()
        self.attention = Attention(dim, heads, causal)
        self.up, self.down = _linear(dim, hidden), _linear(hidden, dim)

    def forward(self, x: torch.Tensor, last: bool = False) -> torch.Tensor:
        x = (x[:, -1:] if last else x) + self.attention(x, last)
        return x + self.down(torch.relu(self.up(x)))


class Transformer(nn.Module):
    """Token indices (batch, length) to logits (batch, classes), read at the last token.

    Parameters
    ----------
    tokens : vocabulary size. classes : outputs. length : tokens of one input.
    dim, heads, hidden, layers : sizes; ``hidden`` defaults to ``4 dim``.
    causal : decoder (True) or encoder (False).
    balancedness : kappa in ``[1e-3, 1e3]``: embeddings and positions start ``kappa`` times as large and the readout
        ``1/kappa`` times. Below 1 the earlier layers are smaller, as with lam < 0.

    Raises
    ------
    TypeError, ValueError
        For values outside these ranges, or heads that do not divide dim.
    """

    def __init__(
        self,
        tokens: int,
        classes: int,
        length: int = 3,
        dim: int = 48,
        heads: int = 2,
        hidden: int | None = None,
        layers: int = 1,
        causal: bool = False,
        balancedness: float = 1.0,
    ) -> None:
        super().__init__()
        tokens, classes, length = (
            check_count(n, v) for n, v in (("tokens", tokens), ("classes", classes), ("length", length))
        )
        dim, heads, layers = (check_count(n, v) for n, v in (("dim", dim), ("heads", heads), ("layers", layers)))
        causal = check_flag("causal", causal)
        hidden = 4 * dim if hidden is None else check_count("hidden", hidden)
        kappa = check_number("balancedness", balancedness, 1e-3, 1e3)
        self.readout = "head"
        self.embedding, self.position = nn.Embedding(tokens, dim), nn.Embedding(length, dim)
        nn.init.normal_(self.embedding.weight, std=dim**-0.5)
        nn.init.normal_(self.position.weight, std=dim**-0.5)
        self.blocks = nn.Sequential(*[Block(dim, heads, hidden, causal) for _ in range(layers)])
        self.head = _linear(dim, classes)
        with torch.no_grad():
            for name, power in self.scale_exponents().items():
                self.get_parameter(name).mul_(kappa**power)

    @staticmethod
    def scale_exponents() -> dict[str, int]:
        """Powers of kappa: embeddings and positions up, readout down. Not output-preserving: attention is not
        homogeneous, its softmax sharpens with the scale of its inputs."""
        return {"embedding.weight": 1, "position.weight": 1, "head.weight": -1}

    def features(self, x: torch.Tensor) -> torch.Tensor:
        """The last token of the residual stream, shape (batch, dim)."""
        places = torch.arange(x.shape[1], device=x.device)
        stream = self.embedding(x) + self.position(places)
        for block in self.blocks[:-1]:
            stream = block(stream)
        return self.blocks[-1](stream, last=True)[:, -1]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.features(x))
