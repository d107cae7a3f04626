"""The C printer: C99 source and header without dependencies, one scalar function and one over arrays per kernel.

Every function is `static inline` inside the source and exported twice: `ptft_NAME(...)` for one value,
`ptft_NAME_array(n, ..., out)` for arrays of length n.  A kernel of several results takes one pointer for each, by name,
in place of `out` and of the returned value.  Forms that hold only for part of the range are branches.  An argument
outside its domain gives NaN.
"""

from __future__ import annotations

import re

from numerics.codegen.passes import Trace
from numerics.codegen.print_c_loops import BLOCK, print_loop
from numerics.codegen.program import Program, lower
from numerics.codegen.text import Dialect, decimal, statements

__all__ = [
    "C",
    "array_program",
    "print_function",
    "print_header",
    "print_regions",
    "print_several",
    "print_source",
    "print_value",
    "signature",
]

_ONE = "exp log log1p expm1 sin cos tan sinh cosh tanh sqrt asinh acosh atanh asin acos atan erf erfc floor ceil"
_CALLS = {
    **{name: f"{name}({{0}})" for name in _ONE.split()},
    "abs": "fabs({0})", "sign": "ptft_sign({0})", "pow": "pow({0}, {1})", "atan2": "atan2({0}, {1})",
    "hypot": "ptft_hypot({0}, {1})", "upper": "ptft_upper({0})", "known": "ptft_known({0}, {1})",
    "max": "ptft_max({0}, {1})", "min": "ptft_min({0}, {1})",
    "lt": "({0} < {1})", "le": "({0} <= {1})", "gt": "({0} > {1})", "ge": "({0} >= {1})", "eq": "({0} == {1})",
    "ne": "({0} != {1})", "and": "({0} && {1})", "or": "({0} || {1})", "not": "(!{0})", "where": "({0} ? {1} : {2})",
}  # fmt: skip


def _horner(x: str, coefficients: list[str]) -> str:
    *rest, last = coefficients
    text = last
    for coefficient in reversed(rest):
        text = f"{coefficient} + {x} * ({text})" if text != last else f"{coefficient} + {x} * {text}"
    return f"({text})"


C = Dialect("c", _CALLS, decimal, assign="const double {name} = {value};", polynomial=_horner)

HELPERS = {
    BLOCK: f"enum {{ {BLOCK} = 128 }}; /* elements that a loop over arrays takes at a time */",
    "ptft_sign": "static inline double ptft_sign(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x; }",
    "ptft_max": "static inline double ptft_max(double x, double y) { return x > y || x != x ? x : y; }",
    "ptft_min": "static inline double ptft_min(double x, double y) { return x < y || x != x ? x : y; }",
    "ptft_hypot": "static inline double ptft_hypot(double x, double y)\n{\n"
    "    const double square = x * x + y * y;\n"
    "    return square < 1e-290 || square > 1e300 ? hypot(x, y) : sqrt(square);\n}",
}
HELPERS["ptft_upper"] = """/* the upper 26 bits of a double */
static inline double ptft_upper(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= ~(uint64_t)0x7ffffff;
    memcpy(&x, &bits, sizeof bits);
    return x;
}"""
HELPERS["ptft_known"] = "static inline double ptft_known(double a, double b) { return a == a ? a : b; }"
COMPILE = """Compile with -std=c99 -O3 -fno-math-errno -fno-trapping-math: the loops over arrays are then vectorised,
and no result depends on the -O and -f options."""
_WORDS = (
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while main errno "
    "y0 y1 yn j0 j1 jn gamma lgamma tgamma fabs pow atan2 hypot fmin copysign isinf size_t n m out i"
)
#: What an argument must not be called: words of the language, and names that the source uses.
KEYWORDS = frozenset([*_WORDS.split(), *_ONE.split()])
#: Macros of the headers, and the printer's own names.
TAKEN = re.compile(
    r"NAN|NULL|INFINITY|HUGE_VAL\w*|(M|FP|MATH|PTFT|ptft)_\w+|\w+_(values?|far|near)|(s|result|extra)\d+"
)


