"""The ruler: l-order and pretraining dependence of a trained network, from how it fine-tunes on small probes.

What a probe identifies follows from the flow of a diagonal network on one example with loads ``a``: the learned values
are ``beta_d = c_d sinh(2 a_d nu)`` with one number nu (THEORY sections 2 and 7; evaluated by the kernel ``dual_map``),
for any loss and any stopping time.

- Loading probe: equal loads, so ``beta_i / beta_j = c_i / c_j``. Between strengths B_i and B_j this gives the slope
  ``S = d log c_FT / d log beta_PT``.
- Recruitment probe: equal c, loads a_1 > a_2. The weaker feature's share of ``beta_1 + beta_2`` falls from
  ``a_2/(a_1 + a_2)`` (lazy: allocation follows the loads) to 0 (rich: the winner takes all) as c falls, and so
  determines c; the kernel ``ell_order`` then gives the l-order at the amplitude asked for.
- ``PD = (1 - l-order) S`` (THEORY section 4).

For other networks the two numbers are those of the diagonal network that allocates in the same way: an operational
definition, stated as such. It presupposes that the two features share the target between them. Where the responses to
the parts do not add up to the response to the whole (``additivity``), or where the division depends on the strengths as
in no diagonal network (``slope``), the outcome is "uncertain".

Probes may be noisy: shares are pooled over probes, and intervals are bootstrap percentiles over probes of each family,
expanded as Student's t expands a normal interval for so few (Hesterberg 2015).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from numerics import kernels
from numerics.networks.probes import Probe, Tunable
from numerics.regimes import UNCERTAIN, Nearness, classify, explain
from numerics.validate import check_count, check_number

__all__ = ["BiasEstimate", "estimate_bias"]

GRID = 400  # scales tried between LOW and HIGH, in units of the amplitude; interpolated between
LOW, HIGH = 1e-12, 1e4
ADDITIVE = (0.4, 1.25)  # outside, the features do not share the target between them
SLOPES = (-0.25, 1.25)  # an interval wholly outside: no diagonal network divides the target like this
AGREEING = 0.8  # share of the resamples that must be in the regime reported


@dataclass(frozen=True)
class BiasEstimate:
    """Estimates with intervals.

    Attributes
    ----------
    ell_order, pd : point estimates. ell_order_interval, pd_interval : (low, high) at ``level``.
    c_ft, sensitivity : the effective scale (units of the outputs) and S behind them; c_ft is at the end of its range
        where ``saturated`` says so.
    slope, slope_interval : S before it is limited to [0, 1], where that of every diagonal network lies.
    regime : by the rule of :func:`numerics.regimes.classify` "I", "II", "III" or "IV", or "uncertain": between two of
        them, intervals too wide, resamples that disagree, or features that do not share the target.
    saturated : "lazy" (the weaker feature received its full share or more), "rich" (nothing) or "".
    additivity : what the two features explain of the response to the probes themselves; 1 when they share it fully,
        less when other features took part, more when the network's response is not a sum over features.
    allocation : (probes, 2) what each feature received. level : of the intervals. message : one sentence.
    """

    ell_order: float
    pd: float
    ell_order_interval: tuple[float, float]
    pd_interval: tuple[float, float]
    c_ft: float
    sensitivity: float
    slope: float
    slope_interval: tuple[float, float]
    regime: str
    saturated: str
    additivity: float
    allocation: np.ndarray
    level: float
    message: str


def estimate_bias(
    model: Tunable,
    probes: Sequence[Probe],
    *,
    amplitude: float = 1.0,
    level: float = 0.95,
    bootstrap: int = 2000,
    width: float = 0.3,
    near: Nearness | None = None,
    seed: int = 0,
) -> BiasEstimate:
    """Fine-tune a copy of ``model`` on every probe and read (l-order, PD) off the allocations.

    Parameters
    ----------
    model : anything with ``finetune(x, y)`` (see :class:`numerics.networks.probes.Tunable`):
        :class:`~numerics.networks.probes.DiagonalModel`, or a torch module wrapped in
        :class:`numerics.networks.tuner.NetworkTuner`.
    probes : at least three of each family.
    amplitude : abs(beta_FT) at which the l-order is stated (it falls with the amplitude).
    level, bootstrap, seed : of the intervals.
    width : intervals wider than this make the outcome "uncertain".
    near : how near the limits counts as a regime (default: as for :func:`numerics.regimes.regime`).

    Raises
    ------
    TypeError, ValueError
        For arguments out of range, too few probes, or allocations that are not finite.

    Source: module docstring; validated in tests and docs/networks.md on diagonal networks in all four regimes.
    """
    amplitude = check_number("amplitude", amplitude, 0.0, open_low=True)
    level = check_number("level", level, 0.0, 1.0, open_low=True, open_high=True)
    width, bootstrap = check_number("width", width, 0.0, 2.0, open_low=True), check_count("bootstrap", bootstrap, 100)
    if near is not None and not isinstance(near, Nearness):
        raise TypeError(f"near must be a Nearness, got {near!r:.60} of type {type(near).__name__}")
    if not callable(getattr(model, "finetune", None)):
        raise TypeError(f"model must have a method finetune(x, y), got {model!r:.60} of type {type(model).__name__}")
    if not isinstance(probes, (list, tuple)) or not all(isinstance(probe, Probe) for probe in probes):
        raise TypeError(f"probes must be a list of Probe, got {probes!r:.60} of type {type(probes).__name__}")
    probes = list(probes)
    families = {kind: [i for i, p in enumerate(probes) if p.kind == kind] for kind in ("loading", "recruitment")}
    for kind, found in families.items():
        if len(found) < 3:
            raise ValueError(f"probes holds {len(found)} of kind {kind!r}: at least 3 are needed for an interval")
    allocation, whole = _respond(model, probes)
    additivity = float(np.sum(allocation * [p.load for p in probes]) / np.sum(whole))
    rng = np.random.default_rng([check_count("seed", seed, 0), 2606])
    draws = {kind: _resample(len(rows), bootstrap, rng) for kind, rows in families.items()}
    scale, curve = _predicted_shares([probes[i] for i in families["recruitment"]], allocation[families["recruitment"]])
    c = _solve_scale(scale, curve, allocation[families["recruitment"]], draws["recruitment"])
    slope = _slopes([probes[i] for i in families["loading"]], allocation[families["loading"]], draws["loading"])
    order = kernels.ell_order(np.full_like(c, amplitude), c)
    dependence = (1.0 - order) * np.clip(slope, 0.0, 1.0)
    few = min(len(rows) for rows in families.values())
    return _summary(order, dependence, c, slope, scale, allocation, additivity, level, width, near, few)


def _respond(model: Tunable, probes: Sequence[Probe]) -> tuple[np.ndarray, np.ndarray]:
    """Responses of the fine-tuned models, signed as the target: (probes, 2) to each feature, (probes,) to x."""
    rows, whole = [], []
    for i, probe in enumerate(probes):
        change = model.finetune(probe.x, probe.y)
        response, own = probe.responses(change), np.asarray(change(probe.x), dtype=float).reshape(-1)
        if response.shape != (2,) or not (np.isfinite(response).all() and np.isfinite(own).all()):
            raise ValueError(f"probe {i}: fine-tuning gave responses {response!r:.60}, two finite numbers are needed")
        rows.append(response)
        whole.append(float(np.mean(own * np.sign(probe.y))))
    if not np.sum(whole) > 0.0:
        raise ValueError("the probes' own inputs received nothing after fine-tuning: was the model trained?")
    return np.array(rows), np.array(whole)


def _resample(n: int, times: int, rng: np.random.Generator) -> np.ndarray:
    """(times + 1, n) multiplicities; the first row is the sample itself."""
    counts = rng.multinomial(n, np.full(n, 1.0 / n), size=times)
    return np.vstack([np.ones((1, n), dtype=counts.dtype), counts]).astype(float)


def _predicted_shares(probes: Sequence[Probe], allocation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scales (GRID,) and, for each probe, what its second feature would receive of the observed total at each scale.

    The learned pair is ``dual_map(a_1 t, c), dual_map(a_2 t, c)`` with t fixed by the sum. The sum grows with t, so
    bisection between 0 and the t at which the first feature alone has the whole total always works.
    """
    total = np.maximum(allocation.sum(axis=1), 0.0)[:, None]
    size = float(total.mean())
    if not size > 0.0:
        raise ValueError("the two features together received nothing in the recruitment probes: was the model trained?")
    scale = size * np.geomspace(LOW, HIGH, GRID)
    load = np.array([p.load for p in probes])
    high = kernels.potential_derivative(total, scale[None, :]) / load[:, :1]
    low = np.zeros_like(high)
    for _ in range(60):
        middle = 0.5 * (low + high)
        reached = sum(kernels.dual_map(load[:, k, None] * middle, scale[None, :]) for k in (0, 1))
        low, high = np.where(reached < total, middle, low), np.where(reached < total, high, middle)
    return scale, kernels.dual_map(load[:, 1, None] * low, np.broadcast_to(scale, low.shape))


