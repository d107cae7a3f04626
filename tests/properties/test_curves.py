"""The predicted curve on random tasks: covariance, continuity, derivatives that agree with each other, enclosures."""

import numpy as np
import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st
from strategies import attempt, documented_initializations, examples, ratios, tasks

import ptft_sym as pt

NOISE = st.sampled_from([0.0, 0.0, 0.01, 0.5])
#: Perfect pretraining, or from fewer or more samples than dimensions (noise_pt where it is imperfect).
PRETRAINING = st.sampled_from([{}, {}, {"alpha_pt": 0.3}, {"alpha_pt": 0.5, "noise_pt": 0.1},
                               {"alpha_pt": 2.0, "noise_pt": 0.1}])  # fmt: skip


def rescaled(task, t):
    """The task with both slabs in other units."""
    slabs = [pt.Slab(s.kind, t * s.scale) for s in (task.pt_slab, task.ft_slab)]
    return pt.Task(task.rho_pt, task.rho_shared, task.rho_new, *slabs, task.correlation)


RIDGES = st.sampled_from([0.0, 0.0, 0.1])


@given(tasks(), documented_initializations(), ratios(), NOISE, RIDGES, PRETRAINING, st.integers(-3, 3))
@examples(0.3)
def test_scale_covariance(task, init, alpha, noise, ridge, pretraining, power):
    """beta -> t beta, c -> t c, gamma^2 -> t gamma^2, noise -> t^2 noise, ridge -> t ridge: mse -> t^2 mse."""
    t = 4.0**power
    other = pt.Initialization(t * init.c, init.lam, t**0.5 * init.gamma)
    here = attempt("generalization_curve", task, init, alpha, noise=noise, ridge=ridge, **pretraining)
    units = {name: value * (t * t if name == "noise_pt" else 1.0) for name, value in pretraining.items()}
    there = attempt(
        "generalization_curve", rescaled(task, t), other, alpha, noise=t * t * noise, ridge=t * ridge, **units
    )
    for name, power in (("mse", 2), ("s2", 2), ("g", 1), ("ell_order", 0), ("pd", 0), ("dof", 0)):
        np.testing.assert_allclose(there[name], t**power * here[name], rtol=1e-7, atol=1e-12 if power == 0 else 0.0)


@given(tasks(), documented_initializations(), ratios(), NOISE, PRETRAINING)
@examples(0.3)
def test_metrics_and_errors_stay_in_their_ranges(task, init, alpha, noise, pretraining):
    ds = attempt("generalization_curve", task, init, alpha, noise=noise, **pretraining)
    assert 1.0 <= float(ds.ell_order[0]) <= 2.0
    assert -1.0 <= float(ds.pd[0]) <= 0.0
    assert 1.0 - 1e-12 <= float(ds.ell_order[0] + ds.pd[0]) <= 2.0 + 1e-12
    assert float(ds.residual[0]) < 1e-8
    np.testing.assert_allclose(ds.s2, (noise + ds.mse) / alpha, rtol=1e-7)  # the first equation of THEORY section 6
    np.testing.assert_allclose(ds.dof, alpha, rtol=1e-7)  # the second, at ridge 0: g cancels
    parts = float((ds.group_error * ds.group_weight).sum())
    np.testing.assert_allclose(parts, ds.mse[0], rtol=1e-6)
    np.testing.assert_allclose(ds.group_weight.sum(), 1.0, rtol=1e-12)


@given(tasks(), documented_initializations(), ratios(high=0.9))
@examples(0.3)
def test_the_curve_is_continuous_in_alpha_and_its_slope_is_its_derivative(task, init, alpha):
    """Differences shrink like the step, and the central one meets d_mse_d_alpha with an error that falls like h^2."""
    h = 1e-3 * alpha
    at = alpha + h * np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    ds = attempt("generalization_curve", task, init, at, sensitivities=True)
    mse, slope = ds.mse.values, float(ds.d_mse_d_alpha[2])
    wide, near = (mse[4] - mse[0]) / (4 * h), (mse[3] - mse[1]) / (2 * h)
    # Richardson's extrapolation; its distance from `near` measures what is left
    best = (4 * near - wide) / 3
    assert abs(best - slope) <= 2 * abs(best - near) + 1e-7 * (abs(slope) + mse[2] / alpha)
    assert np.max(np.abs(np.diff(mse))) <= 2 * h * np.max(np.abs(ds.d_mse_d_alpha.values)) + 1e-9 * mse[2]