def _names(trace: Trace) -> dict:
    """Arguments by names that mean nothing else in C."""
    taken = set(trace.arguments.values())
    renamed = {}
    for symbol, name in trace.arguments.items():
        name = f"x_{name}_" if TAKEN.fullmatch(name) else name
        while name in KEYWORDS:
            name += "_"
            name += "x" if name in taken else ""
        renamed[symbol] = name
    return renamed


def _outside(arguments: dict, positive: tuple[str, ...], at: str = "") -> str:
    """The condition under which an argument is outside its domain; empty where there is none."""
    return " || ".join(f"{name}{at} <= 0" for symbol, name in arguments.items() if symbol.name in positive)


def print_regions(name: str, trace: Trace, regions) -> list[str]:
    """`NAME_far(...)` and the like: the functions of regions with a form of their own."""
    arguments = _names(trace)
    formal = ", ".join(f"double {argument}" for argument in arguments.values())
    parts = []
    for region in regions:
        lines, (result,) = statements(lower(region.expression, arguments), C)
        unused = [f"(void){new};" for old, new in arguments.items() if not region.expression.has(old)]
        parts.append(_body(f"static double {name}_{region.name}({formal})", [*unused, *lines, f"return {result};"]))
    return parts


def print_value(name: str, trace: Trace, positive: tuple[str, ...] = ()) -> str:
    """`NAME_value(...)`, the scalar function, preceded by its regions."""
    arguments = _names(trace)
    formal = ", ".join(f"double {argument}" for argument in arguments.values())
    actual = ", ".join(arguments.values())
    parts = print_regions(name, trace, trace.branches)
    ratio = [trace.regions[0].x] if trace.regions else []
    lines, (result, *size) = statements(lower((trace.expression, *ratio), arguments), C)
    guard = _outside(arguments, positive)
    if guard:
        lines.insert(0, f"if ({guard}) return NAN;")
    for region in trace.branches:
        test = f"fabs({size[0]}) {region.relation} {decimal(region.bound)}"
        lines.append(f"if ({test}) return {name}_{region.name}({actual});")
    unused = [a for s, a in arguments.items() if not trace.expression.has(s) and s.name not in positive]
    lines = [*(f"(void){argument};" for argument in unused), *lines]
    parts.append(_body(f"static inline double {name}_value({formal})", [*lines, f"return {result};"]))
    return "\n\n".join(parts)


def print_function(name: str, trace: Trace, positive: tuple[str, ...] = ()) -> str:
    """The scalar function, its regions, and the loops over arrays."""
    arguments = _names(trace)
    formal = ", ".join(f"double {argument}" for argument in arguments.values())
    actual = ", ".join(arguments.values())
    return "\n\n".join([
        print_value(name, trace, positive),
        _body(f"double ptft_{name}({formal})", [f"return {name}_value({actual});"]),
        _array_function(name, trace, positive),
    ])  # fmt: skip


def _array_function(name: str, trace: Trace, positive: tuple[str, ...]) -> str:
    """The same over arrays."""
    arguments = _names(trace)
    program, repairs = array_program(name, trace)
    signature = f"void ptft_{name}_array({_array_formal(arguments.values())})"
    guard = _outside(arguments, positive, "[i]")
    return print_loop(signature, list(arguments.values()), program, ["out"], C, guard, repairs)


def array_program(name: str, trace: Trace) -> tuple[Program, tuple[str, ...]]:
    """(program, repairs) for `print_loop`: the region of small ratios is selected, elements of others are repaired."""
    indexed = {symbol: f"{argument}[i]" for symbol, argument in _names(trace).items()}
    ratio = [trace.regions[0].x] if trace.regions else []
    common = [region for region in trace.branches if region.name == "near"]
    program = lower((trace.expression, *(r.expression for r in common), *ratio), indexed)
    result, *others = program.outputs
    for region, near in zip(common, others[:-1], strict=True):
        size, bound = program.emit("abs", others[-1]), program.emit("constant", payload=region.bound)
        result = program.emit("where", program.emit("lt", size, bound), near, result)
    program.outputs = (result, *others[-1:])
    actual = ", ".join(indexed.values())
    repairs = tuple(
        f"if (fabs(extra0[i]) {r.relation} {decimal(r.bound)}) result0[i] = {name}_{r.name}({actual});"
        for r in trace.branches
        if r not in common
    )
    return program, repairs


