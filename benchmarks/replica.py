"""The replica solver against the usual way, against the exp calls it cannot avoid, and over random settings.

    python benchmarks/replica.py                    speed tables (one process, one thread, medians)
    python benchmarks/replica.py --sweep 100000     convergence over random settings, 500 of them against the oracle

The baseline is the common recipe: expectations by Monte Carlo (80 000 samples), the proximal map by bracketed Newton,
damping 0.25 until the change is below 1e-10, and a forward and a backward pass along alpha to catch other branches.
"""

import argparse
import os
import statistics
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from numerics.replica import ConvergenceError, generalization_curve
from numerics.replica.equations import channel_rows
from numerics.replica.mixture import Pretraining, build
from numerics.replica.quadrature import STEP, row_nodes
from numerics.replica.saddle_point import solve
from numerics.replica.tables import nodes_used
from numerics.task import Initialization, Slab, Task

TASK = Task.from_overlap(0.1, 0.04, 1.0)
INIT = Initialization(1e-3)
ALPHA = np.linspace(0.01, 0.5, 11)


def median_time(function, repeats):
    """Median wall time of a call."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


# --- the usual way -----------------------------------------------------------------------------------------------


def newton_prox(z, g, c):
    """Root of x + (g/2) asinh(x/c) = z by Newton's method, bracketed between 0 and z."""
    low, high = np.minimum(0.0, z), np.maximum(0.0, z)
    x = 0.5 * z
    for _ in range(100):
        value = x + 0.5 * g * np.arcsinh(x / c) - z
        low, high = np.where(value < 0, x, low), np.where(value > 0, x, high)
        new = x - value / (1 + 0.5 * g / np.hypot(x, c))
        new = np.where((new < low) | (new > high), 0.5 * (low + high), new)
        if np.max(np.abs(new - x)) < 1e-12:
            return new
        x = new
    return x


def usual_point(samples, noise_samples, scales, alpha, s2, g, damping=0.25, tolerance=1e-10, limit=2000):
    """Damped fixed-point iteration at one alpha."""
    step = 0
    while step < limit:
        step += 1
        z = samples + np.sqrt(s2) * noise_samples
        x = newton_prox(z, g, scales)
        new_s2 = np.mean((x - samples) ** 2) / alpha
        new_g = np.mean(1.0 / (1.0 / g + 0.5 / np.hypot(x, scales))) / alpha
        change = max(abs(new_s2 / s2 - 1), abs(new_g / g - 1))
        s2, g = s2 + damping * (new_s2 - s2), g + damping * (new_g - g)
        if change < tolerance:
            break
    return s2, g, step


def usual_curve(samples=80_000, seed=0, alphas=ALPHA, directions=(1, -1)):
    """Forward and backward continuation; returns mse by alpha (of the last pass) and the number of iterations."""
    rng = np.random.default_rng(seed)
    beta_pt, beta_ft = TASK.sample(samples, rng)
    noise, scales = rng.standard_normal(samples), INIT.c_ft(beta_pt)
    mse, total = np.zeros(len(alphas)), 0
    for direction in directions:
        s2, g = 1.0, 1.0
        for i in range(len(alphas))[::direction]:
            s2, g, steps = usual_point(beta_ft, noise, scales, alphas[i], max(s2, 1e-12), max(g, 1e-12))
            mse[i], total = alphas[i] * s2, total + steps
    return mse, total


# --- tables ------------------------------------------------------------------------------------------------------


def against_the_usual_way(full: bool) -> None:
    """11 alphas of the first reference task."""
    mixture = build(TASK.law, INIT)
    ours = median_time(lambda: solve(mixture, ALPHA), 41)
    front = median_time(lambda: generalization_curve(TASK, INIT, ALPHA), 21)
    exact = solve(mixture, ALPHA)
    directions = (1, -1) if full else (1,)
    begin = time.perf_counter()
    mse, steps = usual_curve(directions=directions)
    usual = time.perf_counter() - begin
    error = np.median(np.abs(mse / exact.error - 1))
    print(f"usual way: {len(directions)} pass(es), {steps} iterations, median error {100 * error:.1f} % (sampling)")
    print(f"ours: residual {exact.residual.max():.1e}, {exact.evaluations.max()} evaluations at most")
    print(f"ratio usual/ours: {usual / ours:,.0f} (solver), {usual / front:,.0f} (generalization_curve as a whole)")