@given(tasks(pt_kinds=("point", "sign")), documented_initializations(), ratios(high=0.9), NOISE)
@examples(0.3)
def test_three_derivatives_through_two_scales(task, init, alpha, noise):
    """With perfect pretraining of one size the error sees c, lam and gamma through c_FT(0) and c_FT(a) alone.

    So d_c, d_lam and d_gamma are m0 dc_FT(0) + m1 dc_FT(a) with the same m0, m1: solved from two, they give the third.
    """
    assume(init.gamma > 0.0 and init.lam > -0.999)
    ds = attempt("generalization_curve", task, init, alpha, noise=noise, sensitivities=True)
    a, root = abs(task.pt_slab.scale), np.hypot(init.c, task.pt_slab.scale)
    rows = {
        "c": (2 * (1 + init.lam), (1 + init.lam) * (1 + init.c / root)),
        "lam": (2 * init.c, init.c + root),
        "gamma": (init.gamma, init.gamma),
    }
    derivative = {name: float(ds[f"d_mse_d_{name}"][0]) for name in rows}
    weight = {"c": init.c, "lam": 1 + init.lam, "gamma": init.gamma}  # logarithmic derivatives are comparable
    matrix = np.array([[weight[n] * v for v in rows[n]] for n in rows])
    vector = np.array([weight[n] * derivative[n] for n in rows])
    normal = np.cross(matrix[:, 0], matrix[:, 1])  # orthogonal to both columns: kills every combination of them
    assert a > 0.0
    # a derivative in the logarithm of a scale is known to the rounding of mse: a lazy network's can be far below it
    rounding = 64 * np.finfo(float).eps * float(ds.mse[0])
    assert abs(normal @ vector) <= np.abs(normal) @ (1e-7 * np.abs(vector) + rounding)


@given(tasks(), documented_initializations(), st.floats(1.05, 20.0), st.floats(1e-3, 10.0))
@examples(0.2)
def test_above_one_sample_a_dimension_nothing_but_the_noise_counts(task, init, alpha, noise):
    ds = attempt("generalization_curve", task, init, alpha, noise=noise, sensitivities=True)
    np.testing.assert_allclose(ds.mse, noise / (alpha - 1), rtol=1e-12)
    assert float(ds.d_mse_d_alpha[0]) < 0.0 < float(ds.d_mse_d_noise[0])
    assert [float(ds[f"d_mse_d_{n}"][0]) for n in ("c", "lam", "gamma")] == [0.0, 0.0, 0.0]


@given(tasks(), documented_initializations(), ratios(high=0.9), st.floats(0.01, 0.3), st.floats(0.05, 2.0))
@examples(0.2)
def test_noise_and_ridge_derivatives_meet_differences(task, init, alpha, noise, ridge):
    ds = attempt("generalization_curve", task, init, alpha, noise=noise, ridge=ridge, sensitivities=True)
    for name, value in (("noise", noise), ("ridge", ridge)):
        error = []
        for factor in (1 + 2e-3, 1 - 2e-3, 1 + 1e-3, 1 - 1e-3):
            point = {"noise": noise, "ridge": ridge} | {name: factor * value}
            error.append(float(pt.generalization_curve(task, init, alpha, **point).mse[0]))
        wide, near = (error[0] - error[1]) / (4e-3 * value), (error[2] - error[3]) / (2e-3 * value)
        slope, best = float(ds[f"d_mse_d_{name}"][0]), (4 * near - wide) / 3
        assert abs(best - slope) <= 2 * abs(best - near) + 1e-6 * float(ds.mse[0]) / value


@given(tasks(pt_kinds=("point", "sign")), documented_initializations(), ratios(), NOISE)
@examples(0.03, least=3)
def test_certified_bounds_enclose_the_returned_point(task, init, alpha, noise):
    pytest.importorskip("flint")
    ds = attempt("generalization_curve", task, init, alpha, noise=noise)
    try:
        bounds = pt.certify(ds)
    except ArithmeticError:  # a stated refusal; Hypothesis complains by itself when nearly all are refused
        reject()
    for name in ("s2", "g", "mse"):
        low, high = (float(v) for v in bounds[name][0])
        value = float(ds[name][0])
        assert low <= high
        # mse = alpha s2 - noise cancels where the error is far below the noise: both are then that accurate
        slack = 1e-8 * (value + (noise if name == "mse" else 0.0))
        assert low - slack <= value <= high + slack
        assert high - low <= 2e-8 * (value + (noise if name == "mse" else 0.0))
