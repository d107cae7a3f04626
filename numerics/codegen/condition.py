"""Kernels of several results, whose error is bounded by their condition rather than by a number of ulp.

An exponential of -zeta^2/(2 V) magnifies the rounding of its exponent, and so does the rounding of its arguments: no
float64 code can do better than y + sum_i |x_i dy/dx_i| times one rounding.  The error is measured in that unit, against
the mpmath kernel at 50 digits, whose own differences give the condition.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import mpmath
import numpy as np

from numerics.codegen.accuracy import ROUNDINGS
from numerics.codegen.formulas import FORMULAS, formula
from numerics.codegen.kernel import kernel

__all__ = ["CONTRACT", "Conditioned", "condition_errors", "several", "typical"]

#: The largest error allowed, in roundings (2^-52) of the condition.
CONTRACT = ROUNDINGS
SIGNED = ("delta", "u0", "start", "pt_gap", "beta_pt")


@dataclass(frozen=True)
class Conditioned:
    """The largest error of a kernel in roundings of its condition, of which result and where."""

    kernel: str
    backend: str
    units: float
    result: str
    at: tuple[float, ...]
    points: int
    contract: float = CONTRACT

    @property
    def holds(self) -> bool:
        return self.units <= self.contract

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "BROKEN"
        what = f"{self.kernel} ({self.backend}, float64): {self.units:.2f} roundings of the condition"
        return f"{what} in {self.result} at {self.at}, {self.points} points, contract {self.contract:g} {verdict}"


def several() -> tuple[str, ...]:
    """The kernels with several results."""
    return tuple(name for name, row in FORMULAS.items() if row.outputs)


def typical(names: tuple[str, ...], count: int, seed: int = 0) -> np.ndarray:
    """Seeded points of shape (count, arguments) in the range where such a kernel is used: sizes from 1e-3 to 10."""
    rng = np.random.default_rng(seed)
    columns = []
    for name in names:
        column = np.exp(rng.uniform(np.log(1e-3), np.log(10.0), count))
        if name in SIGNED:
            column = 2.0 * rng.normal(size=count)
        elif name in ("lam", "pt_cov"):
            column = rng.uniform(-1.0, 1.0, count)
        columns.append(column)
    return np.stack(columns, axis=1)


def condition_errors(
    name: str, functions: dict[str, Callable], count: int = 100, seed: int = 0
) -> dict[str, Conditioned]:
    """Measure implementations (backend -> function of the arguments, returning a tuple) at `count` typical points.

    A result whose true value is not a normal number, or exactly zero, is left out at that point.
    """
    row = formula(name)
    oracle, results = kernel(name, "mpmath"), [result for result, _ in row.outputs]
    points = typical(tuple(row.arguments.values()), count, seed)
    true, unit = zip(*(_condition(oracle, point) for point in points.tolist()), strict=True)
    found = {}
    for backend, function in functions.items():
        computed = np.stack([np.broadcast_to(out, count) for out in function(*points.T.copy())], axis=1)
        worst = max(
            (_units(computed[i, j], true[i][j], unit[i][j]), i, j) for i in range(count) for j in range(len(results))
        )
        error, i, j = worst
        found[backend] = Conditioned(name, backend, error, results[j], tuple(points[i].tolist()), count)
    return found


def _condition(oracle: Callable, point: list[float]) -> tuple[tuple, list]:
    """(true values, |y| + sum_i |x_i dy/dx_i| for each), by one-sided differences at 50 digits."""
    true = oracle(*point)
    unit = [abs(y) for y in true]
    with mpmath.workdps(60):
        step = mpmath.mpf(10) ** -25
        for i, value in enumerate(point):
            moved = [*point[:i], mpmath.mpf(value) * (1 + step), *point[i + 1 :]]
            unit = [u + abs(after - y) / step for u, after, y in zip(unit, oracle(*moved), true, strict=True)]
    return true, unit


def _units(computed: float, true, unit) -> float:
    if not np.finfo(float).tiny <= abs(true) <= np.finfo(float).max:
        return 0.0
    error = float(abs(mpmath.mpf(float(computed)) - true) / unit) * 2.0**52
    return error if error == error else np.inf
