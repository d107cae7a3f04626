"""The saddle-point solver against an independent oracle, closed forms, its own options and its fallback."""

import numpy as np
import oracles
import pytest

from numerics.replica import ConvergenceError, generalization_curve
from numerics.replica.batch import predict
from numerics.replica.bracketing import nested
from numerics.replica.equations import Settings
from numerics.replica.mixture import Pretraining, build
from numerics.replica.saddle_point import attempt, solve
from numerics.task import Initialization, Slab, Task

# rho_pt, rho_ft, omega, c, lam, gamma, alpha, noise, ridge
SETTINGS = [
    (0.1, 0.04, 1.0, 1e-3, 0.0, 0.0, 0.1, 0.0, 0.0),
    (0.3, 0.2, 0.4, 1e-2, -0.9, 0.1, 0.4, 0.2, 0.0),
    (0.5, 0.05, 0.8, 1.0, 0.5, 0.0, 0.7, 0.0, 0.3),
    (0.2, 0.3, 0.1, 1e-4, -0.999, 0.0, 0.95, 0.05, 1e-3),
    (0.1, 0.1, 0.0, 30.0, 0.0, 3.0, 0.02, 1.0, 0.0),
    (0.4, 0.02, 0.6, 1e-6, -0.5, 0.0, 1.7, 0.3, 0.05),
]


@pytest.mark.parametrize("setting", SETTINGS)
def test_against_panels_bisection_and_scipy_root(setting):
    rho_pt, rho_ft, omega, c, lam, gamma, alpha, noise, ridge = setting
    ds = generalization_curve(
        Task.from_overlap(rho_pt, rho_ft, omega), Initialization(c, lam, gamma), alpha, noise=noise, ridge=ridge
    )
    components = oracles.oracle_components(rho_pt, rho_ft, omega, c, lam, gamma)
    guess = (1.2 * float(ds.s2[0]), 0.85 * float(ds.g[0]))
    (s2, g), residual = oracles.saddle_point(components, alpha, noise, ridge, guess)
    assert residual < 1e-12
    assert float(ds.s2[0]) == pytest.approx(s2, rel=1e-11)
    assert float(ds.g[0]) == pytest.approx(g, rel=1e-11)


def test_points_signs_and_a_start_against_the_oracle():
    """Point slabs (odd integrands, tails on both sides of the knee) and the Bregman centre."""
    task = Task(0.3, 0.5, 0.2, pt_slab=Slab.sign(2.0), ft_slab=Slab.point(1.5))
    init = Initialization(1e-2, -0.5, 0.1)
    ds = generalization_curve(task, init, 0.6, noise=0.05, start=0.7)
    scale = [1e-2 * 0.5 * (1 + np.sqrt(1 + (b / 1e-2) ** 2)) + 0.005 for b in (0.0, 2.0)]
    centre = np.arcsinh(0.7 * 2.0 / scale[1])
    components = [(0.7 * 0.8, 0.0, 0.0, scale[0], 0.0), (0.7 * 0.2, 1.5, 0.0, scale[0], 0.0)]
    for sign in (-1, 1):
        components.append((0.15 * 0.5, 0.0, 0.0, scale[1], sign * centre))
        components.append((0.15 * 0.5, 1.5, 0.0, scale[1], sign * centre))
    error, dof = oracles.mixture_moments(components, float(ds.s2[0]), float(ds.g[0]))
    assert (0.05 + error) / 0.6 == pytest.approx(float(ds.s2[0]), rel=1e-11)
    assert dof == pytest.approx(0.6, rel=1e-11)


@pytest.mark.parametrize("alpha", [0.05, 0.5, 0.97])
def test_large_scale_is_minimum_norm_interpolation(alpha):
    ds = generalization_curve(Task.from_overlap(0.1, 0.1, 0.5), Initialization(1e9), alpha, noise=0.3)
    assert float(ds.mse[0]) == pytest.approx((1 - alpha) + 0.3 * alpha / (1 - alpha), rel=1e-9)
    assert float(ds.ell_order[0]) == pytest.approx(2.0, abs=1e-9)


