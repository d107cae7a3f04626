"""One experiment: build a model, pretrain it, change its scales, fine-tune it, and measure what came out.

`run` gives one record (a flat dictionary, one row of a tidy table) for one seed; `ptft train` and the benchmarks loop
over it. Without pretraining (``scratch``) the same model at the same scales learns the fine-tuning task alone: the
control that every effect of scale has to be compared with.
"""

from __future__ import annotations

import copy
import json
import math
import zlib
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
import torch
from torch import nn

from numerics.networks import data as datasets
from numerics.networks.interventions import absolute_scale, refresh_statistics, reinitialise_readout, relative_scale
from numerics.networks.mlp import TwoLayer, teacher_pair
from numerics.networks.representation import cka, effective_number_of_shared_dimensions, participation_ratio
from numerics.networks.resnet import ResNet
from numerics.networks.training import FitReport, TrainConfig, evaluate, fit
from numerics.networks.transformer import Transformer
from numerics.task import Initialization
from numerics.validate import check_count, check_flag, check_number

__all__ = ["KINDS", "Experiment", "Intervention", "run"]

KINDS = ("resnet", "transformer", "mlp")
PROBE = 256  # inputs on which representations are compared


@dataclass(frozen=True)
class Intervention:
    """What happens between the stages (and to a fresh model when ``scratch``).

    Attributes
    ----------
    kappa : factor of the earlier layers. variant : "preserve" (the model's own output-preserving exponents), "plain"
        (``earlier`` alone) or "affine" (the normalisation layers inside ``earlier``).
    earlier : module names for "plain" and "affine". factor : every parameter times this. gamma : readout scale.
    scratch : no pretraining.
    """

    kappa: float = 1.0
    variant: str = "preserve"
    earlier: tuple[str, ...] = ()
    factor: float = 1.0
    gamma: float = 1.0
    scratch: bool = False

    def __post_init__(self) -> None:
        check_number("kappa", self.kappa, 1e-6, 1e6)
        check_number("factor", self.factor, 0.0, 1e6, open_low=True)
        check_number("gamma", self.gamma, 0.0, 1e6)
        if self.variant not in ("preserve", "plain", "affine"):
            raise ValueError(f"variant = {self.variant!r} is not allowed: it must be 'preserve', 'plain' or 'affine'")
        if self.variant != "preserve" and self.kappa != 1.0 and not self.earlier:
            raise ValueError(f"variant = {self.variant!r} needs earlier, the names of the layers to scale")
        if not isinstance(self.earlier, (list, tuple)) or not all(isinstance(name, str) for name in self.earlier):
            raise TypeError(f"earlier must be a list of names of layers, got {self.earlier!r:.60}")
        check_flag("scratch", self.scratch)
        object.__setattr__(self, "earlier", tuple(self.earlier))

    def apply(self, model: nn.Module, x: np.ndarray) -> None:
        """Scale the layers of ``model`` in place; the readout is drawn again by the caller.

        Batch norms behind scaled weights get their running statistics from ``x``, the pretraining inputs.
        """
        if self.kappa != 1.0:
            if self.variant == "preserve":
                relative_scale(model, self.kappa)
            else:
                through = "affine" if self.variant == "affine" else "weights"
                relative_scale(model, self.kappa, self.earlier, through=through)
        if self.factor != 1.0:
            absolute_scale(model, self.factor)
        if self.factor != 1.0 or self.kappa != 1.0:
            device = next(model.parameters()).device
            refresh_statistics(model, torch.as_tensor(x).to(device))


@dataclass(frozen=True)
class Experiment:
    """A model, its data, two training stages and what happens between them.

    ``model`` and ``data`` are keyword arguments: of :class:`ResNet`, :class:`Transformer` or :class:`TwoLayer`; and of
    ``load``/``two_stage``, ``modular_stages`` or :func:`teacher_stages`.
    """

    kind: str
    model: dict = field(default_factory=dict)
    data: dict = field(default_factory=dict)
    pt: TrainConfig = field(default_factory=TrainConfig)
    ft: TrainConfig = field(default_factory=TrainConfig)
    intervention: Intervention = field(default_factory=Intervention)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind = {self.kind!r} is not allowed: it must be one of {', '.join(KINDS)}")


