"""Exact derivatives against fourth-order differences of the whole prediction, and the optimum built on them."""

import numpy as np
import pytest

from numerics.replica import generalization_curve, optimal_initialization
from numerics.replica.sensitivity import PARAMETERS
from numerics.task import Initialization, Slab, Task

CASES = {
    "perfect pretraining, noise, ridge": (
        {"rho_pt": 0.1, "rho_shared": 0.4, "rho_new": 0.02},
        {"c": 1e-2, "lam": -0.5, "gamma": 0.3},
        {"noise": 0.1, "ridge": 0.2},
        0.3,
    ),
    "imperfect pretraining": (
        {"rho_pt": 0.1, "rho_shared": 0.4, "rho_new": 0.02},
        {"c": 1e-2, "lam": -0.5, "gamma": 0.3},
        {"noise": 0.1, "alpha_pt": 0.4, "noise_pt": 0.2},
        0.3,
    ),
    "Gaussian slabs, correlation, start, noisy least-squares pretraining": (
        {
            "rho_pt": 0.1,
            "rho_shared": 0.4,
            "rho_new": 0.02,
            "pt_slab": Slab.gaussian(2.0),
            "ft_slab": Slab.gaussian(3.0),
            "correlation": 0.6,
        },
        {"c": 0.1, "lam": -0.5, "gamma": 0.3},
        {"noise": 0.1, "alpha_pt": 1.5, "noise_pt": 0.2, "start": 0.7},
        0.8,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_against_differences(name):
    task, init, options, alpha = CASES[name]

    def mse(**changed):
        parts = [{k: changed.get(k, v) for k, v in part.items()} for part in (task, init, options)]
        ds = generalization_curve(Task(**parts[0]), Initialization(**parts[1]), changed.get("alpha", alpha), **parts[2])
        return float(ds.mse[0])

    ds = generalization_curve(Task(**task), Initialization(**init), alpha, sensitivities=True, **options)
    base = task | init | options | {"alpha": alpha}
    compared = 0
    for parameter in PARAMETERS:
        if not isinstance(base.get(parameter), float) or base[parameter] == 0.0:
            continue
        x, h = base[parameter], 2e-4 * abs(base[parameter])
        f = [mse(**{parameter: x + k * h}) for k in (1, -1, 2, -2)]
        expected = (8 * (f[0] - f[1]) - (f[2] - f[3])) / (12 * h)
        assert float(ds[f"d_mse_d_{parameter}"][0]) == pytest.approx(expected, rel=1e-6), parameter
        compared += 1
    assert compared >= 8


def test_closed_forms_above_one_and_missing_parameters():
    task, init = Task.from_overlap(0.1, 0.1, 0.5), Initialization(1e-3)
    ds = generalization_curve(task, init, [0.5, 2.0], noise=0.4, sensitivities=True)
    assert float(ds.d_mse_d_alpha[1]) == pytest.approx(-0.4, rel=1e-14)
    assert float(ds.d_mse_d_noise[1]) == 1.0
    assert float(ds.d_mse_d_lam[1]) == 0.0
    assert np.isnan(ds.d_mse_d_alpha_pt).all()
    vectors = np.random.default_rng(0).standard_normal((2, 30))
    sampled = generalization_curve(Task.from_samples(*vectors), init, 0.5, sensitivities=True)
    assert np.isnan(sampled.d_mse_d_rho_pt).all()
    assert np.isfinite(sampled.d_mse_d_lam).all()


def test_dead_group_still_has_a_derivative():
    """omega = 1 leaves no new dimensions; the first of them still costs something."""
    task = Task(0.1, 0.4, 0.0, ft_slab=Slab.gaussian(4.0))
    ds = generalization_curve(task, Initialization(1e-3), 0.2, sensitivities=True)
    more = [
        float(generalization_curve(Task(0.1, 0.4, h, ft_slab=Slab.gaussian(4.0)), Initialization(1e-3), 0.2).mse[0])
        for h in (0.0, 1e-5, 2e-5)
    ]
    forward = (-3 * more[0] + 4 * more[1] - more[2]) / 2e-5
    assert float(ds.d_mse_d_rho_new[0]) == pytest.approx(forward, rel=1e-5)


@pytest.mark.parametrize(
    ("rho_ft", "omega", "alpha", "alpha_pt", "where"),
    [
        (0.1, 1, 0.1, None, "upper"),  # C8: full overlap
        (0.1, 0, 0.3, None, "lower"),  # C9: none
        (0.01, 1, 0.03, None, (-0.999, -0.98)),  # C10: a subset
        (0.1, 1, 0.2, 0.25, (-0.99, -0.7)),  # C11: imperfect pretraining at full overlap
    ],
)
def test_optimum_over_lam_reproduces_the_claims(rho_ft, omega, alpha, alpha_pt, where):
    task = Task.from_overlap(0.1, rho_ft, omega)
    best = optimal_initialization(task, alpha, c=1e-3, gamma=0.0, alpha_pt=alpha_pt)
    if isinstance(where, str):
        assert best.active == {"lam": where}
        assert best.init.lam == (1.0 if where == "upper" else -1.0 + 1e-9)
    else:
        assert best.active == {}
        assert where[0] < best.init.lam < where[1]
        assert abs(best.gradient["lam"]) < 1e-6
    scan = [
        float(generalization_curve(task, Initialization(1e-3, lam), alpha, alpha_pt).mse[0])
        for lam in -1 + np.geomspace(1e-8, 2.0, 25)
    ]
    assert best.mse <= min(scan) * (1 + 1e-9)


def test_optimum_over_all_three_beats_random_search():
    task = Task.from_overlap(0.2, 0.1, 0.6)
    best = optimal_initialization(task, 0.3, noise=0.05, bounds={"c": (1e-4, 10.0)}, starts=3)
    rng = np.random.default_rng(0)
    for _ in range(60):
        init = Initialization(10 ** rng.uniform(-4, 1), -1 + 10 ** rng.uniform(-8, 0.3), 10 ** rng.uniform(-4, 1))
        assert float(generalization_curve(task, init, 0.3, noise=0.05).mse[0]) >= best.mse * (1 - 1e-9)
    assert best.regime in {"I", "II", "III", "IV", "uncertain"}
    assert "mse" in best.message


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"c": 1.0, "lam": 0.0, "gamma": 0.0}, "all fixed"),
        ({"bounds": {"lambda": (0, 1)}}, "no parameter 'lambda'"),
        ({"bounds": {"lam": (0.5, 0.1)}}, r"bounds\['lam'\]\[1\] = 0.1"),
        ({"lam": 2.0}, "lam = 2.0"),
        ({"alpha": 0.0}, "alpha = 0.0"),
        ({"starts": 0}, "starts = 0"),
        ({"task": 1}, "task must be a Task"),
    ],
)
def test_bad_search_is_named(arguments, words):
    arguments = {"task": Task.from_overlap(0.1, 0.1, 0.5), "alpha": 0.2} | arguments
    with pytest.raises((TypeError, ValueError), match=words):
        optimal_initialization(**arguments)
