"""The C kernels: C99 without warnings, one value and arrays, branches, the header from C++, user expressions."""

import ctypes
import shutil
import subprocess

import mpmath
import numpy as np
import pytest
import sympy as sp

from numerics.codegen import generate, kernel
from numerics.codegen.compile_c import build
from numerics.codegen.export import c_header, source
from numerics.codegen.formulas import FORMULAS
from numerics.codegen.points import adversarial, seeded
from numerics.codegen.table import c_ratio
from numerics.codegen.verify import measurable

pytestmark = pytest.mark.skipif(not (shutil.which("cc") or shutil.which("gcc")), reason="no C compiler")
ON_C = [name for name in measurable() if "c" in FORMULAS[name].backends]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """All kernels in one file, compiled with every warning an error."""
    return ctypes.CDLL(str(build(source(ON_C, "c"), c_header(ON_C), tmp_path_factory.mktemp("c"))))


@pytest.mark.parametrize("name", ON_C)
def test_one_value_is_the_array_of_one(library, name):
    count = len(FORMULAS[name].arguments)
    scalar = getattr(library, f"ptft_{name}")
    scalar.argtypes, scalar.restype = [ctypes.c_double] * count, ctypes.c_double
    values = [0.3 + 0.1 * i for i in range(count)]
    assert scalar(*values) == kernel(name, "c")(*values)
    assert scalar(*values) == pytest.approx(kernel(name)(*values), rel=4 * 2.3e-16, abs=0)


@pytest.mark.parametrize("name", ON_C)
def test_agrees_with_numpy_over_the_range(name):
    rng = np.random.default_rng(5)
    values = [10.0 ** rng.uniform(-2, 2, 500) for _ in FORMULAS[name].arguments]
    if "lam" in FORMULAS[name].arguments:
        values[list(FORMULAS[name].arguments.values()).index("lam")] = rng.uniform(-0.99, 1, 500)
    assert np.allclose(kernel(name, "c")(*values), kernel(name)(*values), rtol=2e-15, atol=0)


def test_the_far_branch():
    with mpmath.workdps(40):
        big, small = mpmath.mpf(1e300), mpmath.mpf(1e-300)
        q, beta = big / 2 * (mpmath.log(2 * big / small) - 1), small * mpmath.sinh(800)
    assert kernel("potential", "c")(1e300, 1e-300) == pytest.approx(float(q), rel=7e-16, abs=0)
    assert kernel("dual_map", "c")(400.0, 1e-300) == pytest.approx(float(beta), rel=9e-16, abs=0)


def test_a_scale_that_is_not_positive_gives_nan():
    assert np.isnan(kernel("potential", "c")([1.0, 1.0], [0.0, -1.0])).all()


def test_shapes():
    assert kernel("potential", "c")(np.ones((2, 1)), np.ones(3)).shape == (2, 3)
    assert kernel("potential", "c")(np.array([]), 1.0).shape == (0,)


def test_arguments_by_name_and_their_number():
    q = kernel("potential", "c")
    assert q(beta=1.0, c_ft=0.5) == q(1.0, c_ft=0.5) == q(1.0, 0.5)
    for values, named, got in (((1.0,), {}, "1"), ((1, 2, 3), {}, "3"), ((1,), {"x": 2}, "1 and x")):
        with pytest.raises(TypeError, match=rf"potential takes 2 arguments \(beta, c_ft\), got {got}$"):
            q(*values, **named)


@pytest.mark.parametrize("bad", ["1", 1j, [1.0, 1j], None, 10**400, sp.Rational(1, 3)])
def test_what_is_not_real_numbers_is_refused_by_name(bad):
    with pytest.raises(TypeError, match="c_ft must be real numbers, got dtype"):
        kernel("potential", "c")(1.0, bad)
    with pytest.raises(TypeError, match="beta must be real numbers, got dtype"):
        kernel("potential", "c")(bad, 1.0)


def test_the_compiler_may_be_a_command_with_options(monkeypatch):
    monkeypatch.setenv("CC", f"{shutil.which('cc') or 'gcc'} -fno-fast-math")
    held = generate(sp.Symbol("x") ** 2, [sp.Symbol("x")], "c", name="square")
    assert held([3, -2]).tolist() == [9.0, 4.0]


def test_the_source_has_no_dependency_and_the_header_is_plain(tmp_path):
    text, header = source(ON_C, "c"), c_header(ON_C)
    assert sorted(line for line in text.splitlines() if line.startswith("#include")) == [
        '#include "ptft_kernels.h"', "#include <math.h>", "#include <stddef.h>", "#include <stdint.h>",
        "#include <string.h>",
    ]  # fmt: skip
    assert all(f"void ptft_{name}_array(size_t n," in header for name in ON_C)
    (tmp_path / "ptft_kernels.h").write_text(header)
    (tmp_path / "main.c").write_text(
        '#include "ptft_kernels.h"\n#include "ptft_kernels.h"\nint main(void) { return 0; }\n'
    )
    subprocess.run(
        [shutil.which("cc") or "gcc", "-std=c99", "-pedantic", "-Wall", "-Werror", "-c", "main.c"],
        cwd=tmp_path,
        check=True,
    )


