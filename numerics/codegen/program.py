"""From an expression to a program: three-address code in a fixed set of operations, each value computed once.

This is the common-subexpression pass, by value numbering: an operation with the same operands is the same value.
The order of
everything (terms, factors, temporaries) follows from the expression alone, never from a hash or a memory address.
Printers know the operations of `OPERATIONS` and nothing else; a SymPy node that has no row here is an error that
names it.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import sympy as sp
from sympy.codegen.cfunctions import expm1, log1p

from numerics.codegen.nodes import Known, Node, Select, Upper, hypot
from numerics.codegen.series import Polynomial

__all__ = ["OPERATIONS", "Program", "UnsupportedNode", "Value", "lower"]

#: SymPy function -> operation
FUNCTIONS: dict[type, str] = {
    sp.exp: "exp", sp.log: "log", log1p: "log1p", expm1: "expm1",
    sp.sin: "sin", sp.cos: "cos", sp.tan: "tan", sp.asin: "asin", sp.acos: "acos", sp.atan: "atan", sp.atan2: "atan2",
    sp.sinh: "sinh", sp.cosh: "cosh", sp.tanh: "tanh", sp.asinh: "asinh", sp.acosh: "acosh", sp.atanh: "atanh",
    sp.erf: "erf", sp.erfc: "erfc", sp.Abs: "abs", sp.sign: "sign", sp.floor: "floor", sp.ceiling: "ceil",
    hypot: "hypot", Upper: "upper", Known: "known",
}  # fmt: skip
RELATIONS: dict[type, str] = {
    sp.StrictLessThan: "lt", sp.LessThan: "le", sp.StrictGreaterThan: "gt", sp.GreaterThan: "ge",
    sp.Equality: "eq", sp.Unequality: "ne",
}  # fmt: skip
OPERATIONS = frozenset(
    {"add", "sub", "mul", "div", "neg", "pow", "sqrt", "max", "min", "and", "or", "not", "where", "polynomial"}
    | set(FUNCTIONS.values())
    | set(RELATIONS.values())
)


class UnsupportedNode(TypeError):
    """An expression holds a node that no printer knows."""


@dataclass(frozen=True)
class Value:
    """One value of a program: kind is "argument" (its name), "constant" (an exact number) or an operation."""

    kind: str
    operands: tuple[int, ...] = ()
    payload: object = None


@dataclass
class Program:
    """Values in the order they are computed, and which of them are the results."""

    arguments: tuple[str, ...]
    values: list[Value] = field(default_factory=list)
    outputs: tuple[int, ...] = ()
    _known: dict[Value, int] = field(default_factory=dict)

    def emit(self, kind: str, *operands: int, payload: object = None) -> int:
        """The index of this value, new or already there (a + b is b + a, to the last bit)."""
        value = Value(kind, operands, payload)
        if kind in ("add", "mul") and (turned := Value(kind, operands[::-1], payload)) in self._known:
            return self._known[turned]
        if value not in self._known:
            self._known[value] = len(self.values)
            self.values.append(value)
        return self._known[value]

    def uses(self) -> list[int]:
        """How often each value is read (results count as a reading)."""
        count = [0] * len(self.values)
        for value in self.values:
            for operand in value.operands:
                count[operand] += 1
        for output in self.outputs:
            count[output] += 1
        return count

    def __str__(self) -> str:
        lines = [f"%{i} = {v.kind}({', '.join(f'%{o}' for o in v.operands)})" if v.operands
                 else f"%{i} = {v.payload}" for i, v in enumerate(self.values)]  # fmt: skip
        return "\n".join([*lines, "return " + ", ".join(f"%{o}" for o in self.outputs)])


def lower(
    expressions: sp.Expr | tuple[sp.Expr, ...], arguments: dict[sp.Symbol, str], varying: frozenset[str] | None = None
) -> Program:
    """The program that computes the expressions from the arguments (symbol -> printed name).

    With `varying`, products are ordered so that what does not depend on those arguments is multiplied first, by its
    own, smaller shape (loop-invariant code motion, which broadcasting turns into speed).

    Raises UnsupportedNode naming a node no printer knows, and ValueError for a symbol that is no argument.
    """
    if isinstance(expressions, sp.Basic):
        expressions = (expressions,)
    program = Program(tuple(arguments.values()))
    lowering = _Lowering(program, arguments, varying)
    for name in arguments.values():
        program.emit("argument", payload=name)
    program.outputs = tuple(lowering(expr) for expr in expressions)
    return program


class _Lowering:
    """Walks an expression bottom-up and emits values into a program."""

    def __init__(self, program: Program, arguments: dict[sp.Symbol, str], varying: frozenset[str] | None):
        self.program, self.arguments, self.varying = program, arguments, varying
        self._varies: list[bool] = []
        self.memo: dict[sp.Basic, int] = {}

    def __call__(self, expr: sp.Basic) -> int:
        if expr not in self.memo:
            self.memo[expr] = self._lower(expr)
        return self.memo[expr]

    def _lower(self, expr: sp.Basic) -> int:
        emit = self.program.emit
        if isinstance(expr, sp.Symbol):
            if expr not in self.arguments:
                known = ", ".join(map(str, self.arguments)) or "none"
                raise ValueError(f"symbol {expr} is not among the arguments ({known})")
            return emit("argument", payload=self.arguments[expr])
        if isinstance(expr, (sp.Number, sp.NumberSymbol)) or _is_real_number(expr):
            if expr.is_finite is False or expr is sp.nan:
                raise UnsupportedNode(f"no printer knows the number {expr}")
            return emit("constant", payload=expr)
        for kind, method in ((sp.Add, self._add), (sp.Mul, self._mul), (sp.Pow, self._pow)):
            if isinstance(expr, kind):
                return method(expr)
        if expr is sp.true or expr is sp.false:
            raise UnsupportedNode("a condition that is always true or false: simplify the Piecewise first")
        if isinstance(expr, sp.Piecewise):
            return self._piecewise(expr)
        if isinstance(expr, (sp.Max, sp.Min)):
            return self._fold("max" if isinstance(expr, sp.Max) else "min", expr.args)
        if isinstance(expr, (sp.And, sp.Or)):
            return self._fold("and" if isinstance(expr, sp.And) else "or", expr.args)
        if isinstance(expr, sp.Not):
            return emit("not", self(expr.args[0]))
        operation = FUNCTIONS.get(type(expr)) or RELATIONS.get(type(expr))
        if operation:
            return emit(operation, *map(self, expr.args))
        if isinstance(expr, Select):
            return emit("where", *map(self, expr.args))
        if isinstance(expr, Polynomial):
            x, *coefficients = expr.args
            return emit("polynomial", self(x), payload=tuple(coefficients))
        if isinstance(expr, Node):
            return self(expr.func(*map(self._placeholder, expr.args)).stable_form())
        raise UnsupportedNode(f"no printer knows the node {type(expr).__name__} in {expr}")

    def _placeholder(self, argument: sp.Expr) -> sp.Symbol:
        """A symbol for a value already computed: the algebra of a node's form must not reach into its arguments."""
        if argument.is_Symbol:
            return argument
        value = self(argument)
        symbol = sp.Symbol(f"%{value}", real=True)
        self.memo[symbol] = value
        return symbol

    def _fold(self, operation: str, args) -> int:
        first, *rest = map(self, sp.ordered(args))
        for other in rest:
            first = self.program.emit(operation, first, other)
        return first

    def _add(self, expr: sp.Add) -> int:
        terms = sorted(expr.args, key=sp.default_sort_key)
        negative = [term for term in terms if term.could_extract_minus_sign()]
        positive = [term for term in terms if term not in negative]
        if not positive:
            return self.program.emit("neg", self(-expr))
        first, *rest = map(self, positive)
        for other in rest:
            first = self.program.emit("add", first, other)
        for term in negative:
            first = self.program.emit("sub", first, self(-term))
        return first

    def _mul(self, expr: sp.Mul) -> int:
        """Numbers into one constant, then the factors above the line (unvarying ones first), then one division."""
        if expr.as_coeff_Mul()[0].is_negative:
            return self.program.emit("neg", self(-expr))
        numbers = [factor for factor in expr.args if _is_real_number(factor)]
        over, under = [], []
        for factor in sorted((f for f in expr.args if f not in numbers), key=sp.default_sort_key):
            base, exponent = factor.as_base_exp()
            inverse = exponent.is_Rational and exponent.is_negative
            (under if inverse else over).append(base**-exponent if inverse else factor)
        p, q = sp.Mul(*numbers), sp.Integer(1)
        if p.is_Rational and not _power_of_two(p.q):  # a third is not exact: divide by three
            p, q = sp.Integer(p.p), sp.Integer(p.q)
        above = [*([] if p == 1 else [self(p)]), *map(self, over)]
        below = [*([] if q == 1 else [self(q)]), *map(self, under)]
        if self.varying is None:
            return self._quotient(above, below)
        fixed = self._quotient([v for v in above if not self.varies(v)], [v for v in below if not self.varies(v)])
        one = self(sp.Integer(1))
        return self._quotient(
            [*([] if fixed == one else [fixed]), *[v for v in above if self.varies(v)]],
            [v for v in below if self.varies(v)],
        )

    def _quotient(self, above: list[int], below: list[int]) -> int:
        emit = self.program.emit
        first, *rest = above or [self(sp.Integer(1))]
        for value in rest:
            first = emit("mul", first, value)
        if below:
            divisor, *rest = below
            for value in rest:
                divisor = emit("mul", divisor, value)
            first = emit("div", first, divisor)
        return first

    def varies(self, value: int) -> bool:
        """Whether a value depends on an argument that varies along the inner axis."""
        known = self._varies
        for index in range(len(known), value + 1):
            v = self.program.values[index]
            known.append(v.payload in self.varying if v.kind == "argument" else any(known[o] for o in v.operands))
        return known[value]

    def _pow(self, expr: sp.Pow) -> int:
        emit = self.program.emit
        base, exponent = expr.as_base_exp()
        if base is sp.E:
            return emit("exp", self(exponent))
        if exponent.is_Rational and exponent.is_negative:
            return emit("div", self(sp.Integer(1)), self(base**-exponent))
        if exponent == sp.Rational(1, 2):
            return emit("sqrt", self(base))
        if exponent.is_Integer and exponent <= 16:
            return self._integer_power(base, int(exponent))
        if exponent.is_Rational and exponent.q == 2 and exponent.p <= 15:
            return emit("mul", self(base ** sp.Integer(exponent.p // 2)), emit("sqrt", self(base)))
        return emit("pow", self(base), self(exponent))

    def _integer_power(self, base: sp.Expr, n: int) -> int:
        if n == 1:
            return self(base)
        half = self._integer_power(base, n // 2)
        square = self.program.emit("mul", half, half)
        return self.program.emit("mul", square, self(base)) if n % 2 else square

    def _piecewise(self, expr: sp.Piecewise) -> int:
        """Clamp, then select: a branch is computed on arguments that are safe for it wherever it is not taken."""
        pieces = list(expr.args)
        if pieces[-1].cond is not sp.true:
            raise UnsupportedNode(f"a Piecewise without a last branch for everything else: {expr}")
        taken = sp.false
        values = []
        for piece in pieces:
            here = sp.And(piece.cond, sp.Not(taken))
            values.append(self._branch(piece.expr, here))
            taken = sp.Or(taken, piece.cond)
        result = values[-1]
        for piece, value in zip(reversed(pieces[:-1]), reversed(values[:-1]), strict=True):
            result = self.program.emit("where", self(piece.cond), value, result)
        return result

    def _branch(self, expr: sp.Expr, here: sp.Basic) -> int:
        symbols = sorted(expr.free_symbols | here.free_symbols, key=sp.default_sort_key)
        point = _safe_point(expr, here, symbols)
        if point is None or not expr.free_symbols:
            return self(expr)
        clamped = {}
        for symbol in sorted(expr.free_symbols, key=sp.default_sort_key):
            value = self.program.emit("where", self(here), self(symbol), self(point[symbol]))
            clamped[symbol] = sp.Symbol(f"%{value}", **symbol.assumptions0)
            self.memo[clamped[symbol]] = value
        return self(expr.xreplace(clamped))


def _safe_point(expr: sp.Expr, here: sp.Basic, symbols: list[sp.Symbol]) -> dict | None:
    """Values at which a branch is taken and the branch and its first derivatives are finite numbers; None if none is
    found.
    """
    candidates = [sp.Rational(n, 8) for n in (4, -4, 12, -12, 20, -20, 8, -8, 0, 1, -1, 80, -80, 800, -800)]
    for values in itertools.islice(itertools.product(candidates, repeat=len(symbols)), 4000):
        point = dict(zip(symbols, values, strict=True))
        if here.xreplace(point) not in (sp.true, True):
            continue
        if all(_is_finite(e.xreplace(point)) for e in (expr, *(sp.diff(expr, s) for s in expr.free_symbols))):
            return point
    return None


def _is_finite(value: sp.Expr) -> bool:
    value = value.evalf(15)
    return bool(value.is_real and value.is_finite)


def _is_real_number(expr: sp.Expr) -> bool:
    return bool(expr.is_number and isinstance(expr, sp.Expr) and not expr.has(Node) and expr.evalf(15).is_real)


def _power_of_two(q: int) -> bool:
    return q & (q - 1) == 0
