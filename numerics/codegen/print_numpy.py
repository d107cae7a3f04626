"""The NumPy printer: an importable module with one function per kernel."""

from __future__ import annotations

import re
from dataclasses import replace

import sympy as sp

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
        "upper": "upper({0})",
        "known": "known({0}, {1})",
        "erf": "special.erf({0})",
        "erfc": "special.erfc({0})",
    },
    decimal,
    polynomial=_horner,
)
HELPERS = (
    "above", "beyond", "broadcast", "constant", "elementwise", "horner", "hypot", "known", "patch", "select", "upper",
    "within",
)  # fmt: skip
RESERVED = ("np", "special", "out", "size", *HELPERS)


def print_core(trace: Trace) -> str:
    """The functions that do the arithmetic: `_core` and one for each region with a form of its own."""
    arguments = ", ".join(trace.arguments.values())
    text = []
    for region in trace.regions:
        lines, (result,) = statements(lower(region.expression, trace.arguments), NUMPY, RESERVED)
        text.append(_function(f"_{region.name}", arguments, [*lines, f"return {result}"]))
    expression = trace.array_form.expression if trace.array_form else trace.expression
    size, scale, power = _size(expression, trace)
    numbers: dict[str, str] = {}
    dialect = replace(
        NUMPY,
        constant=lambda number: _named(number, numbers),
        polynomial=lambda x, names: _horner(x, [_literal(name, numbers) for name in names]),
    )
    program = lower((expression, *size), trace.arguments)
    lines, (result, *sizes) = in_place_statements(program, dialect, RESERVED)
    if program.values[program.outputs[0]].kind in ("argument", "constant"):
        result = f"np.full_like({next(iter(trace.arguments.values()))}, {result})"  # an array of the kernel's own
    lines += _into_out(lines.pop() if lines else "", result)
    if trace.regions:
        lines.append(f"size = {sizes[0]}")
    for region in trace.regions:
        bound = decimal((scale * region.bound) ** power)
        test = {">": "above" if power == 2 else "beyond", "<": "within"}[region.relation]
        where = f"{'size' if power == 2 else 'np.abs(size)'} {region.relation} {bound}"
        lines.append(f"if {test}(size, {bound}):")
        lines.append(f"    out = patch(out, {where}, _{region.name}, {arguments})")
    core = _function("_core", f"{arguments}, out=None", [*lines, "return out"])
    used = {name: value for value, name in numbers.items() if re.search(rf"\b{name}\b", core)}
    constants = "\n".join(f"{name} = constant({value})" for name, value in sorted(used.items()))
    return "\n\n\n".join([*([constants] if constants else []), *text, core])


def _into_out(last: str, result: str) -> list[str]:
    """The last statement, written into `out`, or where that is None over an array of the core's own."""
    if step := re.fullmatch(rf"{result} ([-+*/])= (.+)", last):
        ufunc = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}[step[1]]
        return [f"out = np.{ufunc}({result}, {step[2]}, {result} if out is None else out)"]
    if call := re.fullmatch(rf"(np\.\w+)\((.+), out={result}\)", last):
        return [f"out = {call[1]}({call[2]}, {result} if out is None else out)"]
    if call := re.fullmatch(rf"{result} = (np\.\w+\(.+)\)", last):
        return [f"out = {call[1]}, out)"]
    return [*([last] if last else []), f"out = {result}"]


def _size(expression: sp.Expr, trace: Trace) -> tuple[tuple[sp.Expr, ...], sp.Expr, int]:
    """What is compared with the bounds of the regions, as (value,), scale, power: (scale x)^power, computed anyway."""
    if not trace.regions:
        return (), sp.Integer(1), 1
    x = trace.regions[0].x
    choices = [(sp.Integer(1), 2), (sp.Integer(1), 1), (sp.Integer(2), 1)] if not trace.regions[0].fixed else []
    known = len(lower(expression, trace.arguments).values)
    for scale, power in choices:
        value = Rounded(scale * x) ** power
        if len(lower((expression, value), trace.arguments).values) == known:
            return (value,), scale, power
    return (Rounded(x),), sp.Integer(1), 1


def _named(number: sp.Expr, numbers: dict[str, str]) -> str:
    """The name of a number as a NumPy operand: K0_25 is 0.25, Km1_0 is -1.0, K1em05 is 1e-05."""
    value = decimal(number)
    return numbers.setdefault(value, "K" + value.replace("-", "m").replace(".", "_").replace("+", ""))


def _literal(name: str, numbers: dict[str, str]) -> str:
    return next(value for value, known in numbers.items() if known == name)


def _function(name: str, arguments: str, lines: list[str], doc: str = "") -> str:
    body = ([f'"""{doc}"""'] if doc else []) + lines
    return f"def {name}({arguments}):\n" + "\n".join(f"    {line}" for line in body)


def print_tuple_core(row: Formula, trace: Trace) -> str:
    """The core of a kernel with several outputs, every output of the broadcast shape."""
    program = lower(tuple(trace.expression), trace.arguments, frozenset(row.varying))
    lines, results = statements(program, NUMPY, RESERVED)
    returned = [f"    {result},  # {name}" for result, (name, _) in zip(results, row.outputs, strict=False)]
    return _function("_core", ", ".join(trace.arguments.values()), [*lines, "return (", *returned, ")"])


#: Kernels that `numerics.kernels._prox` computes itself.
OF_THE_SOLVER = {"prox": "solve", "moreau_envelope": "envelope"}


def print_root_core(name: str, trace: Trace) -> str:
    """The core of a kernel that is a function of the root: solve, then what it is worth there."""
    if name in OF_THE_SOLVER:
        return f"def _core(z, g, c_ft, out=None):\n    return {OF_THE_SOLVER[name]}(z, g, c_ft)"
    inner = print_core(trace.at_root).replace("_core(", "_value(")
    wanted = "".join(letter for letter in trace.at_root.arguments.values() if letter in "xuw")
    value = f'_value(*at_root(z, g, c_ft, "{wanted}"), g, c_ft, out)'
    return f"{inner}\n\n\ndef _core(z, g, c_ft, out=None):\n    return {value}"


def print_body(row: Formula, trace: Trace) -> str:
    """The functions of a kernel, without header and imports."""
    driver = "broadcast" if row.outputs else "elementwise"
    if row.implicit:
        core = print_root_core(row.name, trace)
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
    solver = OF_THE_SOLVER.get(row.name, "at_root")
    root = f"\nfrom numerics.kernels._prox import {solver}" if row.implicit else ""
    imports = f"{numpy}{special}{gap}from numerics.kernels._elementwise import {helpers}{root}"
    before = "\n\n" if body.startswith("K") else "\n\n\n"
    return f'"""{header}"""\n\n{imports}{before}{body}\n'
