"""Form and meaning of every rewrite: what a rule turns into what, and that the value stays."""

import copy
from dataclasses import replace

import mpmath
import pytest
import sympy as sp

from numerics.codegen import kernel, names
from numerics.codegen.exact_nodes import DependenceProduct, ExactCore, ExactHypot, ExactTanhHalf, WholeCore, WholeTanh
from numerics.codegen.formulas import FORMULAS
from numerics.codegen.nodes import Rounded, Upper, hypot
from numerics.codegen.passes import Stage, compile_expression
from numerics.codegen.ratio_nodes import AsinhRatio, PotentialCore, TanhHalf, core_coefficients
from numerics.codegen.recheck import defined
from numerics.codegen.rules import RULES, rewrite
from numerics.codegen.scale_nodes import ScaledCosh, ScaledSinh, ScaledSum, SquaredScaledSum
from numerics.codegen.series import Polynomial, economised

x, y = sp.symbols("x y", real=True)
c, h = sp.symbols("c h", positive=True)
lam = sp.Symbol("lam", real=True)
gamma = sp.Symbol("gamma", nonnegative=True)

FORMS = [
    (1 - sp.sqrt(1 + x**2), -x * TanhHalf(x / 2)),
    (x * sp.asinh(x) + 1 - sp.sqrt(1 + x**2), x * PotentialCore(x / 2)),
    (c / 2 * (1 - sp.sqrt(1 + (x / c) ** 2) + x / c * sp.asinh(x / c)), x * PotentialCore(x / (2 * c)) / 2),
    (sp.sinh(sp.asinh(x) / 2) ** 2, x * TanhHalf(x / 2) / 2),
    (1 / (2 * sp.sqrt(c**2 + x**2)), 1 / (2 * hypot(c, x))),
    (c * (1 + sp.sqrt(1 + (x / c) ** 2)), c + hypot(c, x)),
    (c * sp.sinh(2 * x), ScaledSinh(c, 2 * x)),
    (3 * c * sp.cosh(x), 3 * ScaledCosh(c, x)),
    (sp.asinh(x / c), AsinhRatio(x / c)),
    (c * (1 + lam) * (1 + sp.sqrt(1 + (x / c) ** 2)) + gamma**2 / 2, ScaledSum(lam, c, hypot(c, x), gamma**2 / 2)),
    (h * sp.asinh(x / c) ** 2, Rounded(h * AsinhRatio(x / c)) * AsinhRatio(x / c)),
]  # fmt: skip


def value(expr, **at):
    with mpmath.workdps(60):
        symbols = sorted(expr.free_symbols, key=str)
        return sp.lambdify(symbols, defined(expr), "mpmath")(*(mpmath.mpf(at[s.name]) for s in symbols))


@pytest.mark.parametrize(("before", "after"), FORMS)
def test_form(before, after):
    assert rewrite(before) == after


@pytest.mark.parametrize(("before", "after"), FORMS)
@pytest.mark.parametrize(
    "at",
    [{"x": "0.3", "c": "2", "lam": "-0.9", "gamma": "0.1", "h": "3"}, {"x": "-7e3", "c": "1e-2", "lam": "0.5",
    "gamma": "9", "h": "0.1"}],
)
def test_meaning(before, after, at):
    a, b = value(before, **at), value(after, **at)
    assert abs(a - b) <= abs(a) * mpmath.mpf(10) ** -45


@pytest.mark.parametrize(
    "untouched",
    [
        1 + sp.sqrt(1 + x**2),  # a sum of positive terms loses nothing
        2 - sp.sqrt(1 + x**2),  # not the same coefficient
        1 - sp.sqrt(1 + x),  # no square below the root
        sp.sqrt(c**2 + x**2 + 1),  # three terms
        sp.sinh(x / 2) ** 2,  # no asinh inside
        x * sp.sinh(x),  # the scale's sign is unknown
    ],
)
def test_what_a_rule_must_leave_alone(untouched):
    left = rewrite(untouched).replace(hypot, lambda a, b: sp.sqrt(a**2 + b**2))
    assert sp.simplify(left - untouched) == 0
    assert not left.has(TanhHalf, PotentialCore, ScaledSinh)


def test_every_rule_says_why():
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert all(rule.reason for rule in RULES)


NODES = [
    TanhHalf(x), PotentialCore(x), AsinhRatio(x), hypot(x, c), ExactHypot(x, c), ScaledSinh(c, x), ScaledCosh(c, x),
    ScaledSum(lam, c, h, gamma), SquaredScaledSum(lam, c, h, gamma), Rounded(x), Upper(x),
    DependenceProduct(x, c, lam, gamma, h, c), ExactTanhHalf(x), ExactCore(x), WholeTanh(x), WholeCore(x),
    Polynomial(x, 1, sp.Rational(1, 3), 2),
]  # fmt: skip


@pytest.mark.parametrize("node", NODES, ids=lambda node: type(node).__name__)
def test_node_derivatives_are_those_of_the_definition(node):
    at = {"x": "0.7", "c": "0.4", "lam": "0.25", "h": "1.5", "gamma": "0.3"}
    for symbol in node.free_symbols:
        mine, true = value(sp.diff(node, symbol), **at), value(sp.diff(defined(node), symbol), **at)
        assert abs(mine - true) <= mpmath.mpf(10) ** -45 * (1 + abs(true)), symbol


