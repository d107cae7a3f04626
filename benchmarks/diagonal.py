"""Diagonal networks: claims C1-C3 in numbers, published means, speed against gradient descent, memory at D = 20 000.

    python benchmarks/diagonal.py [claims] [published] [speed] [large]      (all four without arguments)

Each section is kept in build/diagonal-bench/ as it finishes, the grid report (claim C7) comes from
benchmarks/diagonal_grid.py, and benchmarks/diagonal.md is put together from what is there. Times are processor
seconds of one thread, so that other work on the machine counts little.
"""

# ruff: noqa: E402  (threads are counted by libraries when they are imported)

from __future__ import annotations

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import platform
import resource
import sys
import time
from pathlib import Path

import numpy as np
from scipy.linalg import cholesky

import ptft_sym as pt
from numerics.diagonal.data import Design, draw
from numerics.diagonal.gradient_flow import check_scale
from numerics.diagonal.limit import solve_exact

KEPT = Path("build/diagonal-bench")
REPORT = Path(__file__).with_suffix(".md")
TASK = pt.Task.from_overlap(rho_pt=0.1, rho_ft=0.1, omega=0.5)
INIT = pt.Initialization(c=1e-3)


def claims() -> str:
    """C1 conservation, C2 the limit, C3 the map to fine-tuning, on the integrated flow of the four weight vectors."""
    lines = [
        "Flow of the four weight vectors (Radau, rtol 1e-11), D = 8, pretraining with n = 6, fine-tuning with n = 4.",
        "C1: largest change of the four conserved quantities. C2, C3: distance of the end of pretraining / fine-tuning "
        "from the minimiser of the potential with scale c / c_FT, relative to max|beta|; last column: the same with "
        "c_FT 2 % too large, which must be rejected (> 1e-8).",
        "",
        "| c | lam | gamma | C1 drift PT | C1 drift FT | C2 (c) | C3 (c_FT) | 1.02 c_FT |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for c, lam, gamma in (
        (1e-2, -0.5, 0.1), (1e-3, 0.0, 0.0), (1e-3, 0.0, 10.0), (1e-3, -0.99, 0.0), (1e-4, -0.99999, 0.01),
        (1.0, 0.5, 1.0), (1e-6, 0.99, 0.0),
    ):  # fmt: skip
        rng, init = np.random.default_rng(5), pt.Initialization(c, lam, gamma)
        data = []
        for n in (6, 4):
            X = rng.normal(size=(n, 8)) / np.sqrt(8)
            data += [X, X @ (rng.normal(size=8) * (rng.random(8) < 0.5) + 0.1)]
        path = pt.gradient_flow(data[0], data[1], init, data[2], data[3])
        scale = init.c_ft(path.pretraining.limit)
        numbers = (
            path.pretraining.drift, path.drift, check_scale(path.pretraining, c).distance,
            check_scale(path, scale).distance, check_scale(path, 1.02 * scale).distance,
        )  # fmt: skip
        lines.append(f"| {c:g} | {lam:g} | {gamma:g} | " + " | ".join(f"{x:.1e}" for x in numbers) + " |")
    return "\n".join(lines)


PUBLISHED = ((0.059, 1.03803, 0.0211), (0.108, 0.79380, 0.0171), (0.157, 0.55009, 0.0119), (0.255, 0.18750, 0.0059),
             (0.304, 0.08671, 0.0037))  # fmt: skip


def published() -> str:
    """Means at D = 5000 that others published, against our exact solutions and the replica prediction."""
    alpha = [row[0] for row in PUBLISHED]
    ds = pt.simulate(TASK, INIT, alpha, dim=5000, seeds=range(28), store=KEPT / "published")
    theory = pt.generalization_curve(TASK, INIT, alpha).mse.values
    lines = [
        "rho_PT = rho_FT = 0.1, omega = 0.5, c = 1e-3, lam = gamma = 0, D = 5000; 14 seeds published, 28 here. z: "
        "difference of the two means over the root of the sum of squared standard errors.",
        "",
        "| alpha | published | ours, exact | theory | z ours - published | z ours - theory |",
        "|---|---|---|---|---|---|",
    ]
    mean, error = ds.mse.mean("seed").values, ds.mse.std("seed", ddof=1).values / np.sqrt(28)
    for (a, m, e), ours, se, th in zip(PUBLISHED, mean, error, theory, strict=True):
        z, zt = (ours - m) / np.hypot(e, se), (ours - th) / se
        lines.append(f"| {a:g} | {m:.5f} ± {e:.4f} | {ours:.5f} ± {se:.4f} | {th:.5f} | {z:+.2f} | {zt:+.2f} |")
    return "\n".join(lines)


