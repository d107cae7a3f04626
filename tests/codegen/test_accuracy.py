"""Kernels against the truth: ball arithmetic at many points, mpmath at 50 digits at some, printed reference values
at a few.
"""

import mpmath
import numpy as np
import pytest

from numerics.codegen import kernel
from numerics.codegen.formulas import FORMULAS, formula
from numerics.codegen.oracle import ball_oracle, mpmath_oracle
from numerics.codegen.points import adversarial, seeded
from numerics.codegen.verify import compare, implementations, measurable, measure, truth, ulp_errors

pytest.importorskip("flint", reason="the fast oracle is python-flint (extra `certify`)")


@pytest.mark.parametrize("name", measurable())
def test_contract_on_every_array_backend(name):
    for found in compare(implementations(name, ("numpy", "c")), truth(name, 800, seed=1, extreme=1000)).values():
        assert found.holds, str(found)
        assert found.points > 500


@pytest.mark.parametrize("name", measurable())
def test_contract_in_float32(name):
    found = measure(name, kernel(name), count=300, seed=2, extreme=500, dtype=np.float32)
    assert found.ulp <= 1.0, str(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", measurable())
def test_contract_at_a_hundred_thousand_points(name):
    true = truth(name, 100_000)
    for found in compare(implementations(name), true).values():
        assert found.holds, str(found)


def test_the_contracts_are_the_promised_ones():
    tight = ("potential", "potential_derivative", "potential_second_derivative", "ell_order")
    assert all(formula(name).ulp <= 3 for name in tight)
    assert all(formula(name).ulp <= 4 for name in ("c_ft", "k", "sensitivity", "dual_map", "dual_map_derivative"))
    assert formula("prox").ulp <= 8


@pytest.mark.parametrize("name", ["potential", "ell_order", "c_ft", "dual_map"])
def test_the_fast_oracle_agrees_with_mpmath(name):
    held = kernel(name)
    symbols = list(held.passes.arguments)
    balls, slow = ball_oracle(held.formula, symbols), mpmath_oracle(held.formula, symbols)
    for point in seeded(held.arguments, 40, seed=3).tolist():
        if name == "ell_order" and point[0] == 0:
            continue
        if name == "dual_map" and abs(point[0]) > 300:
            continue  # the two agree, but mpmath's exponents make it slow
        with mpmath.workdps(60):
            a, b = mpmath.mpf(str(balls(*point).mid().str(50, radius=False))), slow(*point)
            assert abs(a - b) <= abs(b) * mpmath.mpf(10) ** -25, point


def test_measuring_sees_a_kernel_that_is_off_by_one_digit():
    """A kernel wrong by five ulp, or by a sign, or NaN, is found."""
    true = truth("potential", 300)
    good = kernel("potential")

    def close(b, c):
        with np.errstate(under="ignore", over="ignore"):
            return good(b, c) * (1 + 5 * 2.0**-52)

    found = compare({
        "good": good,
        "close": close,
        "sign": lambda b, c: -good(b, c),
        "nan": lambda b, c: np.where(b > 1, np.nan, good(b, c)),
    }, true)  # fmt: skip
    assert found["good"].holds
    assert not any(found[wrong].holds for wrong in ("close", "sign", "nan"))


def test_textbook_form_loses_every_digit_where_the_kernel_keeps_them():
    u = 1e-9
    naive = 0.5 * (1 - np.sqrt(1 + u * u) + u * np.arcsinh(u))
    with mpmath.workdps(50):
        true = kernel("potential", "mpmath")(u, 1.0)
    assert abs(float(naive / true) - 1) > 0.1
    assert abs(kernel("potential")(u, 1.0) / float(true) - 1) < 1e-15


def test_ulp_errors_at_the_edges():
    value = np.array([1.0, 0.0, 5e-324, np.inf, 1e-310])
    assert ulp_errors(value, value, np.zeros(5)).tolist() == [0, 0, 0, 0, 0]
    wrong = np.array([1.0 + 2.0**-51, 1e-320, 1e-300, 1.0, 1.0])
    assert ulp_errors(wrong, value, np.zeros(5)).tolist() == [2, np.inf, np.inf, np.inf, np.inf]


def test_points_cover_the_domain():
    points = seeded(("beta", "c_ft"), 4000)
    beta, c_ft = points.T
    assert (beta < 0).any()
    assert (beta > 0).any()
    assert (c_ft > 0).all()
    assert np.abs(beta).min() < 1e-250
    assert np.abs(beta).max() > 1e250
    special = adversarial(("beta", "c_ft"))
    assert 0.0 in special[:, 0]
    assert 5e-324 in special[:, 0]
    assert special[:, 1].min() > 0
    assert (seeded(("beta", "c_ft"), 10) == seeded(("beta", "c_ft"), 10)).all()


# --- printed reference values (mpmath at 40 digits and more); k = 4 c_ft^2
# -------------------------------------------------
@pytest.mark.parametrize(
    ("beta", "k", "q", "order"),
    [
        (1, 1, "0.41280074321445774714", "1.7485863324001"),
        (0.1, 1, "0.0049835298378228288223", "1.99346765059245"),
        (2.5, 0.04, "3.6895288567318892041", "1.32551570863265"),
        (1, 1e-8, "4.7983423662355366776", "1.10419744204648"),
        (1e-3, 1, "4.9999983333353333298e-7", None),
        (1e-3, 1e8, "4.99999999999998e-11", None),
        (1, 1e-30, "17.46253537801528819", None),
        (1, 1e-300, "172.88702915511337161", None),
    ],
)
def test_printed_values_of_the_potential(beta, k, q, order):
    c_ft = float(np.sqrt(k) / 2)
    assert kernel("potential")(beta, c_ft) == pytest.approx(float(q), rel=2e-15, abs=0)
    if order:
        assert kernel("ell_order")(beta, c_ft) == pytest.approx(float(order), rel=1e-13, abs=0)


def test_printed_derivatives():
    assert kernel("potential_derivative")(1, 0.5) == pytest.approx(0.72181773758940517, rel=4e-16, abs=0)
    assert kernel("potential_second_derivative")(1, 0.5) == pytest.approx(0.44721359549995794, rel=4e-16, abs=0)


@pytest.mark.parametrize(
    ("beta", "beta_pt", "c", "lam", "gamma", "order", "pd"),
    [
        (1, 1, 1e-3, -0.999999, 1e-6, 1.0740320032694, -0.073957934361118),
        (0.01, 1, 1e-6, 0.99, 0, 1.9999957914154, -0.9999947914196),
        (1, 1, 1e-3, 0, 10, 1.9999359373197, -0.019606192575616),
        (1, 1, 1e-3, -0.99, 0, 1.2298515450827, -0.22962169365256),
    ],
)
def test_printed_values_of_the_regimes(beta, beta_pt, c, lam, gamma, order, pd):
    assert kernel("pretraining_dependence")(beta, beta_pt, c, lam, gamma) == pytest.approx(pd, rel=1e-11, abs=0)
    assert kernel("ell_order")(beta, kernel("c_ft")(beta_pt, c, lam, gamma)) == pytest.approx(order, rel=1e-12, abs=0)


@pytest.mark.parametrize("name", [name for name, row in FORMULAS.items() if row.special])
def test_special_values(name):
    for arguments, value in FORMULAS[name].special:
        with np.errstate(all="raise"):
            assert kernel(name)(*arguments) == pytest.approx(value, rel=0, abs=0, nan_ok=True), (arguments, value)


def test_asinh_of_large_and_negative_arguments():
    assert 2 * kernel("potential_derivative")(-2e10, 1.0) == pytest.approx(-24.412145291060348, rel=4e-16, abs=0)
    assert 2 * kernel("potential_second_derivative")(1e200, 1.0) == pytest.approx(1e-200, rel=4e-16, abs=0)


@pytest.mark.parametrize("sample", range(3))
def test_channel_moments_against_mpmath(sample):
    """The multi-output kernel at 50 digits, each output within the condition of its exponent."""
    import sympy as sp

    rng = np.random.default_rng(sample)
    held = kernel("channel_moments")
    slow = sp.lambdify(list(held.passes.arguments), list(held.formula), "mpmath")
    point = [rng.normal(), 2 * rng.normal(), 0.3, *10.0 ** rng.uniform(-4, 1, 4)]
    with mpmath.workdps(50):
        true = slow(*map(mpmath.mpf, point))
        for mine, exact in zip(held(*point), true, strict=True):
            assert abs(mine - exact) <= 1e-13 * abs(exact) + mpmath.mpf(10) ** -300


@pytest.mark.parametrize("name", [n for n in measurable() if "mpmath" in FORMULAS[n].backends])
def test_the_mpmath_backend_is_the_same_function(name):
    point = [0.7 - 0.1 * i for i in range(len(FORMULAS[name].arguments))]
    true = kernel(name, "mpmath")(*point)
    assert kernel(name)(*point) == pytest.approx(float(true), rel=2e-15, abs=0)
    assert float(kernel(name, "mpmath")(*point, digits=80) - true) == pytest.approx(0, abs=1e-48)
