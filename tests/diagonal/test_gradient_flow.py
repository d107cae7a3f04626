"""The path of the four weights and of the dual: conservation, limit, both stages, conventions told apart."""

import numpy as np
import pytest
from scipy.linalg import expm

from numerics.diagonal.dual_flow import dual_flow
from numerics.diagonal.gradient_flow import check_scale, gradient_flow, weight_flow
from numerics.diagonal.interpolation import interpolate
from numerics.diagonal.trajectory import FlowError, effective_rank
from numerics.diagonal.weights import Weights
from numerics.task import Initialization

DIM = 8
INITS = [(1e-2, -0.5, 0.1), (1e-3, 0.0, 0.0), (1e-4, -0.99, 0.01), (1.0, 0.5, 1.0)]


def problem(n, seed, dim=DIM):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, dim)) / np.sqrt(dim)
    return X, X @ (rng.normal(size=dim) * (rng.random(dim) < 0.5) + 0.1)


@pytest.fixture(scope="module", params=INITS, ids=str)
def two_stages(request):
    init = Initialization(*request.param)
    return init, gradient_flow(*problem(6, 1), init, *problem(4, 2))


def test_conservation_laws_hold_along_both_stages(two_stages):
    _, path = two_stages
    for stage in (path, path.pretraining):
        assert 0.0 < stage.drift <= 1e-10
        laws = stage.weights.conserved()
        assert np.abs(laws - laws[:, :1]).max() <= 1e-10


def test_both_stages_end_at_the_exact_limit(two_stages):
    init, path = two_stages
    assert check_scale(path.pretraining, init.c).distance < 1e-8
    assert check_scale(path, init.c_ft(path.pretraining.limit)).distance < 1e-8
    np.testing.assert_allclose(path.X @ path.limit, path.y, atol=1e-11)


def test_a_wrong_scale_is_rejected(two_stages):
    init, path = two_stages
    scale = init.c_ft(path.pretraining.limit)
    for wrong in (1.02 * scale, np.full(DIM, scale.mean()), 4 * scale**2):
        verdict = check_scale(path, wrong)
        assert not verdict.agrees
        assert verdict.distance > 1e-5
        assert "contradicts" in verdict.message


def test_dual_variables_follow_the_same_path(two_stages):
    init, path = two_stages
    dual = gradient_flow(*problem(6, 1), init, *problem(4, 2), variables="dual", rtol=1e-10)
    times = np.geomspace(path.t[1], path.t[-1] * 0.9, 40)
    scale = np.abs(path.limit).max()
    np.testing.assert_allclose(dual.beta_at(times), path.beta_at(times), atol=2e-8 * scale)
    np.testing.assert_allclose(dual.limit, path.limit, atol=1e-9 * scale)
    assert np.all(np.diff(dual.loss) <= 0)


def test_closed_form_of_a_single_coordinate():
    # D = n = 1, loss (1/2)(x b - y)^2: (w + v)(t) grows by exp(R), and beta = c sinh 2R at every time
    init = Initialization(c=0.3, lam=0.4)
    path = gradient_flow([[2.0]], [3.0], init)
    w = path.weights
    growth = np.log((w.w_plus + w.v_plus)[:, 0] / (w.w_plus + w.v_plus)[0, 0])
    decay = np.log((w.w_minus + w.v_minus)[:, 0] / (w.w_minus + w.v_minus)[0, 0])
    np.testing.assert_allclose(growth, -decay, atol=1e-10)
    np.testing.assert_allclose(path.beta[:, 0], 0.3 * np.sinh(2 * growth), atol=1e-10)


def test_lazy_path_is_linear_dynamics():
    # for c much larger than beta the flow is d beta/dt = 2 c X^T (y - X beta): an explicit matrix exponential
    X, y = problem(3, 5)
    c = 1e6
    path = dual_flow(X, y, np.full(DIM, c), 1e-10, 1e-10)
    kernel = 2 * c * X @ X.T
    for t in (0.3 / c, 2.0 / c, 10.0 / c):
        gap = expm(-kernel * t) @ y
        np.testing.assert_allclose(y - X @ path.beta_at(t), gap, atol=1e-8)


def test_conventions_are_told_apart():
    X_pt, y_pt = problem(6, 1)
    X, y = problem(4, 2)
    init = Initialization(c=0.1, lam=-0.5, gamma=0.6)
    first = gradient_flow(X_pt, y_pt, init)
    end = Weights(*(w[-1] for w in first.weights))
    ours = check_scale(weight_flow(X, y, end.rebalance(0.6)), init.c_ft(first.limit))
    theirs = check_scale(weight_flow(X, y, end.rebalance(0.6, readout=0.6)), init.c_ft(first.limit))
    assert ours.agrees
    assert theirs.distance > 1e-3
    door = Initialization.from_readout(0.1, -0.5, 0.6)  # the named door of the convention v = gamma
    assert check_scale(weight_flow(X, y, end.rebalance(0.6, readout=0.6)), door.c_ft(first.limit)).agrees
    second = weight_flow(X, y, end.rebalance(0.6))
    misread = Initialization(0.1, -0.05, 0.6)  # w^2 - v^2 = -0.05 un-normalised, read as normalised
    assert check_scale(second, misread.c_ft(first.limit)).distance > 1e-3
    assert check_scale(second, Initialization.from_unnormalised_lambda(0.1, -0.05, 0.6).c_ft(first.limit)).agrees


