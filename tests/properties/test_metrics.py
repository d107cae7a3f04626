"""Potential, l-order and PD on the whole documented domain: ranges, trade-off, monotonicity, symmetry, covariance.

What is asserted is what derivations `metrics` and `implicit_bias` prove; 64 ulp stand for the kernels' stated rounding.
"""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from strategies import attempt, coordinates, examples, initializations, positive

import ptft_sym as pt

ROUNDING = 64 * np.finfo(float).eps
BINARY = st.integers(-40, 40).map(lambda e: 2.0**e)  # powers of two scale floats without rounding
MIDDLE = {"low": 1e-90, "high": 1e90}  # no underflow or overflow after scaling by 2^40
modest = initializations(c=(1e-90, 1e90), gamma=(1e-40, 1e40))


def metrics(beta_ft, beta_pt, init):
    """(l-order, PD) of one coordinate, from the public functions."""
    order = attempt("ell_order", beta_ft, init.c_ft(beta_pt))
    return float(order), float(attempt("pretraining_dependence", beta_ft, beta_pt, init))


@given(coordinates(), coordinates(), initializations())
@examples(3)
def test_order_dependence_and_their_sum_stay_in_their_ranges(beta_ft, beta_pt, init):
    order, dependence = metrics(beta_ft, beta_pt, init)
    assert 1.0 <= order <= 2.0
    assert -1.0 <= dependence <= 0.0
    assert 1.0 - ROUNDING <= order + dependence <= 2.0 + ROUNDING
    assert dependence >= 1.0 - order - ROUNDING  # S <= 1: l-order 1 and PD -1 exclude each other


@given(st.lists(coordinates(), min_size=1, max_size=6), st.data(), initializations())
@examples()
def test_the_whole_vector_stays_in_the_same_ranges(beta_ft, data, init):
    beta_pt = data.draw(st.lists(coordinates(), min_size=len(beta_ft), max_size=len(beta_ft)))
    whole = attempt("solution_metrics", beta_ft, beta_pt, init)
    assert 1.0 - ROUNDING <= whole.ell_order <= 2.0 + ROUNDING
    assert -1.0 - ROUNDING <= whole.pd <= ROUNDING
    assert 1.0 - ROUNDING <= whole.ell_order + whole.pd <= 2.0 + ROUNDING
    each = [metrics(b, p, init)[0] for b, p in zip(beta_ft, beta_pt, strict=True)]
    assert min(each) - ROUNDING <= whole.ell_order <= max(2.0 if not any(beta_ft) else max(each), 1.0) + ROUNDING


@given(positive(), positive(), positive())
@examples(3)
def test_order_falls_with_the_ratio_and_the_potential_with_the_scale(beta, other, c_ft):
    low, high = sorted((beta, other))
    near, far = attempt("ell_order", low, c_ft), attempt("ell_order", high, c_ft)
    assert far <= near * (1 + ROUNDING)
    wide, narrow = attempt("ell_order", beta, max(c_ft, other)), attempt("ell_order", beta, min(c_ft, other))
    assert narrow <= wide * (1 + ROUNDING)
    # q grows with |beta| and falls with the scale (log-derivatives l-order and 1 - l-order)
    assert attempt("potential", low, c_ft) <= attempt("potential", high, c_ft) * (1 + ROUNDING)
    assert attempt("potential", beta, max(c_ft, other)) <= attempt("potential", beta, min(c_ft, other)) * (1 + ROUNDING)


@given(st.floats(1e-3, 1e6), st.floats(1.01, 10.0))
@examples()
def test_order_falls_strictly_where_floats_can_tell(ratio, factor):
    assert attempt("ell_order", ratio * factor, 1.0) < attempt("ell_order", ratio, 1.0)


@given(coordinates(), coordinates(), initializations())
@examples()
def test_signs_do_not_matter(beta_ft, beta_pt, init):
    assert metrics(-beta_ft, beta_pt, init) == metrics(beta_ft, -beta_pt, init) == metrics(beta_ft, beta_pt, init)
    c_ft = init.c_ft(beta_pt)
    assert c_ft == init.c_ft(-beta_pt)
    assert attempt("potential", -beta_ft, c_ft) == attempt("potential", beta_ft, c_ft)


@given(coordinates(**MIDDLE), coordinates(**MIDDLE), modest, BINARY)
@examples()
def test_scale_covariance(beta_ft, beta_pt, init, t):
    """beta -> t beta, c -> t c, gamma^2 -> t gamma^2: c_FT and q scale with t, the metrics do not change."""
    other = pt.Initialization(t * t * init.c, init.lam, t * init.gamma)
    t2 = t * t
    c_ft, scaled = init.c_ft(beta_pt), other.c_ft(t2 * beta_pt)
    np.testing.assert_allclose(scaled, t2 * c_ft, rtol=ROUNDING)
    np.testing.assert_allclose(
        attempt("potential", t2 * beta_ft, t2 * c_ft), t2 * attempt("potential", beta_ft, c_ft), rtol=ROUNDING
    )
    np.testing.assert_allclose(
        metrics(t2 * beta_ft, t2 * beta_pt, other), metrics(beta_ft, beta_pt, init), rtol=ROUNDING, atol=1e-300
    )


@given(positive(1e-60, 1e60), positive(1e-60, 1e60))
@examples()
def test_order_is_the_logarithmic_slope_of_the_potential(beta, c_ft):
    """d log q / d log beta = beta q'/q, with q' from the kernel of another derivation step."""
    slope = attempt("kernel:potential_derivative", beta, c_ft)
    np.testing.assert_allclose(
        attempt("ell_order", beta, c_ft), beta * slope / attempt("potential", beta, c_ft), rtol=1e-13
    )


@given(coordinates(1e-60, 1e60), positive(1e-60, 1e60), initializations(c=(1e-50, 1e50), gamma=(1e-20, 1e20)))
@examples()
def test_dependence_is_one_minus_order_times_the_sensitivity(beta_ft, beta_pt, init):
    """PD = (1 - l-order) S, with S = d log c_FT / d log beta_PT bounded by the secant slopes of log c_FT."""
    order, dependence = metrics(beta_ft, beta_pt, init)
    h = 1e-4
    up, here, down = (np.log(float(init.c_ft(beta_pt * np.exp(k * h)))) for k in (1, 0, -1))
    # the second and third derivatives of log c_FT in log beta_PT are below 1 in size
    assert abs(dependence - (1.0 - order) * (up - down) / (2 * h)) < h * h + 1e-14 * max(1.0, abs(here)) / h