def _solve_scale(scale: np.ndarray, curve: np.ndarray, allocation: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Scale at which predicted and observed second allocations have equal sums, for every resample.

    Sums over probes, rather than one scale a probe: the equation is then linear in the noise of the responses. Outside
    the range of the prediction the end of the grid is returned.
    """
    observed = draws @ allocation[:, 1]
    predicted = draws @ curve  # increasing along the grid
    place = np.array([np.searchsorted(row, value) for row, value in zip(predicted, observed, strict=True)])
    inner = np.clip(place, 1, len(scale) - 1)
    rows = np.arange(len(draws))
    left, right = predicted[rows, inner - 1], predicted[rows, inner]
    gap = np.where(right > left, right - left, 1.0)
    part = np.clip((observed - left) / gap, 0.0, 1.0)
    return np.exp((1.0 - part) * np.log(scale[inner - 1]) + part * np.log(scale[inner]))


def _slopes(probes: Sequence[Probe], allocation: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Slope for every resample: log ratio of summed allocations over the mean log ratio of strengths."""
    strength = np.array([p.strength for p in probes])
    order = np.argsort(strength, axis=1)
    weak, strong = (np.take_along_axis(allocation, order[:, [k]], 1)[:, 0] for k in (0, 1))
    step = np.log(strength.max(axis=1) / strength.min(axis=1))
    weak, strong, step = draws @ weak, draws @ strong, draws @ step / draws.sum(axis=1)
    if not weak[0] + strong[0] > 0.0:
        raise ValueError("the two features together received nothing in the loading probes: was the model trained?")
    floor = 1e-12 * (weak[0] + strong[0])  # a resample may give a feature nothing, or less
    return np.log(np.maximum(strong, floor) / np.maximum(weak, floor)) / step


def _tails(level: float, n: int) -> list[float]:
    """Quantiles of the resamples that make an interval of this level from n probes."""
    reach = stats.t.ppf((1.0 + level) / 2.0, n - 1) * np.sqrt(n / (n - 1.0))
    return [float(stats.norm.cdf(-reach)), float(stats.norm.cdf(reach))]


def _summary(
    order, dependence, c, slope, scale, allocation, additivity, level, width, near, few
) -> BiasEstimate:
    tails = _tails(level, few)
    intervals = [tuple(float(v) for v in np.quantile(values[1:], tails)) for values in (order, dependence, slope)]
    steep = intervals[2][0] > SLOPES[1] or intervals[2][1] < SLOPES[0]
    names = classify(order, dependence, near)
    name, agreed = str(names[0]), float(np.mean(names[1:] == names[0]))
    wide = max(high - low for low, high in intervals[:2])
    end = "lazy" if c[0] >= scale[-1] * 0.999 else "rich" if c[0] <= scale[0] * 1.001 else ""
    shared = ADDITIVE[0] <= additivity <= ADDITIVE[1]
    certain = wide <= width and agreed >= AGREEING and shared and not steep and name != UNCERTAIN
    message = f"l-order {order[0]:.3f} [{intervals[0][0]:.3f}, {intervals[0][1]:.3f}], PD {dependence[0]:.3f} "
    message += f"[{intervals[1][0]:.3f}, {intervals[1][1]:.3f}] ({level:.0%}): "
    if certain:
        message += f"regime {name} in {agreed:.0%} of the resamples"
    elif not shared:
        message += f"uncertain, the responses to the two features add up to {additivity:.2f} of the response to both: "
        message += "they do not share the target between them"
    elif steep:
        message += f"uncertain, the division follows the strengths with slope {slope[0]:.2f} "
        message += f"[{intervals[2][0]:.2f}, {intervals[2][1]:.2f}]: that of a diagonal network is in [0, 1]"
    elif wide > width:
        message += f"uncertain, the wider interval spans {wide:.2f} (at most {width:g} is accepted): use more probes"
    elif name == UNCERTAIN:
        message += f"uncertain, {explain(float(order[0]), float(dependence[0]), near)}"
    else:
        message += f"uncertain, regime {name} in only {agreed:.0%} of the resamples"
    return BiasEstimate(
        float(order[0]), float(dependence[0]), *intervals[:2], float(c[0]), float(np.clip(slope[0], 0.0, 1.0)),
        float(slope[0]), intervals[2],
        name if certain else UNCERTAIN, end, additivity, allocation, level, message,
    )  # fmt: skip
