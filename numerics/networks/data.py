"""Data sets by name or by path, as arrays; deterministic splits and the two-stage tasks made from them.

Embedded: ``digits`` (scikit-learn, 8x8) and generated modular arithmetic. A person's own: CIFAR-100 and SVHN in the
formats their authors publish, a folder of images with one subfolder a class, an ``.npz``. Nothing is downloaded unless
``download=True`` asks for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from numerics.networks.downloads import DOWNLOADABLE, fetch, place_of
from numerics.networks.formats import read_cifar100, read_folder, read_npz, read_svhn
from numerics.validate import check_count, check_flag, check_path

__all__ = ["Dataset", "Stage", "TwoStage", "load", "modular", "modular_stages", "select", "split", "two_stage"]


SOURCES = ("digits", "cifar100", "svhn", "npz", "folder")


class Dataset(NamedTuple):
    """``x`` (n, channels, height, width) float32 in [0, 1], or (n, tokens) int64; ``y`` (n,) int64; class names."""

    x: np.ndarray
    y: np.ndarray
    classes: tuple[str, ...]


class Stage(NamedTuple):
    """Training and test arrays of one stage; labels run from 0 to ``classes - 1``."""

    x: np.ndarray
    y: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray
    classes: int


class TwoStage(NamedTuple):
    """A pretraining and a fine-tuning stage over inputs of the same shape."""

    pt: Stage
    ft: Stage


def load(
    name: str, path: str | Path | None = None, size: int | None = None, *, download: bool = False
) -> Dataset:
    """A data set by name.

    Parameters
    ----------
    name : "digits", "cifar100", "svhn", "folder" or "npz".
    path : file or folder of everything but "digits": ``cifar-100-python`` or its ``train``/``test`` file; a
        ``*_32x32.mat``; a folder with a subfolder for each class; an ``.npz`` with ``x`` and ``y``. For the first two
        also the folder that holds them.
    size : height and width for "folder", to which its images are resized (default 32).
    download : fetch "cifar100" or "svhn" into ``path`` with torchvision (extra ``vision``) if it is not there.

    Raises
    ------
    ValueError
        For unknown names and for files that are not what the name says.
    FileNotFoundError, ImportError
        With a sentence, when a file or an extra is missing.
    """
    download = check_flag("download", download)
    readers = {"cifar100": read_cifar100, "svhn": read_svhn, "npz": read_npz}
    if name == "digits" and not download:
        return _digits()
    if download and name not in DOWNLOADABLE:
        raise ValueError(f"name = {name!r} is not allowed with download: it must be one of {', '.join(DOWNLOADABLE)}")
    if name not in SOURCES:
        raise ValueError(f"name = {name!r} is not allowed: it must be one of {', '.join(SOURCES)}")
    if path is None:
        words = "say where it is to be" if download else "nothing is downloaded, say where your copy is"
        raise ValueError(f"name = {name!r} needs path: {words}")
    check_path("path", path)
    path = fetch(name, path) if download else place_of(name, path)
    if not path.exists():
        raise FileNotFoundError(f"{name}: there is no {path}")
    x, y, classes = (
        read_folder(path, check_count("size", 32 if size is None else size))
        if name == "folder"
        else (readers[name](path))
    )
    return Dataset(_unit_images(x), np.asarray(y, dtype=np.int64), tuple(classes))


def _unit_images(x: np.ndarray) -> np.ndarray:
    x = np.asarray(x)
    return x.astype(np.float32) / np.float32(255) if x.dtype == np.uint8 else x.astype(np.float32)


def _digits() -> Dataset:
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise ImportError("digits needs scikit-learn: pip install 'ptft-sym[data]'") from None
    x, y = load_digits(return_X_y=True)
    return Dataset((x / 16).astype(np.float32).reshape(-1, 1, 8, 8), y.astype(np.int64), tuple("0123456789"))


def select(data: Dataset, classes: Iterable[int | str]) -> Dataset:
    """The rows of some classes (by index or name), relabelled 0, 1, ... in the order given."""
    if not isinstance(classes, Iterable):
        raise TypeError(f"classes must be a list of names or indices, got {classes!r:.60}")
    wanted = [data.classes.index(c) if isinstance(c, str) and c in data.classes else c for c in classes]
    bad = [c for c in wanted if not isinstance(c, (int, np.integer)) or not 0 <= c < len(data.classes)]
    if bad or not wanted or len(set(wanted)) != len(wanted):
        raise ValueError(f"classes = {wanted!r:.80} is not allowed: it must name some of the data's classes, each once")
    place = np.full(len(data.classes), -1)
    place[wanted] = np.arange(len(wanted))
    keep = place[data.y] >= 0
    return Dataset(data.x[keep], place[data.y[keep]], tuple(data.classes[c] for c in wanted))


def split(y: np.ndarray, train: int | float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices of a stratified training set and of the rest; the same on every machine for the same seed.

    Parameters
    ----------
    y : (n,) labels. train : number of training rows, or their share in (0, 1). seed : non-negative integer.

    Every class gets its share of ``train``, rounded so that the sum is right and each class has at least one row where
    ``train`` allows it.

    Raises
    ------
    ValueError
        When ``train`` leaves nothing to train or to test on.
    """
    y = np.asarray(y)
    number = round(train * len(y)) if isinstance(train, float) else check_count("train", train)
    if not 1 <= number < len(y):
        raise ValueError(f"train = {train} is not allowed: it must leave 1 to {len(y) - 1} of the {len(y)} rows")
    rng = np.random.default_rng([check_count("seed", seed, 0), 2602])
    labels, counts = np.unique(y, return_counts=True)
    share = counts * number / len(y)
    quota = np.maximum(np.floor(share).astype(int), 1) if number >= len(labels) else np.floor(share).astype(int)
    order = rng.permutation(len(labels))  # ties between equal remainders are broken by the seed
    while quota.sum() != number:
        gap = (share - quota)[order]
        step = 1 if quota.sum() < number else -1
        quota[order[np.argmax(step * gap)]] += step
    rows = [rng.permutation(np.flatnonzero(y == label))[:q] for label, q in zip(labels, quota, strict=True)]
    chosen = rng.permutation(np.concatenate(rows))
    return chosen, np.setdiff1d(np.arange(len(y)), chosen)


