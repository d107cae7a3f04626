"""The proximal map: printed values, step counts, accuracy in units in the last place, derivatives, the envelope."""

import mpmath
import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from numerics.codegen import implicit, kernel
from numerics.codegen.rules import rewrite
from numerics.kernels import (
    moreau_envelope,
    potential,
    potential_derivative,
    prox,
    prox_derivative_c_ft,
    prox_derivative_g,
    prox_derivative_z,
)
from numerics.kernels._prox import MOST, steps

SIZES = st.floats(-300, 300).map(lambda e: 10.0**e)


def root(z, g, c):
    """(xhat, u) by bisection-free Newton at 700 digits in mpmath."""
    with mpmath.workdps(700):
        z, h, c = abs(mpmath.mpf(z)), mpmath.mpf(g) / 2, mpmath.mpf(c)
        u = min(mpmath.asinh(z / c), z / (c + h))
        for _ in range(60):
            u -= (c * mpmath.sinh(u) + h * u - z) / (c * mpmath.cosh(u) + h)
        return c * mpmath.sinh(u), u


@pytest.mark.parametrize(
    ("z", "g", "k", "value"),
    [
        (1, 1, 1, 0.53499548264371747),
        (1, 1, 1e-12, 1.8134233814818044e-6),
        (1e-3, 1, 1e-12, 9.9999966666513334e-10),
        (1, 1e-8, 1, 0.99999999278182266),
        (1e8, 1, 1e-6, 99999986.642634875),
        (0.3, 2, 1e-8, 1.5225218898736806e-5),
        (3, 0.5, 1e-30, 4.0688697846592647e-11),
    ],
)
def test_printed_values(z, g, k, value):
    assert prox(z, g, np.sqrt(k) / 2) == pytest.approx(value, rel=2e-15, abs=0)


@given(z=SIZES, g=SIZES, c=SIZES)
def test_eight_ulp_and_twelve_steps_anywhere(z, g, c):
    true, _ = root(z, g, c)
    with np.errstate(all="raise"):
        mine = float(prox(z, g, c))
    if 2.3e-308 < true < 1.7e308:
        assert abs(mine - true) <= 8 * np.spacing(float(true))
    with np.errstate(all="ignore"):
        assert steps(*(np.array([value]) for value in (z, g, c)))[1] <= MOST == 12
    assert prox(-z, g, c) == -mine


@given(z=SIZES, g=SIZES, c=SIZES)
def test_envelope_to_four_ulp_at_single_points(z, g, c):
    """Alone in its block a point decides when the steps end; truth in u at 700 digits, as (g/8) u^2 + q."""
    _, u = root(z, g, c)
    with mpmath.workdps(700):
        true = mpmath.mpf(g) / 8 * u**2 + mpmath.mpf(c) / 2 * (1 - mpmath.cosh(u) + u * mpmath.sinh(u))
    with np.errstate(all="raise"):
        mine = float(moreau_envelope(z, g, c))
    if 2.3e-308 < true < 1.7e308:
        assert abs(mine - true) <= 4 * np.spacing(float(true))


def test_envelope_without_a_penalty_or_a_quadratic():
    z = np.array([0.0, 1e-12, 0.3, -2.0, 700.0])
    assert np.allclose(moreau_envelope(z, 0.0, 0.7), potential(z, 0.7), rtol=1e-15, atol=0)  # g = 0: nothing moves
    assert np.allclose(moreau_envelope(z, 1e300, 0.7)[:4], 0.0, rtol=0, atol=1e-290)  # the quadratic vanishes
    assert moreau_envelope([np.inf, -np.inf], 1.0, 1.0).tolist() == [np.inf, np.inf]
    assert np.isnan(moreau_envelope(np.nan, 1.0, 1.0))


def test_steps_over_a_hundred_thousand_points():
    rng = np.random.default_rng(3)
    z, g, c = np.exp(rng.uniform(-300, 300, (3, 100_000)))
    with np.errstate(all="ignore"):
        assert steps(z, g, c)[1] <= 12
    near = np.exp(rng.uniform(-12, 12, (3, 100_000)))
    assert steps(*near)[1] <= 12


def test_bounds_and_limits():
    z = np.linspace(-5, 5, 101)
    x = prox(z, 0.7, 0.3)
    assert (np.abs(x) <= np.abs(z)).all()
    assert (np.diff(x) > 0).all()
    assert prox(z, 0.0, 0.3).tolist() == z.tolist()
    assert np.allclose(prox(z, 0.7, 1e9), z, rtol=1e-8, atol=0)  # q vanishes: the identity
    theta, c = 1.0, 1e-200  # the soft threshold, reached logarithmically
    soft = np.sign(z) * np.maximum(np.abs(z) - theta, 0)
    assert np.abs(prox(z, 2 * theta / np.log(1 / c), c) - soft).max() < 0.02


def test_stationarity():
    rng = np.random.default_rng(0)
    z, g, c = rng.normal(size=1000), rng.uniform(0.1, 2, 1000), rng.uniform(0.1, 2, 1000)
    x = prox(z, g, c)
    assert np.abs((x - z) / g + potential_derivative(x, c)).max() < 1e-14