def print_several(name: str, trace: Trace, outputs: tuple[str, ...], positive: tuple[str, ...], varying) -> str:
    """A kernel of several results: each is stored where its own pointer points."""
    arguments = _names(trace)
    targets = _targets(outputs, arguments.values())
    program = lower(tuple(trace.expression), arguments, frozenset(arguments[s] for s in arguments if s.name in varying))
    lines, results = statements(program, C, targets)
    stored = [f"*{target} = {result};" for target, result in zip(targets, results, strict=True)]
    guard = _outside(arguments, positive)
    if guard:
        nothing = " = ".join(f"*{target}" for target in targets)
        stored.append(f"if ({guard}) {nothing} = NAN;")
    unused = [f"(void){new};" for symbol, new in arguments.items() if not trace.expression.has(symbol)]
    values = [f"double {argument}" for argument in arguments.values()]
    formal = ", ".join([*values, *(f"double *{target}" for target in targets)])
    actual = ", ".join([*arguments.values(), *targets])
    varied = frozenset(f"{arguments[s]}[i]" for s in arguments if s.name in varying)
    program = lower(tuple(trace.expression), {s: f"{new}[i]" for s, new in arguments.items()}, varied)
    signature = f"void ptft_{name}_array({_array_formal(arguments.values(), targets)})"
    outside = _outside(arguments, positive, "[i]")
    return "\n\n".join([
        _body(f"static inline void {name}_values({formal})", [*unused, *lines, *stored]),
        _body(f"void ptft_{name}({formal})", [f"{name}_values({actual});"]),
        print_loop(signature, list(arguments.values()), program, list(targets), C, outside),
    ])  # fmt: skip


def _targets(outputs, arguments) -> list[str]:
    """The names of the pointers to the results: those of the results, unless an argument has it."""
    taken = {*arguments, *KEYWORDS}
    return [f"{output}_out" if output in taken else output for output in outputs]


def _array_formal(arguments, targets=("out",)) -> str:
    inputs = [f"const double *{argument}" for argument in arguments]
    return ", ".join(["size_t n", *inputs, *(f"double *{target}" for target in targets)])


def _body(signature: str, lines: list[str]) -> str:
    return f"{signature}\n{{\n" + "\n".join(f"    {line}" for line in lines) + "\n}"


def print_source(functions: list[str], comment: str, header: str = "ptft_kernels.h") -> str:
    """The source file with these functions."""
    body = "\n\n".join(functions)
    helpers = [text for helper, text in HELPERS.items() if re.search(rf"\b{helper}\b", body)]
    comment = f"{comment.strip()}\n\n{COMPILE}"
    lines = "\n".join(f" * {line}".rstrip() for line in comment.splitlines())
    bits = "#include <stdint.h>\n#include <string.h>\n" if "ptft_upper(" in body else ""
    include = f'#include <math.h>\n#include <stddef.h>\n{bits}\n#include "{header}"'
    return "\n\n".join([f"/*\n{lines}\n */\n{include}", *helpers, body]) + "\n"


def print_header(signatures: list[tuple[str, list[str], list[str]]], guard: str = "PTFT_KERNELS_H") -> str:
    """The header that declares kernels: (name, arguments, names of the results where there are several) each."""
    lines = []
    for name, arguments, outputs in signatures:
        formal = ", ".join(f"double {argument}" for argument in arguments)
        targets = _targets(outputs, arguments)
        one = f"void ptft_{name}({formal}, {', '.join(f'double *{target}' for target in targets)});"
        one = one if targets else f"double ptft_{name}({formal});"
        lines.append(f"{one}\nvoid ptft_{name}_array({_array_formal(arguments, targets or ('out',))});")
    cpp = '#ifdef __cplusplus\nextern "C" {\n#endif\n\n', "\n\n#ifdef __cplusplus\n}\n#endif\n"
    head = f"#ifndef {guard}\n#define {guard}\n\n#include <stddef.h>\n\n"
    return f"{head}{cpp[0]}" + "\n\n".join(lines) + f"{cpp[1]}\n#endif\n"


def signature(name: str, trace: Trace, outputs: tuple[str, ...] = ()) -> tuple[str, list[str], list[str]]:
    """What the header declares of a kernel."""
    return name, list(_names(trace).values()), list(outputs)
