"""Torch modules for the ruler: fine-tune a copy on a probe, give back its function."""

from __future__ import annotations

import copy
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import nn

from numerics.networks.interventions import reinitialise_readout
from numerics.networks.mlp import TwoLayer
from numerics.networks.training import TrainConfig, fit

__all__ = ["NetworkTuner"]


@dataclass(frozen=True)
class NetworkTuner:
    """A pretrained torch module as something that the ruler can fine-tune.

    Attributes
    ----------
    model : never changed, every probe trains a copy. config : of fine-tuning; ``loss = "mse"`` reads targets as they
        are, ``"cross_entropy"`` as labels +-1 of two classes, whose logit difference is the output.
    gamma : scale of the new readout. seed : of its weights, which differ from probe to probe.
    readout : name of the readout layer (default: the model's own ``readout``).

    The output is the change that fine-tuning made: the function just before it is subtracted, as theory starts from
    zero. Two-layer networks start at zero exactly.
    """

    model: nn.Module
    config: TrainConfig = field(default_factory=lambda: TrainConfig(loss="mse"))
    gamma: float = 0.0
    seed: int = 0
    readout: str | None = None

    def finetune(self, x: np.ndarray, y: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """Raises ``RuntimeError`` when the training loss that ``config`` asks for was not reached."""
        model = copy.deepcopy(self.model)
        generator = torch.Generator().manual_seed(self.seed + zlib.crc32(np.ascontiguousarray(x).tobytes()))
        outputs = 1 if self.config.loss == "mse" else 2
        reinitialise_readout(model, self.gamma, self.readout, outputs=outputs, generator=generator)
        if isinstance(model, TwoLayer):
            model.start_fine_tuning(self.gamma, generator)
        start = copy.deepcopy(model).eval()
        x, y = _tensor(x), np.asarray(y, dtype=np.float32)
        if self.config.loss == "cross_entropy":
            if not np.isin(y, (-1, 1)).all():
                raise ValueError(f"y = {y!r:.60} is not allowed with loss = 'cross_entropy': labels must be +-1")
            y = ((y + 1) // 2).astype(np.int64)
        report = fit(model, x, y, replace(self.config, record_every=10**9))
        if report.reason == "diverged" or (self.config.stop_loss > 0.0 and report.reason != "stop_loss"):
            raise RuntimeError(f"a probe was not learned: {report.message}")

        @torch.no_grad()
        def change(inputs: np.ndarray) -> np.ndarray:
            inputs = _tensor(inputs)
            difference = (model(inputs) - start(inputs)).double().numpy()
            return difference[:, 0] if difference.shape[1] == 1 else difference[:, 1] - difference[:, 0]

        return change


def _tensor(x: np.ndarray) -> torch.Tensor:
    """Tokens stay integers, everything else becomes float32."""
    x = np.asarray(x)
    return torch.as_tensor(x, dtype=torch.int64 if x.dtype.kind in "iu" else torch.float32)
