"""The Bregman divergence: close pairs and far ones against its definition at 400 digits, and what it must satisfy."""

import mpmath
import numpy as np
import pytest
import sympy as sp

from numerics.codegen.rules import rewrite
from numerics.codegen.scale_nodes import Divergence
from numerics.kernels import bregman, potential, potential_derivative


def divergence(beta, beta0, c):
    with mpmath.workdps(400):
        beta, beta0, c = map(mpmath.mpf, (beta, beta0, c))

        def q(b):
            return c / 2 * (1 - mpmath.sqrt(1 + (b / c) ** 2) + b / c * mpmath.asinh(b / c))

        return q(beta) - q(beta0) - mpmath.asinh(beta0 / c) / 2 * (beta - beta0)


@pytest.mark.parametrize("c", [1.0, 1e-6, 1e4])
@pytest.mark.parametrize("beta0", [0.0, 1e-9, 0.3, -0.7, 5.0, -1e3])
@pytest.mark.parametrize("shift", [1e-12, -1e-6, 0.01, -0.5, 1.0, -1.0, 3.0, -1e4, 1e8])
def test_against_the_definition(beta0, shift, c):
    beta = beta0 * (1 + shift) if beta0 else shift
    true = divergence(beta, beta0, c)
    assert abs(bregman(beta, beta0, c) - true) <= 8 * np.spacing(float(true))


def test_what_a_divergence_satisfies():
    rng = np.random.default_rng(0)
    beta, beta0, c = rng.normal(size=1000), rng.normal(size=1000), rng.uniform(0.01, 3, 1000)
    out = bregman(beta, beta0, c)
    assert (out > 0).all()
    assert (bregman(beta, beta, c) == 0).all()
    assert np.allclose(bregman(beta, 0.0, c), potential(beta, c), rtol=2e-15, atol=0)
    both = (potential_derivative(beta, c) - potential_derivative(beta0, c)) * (beta - beta0)
    assert np.allclose(out + bregman(beta0, beta, c), both, rtol=1e-12, atol=0)


def test_the_textbook_form_loses_every_digit_for_a_close_pair():
    beta0, c = 1.0, 1.0
    beta = beta0 * (1 + 1e-9)
    naive = potential(beta, c) - potential(beta0, c) - potential_derivative(beta0, c) * (beta - beta0)
    true = float(divergence(beta, beta0, c))
    assert abs(naive / true - 1) > 0.1
    assert abs(bregman(beta, beta0, c) / true - 1) < 1e-15


def test_the_rule_recognises_the_definition_and_nothing_else():
    b, b0 = sp.symbols("b b0", real=True)
    c = sp.Symbol("c", positive=True)
    text = Divergence(b, b0, c).definition()
    assert rewrite(text) == Divergence(b, b0, c)
    assert not rewrite(text + b).has(Divergence)
    assert not rewrite(text.subs(b0, 0)).has(Divergence)