def two_stage(
    data: Dataset,
    seed: int,
    *,
    ft_data: Dataset | None = None,
    pt_classes: Sequence[int | str] | None = None,
    ft_classes: Sequence[int | str] | None = None,
    ft_labels: str = "classes",
    n_pt: int | float = 0.5,
    n_ft: int | float = 0.1,
) -> TwoStage:
    """Pretraining on some classes; fine-tuning on a subset, on others, on new labels, or on another data set.

    Rows are first divided in halves, so that no image is seen in both stages. Inputs are standardised with the mean and
    deviation of the pretraining rows, for all rows.

    Parameters
    ----------
    data : of pretraining, and of fine-tuning unless ``ft_data`` is given (images of the same shape).
    pt_classes, ft_classes : names or indices; default all.
    ft_labels : "classes", or "parity" (the index of the class modulo 2: the same images under new labels).
    n_pt, n_ft : training rows (or their share) of each stage; what is left of the stage's rows tests it.
    """
    if ft_labels not in ("classes", "parity"):
        raise ValueError(f"ft_labels = {ft_labels!r} is not allowed: it must be 'classes' or 'parity'")
    first, second = _halves(data, seed)
    second = second if ft_data is None else ft_data
    if second.x.shape[1:] != data.x.shape[1:]:
        raise ValueError(f"inputs have shapes {data.x.shape[1:]} and {second.x.shape[1:]}: both stages need the same")
    pt = select(first, pt_classes if pt_classes is not None else range(len(first.classes)))
    ft = select(second, ft_classes if ft_classes is not None else range(len(second.classes)))
    labels, count = (ft.y % 2, 2) if ft_labels == "parity" else (ft.y, len(ft.classes))
    train, test = split(pt.y, n_pt, seed)
    axes = (0, *range(2, pt.x.ndim))  # one mean and deviation a channel
    mean = pt.x[train].mean(axis=axes, keepdims=True)
    std = pt.x[train].std(axis=axes, keepdims=True)
    if not (std > 0).all():
        raise ValueError("a channel of the pretraining images is constant: there is nothing to standardise by")
    stage_pt = Stage(*_standard(pt.x, pt.y, train, test, mean, std), len(pt.classes))
    train, test = split(labels if ft_labels == "parity" else ft.y, n_ft, seed)
    return TwoStage(stage_pt, Stage(*_standard(ft.x, labels, train, test, mean, std), count))


def _halves(data: Dataset, seed: int) -> tuple[Dataset, Dataset]:
    first, second = split(data.y, 0.5, seed)
    return tuple(Dataset(data.x[rows], data.y[rows], data.classes) for rows in (first, second))


def _standard(x, y, train, test, mean, std):
    scaled = (x - mean) / std
    return scaled[train], y[train], scaled[test], y[test]


def modular(modulus: int, label: int) -> Dataset:
    """All pairs (a, b) of Z_N as tokens ``a b =`` (the sign is token N); the label is ``(a + b) mod label``.

    Raises
    ------
    ValueError
        Unless ``label`` divides ``modulus``: only then is the label a function of a + b in Z_N.
    """
    modulus, label = check_count("modulus", modulus, 2), check_count("label", label, 2)
    if modulus % label:
        raise ValueError(f"label = {label} is not allowed: it must divide modulus = {modulus}")
    a, b = (g.ravel() for g in np.meshgrid(np.arange(modulus), np.arange(modulus), indexing="ij"))
    x = np.stack([a, b, np.full_like(a, modulus)], axis=1).astype(np.int64)
    return Dataset(x, ((a + b) % label).astype(np.int64), tuple(map(str, range(label))))


def modular_stages(modulus: int, pt_label: int, ft_label: int, n_ft: int, seed: int, test: float = 0.25) -> TwoStage:
    """Pretraining on ``(a+b) mod pt_label`` and fine-tuning on ``mod ft_label``; the test pairs are in neither.

    Pretraining uses every pair outside the test set, fine-tuning ``n_ft`` of them.
    """
    pt, ft = modular(modulus, pt_label), modular(modulus, ft_label)
    # Stratified over all residues, so that the test set does not depend on which labels are asked for.
    keep, out = split((pt.x[:, 0] + pt.x[:, 1]) % modulus, 1.0 - test, seed)
    if not 1 <= check_count("n_ft", n_ft) <= len(keep):
        raise ValueError(f"n_ft = {n_ft} is not allowed: it must be in [1, {len(keep)}]")
    few = np.random.default_rng([seed, 2603]).permutation(keep)[:n_ft]
    return TwoStage(
        Stage(pt.x[keep], pt.y[keep], pt.x[out], pt.y[out], pt_label),
        Stage(ft.x[few], ft.y[few], ft.x[out], ft.y[out], ft_label),
    )
