"""Generalisation curves: the replica prediction as an xarray Dataset over alpha."""

from __future__ import annotations

import numpy as np

from numerics.kernels import training_error
from numerics.law import GROUPS
from numerics.replica.mixture import build
from numerics.replica.observables import observe
from numerics.replica.pretraining import pretrain
from numerics.replica.quadrature import STEP
from numerics.replica.saddle_point import TOLERANCE, ConvergenceError, fixed_point
from numerics.replica.sensitivity import error_gradient
from numerics.task import Initialization, Task
from numerics.validate import as_array, check_flag, check_number

__all__ = ["generalization_curve"]

_ATTRS = {
    "mse": ("parameter error E (beta_hat - beta*)^2 per coordinate", "target variance units"),
    "s2": ("effective noise variance of the scalar channel", "target variance units"),
    "g": ("effective inverse curvature of the scalar channel", "target variance units"),
    "residual": ("undamped relative residual of the saddle point, at twice the nodes", "1"),
    "train_error": ("mean squared training residual (1/n) ||y - X beta_hat||^2", "target variance units"),
    "group_error": ("error conditioned on the kind of dimension", "target variance units"),
    "forgetting": ("E (beta_hat_FT - beta*_PT)^2 per coordinate", "target variance units"),
    "ell_order": ("q-weighted l-order of the learned solution", "1"),
    "pd": ("q-weighted pretraining dependence of the learned solution", "1"),
    "dof": ("effective degrees of freedom per coordinate, E[1/(1 + g q'')]", "1"),
}


def generalization_curve(
    task: Task,
    init: Initialization,
    alpha: object,
    alpha_pt: float | None = None,
    noise: float = 0.0,
    noise_pt: float = 0.0,
    ridge: float = 0.0,
    *,
    start: float = 0.0,
    sensitivities: bool = False,
    step: float = STEP,
    tolerance: float = TOLERANCE,
):
    """Replica prediction of pretraining followed by fine-tuning, over the sample ratio alpha.

    Parameters
    ----------
    task : Task
    init : Initialization
    alpha : array_like, shape (N,) or scalar
        Fine-tuning samples per dimension, in ``[1e-4, 1e6]``.
    alpha_pt : float, optional
        Pretraining samples per dimension; ``None`` is perfect pretraining.
    noise, noise_pt : float
        Variances of the label noise in the two stages.
    ridge : float
        Coefficient of the potential; 0 is the interpolator that gradient flow reaches.
    start : float
        Fine-tuning starts at ``start * beta_PT_hat`` (0: the paper's protocol).
    sensitivities : bool
        Also return ``d_mse_d_<parameter>``: exact derivatives of the error in alpha, c, lam, gamma, noise, ridge,
        rho_pt, rho_shared, rho_new, alpha_pt and noise_pt (NaN for a parameter that the problem does not have).
    step, tolerance : float
        Trapezoidal step in the mirror variable and accepted residual; the answer does not depend on them.

    Returns
    -------
    xarray.Dataset
        Over ``alpha``: mse, s2, g, residual, train_error, forgetting, ell_order, pd, dof; over (alpha, group):
        group_error; over group: group_weight. ``attrs`` state meaning, units and conventions.
        For ``alpha >= 1`` with ``ridge = 0`` the training data fix the solution: error 0 without noise,
        ``noise/(alpha - 1)`` with noise (least squares), infinite at ``alpha = 1``.

    Raises
    ------
    TypeError, ValueError
        For arguments of the wrong type or out of range.
    ConvergenceError
        When the saddle point is not reached to ``tolerance``; it carries the best point.

    Source: THEORY section 6; derivations ``replica`` and ``observables``.
    """
    if not isinstance(task, Task):
        raise TypeError(f"task must be a Task, got {task!r:.60} of type {type(task).__name__}")
    if not isinstance(init, Initialization):
        raise TypeError(f"init must be an Initialization, got {init!r:.60} of type {type(init).__name__}")
    alpha = np.atleast_1d(as_array("alpha", alpha, low=1e-4, high=1e6))
    if alpha.ndim != 1:
        raise ValueError(f"alpha has shape {alpha.shape}: it must be a scalar or one-dimensional")
    noise = check_number("noise", noise, 0.0, 1e12)
    ridge = check_number("ridge", ridge, 0.0, 1e12)
    start = check_number("start", start, -1e6, 1e6)
    step = check_number("step", step, 1e-3, 0.3)
    sensitivities = check_flag("sensitivities", sensitivities)
    tolerance = check_number("tolerance", tolerance, 1e-13, 1e-6)
    law = task.law
    pretraining = pretrain(law, init.c, alpha_pt, noise_pt)
    step, mixture, point = _settle(law, init, pretraining, start, alpha, noise, ridge, step, tolerance)
    seen = observe(mixture, init.c, init.lam, init.gamma, point.s2, point.g, step)
    # where the data determine the solution every dimension errs alike
    determined = ((alpha >= 1.0) & (ridge == 0.0))[:, None]
    group_error = np.where(determined, point.error[:, None], seen.group_error)
    values = {
        "mse": point.error,
        "s2": point.s2,
        "g": point.g,
        "residual": point.residual,
        "train_error": _train_error(point.s2, point.g, ridge, alpha),
        "forgetting": seen.forgetting,
        "ell_order": seen.ell_order,
        "pd": seen.pd,
        "dof": seen.dof,
    }
    if sensitivities:
        gradient = error_gradient(
            task, init, alpha, point.s2, point.g, noise=noise, ridge=ridge, pretraining=pretraining,
            alpha_pt=alpha_pt, noise_pt=noise_pt, start=start, step=step,
        )  # fmt: skip
        values |= {f"d_mse_d_{name}": value for name, value in gradient.items()}
    settings = {
        "alpha_pt": "oracle" if alpha_pt is None else alpha_pt,
        "noise": noise,
        "noise_pt": noise_pt,
        "ridge": ridge,
        "start": start,
        "s2_pt": pretraining.s2,
        "g_pt": pretraining.g,
    }
    weight = np.bincount(mixture.group.reshape(-1).astype(int), mixture.weight.reshape(-1), len(GROUPS))
    return _dataset(task, init, alpha, values, group_error, weight, settings)


