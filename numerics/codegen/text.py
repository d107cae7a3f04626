"""From a program to lines of text, for any language whose expressions look like a + b*c and f(x).

A printer is a `Dialect`: one template per operation, a way to write a constant and one to write an assignment.  A value
read once is written where it is read, any other gets a temporary whose name no argument has; parentheses keep the
order of
evaluation of the program, because floating-point addition is not associative.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import sympy as sp

from numerics.codegen.program import Program, UnsupportedNode

__all__ = ["Dialect", "decimal", "filled", "in_place_statements", "statements"]

INFIX = {"add": ("+", 1), "sub": ("-", 1), "mul": ("*", 2), "div": ("/", 2)}
CALL = 9  # binds tighter than any operator
LONGEST = 96


@dataclass(frozen=True)
class Dialect:
    """How a language writes an operation (`calls`: template over {0}, {1}, ...), a constant, an assignment, a
    polynomial.
    """

    name: str
    calls: dict[str, str]
    constant: Callable[[sp.Expr], str]
    assign: str = "{name} = {value}"
    polynomial: Callable[[str, list[str]], str] | None = None


def decimal(number: sp.Expr) -> str:
    """The shortest text that reads back as the double nearest to an exact number.  UnsupportedNode beyond them."""
    try:
        value = number.p / number.q if number.is_Rational else float(number.evalf(60))
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise UnsupportedNode(f"no double is near the number {number.evalf(5)}")
    return repr(value)


def filled(template: str, parts: dict[str, str]) -> str:
    """The template with every mark replaced by its part."""
    for mark, part in parts.items():
        template = template.replace(mark, part)
    return template


def statements(
    program: Program, dialect: Dialect, reserved: Iterable[str] = (), prefix: str = "t"
) -> tuple[list[str], list[str]]:
    """(assignments, result expressions): the program in this dialect.

    `reserved` are names the temporaries must avoid besides the arguments.  Raises UnsupportedNode for an operation
    without a template.
    """
    taken = {*program.arguments, *reserved}
    uses = program.uses()
    written: list[tuple[str, int]] = []
    lines: list[str] = []
    count = 0
    for index, value in enumerate(program.values):
        text, level = _expression(value, [written[o] for o in value.operands], dialect)
        shared = uses[index] > 1 or len(text) > LONGEST
        if value.kind not in ("argument", "constant") and shared:
            count += 1
            while f"{prefix}{count}" in taken:
                count += 1
            name = f"{prefix}{count}"
            lines.append(dialect.assign.format(name=name, value=text))
            text, level = name, CALL
        written.append((text, level))
    return lines, [written[output][0] for output in program.outputs]


def in_place_statements(
    program: Program, dialect: Dialect, reserved: Iterable[str] = (), prefix: str = "t"
) -> tuple[list[str], list[str]]:
    """As `statements`, for NumPy arrays of one shape: one operation a line, into memory that has served.

    The memory of an operand read for the last time is written over, or else that of any value no longer needed: what a
    core touches stays in the cache.
    """
    taken = {*program.arguments, *reserved}
    last = {operand: index for index, value in enumerate(program.values) for operand in value.operands}
    last |= dict.fromkeys(program.outputs, len(program.values))
    arrays = _arrays(program)
    written: list[tuple[str, int]] = []
    lines: list[str] = []
    idle: list[str] = []  # arrays whose value has served, the latest at the end
    count = 0
    for index, value in enumerate(program.values):
        operands = [written[o] for o in value.operands]
        if value.kind in ("argument", "constant"):
            written.append(_expression(value, operands, dialect))
            continue
        spent = [written[o][0] for o in dict.fromkeys(value.operands) if last[o] == index and arrays[o]]
        target, line = _in_place(value, operands, spent, idle if arrays[index] else [], dialect)
        if target is None:
            count += 1
            while f"{prefix}{count}" in taken:
                count += 1
            target = f"{prefix}{count}"
            line = f"{target} = {line}"
        idle = [name for name in [*idle, *spent] if name != target]
        lines.append(line)
        written.append((target, CALL))
    return lines, [written[output][0] for output in program.outputs]


UFUNCS = {"add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "max": "maximum", "min": "minimum"}
UNARY = frozenset(["neg", "sqrt", "exp", "log", "log1p", "expm1", "sin", "cos", "sinh", "cosh", "tanh", "asinh", "abs"])
REUSABLE = UNARY | UFUNCS.keys() | {"polynomial", "hypot", "upper", "known"}


def _arrays(program: Program) -> list[bool]:
    """Which values are arrays of a core's own: computed, from an argument, by an operation that makes a new array."""
    depends: list[bool] = []
    for value in program.values:
        depends.append(value.kind == "argument" or any(depends[o] for o in value.operands))
    return [d and value.kind in REUSABLE for d, value in zip(depends, program.values, strict=True)]


def _in_place(
    value, operands: list[tuple[str, int]], spent: list[str], idle: list[str], dialect: Dialect
) -> tuple[str | None, str]:
    """(name, statement) where a value is written over `spent` or `idle` memory; (None, expression) for a new array."""
    names = [name for name, _ in operands]
    text = _expression(value, operands, dialect)[0]
    if value.kind == "known":  # gives its first operand back, patched
        return (names[0], f"{names[0]} = {text}") if names[0] in spent else (None, text.replace("(", "(+", 1))
    if value.kind in INFIX and spent and names[0] == spent[0]:
        return spent[0], f"{names[0]} {INFIX[value.kind][0]}= {names[1]}"
    if value.kind in ("add", "mul") and names[1] in spent:
        return names[1], f"{names[1]} {INFIX[value.kind][0]}= {names[0]}"
    target = next(iter([*spent, *reversed(idle)]), None)
    if target is None:
        return None, text
    if value.kind in UFUNCS:
        return target, f"np.{UFUNCS[value.kind]}({names[0]}, {names[1]}, out={target})"
    if value.kind == "neg":
        return target, f"np.negative({names[0]}, out={target})"
    if value.kind in UNARY or value.kind == "upper":
        return target, dialect.calls[value.kind].format(f"{names[0]}, out={target}")
    return None, text


def _expression(value, operands: list[tuple[str, int]], dialect: Dialect) -> tuple[str, int]:
    if value.kind == "argument":
        return str(value.payload), CALL
    if value.kind == "constant":
        text = dialect.constant(value.payload)
        return text, 0 if text.startswith("-") else CALL
    if value.kind in INFIX:
        sign, level = INFIX[value.kind]
        (left, left_level), (right, right_level) = operands
        left = left if left_level >= level else f"({left})"
        right = right if right_level > level else f"({right})"
        return f"{left} {sign} {right}", level
    if value.kind == "neg":
        text, level = operands[0]
        return (f"-{text}" if level >= CALL else f"-({text})"), 1
    if value.kind == "polynomial" and dialect.polynomial:
        return dialect.polynomial(operands[0][0], [dialect.constant(a) for a in value.payload]), CALL
    if value.kind not in dialect.calls:
        raise UnsupportedNode(f"the {dialect.name} printer has no row for the operation {value.kind!r}")
    return dialect.calls[value.kind].format(*(text for text, _ in operands)), CALL
