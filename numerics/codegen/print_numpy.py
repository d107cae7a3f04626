"""The NumPy printer: an importable module with one function per kernel."""

from __future__ import annotations

import re

from numerics.codegen.formulas import Formula
from numerics.codegen.nodes import Rounded
from numerics.codegen.passes import Trace
from numerics.codegen.program import lower
from numerics.codegen.text import Dialect, decimal, in_place_statements, statements

__all__ = ["NUMPY", "print_module"]

_SAME = [
    "exp",
    "log",
    "log1p",
    "expm1",
    "sin",
    "cos",
    "tan",
    "sinh",
    "cosh",
    "tanh",
    "sqrt",
    "sign",
    "floor",
    "ceil",
    "abs",
]
_OTHER = {
    "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "asin": "arcsin", "acos": "arccos", "atan": "arctan",
    "atan2": "arctan2", "max": "maximum", "min": "minimum", "pow": "power", "lt": "less", "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal", "eq": "equal", "ne": "not_equal", "and": "logical_and", "or": "logical_or",
    "not": "logical_not", "where": "where",
}  # fmt: skip
_ARITY = {"atan2": 2, "max": 2, "min": 2, "pow": 2, "lt": 2, "le": 2, "gt": 2, "ge": 2, "eq": 2,
          "ne": 2, "and": 2, "or": 2,
          "where": 3}  # fmt: skip


def _call(operation: str, function: str) -> str:
    return f"np.{function}(" + ", ".join(f"{{{i}}}" for i in range(_ARITY.get(operation, 1))) + ")"


def _horner(x: str, coefficients: list[str]) -> str:
    return f"horner({x}, ({', '.join(coefficients)}))"


NUMPY = Dialect(
    "numpy",
    {
        **{op: _call(op, fn) for op, fn in {**{s: s for s in _SAME}, **_OTHER}.items()},
        "hypot": "hypot({0}, {1})",
        "where": "select({0}, {1}, {2})",
        "exact_hypot": "np.hypot({0}, {1})",
        "erf": "special.erf({0})",
        "erfc": "special.erfc({0})",
    },
    decimal,
    polynomial=_horner,
)
HELPERS = ("broadcast", "elementwise", "horner", "hypot", "patch", "select")
RESERVED = ("np", "special", "out", "size", *HELPERS)


def print_core(trace: Trace) -> str:
    """The functions that do the arithmetic: `_core` and one for each region with a form of its own."""
    arguments = ", ".join(trace.arguments.values())
    text = []
    for region in trace.regions:
        lines, (result,) = statements(lower(region.expression, trace.arguments), NUMPY, RESERVED)
        text.append(_function(f"_{region.name}", arguments, [*lines, f"return {result}"]))
    # the size that decides is |x|, or x^2 for a ratio: its square is computed anyway
    x = [region.x if region.fixed else Rounded(region.x) ** 2 for region in trace.regions[:1]]
    program = lower((trace.expression, *map(Rounded, x)), trace.arguments)
    lines, (result, *size) = in_place_statements(program, NUMPY, RESERVED)
    if trace.regions:
        fixed = trace.regions[0].fixed
        lines += [f"size = np.abs({size[0]})" if fixed else f"size = {size[0]}", f"out = {result}"]
        for region in trace.regions:
            bound = decimal(region.bound if fixed else region.bound**2)
            lines.append(f"out = patch(out, size {region.relation} {bound}, _{region.name}, {arguments})")
        result = "out"
    text.append(_function("_core", arguments, [*lines, f"return {result}"]))
    return "\n\n\n".join(text)


def _function(name: str, arguments: str, lines: list[str], doc: str = "") -> str:
    body = ([f'"""{doc}"""'] if doc else []) + lines
    return f"def {name}({arguments}):\n" + "\n".join(f"    {line}" for line in body)


def print_tuple_core(row: Formula, trace: Trace) -> str:
    """The core of a kernel with several outputs, every output of the broadcast shape."""
    program = lower(tuple(trace.expression), trace.arguments, frozenset(row.varying))
    lines, results = statements(program, NUMPY, RESERVED)
    returned = [f"    {result},  # {name}" for result, (name, _) in zip(results, row.outputs, strict=False)]
    return _function("_core", ", ".join(trace.arguments.values()), [*lines, "return (", *returned, ")"])


def print_root_core(trace: Trace) -> str:
    """The core of a kernel that is a function of the root: solve, then the expression in x."""
    inner = print_core(trace).replace("_core(", "_value(")
    return f"{inner}\n\n\ndef _core(z, g, c_ft):\n    return _value(solve(z, g, c_ft), g, c_ft)"


def print_body(row: Formula, trace: Trace) -> str:
    """The functions of a kernel, without header and imports."""
    driver = "broadcast" if row.outputs else "elementwise"
    if row.implicit:
        core = print_root_core(trace)
    else:
        core = print_tuple_core(row, trace) if row.outputs else print_core(trace)
    doc = f"{row.title[0].upper()}{row.title[1:]}: {row.doc}"
    return f"{core}\n\n\n{_public(row.name, tuple(row.arguments.values()), row.positive, driver, doc)}"


def print_user(name: str, trace: Trace) -> str:
    """The functions of a person's own expression."""
    public = _public(name, tuple(trace.arguments.values()), (), "elementwise", str(trace.stages[0].expression))
    return f"{print_core(trace)}\n\n\n{public}"


def _public(name: str, names: tuple[str, ...], positive: tuple[str, ...], driver: str, doc: str) -> str:
    arguments = ", ".join(names)
    values = f"({arguments}{',' if len(names) == 1 else ''})"
    return _function(name, arguments, [f"return {driver}(_core, {_tuple(names)}, {_tuple(positive)}, {values})"], doc)


def _tuple(names: tuple[str, ...]) -> str:
    inner = ", ".join(f'"{name}"' for name in names)
    return f"({inner},)" if len(names) == 1 else f"({inner})"


def print_module(row: Formula, trace: Trace, header: str) -> str:
    """The whole kernel file."""
    body = print_body(row, trace)
    helpers = ", ".join(name for name in HELPERS if re.search(rf"(?<![.\w]){name}\(", body))
    numpy = "import numpy as np\n" if "np." in body else ""
    special = "from scipy import special\n" if "special." in body else ""
    gap = "\n" if numpy or special else ""
    solver = "\nfrom numerics.kernels._prox import solve" if row.implicit else ""
    imports = f"{numpy}{special}{gap}from numerics.kernels._elementwise import {helpers}{solver}"
    return f'"""{header}"""\n\n{imports}\n\n\n{body}\n'