def against_exp() -> None:
    """A curve of 100 alphas against the transcendental calls of 10 evaluations on its own nodes.

    Nodes are counted as the solver takes them at the solution. What a node needs depends on how the sums are written:
    with tables one exp (the density), without them a second one for sinh and cosh of the map, and as the integrands
    are printed exp, sinh, cosh, cosh.
    """
    alpha = np.linspace(0.01, 0.5, 100)
    mixture = build(TASK.law, INIT)
    point = solve(mixture, alpha)
    (u0, a, start, c, g, s2, tau2), _ = channel_rows(mixture, point.s2, point.g)
    even = (a == 0) & (start == 0)
    own = sum(n.delta.size for n in row_nodes(u0, a, start, 0.5 * g, c, tau2 + s2, even, STEP))
    deviation = np.sqrt(tau2 + s2)
    count = nodes_used(c / deviation, 0.5 * g / deviation)
    values = np.random.default_rng(0).uniform(-30, 3, count)
    blocks = np.array_split(values, max(1, count // 8192))

    def calls(*functions):
        for _ in range(10):
            for block in blocks:
                for function in functions:
                    function(block)

    choices = {
        "exp alone": (np.exp,),
        "(exp, exp)": (np.exp, np.exp),
        "(exp, sinh, cosh, cosh)": (np.exp, np.sinh, np.cosh, np.cosh),
    }
    times = {name: [] for name in ("curve", *choices)}
    for _ in range(41):  # in turn, so that a busy machine slows all alike
        times["curve"].append(median_time(lambda: solve(mixture, alpha), 3))
        for name, functions in choices.items():
            times[name].append(median_time(lambda f=functions: calls(*f), 3))
    curve, *needed = (statistics.median(each) for each in times.values())
    ratios = ", ".join(f"{curve / each:.1f} x 10 {name}" for name, each in zip(choices, needed, strict=True))
    print(
        f"100 alphas, {count} nodes ({own} where every row has nodes of its own): {ratios}; "
        f"{point.evaluations.mean():.1f} evaluations a point"
    )


def scaling() -> None:
    """Cost and memory against the number of settings."""
    import tracemalloc

    from numerics.replica import predict

    rng = np.random.default_rng(0)
    rows = []
    for size in (1_000, 10_000, 100_000):
        lam, alpha = -1 + 10 ** rng.uniform(-4, 0.3, size), rng.uniform(0.02, 0.95, size)
        tracemalloc.start()
        begin = time.perf_counter()
        predict(TASK, 1e-3, lam, 0.0, alpha, observables=False)
        elapsed = time.perf_counter() - begin
        rows.append((size, elapsed / size, tracemalloc.get_traced_memory()[1] / 2**20))
        tracemalloc.stop()
    base = rows[0][1]
    for size, each, peak in rows:
        print(f"{size:>8} settings: {each / base:.2f} x the cost a setting at 1000, peak {peak:.0f} MiB")


# --- random settings ---------------------------------------------------------------------------------------------


def random_setting(rng):
    """A valid setting from anywhere in the documented domain, with two alphas."""
    slabs = [Slab(str(rng.choice(["point", "sign", "gaussian"])), 10 ** rng.uniform(-2, 2)) for _ in range(2)]
    free = slabs[1].kind == "gaussian" or (slabs[1].kind == "sign" and slabs[0].kind != "gaussian")
    correlation = float(rng.choice([-1, 0, 1, rng.uniform(-1, 1)])) if free else 0.0
    task = Task(rng.uniform(), rng.uniform(), rng.uniform(), slabs[0], slabs[1], correlation)
    gamma = rng.choice([0, 10 ** rng.uniform(-6, 6)])
    init = Initialization(10 ** rng.uniform(-12, 12), -1 + 10 ** rng.uniform(-12, 0.3), gamma)
    noise, ridge = rng.choice([0, 10 ** rng.uniform(-6, 1)]), rng.choice([0, 10 ** rng.uniform(-8, 2)])
    alpha = 10 ** rng.uniform(-3, 0.7 if ridge > 0 else -0.0005, 2)
    channel = [(0.0, 0.0), (10 ** rng.uniform(-6, 1), 0.0), tuple(10 ** rng.uniform(-6, 1, 2))][rng.integers(3)]
    return task, init, alpha, float(noise), float(ridge), Pretraining(*channel), float(rng.choice([0, 0, 1]))


def sweep(count: int, seed: int, checked: int) -> int:
    """Every setting converges or raises; `checked` of them are compared with the oracle. Returns the wrong answers."""
    import oracles

    rng = np.random.default_rng(seed)
    worst, raised, wrong, compared, most = 0.0, 0, 0, 0, 0
    begin = time.perf_counter()
    for number in range(count // 2):
        task, init, alpha, noise, ridge, channel, start = random_setting(rng)
        mixture = build(task.law, init, channel, start)
        try:
            point = solve(mixture, alpha, noise, ridge)
        except ConvergenceError:
            raised += 1
            continue
        worst, most = max(worst, point.residual.max()), max(most, point.evaluations.max())
        due = compared < checked * (number + 1) / (count // 2)
        # the oracle takes a second for a few components, and in doubles it cannot see errors far below the signal
        if due and mixture.weight.size <= 60 and point.s2[0] > 1e-10 * mixture.second_moment[0]:
            compared += 1
            rows = [np.broadcast_to(f[0], mixture.weight.shape[1:]) for f in mixture[:5]]
            components = list(zip(*rows, strict=True))
            error, dof = oracles.mixture_moments(components, point.s2[0], point.g[0])
            power = abs((noise + error) / alpha[0] / point.s2[0] - 1)
            constraint = abs(dof + ridge / point.g[0] - alpha[0]) / alpha[0]
            if max(power, constraint) > 1e-7:
                wrong += 1
                print("disagrees:", task, init, alpha[0], noise, ridge, start, f"{power:.1e} {constraint:.1e}")
    print(f"{2 * (count // 2)} settings: worst residual {worst:.1e}, {2 * raised} raised, at most {most} evaluations;")
    print(f"{compared} compared with the oracle, {wrong} disagree; {time.perf_counter() - begin:.0f} s on this machine")
    return wrong


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sweep", type=int, default=0, help="number of random settings")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--checked", type=int, default=500, help="settings to compare with the oracle")
    parser.add_argument("--full", action="store_true", help="both passes of the usual way (minutes)")
    options = parser.parse_args()
    if options.sweep:
        sys.exit(1 if sweep(options.sweep, options.seed, options.checked) else 0)
    against_the_usual_way(options.full)
    against_exp()
    scaling()


if __name__ == "__main__":
    main()
