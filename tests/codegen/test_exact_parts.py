"""Error-free transformations: value + rest against exact rational arithmetic, and the kernels built on them."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

import ptft_sym as pt
from numerics.codegen import exact_parts
from numerics.codegen.print_numpy import NUMPY
from numerics.codegen.program import lower
from numerics.codegen.text import statements
from numerics.kernels._elementwise import constant, horner, known, upper  # noqa: F401  (the generated text calls them)

a, b, c = sp.symbols("a b c", real=True)


def compiled(parts, *symbols):
    """The two parts as a function of floats, by way of the NumPy printer."""
    lines, results = statements(lower(parts, {s: s.name for s in symbols}), NUMPY)
    text = "\n".join([f"def parts({', '.join(s.name for s in symbols)}):", *(f"    {line}" for line in lines)])
    space = dict(globals())
    exec(f"{text}\n    return {', '.join(results)}", space)
    return lambda *values: tuple(float(x) for x in space["parts"](*map(np.float64, values)))


def samples(count, seed=0):
    rng = np.random.default_rng(seed)
    sizes = np.exp(rng.uniform(-60, 60, (count, 3))) * rng.choice([-1.0, 1.0], (count, 3))
    return (sizes * rng.uniform(1, 2, (count, 3))).tolist()


def test_two_sum_is_exact():
    total = compiled(exact_parts.two_sum(a, b), a, b)
    for x, y, _ in samples(2000):
        assert sum(map(Fraction, total(x, y))) == Fraction(x) + Fraction(y)


def test_fast_two_sum_is_exact_for_the_larger_first():
    total = compiled(exact_parts.fast_two_sum(a, b), a, b)
    for x, y, _ in samples(2000):
        big, small = sorted((x, y), key=abs, reverse=True)
        assert sum(map(Fraction, total(big, small))) == Fraction(x) + Fraction(y)


def test_the_square_to_a_hundred_bits():
    square = compiled(exact_parts.carried_square(a), a)
    for x, _, _ in samples(2000):
        high, rest = map(Fraction, square(x))
        assert abs(high + rest - Fraction(x) ** 2) <= Fraction(x) ** 2 / 2**76
        assert high == Fraction(float(upper(np.float64(x)))) ** 2


def test_the_quotient_to_twice_the_digits():
    quotient = compiled(exact_parts.carried_quotient(a, b), a, b)
    for x, y, _ in samples(2000):
        high, rest = map(Fraction, quotient(x, y))
        true = Fraction(x) / Fraction(y)
        assert abs(high + rest - true) <= abs(true) / 2**75
        assert abs(rest) <= abs(true) / 2**24


def test_the_hypotenuse_beyond_its_last_digit():
    hypotenuse = compiled(exact_parts.carried_hypot(a, b), a, b)
    for x, y, _ in samples(2000):
        legs = Fraction(x) ** 2 + Fraction(y) ** 2
        high, rest = map(Fraction, hypotenuse(x, abs(y)))
        assert abs((high + rest) ** 2 - legs) <= 2 * legs / 2**53


@pytest.mark.parametrize("backend", ["numpy", "torch", "c", "mpmath"])
@pytest.mark.parametrize(
    ("at", "value"),
    [
        ((1.0, 1.0, 1.0, -1.0, 1.0), 0.0),  # the earlier layer does not move: c_FT does not depend on beta_PT
        ((1.0, 0.0, 1.0, 0.5, 1.0), 0.0),
        ((0.0, 3.0, 1e-9, 0.0, 0.0), -3 / (1e-9 + np.hypot(3, 1e-9))),
        ((float("nan"), 1.0, 1.0, 0.0, 1.0), float("nan")),
        ((1.0, float("nan"), 1.0, 0.0, 1.0), float("nan")),
        ((1.0, 1.0, 1.0, 0.0, float("nan")), float("nan")),
    ],
)
def test_the_dependence_at_special_points(at, value, backend):
    kernel = pt.kernel("pretraining_dependence", backend)
    with np.errstate(all="raise"):
        mine = float(kernel(*at))
    assert mine == pytest.approx(value, rel=1e-15, abs=0, nan_ok=True)


@pytest.mark.parametrize("backend", ["numpy", "torch", "c"])
@pytest.mark.parametrize("at", [(1.0, 1.0, 1.0, 0.0, np.inf), (1.0, 1.0, 2.0, -1.0, 1e-3)])
def test_the_dependence_vanishes_where_the_scale_does_not_move(at, backend):
    assert float(pt.kernel("pretraining_dependence", backend)(*at)) == 0.0


@pytest.mark.parametrize("backend", ["numpy", "torch", "c"])
def test_the_dependence_is_nearly_rounded_where_both_metrics_saturate(backend):
    """PD = -1 + small: a product of three quotients would be off by three ulp."""
    kernel, oracle = pt.kernel("pretraining_dependence", backend), pt.kernel("pretraining_dependence", "mpmath")
    rng = np.random.default_rng(3)
    for _ in range(100):
        at = (1e-6 * rng.uniform(1, 2), 10 ** rng.uniform(2, 4), rng.uniform(1, 2), rng.uniform(-0.9, 1), 0.0)
        true = oracle(*at)
        assert abs(float(kernel(*at)) - true) <= 1.6 * np.spacing(float(abs(true)))
