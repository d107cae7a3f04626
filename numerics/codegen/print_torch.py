"""The torch printer: functions that autograd differentiates exactly, twice.

A form that holds only for part of the range is computed on arguments that are replaced by 1 outside its part
(`_keep`), and only then
selected: no infinity of a dead branch ever meets a zero gradient.  There is no data-dependent control flow, so the
functions run under vmap, functorch and torch.compile.  The forms for small and large ratios start at 2^-4 and 2^100
here, long before NumPy needs
them: a quotient of two functions that vanish together has a derivative that cancels.
"""

from __future__ import annotations

import sympy as sp

from numerics.codegen.passes import Region, Trace
from numerics.codegen.program import lower
from numerics.codegen.text import Dialect, decimal, statements

__all__ = ["TORCH", "prepare", "print_core", "print_function", "print_module", "print_several", "selection"]

_ONE = (
    "exp log log1p expm1 sin cos tan sinh cosh tanh sqrt asinh acosh atanh asin acos atan erf erfc floor ceil abs sign"
)
_CALLS = {
    **{name: f"torch.{name}({{0}})" for name in _ONE.split()},
    "pow": "torch.pow({0}, {1})", "atan2": "torch.atan2({0}, {1})", "hypot": "torch.hypot({0}, {1})",
    "upper": "_upper({0})", "known": "_known({0}, {1})",
    "max": "_maximum({0}, {1})", "min": "-_maximum(-({0}), -({1}))",
    "lt": "({0} < {1})", "le": "({0} <= {1})", "gt": "({0} > {1})", "ge": "({0} >= {1})", "eq": "({0} == {1})",
    "ne": "({0} != {1})",
    "and": "({0} & {1})", "or": "({0} | {1})", "not": "(~{0})", "where": "torch.where({0}, {1}, {2})",
}  # fmt: skip


def _horner(x: str, coefficients: list[str]) -> str:
    *rest, last = coefficients
    text = last
    for coefficient in reversed(rest):
        text = f"{coefficient} + {x} * ({text})"
    return f"({text})"


TORCH = Dialect("torch", _CALLS, decimal, polynomial=_horner)
RESERVED = ("torch", "ratio", "large", "far", "near", "out", "dtype")

PRELUDE = '''import torch


def _prepare(names, *values):
    """The arguments as float64 tensors on one device, and the dtype of the result.

    A number, or a CPU tensor of no dimension, goes where the others are.
    """
    tensors = {name: v for name, v in zip(names, values, strict=True) if isinstance(v, torch.Tensor)}
    for name, v in zip(names, values, strict=True):
        if "complex" in str(getattr(v, "dtype", type(v))):
            raise TypeError(f"{name} must be real numbers, got {getattr(v, 'dtype', v)}")
    placed = {name: v.device for name, v in tensors.items() if v.ndim or v.device.type != "cpu"}
    if len(set(placed.values())) > 1:
        where = ", ".join(f"{name} on {device}" for name, device in placed.items())
        raise ValueError(f"all tensors must be on one device, got {where}")
    device = next(iter(placed.values()), torch.device("cpu") if tensors else None)
    floating = [v.dtype for v in tensors.values() if v.is_floating_point()]
    dtype = torch.float64
    if floating and len(floating) == len(tensors):
        dtype = floating[0]
        for other in floating[1:]:
            dtype = torch.promote_types(dtype, other)
    return [_double(name, v, device) for name, v in zip(names, values, strict=True)], dtype


def _double(name, v, device):
    """A float64 tensor on the device."""
    try:
        if isinstance(v, torch.Tensor):
            return v.to(device=device, dtype=torch.float64)
        return torch.as_tensor(v, dtype=torch.float64, device=device)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise TypeError(f"{name} must be real numbers, got {v!r:.60} of type {type(v).__name__}") from error


def _keep(where, *values):
    """The values where they are wanted, 1 elsewhere: a branch not taken stays finite, and so does its gradient."""
    return [torch.where(where, v, torch.ones_like(v)) for v in values]
'''
MAXIMUM = '''

def _maximum(x, y):
    """The larger of two, with the gradient of the first where they are equal."""
    x = x if isinstance(x, torch.Tensor) else torch.full_like(y, x)
    y = y if isinstance(y, torch.Tensor) else torch.full_like(x, y)
    return torch.where(x >= y, x, y)
'''
UPPER = """

def _upper(x):
    \"\"\"The upper 26 bits of a double, with the gradient of the whole.\"\"\"
    whole = x.detach()
    lost = (whole.view(torch.int64) & -(1 << 27)).view(torch.float64) - whole
    return x + torch.where(torch.isinf(whole), 0.0, lost)
"""
KNOWN = """

def _known(a, b):
    \"\"\"a where it is a number, else b.\"\"\"
    return torch.where(torch.isnan(a), b, a)
"""


