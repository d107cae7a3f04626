"""Theory against simulation: z-scores, chi-square, finite-size extrapolation, one sentence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2, norm, t

from numerics.validate import check_dataset, check_number

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True)
class Comparison:
    """What the simulation says about the theory; arrays over alpha (P,), or (sizes, P) for ``mean`` and ``error``.

    Attributes
    ----------
    alpha, theory : (P,) sample ratios and predicted mse.
    dims, seeds : (K,) dimensions simulated, ascending, and the number of seeds at each.
    mean, error : (K, P) mean mse over seeds and its standard error.
    value, value_error : (P,) what is compared: the mean (one dimension) or the intercept of ``value + slope / D``.
    slope : (P,) fitted finite-size coefficient, NaN with one dimension.
    z : (P,) standard scores; Student's t mapped to the normal, so few seeds do not look like outliers.
    chi_square : sum of z^2. p_value : probability of a larger one if the theory holds.
    fit_chi_square, fit_freedom : misfit of the 1/D lines and its degrees of freedom (0 with fewer than three sizes).
    """

    alpha: np.ndarray
    theory: np.ndarray
    dims: np.ndarray
    seeds: np.ndarray
    mean: np.ndarray
    error: np.ndarray
    value: np.ndarray
    value_error: np.ndarray
    slope: np.ndarray
    z: np.ndarray
    chi_square: float
    p_value: float
    fit_chi_square: float
    fit_freedom: int
    level: float

    @property
    def chi_square_per_point(self) -> float:
        """Chi-square divided by the number of alphas; 1 is expected."""
        return self.chi_square / len(self.z)

    @property
    def agrees(self) -> bool:
        """Whether the p-value is above the level asked for."""
        return self.p_value >= self.level

    @property
    def verdict(self) -> str:
        """One sentence."""
        sizes = ", ".join(str(d) for d in self.dims)
        how = f"D = {sizes}" if len(self.dims) == 1 else f"D -> infinity, from D = {sizes}"
        worst = int(np.argmax(np.abs(self.z)))
        return (
            f"Theory and simulation {'agree' if self.agrees else 'DISAGREE'} at {how}: chi-square "
            f"{self.chi_square_per_point:.2f} per point over {len(self.z)} points (p = {self.p_value:.2g}), "
            f"largest |z| = {abs(self.z[worst]):.2f} at alpha = {self.alpha[worst]:g}."
        )

    def rows(self) -> list[dict[str, float]]:
        """One dict for each alpha: alpha, theory, simulation, error, z."""
        columns = (self.alpha, self.theory, self.value, self.value_error, self.z)
        names = ("alpha", "theory", "simulation", "error", "z")
        return [dict(zip(names, map(float, row), strict=True)) for row in zip(*columns, strict=True)]

    def table(self) -> str:
        """The rows as text in Markdown."""
        lines = ["| alpha | theory | simulation | z |", "|---|---|---|---|"]
        for r in self.rows():
            found = f"{r['simulation']:.6g} ± {r['error']:.2g}"
            lines.append(f"| {r['alpha']:.4g} | {r['theory']:.6g} | {found} | {r['z']:+.2f} |")
        return "\n".join(lines)


def compare(theory: object, simulation: object, *, level: float = 1e-3) -> Comparison:
    """Compare predicted and simulated mse at every alpha of the simulation.

    Parameters
    ----------
    theory : Dataset with ``mse`` over ``alpha`` (:func:`generalization_curve`), containing every ratio simulated.
    simulation : Dataset of :func:`simulate`, or a sequence of them at different ``dim``: then ``mse = value + slope/D``
        is fitted at each alpha, and the intercepts are compared. The variance over seeds falls as 1/D, so the fit
        takes one ``D * variance`` from all sizes together: weights from the few seeds of each size alone would follow
        the accident that a low mean comes with a low variance.
    level : p-value below which the verdict is "disagree".

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        With fewer than two seeds, where ``n/D`` is not the ratio asked for (a rounded n is another point of the
        theory), or where the theory lacks a ratio.
    """
    level = check_number("level", level, 0.0, 1.0)
    check_dataset("theory", theory, "alpha", "mse")
    if not (hasattr(simulation, "data_vars") or isinstance(simulation, (list, tuple))):
        raise TypeError(f"simulation must be a Dataset or a list of them, got {simulation!r:.60}")
    runs = [simulation] if hasattr(simulation, "data_vars") else list(simulation)
    for run in runs:
        check_dataset("simulation", run, "alpha", "mse", "n")
    runs.sort(key=lambda run: run.attrs["dim"])
    if not runs:
        raise ValueError("simulation is empty: it must be a Dataset or a sequence of Datasets")
    alpha = runs[0]["alpha"].values
    for run in runs:
        _check_run(run, alpha)
    dims = np.array([run.attrs["dim"] for run in runs])
    if len(set(dims.tolist())) != len(dims):
        raise ValueError(f"simulation has dimensions {dims.tolist()}: each must be different (merge seeds first)")
    seeds = np.array([run.sizes["seed"] for run in runs])
    mean = np.array([run["mse"].mean("seed").values for run in runs])
    error = np.array([run["mse"].std("seed", ddof=1).values / np.sqrt(run.sizes["seed"]) for run in runs])
    predicted = _predictions(theory, alpha)
    if not np.all(error > 0.0):
        raise ValueError("simulation has no spread over seeds at some alpha: with a standard error of 0 there is no z")
    value, value_error, slope, misfit, freedom = _extrapolate(dims, seeds, mean, error)
    score = (value - predicted) / value_error
    # Student's t mapped to the normal; the smaller tail keeps its digits, and beyond them the score is far enough
    z = -np.sign(score) * norm.ppf(np.maximum(t.sf(np.abs(score), int(np.sum(seeds - 1))), 1e-300))
    total = float(np.sum(z**2))
    return Comparison(
        alpha, predicted, dims, seeds, mean, error, value, value_error, slope, z,
        total, float(chi2.sf(total, len(z))), misfit, freedom, level,
    )  # fmt: skip


def _check_run(run, alpha: np.ndarray) -> None:
    if run.sizes["seed"] < 2:
        raise ValueError(f"simulation has {run.sizes['seed']} seed: at least 2 are needed for a standard error")
    if run.sizes["alpha"] != len(alpha) or not np.allclose(run["alpha"].values, alpha, rtol=1e-9, atol=0.0):
        raise ValueError("the simulations to extrapolate from must have the same alpha at every dimension")
    actual = run["n"].values / run.attrs["dim"]
    off = np.abs(actual / alpha - 1.0)
    if off.max() > 1e-6:
        i = int(np.argmax(off))
        raise ValueError(
            f"alpha = {alpha[i]:g} at dim = {run.attrs['dim']} was simulated with n = {run['n'].values[i]}, that is "
            f"n/dim = {actual[i]:g}: choose alpha and dim with alpha*dim an integer"
        )


def _predictions(theory, alpha: np.ndarray) -> np.ndarray:
    known, mse = np.atleast_1d(theory["alpha"].values), np.atleast_1d(theory["mse"].values)
    nearest = np.argmin(np.abs(known[None, :] - alpha[:, None]), axis=1)
    missing = np.abs(known[nearest] - alpha) > 1e-6 * alpha
    if missing.any():
        raise ValueError(f"theory has no alpha = {alpha[missing][0]:g}: evaluate it at the simulation's alpha values")
    return mse[nearest]


def _extrapolate(dims, seeds, mean, error):
    """Intercept, its error and slope of ``value + slope / D`` at each alpha; misfit and its degrees of freedom."""
    if len(dims) == 1:
        return mean[0], error[0], np.full(mean.shape[1], np.nan), 0.0, 0
    count, freedom = seeds[:, None], (seeds - 1.0)[:, None]
    variance = np.sum(freedom * dims[:, None] * count * error**2, axis=0) / np.sum(freedom)  # of one seed, times D
    x, weight = (1.0 / dims)[:, None], dims[:, None] * count / variance
    s0, s1, s2 = (np.sum(weight * x**p, axis=0) for p in (0, 1, 2))
    m0, m1 = (np.sum(weight * x**p * mean, axis=0) for p in (0, 1))
    det = s0 * s2 - s1**2
    value, slope = (s2 * m0 - s1 * m1) / det, (s0 * m1 - s1 * m0) / det
    misfit = float(np.sum(weight * (mean - value - slope * x) ** 2))
    return value, np.sqrt(s2 / det), slope, misfit, (len(dims) - 2) * mean.shape[1]
