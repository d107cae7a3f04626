"""People's own expressions: names, shapes, branches, refusals; the failures met elsewhere, each as a case."""

import pickle

import numpy as np
import pytest
import sympy as sp

import ptft_sym as pt
from numerics.codegen import generate
from numerics.codegen.program import UnsupportedNode, lower
from numerics.codegen.text import statements

x, y = sp.symbols("x y", real=True)
BACKENDS = ["numpy", "torch", "c", "mpmath"]


def call(held, *values):
    """Any backend on Python numbers and arrays, as NumPy values."""
    if held.backend == "torch":
        torch = pytest.importorskip("torch")
        return held(*[torch.as_tensor(np.asarray(v, float)) for v in values]).numpy()
    if held.backend == "mpmath":
        return np.vectorize(lambda *v: float(held(*map(float, v))))(*values)
    return held(*values)


@pytest.mark.parametrize("backend", BACKENDS)
def test_user_symbols_named_like_temporaries(backend):
    c, x0 = sp.symbols("c x0")
    t1, t2 = sp.symbols("t1 t2")
    held = generate(c * x0**2 + c * (x0**4 - x0**2), [c, x0], backend)
    assert call(held, 1.0, 2.0) == 16
    shared = sp.exp(t1 * t2) + 1
    assert call(generate(shared**2 + 1 / shared, [t1, t2], backend), 0.0, 1.0) == pytest.approx(4.5)


@pytest.mark.parametrize("backend", BACKENDS)
def test_ordinary_names_that_mean_something_elsewhere(backend):
    names = ["gamma", "beta", "lambda", "np", "out", "size", "patch", "double", "y0", "import", "ρ", "a b", "E", "I"]
    symbols = [sp.Symbol(name) for name in names]
    held = generate(sp.Add(*[(i + 1) * s for i, s in enumerate(symbols)]), symbols, backend, name="total")
    assert len(set(held.arguments)) == len(names)
    assert call(held, *([1.0] * len(names))) == sum(range(1, len(names) + 1))


CLASHES = {
    "numpy": ["np", "select", "horner", "patch", "_core", "out", "size", "K0_5", "t1", "special"],
    "torch": ["torch", "_prepare", "_maximum", "dtype", "zip", "tuple", "type", "_kernel"],
    "c": ["exp", "fabs", "NAN", "NULL", "size_t", "INFINITY", "M_PI", "ptft_sign", "kernel_value", "n", "errno"],
    "mpmath": ["mp", "abs", "max", "_real", "_settled", "digits", "values", "map"],
}


@pytest.mark.parametrize("backend", BACKENDS)
def test_names_that_the_generated_code_uses_itself(backend):
    """All of them as arguments of one kernel, and each in the functions it could break."""
    symbols = sp.symbols(CLASHES[backend], real=True)
    parts = [sp.Abs(s) + sp.exp(s) + sp.Max(s, sp.Rational(1, 4)) + sp.sign(s) * (i + 1) for i, s in enumerate(symbols)]
    held = generate(sp.Add(*parts) - 1, symbols, backend)
    true = len(parts) * (1 + np.exp(0.5)) + len(parts) * (len(parts) + 1) / 2 - 1
    assert call(held, *[0.5] * len(parts)) == pytest.approx(true, rel=1e-14, abs=0)


def test_constant_derivative_is_broadcast():
    second = generate(sp.diff(x**2, x, 2), [x])
    assert second(np.arange(4)).tolist() == [2.0] * 4
    assert second(np.zeros(40_000)).shape == (40_000,)
    assert call(generate(sp.Integer(2), [x], "torch"), np.arange(4)).tolist() == [2.0] * 4


@pytest.mark.parametrize("backend", BACKENDS)
def test_integers_and_negative_powers(backend):
    held = generate(sp.Rational(2, 3) * 3 ** (1 - x), [x], backend)
    assert call(held, np.arange(1, 5)) == pytest.approx([2 / 3, 2 / 9, 2 / 27, 2 / 81], rel=4e-16, abs=0)
    assert generate(x**-2, [x])(np.array([1, 2, 4])).tolist() == [1.0, 0.25, 0.0625]


@pytest.mark.parametrize("backend", BACKENDS)
def test_piecewise_is_silent_in_dead_branches(backend):
    held = generate(sp.Piecewise((x**2 / 2, x < 1), (sp.log(x), True)), [x], backend)
    with np.errstate(all="raise"):
        assert call(held, np.array([0.0, 2.0])) == pytest.approx([0, 0.6931471805599453], rel=4e-16, abs=0)
    assert call(held, np.array([-5.0, 1.0, 0.5])) == pytest.approx([12.5, 0.0, 0.125])


