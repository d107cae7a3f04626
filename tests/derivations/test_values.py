"""The derived formulas against numbers found another way: quadrature, differential equations, matrices, tables."""

import mpmath
import numpy as np
import oracles
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

import derivations
from derivations import depth, fine_tuning, gradient_flow, implicit_bias, metrics, symbols


def number(expr, digits=30, **values):
    """A formula at named values (the names of symbols.py)."""
    point = {getattr(symbols, name): sp.Rational(str(value)) for name, value in values.items()}
    return expr.subs(point, simultaneous=True).evalf(digits)


@pytest.mark.parametrize(
    ("beta", "k", "value"),
    [
        (1, 1, "0.41280074321445774714"),
        (sp.Rational(1, 10), 1, "0.0049835298378228288223"),
        (sp.Rational(5, 2), sp.Rational(1, 25), "3.6895288567318892041"),
        (1, sp.Rational(1, 10**8), "4.7983423662355366776"),
        (1, sp.Rational(1, 10**30), "17.46253537801528819"),
    ],
)
def test_potential_reference_values(beta, k, value):
    scale = sp.sqrt(sp.sympify(k)) / 2
    found = implicit_bias.potential(sp.sympify(beta), scale).evalf(22)
    assert abs(found - sp.Float(value, 22)) < sp.Float(10) ** (-18)


@pytest.mark.parametrize(
    ("point", "order", "dependence"),
    [
        ((1, 1, "1/1000", "-999999/1000000", "1/1000000"), 1.0740320032694, -0.073957934361118),
        (("1/100", 1, "1/1000000", "99/100", 0), 1.9999957914154, -0.9999947914196),
        ((1, 1, "1/1000", 0, 10), 1.9999359373197, -0.019606192575616),
        ((1, 1, "1/1000", "-99/100", 0), 1.2298515450827, -0.22962169365256),
    ],
)
def test_metrics_of_the_regimes(point, order, dependence):
    beta, beta_pt, c, lam, gamma = (sp.Rational(v) for v in point)
    scale = fine_tuning.effective_scale(beta_pt, c, lam, gamma)
    found = metrics.ell_order(beta, scale).evalf(20)
    assert abs(found - order) < 2e-13
    assert abs((1 - found) * metrics.sensitivity(beta_pt, c, lam, gamma).evalf(20) - dependence) < 2e-13


def force(t):
    """Some r(t); its integral is R."""
    return np.cos(3 * t) + 0.4, np.sin(3 * t) / 3 + 0.4 * t


@pytest.mark.parametrize("start", [(0.3, 0.2, 0.3, 0.2), (0.5, -0.1, 0.2, 0.3)], ids=["balanced", "any"])
def test_closed_form_of_the_flow_solves_the_differential_equation(start):
    def flow(t, w):
        r = force(t)[0]
        return [r * w[1], r * w[0], -r * w[3], -r * w[2]]

    end = 1.7
    w = solve_ivp(flow, (0, end), start, rtol=1e-12, atol=1e-14).y[:, -1]
    names = dict(zip(("wp0", "vp0", "wm0", "vm0"), start, strict=True))
    scale = float(number(gradient_flow.general_scale(), **names))
    first = start[0] * start[1] - start[2] * start[3]
    beta = scale * np.sinh(2 * force(end)[1] + np.arcsinh(first / scale))
    assert abs(beta - (w[0] * w[1] - w[2] * w[3])) < 1e-10


def test_depth_three_network_follows_its_dual_map():
    start, end = 0.6, 0.8

    def flow(t, w):
        r = force(t)[0]
        return np.concatenate([[r * np.prod(np.delete(w[:3], i)) for i in range(3)],
                               [-r * np.prod(np.delete(w[3:], i)) for i in range(3)]])  # fmt: skip

    w = solve_ivp(flow, (0, end), [start] * 6, rtol=1e-12, atol=1e-14).y[:, -1]
    phase = sp.Float(start * force(end)[1], 20)  # m alpha_0^m R with m = 1
    expected = depth.deep_dual_map(phase, sp.Integer(1)).subs(symbols.layer, sp.Rational(3, 5))
    assert abs(float(expected) - (np.prod(w[:3]) - np.prod(w[3:]))) < 1e-10


@pytest.mark.parametrize(
    ("alpha", "ratio"),
    [
        (0.05, 0.154360523146),
        (0.1, 0.189429367760),
        (0.25, 0.267383552408),
        (0.5, 0.385689666181),
        (0.75, 0.533711676804),
        (0.9, 0.678169378134),
    ],
)
def test_phase_transition_against_the_table(alpha, ratio):
    formulas = derivations.derive("limits").results
    a = symbols.threshold
    delta, rho = (sp.lambdify(a, formulas[name], "mpmath") for name in ("critical_alpha", "critical_ratio"))
    root = mpmath.findroot(lambda v: delta(v) - alpha, (0.3, 2.0), solver="anderson")
    assert abs(rho(root) - ratio) < 1e-11


