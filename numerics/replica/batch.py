"""Many settings at once: the prediction over arrays of tasks, scales and sample ratios, in bounded memory.

Perfect pretraining of discrete laws leaves a handful of components whatever the scale: such tasks are solved together,
every setting with its own weights. Settings that share what imperfect or continuous pretraining leaves behind (task,
scale, samples) are solved together too; large groups go in chunks, so that memory does not grow with their number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from numerics.replica.mixture import ORACLE, Imprint, imprint, with_scales
from numerics.replica.observables import observe
from numerics.replica.pretraining import pretrain
from numerics.replica.quadrature import STEP
from numerics.replica.saddle_point import TOLERANCE, ConvergenceError, describe_failure, fixed_point
from numerics.task import Task
from numerics.validate import as_array

__all__ = ["Batch", "predict"]

#: (settings x components) solved together.
_CHUNK = 4096


class Batch(NamedTuple):
    """Predictions of shape (settings,); ``message`` is '', or the sentence of a failed setting (NaN values)."""

    mse: np.ndarray
    s2: np.ndarray
    g: np.ndarray
    residual: np.ndarray
    ell_order: np.ndarray
    pd: np.ndarray
    message: np.ndarray


def predict(
    tasks: Task | Sequence[Task],
    c: object,
    lam: object,
    gamma: object,
    alpha: object,
    *,
    task_index: object = None,
    alpha_pt: float | None = None,
    noise: object = 0.0,
    noise_pt: float = 0.0,
    ridge: object = 0.0,
    observables: bool = True,
) -> Batch:
    """Predicted error of every setting.

    Parameters
    ----------
    tasks : Task or sequence of Task
        One task for all settings, or several of which ``task_index`` picks one a setting.
    c, lam, gamma, alpha, noise, ridge : array_like
        Broadcast to shape (settings,); ranges as in :class:`~numerics.task.Initialization` and
        :func:`~numerics.replica.curves.generalization_curve`.
    task_index : array_like of int, shape (settings,), optional
        Default: all settings share the one task.
    alpha_pt, noise_pt : float
        As in ``generalization_curve``; the same for all settings.
    observables : bool
        Whether ``ell_order`` and ``pd`` are wanted (NaN otherwise).

    Returns
    -------
    Batch
        A setting that does not converge has NaN values and a sentence; the others are complete.

    Raises
    ------
    TypeError, ValueError
        For arguments out of range, before anything is solved.
    """
    tasks, index, values = _check(tasks, task_index, c, lam, gamma, alpha, noise, ridge)
    size = len(index)
    out = {name: np.full(size, np.nan) for name in Batch._fields[:-1]}
    out["message"] = np.full(size, "", dtype=object)
    simple = [int(n) for n in np.unique(index) if alpha_pt is None and not tasks[n].law.pt_var.any()]
    _fill_simple(out, index, {number: tasks[number].law for number in simple}, values, observables)
    for number in np.setdiff1d(index, simple):
        law, rows = tasks[number].law, np.flatnonzero(index == number)
        for scale in np.unique(values[0][rows]):
            members = rows[values[0][rows] == scale]
            try:
                pretraining = pretrain(law, float(scale), alpha_pt, noise_pt)
            except ConvergenceError as failure:
                out["message"][members] = f"pretraining: {failure}"
                continue
            _fill_group(out, members, law, float(scale), pretraining, values, observables)
    return Batch(**out)


def _check(tasks, task_index, c, lam, gamma, alpha, noise, ridge):
    tasks = [tasks] if isinstance(tasks, Task) else list(tasks)
    if not tasks or not all(isinstance(task, Task) for task in tasks):
        raise TypeError(f"tasks must be a Task or a non-empty sequence of Task, got {tasks!r:.80}")
    arrays = [
        as_array("c", c, low=1e-150, high=1e150),
        as_array("lam", lam, low=-1.0, high=1.0),
        as_array("gamma", gamma, low=0.0, high=1e75),
        as_array("alpha", alpha, low=1e-4, high=1e6),
        as_array("noise", noise, low=0.0, high=1e12),
        as_array("ridge", ridge, low=0.0, high=1e12),
    ]
    index = np.zeros(1, int) if task_index is None else np.atleast_1d(np.asarray(task_index))
    if task_index is None and len(tasks) > 1:
        raise ValueError(f"tasks has {len(tasks)} entries: task_index must say which setting uses which")
    if index.dtype.kind not in "iu" or index.min() < 0 or index.max() >= len(tasks):
        raise ValueError(f"task_index must hold integers in [0, {len(tasks) - 1}]")
    try:
        *arrays, index = np.broadcast_arrays(*(np.atleast_1d(v) for v in arrays), index)
    except ValueError:
        raise ValueError(
            "c, lam, gamma, alpha, noise, ridge and task_index do not broadcast: shapes "
            + ", ".join(str(v.shape) for v in (*arrays, index))
        ) from None
    if index.ndim != 1:
        raise ValueError(f"settings must be one-dimensional, got shape {index.shape}: flatten the grid first")
    dead = (arrays[1] == -1.0) & (arrays[2] == 0.0)
    if dead.any():
        raise ValueError(f"lam = -1 with gamma = 0 in setting {int(np.flatnonzero(dead)[0])}: c_FT = 0 cannot move")
    return tasks, index, arrays


def _fill_simple(out, index, laws, values, observables) -> None:
    """Solve the tasks that perfect pretraining leaves with equally many components together, in chunks."""
    left = {number: imprint(law, 1.0, ORACLE) for number, law in laws.items()}  # the scale does not enter
    for count in sorted({len(each.weight) for each in left.values()}):
        numbers = np.array([number for number, each in left.items() if len(each.weight) == count])
        stacked = [np.stack(field) for field in zip(*(left[number] for number in numbers.tolist()), strict=True)]
        rows = np.flatnonzero(np.isin(index, numbers))
        place = np.searchsorted(numbers, index[rows])
        per_call = max(1, _CHUNK // count)
        for first in range(0, len(rows), per_call):
            part = slice(first, first + per_call)
            own = Imprint(*(field[place[part]] for field in stacked))
            _fill(out, rows[part], own, None, [v[rows[part]] for v in values], observables, STEP)


def _fill_group(out, members, law, scale, pretraining, values, observables) -> None:
    """Solve settings that share an imprint, in chunks; those that need a denser imprint once more."""
    continuous = bool((law.pt_var + pretraining.s2 > 0.0).any())
    for step in (STEP, 0.5 * STEP, 0.25 * STEP) if continuous else (STEP,):
        left = imprint(law, scale, pretraining, step=step)
        finer = imprint(law, scale, pretraining, step=0.5 * step) if continuous else None
        per_call = max(1, _CHUNK // len(left.weight))
        for first in range(0, len(members), per_call):
            part = members[first : first + per_call]
            _fill(out, part, left, finer, [v[part] for v in values], observables, step)
        members = members[out["message"][members] != ""]
        if not len(members):
            break


def _fill(out, rows, left, finer, values, observables, step) -> None:
    c, lam, gamma, alpha, noise, ridge = values
    scales = (c[:, None], lam[:, None], gamma[:, None])
    mixture = with_scales(left, *scales)
    judge = finer and with_scales(finer, *scales)
    found = fixed_point(mixture, alpha, noise, ridge, step, strict=False, finer=judge)
    good = found.residual <= TOLERANCE
    out["message"][rows] = ""
    for i in np.flatnonzero(~good):
        out["message"][rows[i]] = describe_failure(alpha[i], noise[i], ridge[i], found.residual[i], TOLERANCE)
    for name, value in (("mse", found.error), ("s2", found.s2), ("g", found.g)):
        out[name][rows] = np.where(good, value, np.nan)
    out["residual"][rows] = found.residual
    if observables:
        seen = observe(mixture, *scales, out["s2"][rows], np.where(good, found.g, 1.0), step)
        out["ell_order"][rows], out["pd"][rows] = seen.ell_order, seen.pd
