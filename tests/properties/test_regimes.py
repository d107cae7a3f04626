"""Regimes I to III as limits with their rates (derivation `regimes`), at random points on the way."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import attempt, coordinates, examples, positive, relative_scales

import ptft_sym as pt

EPS = np.finfo(float).eps


@given(positive(1e-100, 1e100), positive(10.0, 1e45))
@examples()
def test_regime_one_the_penalty_is_the_l1_norm_within_half_a_scale(beta, ratio):
    """(b/2)(log(2b/c) - 1) < q < the same + c/2, and q / log(1/c_FT) -> |b|/2 only logarithmically."""
    c_ft = beta / ratio
    q = float(attempt("potential", beta, c_ft))
    law = 0.5 * beta * (np.log(2 * ratio) - 1.0)
    rounding = 16 * EPS * abs(law) + 4 * EPS * beta  # ratio itself was rounded once
    assert law - rounding <= q <= law + 0.5 * c_ft + rounding


@given(positive(10.0, 1e200))
@examples()
def test_regime_one_the_order_falls_like_one_over_a_logarithm(ratio):
    """l-order - 1 = 1/(s - 1) - O(exp(-s)), s = asinh u; and s -> log 2u with an error below 1/(4u^2)."""
    s = np.arcsinh(ratio)
    order = float(attempt("ell_order", ratio, 1.0))
    rest = 2 * s / ((np.exp(s) + 1) * (s - 1) * (s - np.tanh(s / 2)))  # the ledger's exact remainder
    np.testing.assert_allclose(order - 1.0, 1.0 / (s - 1.0) - rest, rtol=1e-12 * s)
    assert order > 1.0 + 1.0 / 461.0  # not yet 1 even at u = 1e200: log(2u) - 1 < 460.3


@given(coordinates(1e-3, 1e3), positive(1e-3, 1e3), positive(1e-12, 1e-3))
@examples()
def test_regime_one_is_reached_as_the_scale_vanishes(beta_ft, beta_pt, small):
    """lam = -1 + small, gamma = small: c_FT -> 0 in proportion and |PD| <= l-order - 1 -> 0."""
    init = pt.Initialization(1e-3, small - 1.0, small)
    c_ft = float(init.c_ft(beta_pt))
    bound = (1.0 + init.lam) * (2e-3 + beta_pt) + small**2  # sqrt(c^2 + b^2) <= c + b
    assert c_ft <= bound * (1 + 8 * EPS)
    assume(abs(beta_ft) > 10 * bound)
    order = float(attempt("ell_order", beta_ft, c_ft))
    # 1/(s - 1) bounds l-order - 1 and falls in s, which is at least log(2u)
    assert order - 1.0 <= (1.0 / (np.log(2 * abs(beta_ft) / bound) - 1.0)) * (1 + 1e-12)
    assert 0.0 <= -float(attempt("pretraining_dependence", beta_ft, beta_pt, init)) <= (order - 1.0) * (1 + 64 * EPS)


@given(positive(1e-100, 1e100), positive(1e-40, 1e4))
@examples()
def test_lazy_regimes_the_penalty_is_the_parabola_up_to_its_fourth_order(c_ft, ratio):
    """b^2/(4c) - b^4/(48 c^3) < q < b^2/(4c) and 0 <= 2 - l-order < u^2/6."""
    beta = ratio * c_ft
    parabola = beta * ratio / 4
    q, order = float(attempt("potential", beta, c_ft)), float(attempt("ell_order", beta, c_ft))
    assert parabola * (1 - ratio**2 / 12 - 32 * EPS) <= q <= parabola * (1 + 32 * EPS)
    assert -4 * EPS <= 2.0 - order <= ratio**2 / 6 + 4 * EPS


@given(positive(1e-3, 1e3), relative_scales(1e-3), positive(1e-15, 1e-2))
@examples()
def test_regime_two_full_sensitivity_at_a_linear_rate(beta_pt, lam, small):
    """c -> 0 at gamma = 0, beta_FT << c_FT: PD -> -1 with 1 - S ~ c/|beta_PT|."""
    init = pt.Initialization(small * beta_pt, lam, 0.0)
    beta_ft = 1e-9 * float(init.c_ft(beta_pt))
    distance = 1.0 + float(attempt("pretraining_dependence", beta_ft, beta_pt, init))
    b = 1.0 / small  # 1 - S = (sqrt(1+b^2) + 1 - b^2/sqrt(1+b^2) ... ) exactly: 1/sqrt(1 + b^2) at gamma = 0
    np.testing.assert_allclose(distance, 1.0 / np.hypot(1.0, b), rtol=1e-9, atol=16 * EPS)
    assert abs(distance - small) <= small**3 + 16 * EPS
    weighted = beta_ft**2 / (4 * (1 + lam) * beta_pt)
    q = float(attempt("potential", beta_ft, init.c_ft(beta_pt)))
    # c_FT exceeds its limit by c + O(c^2)
    assert weighted * (1 - small * (1 + small) - 1e-12) <= q <= weighted * (1 + 1e-12)


@given(positive(1e-3, 1e3), relative_scales(1e-3), positive(10.0, 1e12))
@examples()
def test_regime_three_large_absolute_scale(beta_pt, lam, large):
    """c -> infinity: S ~ (beta_PT/c)^2/2 and 4 c_FT q -> beta_FT^2, c_FT -> 2 (1 + lam) c on every coordinate."""
    init = pt.Initialization(large * beta_pt, lam, 0.0)
    dependence = -float(attempt("pretraining_dependence", 1e-9 * init.c, beta_pt, init))
    np.testing.assert_allclose(dependence, 0.5 / large**2, rtol=2.0 / large**2 + 1e-6)
    np.testing.assert_allclose(init.c_ft(beta_pt), 2 * (1 + lam) * init.c, rtol=0.5 / large**2 + 8 * EPS)


@given(positive(1e-3, 1e3), positive(1e-3, 1e3), relative_scales(1e-3), positive(1e3, 1e9))
@examples()
def test_regime_three_large_readout(beta_pt, c, lam, gamma):
    """gamma -> infinity: gamma^2 S -> 2 c (1 + lam) b^2/sqrt(1 + b^2), from below."""
    init = pt.Initialization(c, lam, gamma)
    order = float(attempt("ell_order", 1e-6 * gamma, init.c_ft(beta_pt)))
    sensitivity = float(attempt("pretraining_dependence", 1e-6 * gamma, beta_pt, init)) / (1.0 - order)
    b = beta_pt / c
    limit = 2 * c * (1 + lam) * b**2 / np.hypot(1.0, b)
    share = 2 * c * (1 + lam) * (1 + np.hypot(1.0, b)) / gamma**2  # of the first layer in c_FT, relative to the readout
    np.testing.assert_allclose(gamma**2 * sensitivity, limit / (1.0 + share), rtol=1e-6)


@given(st.sampled_from(["I", "II", "III", "IV"]), positive(0.3, 3.0))
@examples(0.5)
def test_the_four_settings_keep_their_regime_in_other_units(name, t):
    """The regime of a solution is a statement about ratios: changing units of beta changes nothing."""
    beta_ft, init = {
        "I": (1.0, (1e-3, -1 + 1e-9, 1e-6)), "II": (1e-3, (1e-6, 0.99, 0.0)),
        "III": (1.0, (1e-3, 0.0, 10.0)), "IV": (1.0, (1e-3, -0.99, 0.0)),
    }[name]  # fmt: skip
    c, lam, gamma = init
    found = attempt("regime", t * beta_ft, t, pt.Initialization(t * c, lam, t**0.5 * gamma))
    assert str(found) == name
