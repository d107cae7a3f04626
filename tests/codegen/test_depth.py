"""Depth-L diagonal networks: which potential slopes are closed, and the explicit inverse as generated kernels.

q' is the inverse of `deep_dual_map` of the derivation "depth" (in the phase m alpha^m R, m = L - 2, |phase| < 1).
"""

import mpmath
import numpy as np
import pytest
import sympy as sp
from sympy.polys.numberfields.galoisgroups import galois_group

import ptft_sym as pt
from derivations import derive
from derivations.symbols import excess, layer, phase

P = sp.Symbol("p", real=True)
MAP = derive("depth").results["deep_dual_map"].subs({layer: 1, phase: P})  # beta in units of alpha^L


def equation(depth):
    """The polynomial whose root p is the phase at beta = alpha^L."""
    rational = sp.together(MAP.subs(excess, depth - 2) - 1)
    return sp.Poly(sp.numer(rational), P)


def test_depth_two_is_the_mirror_map():
    with mpmath.workdps(80):
        m, alpha = mpmath.mpf(10) ** -30, mpmath.mpf(3) / 7
        beta_of = sp.lambdify((phase, layer, excess), derive("depth").results["deep_dual_map"], "mpmath")
        for beta in (-2, mpmath.mpf(1) / 3, 40):
            slope = pt.kernel("potential_derivative", backend="mpmath")(beta, 2 * alpha**2)
            assert abs(beta_of(m * alpha**m * slope, alpha, m) - beta) < abs(beta) * mpmath.mpf(10) ** -27


def test_depth_three_has_no_formula_in_radicals():
    """At beta = alpha^3 the phase is a root of an irreducible sextic whose Galois group is not solvable."""
    sextic = equation(3)
    assert sextic.degree() == 6
    assert sextic.is_irreducible
    group, _ = galois_group(sextic)
    assert group.order() == 720
    assert not group.is_solvable


def test_depth_six_has_none_either():
    """With v = sqrt(1 - p^2) the equation at beta = alpha^6 becomes v^6 + 2 v^3 + 6 v^2 = 8."""
    v = sp.Symbol("v", positive=True)
    squared = sp.Poly(v**6 + 2 * v**3 + 6 * v**2 - 8, v)
    root = sp.nroots(squared, n=30)
    inside = [r for r in root if r.is_real and 0 < r < 1]
    assert len(inside) == 1
    value = MAP.subs(excess, 4).subs(P, sp.sqrt(1 - inside[0] ** 2)).evalf(25)
    assert abs(value - 1) < 1e-20  # it is the equation
    group, _ = galois_group(squared)
    assert squared.is_irreducible
    assert not group.is_solvable


def test_depth_four_is_a_quartic():
    assert equation(4).degree() == 4
    group, _ = galois_group(equation(4))
    assert group.is_solvable


@pytest.mark.parametrize("backend", ["numpy", "c"])
@pytest.mark.parametrize("depth", [3, 4])
def test_the_explicit_inverse_is_a_kernel(depth, backend):
    """In factored form nothing cancels: within 8 ulp of the derivation's expression for every phase."""
    held = pt.generate(sp.factor(sp.together(MAP.subs(excess, depth - 2))), [P], backend=backend, name="deep_dual_map")
    phases = np.concatenate([-np.logspace(-300, -0.01, 60), [0.0], 1 - np.logspace(-15, -0.5, 60)])
    mine = held(phases)
    plain = sp.lambdify(P, MAP.subs(excess, depth - 2), "mpmath")
    for p, value in zip(phases.tolist(), mine.tolist(), strict=True):
        with mpmath.workdps(700):
            true = plain(mpmath.mpf(p))
            assert abs(value - true) <= 8 * np.spacing(abs(float(true))), p
