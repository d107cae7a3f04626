"""How a person's own kernel compares with mpmath at 50 digits, at points its symbols' assumptions allow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from numerics.codegen.oracle import mpmath_oracle

__all__ = ["Report", "measure_expression", "through_torch"]


def through_torch(function: Callable) -> Callable:
    """A torch kernel as a function of NumPy arrays."""
    import torch

    def call(*arrays):
        out = function(*[torch.from_numpy(np.ascontiguousarray(a)) for a in arrays])
        return tuple(part.numpy() for part in out) if isinstance(out, tuple) else out.numpy()

    return call


@dataclass(frozen=True)
class Report:
    """How a person's own kernel compares with mpmath at 50 digits."""

    ulp: float
    at: tuple[float, ...]
    points: int
    skipped: int

    def __str__(self) -> str:
        left_out = f" ({self.skipped} left out: not real, not finite or not normal there)" if self.skipped else ""
        if not self.points:
            return f"no point could be compared{left_out}"
        return f"largest error {self.ulp:.2f} ulp at {self.at}, over {self.points} seeded points{left_out}"


def measure_expression(kernel, count: int = 300, seed: int = 0) -> Report:
    """Measure a generated user kernel at seeded points that respect its symbols' assumptions."""
    symbols = list(kernel.passes.arguments)
    oracle = mpmath_oracle(kernel.formula, symbols)
    points = np.array([_sample(symbol, count, i + seed) for i, symbol in enumerate(symbols)]).T
    function = through_torch(kernel.function) if kernel.backend == "torch" else kernel.function
    errors, kept = [], []
    for point in points.tolist():
        try:
            true = oracle(*point)
            value = float(true)
            rest = float(true - value)
        except (ArithmeticError, ValueError, TypeError, OverflowError):  # undefined or complex there
            continue
        if np.finfo(float).tiny <= abs(value) <= np.finfo(float).max:
            mine = float(function(*point)) if kernel.backend == "mpmath" else float(function(*map(np.asarray, point)))
            errors.append(abs((mine - value) - rest) / np.spacing(abs(value)))
            kept.append(tuple(point))
    worst = int(np.argmax(errors)) if errors else 0
    return Report(errors[worst] if errors else 0.0, kept[worst] if kept else (), len(kept), count - len(kept))


def _sample(symbol, count: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    magnitude = np.exp(rng.uniform(np.log(1e-3), np.log(1e3), count))
    if symbol.is_integer:
        magnitude = np.ceil(magnitude)
    if symbol.is_nonnegative:
        return magnitude
    return -magnitude if symbol.is_nonpositive else magnitude * np.where(rng.random(count) < 0.5, -1.0, 1.0)
