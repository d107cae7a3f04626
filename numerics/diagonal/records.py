"""What is kept of one cell of a simulation, and how the cells become an xarray Dataset."""

from __future__ import annotations

from dataclasses import asdict
from hashlib import sha256

import numpy as np

from numerics.diagonal.data import Cell, Design
from numerics.diagonal.limit import Outcome
from numerics.diagonal.metrics import weighted_metrics
from numerics.task import GROUPS, Initialization, Task

__all__ = ["MEANING", "measure", "settings_of", "to_dataset"]

#: variable -> meaning and unit, one number for each cell
MEANING = {
    "mse": "mean over the D coordinates of (beta_hat - beta*)^2: excess test error of inputs N(0, I/D), times D",
    "mse_pt": "the same error of the pretrained vector (0 for oracle pretraining)",
    "mse_limit": "mse of the exact limit on the same data (equal to mse for method 'exact')",
    "distance": "||beta_hat - beta_limit|| / ||beta_limit||: how far the method stopped from the exact limit",
    "train_mse": "mean over the n samples of (X beta_hat - y)^2",
    "ell_order": "l-order of the learned solution: q-weighted mean over coordinates",
    "pd": "pretraining dependence of the learned solution: q-weighted mean over coordinates",
    "residual": "exact: KKT residual, relative; other methods: ||X beta_hat - y|| / ||y||",
    "iterations": "Newton steps (exact), accepted integrator steps (flow), gradient steps (gd), of fine-tuning",
    "seconds": "wall time of the cell; for batched methods that of its batch divided by the batch size",
}
PARTS = {
    "mse_by_group": "part of mse from the dimensions of a group; the four parts add up to mse",
    "share": "share of dimensions in the group",
}


def measure(cell: Cell, out: Outcome, init: Initialization) -> dict:
    """All quantities of one cell, as plain numbers."""
    square = (out.beta - cell.beta_ft) ** 2
    group = 2 * (cell.beta_pt != 0.0) + (cell.beta_ft != 0.0)
    dim = len(square)
    ell, pd = weighted_metrics(out.beta, out.beta_pt, init)
    limit = out.beta if out.beta_limit is None else out.beta_limit
    return {
        "mse": float(square.mean()),
        "mse_pt": float(np.mean((out.beta_pt - cell.beta_pt) ** 2)),
        "mse_limit": float(np.mean((limit - cell.beta_ft) ** 2)),
        "distance": float(np.linalg.norm(out.beta - limit) / (np.linalg.norm(limit) or 1.0)),
        "train_mse": out.train_mse,
        "ell_order": ell,
        "pd": pd,
        "residual": out.residual,
        "iterations": out.iterations,
        "mse_by_group": [float(square[group == g].sum() / dim) for g in range(4)],
        "share": [float(np.mean(group == g)) for g in range(4)],
    }


def settings_of(task: Task, init: Initialization, design: Design, method: str, ridge: float, options: dict) -> dict:
    """Everything that decides a record, apart from its seed and alpha, as JSON values."""
    law = {name: getattr(task, name) for name in ("rho_pt", "rho_shared", "rho_new", "correlation", "samples")}
    law |= {name: slab and asdict(slab) for name, slab in (("pt_slab", task.pt_slab), ("ft_slab", task.ft_slab))}
    if task.samples is not None:
        law["samples"] = sha256(np.concatenate(task.samples).tobytes()).hexdigest()
    sizes = asdict(design)
    del sizes["n"]
    plain = {k: v if isinstance(v, (int, float, str, type(None))) else repr(v) for k, v in options.items()}
    stages = "oracle" if design.n_pt is None else "full"
    return {"task": law, "init": asdict(init), **sizes, "stages": stages, "method": method, "ridge": ridge, **plain}


def to_dataset(records: dict, seeds: list[int], sizes: dict[float, int], settings: dict):
    """Dataset over (seed, alpha) of the records asked for, meanings and settings in attrs."""
    import xarray as xr

    table = [[records[s, a] for a in sizes] for s in seeds]
    data = {}
    for name, meaning in (MEANING | PARTS).items():
        dims = ("seed", "alpha", "group") if name in PARTS else ("seed", "alpha")
        data[name] = (dims, np.array([[r[name] for r in row] for row in table]), {"long_name": meaning})
    coords = {
        "seed": seeds,
        "alpha": ("alpha", list(sizes), {"long_name": "fine-tuning samples per dimension, as asked for"}),
        "n": ("alpha", list(sizes.values()), {"long_name": "fine-tuning samples"}),
        "group": list(GROUPS),
    }
    flat = {}
    for key, value in settings.items():
        pairs = value.items() if key in ("task", "init") else [(key, value)]
        flat |= {name: v if isinstance(v, (int, float, str)) else str(v) for name, v in pairs if v is not None}
    return xr.Dataset(data, coords, flat)
