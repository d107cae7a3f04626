"""What fine-tuning changed: two checkpoints of one architecture, compared layer by layer.

Weights: ``drift = ||after - before|| / ||before||``, the cosine between the two and the scale (root mean square).
Features, on a batch that neither run was trained on: the same drift, participation ratios, ENSD and CKA
(`numerics.networks.representation`). The signature of rich, pretraining-dependent fine-tuning is PR that falls while
ENSD with the state before stays high; lazy fine-tuning leaves PR, ENSD and CKA where they were.
"""

from __future__ import annotations

import importlib
import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from torch import nn

from numerics.networks.representation import cka, effective_number_of_shared_dimensions, participation_ratio
from numerics.networks.weights import Weights, open_weights
from numerics.validate import check_flag

__all__ = ["Drift", "drift", "import_factory"]

FEATURES = ("feature_drift", "pr_before", "pr_after", "ensd", "cka")


@dataclass(frozen=True)
class Drift:
    """The comparison.

    Attributes
    ----------
    table : one row a layer, in the order of the forward pass (of the file, without a model): ``weight_drift``,
        ``weight_cosine``, ``scale_before``, ``scale_after``; with a batch also ``feature_drift``, ``pr_before``,
        ``pr_after``, ``ensd``, ``cka``. NaN where a layer has no weights or its features do not vary.
    early_late_before, early_late_after : geometric mean of the scales of the first half of the weight tensors (two
        axes or more) over that of the second half: the relative scale of earlier layers.
    notes : what could not be compared, in sentences.
    """

    table: pd.DataFrame
    early_late_before: float
    early_late_after: float
    notes: tuple[str, ...]

    def __str__(self) -> str:
        lines = [self.table.to_string(float_format=lambda v: f"{v:.4g}"), ""]
        lines.append(f"early/late scale ratio: {self.early_late_before:.4g} before, {self.early_late_after:.4g} after")
        return "\n".join([*lines, *self.notes])

    def plot(self, path: object = None):
        """One figure (written to ``path`` if given, and returned): drift, dimensions and alignment by layer."""
        from numerics.networks.figures import drift_figure

        return drift_figure(self, path)


def drift(
    model: object, before: object, after: object, batch: object = None, *, layers: Sequence[str] | None = None,
    center: bool = True,
) -> Drift:  # fmt: skip
    """Compare two checkpoints of one architecture.

    Parameters
    ----------
    model : a module (its weights are put back afterwards), a function that builds one, the import path
        ``"package.module:function"`` of such a function, or None for weights alone.
    before, after : files (.safetensors, .pt, .pth, .bin, .ckpt: read lazily, never unpickled), folders of safetensors
        shards, state dictionaries, or modules.
    batch : what the model is called with: an array or tensor, a tuple (positional) or a mapping (keywords); the first
        axis runs over inputs. Not needed without a model.
    layers : names of modules whose outputs are compared; default: every module that has parameters of its own.
    center : remove each unit's mean before PR, ENSD and CKA.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError, ImportError
        With a sentence: checkpoints that share no tensor, a model that does not fit them, a batch without a model.
    """
    center = check_flag("center", center)
    old, new = open_weights(before, "before"), open_weights(after, "after")
    weights, notes = _weight_rows(old, new)
    if model is None:
        if batch is not None or layers is not None:
            raise ValueError("batch and layers need a model to run: give a module or a function that builds one")
        return Drift(_by_layer(weights, list(weights)), *_early_late(weights), tuple(notes))
    if batch is None:
        raise ValueError("batch must be given with a model: without it there are no features to compare")
    network = _build(model)
    names = _layers(network, layers)
    features, left_out = _compare_features(network, old, new, batch, names, center)
    notes += left_out
    table = _by_layer(weights, list(weights)).join(pd.DataFrame.from_dict(features, orient="index"), how="outer")
    order = [*features, *(n for n in _by_layer(weights, list(weights)).index if n not in features)]
    table = table.reindex(order).reindex(columns=[*WEIGHTS, *FEATURES])
    table.index.name = "layer"
    return Drift(table, *_early_late(weights), tuple(notes))


WEIGHTS = ("weight_drift", "weight_cosine", "scale_before", "scale_after")


