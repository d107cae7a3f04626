"""The compiler: a short list of named passes from a derivation's formula to the expressions a program computes.

The order matters and is fixed: arguments are renamed first (everything later may print), the rules turn the textbook
form into
the stable one, and only then can the range be split, because the forms for huge and tiny ratios belong to the
stable nodes.  Lowering to a program and printing (`program`, `print_*`) follow.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import sympy as sp

from numerics.codegen import implicit
from numerics.codegen.channel import factored
from numerics.codegen.exact_nodes import DependenceProduct, ExactHypot
from numerics.codegen.formulas import Formula
from numerics.codegen.nodes import Node, hypot
from numerics.codegen.ratio_nodes import RatioNode
from numerics.codegen.recheck import check_trace
from numerics.codegen.rules import ARRAY_RULES, ROOTS, rewrite
from numerics.codegen.text import decimal

__all__ = ["Stage", "Trace", "compile_expression", "compile_formula"]


@dataclass(frozen=True)
class Stage:
    """One pass: its name, why it is there, and the expression after it."""

    name: str
    reason: str
    expression: sp.Expr

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}\n    {self.expression}"


@dataclass(frozen=True)
class Region:
    """Where another form holds: elements with |x| > bound (or <) are computed by `expression`.

    The bound of a ratio may be moved inwards by a backend; a `fixed` one may not.
    """

    name: str
    x: sp.Expr
    relation: str
    bound: sp.Expr
    expression: sp.Expr
    fixed: bool = False


@dataclass
class Trace:
    """The stages in order, the final expression, and the regions with a form of their own.

    `array_form` is a stage beside the last one, with fewer operations, for code on whole arrays.
    `smooth_regions` are wider, for backends that differentiate: a form is left where its derivative would lose
    digits, not
    only where its value would.
    `at_root`, for a kernel of the proximal map: its form in what the solver knows beside xhat.
    """

    arguments: dict[sp.Symbol, str]
    renamed: dict[sp.Symbol, sp.Symbol] = field(default_factory=dict)
    stages: list[Stage] = field(default_factory=list)
    regions: tuple[Region, ...] = ()
    smooth_regions: tuple[Region, ...] = ()
    from_registry: bool = False
    array_form: Stage | None = None
    at_root: Trace | None = None

    def add(self, name: str, reason: str, expression: sp.Expr) -> sp.Expr:
        self.stages.append(Stage(name, reason, expression))
        return expression

    @property
    def expression(self) -> sp.Expr:
        return self.stages[-1].expression

    @property
    def branches(self) -> tuple[Region, ...]:
        """The regions for code that branches: the series for small ratios as far as it holds (it is faster, too)."""
        return tuple(next((s for s in self.smooth_regions if s.name == r.name == "near"), r) for r in self.regions)

    @property
    def formula(self) -> sp.Expr:
        """What is computed, as the derivation gives it and in the kernel's own arguments, before any rule."""
        given = [stage for stage in self.stages if stage.name in ("arguments", "derivative")] or self.stages
        return given[-1].expression if self.from_registry else self.stages[0].expression

    def check(self, count: int = 4, digits: int = 50) -> int:
        """Compare every stage and every region with the first stage, at seeded points, to `digits` digits; how many
        comparisons.

        Raises ArithmeticError naming the pass that changed the value.
        """
        return check_trace(self, count, digits) + (self.at_root.check(count, digits) if self.at_root else 0)

    def __str__(self) -> str:
        rows = [f"{i}. {stage}" for i, stage in enumerate(self.stages, 1)]
        rows += [f"   on whole arrays (NumPy), {self.array_form}"] if self.array_form else []
        rows += [f"   where |{r.x}| {r.relation} {decimal(r.bound)}: {r.expression}" for r in self.regions]
        rows += ["   where the root is known (NumPy, torch and C):", str(self.at_root)] if self.at_root else []
        return "\n".join(rows)


def source_expression(row: Formula) -> sp.Expr:
    """The formula as its derivation gives it."""
    import derivations

    derivation, key = row.source
    if row.implicit:
        return implicit.expression(row.name)
    results = derivations.derive(derivation).results
    return sp.Tuple(*[results[output] for _, output in row.outputs]) if row.outputs else results[key]