def test_what_the_compiler_refuses_is_reported(tmp_path):
    with pytest.raises(RuntimeError, match="the C compiler refused the generated source"):
        build("int broken(", "", tmp_path)


def test_a_person_can_use_c_keywords_and_library_names():
    symbols = sp.symbols("double gamma y1 n i m s4 result0 extra0 t1 PTFT_BLOCK")
    weighted = sp.Add(*[s * (k + 1) for k, s in enumerate(symbols)])
    held = generate(sp.exp(sp.sin(weighted)) + weighted, list(symbols), "c", name="weights")
    assert held(*[1.0] * 11) == pytest.approx(66 + np.exp(np.sin(66)), rel=1e-15, abs=0)
    x = sp.Symbol("x", real=True)
    both = generate(
        sp.Piecewise((sp.sign(x) * sp.Abs(x) ** sp.Rational(3, 2), x < 2), (sp.Max(x, 3), True)), [x], "c", name="both"
    )
    assert both([-4.0, 1.0, 2.5, 7.0]).tolist() == [-8.0, 1.0, 3.0, 7.0]


def loop_and_value(library, name):
    """The loop over arrays as a function of columns that writes into `out`, and the function of one value."""
    count = len(FORMULAS[name].arguments)
    loop, value = getattr(library, f"ptft_{name}_array"), getattr(library, f"ptft_{name}")
    pointer = ctypes.POINTER(ctypes.c_double)
    loop.argtypes, loop.restype = [ctypes.c_size_t, *[pointer] * (count + 1)], None
    value.argtypes, value.restype = [ctypes.c_double] * count, ctypes.c_double
    return lambda columns, out: loop(len(out), *(a.ctypes.data_as(pointer) for a in (*columns, out))), value


@pytest.mark.parametrize("name", ON_C)
def test_arrays_have_the_bits_of_one_value_whatever_stands_beside(library, name):
    """Seeded and adversarial points of every region, values out of the domain, all lengths around a block's."""
    loop, value = loop_and_value(library, name)
    names = tuple(FORMULAS[name].arguments.values())
    strange = [np.nan, np.inf, -np.inf, 0.0, -1.0, 5e-324, 1.7e308]
    rng = np.random.default_rng(1)
    points = np.concatenate([
        seeded(names, 1500, 3), adversarial(names, 1500), rng.choice(strange, (300, len(names))),
        10.0 ** rng.uniform(-2, 2, (500, len(names))),
    ])  # fmt: skip
    rng.shuffle(points)
    expected = np.array([value(*point) for point in points.tolist()])
    for first, size in ((0, len(points)), (7, 0), (7, 1), (7, 127), (7, 128), (7, 129), (7, 300)):
        columns = points[first : first + size].T.copy()
        out = np.full(size, 7.0)
        loop(columns, out)
        assert np.array_equal(out, expected[first : first + size], equal_nan=True)


def test_no_result_depends_on_the_options_of_the_compiler(library, tmp_path):
    flags = ("-std=c99", "-O0", "-fPIC", "-shared")
    plain = ctypes.CDLL(str(build(source(ON_C, "c"), c_header(ON_C), tmp_path, flags)))
    for name in ON_C:
        columns = seeded(tuple(FORMULAS[name].arguments.values()), 1000, 6).T.copy()
        results = np.empty((2, columns.shape[1]))
        for out, compiled in zip(results, (library, plain), strict=True):
            loop_and_value(compiled, name)[0](columns, out)
        assert np.array_equal(*results, equal_nan=True), name


@pytest.mark.parametrize("name", ON_C)
def test_a_result_may_be_written_over_an_argument(library, name):
    loop, _ = loop_and_value(library, name)
    names = tuple(FORMULAS[name].arguments.values())
    columns = seeded(names, 500, 4).T.copy()
    expected = np.empty(columns.shape[1])
    loop(columns, expected)
    for place in range(len(names)):
        given = columns.copy()
        loop(given, given[place])
        assert np.array_equal(given[place], expected, equal_nan=True)


def test_an_expression_with_calls_of_calls():
    """Three stages, a call of a constant, a selection and a value that waits for two stages."""
    x, y = sp.symbols("x y", real=True)
    inner = sp.exp(sp.sin(x) + y)
    expression = sp.log(1 + inner) * x + sp.Piecewise((sp.cosh(inner / 3), x > y), (2**x, True)) + y * inner
    held = generate(expression, [x, y], "c", name="nested")
    rng = np.random.default_rng(0)
    at = rng.uniform(-2, 2, (2, 1000))
    assert np.allclose(held(*at), sp.lambdify([x, y], expression, "numpy")(*at), rtol=4e-15, atol=0)


@pytest.mark.slow
@pytest.mark.parametrize("name", ON_C)
def test_a_loop_costs_little_more_than_the_calls_it_cannot_avoid(name):
    """At most 1.5 times a loop with those calls, same compiler and flags: the best of five medians."""
    assert min(c_ratio(name) for _ in range(5)) <= 1.5
