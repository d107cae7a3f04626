"""CIFAR-style residual networks: a 3x3 stem, stages of basic blocks, global average pooling, one linear head.

``ResNet(depth=(2, 2, 2, 2), width=64)`` is ResNet-18 for small images. Without normalisation every layer is positively
homogeneous, so that scale moves between layers without changing the function; `scale_exponents` says how.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from numerics.validate import check_count

__all__ = ["BasicBlock", "ResNet"]

NORMS = ("batch", "none")


def _norm(kind: str, channels: int) -> nn.Module:
    return nn.BatchNorm2d(channels) if kind == "batch" else nn.Identity()


class BasicBlock(nn.Module):
    """``relu(x + conv2(relu(conv1(x))))`` with optional batch norm; a 1x1 convolution where the shape changes.

    Without batch norm the convolutions have biases, and ``conv2`` starts at ``1/sqrt(blocks)`` of its usual size, which
    keeps the variance of the residual stream of order one.
    """

    def __init__(self, inputs: int, outputs: int, stride: int, norm: str) -> None:
        super().__init__()
        bias = norm == "none"
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=bias)
        self.norm1 = _norm(norm, outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=bias)
        self.norm2 = _norm(norm, outputs)
        changes = stride != 1 or inputs != outputs
        self.shortcut = nn.Conv2d(inputs, outputs, 1, stride, bias=False) if changes else nn.Identity()
        self.norm3 = _norm(norm, outputs) if changes else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.norm1(self.conv1(x)))
        y = self.norm2(self.conv2(y))
        return torch.relu(y + self.norm3(self.shortcut(x)))


class ResNet(nn.Module):
    """Images (batch, channels, height, width) to logits (batch, classes).

    Parameters
    ----------
    classes, channels : outputs and input channels. width : channels of the first stage, doubled at each later one.
    depth : blocks in each stage; every stage after the first halves the resolution.
    norm : "batch" or "none".

    Raises
    ------
    TypeError, ValueError
        For counts below 1 or another norm.
    """

    def __init__(
        self,
        classes: int,
        channels: int = 3,
        width: int = 64,
        depth: Sequence[int] = (2, 2, 2, 2),
        norm: str = "batch",
    ) -> None:
        super().__init__()
        if norm not in NORMS:
            raise ValueError(f"norm = {norm!r} is not allowed: it must be one of {', '.join(NORMS)}")
        if not isinstance(depth, Sequence) or isinstance(depth, str):
            raise TypeError(f"depth must be a list of counts, got {depth!r:.60} of type {type(depth).__name__}")
        classes, channels = check_count("classes", classes), check_count("channels", channels)
        width, depth = check_count("width", width), [check_count("depth", d) for d in depth]
        if not depth:
            raise ValueError("depth = () is not allowed: there must be at least one stage")
        self.norm_kind, self.readout = norm, "head"
        self.stem = nn.Conv2d(channels, width, 3, 1, 1, bias=norm == "none")
        self.norm = _norm(norm, width)
        blocks, inputs = [], width
        for stage, count in enumerate(depth):
            outputs = width * 2**stage
            for i in range(count):
                stride = 2 if stage > 0 and i == 0 else 1
                blocks.append(BasicBlock(inputs, outputs, stride, norm))
                inputs = outputs
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(inputs, classes)
        self._initialise()

    def _initialise(self) -> None:
        for name, module in self.named_modules():
            if not isinstance(module, nn.Conv2d):
                continue
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            if module.bias is not None:
                nn.init.zeros_(module.bias)
                if name.endswith("conv2"):
                    module.weight.data.mul_(len(self.blocks) ** -0.5)

    def scale_exponents(self) -> dict[str, int]:
        """Powers of kappa that make earlier layers larger by kappa and later ones smaller, at the same outputs.

        The stem takes the residual stream to kappa times its size; inside a block ``conv1`` adds a factor that
        ``conv2`` removes; shortcuts keep the stream, and the head undoes it. A bias moves with the signal it is added
        to. Without normalisation only: behind a batch norm a factor is lost (see `numerics.networks.interventions`).
        """
        if self.norm_kind != "none":
            raise ValueError("norm = 'batch' absorbs the scale of convolutions: use through='affine', or norm='none'")
        exponents = {"stem.weight": 1, "stem.bias": 1, "head.weight": -1}
        for i in range(len(self.blocks)):
            block = {"conv1.weight": 1, "conv1.bias": 2, "conv2.weight": -1, "conv2.bias": 1}
            exponents |= {f"blocks.{i}.{name}": power for name, power in block.items()}
        return exponents

    def features(self, x: torch.Tensor) -> torch.Tensor:
        """The pooled last hidden layer, shape (batch, width of the last stage)."""
        return self.blocks(torch.relu(self.norm(self.stem(x)))).mean(dim=(2, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.features(x))