@pytest.mark.parametrize("node", NODES, ids=lambda node: type(node).__name__)
def test_node_rewrites_back_and_evaluates(node):
    definition = node.rewrite("definition")
    assert sp.simplify(definition - defined(node)) == 0
    numbers = {
        x: sp.Rational(7, 10),
        c: sp.Rational(2, 5),
        lam: sp.Rational(1, 4),
        h: sp.Rational(3, 2),
        gamma: sp.Rational(3, 10),
    }
    number = node.xreplace(numbers)
    assert abs(number.evalf(30) - defined(node).xreplace(numbers).evalf(40)) < sp.Float("1e-28", 30)


def test_evalf_of_a_node_survives_the_cancellation_of_its_definition():
    tiny = PotentialCore(sp.Rational(1, 10**40)).evalf(20)
    assert abs(tiny * 10**40 - 1) < sp.Float("1e-18", 20)


@pytest.mark.parametrize("node", [TanhHalf, PotentialCore, AsinhRatio])
def test_ratio_nodes_are_odd(node):
    assert node(-x) == -node(x)
    assert node(sp.Integer(0)) == 0


def test_the_core_polynomial():
    """sinh(F) = 2 v [1/2 + (t^2/2) E(t^2)], checked against its closed form at 40 digits; the remainder is below
    2^-56.
    """
    coefficients = core_coefficients()
    assert all(isinstance(a, sp.Rational) for a in coefficients)
    with mpmath.workdps(40):
        for i in range(1, 41):
            t = mpmath.mpf(i) / 40
            series = sum(mpmath.mpf(a.p) / a.q * t ** (2 * n) for n, a in enumerate(coefficients))
            exact = 2 * mpmath.cosh(t) - (1 + t**2) * mpmath.sinh(t) / t
            assert abs(1 + t**2 * series - exact) < mpmath.mpf(2) ** -56


def test_economised_polynomial_respects_its_bound():
    terms = tuple(1 / sp.factorial(n) for n in range(20))
    coefficients, bound = economised(terms, 9)
    assert len(coefficients) == 10
    worst = max(
        abs(sum(float(a) * u**n for n, a in enumerate(coefficients)) - float(sp.exp(u).evalf()))
        for u in (0, 0.1, 0.5, 0.9, 1)
    )
    assert worst <= float(bound) + 3e-16
    assert bound < sp.Rational(1, 10**11)


@pytest.mark.parametrize("name", names())
def test_every_pass_of_every_kernel_is_checked_at_fifty_digits(name):
    trace = kernel(name).passes
    stages = len(trace.stages) - 2 - bool(FORMULAS[name].along)
    assert trace.check(count=2) >= 2 * max(0, stages)
    assert trace.stages[0].name in str(trace)


def test_a_wrong_pass_is_refused():
    trace = compile_expression(1 - sp.sqrt(1 + x**2), {x: "x"})
    assert trace.check() > 0
    trace.stages.append(Stage("flipped", "a sign error", x * TanhHalf(x / 2)))
    with pytest.raises(ArithmeticError, match="pass 'flipped' changed the value"):
        trace.check()


def test_a_wrong_form_for_large_ratios_is_refused():
    trace = compile_expression(x * sp.asinh(x / c) + c - c * sp.sqrt(1 + (x / c) ** 2), {x: "x", c: "c"})
    assert trace.check() > 0
    (far, *others) = trace.regions
    trace.regions = (type(far)(far.name, far.x, far.relation, far.bound, far.expression * 2, far.fixed), *others)
    with pytest.raises(ArithmeticError, match=r"the form for .* is wrong"):
        trace.check()


def test_the_potential_is_made_stable_by_rules_not_by_hand():
    trace = kernel("potential").passes
    stable = next(stage for stage in trace.stages if stage.name == "stable form")
    assert "root minus one" in stable.reason
    assert not kernel("potential").formula.has(PotentialCore)
    assert trace.expression.has(PotentialCore)


@pytest.mark.parametrize(("name", "node"), [("potential", "ShortCore"), ("ell_order", "CoreQuotient")])
def test_array_forms_have_their_form_and_their_meaning(name, node):
    trace = kernel(name).passes
    assert node in {type(n).__name__ for n in trace.array_form.expression.atoms(sp.Function)}
    assert "on whole arrays" in str(trace)
    assert trace.check() > 0


def test_a_wrong_array_form_is_caught():
    trace = copy.copy(kernel("ell_order").passes)
    trace.array_form = replace(trace.array_form, expression=trace.array_form.expression + sp.Rational(1, 10**30))
    with pytest.raises(ArithmeticError, match="array form"):
        trace.check()


def test_the_short_core_is_short_by_its_bound():
    """One term fewer moves the bracket 1 + z E(z), which is at least 0.73, by 8.4e-17 at most, and only near z = 1."""
    with mpmath.workdps(40):
        for i in range(1, 41):
            z = (mpmath.mpf(i) / 40) ** 2
            short, long = (
                sum(mpmath.mpf(a.p) / a.q * z**n for n, a in enumerate(core_coefficients(degree))) for degree in (6, 9)
            )
            assert abs(z * (short - long)) < 8.4e-17 * z


def test_the_dual_of_the_envelope_is_checked_against_its_derivation(monkeypatch):
    from derivations import channel
    from numerics.codegen import print_prox

    assert "sinh" in str(print_prox.conjugate())
    exact = channel.moreau_envelope_stable
    monkeypatch.setattr(channel, "moreau_envelope_stable", lambda v: exact(v) * sp.Rational(10**40 + 1, 10**40))
    with pytest.raises(ArithmeticError, match="the dual of the envelope differs"):
        print_prox.conjugate()
