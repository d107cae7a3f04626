"""Simulation at finite dimension: determinism, the three kinds of pretraining, resuming after a kill, refusals."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import xarray as xr

from numerics.diagonal import simulate
from numerics.diagonal.data import Design, draw
from numerics.task import Initialization, Task

TASK = Task.from_overlap(rho_pt=0.1, rho_ft=0.1, omega=0.5)
INIT = Initialization(c=1e-3)
TIMES = ["seconds"]


def test_published_point_within_its_standard_errors():
    # CASES: replica value .189382185 at alpha = .255 (D -> infinity); at D = 200 the bias is of the order of 1/D
    ds = simulate(TASK, INIT, 0.255, dim=200, seeds=range(60))
    mean, error = float(ds.mse.mean()), float(ds.mse.std(ddof=1) / np.sqrt(60))
    assert abs(mean - 0.189382185) < 4 * error + 0.02
    assert float(ds.residual.max()) < 1e-11


def test_a_cell_depends_neither_on_order_nor_on_the_other_cells():
    whole = simulate(TASK, INIT, [0.1, 0.2, 0.4], dim=60, seeds=[0, 1, 2]).drop_vars(TIMES)
    part = simulate(TASK, INIT, [0.4, 0.1], dim=60, seeds=[2, 0]).drop_vars(TIMES)
    xr.testing.assert_identical(whole.sel(seed=[2, 0], alpha=[0.4, 0.1]), part)


def test_data_are_pinned():
    # the same seed gives the same data on every machine: values written down once
    cell = draw(TASK, 3, 0.1, Design(dim=50, n=5, n_pt=10, noise=0.5, noise_pt=0.5))
    again = draw(TASK, 3, 0.1, Design(dim=50, n=5))
    np.testing.assert_array_equal(cell.X, again.X)  # neither noise nor pretraining moves the design
    np.testing.assert_array_equal(cell.beta_ft, again.beta_ft)
    assert not np.array_equal(cell.y, again.y)
    assert cell.X_pt.shape == (10, 50)
    assert cell.X.std() == pytest.approx(1 / np.sqrt(50), rel=0.15)
    assert cell.X[0, 0] == pytest.approx(0.03296309072295546, rel=1e-12)


def test_parts_add_up_and_shares_are_those_of_the_task():
    ds = simulate(TASK, INIT, [0.1, 0.3], dim=400, seeds=range(3))
    np.testing.assert_allclose(ds.mse_by_group.sum("group"), ds.mse, rtol=1e-12)
    np.testing.assert_allclose(ds.share.sum("group"), 1.0)
    assert float(ds.share.sel(group="shared").mean()) == pytest.approx(0.05, abs=0.02)
    assert float(ds.share.sel(group="none").mean()) == pytest.approx(0.85, abs=0.03)
    assert np.all((ds.ell_order > 1) & (ds.ell_order < 2) & (ds.pd < 0) & (ds.pd > -1))


def test_pretraining_with_enough_samples_is_the_oracle_and_with_few_is_not():
    kwargs = {"dim": 80, "seeds": range(2)}
    oracle = simulate(TASK, INIT, 0.3, **kwargs)
    full = simulate(TASK, INIT, 0.3, stages="full", alpha_pt=1.5, **kwargs)
    np.testing.assert_allclose(full.mse, oracle.mse, rtol=1e-6)
    assert float(full.mse_pt.max()) < 1e-20
    scarce = simulate(TASK, INIT, 0.3, stages="full", alpha_pt=0.2, **kwargs)
    assert float(scarce.mse_pt.min()) > 1e-3


def test_more_samples_than_dimensions_with_noise_is_least_squares():
    # mse = noise / (alpha - 1), whatever the initialisation (THEORY section 6); finite D: noise D / (n - D - 1)
    ds = simulate(TASK, INIT, 2.0, dim=200, seeds=range(20), noise=0.3)
    assert float(ds.mse.mean()) == pytest.approx(0.3 * 200 / (400 - 200 - 1), rel=0.1)
    other = simulate(TASK, Initialization(10.0, -0.9, 3.0), 2.0, dim=200, seeds=range(20), noise=0.3)
    np.testing.assert_allclose(other.mse, ds.mse, rtol=1e-9)


def test_flow_and_exact_agree_on_the_same_data():
    kwargs = {"alpha": [0.2, 0.5], "dim": 60, "seeds": range(2), "stages": "full", "alpha_pt": 0.6}
    exact, flow = simulate(TASK, INIT, **kwargs), simulate(TASK, INIT, method="flow", **kwargs)
    np.testing.assert_allclose(flow.mse, exact.mse, rtol=1e-6)
    np.testing.assert_allclose(flow.mse_limit, exact.mse, rtol=1e-6)
    assert float(flow.distance.max()) < 1e-6
    assert float(flow.residual.max()) < 1.01e-9


def test_ridge_helps_against_noise():
    kwargs = {"dim": 100, "seeds": range(6), "noise": 1.0}
    assert float(simulate(TASK, INIT, 0.9, ridge=0.3, **kwargs).mse.mean()) < float(
        simulate(TASK, INIT, 0.9, **kwargs).mse.mean()
    )


def test_store_is_used_and_refuses_other_settings(tmp_path):
    kwargs = {"alpha": [0.1, 0.2], "dim": 40, "store": tmp_path / "s"}
    first = simulate(TASK, INIT, seeds=range(2), **kwargs)
    seen = []
    more = simulate(TASK, INIT, seeds=range(3), progress=lambda done, total: seen.append((done, total)), **kwargs)
    assert seen == [(5, 6), (6, 6)]  # four of six were on disk
    xr.testing.assert_identical(more.sel(seed=[0, 1]), first)  # wall times included: nothing was recomputed
    with pytest.raises(ValueError, match=r"another simulation \(noise = 0.0 there, 0.5 now\)"):
        simulate(TASK, INIT, seeds=range(2), noise=0.5, **kwargs)
    with pytest.raises(ValueError, match="another simulation"):
        simulate(Task.from_samples([1.0, 0, 2], [1.0, 1, 0]), INIT, seeds=range(2), **kwargs)


SCRIPT = """
import sys
from numerics.diagonal import simulate
from numerics.task import Initialization, Task
simulate(Task.from_overlap(rho_pt=0.1, rho_ft=0.1, omega=0.5), Initialization(c=1e-3), [0.2, 0.4], dim=300,
         seeds=range(400), store=sys.argv[1])
