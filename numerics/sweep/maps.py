"""Regime maps: l-order, PD and the nearest regime of one coordinate, over any of its five parameters."""

from __future__ import annotations

import importlib.util
import math

import numpy as np

from numerics import kernels
from numerics.regimes import NAMES, UNCERTAIN, Nearness, classify
from numerics.sweep.axes import chunk_shape, grid
from numerics.sweep.parameters import METRICS

__all__ = ["regime_map"]

#: Points above which a map is lazy, points of one of its chunks, and points above which it must not be eager.
_EAGER, _CHUNK, _MOST = 2**23, 2**20, 2**27
_LONG = {
    "beta_ft": "fine-tuned weight", "beta_pt": "pretrained weight", "c": "absolute initial scale",
    "lam": "relative initial scale", "gamma": "readout re-initialisation scale",
}


def regime_map(
    beta_ft: object = 1.0,
    beta_pt: object = 1.0,
    c: object = 1e-3,
    lam: object = 0.0,
    gamma: object = 0.0,
    *,
    rich: float = 0.15,
    lazy: float = 0.15,
    independent: float = 0.15,
    dependent: float = 0.15,
    chunks: str | int | None = "auto",
):
    """l-order, PD, their sum and the nearest regime of one coordinate, over any of its parameters.

    Parameters
    ----------
    beta_ft, beta_pt, c, lam, gamma : number, 1-d array, or xarray.DataArray
        A 1-d array (strictly monotone) becomes an axis of that name; a DataArray keeps its own dimensions and
        coordinates, and may hold dask arrays. Ranges as in :class:`~numerics.task.Initialization`.
    rich, lazy, independent, dependent : float
        How near a regime counts as in it: see :class:`~numerics.regimes.Nearness`.
    chunks : "auto", int or None
        Points of a lazy (dask) chunk; "auto" is lazy above 8 million points; None is never lazy.

    Returns
    -------
    xarray.Dataset
        ``ell_order`` in [1, 2], ``pd`` in [-1, 0], ``ell_order_plus_pd`` in [1, 2] and ``regime`` (I, II, III, IV or
        "uncertain") over the axes; thresholds in attrs.

    Raises
    ------
    TypeError, ValueError
        For values out of range, ``lam = -1`` meeting ``gamma = 0``, or too many points for memory without dask.

    Source: THEORY section 4.
    """
    import xarray as xr

    near = Nearness(rich, lazy, independent, dependent)
    given = {"beta_ft": beta_ft, "beta_pt": beta_pt, "c": c, "lam": lam, "gamma": gamma}
    arrays = {name: _array(name, value) for name, value in given.items()}
    _check_movable(arrays["lam"], arrays["gamma"])
    sizes = _sizes(arrays)
    arrays = _chunked(arrays, sizes, chunks)

    def values(beta_ft, beta_pt, c, lam, gamma):
        shape = np.broadcast_shapes(*(np.shape(v) for v in (beta_ft, beta_pt, c, lam, gamma)))
        order = np.broadcast_to(kernels.ell_order(beta_ft, kernels.c_ft(beta_pt, c, lam, gamma)), shape)
        dependence = np.broadcast_to(kernels.pretraining_dependence(beta_ft, beta_pt, c, lam, gamma), shape)
        return order, dependence, order + dependence, classify(order, dependence, near)

    names = ("ell_order", "pd", "ell_order_plus_pd", "regime")
    results = xr.apply_ufunc(
        values, *arrays.values(), output_core_dims=[[]] * 4, dask="parallelized", keep_attrs=False,
        output_dtypes=[float, float, float, np.dtype("<U9")],
    )
    ds = xr.Dataset(dict(zip(names, results, strict=True))).transpose(*sizes)
    return _described(ds, given, near)


def _array(name: str, value: object):
    """A checked DataArray: 0-d, or along a dimension of its own, or as given."""
    import xarray as xr

    check = METRICS[name].check
    if isinstance(value, xr.DataArray):
        if value.dtype.kind not in "fiu":
            raise TypeError(f"{name} must hold real numbers, got dtype {value.dtype}")
        if value.size == 0:
            raise ValueError(f"{name} is empty: an axis needs at least one value")
        # the extremes stand for all: NaN would show up in both
        for extreme in (value.min(skipna=False), value.max(skipna=False)):
            check(name, float(extreme))
        return value.astype(float)
    if np.ndim(value) == 0:
        return xr.DataArray(check(name, value))
    if np.ndim(value) != 1:
        raise ValueError(f"{name} has shape {np.shape(value)}: give a number, a 1-d array or a DataArray")
    (axis,) = grid({name: value})
    column = axis.labels
    if column.dtype.kind == "O":
        raise TypeError(f"{name} must hold numbers, got {value!r:.60}")
    for i in (int(np.argmin(column)), int(np.argmax(column))):
        check(f"{name}[{i}]", float(column[i]))
    return xr.DataArray(column.astype(float), dims=name, coords={name: column.astype(float)})


def _check_movable(lam, gamma) -> None:
    """lam = -1 and gamma = 0 in one setting: DataArrays over one dimension may avoid each other."""
    if float(lam.min()) == -1.0 and float(gamma.min()) == 0.0 and bool(((lam == -1.0) & (gamma == 0.0)).any()):
        raise ValueError(
            "lam = -1 meets gamma = 0: the network cannot move there (c_FT = 0); take lam > -1 or gamma > 0"
        )


def _sizes(arrays: dict) -> dict:
    sizes: dict = {}
    for name, array in arrays.items():
        for dim, size in array.sizes.items():
            if sizes.setdefault(dim, size) != size:
                raise ValueError(f"{name} has {size} values along {dim!r}, another argument {sizes[dim]}")
    return sizes


def _chunked(arrays: dict, sizes: dict, chunks: str | int | None) -> dict:
    """The arrays, split for dask when the map is large or ``chunks`` asks for it."""
    points = math.prod(sizes.values())
    if chunks is None or (chunks == "auto" and points <= _EAGER):
        return arrays
    if importlib.util.find_spec("dask") is None:
        if chunks == "auto" and points <= _MOST:
            return arrays
        raise ValueError(f"{points} points need dask (pip install 'ptft-sym[distributed]') or shorter axes")
    if chunks != "auto" and (isinstance(chunks, bool) or not isinstance(chunks, int) or chunks < 1):
        raise ValueError(f"chunks = {chunks!r} is not allowed: it must be 'auto', None or a positive integer")
    sides = chunk_shape(tuple(sizes.values()), _CHUNK if chunks == "auto" else chunks)
    by_dim = dict(zip(sizes, sides, strict=True))
    return {
        name: array.chunk({dim: by_dim[dim] for dim in array.dims}) if array.ndim and not array.chunks else array
        for name, array in arrays.items()
    }


def _described(ds, given: dict, near: Nearness):
    ds["ell_order"].attrs.update(long_name="l-order: 1 sparse (rich), 2 quadratic (lazy)", units="1")
    ds["pd"].attrs.update(long_name="pretraining dependence PD", units="1")
    ds["ell_order_plus_pd"].attrs.update(long_name="l-order + PD, in [1, 2] by the trade-off", units="1")
    ds["regime"].attrs.update(long_name="nearest regime", values=", ".join((*NAMES, UNCERTAIN)))
    for name, value in given.items():
        if name in ds.coords:
            ds[name].attrs.setdefault("long_name", _LONG[name])
        elif np.ndim(value) == 0 and not hasattr(value, "dims"):
            ds.attrs[name] = float(value)
    ds.attrs.update(title="regimes of one coordinate", **{f"{k}_within": v for k, v in vars(near).items()})
    return ds
