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
from torch import nn

from numerics.networks.recording import compare_features, layer_names
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
    names = layer_names(network, layers)
    features, left_out = compare_features(network, old, new, batch, names, center)
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