@pytest.mark.parametrize(("alpha", "ridge"), [(0.4, 1e9), (0.4, 1e10), (2.5, 3e9)])
def test_large_scale_with_ridge_is_marchenko_pastur(alpha, ridge):
    """Ridge regression with penalty ridge/(2 c_FT) beta^2 / 2, by the spectral density of X^T X."""
    c, noise = 1e9, 0.2
    penalty = ridge / (2 * 2 * c)  # c_FT = 2c at lam = 0; q = beta^2/(4 c_FT)
    low, high = (1 - np.sqrt(alpha)) ** 2, (1 + np.sqrt(alpha)) ** 2
    angle, weight = oracles.panels(np.linspace(0, np.pi, 60))
    mu = 0.5 * (low + high) - 0.5 * (high - low) * np.cos(angle)
    density = weight * (0.5 * (high - low) * np.sin(angle)) ** 2 / (2 * np.pi * mu)
    at_zero = max(0.0, 1 - alpha)
    bias = at_zero + np.sum(density * (penalty / (penalty + mu)) ** 2)
    variance = noise * np.sum(density * mu / (penalty + mu) ** 2)
    task = Task.from_overlap(0.1, 0.1, 0.5)  # E beta^2 = 1
    ds = generalization_curve(task, Initialization(c), alpha, noise=noise, ridge=ridge)
    assert float(ds.mse[0]) == pytest.approx(bias + variance, rel=1e-8)
    residual = np.sum(density * (penalty / (penalty + mu)) ** 2 * (mu + noise)) + noise * max(0.0, alpha - 1)
    assert float(ds.train_error[0]) == pytest.approx(residual / alpha, rel=1e-8)


def test_at_and_above_one():
    task, init = Task.from_overlap(0.1, 0.1, 0.5), Initialization(1e-3)
    clean = generalization_curve(task, init, [1.0, 1.5])
    assert (clean.mse == 0).all()
    noisy = generalization_curve(task, init, [1.0, 1.5, 3.0], noise=0.4)
    assert np.isinf(noisy.mse[0])
    np.testing.assert_allclose(noisy.mse[1:], [0.8, 0.2], rtol=1e-14)
    np.testing.assert_allclose(noisy.train_error[1:], 0.4 * (1 - 1 / np.array([1.5, 3.0])), rtol=1e-14)
    np.testing.assert_allclose(noisy.group_error[1], 0.8, rtol=1e-12)
    below = generalization_curve(task, init, 0.99999, noise=0.4)
    assert float(below.mse[0]) == pytest.approx(0.4 / 1e-5, rel=0.05)


def test_options_do_not_change_the_answer():
    mixture = build(Task.from_overlap(0.1, 0.1, 0.5).law, Initialization(1e-4, -0.9))
    alpha = np.array([0.02, 0.2, 0.6, 0.9])
    reference = solve(mixture, alpha, 0.01)
    for options in (
        {"step": 0.05},
        {"step": 0.28},
        {"tolerance": 1e-7},
        {"guess": (1e-3, 1e-6)},
        {"guess": (1e4, 1e4)},
    ):
        found = solve(mixture, alpha, 0.01, **options)
        np.testing.assert_allclose(found.s2, reference.s2, rtol=1e-9)
        np.testing.assert_allclose(found.g, reference.g, rtol=1e-9)


def test_bracketing_alone_finds_the_same_point():
    mixture = build(Task.from_overlap(0.1, 0.1, 0.5).law, Initialization(1e-3), Pretraining(0.3, 0.2), start=1.0)
    alpha, noise, ridge = (np.array(v) for v in ([0.01, 0.3, 0.9, 1.5], [0.1, 0.0, 0.2, 0.1], [0.0, 0.0, 0.0, 0.01]))
    fast = solve(mixture, alpha, noise, ridge)
    log_s2, log_g, _ = nested(Settings(mixture, alpha, noise, ridge), np.zeros(4), 0.15)
    np.testing.assert_allclose(np.exp(log_s2), fast.s2, rtol=1e-8)
    np.testing.assert_allclose(np.exp(log_g), fast.g, rtol=1e-8)


def _random_setting(rng):
    kinds = [Slab(str(rng.choice(["point", "sign", "gaussian"])), 10 ** rng.uniform(-2, 2)) for _ in range(2)]
    free = kinds[1].kind == "gaussian" or (kinds[1].kind == "sign" and kinds[0].kind != "gaussian")
    correlation = float(rng.choice([-1, 0, 1, rng.uniform(-1, 1)])) if free else 0.0
    task = Task(rng.uniform(), rng.uniform(), rng.uniform(), kinds[0], kinds[1], correlation)
    gamma = rng.choice([0, 10 ** rng.uniform(-6, 6)])
    init = Initialization(10 ** rng.uniform(-12, 12), -1 + 10 ** rng.uniform(-12, 0.3), gamma)
    noise, ridge = rng.choice([0, 10 ** rng.uniform(-6, 1)]), rng.choice([0, 10 ** rng.uniform(-8, 2)])
    alpha = 10 ** rng.uniform(-3, 0.7 if ridge > 0 else -0.0005, 3)
    channel = [(0.0, 0.0), (10 ** rng.uniform(-6, 1), 0.0), tuple(10 ** rng.uniform(-6, 1, 2))][rng.integers(3)]
    return task, init, alpha, noise, ridge, Pretraining(*channel), float(rng.choice([0, 0, 1]))


