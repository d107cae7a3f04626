"""From paired differences to one of three words.

A claim says in which direction a treatment moves a measure. Over seeds the difference (treatment minus control, same
seed) has a mean, a standard error and a paired t-test. With Holm's correction over all comparisons of a claim:

- **supported**: the mean has the claimed sign and the corrected p is below 0.05;
- **not supported**: the corrected p is below 0.05 with the opposite sign, or the 95 % interval of the difference
  excludes every effect of at least ``margin`` in the claimed direction;
- **undecided**: everything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from numerics.validate import as_array, check_number

__all__ = ["Comparison", "compare_paired", "holm"]


class Comparison(NamedTuple):
    """``effect`` is the mean difference, ``error`` its standard error, ``low`` and ``high`` its 95 % interval."""

    effect: float
    error: float
    low: float
    high: float
    p: float
    pairs: int
    direction: int
    margin: float

    def verdict(self, corrected_p: float) -> str:
        """The word, given the p-value after correction for all comparisons of the claim."""
        if corrected_p < 0.05:
            return "supported" if self.effect * self.direction > 0 else "not supported"
        best = self.high if self.direction > 0 else -self.low
        return "not supported" if best < self.margin else "undecided"


def compare_paired(treatment: object, control: object, direction: int = 1, margin: float = 0.01) -> Comparison:
    """Paired comparison of two arrays of shape (seeds,).

    Parameters
    ----------
    treatment, control : the measure for the same seeds, in the same order.
    direction : +1 when the claim says that the treatment is larger, -1 when smaller.
    margin : smallest effect worth the name, in the units of the measure.

    Raises
    ------
    TypeError, ValueError
        For shapes that differ, fewer than two pairs, entries that are not finite.
    """
    a, b = as_array("treatment", treatment, ndim=1), as_array("control", control, ndim=1)
    if a.shape != b.shape or len(a) < 2:
        raise ValueError(f"treatment has {len(a)} entries and control {len(b)}: they must be equal and at least 2")
    if direction not in (-1, 1):
        raise ValueError(f"direction = {direction!r} is not allowed: it must be 1 or -1")
    margin = check_number("margin", margin, 0.0)
    difference = a - b
    mean, error = float(difference.mean()), float(difference.std(ddof=1) / np.sqrt(len(a)))
    if error == 0.0:  # identical pairs: no evidence of anything, or a constant shift
        return Comparison(mean, 0.0, mean, mean, 1.0 if mean == 0.0 else 0.0, len(a), direction, margin)
    half = float(stats.t.ppf(0.975, len(a) - 1)) * error
    p = float(2 * stats.t.sf(abs(mean / error), len(a) - 1))
    return Comparison(mean, error, mean - half, mean + half, p, len(a), direction, margin)


def holm(p_values: Sequence[float]) -> np.ndarray:
    """Holm's step-down correction, in the order given; controls the chance of any false rejection."""
    p = as_array("p_values", p_values, ndim=1, low=0.0, high=1.0, allow_empty=True)
    order, corrected, running = np.argsort(p, kind="stable"), np.empty(len(p)), 0.0
    for rank, i in enumerate(order):
        running = max(running, min(1.0, (len(p) - rank) * p[i]))
        corrected[i] = running
    return corrected
