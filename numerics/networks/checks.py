"""Refusing an experiment before its first step: names, types and ranges of everything that a file may set."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from numerics.networks import data as datasets
from numerics.networks.experiment import Experiment, build, stages_of, teacher_stages
from numerics.networks.mlp import TwoLayer
from numerics.networks.resnet import ResNet
from numerics.networks.transformer import Transformer

__all__ = ["check_experiment"]

FOUND = {  # what data or seed decide, and no file
    "resnet": (ResNet, ("self", "classes", "channels"), ()),
    "transformer": (Transformer, ("self", "tokens", "classes", "length"), ()),
    "mlp": (TwoLayer, ("self", "dim", "outputs", "init"), ("c", "lam", "gamma")),
}
IMAGES = ("name", "path", "size", "ft_name", "ft_path")


def check_experiment(experiment: Experiment, coming: Iterable[str] = ()) -> None:
    """Build the model of an experiment and change its scales; make its data unless they are files.

    ``coming`` : paths that will be there when it runs.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        For entries of ``model`` or ``data`` that do not exist, have a wrong type or are out of range.
    """
    kind, (model, hidden, more) = experiment.kind, FOUND[experiment.kind]
    _known("[model]", experiment.model, [*_names(model.__init__, hidden), *more])
    sources = {
        "resnet": [*IMAGES, *_names(datasets.two_stage, ("data", "seed", "ft_data"))],
        "transformer": _names(datasets.modular_stages, ("seed",)),
        "mlp": _names(teacher_stages, ("seed", "activation")),
    }
    _known("[data]", experiment.data, sources[kind])
    _files(experiment.data, set(map(str, coming)))
    stage = stages_of(experiment, 0).pt if kind != "resnet" or _embedded(experiment) else _image()
    experiment.intervention.apply(build(experiment, stage, 0), stage.x[:2])
    for name in ("pt", "ft"):
        config = getattr(experiment, name)
        allowed = "mse" if kind == "mlp" else "cross_entropy"
        if config.loss != allowed:
            raise ValueError(f"loss = {config.loss!r} is not allowed with this data: it must be {allowed!r}")


def _embedded(experiment: Experiment) -> bool:
    return all(experiment.data.get(key, "digits") == "digits" for key in ("name", "ft_name"))


def _image() -> datasets.Stage:
    """Stands for images in files, which are not read here."""
    x, y = np.zeros((2, 3, 32, 32), dtype=np.float32), np.zeros(2, dtype=np.int64)
    return datasets.Stage(x, y, x, y, 2)


def _files(data: dict, coming: set[str]) -> None:
    for key in ("name", "ft_name"):
        if key in data and data[key] not in datasets.SOURCES:
            raise ValueError(f"{key} = {data[key]!r} is not allowed: it must be one of {', '.join(datasets.SOURCES)}")
    for key in ("path", "ft_path"):
        if data.get(key) is not None and not isinstance(data[key], (str, Path)):
            raise TypeError(f"{key} must be text, got {data[key]!r:.60} of type {type(data[key]).__name__}")
        if data.get(key) is not None and str(data[key]) not in coming and not Path(data[key]).exists():
            raise FileNotFoundError(f"{key} = {data[key]!r}: there is no such file or folder")


def _names(function: object, hidden: tuple[str, ...]) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name not in hidden]


def _known(where: str, table: dict, names: list[str]) -> None:
    unknown = [k for k in table if k not in names]
    if unknown:
        raise ValueError(f"{where} has no entry {unknown[0]!r}; it may have {', '.join(names)}")