def test_oracle_pretraining_starts_where_pretraining_would_have_ended(two_stages):
    init, path = two_stages
    again = gradient_flow(*problem(4, 2), init, beta_pt=path.pretraining.limit)
    np.testing.assert_allclose(again.limit, path.limit, atol=1e-8 * np.abs(path.limit).max())
    np.testing.assert_allclose(again.c, init.c_ft(path.pretraining.limit), rtol=1e-12)


def test_as_many_samples_as_dimensions_is_refused_as_unidentifiable():
    path = gradient_flow(*problem(DIM, 3), Initialization(0.5))
    with pytest.raises(ValueError, match="unidentifiable"):
        check_scale(path, 0.5)


def test_quantities_along_the_path():
    X, y = problem(4, 2)
    path = gradient_flow(X, y, Initialization(1e-3), variables="dual")
    np.testing.assert_allclose(path.loss[0], 0.5 * y @ y)
    assert path.residual <= 1.001e-12
    assert path.ell_order[0] == 2.0
    assert np.all((path.ell_order > 1) & (path.ell_order <= 2))
    assert path.effective_rank[0] == 0.0
    assert path.beta_at(path.t[3]).shape == (DIM,)
    assert path.beta_at(path.t[:3]).shape == (3, DIM)


@pytest.mark.parametrize("variables", ["weights", "dual"])
def test_dense_output_between_the_steps(variables):
    X, y = problem(4, 2)
    path = gradient_flow(X, y, Initialization(1e-2), variables=variables)
    middle = (path.t[:-1] + path.t[1:]) / 2
    dense = path.at(np.sort(np.r_[path.t, middle]))
    np.testing.assert_allclose(dense.loss[::2], path.loss, rtol=1e-5, atol=1e-14)
    assert np.all(np.diff(dense.loss) <= 1e-14)  # no wiggle between steps
    np.testing.assert_allclose(dense.effective_rank[2::2], path.effective_rank[1:], rtol=1e-5)
    np.testing.assert_allclose(dense.ell_order[::2], path.ell_order, rtol=1e-5)
    with pytest.raises(ValueError, match="times"):
        path.at([2 * path.t[-1]])


def test_effective_rank():
    np.testing.assert_allclose(effective_rank(np.array([[3.0, -3, 3, 0], [0, 0, 7, 0], [0, 0, 0, 0]])), [3, 1, 0])


@pytest.mark.parametrize("c", [1e-20, 1e-6, 100.0])
def test_extreme_scales(c):
    X, y = problem(3, 11)
    limit = interpolate(X, y, c).beta
    for variables in ("weights", "dual"):
        path = gradient_flow(X, y, Initialization(c), variables=variables, stop=1e-11)
        np.testing.assert_allclose(path.limit, limit, atol=1e-8 * np.abs(limit).max())


def test_zero_targets_stay_at_zero():
    for variables in ("weights", "dual"):
        path = gradient_flow(np.ones((1, 3)), [0.0], Initialization(1.0), variables=variables)
        assert not path.beta.any()
        assert path.beta_at([0.0, 1.0]).shape == (2, 3)


def test_refusals():
    X, y = problem(4, 2)
    init = Initialization(0.1)
    with pytest.raises(ValueError, match="variables = 'primal'"):
        gradient_flow(X, y, init, variables="primal")
    with pytest.raises(ValueError, match=r"beta_pt has shape \(3,\)"):
        gradient_flow(X, y, init, beta_pt=np.ones(3))
    with pytest.raises(ValueError, match="X_ft has 3 columns"):
        gradient_flow(X, y, init, X[:, :3], y)
    with pytest.raises(TypeError, match="init must be an Initialization"):
        gradient_flow(X, y, 0.1)
    with pytest.raises(FlowError, match=r"rounding alone leaves a residual of .* use variables = 'dual'"):
        gradient_flow(X, y, Initialization(1e8))
    with pytest.raises(ValueError, match="stop = 0"):
        gradient_flow(X, y, init, stop=0.0)
    for variables in ("weights", "dual"):  # conflicting rows: no interpolator, so the residual stays
        with pytest.raises(FlowError, match="cannot fall below 0"):
            gradient_flow(np.vstack([X, X[:1]]), np.r_[y, y[0] + 1], init, variables=variables)


def test_the_limit_does_not_depend_on_the_tolerance_in_dual_variables():
    X, y = problem(30, 7, dim=100)
    rough = dual_flow(X, y, np.full(100, 1e-3), 1e-11, 1e-3)
    np.testing.assert_allclose(rough.limit, interpolate(X, y, 1e-3).beta, atol=1e-8)
