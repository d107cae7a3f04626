"""The replica-symmetric saddle point: two equations in (s2, g), solved for many settings at once (THEORY section 6).

    s2 = (noise + E (xhat - x)^2) / alpha,        alpha - E[1/(1 + g q'')] = ridge / g

Most settings fall to a fast nested Newton iteration: back to the curve on which the second equation holds when off it,
else a step in both variables with the analytic Jacobian, kept inside the bracket that the first equation gives.
The few that resist it go to ``bracketing.nested``, which follows the convex-concave functional behind the equations
and cannot fail for lack of a bracket. The start is always the same; the fixed point is unique, so no branch is chosen.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numerics.kernels import least_squares_s2
from numerics.replica.bracketing import nested
from numerics.replica.continuation import approach
from numerics.replica.equations import Linearisation, Settings, linearise
from numerics.replica.mixture import Mixture
from numerics.replica.quadrature import STEP

__all__ = ["TOLERANCE", "ConvergenceError", "SaddlePoint", "attempt", "fixed_point", "solve"]

#: Residual (relative, undamped) that a returned point satisfies.
TOLERANCE = 1e-11
_TARGET = 2e-13
_COARSE = 2.0
#: Evaluations of the fast iteration before a setting goes to the bracketing one.
_PATIENCE = 30
#: No solution has a logarithm beyond.
_FAR = 600.0


class ConvergenceError(RuntimeError):
    """The saddle point was not reached; carries the best point.

    Attributes
    ----------
    s2, g, residual : ndarray, shape (settings,)
        Best values found and their undamped residuals.
    failed : ndarray of int
        Indices of the settings that did not converge.
    """

    def __init__(self, message: str, s2: np.ndarray, g: np.ndarray, residual: np.ndarray, failed: np.ndarray):
        super().__init__(message)
        self.s2, self.g, self.residual, self.failed = s2, g, residual, failed


class SaddlePoint(NamedTuple):
    """Solution, each of shape (settings,): ``residual`` is undamped and measured with twice as many nodes."""

    s2: np.ndarray
    g: np.ndarray
    error: np.ndarray
    residual: np.ndarray
    evaluations: np.ndarray


def attempt(
    mixture: Mixture,
    alpha: np.ndarray,
    noise: np.ndarray | float = 0.0,
    ridge: np.ndarray | float = 0.0,
    *,
    step: float = STEP,
    tolerance: float = TOLERANCE,
    guess: tuple[np.ndarray, np.ndarray] | None = None,
    finer: Mixture | None = None,
) -> SaddlePoint:
    """As :func:`solve`, but a setting that does not converge is returned as far as it got, with its residual."""
    alpha, noise, ridge = np.broadcast_arrays(np.atleast_1d(np.asarray(alpha, float)), noise, ridge)
    settings = Settings(mixture, alpha, noise.astype(float), ridge.astype(float))
    judge = None if finer is None else settings._replace(mixture=finer)
    evaluations = np.zeros(alpha.shape, int)
    start = _start(settings, guess)
    near = approach(settings, *start, step, evaluations) if guess is None else None
    if near is None:
        return _from_afar(settings, start, step, tolerance, judge, evaluations)
    near = np.where(np.abs(near) < _FAR, near, start)
    point = _judged(judge or settings, *near, step, evaluations)
    missed = ~(point.residual <= 0.1 * tolerance)
    if missed.any():
        judge = judge and judge.take(missed)
        found = _from_afar(settings.take(missed), near[:, missed], step, tolerance, judge, evaluations[missed])
        for field, value in zip(point, found, strict=True):
            field[missed] = value
    return point


def _from_afar(settings, start, step, tolerance, judge, evaluations) -> SaddlePoint:
    """Every setting on its own: the fast iteration, the bracketing one for what resists, and the judgement."""
    log_s2, log_g = start
    log_s2, log_g, _ = _iterate(settings, log_s2, log_g, step * _COARSE, 1e-4, evaluations)
    log_s2, log_g, residual = _iterate(settings, log_s2, log_g, step, _TARGET, evaluations)
    log_s2, log_g = _rescue(settings, log_s2, log_g, residual > tolerance, step, evaluations)
    point = _judged(judge or settings, log_s2, log_g, step, evaluations)
    for _ in range(2 if judge is None else 0):
        rough = point.residual > 0.1 * tolerance
        if not rough.any():
            break
        step *= 0.5
        log_s2, log_g, _ = _iterate(settings, log_s2, log_g, step, _TARGET, evaluations, rough)
        point = _judged(settings, log_s2, log_g, step, evaluations)
    return point


def _judged(judge: Settings, log_s2, log_g, step, evaluations) -> SaddlePoint:
    """The point with its residual at twice the nodes, which is not below the rounding of its own numbers."""
    check = linearise(judge, log_s2, log_g, 0.5 * step)
    residual = np.maximum(check.residual, np.finfo(float).eps)
    return SaddlePoint(np.exp(log_s2), np.exp(log_g), check.error, residual, evaluations)


def solve(
    mixture, alpha, noise=0.0, ridge=0.0, *, step=STEP, tolerance=TOLERANCE, guess=None, finer=None
) -> SaddlePoint:
    """Solve the saddle point for every setting.

    Parameters
    ----------
    mixture : Mixture
        Fields of shape (settings or 1, components).
    alpha, noise, ridge : array_like, shape (settings,)
        ``alpha < 1``, or ``ridge > 0``; :func:`fixed_point` knows the other cases.
    step : float
        Trapezoidal step; the residual of the returned point is measured with half of it.
    tolerance : float
        Accepted residual.
    guess : pair of ndarray, optional
        (s2, g) to start from; only speed depends on it.
    finer : Mixture, optional
        The same law with twice the components, where ``mixture`` approximates a continuous one: the residual is then
        measured with it, and so covers that approximation too.

    Returns
    -------
    SaddlePoint

    Raises
    ------
    ConvergenceError
        If a residual stays above ``tolerance``; it carries the best point.
    """
    point = attempt(mixture, alpha, noise, ridge, step=step, tolerance=tolerance, guess=guess, finer=finer)
    failed = np.flatnonzero(~(point.residual <= tolerance))
    if len(failed):
        alpha, noise, ridge = np.broadcast_arrays(np.atleast_1d(alpha), noise, ridge)
        worst = failed[np.argmax(np.nan_to_num(point.residual[failed], nan=np.inf))]
        message = describe_failure(alpha[worst], noise[worst], ridge[worst], point.residual[worst], tolerance)
        raise ConvergenceError(
            f"{message} ({len(failed)} of {len(alpha)} settings failed)", point.s2, point.g, point.residual, failed
        )
    return point


def describe_failure(alpha: float, noise: float, ridge: float, residual: float, tolerance: float) -> str:
    """What was asked, how far it got, what to try."""
    return (
        f"the saddle point at alpha = {alpha:g}, noise = {noise:g}, ridge = {ridge:g} reached residual {residual:.1e}, "
        f"above {tolerance:g}; try a smaller step, a larger tolerance, or a less extreme scale"
    )


def fixed_point(
    mixture: Mixture,
    alpha,
    noise,
    ridge,
    step: float = STEP,
    tolerance: float = TOLERANCE,
    strict: bool = True,
    finer: Mixture | None = None,
) -> SaddlePoint:
    """The solution of every setting, in closed form where the training data determine it.

    Without ridge, ``alpha >= 1`` leaves nothing to the prior: the error is s2 = 0 without noise, ``noise/(alpha - 1)``
    with noise, infinite at ``alpha = 1`` (THEORY section 6). Arguments as :func:`solve`;
    ``strict=False`` does not raise.

    Returns
    -------
    SaddlePoint
    """
    alpha, noise, ridge = (np.array(v, float) for v in np.broadcast_arrays(np.atleast_1d(alpha), noise, ridge))
    s2, g, error, residual = (np.zeros_like(alpha) for _ in range(4))
    evaluations = np.zeros(alpha.shape, int)
    free = (alpha < 1.0) | (ridge > 0.0)
    if free.any():
        part, judge = (
            m and Mixture(*(field[free] if len(field) > 1 else field for field in m)) for m in (mixture, finer)
        )
        found = (solve if strict else attempt)(
            part, alpha[free], noise[free], ridge[free], step=step, tolerance=tolerance, finer=judge
        )
        s2[free], g[free], error[free], residual[free], evaluations[free] = found
    noisy = ~free & (noise > 0.0)
    above = noisy & (alpha > 1.0)
    if above.any():
        s2[above] = least_squares_s2(alpha[above], noise[above])
    s2[noisy & (alpha == 1.0)] = np.inf
    error[noisy] = s2[noisy]  # there the channel's noise is the error
    return SaddlePoint(s2, g, error, residual, evaluations)


def _rescue(settings, log_s2, log_g, lost, step, evaluations):
    """Hand the settings that the fast iteration lost to the bracketing one, and polish what it returns."""
    if lost.any():
        log_s2, log_g = log_s2.copy(), log_g.copy()
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # it walks through anything
            log_s2[lost], log_g[lost], used = nested(settings.take(lost), _start(settings.take(lost), None)[0], step)
        evaluations[lost] += used
        log_s2, log_g, _ = _iterate(settings, log_s2, log_g, step, _TARGET, evaluations, lost)
    return log_s2, log_g


def _start(settings: Settings, guess) -> tuple[np.ndarray, np.ndarray]:
    if guess is not None:
        return np.log(np.broadcast_to(guess[0], settings.alpha.shape)), np.log(
            np.broadcast_to(guess[1], settings.alpha.shape)
        )
    power = settings.mixture.second_moment
    s2 = (settings.noise + power) / settings.alpha
    # a coordinate at rest has q'' = 1/(2c): the scale at which it starts to give way
    typical = np.exp(np.sum(settings.mixture.weight * np.log(settings.mixture.c), axis=-1))
    g = 2.0 * typical * (1.0 / np.minimum(settings.alpha, 0.999) - 1.0) + settings.ridge + 1e-3 * np.sqrt(s2)
    return np.log(s2), np.log(g)


def _iterate(settings, log_s2, log_g, step, target, evaluations, only=None):
    """Run the nested Newton iteration until every setting's residual is below ``target`` or no longer falls."""
    log_s2, log_g = log_s2.copy(), log_g.copy()
    active = np.arange(len(log_s2)) if only is None else np.flatnonzero(only)
    best = np.full(len(log_s2), np.inf)
    best_s2, best_g = log_s2.copy(), log_g.copy()
    stale = np.zeros(len(log_s2), int)
    s_low, s_high = np.full(len(log_s2), -np.inf), np.full(len(log_s2), np.inf)
    g_low, g_high = s_low.copy(), s_high.copy()
    part = settings if only is None else settings.take(active)
    for _ in range(_PATIENCE):
        lin = linearise(part, log_s2[active], log_g[active], step)
        evaluations[active] += 1
        residual = np.nan_to_num(lin.residual, nan=np.inf)
        better = residual < 0.5 * best[active]
        stale[active] = np.where(better | (residual > 1e-9), 0, stale[active] + 1)
        improved = residual < best[active]
        rows = active[improved]
        best[rows], best_s2[rows], best_g[rows] = residual[improved], log_s2[rows], log_g[rows]
        keep = (residual > target) & (stale[active] < 3)
        if not keep.any():
            break
        if not keep.all():
            active, part = active[keep], part.take(keep)
            lin = Linearisation(*(field[keep] for field in lin))
        _move(lin, active, log_s2, log_g, s_low, s_high, g_low, g_high)
    return best_s2, best_g, best


