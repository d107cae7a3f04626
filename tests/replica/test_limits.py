"""Limits with closed forms: the l1 phase transition, basis pursuit, and how slowly the potential gets there."""

import numpy as np
import pytest
from scipy.optimize import linprog

from numerics.replica import generalization_curve
from numerics.replica.limits import basis_pursuit, minimum_norm, phase_transition, recovery_threshold, ridge
from numerics.task import Initialization, Slab, Task

TASK = Task.from_overlap(0.1, 0.1, 0.5)
# CASES: Donoho-Tanner weak threshold
DONOHO_TANNER = {
    0.05: 0.154360523146,
    0.10: 0.189429367760,
    0.25: 0.267383552408,
    0.50: 0.385689666181,
    0.75: 0.533711676804,
    0.90: 0.678169378134,
}


@pytest.mark.parametrize("alpha", DONOHO_TANNER)
def test_phase_transition_to_eleven_digits(alpha):
    found = phase_transition(alpha)
    assert found.rho == pytest.approx(DONOHO_TANNER[alpha], abs=6e-13)
    assert recovery_threshold(alpha * found.rho) == pytest.approx(alpha, rel=1e-10)


def test_basis_pursuit_of_cases():
    mse = basis_pursuit(TASK, [0.1, 0.2, 0.3, 0.32, 0.3287, 0.3288, 0.5])
    np.testing.assert_allclose(mse[:4], [0.9399377402, 0.435561046, 0.03413454649, 0.003551633684], rtol=2e-9)
    assert recovery_threshold(0.1) == pytest.approx(0.328793505454, abs=1e-12)
    assert mse[4] > 0
    assert list(mse[5:]) == [0.0, 0.0]


def test_basis_pursuit_is_linear_programming():
    """Independent of any saddle point: l1 minimisation of random instances."""
    rng, dim, alpha, found = np.random.default_rng(0), 220, 0.25, []
    for _ in range(6):
        _, beta = TASK.sample(dim, rng)
        X = rng.standard_normal((int(alpha * dim), dim)) / np.sqrt(dim)
        program = linprog(np.ones(2 * dim), A_eq=np.hstack([X, -X]), b_eq=X @ beta, bounds=(0, None))
        found.append(np.mean((program.x[:dim] - program.x[dim:] - beta) ** 2))
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found) - basis_pursuit(TASK, alpha)) < 4 * error + 0.1 * basis_pursuit(TASK, alpha)


@pytest.mark.parametrize(("alpha", "spread"), [(0.1, 0.12), (0.25, 0.01)])
def test_the_potential_reaches_basis_pursuit_logarithmically(alpha, spread):
    """The distance to l1 is a constant over log(1/c_FT): slower than any power."""
    limit = float(basis_pursuit(TASK, alpha))
    scales = np.array([1e-16, 1e-32, 1e-64, 1e-128])
    gap = [
        float(generalization_curve(TASK, Initialization(c, -1.0, np.sqrt(2 * c)), alpha).mse[0]) - limit for c in scales
    ]
    rate = np.array(gap) * np.log(1 / scales)
    assert np.ptp(rate) < spread * abs(rate[-1])
    assert np.all(np.abs(np.diff(rate)[1:]) < 0.7 * np.abs(np.diff(rate)[:-1]))  # and the constant is approached


def test_minimum_norm_and_ridge_meet():
    alpha = np.array([0.2, 0.6])
    expected = (1 - alpha) + 0.3 * alpha / (1 - alpha)
    np.testing.assert_allclose(minimum_norm(TASK, alpha, 0.3), expected, rtol=1e-14)
    np.testing.assert_allclose(ridge(TASK, alpha, 1e-9, 0.3), expected, rtol=1e-7)
    np.testing.assert_allclose(
        generalization_curve(TASK, Initialization(1e10), alpha, noise=0.3, ridge=4e9).mse,
        ridge(TASK, alpha, 0.1, 0.3),  # penalty = ridge/(2 c_FT), c_FT = 2c
        rtol=1e-9,
    )


def test_bad_limits_are_named():
    with pytest.raises(ValueError, match=r"alpha = 1\.0"):
        phase_transition(1.0)
    with pytest.raises(ValueError, match="uncorrelated Gaussian"):
        basis_pursuit(Task(0.1, 0.2, 0.1, ft_slab=Slab.sign(1.0)), 0.2)
    with pytest.raises(ValueError, match="penalty"):
        ridge(TASK, 0.3, 0.0)
