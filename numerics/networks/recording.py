"""Outputs of the layers of two checkpoints on one batch, and how far apart they are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import nn

from numerics.networks.representation import cka, effective_number_of_shared_dimensions, participation_ratio
from numerics.networks.weights import Weights

__all__ = ["compare_features", "layer_names"]


def layer_names(network: nn.Module, layers: Sequence[str] | None) -> list[str]:
    """The modules to look at: those asked for, or all that have parameters of their own."""
    modules = dict(network.named_modules())
    if layers is None:
        return [n for n, m in modules.items() if n and any(True for _ in m.parameters(recurse=False))]
    unknown = [n for n in layers if n not in modules]
    if unknown:
        raise ValueError(f"layers: {', '.join(unknown)} not in {type(network).__name__}")
    return list(layers)


def compare_features(
    network: nn.Module, old: Weights, new: Weights, batch: object, names: list[str], center: bool
) -> tuple[dict[str, dict[str, float]], list[str]]:
    """Rows of measures by layer, in the order of the forward pass, and notes on layers that could not be compared.

    From the first layer whose weights are not in both files on, nothing downstream is comparable. The network's own
    weights, statistics and modes are put back.
    """
    kept = {k: v.clone() for k, v in network.state_dict().items()}
    modes = {m: m.training for m in network.modules()}
    try:
        lost = _load(network, old) | _load(network, new)
        network.load_state_dict(kept)
        _load(network, old)
        first = _record(network, batch, names)
        network.load_state_dict(kept)
        _load(network, new)
        second = _record(network, batch, names)
    finally:
        network.load_state_dict(kept)
        for module, mode in modes.items():
            module.training = mode
    rows, notes = {}, []
    for name, a in first.items():
        if lost and any(p == name or p.startswith(f"{name}.") for p in lost):
            notes.append(f"features from {name} on are not compared: {', '.join(sorted(lost)[:3])} not in both files")
            break
        rows[name] = _feature_row(a, second[name], center)
    return rows, notes


def _load(network: nn.Module, weights: Weights) -> set[str]:
    """Copy in what fits, tensor by tensor; returns the names of the model's tensors that found nothing."""
    own = network.state_dict()
    fitting = {n for n in own if n in weights and weights.shape(n) == tuple(own[n].shape)}
    if not fitting:
        raise ValueError(f"{weights.source}: none of its tensors fits {type(network).__name__} by name and shape")
    with torch.no_grad():
        for name in fitting:
            own[name].copy_(weights[name])
    return {n for n in own if n not in fitting and not n.endswith("num_batches_tracked")}


@torch.no_grad()
def _record(network: nn.Module, batch: object, names: list[str]) -> dict[str, np.ndarray]:
    """Outputs of the named modules (their first call), in the order of the forward pass."""
    seen: dict[str, np.ndarray] = {}

    def keep(name):
        def hook(module, args, output):
            output = output[0] if isinstance(output, (tuple, list)) else output
            if name not in seen and isinstance(output, torch.Tensor) and output.is_floating_point():
                seen[name] = output.reshape(len(output), -1).double().cpu().numpy()

        return hook

    handles = [network.get_submodule(name).register_forward_hook(keep(name)) for name in names]
    try:
        network.eval()
        if isinstance(batch, Mapping):
            network(**{k: _tensor(v) for k, v in batch.items()})
        else:
            network(*map(_tensor, batch if isinstance(batch, tuple) else (batch,)))
    finally:
        for handle in handles:
            handle.remove()
    return seen


def _tensor(value: object) -> object:
    if isinstance(value, (np.ndarray, list)):
        value = torch.as_tensor(np.asarray(value))
    return value.float() if isinstance(value, torch.Tensor) and value.dtype == torch.float64 else value


def _feature_row(a: np.ndarray, b: np.ndarray, center: bool) -> dict[str, float]:
    size = np.linalg.norm(a)
    row = {"feature_drift": float(np.linalg.norm(b - a) / size) if size > 0.0 else math.nan}
    measures = {
        "pr_before": lambda: participation_ratio(a, center), "pr_after": lambda: participation_ratio(b, center),
        "ensd": lambda: effective_number_of_shared_dimensions(a, b, center), "cka": lambda: cka(a, b, center),
    }  # fmt: skip
    for name, measure in measures.items():
        try:
            row[name] = measure()
        except ValueError:  # constant or broken features have no dimension
            row[name] = math.nan
    return row
