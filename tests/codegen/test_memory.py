"""Code on whole arrays writes values over memory that has served: the same numbers, and never over an argument."""

import random

import numpy as np
import sympy as sp

from numerics.codegen.nodes import Known, Select, Upper, hypot
from numerics.codegen.print_numpy import NUMPY, RESERVED
from numerics.codegen.program import lower
from numerics.codegen.series import Polynomial
from numerics.codegen.text import in_place_statements, statements
from numerics.kernels import _elementwise

ARGUMENTS = x, y, z = sp.symbols("x y z", real=True)
UNARY = [
    sp.sin, sp.tanh, sp.Abs, Upper, lambda a: sp.sqrt(1 + a**2), lambda a: Polynomial(a, 1, 2, 3), lambda a: -a,
]  # fmt: skip
BINARY = [
    *(lambda a, b: a + b, lambda a, b: a * b) * 3, lambda a, b: a - b, lambda a, b: a / (2 + sp.cos(b)), sp.Max, sp.Min,
    hypot, Known, lambda a, b: Select(x > sp.Rational(1, 3), a, b),
]  # fmt: skip


def random_expression(rng, depth):
    if depth == 0:
        return rng.choice([*ARGUMENTS, sp.Rational(rng.randint(1, 5), rng.randint(1, 4))])
    first, second = random_expression(rng, depth - 1), random_expression(rng, depth - 1)
    if first.is_number:  # numbers are folded, not computed
        first = first + rng.choice(ARGUMENTS)
    return rng.choice(UNARY)(first) if rng.random() < 0.3 else rng.choice(BINARY)(first, second)


def run(lines, results, values):
    space = dict(vars(_elementwise))
    exec("\n    ".join(["def f(x, y, z):", *lines, f"return {', '.join(results)},"]), space)
    with np.errstate(all="ignore"):
        return [np.broadcast_to(out, values[0].shape) for out in space["f"](*values)]


def test_random_programs_give_the_same_bits_in_place():
    rng, done, reused = random.Random(7), 0, 0
    given = np.random.default_rng(0).normal(size=(3, 7))
    given[0, 0] = np.nan
    while done < 200:
        expressions = tuple(random_expression(rng, rng.randint(2, 5)) for _ in range(rng.choice([1, 1, 2])))
        program = lower(expressions, {symbol: symbol.name for symbol in ARGUMENTS})
        plain = statements(program, NUMPY, RESERVED)
        again = in_place_statements(program, NUMPY, RESERVED)
        values = list(given.copy())
        for a, b in zip(run(*plain, list(given.copy())), run(*again, values), strict=True):
            assert np.array_equal(a, b, equal_nan=True), (expressions, again[0])
        assert np.array_equal(values, given, equal_nan=True), again[0]
        done += 1
        reused += any("out=" in line for line in again[0])
    assert reused > 100
