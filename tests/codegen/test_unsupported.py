"""What a backend cannot print is refused at generation time, by name; what it can print means the same everywhere."""

import mpmath
import numpy as np
import pytest
import sympy as sp

import ptft_sym as pt
from numerics.codegen import BACKENDS, export
from numerics.codegen.export import source
from numerics.codegen.passes import compile_expression
from numerics.codegen.program import FUNCTIONS, OPERATIONS, Program, UnsupportedNode
from numerics.codegen.text import Dialect, decimal, statements

x, y = sp.symbols("x y", real=True)
n = sp.Symbol("n", integer=True)
REFUSED = {
    "gamma": sp.gamma(x),
    "besselj": sp.besselj(1, x),
    "LambertW": sp.LambertW(x),
    "Integral": sp.Integral(sp.exp(-(y**2)), (y, 0, x)),
    "Sum": sp.Sum(x**n, (n, 0, 5)),
    "Derivative": sp.Derivative(sp.Function("f")(x), x),
    "f": sp.Function("f")(x),
    "Heaviside": sp.Heaviside(x),
    "Mod": sp.Mod(x, 2),
    "ImaginaryUnit": x * sp.I,
    "ComplexInfinity": x * sp.zoo,
    "number oo": x + sp.oo,
    "number nan": x * sp.nan,
    "Contains": sp.Piecewise((x, sp.Contains(x, sp.S.Naturals)), (0, True)),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", REFUSED)
def test_the_error_names_the_node_and_the_backend(name, backend):
    with pytest.raises(UnsupportedNode, match=rf"{name}\b.*\(backend {backend}\)$"):
        pt.generate(1 + REFUSED[name], [x], backend=backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_row_of_the_registry_with_such_a_node_is_refused_too(backend, monkeypatch):
    trace = compile_expression(sp.gamma(x), {x: "x"})
    monkeypatch.setattr(export, "trace_of", lambda name: trace)
    monkeypatch.setattr(export, "comment", lambda names, backend: "")
    with pytest.raises(UnsupportedNode, match=rf"gamma in gamma\(x\) \(backend {backend}\)$"):
        source(["potential_derivative"], backend)


@pytest.mark.parametrize("backend", ["numpy", "torch", "c"])
@pytest.mark.parametrize("number", [sp.Integer(10) ** 400, sp.Float("1e400"), -sp.Rational(1, 10**400)])
def test_a_number_beyond_the_doubles_is_refused(number, backend):
    with pytest.raises(UnsupportedNode, match=rf"no double is near the number .*E\+400 \(backend {backend}\)"):
        pt.generate(x * number, [x], backend=backend)


def test_mpmath_holds_every_number():
    big = pt.generate(x * sp.Integer(10) ** 400 + sp.Float("1e400"), [x], backend="mpmath")
    with mpmath.workdps(60):
        assert abs(big(2) / mpmath.mpf(10) ** 400 - 3) < 1e-14  # a Float has fifteen digits
    tenth = pt.generate(x * sp.Float(0.1), [x], backend="mpmath")
    assert tenth(1) == mpmath.mpf(0.1)  # the binary number, not a tenth
    names = sp.pi + sp.E + sp.EulerGamma + sp.Catalan + sp.GoldenRatio + sp.sin(1) + sp.erf(sp.Rational(1, 3))
    with mpmath.workdps(60):
        mine = pt.generate(x * names, [x], backend="mpmath")(1)
        assert abs(mine - mpmath.mpf(str(names.evalf(60)))) < mpmath.mpf(10) ** -48


def test_a_dialect_without_a_row_says_so():
    program = Program(("x",))
    program.outputs = (program.emit("erf", program.emit("argument", payload="x")),)
    with pytest.raises(UnsupportedNode, match="the poor printer has no row for the operation 'erf'"):
        statements(program, Dialect("poor", {}, decimal))


def test_every_operation_can_be_printed_everywhere():
    from numerics.codegen.print_c import C
    from numerics.codegen.print_mpmath import MPMATH
    from numerics.codegen.print_numpy import NUMPY
    from numerics.codegen.print_torch import TORCH

    for dialect in (NUMPY, TORCH, C, MPMATH):
        assert dialect.polynomial is not None
        assert not OPERATIONS - set(dialect.calls) - {"add", "sub", "mul", "div", "neg", "polynomial"}, dialect.name


@pytest.mark.parametrize("backend", ["numpy", "torch", "c"])
def test_every_function_means_the_same(backend):
    """One kernel of all functions of one argument, as a weighted sum, against SymPy's own evaluation."""
    kinds = [kind for kind, operation in FUNCTIONS.items() if operation not in ("hypot", "upper", "known", "atan2")]
    for offset, argument in ((sp.Rational(7, 5), sp.Rational(7, 5)), (0, sp.Rational(-2, 5))):
        usable = [kind for kind in kinds if kind(argument).evalf(20).is_real]
        expression = sp.Add(*[(i + 2) * kind(x) for i, kind in enumerate(usable)]) + sp.atan2(x, offset + 2)
        true = float(expression.subs(x, argument).evalf(30))
        held = pt.generate(expression, [x], backend=backend)
        mine = held(np.asarray(float(argument))) if backend != "torch" else held(float(argument))
        assert float(mine) == pytest.approx(true, rel=1e-14, abs=0), [kind.__name__ for kind in usable]
        assert float(pt.generate(expression, [x], backend="mpmath")(float(argument))) == pytest.approx(
            true, rel=1e-14, abs=0
        )