def stages_of(experiment: Experiment, seed: int) -> datasets.TwoStage:
    """The arrays of both stages for one seed."""
    options = dict(experiment.data)
    if experiment.kind == "transformer":
        return datasets.modular_stages(seed=seed, **options)
    if experiment.kind == "mlp":
        return teacher_stages(seed=seed, activation=experiment.model.get("activation", "relu"), **options)
    source = datasets.load(options.pop("name", "digits"), options.pop("path", None), options.get("size"))
    name = options.pop("ft_name", None)
    other = datasets.load(name, options.pop("ft_path", None), options.get("size")) if name else None
    options.pop("size", None)
    return datasets.two_stage(source, seed, ft_data=other, **options)


def teacher_stages(
    seed: int,
    *,
    dim: int = 20,
    pt_features: int = 4,
    ft_features: int = 4,
    shared: int = 4,
    n_pt: int = 400,
    n_ft: int = 40,
    n_test: int = 1000,
    noise: float = 0.0,
    activation: str = "relu",
) -> datasets.TwoStage:
    """Teacher-student data of the two-layer networks: inputs N(0, 1), targets from :func:`teacher_pair`.

    ``classes`` of a stage is its number of outputs. ``noise`` is the variance of the label noise of both stages.
    """
    n_pt, n_ft, n_test = check_count("n_pt", n_pt), check_count("n_ft", n_ft), check_count("n_test", n_test, 2)
    dim, noise = check_count("dim", dim), check_number("noise", noise, 0.0)
    rng = np.random.default_rng([check_count("seed", seed, 0), 2604])
    pt, ft = teacher_pair(
        dim, rng, pt_features=pt_features, ft_features=ft_features, shared=shared, activation=activation
    )
    stages = []
    for teacher, n in ((pt, n_pt), (ft, n_ft)):
        x = rng.standard_normal((n + n_test, dim))
        y = teacher(x)
        scale = y[n:].std()
        y /= scale
        y[:n] += math.sqrt(noise) * rng.standard_normal((n, y.shape[1]))
        x, y = x.astype(np.float32), y.astype(np.float32)
        stages.append(datasets.Stage(x[:n], y[:n], x[n:], y[n:], y.shape[1]))
    return datasets.TwoStage(*stages)


def build(experiment: Experiment, stage: datasets.Stage, seed: int) -> nn.Module:
    """The model at its initial weights, which depend on (kind, model, seed) alone; torch's global state is put back."""
    options = dict(experiment.model)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(check_count("seed", seed, 0))
        if experiment.kind == "resnet":
            return ResNet(stage.classes, stage.x.shape[1], **options)
        if experiment.kind == "transformer":
            return Transformer(int(stage.x.max()) + 1, stage.classes, stage.x.shape[1], **options)
        init = Initialization(options.pop("c", 1.0), options.pop("lam", 0.0), options.pop("gamma", 0.0))
        return TwoLayer(stage.x.shape[1], outputs=stage.classes, init=init, **{"hidden": 100, **options})


def run(experiment: Experiment, seed: int, cache: str | Path | None = None, progress=None) -> dict:
    """Both stages for one seed, as one flat record.

    Parameters
    ----------
    experiment : what to do. seed : of data, weights and batches.
    cache : folder of checkpoints: a killed run resumes, and experiments that differ after pretraining share it.
    progress : called with (stage, step, max_steps, loss).

    Returns
    -------
    dict
        Settings; ``pt_*`` and ``ft_*`` (accuracy, loss, train_loss, steps, reason, seconds); and over the first 256
        fine-tuning test inputs, centred and ``_raw``: ``pr_before``, ``pr_after`` fine-tuning, ``ensd`` and ``cka``
        between them (for ``scratch``: between the pretrained model, if a cache has one, and the model trained alone).
    """
    stages = stages_of(experiment, seed)
    record = {"kind": experiment.kind, "seed": seed, **_flat(experiment)}
    pretrained, pt = _pretrain(experiment, stages.pt, seed, cache, progress)
    record |= _stage("pt", pt, pretrained, stages.pt, experiment.pt.loss)
    if experiment.intervention.scratch:
        model = build(experiment, stages.pt, seed + 10_000)
    else:
        model = copy.deepcopy(pretrained)
    experiment.intervention.apply(model, stages.pt.x)
    start_fine_tuning(model, experiment, stages.ft, seed)
    config = replace(experiment.ft, seed=seed)
    path = None if cache is None else Path(cache) / f"ft-{_key(experiment, seed)}.pt"
    report = fit(model, stages.ft.x, stages.ft.y, config, checkpoint=path, progress=_named(progress, "fine-tuning"))
    if path is not None:
        path.unlink(missing_ok=True)  # its result is the record
    record |= _stage("ft", report, model, stages.ft, experiment.ft.loss)
    return record | _representations(pretrained, model, stages.ft.x_test)