def _move(lin, rows, log_s2, log_g, s_low, s_high, g_low, g_high) -> None:
    """One step for the given rows, in place: back to the curve F2 = 0, or along it towards F1 = 0."""
    slope = np.where(lin.f2_g < 0.0, lin.f2_g, -1e-300)
    # Newton for log(1 + F2) behaves far from the root, where F2 saturates or grows like 1/g
    inner = -np.where(lin.f2 > 0.0, np.log1p(np.maximum(lin.f2, 0.0)) * (1.0 + lin.f2), lin.f2) / slope
    correction = lin.f1_g * lin.f2 / slope
    reduced = lin.f1 - correction
    derivative = lin.f1_s - lin.f1_g * lin.f2_s / slope
    on_curve = (np.abs(lin.f2) < 0.1) & (lin.f2_g < 0.0)
    # brackets: F2 falls with g at fixed s2; the reduced F1 rises with s2 along the curve
    above = lin.f2 > 0.0
    g_low[rows] = np.where(above, np.maximum(g_low[rows], log_g[rows]), g_low[rows])
    g_high[rows] = np.where(above, g_high[rows], np.minimum(g_high[rows], log_g[rows]))
    sure = on_curve & (np.abs(lin.f2) < 0.02) & (np.abs(correction) < 0.1 * np.abs(reduced))
    s_low[rows] = np.where(sure & (reduced < 0.0), np.maximum(s_low[rows], log_s2[rows]), s_low[rows])
    s_high[rows] = np.where(sure & (reduced > 0.0), np.minimum(s_high[rows], log_s2[rows]), s_high[rows])
    outer = np.where(derivative > 0.0, -reduced / np.where(derivative > 0.0, derivative, 1.0), -np.sign(reduced))
    # a flat stretch says only the direction: s2 may lie many orders below (ridge -> 0 above alpha = 1)
    outer = np.where((derivative < 1e-6) & (reduced > 0.0), -20.0, np.clip(outer, -6.0, 6.0))
    target = log_s2[rows] + outer
    outside = (target <= s_low[rows]) | (target >= s_high[rows])
    known = np.isfinite(s_low[rows]) & np.isfinite(s_high[rows])
    target = np.where(outside & known, 0.5 * (s_low[rows] + np.where(known, s_high[rows], 0.0)), target)
    move_s = np.where(on_curve, target - log_s2[rows], 0.0)
    move_g = np.where(on_curve, (-lin.f2 - lin.f2_s * move_s) / slope, np.clip(inner, -4.0, 4.0))
    move_g = np.clip(move_g, -8.0, 8.0)
    goal = log_g[rows] + move_g
    off = ~on_curve & ((goal <= g_low[rows]) | (goal >= g_high[rows]))
    known = np.isfinite(g_low[rows]) & np.isfinite(g_high[rows])
    log_g[rows] = np.where(off & known, 0.5 * (g_low[rows] + np.where(known, g_high[rows], 0.0)), goal)
    log_s2[rows] += move_s
    g_low[rows] = np.where(on_curve, -np.inf, g_low[rows])
    g_high[rows] = np.where(on_curve, np.inf, g_high[rows])