def speed() -> str:
    """Exact limit at D = 2000, alpha = 0.3, 14 seeds, against gradient descent to train MSE 1e-8."""
    import torch

    from numerics.diagonal.descent import descend
    from numerics.diagonal.network import DiagonalNetwork

    torch.set_num_threads(1)
    cells = [draw(TASK, seed, 0.3, Design(2000, 600)) for seed in range(14)]
    solve_exact(cells[0], INIT)
    begin = time.process_time()
    solved = [solve_exact(cell, INIT) for cell in cells]
    exact = time.process_time() - begin
    iterations = sum(s.iterations for s in solved)
    X, scaled = cells[0].X, cells[0].X * 1.5
    gram, factor = _median(lambda: scaled @ scaled.T), _median(lambda A=X @ X.T: cholesky(A, lower=True))
    lines = [
        f"Exact: {exact:.2f} s for 14 seeds, {iterations} Newton steps in all, worst KKT residual "
        f"{max(s.residual for s in solved):.1e}. One n x n system of this size (n = 600): {1e3 * gram:.1f} ms to form "
        f"X W X^T, {1e3 * factor:.1f} ms to factor it. Total over steps x (form + factor): "
        f"**{exact / (iterations * (gram + factor)):.2f}**; over steps x (factor alone): "
        f"{exact / (iterations * factor):.1f}: forming (n^2 D) costs {gram / factor:.0f} times factoring (n^3/3).",
        "",
        "Gradient descent on (1/2n)||y - X beta||^2, full batch, to train MSE 1e-8; seed 0 run to the end, times 14. "
        "The last step is just below the one that diverges: fast, but its end is no longer that of the flow.",
        "",
        "| lr | steps (seed 0) | s (seed 0) | s (14 seeds) | ratio to exact | distance from the limit |",
        "|---|---|---|---|---|---|",
    ]
    design, target = (torch.as_tensor(a)[None] for a in (cells[0].X, cells[0].y))
    for lr in (0.5, 10.0, _largest_stable(cells[0], solved[0].beta)):
        net = DiagonalNetwork(INIT, 2000).start_fine_tuning(torch.as_tensor(cells[0].beta_pt)[None], INIT)
        begin = time.process_time()
        report = descend(net, design, target, lr=lr, stop=1e-8)
        spent = time.process_time() - begin
        far = np.linalg.norm(net.beta.detach().numpy()[0] - solved[0].beta) / np.linalg.norm(solved[0].beta)
        row = lr, report.steps[0], spent, 14 * spent, 14 * spent / exact, far
        lines.append("| {:.3g} | {} | {:.0f} | {:.0f} | **{:.0f}** | {:.1e} |".format(*row))
        print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines)


def _median(function, repeats: int = 9) -> float:
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        function()
        times.append(time.process_time() - begin)
    return float(np.median(times))


def _largest_stable(cell, beta: np.ndarray) -> float:
    """Step below 2 over the largest curvature at the solution, where w^2 + v^2 = 2 hypot(c, beta)."""
    root = np.sqrt(2.0 * np.hypot(INIT.c_ft(cell.beta_pt), beta))
    return 1.8 * len(cell.y) / np.linalg.norm(cell.X * root, 2) ** 2


def large() -> str:
    """D = 20 000, n = 6000 in memory: one seed by the exact solver."""
    begin, wall = time.process_time(), time.perf_counter()
    cell = draw(TASK, 0, 0.3, Design(20_000, 6_000))
    out = solve_exact(cell, INIT)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    theory = float(pt.generalization_curve(TASK, INIT, 0.3).mse[0])
    mse = float(np.mean((out.beta - cell.beta_ft) ** 2))
    return (
        f"D = 20 000, n = 6000, one seed: {out.iterations} Newton steps, KKT residual {out.residual:.1e}, "
        f"{time.process_time() - begin:.0f} s of processor time ({time.perf_counter() - wall:.0f} s of wall time), "
        f"peak memory of the process **{peak:.2f} GiB**. mse {mse:.5f}, theory {theory:.5f}."
    )


SECTIONS = {
    "claims": ("C1, C2, C3: conservation, limit, pretraining-to-fine-tuning map", claims),
    "grid": ("C7: replica prediction against exact solutions (benchmarks/diagonal_grid.py)", None),
    "published": ("Published means at D = 5000", published),
    "speed": ("Speed against gradient descent", speed),
    "large": ("Memory at D = 20 000", large),
}


def main() -> None:
    known = [name for name, (_, run) in SECTIONS.items() if run]
    asked = sys.argv[1:] or known
    if unknown := [name for name in asked if name not in known]:
        sys.exit(f"unknown section {unknown[0]!r}: choose from {', '.join(known)}")
    KEPT.mkdir(parents=True, exist_ok=True)
    for name in asked:
        text = SECTIONS[name][1]()
        (KEPT / f"{name}.md").write_text(text + "\n")
        print(f"\n== {name}\n{text}", flush=True)
    parts = [f"# Diagonal networks\n\nWritten by `python benchmarks/diagonal.py`; {platform.machine()}, one thread."]
    for name, (title, _) in SECTIONS.items():
        file = KEPT / f"{name}.md"
        if file.exists():
            parts.append(f"## {title}\n\n{file.read_text().rstrip()}")
    REPORT.write_text("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
