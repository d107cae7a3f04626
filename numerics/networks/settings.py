"""Settings of one training stage, checked on creation."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import torch

from numerics.validate import check_count, check_number

__all__ = ["TrainConfig"]


@dataclass(frozen=True)
class TrainConfig:
    """Settings of one stage, checked on creation.

    Attributes
    ----------
    optimizer : "sgd" or "adamw". lr, momentum (sgd), weight_decay : its parameters.
    batch_size : at most this many rows a step; a last, smaller batch of an epoch is left out.
    max_steps : steps at most. stop_loss : stop when the smoothed training loss is below (0: never).
    schedule : "constant", "cosine" or "linear" to zero at ``max_steps``. warmup : steps of linear warm-up.
    loss : "cross_entropy" (labels) or "mse" (targets, mean over rows and outputs).
    clip : largest gradient norm, 0 for none. precision : "float32", or "bf16"/"fp16" under autocast (fp16: CUDA only).
    device : "cpu", "cuda" or "cuda:i". seed : of the order of batches. record_every : steps between history rows.
    """

    optimizer: str = "sgd"
    lr: float = 0.05
    momentum: float = 0.9
    weight_decay: float = 0.0
    batch_size: int = 128
    max_steps: int = 1000
    stop_loss: float = 0.0
    schedule: str = "constant"
    warmup: int = 0
    loss: str = "cross_entropy"
    clip: float = 0.0
    precision: str = "float32"
    device: str = "cpu"
    seed: int = 0
    record_every: int = 20

    def __post_init__(self) -> None:
        choices = {
            "optimizer": ("sgd", "adamw"), "schedule": ("constant", "cosine", "linear"),
            "loss": ("cross_entropy", "mse"), "precision": ("float32", "bf16", "fp16"),
        }  # fmt: skip
        for name, allowed in choices.items():
            value = getattr(self, name)
            if value not in allowed:
                raise ValueError(f"{name} = {value!r} is not allowed: it must be one of {', '.join(allowed)}")
        for name, low, high in (("lr", 0, 1e3), ("weight_decay", 0, 1e3), ("stop_loss", 0, 1e9), ("clip", 0, 1e9)):
            object.__setattr__(self, name, check_number(name, getattr(self, name), low, high))
        object.__setattr__(self, "momentum", check_number("momentum", self.momentum, 0.0, 1.0, open_high=True))
        for name, low in (("batch_size", 1), ("max_steps", 1), ("warmup", 0), ("seed", 0), ("record_every", 1)):
            check_count(name, getattr(self, name), low)
        if not isinstance(self.device, str) or not re.fullmatch(r"cpu|cuda(:\d{1,3})?", self.device):
            raise ValueError(f"device = {self.device!r} is not allowed: it must be 'cpu', 'cuda' or 'cuda:i'")
        if self.device.startswith("cuda") and not torch.cuda.is_available():
            raise ValueError(f"device = {self.device!r}: this machine has no CUDA device that torch can use")
        if ":" in self.device and int(self.device[5:]) >= torch.cuda.device_count():
            last = torch.cuda.device_count() - 1
            raise ValueError(f"device = {self.device!r} is not allowed: i must be in [0, {last}] on this machine")
        if self.precision == "fp16" and self.device == "cpu":
            raise ValueError("precision = 'fp16' needs device = 'cuda'; on a CPU take 'float32' or 'bf16'")

    def rate(self, step: int) -> float:
        """Learning rate of ``step`` (from 0)."""
        warm = min(1.0, (step + 1) / self.warmup) if self.warmup else 1.0
        left = 1.0 - step / self.max_steps
        shape = {"constant": 1.0, "linear": left, "cosine": 0.5 * (1.0 + math.cos(math.pi * (1.0 - left)))}
        return self.lr * warm * shape[self.schedule]
