"""One training loop for pretraining and fine-tuning.

Everything random about a run is a function of (seed, step): batches are the rows of a permutation drawn from (seed,
epoch). A checkpoint therefore needs no sampler state, and a run that was killed and resumed ends with the same bits as
one that was not (same machine, same number of threads, deterministic kernels: the CPU's are).
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import torch
from torch import nn

from numerics.networks.checkpoint import fingerprint, read_checkpoint, write_checkpoint
from numerics.networks.settings import TrainConfig
from numerics.validate import check_count

__all__ = ["FitReport", "TrainConfig", "evaluate", "fit"]

SMOOTHING = 0.9


class FitReport(NamedTuple):
    """How a stage ended.

    ``reason`` is "stop_loss", "max_steps" or "diverged"; ``loss`` the last smoothed training loss; ``steps`` those
    taken in all, ``resumed_from`` the step a checkpoint gave; ``history`` rows (step, smoothed loss, learning rate);
    ``message`` one sentence.
    """

    reason: str
    loss: float
    steps: int
    resumed_from: int
    history: list[tuple[int, float, float]]
    seconds: float
    message: str


def fit(
    model: nn.Module,
    x: object,
    y: object,
    config: TrainConfig,
    *,
    checkpoint: str | Path | None = None,
    checkpoint_every: int = 200,
    progress: Callable[[int, int, float], None] | None = None,
) -> FitReport:
    """Train ``model`` in place; it ends in evaluation mode on ``config.device``.

    Parameters
    ----------
    model : any module. x : (n, ...) inputs. y : (n,) labels, or (n, outputs) targets with ``loss = "mse"``.
    checkpoint : file to resume from when it exists, written every ``checkpoint_every`` steps and at the end.
    progress : called with (step, max_steps, smoothed loss) at every history row.

    Raises
    ------
    ValueError
        For arrays that do not match, or a checkpoint of other settings, another model or other data.
    """
    begun = time.perf_counter()
    checkpoint_every = check_count("checkpoint_every", checkpoint_every)
    x, y = _tensors(x, y, config)
    run = _Run(model.to(config.device), x, y, config, checkpoint)
    model.train()
    start = run.step
    while run.reason is None:
        run.advance()
        if run.step % config.record_every == 0 or run.reason:
            run.history.append((run.step, run.smoothed, config.rate(run.step - 1)))
            if progress:
                progress(run.step, config.max_steps, run.smoothed)
        if checkpoint is not None and (run.step % checkpoint_every == 0 or run.reason):
            run.save()
    model.eval()
    seconds = time.perf_counter() - begun
    return FitReport(run.reason, run.smoothed, run.step, start, run.history, seconds, _sentence(run, config))


def _sentence(run: _Run, config: TrainConfig) -> str:
    words = {
        "stop_loss": f"smoothed training loss {run.smoothed:.3g} below {config.stop_loss:g} after {run.step} steps",
        "max_steps": f"stopped at max_steps = {config.max_steps} with smoothed training loss {run.smoothed:.3g}",
        "diverged": f"diverged at step {run.step}: the loss is not finite; take a smaller lr or clip the gradient",
    }
    if run.reason == "max_steps" and config.stop_loss > 0.0:
        return words["max_steps"] + f", above stop_loss = {config.stop_loss:g}: not fitted"
    return words[run.reason]


def _tensors(x: object, y: object, config: TrainConfig) -> tuple[torch.Tensor, torch.Tensor]:
    x, y = torch.as_tensor(x), torch.as_tensor(y)
    if len(x) != len(y) or not len(x):
        raise ValueError(f"x has {len(x)} rows and y {len(y)}: they must be equal and at least 1")
    if config.loss == "cross_entropy" and (y.ndim != 1 or y.is_floating_point()):
        raise ValueError(f"y has shape {tuple(y.shape)} and type {y.dtype}: loss = 'cross_entropy' needs (n,) integers")
    if config.loss == "mse":
        y = y.float().reshape(len(y), -1)
    if x.is_floating_point():
        x = x.float()
    return x.to(config.device), y.to(config.device)


class _Run:
    """The state of one stage: everything a checkpoint holds, and the step that moves it."""

    def __init__(self, model, x, y, config, checkpoint) -> None:
        self.model, self.x, self.y, self.config, self.path = model, x, y, config, checkpoint
        self.step, self.smoothed, self.history, self.reason = 0, math.nan, [], None
        self.optimizer = _optimizer(model, config)
        self.scaler = torch.amp.GradScaler(x.device.type, enabled=config.precision == "fp16")
        self.batch = min(config.batch_size, len(x))
        self.per_epoch = len(x) // self.batch
        self._order = (-1, None)
        self.identity = {"config": json.dumps(asdict(config)), "data": fingerprint(x, y) if checkpoint else ""}
        if checkpoint is not None and Path(checkpoint).exists():
            self.resume(read_checkpoint(checkpoint))

    def rows(self) -> torch.Tensor:
        """Row numbers of this step's batch."""
        epoch, place = divmod(self.step, self.per_epoch)
        if self._order[0] != epoch:
            generator = torch.Generator().manual_seed((self.config.seed * 1_000_003 + epoch) % 2**63)
            self._order = epoch, torch.randperm(len(self.x), generator=generator)
        return self._order[1][place * self.batch : (place + 1) * self.batch].to(self.x.device)

    def advance(self) -> None:
        """One optimiser step."""
        config, rows = self.config, self.rows()
        for group in self.optimizer.param_groups:
            group["lr"] = config.rate(self.step)
        self.optimizer.zero_grad(set_to_none=True)
        loss = _loss(self.model, self.x[rows], self.y[rows], config)
        value = float(loss.detach())
        self.step += 1
        if not math.isfinite(value):
            self.smoothed, self.reason = value, "diverged"
            return
        self.scaler.scale(loss).backward()
        if config.clip:
            self.scaler.unscale_(self.optimizer)
            nn.utils.clip_grad_norm_(self.model.parameters(), config.clip)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.smoothed = value if math.isnan(self.smoothed) else SMOOTHING * self.smoothed + (1 - SMOOTHING) * value
        if self.smoothed < config.stop_loss:
            self.reason = "stop_loss"
        elif self.step >= config.max_steps:
            self.reason = "max_steps"

    def save(self) -> None:
        """All state, including torch's random state for models that draw (dropout)."""
        write_checkpoint(self.path, {
            **self.identity, "model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(),
            "scaler": self.scaler.state_dict(), "step": self.step, "smoothed": self.smoothed,
            "reason": self.reason, "history": [list(row) for row in self.history], "rng": torch.get_rng_state(),
            "cuda_rng": [s.cpu() for s in torch.cuda.get_rng_state_all()] if self.x.is_cuda else [],
        })  # fmt: skip

    def resume(self, saved: dict) -> None:
        """Take over a checkpoint, after checking that it belongs to this very run."""
        for key, value in self.identity.items():
            if saved.get(key) != value:
                raise ValueError(
                    f"checkpoint {self.path} was written with other {'settings' if key == 'config' else 'data'} "
                    f"({saved.get(key)!s:.300}): give another file, or delete it to start again"
                )
        try:
            self.model.load_state_dict(saved["model"])
        except RuntimeError as error:
            first = str(error).splitlines()[0]
            raise ValueError(f"checkpoint {self.path} belongs to another model ({first})") from None
        self.optimizer.load_state_dict(saved["optimizer"])
        self.scaler.load_state_dict(saved["scaler"])
        self.step, self.smoothed, self.reason = saved["step"], saved["smoothed"], saved["reason"]
        self.history = [tuple(row) for row in saved["history"]]
        torch.set_rng_state(saved["rng"])
        if saved["cuda_rng"] and self.x.is_cuda:
            torch.cuda.set_rng_state_all(saved["cuda_rng"])


