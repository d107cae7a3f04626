"""Measuring kernels against the truth, in units in the last place.

The error of a computed y is |y - true| divided by the spacing of doubles at the true value (`np.spacing`), wherever the true value is a
normal number; a true zero must be computed as zero, and a result that underflows or overflows must do so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from numerics.codegen.formulas import Formula, formula
from numerics.codegen.points import adversarial, seeded

__all__ = ["Measurement", "measure", "true_values", "ulp_errors"]


@dataclass(frozen=True)
class Measurement:
    """The largest error found, where, and over how many points with a normal result."""

    kernel: str
    backend: str
    dtype: str
    ulp: float
    at: tuple[float, ...]
    points: int
    contract: float

    @property
    def holds(self) -> bool:
        return self.ulp <= self.contract

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "BROKEN"
        return f"{self.kernel} ({self.backend}, {self.dtype}): {self.ulp:.2f} ulp at {self.at}, {self.points} points, contract {self.contract:g} {verdict}"


def true_values(row: Formula, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(value, rest): the true value at every point is value + rest, with value its nearest double, or NaN if undefined."""
    from numerics.codegen.oracle import ball_oracle, root_oracle
    from numerics.codegen.passes import compile_formula

    trace = compile_formula(row)
    expression = next(stage.expression for stage in reversed(trace.stages) if stage.name in ("derivative", "arguments"))
    oracle = (root_oracle if row.implicit else ball_oracle)(expression, list(trace.arguments))
    value, rest = np.empty(len(points)), np.zeros(len(points))
    for i, point in enumerate(points.tolist()):
        try:
            true = oracle(*point)
        except ArithmeticError:  # the printed formula is 0/0 there: a matter for the rows of special values
            value[i] = np.nan
            continue
        value[i] = float(true)
        if value[i] == 0.0 and true != 0:
            value[i] = math.ulp(0.0)  # not an exact zero
        elif math.isfinite(value[i]):
            rest[i] = float(true - value[i])
    return value, rest


def ulp_errors(computed: np.ndarray, value: np.ndarray, rest: np.ndarray, dtype: type = np.float64) -> np.ndarray:
    """Errors in ulp; 0 where the true result is not a normal number of that dtype and the computed one agrees with that."""
    info = np.finfo(dtype)
    size = np.abs(value)
    normal = (size >= info.tiny) & (size <= info.max)
    spacing = np.spacing(np.where(normal, size, 1.0).astype(dtype)).astype(float)
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs((computed.astype(float) - value) - rest) / spacing
    error = np.where(np.isnan(error), np.inf, error)
    # outside the normal range: below, within one subnormal step of the smallest normal; above, infinite or the largest number
    small = (size < info.tiny) & (np.abs(computed) <= info.tiny) & ((size > 0) | (computed == 0))
    large = (size > info.max) & (np.abs(computed) >= info.max)
    return np.where(normal, error, np.where(small | large, 0.0, np.inf))


def measure(
    name: str, function: Callable, backend: str = "numpy", count: int = 100_000, seed: int = 0, dtype: type = np.float64
) -> Measurement:
    """Measure a float64 or float32 implementation of the kernel `name` at `count` seeded points and the adversarial ones."""
    row = formula(name)
    names = tuple(row.arguments.values())
    points = np.concatenate([seeded(names, count, seed), adversarial(names)])
    if dtype is not np.float64:
        points = _representable(points, names, row.positive, dtype)
    value, rest = true_values(row, points)
    known = np.isfinite(value + rest) | np.isinf(value)
    points, value, rest = points[known], value[known], rest[known]
    with np.errstate(all="raise"):  # a kernel is silent on its whole domain
        computed = np.asarray(function(*points.T.astype(dtype)))
    errors = ulp_errors(computed, value, rest, dtype)
    worst = int(np.argmax(errors))
    counted = int(np.sum((np.abs(value) >= np.finfo(dtype).tiny) & np.isfinite(value)))
    return Measurement(
        name, backend, np.dtype(dtype).name, float(errors[worst]), tuple(points[worst]), counted, row.ulp
    )


def _representable(points: np.ndarray, names: tuple[str, ...], positive: tuple[str, ...], dtype: type) -> np.ndarray:
    """The points that survive rounding to the dtype inside the domain."""
    with np.errstate(over="ignore", under="ignore"):
        points = points.astype(dtype).astype(float)
    keep = np.isfinite(points).all(axis=1)
    for i, name in enumerate(names):
        if name in positive:
            keep &= points[:, i] > 0
    return points[keep]
