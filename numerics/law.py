"""The joint law of one coordinate of (beta_PT, beta_FT) as a Gaussian mixture."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numerics.task import Task

__all__ = ["GROUPS", "Law", "conditional_law", "empirical_law", "group_probabilities", "slab_law"]

#: Names of the four kinds of dimension, by (active in pretraining, active in fine-tuning).
GROUPS = ("none", "new", "pt_only", "shared")


class Law(NamedTuple):
    """Joint law of one coordinate as a Gaussian mixture; every field has shape (atoms,).

    ``beta_PT ~ N(pt_mean, pt_var)`` and ``beta_FT | beta_PT ~ N(offset + slope * beta_PT, ft_var)`` with probability
    ``weight``; ``group`` indexes :data:`GROUPS`.
    """

    weight: np.ndarray
    pt_mean: np.ndarray
    pt_var: np.ndarray
    slope: np.ndarray
    offset: np.ndarray
    ft_var: np.ndarray
    group: np.ndarray

    @property
    def second_moment(self) -> float:
        """E beta_FT^2."""
        mean = self.offset + self.slope * self.pt_mean
        return float(np.sum(self.weight * (mean**2 + self.slope**2 * self.pt_var + self.ft_var)))

    @property
    def pt_second_moment(self) -> float:
        """E beta_PT^2."""
        return float(np.sum(self.weight * (self.pt_mean**2 + self.pt_var)))


def slab_law(task: Task) -> Law:
    """Mixture of the four groups; symmetric slabs give one atom a sign."""
    law = conditional_law(task)
    law = law._replace(weight=law.weight * group_probabilities(task)[0][law.group])
    keep = law.weight > 0.0
    return Law(*(field[keep] for field in law))


def conditional_law(task: Task) -> Law:
    """The four groups, each with weights that sum to one, whether or not the group has positive probability."""
    rows = [(1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0)]
    rows += [(p, 0.0, 0.0, 0.0, m, v, 1) for p, m, v in task.ft_slab.atoms()]
    for p, mean, var in task.pt_slab.atoms():
        rows.append((p, mean, var, 0.0, 0.0, 0.0, 2))
        rows += [(p * w, mean, var, *rest, 3) for w, *rest in _shared_atoms(task, mean)]
    return Law(*(np.array(column) for column in zip(*rows, strict=True)))


def group_probabilities(task: Task) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of :data:`GROUPS`, shape (4,), and derivatives in (rho_pt, rho_shared, rho_new), shape (3, 4)."""
    rho, shared, new = task.rho_pt, task.rho_shared, task.rho_new
    probability = np.array([(1.0 - rho) * (1.0 - new), (1.0 - rho) * new, rho * (1.0 - shared), rho * shared])
    slope = np.array(
        [
            [new - 1.0, -new, 1.0 - shared, shared],
            [0.0, 0.0, -rho, rho],
            [rho - 1.0, 1.0 - rho, 0.0, 0.0],
        ]
    )
    return probability, slope


def _shared_atoms(task: Task, pt_mean: float) -> list[tuple[float, float, float, float]]:
    """Rows (weight, slope, offset, ft_var) of beta_FT given beta_PT on a shared dimension."""
    q, slab = task.correlation, task.ft_slab
    if slab.kind == "gaussian":
        slope = q * slab.scale / abs(task.pt_slab.scale)
        return [(1.0, slope, 0.0, (1.0 - q * q) * slab.scale**2)]
    if slab.kind == "point" or q == 0.0:
        return [(p, 0.0, m, v) for p, m, v in slab.atoms()]
    sign = math.copysign(1.0, pt_mean)
    rows = [((1.0 + q) / 2.0, 0.0, sign * slab.scale, 0.0), ((1.0 - q) / 2.0, 0.0, -sign * slab.scale, 0.0)]
    return [row for row in rows if row[0] > 0.0]


def empirical_law(beta_pt: np.ndarray, beta_ft: np.ndarray) -> Law:
    """One atom for each distinct pair, up to the common sign (the theory is even in it)."""
    sign = np.where(beta_ft != 0.0, np.sign(beta_ft), np.where(beta_pt != 0.0, np.sign(beta_pt), 1.0))
    pairs, counts = np.unique(np.stack([sign * beta_pt + 0.0, sign * beta_ft + 0.0]), axis=1, return_counts=True)
    zero = np.zeros(pairs.shape[1])
    group = 2 * (pairs[0] != 0.0).astype(int) + (pairs[1] != 0.0).astype(int)
    return Law(counts / counts.sum(), pairs[0], zero, zero, pairs[1], zero, group)