def _optimizer(model: nn.Module, config: TrainConfig) -> torch.optim.Optimizer:
    parameters = [p for p in model.parameters() if p.requires_grad]
    if not parameters:
        raise ValueError(f"{type(model).__name__} has no parameter that can be trained")
    if config.optimizer == "sgd":
        return torch.optim.SGD(parameters, config.lr, momentum=config.momentum, weight_decay=config.weight_decay)
    return torch.optim.AdamW(parameters, config.lr, weight_decay=config.weight_decay)


def _loss(model: nn.Module, x: torch.Tensor, y: torch.Tensor, config: TrainConfig) -> torch.Tensor:
    kinds = {"bf16": torch.bfloat16, "fp16": torch.float16}
    kind = kinds.get(config.precision)
    with torch.autocast(x.device.type, dtype=kind, enabled=kind is not None):
        outputs = model(x)
    outputs = outputs.float()
    if config.loss == "mse":
        return nn.functional.mse_loss(outputs, y)
    return nn.functional.cross_entropy(outputs, y)


@torch.no_grad()
def evaluate(model: nn.Module, x: object, y: object, loss: str = "cross_entropy", batch_size: int = 1024) -> dict:
    """``{"loss": ..., "accuracy": ...}`` over all rows in evaluation mode; accuracy is NaN for ``loss = "mse"``."""
    device = next(model.parameters()).device
    x, y = torch.as_tensor(x), torch.as_tensor(y)
    x = x.float() if x.is_floating_point() else x
    mode = model.training
    model.eval()
    total, right = 0.0, 0
    for i in range(0, len(x), batch_size):
        outputs, wanted = model(x[i : i + batch_size].to(device)).float(), y[i : i + batch_size].to(device)
        if loss == "mse":
            total += float(((outputs - wanted.float().reshape(outputs.shape)) ** 2).mean(1).sum())
        else:
            total += float(nn.functional.cross_entropy(outputs, wanted, reduction="sum"))
            right += int((outputs.argmax(1) == wanted).sum())
    model.train(mode)
    return {"loss": total / len(x), "accuracy": right / len(x) if loss == "cross_entropy" else math.nan}