@pytest.mark.parametrize(
    ("function", "which"), [(prox_derivative_z, 0), (prox_derivative_g, 1), (prox_derivative_c_ft, 2)]
)
@pytest.mark.parametrize("point", [(1.0, 1.0, 0.5), (-3.0, 0.2, 1e-6), (1e-3, 4.0, 2.0), (50.0, 1e-3, 0.1)])
def test_derivatives_against_differences(function, which, point):
    with mpmath.workdps(200):
        h = mpmath.mpf(10) ** -40
        ends = []
        for sign in (1, -1):
            at = [mpmath.mpf(v) for v in point]
            at[which] += sign * h * abs(at[which])
            ends.append(mpmath.sign(at[0]) * root(*at)[0])
        slope = (ends[0] - ends[1]) / (2 * h * abs(mpmath.mpf(point[which])))
    assert function(*point) == pytest.approx(float(slope), rel=4e-15, abs=0)


def test_the_envelope_is_the_minimum():
    z, g, c = 1.3, 0.8, 0.2
    x = np.linspace(-2, 2, 400_001)
    assert moreau_envelope(z, g, c) == pytest.approx(((x - z) ** 2 / (2 * g) + potential(x, c)).min(), rel=1e-10, abs=0)
    h = 1e-5
    slope = (moreau_envelope(z + h, g, c) - moreau_envelope(z - h, g, c)) / (2 * h)
    assert slope == pytest.approx((z - prox(z, g, c)) / g, rel=1e-9, abs=0)


def test_shapes_and_dtypes():
    assert prox(np.ones((4, 1)), np.ones(3), 1.0).shape == (4, 3)
    assert prox(np.float32(1), 1.0, 0.5).dtype == np.float32
    assert np.isnan(prox(np.nan, 1.0, 1.0))
    assert prox([np.inf, -np.inf, 0.0], 1.0, 1.0).tolist() == [np.inf, -np.inf, 0.0]
    assert prox(np.array([]), 1.0, 1.0).shape == (0,)


@pytest.mark.parametrize("backend", ["numpy", "torch", "c"])
@pytest.mark.parametrize(
    ("name", "at"),
    [
        ("prox", (8.466475823410562e-13, 9.303292899196884e298, 258394.49602646162)),  # z/(c + g/2) is subnormal
        ("prox_derivative_g", (1.362003672705211e175, 8.110789776479041e172, 5.360430759585279e-283)),  # g q'' is inf
    ],
)
def test_where_an_intermediate_value_leaves_the_range(name, at, backend):
    true = kernel(name, "mpmath")(*at)
    assert abs(float(kernel(name, backend)(*at)) - true) <= 4 * np.spacing(abs(float(true)))


@pytest.mark.parametrize("backend", ["numpy", "torch", "c"])
def test_without_a_penalty_the_derivative_in_z_is_one(backend):
    """c_ft = inf makes q vanish, g = 0 takes it away; a scale may be subnormal."""
    z = np.array([0.0, -1e-9, 2.0, 1e300])
    for g, c in ((1.0, np.inf), (0.0, np.inf), (0.0, 0.3), (0.0, 1e-300)):
        assert np.asarray(kernel("prox_derivative_z", backend)(z, g, c)).tolist() == [1.0] * 4
    assert float(kernel("prox_derivative_z", backend)(0.0, 0.0, 1e-310)) == 1.0


@pytest.mark.parametrize("backend", ["numpy", "torch", "c"])
@pytest.mark.parametrize(
    ("name", "at"),
    [
        ("prox", (1e-300, 1e-310, 5e-324)),  # c_ft/2 is zero
        ("prox_derivative_z", (0.0, 1e-310, 1e-310)),  # 1/c_ft is infinite
        ("moreau_envelope", (1e-300, 5e-324, 5e-324)),
    ],
)
def test_a_subnormal_scale_costs_digits_but_not_the_value(name, at, backend):
    """Outside the documented range, where the numbers themselves have few digits."""
    true = kernel(name, "mpmath")(*at)
    assert float(kernel(name, backend)(*at)) == pytest.approx(float(true), rel=1e-12, abs=0)


@pytest.mark.parametrize("name", ["prox_derivative_z", "prox_derivative_g", "prox_derivative_c_ft"])
def test_a_wrong_form_at_the_root_is_refused(monkeypatch, name):
    """The forms in x, u and w are compared at 50 digits with the derivative that they stand for."""
    right = implicit.expression(name)
    monkeypatch.setattr(implicit, "expression", lambda _: right * (1 + sp.Rational(1, 10**40)))
    if name == "prox_derivative_c_ft":  # made from z itself
        with pytest.raises(ArithmeticError, match="prox_derivative_c_ft at the root differs from what it is made from"):
            implicit.at_root(name)
    monkeypatch.setattr(implicit, "expression", lambda _: right)
    monkeypatch.setattr(implicit, "rewrite", lambda expr, rules: 2 * rewrite(expr, rules))
    with pytest.raises(ArithmeticError, match=f"{name} at the root"):
        implicit.at_root(name)
