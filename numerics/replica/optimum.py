"""The initialisation that minimises the predicted error: a coarse grid, then descent with exact derivatives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from numerics.regimes import Nearness, classify
from numerics.replica.batch import predict
from numerics.replica.curves import generalization_curve
from numerics.replica.saddle_point import ConvergenceError
from numerics.task import Initialization, Task
from numerics.validate import check_count, check_number

__all__ = ["DEFAULT_BOUNDS", "Optimum", "optimal_initialization"]

#: Search ranges; lam = -1 itself would need gamma > 0.
DEFAULT_BOUNDS = {"c": (1e-6, 1e3), "lam": (-1.0 + 1e-9, 1.0), "gamma": (0.0, 1e3)}
_WIDEST = {"c": (1e-12, 1e12), "lam": (-1.0 + 1e-12, 1.0), "gamma": (0.0, 1e6)}
#: gamma is searched on a logarithmic scale from here up; below, it acts like zero for every c in the default range.
_GAMMA_FLOOR = 1e-6
#: The optimum is a statement about regimes, so only what is close counts as in one.
_NEAR = Nearness(0.1, 0.1, 0.1, 0.1)
_GRID = {"c": 7, "lam": 13, "gamma": 5}


@dataclass(frozen=True)
class Optimum:
    """Result of :func:`optimal_initialization`.

    init, mse : the best initialisation and its predicted error.
    regime, ell_order, pd : where its learned solution lies, with 0.1 as near enough to a regime in either metric.
    active : bounds that the optimum sits on, e.g. ``{"lam": "upper"}``.
    gradient : derivative of log(mse) in each searched parameter at the optimum (0 inside the bounds).
    evaluations : number of curve points computed.
    message : one sentence.
    """

    init: Initialization
    mse: float
    regime: str
    ell_order: float
    pd: float
    active: dict[str, str]
    gradient: dict[str, float]
    evaluations: int
    message: str


def optimal_initialization(
    task: Task,
    alpha: float,
    c: float | None = None,
    lam: float | None = None,
    gamma: float | None = None,
    *,
    bounds: dict[str, tuple[float, float]] | None = None,
    alpha_pt: float | None = None,
    noise: float = 0.0,
    noise_pt: float = 0.0,
    ridge: float = 0.0,
    starts: int = 4,
) -> Optimum:
    """Minimise the predicted fine-tuning error over (c, lam, gamma); what is given stays fixed.

    Parameters
    ----------
    task : Task
    alpha : float
        Fine-tuning samples per dimension.
    c, lam, gamma : float, optional
        Fixed values.
    bounds : dict, optional
        ``{"lam": (low, high), ...}``, inside c in [1e-12, 1e12], lam in [-1+1e-12, 1], gamma in [0, 1e6].
    alpha_pt, noise, noise_pt, ridge
        As in :func:`~numerics.replica.curves.generalization_curve`.
    starts : int
        Local searches, from the best points of a coarse grid that are not neighbours of each other.

    Returns
    -------
    Optimum

    Raises
    ------
    TypeError, ValueError
        For arguments out of range, or nothing left to search.
    ConvergenceError
        If no point of the grid can be predicted.

    Source: claims C8-C11 (THEORY section 8); gradient from derivation ``sensitivity``.
    """
    if not isinstance(task, Task):
        raise TypeError(f"task must be a Task, got {task!r:.60} of type {type(task).__name__}")
    alpha = check_number("alpha", alpha, 1e-4, 1e6)
    starts = check_count("starts", starts, 1, 64)
    fixed = {name: value for name, value in (("c", c), ("lam", lam), ("gamma", gamma)) if value is not None}
    ranges = _ranges(fixed, bounds)
    noise, ridge = check_number("noise", noise, 0.0, 1e12), check_number("ridge", ridge, 0.0, 1e12)
    problem = {"alpha_pt": alpha_pt, "noise": noise, "noise_pt": noise_pt, "ridge": ridge}
    search = _Search(task, alpha, fixed, ranges, problem)
    best = min((search.descend(start) for start in search.seeds(starts)), key=lambda result: result[0])
    return search.report(best[1])


def _ranges(fixed, bounds) -> dict[str, tuple[float, float]]:
    if not isinstance(bounds, (dict, type(None))):
        raise TypeError(f"bounds must map names to (low, high), got {bounds!r:.60} of type {type(bounds).__name__}")
    given = dict(bounds or {})
    for name in given:
        if name not in DEFAULT_BOUNDS:
            raise ValueError(f"bounds has no parameter {name!r}: it must be among {', '.join(DEFAULT_BOUNDS)}")
    ranges = {}
    for name in DEFAULT_BOUNDS:
        if name in fixed:
            # an Initialization is the validator of single values; a harmless partner keeps it about this one
            Initialization(**({"c": 1.0, "lam": 0.0, "gamma": 1.0} | {name: fixed[name]}))
            continue
        pair = given.get(name, DEFAULT_BOUNDS[name])
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ValueError(f"bounds[{name!r}] = {pair!r:.60} is not allowed: it must be a pair (low, high)")
        low, high = pair
        low = check_number(f"bounds[{name!r}][0]", low, *_WIDEST[name])
        high = check_number(f"bounds[{name!r}][1]", high, low, _WIDEST[name][1], open_low=True)
        ranges[name] = (low, high)
    if not ranges:
        raise ValueError("c, lam and gamma are all fixed: leave at least one of them free")
    return ranges


class _Search:
    """Coordinates of the search are log c, log(1 + lam) and log(gamma + floor): the scales on which c_FT changes."""

    def __init__(self, task, alpha, fixed, ranges, problem):
        self.task, self.alpha, self.fixed, self.ranges, self.problem = task, alpha, fixed, ranges, problem
        self.names = list(ranges)
        self.box = [tuple(float(self._inward(n, v)) for v in ranges[n]) for n in self.names]
        self.evaluations = 0

    @staticmethod
    def _inward(name, value):
        return np.log({"c": value, "lam": 1.0 + value, "gamma": value + _GAMMA_FLOOR}[name])

    def _outward(self, name, coordinate):
        value = np.exp(coordinate) - {"c": 0.0, "lam": 1.0, "gamma": _GAMMA_FLOOR}[name]
        return np.clip(value, *self.ranges[name])

    def _values(self, point) -> dict[str, float]:
        """Parameters at a point; exactly a bound where the coordinate is at it."""
        values = dict(self.fixed)
        for name, x, (low, high) in zip(self.names, point, self.box, strict=True):
            edge = {low: 0, high: 1}.get(float(x))
            values[name] = float(self._outward(name, x)) if edge is None else self.ranges[name][edge]
        return values

    def seeds(self, starts: int) -> list[np.ndarray]:
        """Best grid points that are no neighbours."""
        axes = [np.linspace(*box, _GRID[name]) for name, box in zip(self.names, self.box, strict=True)]
        grid = np.stack([m.ravel() for m in np.meshgrid(*axes, indexing="ij")], axis=-1)
        values = {n: self._outward(n, grid[:, i]) for i, n in enumerate(self.names)}
        c, lam, gamma = (values.get(n, self.fixed.get(n)) for n in ("c", "lam", "gamma"))
        batch = predict(self.task, c, lam, gamma, np.full(len(grid), self.alpha), observables=False, **self.problem)
        self.evaluations += len(grid)
        mse = np.where(np.isfinite(batch.mse), batch.mse, np.inf)
        if not np.isfinite(mse).any():
            raise ConvergenceError(str(batch.message[0]), batch.s2, batch.g, batch.residual, np.arange(len(grid)))
        cell = np.array([axis[1] - axis[0] for axis in axes])
        chosen: list[np.ndarray] = []
        for index in np.argsort(mse, kind="stable"):
            far = all((np.abs(grid[index] - other) > 1.5 * cell).any() for other in chosen)
            if np.isfinite(mse[index]) and far:
                chosen.append(grid[index])
            if len(chosen) == starts:
                break
        return chosen

    def objective(self, point) -> tuple[float, np.ndarray]:
        """log(mse) and its gradient in the search coordinates."""
        values = self._values(point)
        ds = generalization_curve(self.task, Initialization(**values), self.alpha, sensitivities=True, **self.problem)
        self.evaluations += 1
        mse = max(float(ds.mse[0]), 1e-300)
        outward = {"c": values["c"], "lam": 1.0 + values["lam"], "gamma": values["gamma"] + _GAMMA_FLOOR}
        return np.log(mse), np.array([float(ds[f"d_mse_d_{n}"][0]) * outward[n] / mse for n in self.names])

    def descend(self, start) -> tuple[float, np.ndarray]:
        """Local search; a trial point that cannot be predicted ends it at the best point so far."""
        from scipy.optimize import minimize

        seen: list[tuple[float, np.ndarray]] = []

        def tracked(point):
            value, gradient = self.objective(point)
            seen.append((value, point.copy()))
            return value, gradient

        try:
            minimize(
                tracked, start, jac=True, method="L-BFGS-B", bounds=self.box,
                options={"maxiter": 60, "ftol": 1e-13, "gtol": 1e-9},
            )  # fmt: skip
        except ConvergenceError:
            if not seen:
                raise
        return min(seen, key=lambda pair: pair[0])

    def report(self, point) -> Optimum:
        """Everything a person wants to know of the optimum."""
        value, gradient = self.objective(point)
        init = Initialization(**self._values(point))
        ds = generalization_curve(self.task, init, self.alpha, **self.problem)
        active = {}
        for name, x, (low, high) in zip(self.names, point, self.box, strict=True):
            if min(x - low, high - x) <= 1e-9 * max(1.0, abs(low), abs(high)):
                active[name] = "lower" if x - low < high - x else "upper"
        ell_order, pd = float(ds.ell_order[0]), float(ds.pd[0])
        regime = str(classify(ell_order, pd, _NEAR))
        edges = ", ".join(f"{name} at its {side} bound" for name, side in active.items())
        found = ", ".join(f"{name} = {getattr(init, name):.6g}" for name in self.names)
        return Optimum(
            init=init,
            mse=float(ds.mse[0]),
            regime=regime,
            ell_order=ell_order,
            pd=pd,
            active=active,
            gradient={name: float(v) for name, v in zip(self.names, gradient, strict=True)},
            evaluations=self.evaluations,
            message=f"{found} gives mse {np.exp(value):.6g}; l-order {ell_order:.3f}, PD {pd:.3f}: regime {regime}"
            + (f"; {edges}" if edges else ""),
        )
