"""Fine-tuning at finite dimension over many seeds: what the theory is compared with."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np

from numerics.diagonal.data import Cell, Design, draw
from numerics.diagonal.limit import Outcome, solve_exact, solve_flow
from numerics.diagonal.memory import check_memory
from numerics.diagonal.records import measure, settings_of, to_dataset
from numerics.diagonal.store import CellStore
from numerics.task import Initialization, Task
from numerics.validate import as_array, check_callable, check_count, check_number, check_path

__all__ = ["simulate"]

METHODS = ("exact", "flow", "gd")


def simulate(
    task: Task,
    init: Initialization,
    alpha: object,
    dim: int = 1000,
    seeds: Iterable[int] = range(8),
    stages: str = "oracle",
    method: str = "exact",
    *,
    alpha_pt: float | None = None,
    noise: float = 0.0,
    noise_pt: float = 0.0,
    ridge: float = 0.0,
    store: object | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: object,
):
    """Learn the task at dimension ``dim`` for every (seed, alpha) and measure the error.

    Parameters
    ----------
    task, init : the teacher pair and the initial scales.
    alpha : number or increasing array of fine-tuning sample ratios; ``n = round(alpha dim)``.
    dim : input dimension D. seeds : distinct non-negative integers.
    stages : "oracle" (fine-tuning starts from the pretraining teacher) or "full" (pretraining is learned too,
        from ``round(alpha_pt dim)`` samples).
    method : "exact" (Newton, the limit itself), "flow" (integrated gradient flow in n dual dimensions) or "gd"
        (gradient descent on the weights in torch, all seeds in one batch).
    noise, noise_pt : label noise variances. ridge : weight of the potential in fine-tuning ("exact" only).
    store : folder to resume from and to write every finished cell to (survives kill -9).
    progress : called with (cells done, cells in all).
    options : for "exact" ``device`` and ``inner``, which solve all seeds in one batch
        (:func:`numerics.diagonal.batched.interpolate_batch`); for "flow" ``rtol`` and ``stop``; for "gd" ``lr``,
        ``momentum``, ``batch_size``, ``stop``, ``max_steps``, ``dtype`` and ``device``
        (:func:`numerics.diagonal.descent.descend`).

    Returns
    -------
    xarray.Dataset over (seed, alpha): ``mse``, its parts ``mse_by_group`` (they add up to mse) and the ``share`` of
        dimensions in each group, ``ell_order``, ``pd``, ``residual``, ``distance``, ``iterations``, ``seconds``, ...;
        meanings and units in attrs. A cell depends on (task, seed, alpha, dim, noise) alone, never on the others.

    Raises
    ------
    TypeError, ValueError
        For arguments outside their range, options the method does not have, or a store with other settings.
    InterpolationError, RuntimeError
        If a solve does not converge.

    Source: THEORY sections 5 and 7.
    """
    for name, value, kind in (("task", task, Task), ("init", init, Initialization)):
        if not isinstance(value, kind):
            raise TypeError(f"{name} must be of type {kind.__name__}, got {value!r:.60} of type {type(value).__name__}")
    alpha = np.atleast_1d(as_array("alpha", alpha, low=0.0, high=1e6, open_low=True))
    if alpha.ndim != 1 or len(set(alpha.tolist())) != len(alpha):
        raise ValueError(f"alpha has shape {alpha.shape}: it must be a number or a 1-d array without repetitions")
    dim = check_count("dim", dim, 1, 10**7)
    check_callable("progress", progress)
    if store is not None:
        check_path("store", store)
    seeds = _seeds(seeds)
    ridge = check_number("ridge", ridge, 0.0)
    _check_choices(stages, method, alpha_pt, noise_pt, ridge)
    sizes = {a: _samples("alpha", a, dim) for a in alpha.tolist()}
    n_pt = None if alpha_pt is None else _samples("alpha_pt", check_number("alpha_pt", alpha_pt, 0.0, 1e6), dim)
    noise, noise_pt = check_number("noise", noise, 0.0), check_number("noise_pt", noise_pt, 0.0)
    design = Design(dim, 0, n_pt, noise, noise_pt)
    _check_reachable(method, max(sizes.values()) if noise else 0, n_pt if noise_pt else 0, dim)
    solver = _solver(method, init, ridge, options)
    together = method == "gd" or (method == "exact" and bool(options))  # in one tensor program
    check_memory(dim, max(sizes.values()) + (n_pt or 0), len(seeds) if together else 1)
    settings = settings_of(task, init, design, method, ridge, options)
    disk = CellStore(store, settings) if store is not None else None
    records = disk.read() if disk else {}
    total, left = len(seeds) * len(alpha), sum((s, a) not in records for s in seeds for a in sizes)
    for a, n in sizes.items():
        missing = [s for s in seeds if (s, a) not in records]
        for batch in [missing] if together else [[s] for s in missing]:
            for record in _run(task, init, a, batch, replace(design, n=n), solver):
                records[record["seed"], a] = record
                left -= 1
                if disk:
                    disk.append(record)
                if progress:
                    progress(total - left, total)
    return to_dataset(records, seeds, sizes, settings)


def _seeds(seeds: Iterable[int]) -> list[int]:
    if isinstance(seeds, (str, bytes, Mapping)) or not isinstance(seeds, (int, Iterable)):
        raise TypeError(f"seeds must be a sequence of integers, got {seeds!r:.60} of type {type(seeds).__name__}")
    seeds = [check_count("seeds", s, 0) for s in ([seeds] if isinstance(seeds, int) else seeds)]
    if not seeds or len(set(seeds)) != len(seeds):
        raise ValueError(f"seeds = {seeds!r:.80} is not allowed: it must hold at least one integer, each once")
    return seeds


def _check_choices(stages: str, method: str, alpha_pt: object, noise_pt: object, ridge: float) -> None:
    """Refuse words that are not on the list and combinations that contradict each other."""
    if stages not in ("oracle", "full"):
        raise ValueError(f"stages = {stages!r} is not allowed: it must be 'oracle' or 'full'")
    if method not in METHODS:
        raise ValueError(f"method = {method!r} is not allowed: it must be one of {', '.join(METHODS)}")
    if ridge > 0.0 and method != "exact":
        raise ValueError(f"ridge = {ridge} is not allowed with method = {method!r}: only 'exact' has a ridge")
    if stages == "oracle" and (alpha_pt is not None or noise_pt != 0.0):
        raise ValueError(f"alpha_pt = {alpha_pt}, noise_pt = {noise_pt} need stages = 'full': an oracle has no samples")
    if stages == "full" and alpha_pt is None:
        raise ValueError("stages = 'full' needs alpha_pt, the ratio of pretraining samples to dimensions")


def _check_reachable(method: str, n: int, n_pt: int | None, dim: int) -> None:
    """Refuse to run a path towards zero training error where none exists; ``n`` and ``n_pt`` are the noisy sizes."""
    noisy = max(n, n_pt or 0)
    if method != "exact" and noisy > dim:
        raise ValueError(
            f"method = {method!r} stops at a small training error, which {noisy} noisy samples of dimension "
            f"{dim} do not have: use method = 'exact' (it gives least squares there) or fewer samples"
        )


def _samples(name: str, ratio: float, dim: int) -> int:
    n = round(ratio * dim)
    if n < 1:
        raise ValueError(f"{name} = {ratio} with dim = {dim} gives no sample: it must be at least {0.5 / dim:g}")
    return n


def _solver(method: str, init: Initialization, ridge: float, options: dict) -> Callable[[list[Cell]], list[Outcome]]:
    """The method as a function of a batch of cells; heavy imports happen only where they are used."""
    if method == "exact" and options:
        if unknown := sorted(options.keys() - {"device", "inner"}):
            raise TypeError(f"method 'exact' has no option {unknown[0]!r}: it has device and inner")
        if ridge > 0.0:
            raise ValueError(f"ridge = {ridge} is not allowed with {', '.join(options)}: batches interpolate")
        from numerics.diagonal.batched import solve_exact_batch

        return lambda cells: solve_exact_batch(cells, init, **options)
    if method == "exact":
        return lambda cells: [solve_exact(cell, init, ridge) for cell in cells]
    if method == "flow":
        if unknown := sorted(options.keys() - {"stop", "rtol"}):
            raise TypeError(f"method 'flow' has no option {unknown[0]!r}: it has stop and rtol")
        return lambda cells: [solve_flow(cell, init, **options) for cell in cells]
    from numerics.diagonal.descent import solve_descent

    return lambda cells: solve_descent(cells, init, **options)


def _run(task: Task, init: Initialization, alpha: float, seeds: list[int], design: Design, solver) -> list[dict]:
    """Records of a batch of cells with equal alpha."""
    if not seeds:
        return []
    start = time.perf_counter()
    cells = [draw(task, seed, alpha, design) for seed in seeds]
    outcomes = solver(cells)
    seconds = (time.perf_counter() - start) / len(seeds)
    return [
        {"seed": s, "alpha": alpha, "seconds": seconds, **measure(cell, out, init)}
        for s, cell, out in zip(seeds, cells, outcomes, strict=True)
    ]