def _weight_rows(old: Weights, new: Weights) -> tuple[dict[str, dict[str, float]], list[str]]:
    """Sums of squares of every floating tensor that both have, by name; and notes on the others."""
    rows, notes = {}, []
    shared = [n for n in old if n in new]
    other = [n for n in shared if old.shape(n) != new.shape(n)]
    for words, names in (
        (f"only in {old.source}", [n for n in old if n not in new]),
        (f"only in {new.source}", [n for n in new if n not in old]),
        ("of different shapes", other),
    ):
        if names:
            notes.append(f"{len(names)} tensors {words}: {', '.join(names[:5])}{', ...' if len(names) > 5 else ''}")
    for name in shared:
        if name in other:
            continue
        a = old[name]
        if not a.is_floating_point():
            continue
        a, b = a.double(), new[name].double()
        rows[name] = {
            "aa": float((a * a).sum()), "bb": float((b * b).sum()), "ab": float((a * b).sum()),
            "dd": float(((b - a) ** 2).sum()), "n": a.numel(), "axes": a.ndim,
        }  # fmt: skip
        if not math.isfinite(rows[name]["aa"] + rows[name]["bb"]):
            notes.append(f"{name} holds NaN or infinities")
    if not rows:
        raise ValueError(f"{old.source} and {new.source} share no floating-point tensor of equal name and shape")
    return rows, notes


def _is_running(name: str) -> bool:
    return name.endswith(("running_mean", "running_var", "num_batches_tracked"))


def _by_layer(rows: Mapping[str, Mapping[str, float]], names: list[str]) -> pd.DataFrame:
    """Sums over the parameters of each layer, as drift, cosine and root mean squares; running statistics stay out."""
    table = {}
    for name in names:
        if _is_running(name):
            continue
        layer = name.rpartition(".")[0] or name
        total = table.setdefault(layer, dict.fromkeys(("aa", "bb", "ab", "dd", "n"), 0.0))
        for key in total:
            total[key] += rows[name][key]
    frame = pd.DataFrame.from_dict({layer: _measures(total) for layer, total in table.items()}, orient="index")
    frame.index.name = "layer"
    return frame.reindex(columns=list(WEIGHTS))


def _measures(t: Mapping[str, float]) -> dict[str, float]:
    size = math.sqrt(t["aa"] * t["bb"])
    return {
        "weight_drift": math.sqrt(t["dd"] / t["aa"]) if t["aa"] > 0.0 else math.nan,
        "weight_cosine": t["ab"] / size if size > 0.0 else math.nan,
        "scale_before": math.sqrt(t["aa"] / t["n"]) if t["n"] else math.nan,
        "scale_after": math.sqrt(t["bb"] / t["n"]) if t["n"] else math.nan,
    }


def _early_late(rows: Mapping[str, Mapping[str, float]]) -> tuple[float, float]:
    matrices = [r for n, r in rows.items() if r["axes"] >= 2 and r["aa"] > 0 and r["bb"] > 0 and not _is_running(n)]
    half = len(matrices) // 2
    if half == 0:
        return math.nan, math.nan
    ratios = []
    for key in ("aa", "bb"):
        scale = np.log([r[key] / r["n"] for r in matrices]) / 2
        ratios.append(float(np.exp(scale[:half].mean() - scale[-half:].mean())))
    return ratios[0], ratios[1]


def import_factory(path: str) -> Callable[[], nn.Module]:
    """The function at ``"package.module:function"``; the current folder counts as importable."""
    module, _, function = path.partition(":")
    if not module or not function:
        raise ValueError(f"model = {path!r} is not allowed: it must read package.module:function")
    here, added = os.getcwd(), False
    if here not in sys.path and "" not in sys.path:
        sys.path.insert(0, here)
        added = True
    try:
        found = getattr(importlib.import_module(module), function, None)
    except ModuleNotFoundError as error:
        raise ImportError(f"model = {path!r} must name an importable function: {error}") from None
    finally:
        if added:
            sys.path.remove(here)
    if not callable(found):
        raise ValueError(f"model = {path!r}: {module} has no function {function!r}")
    return found


def _build(model: object) -> nn.Module:
    if isinstance(model, str):
        model = import_factory(model)
    built = model if isinstance(model, nn.Module) else model() if callable(model) else model
    if not isinstance(built, nn.Module):
        raise TypeError(f"model must be a module or a function that builds one, got {type(built).__name__}")
    return built


def _layers(network: nn.Module, layers: Sequence[str] | None) -> list[str]:
    modules = dict(network.named_modules())
    if layers is None:
        return [n for n, m in modules.items() if n and any(True for _ in m.parameters(recurse=False))]
    unknown = [n for n in layers if n not in modules]
    if unknown:
        raise ValueError(f"layers: {', '.join(unknown)} not in {type(network).__name__}")
    return list(layers)


def _compare_features(network, old, new, batch, names, center) -> tuple[dict[str, dict[str, float]], list[str]]:
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