def print_function(name: str, trace: Trace, positive: tuple[str, ...] = (), doc: str = "") -> str:
    """The public function of one kernel and the functions it selects from."""
    arguments = ", ".join(trace.arguments.values())
    parts = []
    for region in trace.smooth_regions:
        parts.append(print_core(f"_{name}_{region.name}", arguments, region.expression, trace))
    parts.append(print_core(f"_{name}", arguments, trace.expression, trace))
    lines = [f'"""{doc}"""', prepare(trace.arguments.values())]
    if trace.smooth_regions:
        lines += selection(name, arguments, trace)
    else:
        lines.append(f"out = _{name}({arguments})")
    missing = [a for s, a in trace.arguments.items() if s not in trace.expression.free_symbols]
    if missing:  # a result that does not depend on an argument still has its shape
        lines.append("out = out + 0.0 * (" + " + ".join(f"torch.zeros_like({a})" for a in missing) + ")")
    for argument in positive:
        lines.append(f"out = torch.where({argument} > 0, out, torch.nan)")
    lines.append("return out.to(dtype)")
    parts.append(_function(name, arguments, lines))
    return "\n\n\n".join(parts)


def print_several(
    name: str, trace: Trace, outputs: tuple[str, ...], positive: tuple[str, ...], varying: tuple[str, ...], doc: str
) -> str:
    """A kernel of several results, each a name among `outputs`: a tuple of tensors of the broadcast shape."""
    arguments = ", ".join(trace.arguments.values())
    lines, results = statements(lower(tuple(trace.expression), trace.arguments, frozenset(varying)), TORCH, RESERVED)
    returned = [f"    {result},  # {output}" for result, output in zip(results, outputs, strict=True)]
    core = _function(f"_{name}", arguments, [*lines, "return (", *returned, ")"])
    inside = " & ".join(f"({argument} > 0)" for argument in positive)
    shapes = ", ".join(f"{argument}.shape" for argument in trace.arguments.values())
    part = f"torch.where({inside}, part, torch.nan)" if inside else "part"
    body = [
        f'"""{doc}"""',
        prepare(trace.arguments.values()),
        f"shape = torch.broadcast_shapes({shapes})",
        f"return tuple({part}.broadcast_to(shape).contiguous().to(dtype) for part in _{name}({arguments}))",
    ]
    return f"{core}\n\n\n{_function(name, arguments, body)}"


def prepare(arguments) -> str:
    """The line that turns the arguments of a public function into float64 tensors on one device."""
    listed = ", ".join(arguments)
    names = ", ".join(f'"{argument}"' for argument in arguments)
    return f"({listed},), dtype = _prepare(({names},), {listed})"


def selection(name: str, arguments: str, trace: Trace) -> list[str]:
    by_name: dict[str, Region] = {region.name: region for region in trace.smooth_regions}
    steps, (ratio,) = statements(lower(trace.smooth_regions[0].x, trace.arguments), TORCH, RESERVED, prefix="r")
    lines = [*steps, f"ratio = torch.abs({ratio}).detach()"]
    for region in trace.smooth_regions:
        lines.append(f"{region.name} = ratio {region.relation} {decimal(region.bound)}")
    if "large" in by_name:
        lines.append("large = large & ~far")
    lines.append(f"out = _{name}(*_keep(~({' | '.join(by_name)}), {arguments}))")
    for region in by_name:
        lines.append(f"out = torch.where({region}, _{name}_{region}(*_keep({region}, {arguments})), out)")
    return lines


def print_core(name: str, arguments: str, expression: sp.Expr, trace: Trace) -> str:
    lines, (result,) = statements(lower(expression, trace.arguments), TORCH, RESERVED)
    if not expression.free_symbols:
        result = f"torch.full_like({arguments.split(',')[0]}, {result})"
    return _function(name, arguments, [*lines, f"return {result}"])


def _function(name: str, arguments: str, lines: list[str]) -> str:
    return f"def {name}({arguments}):\n" + "\n".join(f"    {line}" for line in lines)


def print_module(functions: list[str], header: str, names: list[str] | None = None) -> str:
    """The module with these functions; the helpers they need come first."""
    body = "\n\n\n".join(functions)
    helpers = {"_maximum(": MAXIMUM, "_upper(": UPPER, "_known(": KNOWN}
    prelude = PRELUDE + "".join(text for call, text in helpers.items() if call in body)
    listed = "" if names is None else "\n__all__ = [\n" + "".join(f'    "{name}",\n' for name in names) + "]\n"
    head, rest = prelude.split("\n", 1)
    return f'"""{header}"""\n\n{head}\n{listed}{rest}\n\n{body}\n'
