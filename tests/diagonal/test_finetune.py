"""Both stages on a person's arrays, against the four weight vectors actually integrated, and every kind of data."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import ptft_sym as pt


def flow(X, y, w0, v0, time=4e3):
    """End point (w+, v+, w-, v-) of gradient flow on the weights themselves, from equal paths (w0, v0)."""
    D = X.shape[1]

    def velocity(_, state):
        wp, vp, wm, vm = state.reshape(4, D)
        r = X.T @ (y - X @ (wp * vp - wm * vm))
        return np.concatenate([r * vp, r * wp, -r * vm, -r * wm])

    start = np.concatenate([w0, v0, w0, v0])
    done = solve_ivp(velocity, (0, time), start, method="LSODA", rtol=1e-11, atol=1e-13)
    assert done.success
    return done.y[:, -1].reshape(4, D)


def both_stages(x_pt, y_pt, x_ft, y_ft, c, lam, gamma):
    """Flow of pretraining, the re-initialisation of THEORY section 3 applied to its weights, flow of fine-tuning."""
    D = x_pt.shape[1]
    w, v = np.sqrt(c * (1 + lam) / 2), np.sqrt(c * (1 - lam) / 2)
    wp, vp, wm, vm = flow(x_pt, y_pt, np.full(D, w), np.full(D, v))
    beta_pt = wp * vp - wm * vm
    wp, vp, wm, vm = flow(x_ft, y_ft, wp + wm, np.full(D, gamma / np.sqrt(2)))
    return beta_pt, wp * vp - wm * vm


def small(seed=0, n_pt=3, n_ft=2, D=5):
    rng = np.random.default_rng(seed)
    x_pt, x_ft = rng.standard_normal((n_pt, D)), rng.standard_normal((n_ft, D))
    return x_pt, rng.standard_normal(n_pt), x_ft, rng.standard_normal(n_ft)


@pytest.mark.parametrize(("c", "lam", "gamma"), [(0.5, -0.5, 0.0), (1.0, 0.3, 0.8), (0.2, -1.0, 1.0)])
def test_equals_the_integrated_weights(c, lam, gamma):
    data = small()
    got = pt.finetune(*data, pt.Initialization(c, lam, gamma))
    beta_pt, beta_ft = both_stages(*data, c, lam, gamma)
    np.testing.assert_allclose(got.pretrained.beta, beta_pt, atol=1e-7)
    np.testing.assert_allclose(got.finetuned.beta, beta_ft, atol=1e-7)
    assert got.pretrained.train_error < 1e-20
    assert "interpolation of least potential" in got.finetuned.message


def test_contradicting_rows_end_at_the_flow_s_least_squares_point():
    """Twice the same input with different targets: no interpolator, and n < D leaves the potential to choose."""
    x_pt, y_pt, x_ft, y_ft = small(1)
    x_ft, y_ft = np.vstack([x_ft, x_ft[:1]]), np.append(y_ft, y_ft[0] + 1.0)
    got = pt.finetune(x_pt, y_pt, x_ft, y_ft, pt.Initialization(0.5, 0.2, 0.5))
    _, beta_ft = both_stages(x_pt, y_pt, x_ft, y_ft, 0.5, 0.2, 0.5)
    np.testing.assert_allclose(got.finetuned.beta, beta_ft, atol=1e-7)
    assert "least squares, the one of least potential" in got.finetuned.message
    assert got.finetuned.train_error == pytest.approx(1 / 6)  # two residuals of 1/2 among three rows


def test_more_rows_than_columns_is_least_squares_whatever_the_initialisation():
    data = small(2, n_ft=9)
    expected = np.linalg.lstsq(data[2], data[3], rcond=None)[0]
    for init in (pt.Initialization(1e-3, -0.99), pt.Initialization(2.0, 0.9, 3.0)):
        got = pt.finetune(*data, init)
        np.testing.assert_allclose(got.finetuned.beta, expected, atol=1e-10)
        assert "least squares, which c, lam and gamma cannot change" in got.finetuned.message


def test_consistent_square_data_say_that_they_decide():
    x_pt, y_pt, x_ft, _ = small(3, n_ft=5)
    beta = np.arange(1.0, 6.0)
    got = pt.finetune(x_pt, y_pt, x_ft, x_ft @ beta, pt.Initialization(0.1))
    np.testing.assert_allclose(got.finetuned.beta, beta, rtol=1e-8)
    assert "the data alone determine the solution" in got.finetuned.message


def test_ridge_satisfies_its_stationarity():
    x_pt, y_pt, x_ft, y_ft = small(4)
    got = pt.finetune(x_pt, y_pt, x_ft, y_ft, pt.Initialization(0.5), ridge=0.3)
    beta, c = got.finetuned.beta, got.c_ft
    slope = x_ft.T @ (y_ft - x_ft @ beta) - 0.3 * np.arcsinh(beta / c) / 2
    np.testing.assert_allclose(slope, 0, atol=1e-9)
    assert "ridge = 0.3" in got.finetuned.message


def test_test_errors_are_what_they_say():
    x_pt, y_pt, x_ft, y_ft = small(5)
    x_test, y_test = np.random.default_rng(0).standard_normal((7, 5)), np.array([1.0, -1, 1, 1, -1, 1, -1])
    got = pt.finetune(x_pt, y_pt, x_ft, y_ft, pt.Initialization(0.5), x_test=x_test, y_test=y_test)
    guess = x_test @ got.finetuned.beta
    assert got.test.mse == pytest.approx(sum((g - y) ** 2 for g, y in zip(guess, y_test, strict=True)) / 7)
    assert got.test.misclassified == sum(g * y <= 0 for g, y in zip(guess, y_test, strict=True)) / 7
    real = pt.finetune(x_pt, y_pt, x_ft, y_ft, pt.Initialization(0.5), x_test=x_test, y_test=2 * y_test)
    assert np.isnan(real.test.misclassified)
    assert pt.finetune(x_pt, y_pt, x_ft, y_ft, pt.Initialization(0.5)).test is None


def test_a_scan_is_the_single_solutions():
    data = small(6)
    init = pt.Initialization(0.3, gamma=0.1)
    for lam, one in zip((-1.0, 0.0, 0.5), pt.finetune_scan(*data, init, [-1.0, 0.0, 0.5]), strict=True):
        alone = pt.finetune(*data, pt.Initialization(0.3, lam, 0.1))
        np.testing.assert_array_equal(one.finetuned.beta, alone.finetuned.beta)
        assert one.init.lam == lam


def test_zero_inputs_and_zero_targets_stay_at_zero():
    x_pt, y_pt, x_ft, y_ft = small(7)
    init = pt.Initialization(0.5)
    assert not pt.finetune(x_pt, 0 * y_pt, x_ft, y_ft, init).pretrained.beta.any()
    assert "all zero" in pt.finetune(x_pt, y_pt, 0 * x_ft, y_ft, init).finetuned.message
    got = pt.finetune(x_pt, y_pt, x_ft, 0 * y_ft, init)
    assert not got.finetuned.beta.any()
    assert (got.ell_order, got.pd) == (2.0, 0.0)


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"x_ft": np.ones((2, 4))}, ValueError, "x_ft has 4 columns and x_pt has 5"),
        ({"y_ft": np.ones(3)}, ValueError, "x_ft has 2 rows and y_ft has 3 entries"),
        ({"x_pt": np.full((3, 5), np.nan)}, ValueError, r"x_pt\[0, 0\] = .*nan"),
        ({"y_pt": [1.0, np.inf, 0.0]}, ValueError, r"y_pt\[1\]"),
        ({"x_pt": np.ones((0, 5)), "y_pt": []}, ValueError, "x_pt has shape"),
        ({"y_ft": [1e101, 0.0]}, ValueError, r"y_ft\[0\] = .*1e\+100"),
        ({"y_pt": "abc"}, TypeError, "y_pt must be an array"),
        ({"x_test": np.ones((2, 5))}, ValueError, "belong together"),
        ({"x_test": np.ones((2, 3)), "y_test": np.ones(2)}, ValueError, "x_test has 3 columns"),
        ({"ridge": -1.0}, ValueError, "ridge = -1.0"),
        ({"init": 0.5}, TypeError, "init must be an Initialization"),
    ],
)
def test_bad_data_are_named(change, error, text):
    arguments = dict(zip(("x_pt", "y_pt", "x_ft", "y_ft"), small(), strict=True))
    arguments |= {"init": pt.Initialization(0.5), **change}
    with pytest.raises(error, match=text):
        pt.finetune(**arguments)
