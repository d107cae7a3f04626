"""Certificates: rigorous enclosures for the points of a curve (see ``enclosure`` for how)."""

from __future__ import annotations

import numpy as np

from numerics.replica.enclosure import BITS, Enclosure, enclose
from numerics.task import Initialization, Task
from numerics.validate import as_array, check_dataset

__all__ = ["certify"]


def certify(ds, alpha: object = None):
    """Rigorous enclosures for points of a curve from ``generalization_curve``.

    Parameters
    ----------
    ds : xarray.Dataset
        A curve with perfect pretraining and start 0, whose task has point or sign pretraining values.
    alpha : array_like, optional
        Sample ratios to certify, among those of ``ds`` (default: all); each in (0, 1), or any with ridge.

    Returns
    -------
    xarray.Dataset
        Over alpha: s2, g, mse with ``bound`` "lower" and "upper". There is a fixed point within 1e-7 (relative)
        of the given one, the only one in the box that passed the test, and it lies inside the bounds.

    Raises
    ------
    ValueError
        For a curve that is outside this scope, or an alpha that is not in it.
    ArithmeticError
        If the Krawczyk test fails (the given point is not close enough to a root).
    ImportError
        Without python-flint (the extra ``certify``).

    Source: Krawczyk 1969; Johansson 2018 (rigorous integration in Arb); tails: this module.
    """
    import xarray as xr

    task, init, noise, ridge = _scope(check_dataset("ds", ds, "alpha", "s2", "g"))
    points = ds if alpha is None else _select(ds, alpha)
    rows = []
    for i in range(points.sizes["alpha"]):
        one = points.isel(alpha=i)
        rows.append(enclose(task, init, float(one.alpha), float(one.s2), float(one.g), noise=noise, ridge=ridge))
    data = {name: (("alpha", "bound"), np.array([getattr(r, name) for r in rows])) for name in Enclosure._fields}
    return xr.Dataset(
        data,
        coords={"alpha": points.alpha.values, "bound": ["lower", "upper"]},
        attrs={"method": "Krawczyk test in ball arithmetic (python-flint)", "bits": BITS, **ds.attrs},
    )


def _scope(ds) -> tuple[Task, Initialization, float, float]:
    from numerics.task import Slab

    attrs = ds.attrs
    if attrs.get("alpha_pt") != "oracle" or attrs.get("start") != 0.0 or "pt_slab" not in attrs:
        raise ValueError(
            "ds must be a curve with perfect pretraining (alpha_pt = None), start = 0 and a slab task: "
            f"it has alpha_pt = {attrs.get('alpha_pt')}, start = {attrs.get('start')}"
        )
    needed = ("rho_pt", "rho_shared", "rho_new", "pt_slab_scale", "ft_slab", "ft_slab_scale", "correlation", "c", "lam",
              "gamma", "noise", "ridge")  # fmt: skip
    if missing := [name for name in needed if name not in attrs]:
        raise ValueError(f"ds has no attribute {missing[0]!r}: it must be a curve as generalization_curve returned it")
    slabs = [Slab(kind, attrs[f"{name}_scale"]) for name in ("pt_slab", "ft_slab") for kind in [attrs[name]]]
    if slabs[0].kind == "gaussian":
        raise ValueError("ds has a Gaussian pretraining slab: its scales are continuous, which is not enclosed here")
    task = Task(attrs["rho_pt"], attrs["rho_shared"], attrs["rho_new"], *slabs, correlation=attrs["correlation"])
    return task, Initialization(attrs["c"], attrs["lam"], attrs["gamma"]), attrs["noise"], attrs["ridge"]


def _select(ds, alpha):
    wanted = np.atleast_1d(as_array("alpha", alpha))
    if wanted.ndim != 1:
        raise ValueError(f"alpha has shape {wanted.shape}: it must be a number or one-dimensional")
    known = ds.alpha.values
    missing = [float(a) for a in wanted if not np.isclose(known, a, rtol=1e-12, atol=0).any()]
    if missing:
        raise ValueError(f"alpha = {missing[0]} is not in the curve: it must be one of {known.tolist()}")
    return ds.sel(alpha=wanted, method="nearest")
