"""What sweeps cost: throughput on one and two cores, overhead of the machinery, memory of a million settings.

    python benchmarks/sweep.py                 # all of it at full size (64 x 64 x 32, then 10^6): a few minutes
    python benchmarks/sweep.py --side 24       # 24 x 24 x 32 instead
    python benchmarks/sweep.py --only memory

Every figure is printed with what it was measured against; nothing is asserted, since a busy machine is not a bug.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from numerics.replica.batch import predict
from numerics.sweep import sweep
from numerics.sweep.axes import spaced
from numerics.task import Task

FIXED = {"rho_pt": 0.1, "rho_ft": 0.05, "omega": 0.8}


def axes(side, depth):
    """lam x c x alpha: all initialisations, one task."""
    return {
        "lam": spaced("lam", -0.9999, 0.99, side, "one-plus-log"), "c": np.geomspace(1e-6, 1.0, side),
        "alpha": np.linspace(0.02, 0.6, depth),
    }


def task_axes(side, depth):
    """rho_shared x rho_new x alpha: as many tasks as there are columns."""
    return {
        "rho_shared": np.linspace(0.05, 1.0, side), "rho_new": np.linspace(0.0, 0.1, side),
        "alpha": np.linspace(0.02, 0.6, depth),
    }


def clock(call):
    """Seconds of wall time, and of processor time of this process and its finished children."""
    def used():
        return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))

    wall, busy = time.perf_counter(), used()
    result = call()
    return time.perf_counter() - wall, used() - busy, result


def throughput(side, depth):
    """The bar: side x side x depth on two cores within 60 s at 64 x 64 x 32, and within 1.3 of twice one core."""
    for label, grid, fixed in (
        ("lam x c x alpha, one task", axes(side, depth), FIXED),
        ("rho_shared x rho_new x alpha, one initialisation", task_axes(side, depth),
         {"rho_pt": 0.1, "c": 1e-3, "lam": -0.9}),
    ):
        size = side * side * depth
        seconds, work = {}, {}
        for workers in (1, 2):
            with tempfile.TemporaryDirectory() as store:
                options = {"store": store, "workers": workers, "chunk": min(4096, size // 16)}
                wall, busy, ds = clock(lambda g=grid, f=fixed, o=options: sweep("replica", g, f, **o))
                failed = int((ds["status"] == 2).sum())
            seconds[workers], work[workers] = wall, busy
            print(f"{label}: {size} settings, {workers} worker(s): {wall:.1f} s wall, {busy:.1f} s of processor, "
                  f"{size / wall:.0f} settings/s, {failed} failed", flush=True)
        print(f"    two cores against twice one core: {2 * seconds[2] / seconds[1]:.2f} in wall time (bar: 1.3; "
              f"means nothing on a busy machine), {work[2] / work[1]:.2f} in processor time", flush=True)


def overhead(side, depth):
    """The bar: under 10 % against calling the solver directly with the same settings, in processor time."""
    grid = axes(side, depth)
    task = Task.from_overlap(0.1, 0.05, 0.8)
    lam, c, alpha = (v.reshape(-1) for v in np.meshgrid(*grid.values(), indexing="ij"))
    times = {"direct": [], "machinery": []}
    sweep("metrics", {"lam": [0.0, 0.5]}, {"c": 1.0}, store=tempfile.mkdtemp(), workers=1)  # imports are not overhead
    for _ in range(2):
        times["direct"].append(clock(lambda: predict(task, c, lam, 0.0, alpha))[1])
        with tempfile.TemporaryDirectory() as store:
            times["machinery"].append(clock(lambda s=store: sweep("replica", grid, FIXED, store=s, workers=1))[1])
    direct, whole = (min(times[name]) for name in ("direct", "machinery"))
    print(f"{len(lam)} settings: solver alone {direct:.2f} s, sweep with store {whole:.2f} s of processor time (best "
          f"of 2): overhead {100 * (whole / direct - 1):.1f} % (bar: under 10 %)", flush=True)


def memory(count):
    """The bar: 10^6 settings under 2 GiB, coordinator and workers together; each process reports its own peak."""
    side = round((count / 64) ** 0.5)
    grid = axes(side, 64)
    with tempfile.TemporaryDirectory() as store:
        wall, busy, ds = clock(lambda: sweep("replica", grid, FIXED, store=store, workers=2, progress=True))
        mine = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
        disk = int(subprocess.run(["du", "-sk", store], capture_output=True, text=True).stdout.split()[0]) / 1024
        print(f"{ds['mse'].size} settings: {wall:.0f} s wall, {busy:.0f} s of processor; peak memory: this process "
              f"{mine:.2f} GiB, the larger of two workers {largest:.2f} GiB, so at most {mine + 2 * largest:.2f} GiB "
              f"(bar: 2); {disk:.0f} MiB on disk", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", type=int, default=64)
    parser.add_argument("--depth", type=int, default=32)
    parser.add_argument("--million", type=int, default=10**6)
    parser.add_argument("--only", choices=("throughput", "overhead", "memory"))
    options = parser.parse_args()
    load = os.getloadavg()[0]
    print(f"Python {sys.version.split()[0]}, NumPy {np.__version__}, {os.cpu_count()} cores, load {load:.1f}")
    if options.only in (None, "overhead"):
        overhead(options.side, options.depth)
    if options.only in (None, "throughput"):
        throughput(options.side, options.depth)
    if options.only in (None, "memory"):
        memory(options.million)


if __name__ == "__main__":
    main()
