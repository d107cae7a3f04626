"""The exact limit: against closed forms, 50-digit scalar roots, a general-purpose minimiser, and hostile data."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

from numerics.diagonal.interpolation import ACCEPT, InterpolationError, interpolate


def gaussian(n, dim, seed):
    return np.random.default_rng(seed).normal(size=(n, dim)) / np.sqrt(dim)


def textbook(beta, c):
    """The potential as the paper writes it, with k = 4 c^2."""
    root = 2 * c
    x = 2 * beta / root
    return np.sum(root / 4 * (1 - np.sqrt(1 + x**2) + x * np.arcsinh(x)))


def scalar_dual_root(x, c, y):
    """Root nu of sum_d x_d c_d sinh(2 x_d nu) = y by bisection at 50 digits; the sum increases in nu."""
    x, c, y = [mp.mpf(v) for v in x], [mp.mpf(v) for v in c], mp.mpf(y)
    low, high = mp.mpf(-400), mp.mpf(400)
    for _ in range(200):
        middle = (low + high) / 2
        below = mp.fsum(b * a * mp.sinh(2 * a * middle) for a, b in zip(x, c, strict=True)) < y
        low, high = (middle, high) if below else (low, middle)
    return low


@pytest.mark.parametrize("y", [1e-9, -0.4, 7.0, 1e4])
def test_one_sample_against_a_root_at_50_digits(y):
    x = np.array([1.3, -0.2, 0.7, 2.0, -1.1, 1e-3])
    c = np.array([1e-12, 1e6, 1e-3, 1e-6, 1.0, 30.0])
    sol = interpolate(x[None], [y], c)
    with mp.workdps(50):
        nu = scalar_dual_root(x, c, y)
        beta = np.array([float(mp.mpf(b) * mp.sinh(2 * mp.mpf(a) * nu)) for a, b in zip(x, c, strict=True)])
    assert sol.nu[0] == pytest.approx(float(nu), rel=1e-12)
    np.testing.assert_allclose(sol.beta, beta, rtol=1e-11)


@pytest.mark.parametrize("seed", range(4))
def test_against_a_general_minimiser_on_the_textbook_potential(seed):
    X, rng = gaussian(3, 7, seed), np.random.default_rng(seed + 100)
    y, c = rng.normal(size=3), 10.0 ** rng.uniform(-1.5, 1, 7)
    null = np.linalg.svd(X)[2][3:].T
    base = np.linalg.pinv(X) @ y
    found = minimize(lambda a: textbook(base + null @ a, c), np.zeros(4), method="BFGS", options={"gtol": 1e-9})
    sol = interpolate(X, y, c)
    np.testing.assert_allclose(sol.beta, base + null @ found.x, atol=2e-6)
    assert textbook(sol.beta, c) <= found.fun + 1e-12


@pytest.mark.parametrize("ridge", [1e-3, 0.3, 20.0])
def test_ridge_against_a_general_minimiser(ridge):
    X, rng = gaussian(6, 4, 5), np.random.default_rng(6)
    y, c = rng.normal(size=6), np.array([0.05, 0.3, 2.0, 1.0])
    loss = lambda b: 0.5 * np.sum((y - X @ b) ** 2) + ridge * textbook(b, c)  # noqa: E731
    found = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(interpolate(X, y, c, ridge=ridge).beta, found.x, atol=1e-6)


def test_large_scale_is_the_weighted_least_norm_solution():
    X, c = gaussian(20, 50, 0), 1e5 * np.random.default_rng(1).uniform(1, 9, 50)
    y = X @ np.ones(50)
    expected = c * (X.T @ np.linalg.solve((X * c) @ X.T, y))
    np.testing.assert_allclose(interpolate(X, y, c).beta, expected, atol=1e-9)
    ridge = 1e5
    expected = np.linalg.solve(X.T @ X + ridge * np.diag(1 / (2 * c)), X.T @ y)
    np.testing.assert_allclose(interpolate(X, y, c, ridge=ridge).beta, expected, atol=1e-9)


def test_small_scale_approaches_basis_pursuit():
    rng = np.random.default_rng(3)
    X, beta = gaussian(30, 60, 3), np.where(rng.random(60) < 0.1, rng.normal(size=60), 0.0)
    y = X @ beta
    lp = linprog(np.ones(120), A_eq=np.hstack([X, -X]), b_eq=y)
    excess = [np.abs(interpolate(X, y, c).beta).sum() - lp.fun for c in (1e-1, 1e-3, 1e-6, 1e-12)]
    assert excess[0] > excess[1] > excess[2] > excess[3] > -1e-9
    assert excess[-1] < 1e-4  # this vector is one that l1 recovers: the distance falls like a power of c


@given(st.integers(0, 10**6), st.integers(2, 25), st.floats(0.05, 1.0), st.sampled_from([0.0, 1e-6, 1.0]))
def test_kkt_holds_and_every_feasible_move_costs(seed, dim, share, ridge):
    rng = np.random.default_rng(seed)
    n = max(1, int(share * dim))
    X, c = gaussian(n, dim, seed), 10.0 ** rng.uniform(-12, 6, dim)
    y = X @ (rng.normal(size=dim) * (rng.random(dim) < 0.5))
    sol = interpolate(X, y, c, ridge=ridge)
    size = max(np.linalg.norm(y), 1e-300)
    assert np.linalg.norm(X @ sol.beta + ridge * sol.nu - y) <= ACCEPT * size
    if n < dim:
        angle, size = np.arcsinh(sol.beta / c), 1 + 2 * np.abs(sol.nu).sum()
        assert np.max(np.abs(angle - 2 * X.T @ sol.nu)) <= ACCEPT * (size + np.max(np.abs(angle)))


def test_ten_steps_for_every_realistic_scale():
    rng = np.random.default_rng(0)
    beta_pt = (rng.random(400) < 0.1).astype(float)
    X, beta = gaussian(120, 400, 0), np.where(rng.random(400) < 0.1, 3 * rng.normal(size=400), 0.0)
    for c, most in ((1e-6, 20), (1e-3, 12), (1.0, 6), (1e3, 3)):
        sol = interpolate(X, X @ beta, c * (1 + np.sqrt(1 + (beta_pt / c) ** 2)))
        assert sol.iterations <= most
        assert sol.residual < 1e-12


class TestHostileData:
    X = gaussian(5, 12, 1)
    y = np.random.default_rng(2).normal(size=5)

    def test_equal_rows_with_equal_targets_change_nothing(self):
        twice = interpolate(np.vstack([self.X, self.X[1:3]]), np.r_[self.y, self.y[1:3]], 0.1)
        np.testing.assert_allclose(twice.beta, interpolate(self.X, self.y, 0.1).beta, atol=1e-13)
        assert (twice.rank, twice.nu.shape) == (5, (7,))

    def test_equal_rows_with_conflicting_targets(self):
        X, y = np.vstack([self.X, self.X[:1]]), np.r_[self.y, self.y[0] + 1e-6]
        with pytest.raises(ValueError, match=r"6 rows of rank 5.*different targets.*ridge > 0"):
            interpolate(X, y, 0.1)
        sol = interpolate(X, y, 0.1, ridge=1e-12)
        average = interpolate(self.X, self.y + np.r_[5e-7, 0, 0, 0, 0], 0.1)
        np.testing.assert_allclose(sol.beta, average.beta, atol=1e-10)
        np.testing.assert_allclose(X @ sol.beta + 1e-12 * sol.nu, y, atol=1e-14)

    def test_rank_deficient_product(self):
        X = gaussian(8, 3, 3) @ gaussian(3, 12, 4)
        sol = interpolate(X, X @ np.ones(12), 0.2)
        assert sol.rank == 3
        np.testing.assert_allclose(X @ sol.beta, X @ np.ones(12), atol=1e-13)

    def test_zero_columns_stay_zero(self):
        X = self.X * (np.arange(12) != 4)
        sol = interpolate(X, self.y, 1e-3)
        assert sol.beta[4] == 0.0
        keep = np.arange(12) != 4
        np.testing.assert_allclose(sol.beta[keep], interpolate(X[:, keep], self.y, 1e-3).beta, atol=1e-13)

    def test_zero_rows(self):
        X = np.vstack([self.X, np.zeros(12)])
        np.testing.assert_allclose(
            interpolate(X, np.r_[self.y, 0.0], 1.0).beta, interpolate(self.X, self.y, 1.0).beta, atol=1e-13
        )
        with pytest.raises(ValueError, match="no beta satisfies"):
            interpolate(X, np.r_[self.y, 1.0], 1.0)
        with pytest.raises(ValueError, match="rank 0"):
            interpolate(np.zeros((2, 3)), [1.0, 2.0], 1.0)

    def test_zero_targets(self):
        sol = interpolate(self.X, np.zeros(5), 1.0)
        assert not sol.beta.any()
        assert "beta = 0" in sol.message

    @pytest.mark.parametrize("n", [6, 9])
    def test_as_many_constraints_as_unknowns(self, n):
        X, truth = gaussian(n, 6, 7), np.arange(1.0, 7.0)
        for c in (1e-6, 1.0):
            sol = interpolate(X, X @ truth, c)
            assert "c_ft plays no role" in sol.message
            np.testing.assert_allclose(sol.beta, truth, atol=1e-11)
            np.testing.assert_allclose(2 * X.T @ sol.nu, np.arcsinh(truth / c), atol=1e-10)

    def test_noise_with_more_samples_than_unknowns(self):
        X, y = gaussian(9, 6, 7), np.random.default_rng(0).normal(size=9)
        with pytest.raises(ValueError, match="outside its range"):
            interpolate(X, y, 1.0)
        small = interpolate(X, y, 1.0, ridge=1e-13)
        np.testing.assert_allclose(small.beta, np.linalg.lstsq(X, y)[0], atol=1e-9)

    def test_scales_over_eighteen_decades(self):
        c = 10.0 ** np.linspace(-12, 6, 12)
        sol = interpolate(self.X, self.y, c)
        assert sol.residual < 1e-12
        backwards = interpolate(self.X[:, ::-1], self.y, c[::-1])
        np.testing.assert_allclose(sol.beta, backwards.beta[::-1], rtol=1e-7, atol=1e-13)

    def test_float32_lists_and_integers(self):
        single = interpolate(self.X.astype("f"), self.y.astype("f"), np.float32(0.5))
        assert single.beta.dtype == np.float64
        np.testing.assert_allclose(single.beta, interpolate(self.X, self.y, 0.5).beta, atol=1e-5)
        np.testing.assert_allclose(interpolate([[3, 4]], [5], [1, 1]).beta @ [3, 4], 5, rtol=1e-14)
        repeated = np.vstack([self.X, self.X[0] + self.X[1]]).astype("f")  # dependent only up to float32 rounding
        assert interpolate(repeated, (repeated.astype(float) @ np.ones(12)).astype("f"), 0.5).rank == 5

    @pytest.mark.parametrize("factor", [1e-250, 1e250])
    def test_units_do_not_matter(self, factor):
        sol = interpolate(self.X, self.y * factor, 0.1 * factor)
        np.testing.assert_allclose(sol.beta / factor, interpolate(self.X, self.y, 0.1).beta, rtol=1e-10)

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"X": X * np.nan}, r"X\[0, 0\] = .*nan"),
            ({"y": y * np.inf}, r"y\[0\] = .*inf"),
            ({"y": y[:3]}, "5 rows and y has 3"),
            ({"X": X[:0], "y": y[:0]}, "must not be empty"),
            ({"X": y}, "2 dimension"),
            ({"c_ft": 0.0}, r"c_ft = .*0\.0.*\(0, inf\)"),
            ({"c_ft": -np.ones(12)}, r"c_ft\[0\]"),
            ({"c_ft": np.ones(5)}, r"shape \(5,\).*\(12,\)"),
            ({"c_ft": 1e-80}, "1e-60, 1e60"),
            ({"ridge": -1.0}, "ridge = -1.0"),
            ({"max_iterations": 0}, "max_iterations = 0"),
        ],
    )
    def test_refusals_name_the_argument(self, change, words):
        with pytest.raises(ValueError, match=words):
            interpolate(**({"X": self.X, "y": self.y, "c_ft": 1.0} | change))

    def test_unconverged_is_an_exception_that_says_how_far(self):
        with pytest.raises(InterpolationError, match=r"residual .* after 2 Newton steps, 1e-10 is required"):
            interpolate(self.X, self.y, 1e-8, max_iterations=2)
