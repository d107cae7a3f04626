"""Pretraining and fine-tuning of a diagonal network on a person's own arrays, both solved to their exact limits."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from numerics.diagonal.interpolation import interpolate
from numerics.diagonal.linear import is_well_conditioned, reduce_rows
from numerics.metrics import solution_metrics
from numerics.task import Initialization
from numerics.validate import as_array, check_design, check_number

LARGEST = 1e100  # entries of the data: their squares must be representable

__all__ = ["FineTuning", "Stage", "TestError", "finetune", "scan"]


@dataclass(frozen=True)
class Stage:
    """One stage: ``beta`` (D,), rows n, numerical rank, mean squared training error, solver residual, a statement."""

    beta: np.ndarray
    n: int
    rank: int
    train_error: float
    residual: float
    message: str


@dataclass(frozen=True)
class TestError:
    """Mean squared error on test data and its standard error over test rows; for targets of +-1 also the share of
    wrong signs (NaN for other targets) and its standard error."""

    __test__ = False  # not a test class, whatever its name says to pytest

    mse: float
    mse_se: float
    misclassified: float
    misclassified_se: float


@dataclass(frozen=True)
class FineTuning:
    """Both stages, the fine-tuning scale ``c_ft`` (D,) between them, and what the solution is like.

    ``ell_order`` and ``pd`` are the q-weighted means over the coordinates of the fine-tuned solution; ``test`` is the
    error on test data (None without), ``test_before`` that of the pretrained vector, before any fine-tuning.
    """

    init: Initialization
    pretrained: Stage
    finetuned: Stage
    c_ft: np.ndarray
    ell_order: float
    pd: float
    test: TestError | None
    test_before: TestError | None


def finetune(
    x_pt: object,
    y_pt: object,
    x_ft: object,
    y_ft: object,
    init: Initialization,
    *,
    x_test: object = None,
    y_test: object = None,
    ridge: float = 0.0,
    ridge_pt: float = 0.0,
) -> FineTuning:
    """Where gradient flow on a two-path diagonal network ends after pretraining and then fine-tuning.

    Parameters
    ----------
    x_pt, y_pt : (n_pt, D) and (n_pt,) pretraining data.
    x_ft, y_ft : (n_ft, D) and (n_ft,) fine-tuning data; the columns mean the same in both.
    init : Initialization, its ``c`` in units of y/x.
    x_test, y_test : optional (n_test, D) and (n_test,).
    ridge, ridge_pt : weight of the potential in the two stages; 0 is gradient flow run to its end.

    Returns
    -------
    FineTuning
        The model has no intercept. Where no vector fits the targets (more rows than columns and noise, or equal rows
        with different targets), gradient flow ends at least squares, and ``message`` says so.

    Raises
    ------
    TypeError, ValueError
        For NaN, infinities and shapes that do not match; the sentence names the argument.
    InterpolationError
        When the solver cannot reach its tolerance.

    Source: THEORY sections 2, 3 and 7.
    """
    if not isinstance(init, Initialization):
        raise TypeError(f"init must be an Initialization, got {init!r:.60} of type {type(init).__name__}")
    x_pt, y_pt, x_ft, y_ft, test = _check(x_pt, y_pt, x_ft, y_ft, x_test, y_test)
    pretrained = _stage("x_pt", x_pt, y_pt, init.c, ridge_pt)
    return _after(pretrained, x_ft, y_ft, init, ridge, test)


def scan(
    x_pt: object,
    y_pt: object,
    x_ft: object,
    y_ft: object,
    init: Initialization,
    lam: object,
    *,
    x_test: object = None,
    y_test: object = None,
    ridge: float = 0.0,
    ridge_pt: float = 0.0,
) -> list[FineTuning]:
    """`finetune` at every relative scale in ``lam`` (one-dimensional); pretraining does not depend on it.

    Arguments, results and errors as for :func:`finetune`; ``init.lam`` is replaced by each entry in turn.
    """
    if not isinstance(init, Initialization):
        raise TypeError(f"init must be an Initialization, got {init!r:.60} of type {type(init).__name__}")
    lam = np.atleast_1d(as_array("lam", lam, low=-1.0, high=1.0))
    if lam.ndim != 1:
        raise ValueError(f"lam has shape {lam.shape}: it must be a number or one-dimensional")
    inits = [replace(init, lam=float(value)) for value in lam]
    x_pt, y_pt, x_ft, y_ft, test = _check(x_pt, y_pt, x_ft, y_ft, x_test, y_test)
    pretrained = _stage("x_pt", x_pt, y_pt, init.c, ridge_pt)
    return [_after(pretrained, x_ft, y_ft, one, ridge, test) for one in inits]


def _check(x_pt, y_pt, x_ft, y_ft, x_test, y_test):
    x_pt, y_pt = check_design(x_pt, y_pt, "x_pt", "y_pt")
    x_ft, y_ft = check_design(x_ft, y_ft, "x_ft", "y_ft")
    if (x_test is None) != (y_test is None):
        raise ValueError("x_test and y_test belong together: give both or neither")
    test = None if x_test is None else check_design(x_test, y_test, "x_test", "y_test")
    named = {"x_pt": x_pt, "y_pt": y_pt, "x_ft": x_ft, "y_ft": y_ft}
    for name, array in (named | (dict(zip(("x_test", "y_test"), test, strict=True)) if test else {})).items():
        as_array(name, array, low=-LARGEST, high=LARGEST)
    for name, x in (("x_ft", x_ft), *((("x_test", test[0]),) if test else ())):
        if x.shape[1] != x_pt.shape[1]:
            raise ValueError(f"{name} has {x.shape[1]} columns and x_pt has {x_pt.shape[1]}: they must be the same")
    return x_pt, y_pt, x_ft, y_ft, test


def _after(pretrained: Stage, x_ft, y_ft, init: Initialization, ridge: float, test) -> FineTuning:
    """The fine-tuning stage, from a pretrained vector."""
    c_ft = init.c_ft(pretrained.beta)
    finetuned = _stage("x_ft", x_ft, y_ft, c_ft, ridge)
    metrics = solution_metrics(finetuned.beta, pretrained.beta, init)
    errors = (None, None) if test is None else (_error(*test, finetuned.beta), _error(*test, pretrained.beta))
    return FineTuning(init, pretrained, finetuned, c_ft, metrics.ell_order, metrics.pd, *errors)


def _stage(name: str, x: np.ndarray, y: np.ndarray, c, ridge: float) -> Stage:
    """The exact limit for any data: the least potential among the least-squares solutions (THEORY section 2).

    Gradient flow moves beta along X^T only, so replacing y by its projection on the range of X changes nothing but
    the error that is left: projected, the constraints can be met, and the interpolator of least potential is the limit.
    """
    ridge = check_number("ridge" if name == "x_ft" else "ridge_pt", ridge, 0.0)
    if not x.any():
        return Stage(np.zeros(x.shape[1]), len(y), 0, float(np.mean(y**2)), 0.0, f"{name}: all zero, so beta stays 0")
    rows, rank, fits = None, len(x), True
    if len(x) > x.shape[1] or not is_well_conditioned(x):
        rows = reduce_rows(x, y, np.finfo(float).eps)
        size = float(np.linalg.norm(y)) or 1.0
        rank, fits = rows.rank, float(np.linalg.norm(rows.remainder)) <= 1e-12 * len(y) ** 0.5 * size
    solution = interpolate(x, y, c, ridge) if fits or ridge > 0.0 else interpolate(rows.X, rows.y, c)
    train = float(np.mean((x @ solution.beta - y) ** 2))
    message = _statement(name, x, rank, fits, ridge, solution.iterations)
    return Stage(solution.beta, len(y), rank, train, solution.residual, message)


def _statement(name: str, x: np.ndarray, rank: int, fits: bool, ridge: float, iterations: int) -> str:
    n, dim = x.shape
    size = f"{name}: n = {n}, D = {dim}, rank {rank}"
    if ridge > 0.0:
        return f"{size}: ridge = {ridge:g} on the potential, {iterations} Newton steps"
    decided = rank == int(x.any(axis=0).sum())
    free = "which c, lam and gamma cannot change" if decided else "the one of least potential among them"
    if not fits:
        return f"{size}: no vector fits the targets, so gradient flow ends at least squares, {free}"
    if decided:
        return f"{size}: the data alone determine the solution, {free}"
    return f"{size}: interpolation of least potential, {iterations} Newton steps"


def _error(x: np.ndarray, y: np.ndarray, beta: np.ndarray) -> TestError:
    with np.errstate(over="ignore"):  # a hopeless prediction may have an infinite error
        guess = x @ beta
        square = (guess - y) ** 2
    wrong = np.where(np.sign(guess) == y, 0.0, 1.0) if np.isin(y, (-1.0, 1.0)).all() else np.full(len(y), np.nan)
    return TestError(*(value for each in (square, wrong) for value in (float(each.mean()), _standard_error(each))))


def _standard_error(values: np.ndarray) -> float:
    if len(values) < 2 or not np.isfinite(values).all():
        return float("nan")
    with np.errstate(over="ignore"):
        return float(values.std(ddof=1) / len(values) ** 0.5)