def _settle(law, init, pretraining, start, alpha, noise, ridge, step, tolerance):
    """Solution, and the step at which a continuous law's components are dense enough for the tolerance."""
    continuous = bool((law.pt_var + pretraining.s2 > 0.0).any())
    for attempts_left in (2, 1, 0):
        mixture = build(law, init, pretraining, start, step)
        finer = build(law, init, pretraining, start, 0.5 * step) if continuous else None
        try:
            return step, mixture, fixed_point(mixture, alpha, noise, ridge, step, tolerance, finer=finer)
        except ConvergenceError:
            if not (continuous and attempts_left):
                raise
            step *= 0.5
    raise AssertionError("unreachable")


def _train_error(s2, g, ridge, alpha):
    """Interpolation leaves nothing below alpha = 1; above it, or with ridge, the pull alpha - dof leaves a residual."""
    s2 = np.where(np.isfinite(s2), s2, 0.0)
    pull = ridge / g if ridge > 0.0 else np.maximum(alpha - 1.0, 0.0)
    return training_error(s2, pull, alpha)


def _dataset(task, init, alpha, values, group_error, group_weight, settings):
    import xarray as xr

    from numerics import __version__

    data = {name: ("alpha", value) for name, value in values.items()}
    data["group_error"] = (("alpha", "group"), group_error)
    ds = xr.Dataset(data, coords={"alpha": alpha, "group": list(GROUPS), "group_weight": ("group", group_weight)})
    for name, (meaning, units) in _ATTRS.items():
        ds[name].attrs.update(long_name=meaning, units=units)
    for name in (name for name in values if name.startswith("d_mse_d_")):
        ds[name].attrs.update(long_name=f"derivative of mse in {name.removeprefix('d_mse_d_')}", units="mse per unit")
    ds["alpha"].attrs.update(long_name="fine-tuning samples per dimension n/D", units="1")
    ds["group_weight"].attrs.update(long_name="probability of the kind of dimension", units="1")
    ds.attrs.update(
        title="replica prediction of the fine-tuning error",
        conventions="X_ij ~ N(0, 1/D); noise is a variance; lam normalised; readout starts at gamma/sqrt(2)",
        version=__version__,
        c=init.c,
        lam=init.lam,
        gamma=init.gamma,
        rho_pt=task.rho_pt,
        rho_shared=task.rho_shared,
        rho_new=task.rho_new,
        **_slabs(task),
        **settings,
    )
    return ds


def _slabs(task: Task) -> dict[str, object]:
    """What a reader needs, besides the densities, to build the task again."""
    if task.samples is not None:
        return {"samples": task.fingerprint}
    return {
        "pt_slab": task.pt_slab.kind,
        "pt_slab_scale": task.pt_slab.scale,
        "ft_slab": task.ft_slab.kind,
        "ft_slab_scale": task.ft_slab.scale,
        "correlation": task.correlation,
    }
