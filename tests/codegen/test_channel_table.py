"""The tabulated channel averages: monomials times coefficients are the derivation's integrands."""

import pytest
import sympy as sp

import derivations
from derivations import symbols as sy
from numerics.codegen.print_channel_table import MOMENTS, _positive, coefficients, print_channel_table

ROWS = {"error": ("balanced_error", 1), "dof": ("channel_dof", 1), "slack": ("channel_slack", 1),
        "error_g": ("balanced_error_g", sy.g), "error_s2": ("balanced_error_s2", sy.s2),
        "dof_g": ("channel_dof_g", sy.g), "dof_s2": ("channel_dof_s2", sy.s2)}  # fmt: skip
AT = {sy.u: sp.Rational(7, 5), sy.c_ft: sp.Rational(3, 7), sy.g: sp.Rational(5, 3), sy.s2: sp.Rational(2, 9),
      sy.tau2: sp.Rational(4, 5)}  # fmt: skip


@pytest.mark.parametrize("name", MOMENTS)
def test_integrand_is_rebuilt_from_its_monomials(name):
    _, found, constant = coefficients()
    key, factor = ROWS[name]
    formula = factor * derivations.derive("scalar_channel").results[key].subs({sy.start: 0, sy.u0: 0, sy.delta: sy.u})
    variance = AT[sy.s2] + AT[sy.tau2]
    deviation, u = sp.sqrt(variance), AT[sy.u]
    p, q, rest = AT[sy.c_ft] / deviation, AT[sy.g] / 2 / deviation, AT[sy.s2] / variance
    total = 0
    for (i, j, k), value in found[name].items():
        value = value.subs({sy.V: variance, sp.Symbol("rest", positive=True): rest})
        total += value * p ** (i + j) * q ** (k + 1 - j) * sp.sinh(u) ** i * sp.cosh(u) ** j * u**k
    total *= constant * sp.exp(-((p * sp.sinh(u) + q * u) ** 2) / 2)
    assert abs(total.evalf(40) / formula.subs(AT).evalf(40) - 1) < sp.Float("1e-35")


def test_coefficients_are_split_without_cancellation():
    variance, gain, rest, s2, tau2 = sp.symbols("V G R s2 tau2", positive=True)
    inner = sp.Symbol("rest", positive=True)
    assert _positive(variance * (1 - inner), variance, gain, rest, s2, tau2) == {tau2: 1}
    assert _positive(variance * inner * (1 - inner), variance, gain, rest, s2, tau2) == {s2 * gain: 1}
    assert _positive(sp.Integer(-2), variance, gain, rest, s2, tau2) == {1: -2}
    with pytest.raises(ArithmeticError, match="not linear"):
        _positive(inner**3, variance, gain, rest, s2, tau2)


def test_text_is_the_same_every_time():
    assert print_channel_table() == print_channel_table()