def test_piecewise_gradients_are_finite_in_torch():
    torch = pytest.importorskip("torch")
    held = generate(sp.Piecewise((x**2 / 2, x < 1), (sp.log(x), True)), [x], "torch")
    at = torch.tensor([-1.0, 0.0, 0.5, 2.0], dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(held(at).sum(), at, create_graph=True)
    assert slope.tolist() == [-1.0, 0.0, 0.5, 0.5]
    (bend,) = torch.autograd.grad(slope.sum(), at)
    assert bend.tolist() == [1.0, 1.0, 1.0, -0.25]


def test_sign_of_an_imaginary_part_is_the_same_for_int_and_float():
    positive = sp.Symbol("p", positive=True)
    held = generate(sp.im(sp.sqrt(-positive)), [positive])
    assert held(10) == held(10.0) == pytest.approx(np.sqrt(10))


@pytest.mark.parametrize("backend", BACKENDS)
def test_erfc_on_arrays(backend):
    held = generate(sp.erfc(x), [x], backend)
    assert call(held, np.array([1.0, 1.0])) == pytest.approx([0.157299207050285] * 2, rel=1e-14, abs=0)


def test_max_with_a_constant_in_torch():
    torch = pytest.importorskip("torch")
    soft = generate(sp.Max(x - 1, 0) - sp.Max(-x - 1, 0), [x], "torch")
    at = torch.tensor([-2.0, 0.0, 3.0], dtype=torch.float64, requires_grad=True)
    out = soft(at)
    assert out.tolist() == [-1.0, 0.0, 2.0]
    (slope,) = torch.autograd.grad(out.sum(), at)
    assert slope.tolist() == [1.0, 0.0, 1.0]
    assert generate(sp.Max(x - 1, 0) - sp.Max(-x - 1, 0), [x])([-2, 0, 3]).tolist() == [-1, 0, 2]
    assert generate(sp.Min(x, 1), [x], "torch")(torch.tensor([0.5, 3.0])).tolist() == [0.5, 1.0]


@pytest.mark.parametrize("backend", BACKENDS)
def test_high_precision_constants(backend):
    held = generate(x * sp.pi + sp.sqrt(2) + sp.Rational(1, 3), [x], backend)
    assert call(held, 1.0) == pytest.approx(float((sp.pi + sp.sqrt(2) + sp.Rational(1, 3)).evalf(30)), rel=2.3e-16)


def test_the_rules_work_on_a_users_expression():
    held = generate(1 - sp.sqrt(1 + x**2), [x])
    assert held(1e-12) == pytest.approx(-5e-25, rel=1e-15, abs=0)
    assert held.report.ulp <= 4
    assert held.report.points > 200
    assert "ulp" in held.accuracy
    assert "root minus one" in str(held.passes)


def test_the_report_sees_a_form_that_cancels():
    held = generate((1 + x) ** 3 - 1 - 3 * x - 3 * x**2, [x])
    assert held.report.ulp > 1e3


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_generated_kernels_cross_processes(backend):
    held = generate(x**2 + y, [x, y], backend)
    again = pickle.loads(pickle.dumps(held))
    assert call(again, 3.0, 1.0) == 10
    assert again.source == held.source


def test_the_same_expression_gives_the_same_text():
    a = generate(sp.exp(x) * y + sp.sin(x) / (1 + sp.exp(x)), [x, y]).source
    b = generate(y * sp.exp(x) + sp.sin(x) / (sp.exp(x) + 1), [x, y]).source
    assert a == b


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "node", [sp.gamma(x), sp.zeta(x), sp.besselj(1, x), sp.Integral(sp.exp(-(y**2)), (y, 0, x)), sp.Function("f")(x)]
)
def test_an_unsupported_node_is_named(node, backend):
    with pytest.raises(UnsupportedNode, match=type(node).__name__):
        generate(1 + node, [x], backend)


def test_refusals():
    with pytest.raises(TypeError, match="expr must be a SymPy expression, got str"):
        generate("__import__('os').getcwd()", [x])
    with pytest.raises(ValueError, match="expr holds y, which is not among args"):
        generate(x + y, [x])
    with pytest.raises(TypeError, match="args must be distinct SymPy symbols"):
        generate(x, ["x"])
    with pytest.raises(TypeError, match="args must be distinct"):
        generate(x, [x, x])
    with pytest.raises(ValueError, match="args must not be empty"):
        generate(sp.Integer(1), [])
    with pytest.raises(ValueError, match="backend = 'jax' is not allowed"):
        generate(x, [x], "jax")
    with pytest.raises(ValueError, match="name = '1; import os' is not allowed"):
        generate(x, [x], name="1; import os")
    with pytest.raises(UnsupportedNode, match="Piecewise without a last branch"):
        generate(sp.Piecewise((x, x > 0)), [x])


def test_the_public_door():
    assert pt.generate is generate
    assert pt.kernel("potential").title == "the implicit-bias potential q"


def test_common_subexpressions_are_computed_once():
    program = lower((sp.sin(x) + sp.sin(x) ** 2, sp.exp(sp.sin(x))), {x: "x"})
    assert [value.kind for value in program.values].count("sin") == 1
    assert "sin" in str(program)


def test_temporaries_avoid_the_arguments():
    from numerics.codegen.print_numpy import NUMPY

    t1, t2 = sp.symbols("t1 t2")
    shared = sp.exp(t1 + t2)
    lines, _ = statements(lower(shared + 1 / shared, {t1: "t1", t2: "t2"}), NUMPY)
    assert lines[0].startswith("t3 = ")
