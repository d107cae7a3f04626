"""Experiments that work: small ones for a CPU (seconds a run) and the same at paper scale for a GPU.

The CPU settings were chosen for speed, not to favour a claim; benchmarks/nonlinear.md shows what came out.
"""

from __future__ import annotations

import torch

from numerics.networks.experiment import Experiment
from numerics.networks.training import TrainConfig

__all__ = ["SCALES", "preset"]

SCALES = ("quick", "paper")


def preset(kind: str, scale: str = "quick", path: str | None = None, device: str | None = None) -> Experiment:
    """The base experiment of a kind: no intervention, one fine-tuning size.

    Parameters
    ----------
    kind : "resnet", "resnet-plain" (without batch norm), "transformer", "transformer-sgd", "mlp" or "mlp-linear".
    scale : "quick" (CPU, embedded data) or "paper" (a GPU for hours; ResNets need ``path`` to CIFAR-100).
    device : of paper-scale runs; default "cuda" where there is one.

    Raises
    ------
    ValueError
        For other names, or a paper-scale ResNet without ``path``.
    """
    if scale not in SCALES:
        raise ValueError(f"scale = {scale!r} is not allowed: it must be 'quick' or 'paper'")
    table = _quick() if scale == "quick" else _paper(path, device)
    if kind not in table:
        raise ValueError(f"kind = {kind!r} is not allowed: it must be one of {', '.join(table)}")
    if scale == "paper" and kind.startswith("resnet") and path is None:
        raise ValueError("scale = 'paper' pretrains ResNets on CIFAR-100: path must say where your copy is")
    return table[kind]


def _quick() -> dict[str, Experiment]:
    digits = {"name": "digits", "ft_labels": "parity", "n_pt": 0.9, "n_ft": 30}
    image_pt = TrainConfig(lr=0.05, max_steps=300, stop_loss=0.01)
    image_ft = TrainConfig(lr=0.02, max_steps=600, stop_loss=0.01)
    sums = {"modulus": 30, "pt_label": 6, "ft_label": 5, "n_ft": 300}
    adam = {"optimizer": "adamw", "lr": 2e-3, "batch_size": 256}
    sgd = {"optimizer": "sgd", "lr": 0.05, "batch_size": 256, "clip": 1.0}
    flow = {"loss": "mse", "momentum": 0.9, "batch_size": 4096, "stop_loss": 1e-3}
    teacher = {"dim": 20, "pt_features": 4, "ft_features": 4, "shared": 4, "n_pt": 400, "n_ft": 40}
    mlp_pt, mlp_ft = TrainConfig(lr=0.02, max_steps=4000, **flow), TrainConfig(lr=0.01, max_steps=4000, **flow)
    small = {"hidden": 100, "c": 0.01}
    return {
        "resnet": Experiment("resnet", {"width": 8, "norm": "batch"}, digits, image_pt, image_ft),
        "resnet-plain": Experiment("resnet", {"width": 8, "norm": "none"}, digits, image_pt, image_ft),
        "transformer": Experiment(
            "transformer", {"dim": 48, "heads": 2}, sums,
            TrainConfig(max_steps=300, **adam), TrainConfig(max_steps=400, **adam),
        ),
        "transformer-sgd": Experiment(
            "transformer", {"dim": 48, "heads": 2}, sums,
            TrainConfig(max_steps=600, **sgd), TrainConfig(max_steps=800, **sgd),
        ),
        "mlp": Experiment("mlp", {"activation": "relu", **small}, teacher, mlp_pt, mlp_ft),
        "mlp-linear": Experiment("mlp", {"activation": "linear", **small}, teacher, mlp_pt, mlp_ft),
    }  # fmt: skip


def _paper(path: str | None, device: str | None) -> dict[str, Experiment]:
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    images = {
        "name": "cifar100", "path": path, "pt_classes": list(range(98)), "ft_classes": [98, 99],
        "n_pt": 0.9, "n_ft": 100,
    }  # fmt: skip
    precision = "bf16" if device.startswith("cuda") else "float32"
    where = {"device": device, "precision": precision}
    image_pt = TrainConfig(
        lr=0.1, weight_decay=5e-4, max_steps=40_000, schedule="cosine", warmup=500, record_every=200, **where
    )
    image_ft = TrainConfig(lr=1e-3, max_steps=20_000, stop_loss=0.01, record_every=200, **where)
    sums = {"modulus": 105, "pt_label": 15, "ft_label": 7, "n_ft": 2000}
    adam = {"optimizer": "adamw", "lr": 1e-3, "batch_size": 512, "max_steps": 20_000, "record_every": 200, **where}
    sgd = {"optimizer": "sgd", "lr": 0.05, "clip": 1.0, "batch_size": 512, "max_steps": 40_000, "record_every": 200}
    sgd |= where
    flow = {"loss": "mse", "momentum": 0.9, "batch_size": 65_536, "stop_loss": 1e-4, "device": device}
    teacher = {"dim": 100, "pt_features": 10, "ft_features": 10, "shared": 10, "n_pt": 20_000, "n_ft": 300}
    stage = TrainConfig(lr=0.02, max_steps=100_000, record_every=500, **flow)
    small = {"hidden": 1000, "c": 1e-3}
    return {
        "resnet": Experiment("resnet", {"width": 64, "norm": "batch"}, images, image_pt, image_ft),
        "resnet-plain": Experiment("resnet", {"width": 64, "norm": "none"}, images, image_pt, image_ft),
        "transformer": Experiment(
            "transformer", {"dim": 128, "heads": 4}, sums, TrainConfig(**adam), TrainConfig(**adam)
        ),
        "transformer-sgd": Experiment(
            "transformer", {"dim": 128, "heads": 4}, sums, TrainConfig(**sgd), TrainConfig(**sgd)
        ),
        "mlp": Experiment("mlp", {"activation": "relu", **small}, teacher, stage, stage),
        "mlp-linear": Experiment("mlp", {"activation": "linear", **small}, teacher, stage, stage),
    }