@pytest.mark.parametrize("alpha", [sp.Rational(2, 5), sp.Rational(7, 4)])
def test_marchenko_pastur_against_its_density(alpha):
    """m(r) is the integral of the density over 1/(x + r), plus the atom at 0 when alpha < 1."""
    r, ratio = mpmath.mpf("0.3"), mpmath.mpf(float(alpha))
    low, high = (mpmath.sqrt(ratio) - 1) ** 2, (mpmath.sqrt(ratio) + 1) ** 2

    def density(v):
        return mpmath.sqrt(max(0, (high - v) * (v - low))) / (2 * mpmath.pi * v)

    expected = mpmath.quad(lambda v: density(v) / (v + r), [low, (low + high) / 2, high])
    expected += max(0, 1 - ratio) / r
    found = number(derivations.derive("limits").results["marchenko_pastur"], alpha=alpha, penalty="0.3")
    assert abs(found - expected) < 1e-12


def test_ridge_error_against_a_matrix():
    rng, dim, alpha, r, noise = np.random.default_rng(5), 1200, 0.6, 0.3, 0.2
    n, errors, train = int(alpha * dim), [], []
    for _ in range(4):
        X, truth = rng.normal(size=(n, dim)) / np.sqrt(dim), rng.normal(size=dim) * 1.3
        y = X @ truth + np.sqrt(noise) * rng.normal(size=n)
        beta = np.linalg.solve(X.T @ X + r * np.eye(dim), X.T @ y)
        errors.append(np.mean((beta - truth) ** 2))
        train.append(np.mean((y - X @ beta) ** 2))
    formulas = derivations.derive("limits").results
    at = {"alpha": alpha, "penalty": r, "noise": noise, "power": "1.69"}
    mse, theta = float(number(formulas["ridge_mse"], **at)), float(number(formulas["ridge_shrinkage"], **at))
    assert abs(np.mean(errors) / mse - 1) < 0.04
    s2 = (noise + mse) / alpha  # with g = 2 c theta and ridge = 2 c r
    training = derivations.derive("observables").results["training_error"]
    at = {"s2": s2, "ridge": r, "g": theta, "alpha": alpha}
    assert abs(np.mean(train) / float(number(training, **at)) - 1) < 0.04


def test_least_norm_is_the_ridgeless_limit():
    formulas = derivations.derive("limits").results
    at = {"alpha": "0.4", "noise": "0.2", "power": "1.7"}
    near = number(formulas["ridge_mse"], penalty="1e-12", **at)
    assert abs(near - number(formulas["min_l2_mse"], **at)) < 1e-10


INTEGRALS = {"error": 0, "dof": 1}


@pytest.mark.parametrize("tau2", [0, "0.7"])
@pytest.mark.parametrize("name", INTEGRALS)
def test_channel_integrals_against_a_root_finder(name, tau2):
    a, c_ft, g, s2, start = 0.8, 0.05, 0.6, 0.3, 0.2
    formulas = derivations.derive("scalar_channel").results
    u0 = float(mpmath.findroot(lambda v: c_ft * mpmath.sinh(v) + g / 2 * (v - start) - a, 1.0))
    values = {"u0": u0, "start": start, "c_ft": c_ft, "g": g, "s2": s2, "tau2": tau2}
    point = {getattr(symbols, key): sp.Float(value, 20) for key, value in values.items()}
    integrand = sp.lambdify(symbols.delta, formulas[f"channel_{name}"].subs(point), "mpmath")
    found = mpmath.quad(integrand, [-30, -8, -4, -2, -1, 0, 1, 2, 4, 8])
    expected = oracles.component_moments(a, float(tau2), c_ft, start, s2, g)[INTEGRALS[name]]
    assert abs(found - expected) < 1e-8


def test_saddle_point_equations_vanish_at_the_reference_point():
    """THEORY section 9, first row of partial overlap; the averages come from the root-finding oracle."""
    s2, g, alpha = 8.451105636696958, 2.0044662870200756, 0.1
    error, dof = oracles.mixture_moments(oracles.oracle_components(0.1, 0.1, 0.5, 1e-3, 0.0, 0.0), s2, g)
    formulas = derivations.derive("replica").results
    at = {"s2": s2, "g": g, "alpha": alpha, "noise": 0, "ridge": 0, "err": error, "dof": dof}
    for name in ("s2_equation", "g_equation"):
        assert abs(number(formulas[name], **at)) < 1e-9


def test_error_of_pretraining_near_one_sample_per_dimension():
    """alpha_PT = 0.996 from the full saddle point, against the derived leading order."""
    c, h = 0.5, 0.004
    components = [(0.5, 0.0, 0.0, c, 0.0), (0.5, 0.0, 1.0, c, 0.0)]
    (s2, _), residual = oracles.saddle_point(components, 1 - h, guess=(0.01, 0.01))
    x, w = oracles.panels(np.linspace(-9, 9, 61))
    w = w * np.exp(-x * x / 2) / np.sqrt(2 * np.pi)
    slope2 = 0.5 * np.sum(w * (np.arcsinh(x / c) / 2) ** 2)
    curvature = 0.5 / (2 * c) + 0.5 * np.sum(w / (2 * np.hypot(c, x)))
    formula = derivations.derive("pretraining_channel").results["mse_pt_near_one"]
    expected = float(number(formula, alpha_pt=1 - h, force2=slope2, curve=curvature))
    assert residual < 1e-10
    assert abs((1 - h) * s2 / expected - 1) < 0.03
