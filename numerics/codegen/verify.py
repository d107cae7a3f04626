"""Measuring kernels against the truth, in units in the last place.

The error of a computed y is |y - true| divided by the spacing of doubles at the true value (`np.spacing`), wherever
the true value is a
normal number; a true zero must be computed as zero, and a result that underflows or overflows must do so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from numerics.codegen.compile_c import compiler
from numerics.codegen.formulas import FORMULAS, Formula, formula
from numerics.codegen.kernel import kernel
from numerics.codegen.oracle import ball_oracle, root_oracle
from numerics.codegen.passes import compile_formula
from numerics.codegen.points import adversarial, seeded
from numerics.codegen.report import through_torch

__all__ = [
    "AGREEMENT",
    "Measurement",
    "Opinion",
    "Truth",
    "compare",
    "implementations",
    "measurable",
    "measure",
    "second_opinion",
    "true_values",
    "truth",
    "ulp_errors",
    "unavailable",
]


#: Two oracles that differ by more than this, relative to the value, do not compute the same thing.
AGREEMENT = 1e-25


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
        what = f"{self.kernel} ({self.backend}, {self.dtype}): {self.ulp:.2f} ulp at {self.at}"
        return f"{what}, {self.points} points, contract {self.contract:g} {verdict}"


def true_values(row: Formula, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(value, rest): the true value at every point is value + rest, with value its nearest double, or NaN if
    undefined.
    """
    oracle = _oracle(row)
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


def _oracle(row: Formula) -> Callable:
    """Ball arithmetic where python-flint is installed; the mpmath kernel, a hundred times slower, elsewhere."""
    trace = compile_formula(row)
    try:
        return (root_oracle if row.implicit else ball_oracle)(trace.formula, list(trace.arguments))
    except ImportError:
        return kernel(row.name, "mpmath")


@dataclass(frozen=True)
class Opinion:
    """How far the true values and the mpmath kernel are apart at most, relative to the value."""

    kernel: str
    backend: str
    difference: float
    points: int
    contract: float = AGREEMENT

    @property
    def holds(self) -> bool:
        return self.difference <= self.contract

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "BROKEN"
        apart = f"the true values and the mpmath kernel are {self.difference:.1e} apart at most"
        return f"{self.kernel} ({self.backend}): {apart}, {self.points} points, contract {self.contract:g} {verdict}"


def second_opinion(true: Truth, count: int = 8) -> Opinion:
    """Compare the true values with the mpmath kernel, at up to `count` of the points whose value is so far from the
    smallest doubles that value + rest holds it to 27 digits.
    """
    oracle = kernel(true.row.name, "mpmath")
    usual = np.flatnonzero((np.abs(true.value) > 1e-270) & np.isfinite(true.value))
    chosen = usual[np.linspace(0, len(usual) - 1, min(count, len(usual))).astype(int)]
    worst = 0.0
    for i in chosen:
        exact = oracle(*true.points[i].tolist())
        worst = max(worst, float(abs((exact - true.value[i]) - true.rest[i]) / abs(exact)))
    return Opinion(true.row.name, "mpmath", worst, len(chosen))


def ulp_errors(computed: np.ndarray, value: np.ndarray, rest: np.ndarray, dtype: type = np.float64) -> np.ndarray:
    """Errors in ulp; 0 where the true result is not a normal number of that dtype and the computed one agrees with
    that.
    """
    info = np.finfo(dtype)
    size = np.abs(value)
    normal = (size >= info.tiny) & (size <= info.max)
    spacing = np.spacing(np.where(normal, size, 1.0).astype(dtype)).astype(float)
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs((computed.astype(float) - value) - rest) / spacing
    error = np.where(np.isnan(error), np.inf, error)
    # outside the normal range: below, within one subnormal step of the smallest normal; above, infinite or the
    # largest number
    small = (size < info.tiny) & (np.abs(computed) <= info.tiny) & ((size > 0) | (computed == 0))
    large = (size > info.max) & (np.abs(computed) >= info.max)
    return np.where(normal, error, np.where(small | large, 0.0, np.inf))


def measure(
    name: str,
    function: Callable,
    backend: str = "numpy",
    count: int = 100_000,
    seed: int = 0,
    dtype: type = np.float64,
    extreme: int = 5_000,
) -> Measurement:
    """Measure a float64 or float32 implementation of the kernel `name` at `count` seeded points and the adversarial
    ones.
    """
    return compare({backend: function}, truth(name, count, seed, dtype, extreme))[backend]


@dataclass(frozen=True)
class Truth:
    """Points and true values of a kernel: what any number of implementations are compared with."""

    row: Formula
    points: np.ndarray
    value: np.ndarray
    rest: np.ndarray
    dtype: type


def truth(name: str, count: int = 100_000, seed: int = 0, dtype: type = np.float64, extreme: int = 5_000) -> Truth:
    """True values of the kernel `name` at `count` seeded and up to `extreme` adversarial points that the dtype can
    hold.
    """
    row = formula(name)
    names = tuple(row.arguments.values())
    points = np.concatenate([seeded(names, count, seed), adversarial(names, extreme)])
    if dtype is not np.float64:
        points = _representable(points, names, row.positive, dtype)
    value, rest = true_values(row, points)
    known = np.isfinite(value + rest) | np.isinf(value)
    return Truth(row, points[known], value[known], rest[known], dtype)


def compare(functions: dict[str, Callable], true: Truth) -> dict[str, Measurement]:
    """One measurement for every function (backend -> function of the kernel's arguments)."""
    counted = int(np.sum((np.abs(true.value) >= np.finfo(true.dtype).tiny) & np.isfinite(true.value)))
    found = {}
    for backend, function in functions.items():
        with np.errstate(all="raise"):  # a kernel is silent on its whole domain
            computed = np.asarray(function(*np.ascontiguousarray(true.points.T.astype(true.dtype))))
        errors = ulp_errors(computed, true.value, true.rest, true.dtype)
        worst = int(np.argmax(errors))
        at = tuple(true.points[worst].tolist())
        dtype = np.dtype(true.dtype).name
        found[backend] = Measurement(true.row.name, backend, dtype, float(errors[worst]), at, counted, true.row.ulp)
    return found


def unavailable() -> dict[str, str]:
    """Backends that cannot run on this machine, and why."""
    missing = {} if find_spec("torch") else {"torch": "PyTorch is not installed"}
    return missing if compiler() else missing | {"c": "there is no C compiler"}


def implementations(name: str, backends: tuple[str, ...] | None = None) -> dict[str, Callable]:
    """The kernel on each array backend it has (torch through tensors), as functions of NumPy arrays.

    Without `backends` those that cannot run here are left out.
    """
    allowed = backends or [b for b in formula(name).backends if b not in unavailable()]
    wanted = [b for b in formula(name).backends if b != "mpmath" and b in allowed]
    return {b: through_torch(kernel(name, b)) if b == "torch" else kernel(name, b) for b in wanted}


def measurable() -> tuple[str, ...]:
    """The kernels with a contract in ulp over their whole domain (one output, elementwise)."""
    return tuple(name for name, row in FORMULAS.items() if not row.outputs and row.measured)


def _representable(points: np.ndarray, names: tuple[str, ...], positive: tuple[str, ...], dtype: type) -> np.ndarray:
    """The points that survive rounding to the dtype inside the domain."""
    with np.errstate(over="ignore", under="ignore"):
        points = points.astype(dtype).astype(float)
    keep = np.isfinite(points).all(axis=1)
    for i, name in enumerate(names):
        if name in positive:
            keep &= points[:, i] > 0
    return points[keep]