"""


def test_a_killed_run_resumes_from_what_is_on_disk(tmp_path):
    cells = tmp_path / "cells.jsonl"
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(tmp_path)])
    deadline = time.monotonic() + 60
    while (not cells.exists() or cells.read_bytes().count(b"\n") < 5) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    lines = cells.read_text().splitlines()
    assert 5 <= len(lines) < 800
    with cells.open("a") as file:
        file.write(lines[0][: len(lines[0]) // 2])  # and the worst moment: half a record
    done = {(r["seed"], r["alpha"]) for r in map(json.loads, lines)}
    seeds = sorted({s for s, a in done if a == 0.2})[:3]
    kwargs = {"alpha": [0.2], "dim": 300, "seeds": [*seeds, 1000]}
    seen = []
    resumed = simulate(TASK, INIT, store=tmp_path, progress=lambda *x: seen.append(x), **kwargs)
    assert len(seen) == 1  # only the new seed was computed
    fresh = simulate(TASK, INIT, **kwargs)
    xr.testing.assert_identical(resumed.drop_vars(TIMES), fresh.drop_vars(TIMES))


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"task": "x"}, TypeError, "task must be of type Task"),
        ({"init": 1e-3}, TypeError, "init must be of type Initialization"),
        ({"method": "gd", "device": "nowhere"}, ValueError, "device = 'nowhere' is not available"),
        ({"inner": "cg", "device": "nowhere"}, ValueError, "device = 'nowhere' is not available"),
        ({"alpha": 0.001}, ValueError, r"alpha = 0.001 with dim = 50 gives no sample"),
        ({"alpha": [0.1, 0.1]}, ValueError, "without repetitions"),
        ({"alpha": -0.1}, ValueError, "alpha"),
        ({"alpha": np.nan}, ValueError, "nan"),
        ({"dim": 0}, ValueError, "dim = 0"),
        ({"dim": 10.0}, TypeError, "dim"),
        ({"seeds": [1, 1]}, ValueError, "each once"),
        ({"seeds": []}, ValueError, "at least one"),
        ({"seeds": [-1]}, ValueError, "seeds = -1"),
        ({"stages": "half"}, ValueError, "'oracle' or 'full'"),
        ({"stages": "full"}, ValueError, "needs alpha_pt"),
        ({"alpha_pt": 0.5}, ValueError, "need stages = 'full'"),
        ({"method": "magic"}, ValueError, "exact, flow, gd"),
        ({"method": "flow", "ridge": 0.1}, ValueError, "only 'exact' has a ridge"),
        ({"method": "flow", "alpha": 1.5, "noise": 0.1}, ValueError, "75 noisy samples"),
        ({"noise": -1.0}, ValueError, "noise = -1.0"),
        ({"lr": 0.5}, TypeError, "method 'exact' has no option 'lr'"),
        ({"method": "flow", "lr": 0.5}, TypeError, "lr"),
    ],
)
def test_refusals(change, error, words):
    with pytest.raises(error, match=words):
        simulate(**({"task": TASK, "init": INIT, "alpha": 0.2, "dim": 50, "seeds": range(1)} | change))
