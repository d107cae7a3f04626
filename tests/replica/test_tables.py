"""Even rows by shared tables against panels with bisection, the integrands themselves, and mpmath."""

import mpmath as mp
import numpy as np
import oracles
import pytest

from numerics.kernels import channel_moments
from numerics.kernels.channel_table import average, combine
from numerics.replica.quadrature import STEP, integrate_rows
from numerics.replica.tables import covered, even_sums, nodes_used

NAMES = ("error", "dof", "slack", "error_g", "error_s2", "dof_g", "dof_s2")


def by_tables(c, g, s2, tau2, step=STEP):
    c, g, s2, tau2 = np.broadcast_arrays(*(np.atleast_1d(np.asarray(v, float)) for v in (c, g, s2, tau2)))
    p, q = c / np.sqrt(s2 + tau2), 0.5 * g / np.sqrt(s2 + tau2)
    return np.array(combine(even_sums(p, q, step), p, q, s2, tau2))


@pytest.mark.parametrize(
    ("c", "g", "s2", "tau2"),
    [
        (1e-3, 0.8, 0.5, 0.0),
        (1e-3, 0.02, 1e-4, 25.0),
        (2.0, 3.0, 0.1, 0.4),
        (50.0, 1e-3, 1.0, 1.0),
        (1e-9, 1.0, 3.0, 0.0),
    ],
)
def test_error_and_dof_against_panels_and_bisection(c, g, s2, tau2):
    error, dof, slack, *_ = by_tables(c, g, s2, tau2)[:, 0]
    expected = oracles.component_moments(0.0, tau2, c, 0.0, s2, g)
    assert error == pytest.approx(expected[0], rel=1e-11)
    assert dof == pytest.approx(expected[1], rel=1e-11)
    assert dof + slack == pytest.approx(1.0, rel=1e-13)


@pytest.mark.parametrize(("c", "g", "s2", "tau2"), [(0.3, 1.7, 0.6, 0.9), (4.0, 0.1, 0.2, 0.0)])
def test_every_output_against_mpmath(c, g, s2, tau2):
    """Averages over z in the textbook form (30 digits), derivatives by differences of them."""

    def averages(g, s2):
        variance = s2 + tau2

        def at(u):
            x, z = c * mp.sinh(u), c * mp.sinh(u) + g / 2 * u
            density = mp.npdf(z, 0, mp.sqrt(variance)) * (c * mp.cosh(u) + g / 2)
            error = (x - tau2 / variance * z) ** 2 + tau2 * s2 / variance
            return density * error, density * c * mp.cosh(u) / (c * mp.cosh(u) + g / 2)

        ends = mp.linspace(0, mp.asinh(12 * mp.sqrt(variance) / c), 7)
        return [2 * mp.quad(lambda u, i=i: at(u)[i], ends) for i in (0, 1)]

    with mp.workdps(30):
        c, g, s2, tau2 = (mp.mpf(v) for v in (c, g, s2, tau2))
        value, h = averages(g, s2), mp.mpf(10) ** -10
        up_g, down_g = averages(g * (1 + h), s2), averages(g * (1 - h), s2)
        up_s, down_s = averages(g, s2 * (1 + h)), averages(g, s2 * (1 - h))
        expected = [*value, 1 - value[1]]
        for i in (0, 1):
            expected += [(up_g[i] - down_g[i]) / (2 * h), (up_s[i] - down_s[i]) / (2 * h)]
        expected = np.array([float(v) for v in expected])
    found = by_tables(*map(float, (c, g, s2, tau2)))[:, 0]
    np.testing.assert_allclose(found, expected, rtol=2e-13, atol=1e-15)


@pytest.mark.parametrize(("s2", "tau2"), [(1.0, 0.0), (1e-6, 1.0), (0.5, 0.5)])
def test_the_whole_plane_against_the_integrands_on_finer_nodes(s2, tau2):
    """A row is a point (p, q); errors relative to the value, or to what still counts beside alpha >= 1e-4."""
    p, q = (10.0 ** v.ravel() for v in np.meshgrid(np.linspace(-14, 6, 41), np.linspace(-14, 6, 41)))
    sd, zero = np.sqrt(s2 + tau2), np.zeros_like(p)
    rows = (zero, zero, zero, p * sd, 2 * q * sd, zero + s2, zero + tau2)
    _, error, dof, slack, *_ = integrate_rows(channel_moments, *rows, step=STEP / 3)
    found = by_tables(p * sd, 2 * q * sd, s2, tau2)
    for value, expected, size in zip(found, (error, dof, slack), (s2, 1.0, 1.0), strict=False):
        assert np.max(np.abs(value - expected) / np.maximum(expected, 1e-4 * size)) < 3e-14
    half = by_tables(p * sd, 2 * q * sd, s2, tau2, STEP / 2)
    np.testing.assert_allclose(found[:3], half[:3], rtol=1e-13, atol=1e-19)


def test_components_summed_are_the_same():
    rng = np.random.default_rng(0)
    c, g, s2 = 10 ** rng.uniform(-3, 1, (3, 1)), 10 ** rng.uniform(-2, 1, 7), 10 ** rng.uniform(-4, 1, 7)
    tau2, weight = np.array([[0.0], [2.0], [25.0]]), rng.uniform(size=(3, 1))
    variance = s2 + tau2
    p, q = c / np.sqrt(variance), 0.5 * g / np.sqrt(variance)
    sums = even_sums(p.ravel(), q.ravel()).reshape(-1, 3, 7)
    expected = [np.sum(weight * value, 0) for value in combine(sums, p, q, s2, tau2)]
    weights = np.stack(
        [weight + 0 * variance, weight * tau2 / variance, weight * s2 / variance, weight * tau2 + 0 * variance]
    )
    found = average(sums, np.log(np.stack([p, q])), s2, weights)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def test_which_rows_they_serve():
    p, q = np.array([1e-40, 1e-30, 1.0, 1e31]), np.array([1.0, 0.0, 1e-20, 1.0])
    assert covered(p, q).tolist() == [False, True, True, False]
    assert nodes_used(p[1:3], q[1:3], STEP / 2) > 1.9 * nodes_used(p[1:3], q[1:3])
