"""The reducer: what it calls zero is zero, and near misses are not."""

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from derivations.ledger.reduce import reduces_to_zero
from derivations.symbols import beta, c, h, mu, n_zero, s, t, u

ZEROS = {
    "half angle": sp.cosh(s) - 1 - 2 * sp.sinh(s / 2) ** 2,
    "half angle of asinh": 2 * sp.cosh(sp.asinh(u) / 2) ** 2 - 1 - sp.sqrt(1 + u**2),
    "sum of angles": sp.sinh(s + t) - sp.sinh(s) * sp.cosh(t) - sp.cosh(s) * sp.sinh(t),
    "tanh": sp.tanh(s / 2) - sp.sinh(s) / (1 + sp.cosh(s)),
    "asinh as a logarithm": sp.asinh(u).rewrite(sp.log) - sp.log(u + sp.sqrt(1 + u**2)),
    "root over a quotient": sp.sqrt(1 + beta**2 / c**2) - sp.sqrt(c**2 + beta**2) / c,
    "root of a product": sp.sqrt(c * h) - sp.sqrt(c) * sp.sqrt(h),
    "nested root": sp.sqrt(3 + 2 * sp.sqrt(2)) ** 2 - 3 - 2 * sp.sqrt(2),
    "logarithms": sp.log(6 * c / h) - sp.log(2) - sp.log(3) - sp.log(c) + sp.log(h),
    "symbolic power": c ** (n_zero + 1) / c - c**n_zero,
    "absolute value": sp.Abs(beta) ** 2 - beta**2,
    "derivative": sp.Derivative(sp.asinh(beta / c), beta) - 1 / sp.sqrt(c**2 + beta**2),
    "gaussian": sp.exp(-((s - t) ** 2) / 2) - sp.exp(-(s**2) / 2) * sp.exp(s * t) * sp.exp(-(t**2) / 2),
    "error function": sp.erf(s) + sp.erfc(s) - 1,
    "conjugate": (sp.sqrt(1 + h) - 1) * (sp.sqrt(1 + h) + 1) - h,
    "mu": sp.exp(2 * sp.log(mu)) - mu**2,
}


@pytest.mark.parametrize("name", ZEROS)
def test_identities_reduce_to_zero(name):
    assert reduces_to_zero(ZEROS[name])


@pytest.mark.parametrize("name", ZEROS)
def test_near_misses_do_not(name):
    assert not reduces_to_zero(ZEROS[name] + sp.Rational(1, 10**12))
    assert not reduces_to_zero(ZEROS[name] + u * sp.Rational(1, 10**9))


def test_a_root_keeps_its_sign():
    assert not reduces_to_zero(sp.sqrt(beta**2) - beta)  # beta may be negative
    assert reduces_to_zero(sp.sqrt(c**2) - c)


ATOMS = st.sampled_from([s, t, sp.sinh(s), sp.cosh(s), sp.cosh(t / 2), sp.exp(t), sp.sqrt(1 + s**2), sp.Integer(2), c])
TREES = st.recursive(
    ATOMS, lambda inner: st.tuples(inner, inner, st.sampled_from([sp.Add, sp.Mul])).map(lambda x: x[2](x[0], x[1])),
    max_leaves=6,
)  # fmt: skip


@given(TREES, TREES)
@settings(max_examples=40)
def test_expanding_changes_nothing_and_adding_does(first, second):
    assert reduces_to_zero((first + second) ** 2 - first**2 - second**2 - 2 * first * second)
    assert not reduces_to_zero(first**2 + 1 + second**2)  # a sum of squares plus one is never 0
