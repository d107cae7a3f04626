"""Phase diagrams: which initialisation generalises best for which task, its regime, and by how much it wins."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from numerics.regimes import NAMES, UNCERTAIN, Nearness, initialization_regime
from numerics.sweep.axes import spaced
from numerics.sweep.parameters import INIT, REPLICA, slab
from numerics.sweep.run import Progress, run_sweep
from numerics.sweep.spec import Sweep
from numerics.task import Initialization
from numerics.validate import as_array

__all__ = ["best", "phase_diagram"]

#: Settings reduced at a time.
_SLAB = 2**21
REGIMES = (*NAMES, UNCERTAIN)


def phase_diagram(
    *,
    candidates: Mapping[str, Initialization] | None = None,
    by: Sequence[str] = (),
    rich: float = 0.15,
    lazy: float = 0.15,
    independent: float = 0.15,
    dependent: float = 0.15,
    reference: tuple[float, float] = (1.0, 1.0),
    store: str | os.PathLike | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: Progress | bool = False,
    **parameters: object,
):
    """Predicted error over axes of task and initialisation, and the best initialisation for every task.

    Parameters
    ----------
    parameters : number, word, 1-d array or 1-d xarray.DataArray each
        ``rho_pt``, ``rho_shared`` and ``rho_new`` (or ``rho_ft`` and ``omega``), ``correlation``, ``pt_slab``,
        ``ft_slab``, ``alpha``, ``alpha_pt``, ``noise``, ``noise_pt``, ``ridge``; ``c`` (default 1e-3), ``lam`` (default
        33 values from -0.99999 to 0.99, equally spaced in log(1 + lam)), ``gamma`` (default 0). Arrays become axes.
    candidates : mapping of name to Initialization, optional
        Compare these instead of the grid of c, lam and gamma.
    by : names among c, lam, gamma
        Axes of the initialisation to keep in the diagram; the best is taken over the others.
    rich, lazy, independent, dependent, reference
        An initialisation's regime is that of one coordinate ``reference = (beta_ft, beta_pt)``, as in the paper's
        figure, with these thresholds: see :class:`~numerics.regimes.Nearness`.
    store, workers, scheduler, progress
        As in :func:`numerics.sweep.sweep`.

    Returns
    -------
    xarray.Dataset
        Over all axes: ``mse``, ``ell_order``, ``pd`` (of the learned solution), ``status``, ``message``; over those of
        the initialisation: ``init_regime``. Over the diagram: ``best_mse``, ``best_c``, ``best_lam``, ``best_gamma``
        (``best_candidate`` too), ``best_regime``, ``best_ell_order``, ``best_pd``; ``lam_place`` (the best lam is the
        "lowest", "highest" or an "interior" one of its axis); ``mse_by_regime`` (regime last: the least error an
        initialisation of that regime reaches); ``margin`` = how much more the best other regime errs, and
        ``relative_margin`` = that as a share of its error; ``gain`` = how much more the best single regime errs, which
        is the one regime (in ``attrs["single_regime"]``) to take if one had to serve the whole diagram.

    Raises
    ------
    TypeError, ValueError
        Naming the parameter, before anything is solved.

    Source: THEORY sections 4 to 6.
    """
    near = Nearness(rich, lazy, independent, dependent)
    if as_array("reference", reference, ndim=1).size != 2:
        raise ValueError(f"reference = {reference!r:.60} is not allowed: it must be (beta_ft, beta_pt)")
    if isinstance(by, str) or not isinstance(by, Iterable):
        raise TypeError(f"by must be a sequence of names among {', '.join(INIT)}, got {by!r:.60}")
    spec, inner = _spec(parameters, candidates, tuple(by))
    ds = run_sweep(spec, store, workers, scheduler, progress)
    return best(ds, inner, near, reference)


def _spec(parameters: dict, candidates: Mapping | None, by: tuple[str, ...]) -> tuple[Sweep, list[str]]:
    """The sweep behind a diagram, and the axes the best is taken over."""
    for name in parameters:
        if name not in REPLICA:
            raise TypeError(f"phase_diagram has no parameter {name!r}; known are {', '.join(REPLICA)}")
    values = dict(parameters)
    inner_axes: dict[str, object] = {}
    if candidates is not None:
        _check_candidates(candidates)
        if clash := [name for name in INIT if name in values] + list(by):
            raise ValueError(
                f"candidates and {clash[0]} exclude each other: the candidates fix c, lam and gamma, give either"
            )
        inner_axes["candidate"] = _columns(candidates)
    else:
        values.setdefault("c", 1e-3)
        values.setdefault("lam", spaced("lam", -0.99999, 0.99, 33, "one-plus-log"))
    axes, fixed = {}, {}
    for name, value in values.items():
        if name in ("pt_slab", "ft_slab") and value is not None and not isinstance(value, (str, list, tuple)):
            slab(name, value)
        if np.ndim(value) == 0 or isinstance(value, str):
            fixed[name] = value.item() if isinstance(value, np.generic) else value
        elif name in INIT and name not in by:
            inner_axes[name] = value
        else:
            axes[name] = value
    for name in by:
        if name not in INIT or name not in axes:
            raise ValueError(f"by: {name!r} is not an axis among c, lam, gamma")
    if not inner_axes:
        raise ValueError("c, lam and gamma are single values: give a range of one of them, or candidates")
    return Sweep.of("replica", {**axes, **inner_axes}, fixed), list(inner_axes)


def _check_candidates(candidates: object) -> None:
    if not isinstance(candidates, Mapping) or not candidates:
        raise TypeError(f"candidates must map names to Initialization, got {candidates!r:.60}")
    for name, init in candidates.items():
        if not isinstance(init, Initialization):
            raise TypeError(f"candidates[{name!r}] must be an Initialization, got {init!r:.60}")


def _columns(candidates: Mapping) -> dict[str, list]:
    inits = list(candidates.values())
    return {"candidate": [str(name) for name in candidates], **{n: [getattr(i, n) for i in inits] for n in INIT}}


def best(ds, inner: Sequence[str], near: Nearness | None = None, reference: tuple[float, float] = (1.0, 1.0)):
    """Reduce a replica sweep (``mse``, ``ell_order``, ``pd`` over its axes) over its initialisation axes ``inner``.

    Returns the dataset with the variables of :func:`phase_diagram` added. Reads slab by slab, so a stored sweep need
    not fit into memory. Raises ValueError when ``inner`` are not axes of the dataset.
    """
    import xarray as xr

    near = near or Nearness()
    for name in inner:
        if name not in ds["mse"].dims:
            raise ValueError(f"{name!r} is not an axis of the dataset; its axes are {', '.join(ds['mse'].dims)}")
    outer = [dim for dim in ds["mse"].dims if dim not in inner]
    scales = {name: ds[name] if name in ds else xr.DataArray(float(ds.attrs[name])) for name in INIT}
    regimes = xr.apply_ufunc(
        lambda c, lam, gamma: initialization_regime(c, lam, gamma, near, reference), *scales.values()
    )
    kept = [dim for dim in outer if dim in regimes.dims]
    parts = [_reduce(part, outer, list(inner), scales, regimes) for part in _slabs(ds, outer, inner)]
    found = xr.concat(parts, outer[0], coords="minimal", compat="override") if len(parts) > 1 else parts[0]
    out = ds.assign(init_regime=regimes.transpose(*kept, *inner)).merge(found)
    _add_gain(out, outer)
    _describe(out, near, reference)
    return out


def _slabs(ds, outer: list[str], inner: Sequence[str]):
    """Parts of the dataset along its first kept axis."""
    if not outer:
        yield ds
        return
    row = math.prod(ds.sizes[dim] for dim in (*outer[1:], *inner))
    step = max(1, _SLAB // row)
    for first in range(0, ds.sizes[outer[0]], step):
        yield ds.isel({outer[0]: slice(first, first + step)})


def _reduce(ds, outer: list[str], inner: list[str], scales: dict, regimes):
    """The least error of a slab: where it is, whose regime, and the least in each regime."""
    import xarray as xr

    shape = [ds.sizes[dim] for dim in outer]
    flat = {n: ds[n].transpose(*outer, *inner).values.reshape(*shape, -1) for n in ("mse", "ell_order", "pd", "status")}
    template = ds["mse"].transpose(*outer, *inner)
    over = {n: _spread(v, template).reshape(*shape, -1) for n, v in {**scales, "regime": regimes}.items()}
    mse = np.where(np.isnan(flat["mse"]), np.inf, flat["mse"])
    at = np.argmin(mse, axis=-1)[..., None]
    nothing = ~np.isfinite(np.take_along_axis(mse, at, -1)[..., 0])

    def pick(array):
        return np.take_along_axis(array, at, -1)[..., 0]

    by_regime = np.stack([np.min(np.where(over["regime"] == r, mse, np.inf), axis=-1) for r in REGIMES], axis=-1)
    winner = np.where(nothing, "", pick(over["regime"]))
    other = np.min(np.where(np.array(REGIMES) == winner[..., None], np.inf, by_regime), axis=-1)
    least = np.where(nothing, np.nan, pick(mse))
    margin = np.where(np.isfinite(other), other - least, np.nan)
    data = {
        "best_mse": least,
        "best_regime": winner,
        "best_ell_order": np.where(nothing, np.nan, pick(flat["ell_order"])),
        "best_pd": np.where(nothing, np.nan, pick(flat["pd"])),
        "margin": margin,
        "relative_margin": np.where(margin > 0.0, margin / np.where(margin > 0.0, other, 1.0), margin),
        "failed": np.sum(flat["status"] == 2, axis=-1),
        **{f"best_{n}": np.where(nothing, np.nan, pick(over[n])) for n in INIT},
    }
    data = {name: (outer, value) for name, value in data.items()}
    data["mse_by_regime"] = ([*outer, "regime"], np.where(np.isfinite(by_regime), by_regime, np.nan))
    where = np.unravel_index(at[..., 0], [ds.sizes[dim] for dim in inner])
    for dim, index in zip(inner, where, strict=True):
        if dim == "candidate":
            data["best_candidate"] = (outer, np.where(nothing, "", ds[dim].values.astype(str)[index]))
        if dim == "lam":
            data["lam_place"] = (outer, _place(index, ds["lam"].values, nothing))
    coords = {dim: ds[dim] for dim in outer} | {"regime": list(REGIMES)}
    return xr.Dataset(data, coords)


def _spread(values, template) -> np.ndarray:
    """Values along some axes of the template, repeated along the others."""
    shape = [template.sizes[d] if d in values.dims else 1 for d in template.dims]
    ordered = values.transpose(*(d for d in template.dims if d in values.dims))
    cut = {d: template[d].size for d in values.dims}
    if any(values.sizes[d] != size for d, size in cut.items()):  # a kept axis, of which the template is a slab
        ordered = ordered.sel({d: template[d] for d in values.dims})
    return np.broadcast_to(np.asarray(ordered.values).reshape(shape), template.shape)


def _place(index: np.ndarray, lam: np.ndarray, nothing: np.ndarray) -> np.ndarray:
    lowest, highest = np.argmin(lam), np.argmax(lam)
    return np.where(nothing, "", np.where(index == lowest, "lowest", np.where(index == highest, "highest", "interior")))


def _add_gain(ds, outer: list[str]) -> None:
    """The one regime to take for the whole diagram, and what it costs at each point."""
    everywhere = ds["mse_by_regime"].sel(regime=list(NAMES)).mean(outer, skipna=False)
    values = everywhere.values
    if np.isnan(values).all():  # no regime has an initialisation on the grid at every point
        ds.attrs["single_regime"] = ""
        ds["gain"] = ds["best_mse"] * np.nan
        return
    single = NAMES[int(np.nanargmin(values))]
    ds.attrs["single_regime"] = single
    ds["gain"] = ds["mse_by_regime"].sel(regime=single, drop=True) - ds["best_mse"]


def _describe(ds, near: Nearness, reference: tuple[float, float]) -> None:
    unit = "target variance units"
    words = {
        "init_regime": ("regime of the initialisation at the reference coordinate", ""),
        "best_mse": ("least predicted error over the initialisations", unit),
        "best_regime": ("regime of the best initialisation", ""),
        "best_c": ("absolute scale of the best initialisation", ""),
        "best_lam": ("relative scale of the best initialisation", "1"),
        "best_gamma": ("readout re-initialisation of the best initialisation", ""),
        "best_ell_order": ("l-order of the best learned solution", "1"),
        "best_pd": ("PD of the best learned solution", "1"),
        "mse_by_regime": ("least predicted error over the initialisations of a regime", unit),
        "margin": ("error of the best other regime minus the least error", unit),
        "relative_margin": ("margin as a share of the error of the best other regime", "1"),
        "gain": ("error of the best single regime minus the least error", unit),
        "failed": ("initialisations whose prediction failed", "1"),
    }
    for name, (meaning, units) in words.items():
        ds[name].attrs.update(long_name=meaning, **({"units": units} if units else {}))
    ds.attrs.update(
        title="best initialisation for each task", reference_beta_ft=float(reference[0]),
        reference_beta_pt=float(reference[1]), **{f"{k}_within": v for k, v in vars(near).items()},
    )
