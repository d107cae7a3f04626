"""Experiments from a TOML file: what `ptft train` runs.

    seeds = [0, 1, 2]
    scale = "quick"         # whose settings fill the gaps: "quick" or "paper"
    [model]                 # arguments of the network
    width = 8
    [data]                  # arguments of load and two_stage, modular_stages or teacher_stages
    n_ft = 30
    download = true         # fetch cifar100 or svhn into `path`; without it nothing is downloaded
    [pretrain]              # fields of TrainConfig
    max_steps = 300
    [finetune]
    lr = 0.02
    [[variant]]             # one row of comparisons each; fields of Intervention, and a name
    name = "kappa .3"
    kappa = 0.3
    model = { balancedness = 0.3 }      # optional: arguments of the network for this variant alone

What a file leaves out comes from the preset of its kind (`numerics.networks.presets`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import NamedTuple

from numerics.networks.checks import check_experiment
from numerics.networks.downloads import DOWNLOADABLE
from numerics.networks.experiment import Experiment, Intervention
from numerics.networks.presets import preset
from numerics.networks.training import TrainConfig
from numerics.validate import check_count, check_flag

__all__ = ["Plan", "plan_from", "quick_plan", "read_plan"]

SECTIONS = ("seeds", "scale", "model", "data", "pretrain", "finetune", "variant")


class Plan(NamedTuple):
    """Variants (name, experiment) to be run for every seed, and the data sets (name, path) to be fetched before."""

    variants: list[tuple[str, Experiment]]
    seeds: list[int]
    downloads: tuple[tuple[str, str], ...] = ()


QUICK = {
    "resnet": [
        {"name": "pretrained"},
        {"name": "early scale x0.3", "kappa": 0.3, "variant": "affine", "earlier": ["norm", "blocks.0", "blocks.1"]},
        {"name": "gamma 10", "gamma": 10.0},
        {"name": "scratch", "scratch": True},
    ],
    "transformer": [
        {"name": f"kappa {kappa:g}{' scratch' if scratch else ''}", "scratch": scratch,
         "model": {"balancedness": kappa}}
        for kappa in (0.1, 1.0, 3.0) for scratch in (False, True)
    ],
    "mlp": [
        {"name": f"lam {lam:g}{' scratch' if scratch else ''}", "scratch": scratch, "gamma": 0.0, "model": {"lam": lam}}
        for lam in (-0.999, 0.0, 0.9) for scratch in (False, True)
    ],
}  # fmt: skip


def quick_plan(kind: str, seeds: int = 2, device: str | None = None) -> Plan:
    """The embedded comparison of a kind: under a minute for one seed on one core."""
    if kind not in QUICK:
        raise ValueError(f"kind = {kind!r} is not allowed: it must be one of {', '.join(QUICK)}")
    content = {"seeds": list(range(check_count("seeds", seeds))), "variant": QUICK[kind]}
    return plan_from(content, kind, device=device)


def read_plan(path: str | Path, kind: str, **options) -> Plan:
    """The plan in a TOML file; ``options`` as :func:`plan_from`.

    Raises
    ------
    FileNotFoundError, ValueError
        With the file's name and the entry that is wrong.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"--config {path}: there is no such file")
    try:
        return plan_from(tomllib.loads(path.read_text(encoding="utf-8")), kind, **options)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not a TOML file ({error})") from None
    except (ValueError, TypeError) as error:
        raise type(error)(f"{path}: {error}") from None


def plan_from(content: Mapping, kind: str, *, device: str | None = None, download: bool = False) -> Plan:
    """The plan that a parsed file describes; unknown entries are refused by name.

    ``device`` replaces that of both stages; ``download`` is the entry of that name in ``[data]``.
    """
    _known("the file", content, SECTIONS)
    data = _table(content, "data") | ({"download": True} if download else {})
    base = preset(kind, content.get("scale", "quick"), data.get("path"), device)
    where = {} if device is None else {"device": device}
    base = replace(
        base, model={**base.model, **_table(content, "model")}, data={**base.data, **data},
        pt=_stage(base.pt, content, "pretrain", where), ft=_stage(base.ft, content, "finetune", where),
    )  # fmt: skip
    rows = content.get("variant", [{"name": "pretrained"}, {"name": "scratch", "scratch": True}])
    if not isinstance(rows, list) or not rows or not all(isinstance(row, Mapping) for row in rows):
        raise ValueError("variant must be an array of tables: [[variant]]")
    names = [row.get("name", f"variant {i}") for i, row in enumerate(rows)]
    if len(set(names)) != len(names):
        raise ValueError(f"variant names must differ, got {', '.join(map(str, names))}")
    seeds = content.get("seeds", [0, 1, 2])
    if not isinstance(seeds, list) or not seeds or len(set(seeds)) != len(seeds):
        raise ValueError(f"seeds = {seeds!r} is not allowed: it must be a list of different integers")
    seeds = [check_count("seeds", s, 0) for s in seeds]
    variants, downloads = [], {}
    for name, row in zip(names, rows, strict=True):
        experiment, wanted = _without_download(_variant(base, row))
        check_experiment(experiment, [path for _, path in wanted])
        variants.append((str(name), experiment))
        downloads |= dict.fromkeys(wanted)
    return Plan(variants, seeds, tuple(downloads))


def _without_download(experiment: Experiment) -> tuple[Experiment, list[tuple[str, str]]]:
    """Where data came from is no part of an experiment: the entry goes, what it asks for is listed."""
    data = dict(experiment.data)
    if not check_flag("download", data.pop("download", False)):
        return replace(experiment, data=data), []
    places = [(data.get(f"{stage}name"), data.get(f"{stage}path")) for stage in ("", "ft_")]
    wanted = [(name, path) for name, path in places if name in DOWNLOADABLE]
    if not wanted:
        raise ValueError(f"download = true is not allowed: no stage has name {' or '.join(map(repr, DOWNLOADABLE))}")
    for name, path in wanted:
        if path is None:
            raise ValueError(f"name = {name!r} needs path: say where the download is to be")
    return replace(experiment, data=data), wanted


def _variant(base: Experiment, row: Mapping) -> Experiment:
    _known("[[variant]]", row, ("name", "model", "data", *(f.name for f in fields(Intervention))))
    options = {k: v for k, v in row.items() if k not in ("name", "model", "data")}
    return replace(
        base, model={**base.model, **_table(row, "model")}, data={**base.data, **_table(row, "data")},
        intervention=Intervention(**options),
    )  # fmt: skip


def _stage(base: TrainConfig, content: Mapping, name: str, over: Mapping) -> TrainConfig:
    options = _table(content, name)
    _known(f"[{name}]", options, tuple(f.name for f in fields(TrainConfig)))
    return replace(base, **{**options, **over})


def _table(content: Mapping, name: str) -> dict:
    table = content.get(name, {})
    if not isinstance(table, Mapping):
        raise ValueError(f"{name} must be a table: [{name}]")
    return dict(table)


def _known(where: str, table: Mapping, names: tuple[str, ...]) -> None:
    unknown = [k for k in table if k not in names]
    if unknown:
        raise ValueError(f"{where} has no entry {unknown[0]!r}; it may have {', '.join(names)}")
