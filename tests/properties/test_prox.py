"""The proximal map of q, by its public kernel: odd, non-expansive, the root it claims, the least of its objective."""

import mpmath as mp
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from strategies import attempt, coordinates, examples, positive

EPS = np.finfo(float).eps
wide = {"low": 1e-100, "high": 1e100}


def prox(z, g, c_ft):
    return float(attempt("kernel:prox", z, g, c_ft))


@given(coordinates(**wide), coordinates(**wide), st.one_of(st.just(0.0), positive(**wide)), positive(**wide))
@examples(2)
def test_odd_increasing_and_non_expansive(z, w, g, c_ft):
    x, y = prox(z, g, c_ft), prox(w, g, c_ft)
    assert prox(-z, g, c_ft) == -x
    # 8 ulp on each side: the kernel's contract
    rounding = 8 * EPS * (abs(x) + abs(y)) + EPS * abs(z - w)
    assert abs(x - y) <= abs(z - w) + rounding
    assert (x - y) * np.sign(z - w) >= -rounding
    assert abs(x) <= abs(z) * (1 + 8 * EPS)  # non-expansive with prox(0) = 0
    assert prox(0.0, g, c_ft) == 0.0


@given(coordinates(1e-60, 1e60), positive(1e-60, 1e60), positive(1e-60, 1e60), positive(1e-60, 1e60))
@examples()
def test_shrinks_more_with_a_larger_step_and_less_with_a_larger_scale(z, g, other, c_ft):
    tight, loose = prox(z, max(g, other), c_ft), prox(z, min(g, other), c_ft)
    assert abs(tight) <= abs(loose) * (1 + 16 * EPS)
    rich, lazy = prox(z, g, min(c_ft, other)), prox(z, g, max(c_ft, other))
    assert abs(rich) <= abs(lazy) * (1 + 16 * EPS)


@given(coordinates(1e-40, 1e40), positive(1e-40, 1e40), positive(1e-40, 1e40))
@examples()
def test_it_is_the_root(z, g, c_ft):
    """x + (g/2) asinh(x/c_ft) = z at 60 digits: 8 ulp in x move the left side by 8 ulp of x (1 + g q'')."""
    x = prox(z, g, c_ft)
    with mp.workdps(60):
        left = mp.mpf(x) + mp.mpf(g) / 2 * mp.asinh(mp.mpf(x) / mp.mpf(c_ft))
        slope = 1 + mp.mpf(g) / (2 * mp.sqrt(mp.mpf(c_ft) ** 2 + mp.mpf(x) ** 2))
        assert abs(left - z) <= 8 * EPS * abs(x) * slope


@given(coordinates(1e-30, 1e30), positive(1e-30, 1e30), positive(1e-30, 1e30), st.integers(-40, 40))
@examples()
def test_scale_covariance(z, g, c_ft, power):
    """z, g and c_ft are in the units of beta: prox(t z, t g, t c) = t prox(z, g, c), exactly for powers of two."""
    t = 2.0**power
    assert abs(prox(t * z, t * g, t * c_ft) - t * prox(z, g, c_ft)) <= 16 * EPS * t * abs(prox(z, g, c_ft))


@given(coordinates(1e-30, 1e30), coordinates(1e-30, 1e30), positive(1e-30, 1e30), positive(1e-30, 1e30))
@examples()
def test_the_envelope_is_the_minimum(z, x, g, c_ft):
    """No x does better than the Moreau envelope, and the proximal point attains it."""
    envelope = float(attempt("kernel:moreau_envelope", z, g, c_ft))

    def objective(point):
        with mp.workdps(60):
            s = mp.asinh(mp.mpf(point) / mp.mpf(c_ft))
            q = mp.mpf(c_ft) / 2 * (s * mp.sinh(s) - 2 * mp.sinh(s / 2) ** 2)
            return (mp.mpf(point) - z) ** 2 / (2 * mp.mpf(g)) + q

    with mp.workdps(60):
        assert mp.mpf(envelope) <= objective(x) * (1 + 32 * EPS)
    best = prox(z, g, c_ft)
    slack = (8 * EPS * best) ** 2 * (1 / g + 1 / (2 * c_ft))  # an error in the minimiser costs its square
    assert abs(envelope - objective(best)) <= 32 * EPS * envelope + slack