def start_fine_tuning(model: nn.Module, experiment: Experiment, stage: datasets.Stage, seed: int) -> None:
    """A readout of the right size at scale gamma; the two-layer networks balance their paths as the theory does."""
    generator = torch.Generator().manual_seed(seed + 777)
    gamma = experiment.intervention.gamma
    reinitialise_readout(model, gamma, outputs=stage.classes, generator=generator)
    if isinstance(model, TwoLayer):
        model.start_fine_tuning(gamma, generator)


def _pretrain(experiment, stage, seed, cache, progress) -> tuple[nn.Module, FitReport]:
    model, config = build(experiment, stage, seed), replace(experiment.pt, seed=seed)
    identity = json.dumps([experiment.kind, experiment.model, experiment.data, asdict(config), seed], sort_keys=True)
    if experiment.kind != "mlp":  # what fine-tuning will use does not matter here
        kept = {k: v for k, v in experiment.data.items() if not k.startswith(("ft_", "n_ft"))}
        identity = json.dumps([experiment.kind, experiment.model, kept, asdict(config), seed], sort_keys=True)
    path = None if cache is None else Path(cache) / f"pt-{zlib.crc32(identity.encode()):08x}.pt"
    return model, fit(model, stage.x, stage.y, config, checkpoint=path, progress=_named(progress, "pretraining"))


def _named(progress, stage: str):
    return None if progress is None else lambda *values: progress(stage, *values)


def _key(experiment: Experiment, seed: int) -> str:
    return f"{zlib.crc32(json.dumps([asdict(experiment), seed], sort_keys=True).encode()):08x}"


def _flat(experiment: Experiment) -> dict:
    """Settings as columns: model_*, data_*, and the intervention's own names."""
    flat = {f"model_{k}": v for k, v in experiment.model.items()} | {f"data_{k}": v for k, v in experiment.data.items()}
    flat |= asdict(experiment.intervention) | {"ft_optimizer": experiment.ft.optimizer}
    return {k: " ".join(map(str, v)) if isinstance(v, (list, tuple)) else v for k, v in flat.items()}


def _stage(name: str, report: FitReport, model: nn.Module, stage: datasets.Stage, loss: str) -> dict:
    test = evaluate(model, stage.x_test, stage.y_test, loss)
    return {
        f"{name}_accuracy": test["accuracy"], f"{name}_loss": test["loss"], f"{name}_train_loss": report.loss,
        f"{name}_steps": report.steps, f"{name}_reason": report.reason, f"{name}_seconds": round(report.seconds, 3),
    }  # fmt: skip


@torch.no_grad()
def _representations(before: nn.Module, after: nn.Module, x: np.ndarray) -> dict:
    """PR of both models, ENSD and CKA between them on the same inputs; NaN where features do not vary."""
    x = torch.as_tensor(x[:PROBE]).to(next(after.parameters()).device)
    a, b = before.features(x), after.features(x)
    record = {}
    for center, suffix in ((True, ""), (False, "_raw")):
        measures = {
            "pr_before": lambda c=center: participation_ratio(a, c),
            "pr_after": lambda c=center: participation_ratio(b, c),
            "ensd": lambda c=center: effective_number_of_shared_dimensions(a, b, c),
            "cka": lambda c=center: cka(a, b, c),
        }
        for name, measure in measures.items():
            try:
                record[name + suffix] = measure()
            except ValueError:  # dead or diverged features: there is no dimension to report
                record[name + suffix] = math.nan
    return record