@pytest.mark.parametrize("seed", range(4))
def test_every_random_setting_converges(seed):
    """60 draws of 3 alphas over the whole domain; `benchmarks/replica.py --sweep` runs the long version."""
    rng = np.random.default_rng(seed)
    for _ in range(15):
        task, init, alpha, noise, ridge, channel, start = _random_setting(rng)
        point = solve(build(task.law, init, channel, start), alpha, noise, ridge)
        assert (point.residual <= 1e-11).all()
        assert np.isfinite(point.s2).all()


def test_failure_is_an_exception_with_a_sentence_and_the_best_point():
    mixture = build(Task.from_overlap(0.1, 0.1, 0.5).law, Initialization(1e-3))
    with pytest.raises(ConvergenceError, match=r"alpha = 0.3.*reached residual .* above 1e-18.*try") as caught:
        solve(mixture, [0.3], tolerance=1e-18)
    assert caught.value.s2[0] == pytest.approx(0.3038858655269168, rel=1e-10)
    assert list(caught.value.failed) == [0]


def test_batch_agrees_with_curves_and_records_failures(monkeypatch):
    tasks = [Task.from_overlap(0.1, 0.1, 0.5), Task(0.2, 0.3, 0.1, pt_slab=Slab.gaussian(2.0))]
    c, lam = np.array([1e-3, 1e-2, 1e-3]), np.array([0.0, -0.9, 0.5])
    batch = predict(tasks, c, lam, 0.1, [0.1, 0.4, 2.0], task_index=[0, 1, 1], alpha_pt=0.6, noise_pt=0.1, noise=0.2)
    for i, (task, alpha) in enumerate([(tasks[0], 0.1), (tasks[1], 0.4), (tasks[1], 2.0)]):
        one = generalization_curve(task, Initialization(c[i], lam[i], 0.1), alpha, 0.6, 0.2, 0.1)
        assert batch.mse[i] == pytest.approx(float(one.mse[0]), rel=1e-12)
        assert batch.ell_order[i] == pytest.approx(float(one.ell_order[0]), rel=1e-12)
    assert all(batch.message == "")

    def lame(*args, **kwargs):
        point = attempt(*args, **kwargs)
        return point._replace(residual=np.where(np.arange(len(point.s2)) == 0, 1.0, point.residual))

    monkeypatch.setattr("numerics.replica.saddle_point.attempt", lame)
    hurt = predict(tasks[0], 1e-3, [0.0, 0.1], 0.0, 0.3)
    assert np.isnan(hurt.mse[0])
    assert "reached residual 1.0e+00" in hurt.message[0]
    assert hurt.message[1] == ""
    assert np.isfinite(hurt.mse[1])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"alpha": -0.1}, r"alpha = -0.1 is not allowed.*\[0.0001"),
        ({"alpha": [0.1, np.nan]}, r"alpha\[1\] = .*nan"),
        ({"alpha": [[0.1]]}, "one-dimensional"),
        ({"alpha": []}, "must not be empty"),
        ({"alpha": "x"}, "alpha must be an array of real numbers"),
        ({"noise": -1.0}, "noise = -1.0"),
        ({"ridge": np.inf}, "ridge = inf"),
        ({"noise_pt": 0.1}, "noise_pt = 0.1 needs alpha_pt"),
        ({"alpha_pt": 1.0, "noise_pt": 0.1}, "alpha_pt = 1.0 with noise_pt"),
        ({"alpha_pt": 0.0}, "alpha_pt = 0.0"),
        ({"step": 1.0}, "step = 1.0"),
        ({"task": "task"}, "task must be a Task"),
        ({"init": None}, "init must be an Initialization"),
    ],
)
def test_bad_input_is_named(change, words):
    arguments = {"task": Task.from_overlap(0.1, 0.1, 0.5), "init": Initialization(1e-3), "alpha": 0.1} | change
    with pytest.raises((TypeError, ValueError), match=words):
        generalization_curve(**arguments)
