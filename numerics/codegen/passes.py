"""The compiler: a short list of named passes from a derivation's formula to the expressions a program computes.

The order matters and is fixed: arguments are renamed first (everything later may print), the rules turn the textbook form into
the stable one, and only then can the range be split, because the forms for huge and tiny ratios belong to the
stable nodes.  Lowering to a program and printing (`program`, `print_*`) follow.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import sympy as sp

from numerics.codegen.formulas import Formula
from numerics.codegen.nodes import ExactHypot, Node, RatioNode, hypot
from numerics.codegen.rules import rewrite
from numerics.codegen.text import decimal

__all__ = ["Stage", "Trace", "compile_formula", "compile_expression"]


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
    """Where another form holds: elements with |x| > bound (or <) are computed by `expression`."""

    name: str
    x: sp.Expr
    relation: str
    bound: sp.Expr
    expression: sp.Expr


@dataclass
class Trace:
    """The stages in order, the final expression, and the regions with a form of their own."""

    arguments: dict[sp.Symbol, str]
    stages: list[Stage] = field(default_factory=list)
    regions: tuple[Region, ...] = ()

    def add(self, name: str, reason: str, expression: sp.Expr) -> sp.Expr:
        self.stages.append(Stage(name, reason, expression))
        return expression

    @property
    def expression(self) -> sp.Expr:
        return self.stages[-1].expression

    def __str__(self) -> str:
        rows = [f"{i}. {stage}" for i, stage in enumerate(self.stages, 1)]
        rows += [f"   where |{r.x}| {r.relation} {decimal(r.bound)}: {r.expression}" for r in self.regions]
        return "\n".join(rows)


def source_expression(row: Formula) -> sp.Expr:
    """The formula as its derivation gives it."""
    import derivations

    derivation, key = row.source
    results = derivations.derive(derivation).results
    return sp.Tuple(*[results[output] for _, output in row.outputs]) if row.outputs else results[key]


def compile_formula(row: Formula) -> Trace:
    """Run the passes on a row of the registry."""
    derivation, key = row.source
    expression = source_expression(row)
    symbols = {symbol.name: symbol for symbol in expression.free_symbols}
    renamed = {}
    for old, new in row.arguments.items():
        symbol = symbols.get(old, sp.Symbol(old, real=True))
        renamed[symbol] = sp.Symbol(new, **symbol.assumptions0) if new != old else symbol
    trace = Trace({symbol: symbol.name for symbol in renamed.values()})
    trace.add("source", f"derivations.{derivation}, result {key!r}", expression)
    trace.add("arguments", "the kernel's own argument names", expression.subs(renamed, simultaneous=True))
    if row.outputs:
        from numerics.codegen.channel import factored

        shared = factored(row.name)
        if shared is not None:
            trace.add("product rule", "what the outputs share is named once", shared.subs(renamed, simultaneous=True))
        return trace
    return _optimise(trace, row.exact_roots)


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
    _parity(trace)
    if exact_roots:
        roots = {node: ExactHypot(*node.args) for node in trace.expression.atoms(hypot)}
        trace.add("exact hypotenuse", "this contract has no room for the faster one", trace.expression.xreplace(roots))
    trace.regions = _split_range(trace.expression)
    return trace


def _parity(trace: Trace) -> None:
    """An even function of an argument is one of its absolute value: the stable forms are computed for positive ratios."""
    ratios = sorted((node.args[0] for node in trace.expression.atoms(RatioNode)), key=sp.default_sort_key)
    for symbol in trace.arguments:
        flip = {symbol: -symbol}
        if any(x.xreplace(flip) == -x for x in ratios) and trace.expression.xreplace(flip) == trace.expression:
            trace.add("parity", f"even in {symbol}", trace.expression.xreplace({symbol: sp.Abs(symbol)}))


def _split_range(expression: sp.Expr) -> tuple[Region, ...]:
    """The forms for huge and tiny ratios, where the stable nodes of the expression have them."""
    nodes = sorted((n for n in expression.atoms(Node) if n.region), key=sp.default_sort_key)
    if not nodes:
        return ()
    x, small, large = nodes[0].region
    if any(node.region != nodes[0].region for node in nodes):
        return ()
    regions = [Region("far", x, ">", large, expression.xreplace({node: node.far() for node in nodes}))]
    if any(p.exp.is_negative and p.base in nodes for p in expression.atoms(sp.Pow)):  # 0/0 at the origin
        regions.append(Region("near", x, "<", small, expression.xreplace({node: node.near() for node in nodes})))
    return tuple(regions)
