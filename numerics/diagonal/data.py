"""The data of one cell (seed, alpha) of a simulation: teachers and samples of both stages.

Each cell owns a `SeedSequence` made of the seed, the bits of alpha and the dimension, so what is drawn depends neither
on the order of the cells nor on which others are asked for; initialisation and method do not enter, so two
initialisations of one cell see the same data (paired comparisons come for free).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from numerics.task import Task

__all__ = ["Cell", "Design", "draw"]


@dataclass(frozen=True)
class Design:
    """Sizes and noise of both stages; ``n_pt`` is None for oracle pretraining. Noises are variances."""

    dim: int
    n: int
    n_pt: int | None = None
    noise: float = 0.0
    noise_pt: float = 0.0


@dataclass(frozen=True)
class Cell:
    """Teachers (D,), designs (n, D) with N(0, 1/D) entries and targets (n,); PT data are None for the oracle."""

    beta_pt: np.ndarray
    beta_ft: np.ndarray
    X: np.ndarray
    y: np.ndarray
    X_pt: np.ndarray | None
    y_pt: np.ndarray | None


def draw(task: Task, seed: int, alpha: float, design: Design) -> Cell:
    """Draw the cell; teacher, pretraining data and fine-tuning data have separate streams (THEORY sections 1 and 5)."""
    bits = struct.unpack("<Q", struct.pack("<d", alpha))[0]
    streams = [np.random.default_rng(s) for s in np.random.SeedSequence([seed, bits, design.dim]).spawn(3)]
    beta_pt, beta_ft = task.sample(design.dim, streams[0])
    X, y = _samples(beta_ft, design.n, design.noise, streams[1])
    if design.n_pt is None:
        return Cell(beta_pt, beta_ft, X, y, None, None)
    return Cell(beta_pt, beta_ft, X, y, *_samples(beta_pt, design.n_pt, design.noise_pt, streams[2]))


def _samples(beta: np.ndarray, n: int, noise: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = rng.standard_normal((n, len(beta))) / np.sqrt(len(beta))
    return X, X @ beta + np.sqrt(noise) * rng.standard_normal(n)
