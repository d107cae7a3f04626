"""The mpmath kernels: the roots against mpmath's own root finder, closed limits, digits, and their part in verify."""

import sys
from dataclasses import replace

import mpmath
import numpy as np
import pytest

from numerics.codegen import kernel
from numerics.codegen.formulas import FORMULAS
from numerics.codegen.verify import measurable, second_opinion, true_values, truth

POINTS = [(1, 1, 0.5), (-3.0, 0.2, 1e-6), (1e-3, 4.0, 2.0), (50.0, 1e-3, 0.1), (0.3, 2, 5e-5), (3, 0.5, 5e-16)]


def on(name):
    return kernel(name, "mpmath")


def found(z, g, c):
    """xhat by a bracketing root finder on the stationarity condition in log(x): no hyperbolic substitution."""
    z, g, c = map(mpmath.mpf, (z, g, c))
    size = abs(z)

    def gap(w):
        x = mpmath.exp(w)
        return (x + g / 2 * mpmath.asinh(x / c)) / size - 1

    high = mpmath.log(size)
    low = high - mpmath.log(1 + g / (2 * c)) - 1
    tolerance = mpmath.mpf(10) ** (20 - 2 * mpmath.mp.dps)
    w = mpmath.findroot(gap, (low, high), solver="anderson", tol=tolerance, maxsteps=500)
    return mpmath.sign(z) * mpmath.exp(w)


@pytest.mark.parametrize("digits", [50, 120])
@pytest.mark.parametrize("point", POINTS)
def test_the_root_at_any_precision(point, digits):
    with mpmath.workdps(digits + 10):
        true = found(*point)
        assert abs(on("prox")(*point) - true) <= abs(true) * mpmath.mpf(10) ** (5 - digits)
        assert abs(on("prox")(*point, digits=20) - true) <= abs(true) * mpmath.mpf(10) ** -20


@pytest.mark.parametrize(("name", "which"), [("z", 0), ("g", 1), ("c_ft", 2)])
@pytest.mark.parametrize("point", POINTS)
def test_the_derivatives_are_differences_of_the_root(point, name, which):
    with mpmath.workdps(90):
        at = [mpmath.mpf(v) for v in point]
        h = abs(at[which]) * mpmath.mpf(10) ** -30
        ends = []
        for sign in (1, -1):
            moved = list(at)
            moved[which] += sign * h
            ends.append(found(*moved))
        slope = (ends[0] - ends[1]) / (2 * h)
        assert abs(on(f"prox_derivative_{name}")(*point) - slope) <= abs(slope) * mpmath.mpf(10) ** -40


@pytest.mark.parametrize("point", POINTS)
def test_the_envelope_is_the_objective_at_the_root(point):
    with mpmath.workdps(80):
        z, g, c = map(mpmath.mpf, point)
        x = found(z, g, c)
        u = x / c
        value = (x - z) ** 2 / (2 * g) + c / 2 * (1 - mpmath.sqrt(1 + u * u) + u * mpmath.asinh(u))
        assert abs(on("moreau_envelope")(*point) - value) <= abs(value) * mpmath.mpf(10) ** -45


def test_closed_limits():
    prox, tiny = on("prox"), mpmath.mpf(10) ** -60
    assert prox(2, 0, 1) == 2
    assert prox(-2, tiny, 1) == pytest.approx(-2, rel=1e-15, abs=0)
    assert on("prox_derivative_z")(0, 6, 1) == mpmath.mpf(1) / 4  # 1/(1 + g/(2 c))
    assert on("moreau_envelope")(1, tiny, 0.5) == pytest.approx(float(on("potential")(1, 0.5)), rel=1e-15, abs=0)
    with mpmath.workdps(60):
        theta = mpmath.mpf(1)  # the soft threshold, reached like log log(1/c)/log(1/c)
        for power, close in ((100, 2e-2), (1000, 3e-3)):
            c = mpmath.mpf(10) ** -power
            assert abs(prox(3, 2 * theta / mpmath.log(1 / c), c, digits=15) - 2) < close


@pytest.mark.parametrize("backend", ["torch", "c", "mpmath"])
@pytest.mark.parametrize("name", [name for name, row in FORMULAS.items() if row.special])
def test_special_values_on_every_backend(name, backend):
    for values, value in FORMULAS[name].special:
        if backend == "torch":
            torch = pytest.importorskip("torch")
            values = [torch.tensor(v, dtype=torch.float64) for v in values]
        out = float(kernel(name, backend)(*values))
        assert out == pytest.approx(value, rel=0, abs=0, nan_ok=True), (backend, values)


def test_more_digits_come_from_the_argument_or_from_mpmath():
    q = on("potential")
    with mpmath.workdps(210):
        u = mpmath.mpf(1) / 3
        true = (1 - mpmath.sqrt(1 + u * u) + u * mpmath.asinh(u)) / 2
        assert abs(q(u, 1) - true) < mpmath.mpf(10) ** -200  # the third is not rounded, mp.dps is kept
        assert abs(q(u, 1, digits=20) - true) < mpmath.mpf(10) ** -20
    assert abs(q(1, 3, digits=200) - q(1, 3, digits=260)) < mpmath.mpf(10) ** -190


def test_refusals():
    with pytest.raises(ValueError, match=r"c_ft = 0 is not allowed: it must be > 0"):
        on("prox")(1, 1, 0)
    with pytest.raises(ValueError, match=r"g = -1 is not allowed: it must be >= 0"):
        on("prox_derivative_z")(1, -1, 1)
    for digits in (0, -5, 2.5, "50"):
        with pytest.raises(ValueError, match=r"digits = .* it must be a whole number of at least 1"):
            on("prox")(1, 1, 1, digits=digits)
    for bad in ("1", 1j, None, [1.0], np.ones(2), np.complex128(1)):
        with pytest.raises(TypeError, match=r"beta must be a real number, got .* of type"):
            on("potential")(bad, 1)
        with pytest.raises(TypeError, match=r"c_ft must be a real number, got .* of type"):
            on("prox")(1, 1, bad)
    assert on("potential")(np.float32(1), np.array(0.5)) == on("potential")(np.int64(1), mpmath.mpf("0.5"))
    assert mpmath.isnan(on("prox")(1, 1, np.nan))
    assert mpmath.isnan(on("prox")(1, np.inf, 1))


@pytest.mark.parametrize("name", measurable())
def test_the_two_oracles_agree(name):
    pytest.importorskip("flint")
    true = truth(name, 60, seed=6, extreme=60)
    opinion = second_opinion(true, 4)
    assert opinion.points == 4
    assert opinion.holds, str(opinion)
    wrong = replace(true, value=np.nextafter(true.value, np.inf))
    opinion = second_opinion(wrong, 1)
    assert not opinion.holds
    assert "BROKEN" in str(opinion)


@pytest.mark.parametrize("name", ["potential", "prox"])
def test_without_ball_arithmetic_the_mpmath_kernel_is_the_truth(name, monkeypatch):
    pytest.importorskip("flint")
    row, points = FORMULAS[name], np.array([[0.3, 2.0, 0.7], [-1e-9, 1.5, 1e3]])[:, : len(FORMULAS[name].arguments)]
    balls = true_values(row, points)
    monkeypatch.setitem(sys.modules, "flint", None)
    slow = true_values(row, points)
    assert (balls[0] == slow[0]).all()
    assert balls[1] == pytest.approx(slow[1], rel=1e-9, abs=0)