def compile_formula(row: Formula) -> Trace:
    """Run the passes on a row of the registry."""
    derivation, key = row.source
    expression = source_expression(row)
    symbols = {symbol.name: symbol for symbol in expression.free_symbols}
    renamed = {}
    names = {**({"x": "x"} if row.implicit else {}), **row.arguments}
    for old, new in names.items():
        if row.implicit and old == "z":
            continue
        symbol = symbols.get(old, sp.Symbol(old, real=True))
        renamed[symbol] = sp.Symbol(new, **symbol.assumptions0) if new != old else symbol
    trace = Trace({symbol: symbol.name for symbol in renamed.values()}, renamed, from_registry=True)
    trace.add("source", f"derivations.{derivation}, result {key!r}", expression)
    trace.add("arguments", "the kernel's own argument names", expression.subs(renamed, simultaneous=True))
    if row.along:
        (symbol,) = (s for s in trace.arguments if s.name == row.along)
        trace.add("derivative", f"along {row.along}", sp.diff(trace.expression, symbol))
    if row.outputs:
        shared = factored(row.name)
        if shared is not None:
            trace.add("product rule", "what the outputs share is named once", shared.subs(renamed, simultaneous=True))
        used: list[str] = []
        stable = rewrite(trace.expression, ROOTS, used)  # no form of these has regions of its own
        if used:
            trace.add("stable form", "rules: " + ", ".join(used), stable)
        return trace
    _optimise(trace, row.exact_roots)
    if row.implicit:
        _at_root(trace, row.name)
    return trace


def _at_root(trace: Trace, name: str) -> None:
    """Where the solver gives more than xhat: the form in those values, and its region."""
    found = implicit.at_root(name)
    if found is None:
        return
    form, arguments = found
    trace.at_root = Trace(arguments)
    if form.free_symbols <= {*trace.arguments}:  # in xhat alone: compared with what it is made from
        trace.at_root.add("source", "as above", trace.expression)
    trace.at_root.add("at the root", "what the solver knows beside xhat, or fewer roundings", form)
    if edge := implicit.far(name):
        ratio, far = edge
        region = Region("far", ratio, ">", sp.Integer(2) ** 1000, far, fixed=True)
        trace.at_root.regions = trace.at_root.smooth_regions = (region,)


def compile_expression(expression: sp.Expr, arguments: dict[sp.Symbol, str]) -> Trace:
    """Run the passes on a person's own expression."""
    trace = Trace(arguments)
    trace.add("source", "given", expression)
    return _optimise(trace)


def _optimise(trace: Trace, exact_roots: bool = False) -> Trace:
    used: list[str] = []
    stable = rewrite(trace.expression, log=used)
    if used:
        trace.add("stable form", "rules: " + ", ".join(used), stable)
    if exact_roots:
        roots = {node: ExactHypot(*node.args) for node in trace.expression.atoms(hypot)}
        trace.add("exact hypotenuse", "this contract has no room for the faster one", trace.expression.xreplace(roots))
    trace.regions = _split_range(trace.expression)
    used = []
    whole = rewrite(trace.expression, ARRAY_RULES, log=used)
    if used:
        trace.array_form = Stage("array form", "rules: " + ", ".join(used), whole)
    trace.smooth_regions = _smooth(trace.expression, trace.regions)
    return trace


def _split_range(expression: sp.Expr) -> tuple[Region, ...]:
    """The forms for huge and tiny ratios, where the stable nodes of the expression have them."""
    nodes = sorted((n for n in expression.atoms(Node) if n.region), key=sp.default_sort_key)
    if not nodes:
        return ()
    x, small, large = nodes[0].region
    if any(node.region[1:] != nodes[0].region[1:] or not (node.region[0] / x).is_number for node in nodes):
        return ()
    fixed = not isinstance(nodes[0], RatioNode)
    regions = [Region("far", x, ">", large, expression.xreplace({node: node.far() for node in nodes}), fixed)]
    divisors = {p.base for p in expression.atoms(sp.Pow) if p.exp.is_negative}
    divisors |= {product.divisor for product in expression.atoms(DependenceProduct)}
    if divisors & {*nodes}:  # 0/0 at the origin
        near = expression.xreplace({node: node.near() for node in nodes})
        regions.append(Region("near", x, "<", small, near, fixed))
    return tuple(regions)


def _smooth(expression: sp.Expr, regions: tuple[Region, ...]) -> tuple[Region, ...]:
    if not regions or regions[0].fixed:
        return regions
    nodes = expression.atoms(RatioNode)
    form = expression.xreplace({node: node.far(split=False) for node in nodes})
    large = Region("large", regions[0].x, ">", sp.Integer(2) ** 100, form)
    return (
        large,
        replace(regions[0], bound=sp.Integer(2) ** 1000),
        *(replace(r, bound=sp.Rational(1, 16)) for r in regions[1:]),
    )
