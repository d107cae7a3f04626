"""The proximal map in torch: the algorithm of `print_prox`.

The root itself is computed without a graph; two Newton steps that start on it then carry the derivatives,
because each step that starts on a root doubles the order to which the implicit function is reproduced.
"""

from __future__ import annotations

import sympy as sp

from numerics.codegen.formulas import Formula
from numerics.codegen.implicit import ENVELOPE, conjugate, wide_state
from numerics.codegen.passes import Trace
from numerics.codegen.print_torch import TORCH, prepare, print_core, selection
from numerics.codegen.program import lower
from numerics.codegen.rules import ROOTS, rewrite
from numerics.codegen.text import statements

__all__ = ["print_torch_function", "print_torch_solver"]


def print_torch_solver() -> str:
    """`_solve(z, g, c_ft)`: x = xhat, u and w; `_attached` makes xhat differentiable twice in all three arguments."""
    from derivations import derive
    from derivations.symbols import c_ft, g, x

    lines, (position, slope) = statements(lower(*wide_state()), TORCH)
    stationarity = derive("scalar_channel").results["stationarity"]
    names = {x: "x", g: "g", c_ft: "c_ft"}
    expressions = tuple(rewrite(e, ROOTS) for e in (stationarity, sp.diff(stationarity, x)))
    both, (value, along) = statements(lower(expressions, names), TORCH)
    text = TORCH_SOLVER.replace("@STATE@", "\n".join(f"    {line}" for line in [*lines, f"return {position}, {slope}"]))
    return text.replace("@STEP@", "\n".join(f"    {line}" for line in [*both, f"return x - ({value} - z) / ({along})"]))


def print_torch_function(row: Formula, trace: Trace, doc: str) -> str:
    """A kernel of the root: solve, then the expression in x; a value known better than that is put in its place."""
    inner = ", ".join(trace.arguments.values())
    parts = [print_core(f"_{row.name}_{r.name}", inner, r.expression, trace) for r in trace.smooth_regions]
    parts.append(print_core(f"_{row.name}", inner, trace.expression, trace))
    body = [f'"""{doc}"""', prepare(("z", "g", "c_ft")), "solved = _solve(z.detach(), g.detach(), c_ft.detach())"]
    body += ["x = _attached(solved[0], z, g, c_ft)"]
    body += selection(row.name, inner, trace) if trace.smooth_regions else [f"out = _{row.name}({inner})"]
    if trace.at_root:
        known, at = trace.at_root, f"{row.name}_at"
        names = ", ".join(known.arguments.values())
        parts += [print_core(f"_{at}_{r.name}", names, r.expression, known) for r in known.regions]
        parts.append(print_core(f"_{at}", names, known.expression, known))
        value = selection(at, names, known) if known.regions else [f"out = _{at}({names})"]
        lines = "\n".join(f"    {line}" for line in [*value, "return out"])
        parts.append(f"def _{at}_root({names}):\n{lines}")
        needed = ", ".join(f"solved[{'xuw'.index(letter)}]" for letter in known.arguments.values() if letter in "xuw")
        body.append(f"out = _pinned(_{at}_root({needed}, g.detach(), c_ft.detach()), out)")
    elif row.name == ENVELOPE:
        lines, (value,) = statements(lower(*conjugate()), TORCH)
        inner = "\n".join(f"    {line}" for line in lines)
        parts.append(TORCH_ENVELOPE.replace("@LINES@", inner).replace("@CONJUGATE@", value))
        body.append("out = _pinned(_envelope(z.detach(), g.detach(), c_ft.detach()), out)")
    body += ["out = torch.where((c_ft > 0) & (g >= 0), out, torch.nan)", "return out.to(dtype)"]
    parts.append(f"def {row.name}(z, g, c_ft):\n" + "\n".join(f"    {line}" for line in body))
    return "\n\n\n".join(parts)


TORCH_SOLVER = '''def _state(u, c_ft):
@STATE@


def _newton(size, g, c_ft):
    """(u, c_ft sinh(u), c_ft cosh(u), rest, delta) as in `print_prox`: u has 26 bits, the root is u + delta."""
    half = 0.5 * g
    u = torch.minimum(2.0 * potential_derivative(size, c_ft), size / (c_ft + half))
    for _ in range(12):
        position, slope = _state(u, c_ft)
        u = u - (position + half * u - size) / (slope + half)
    u = _upper(u)
    position, slope = _state(u, c_ft)
    far = u > 700.0
    usual = torch.where(far, 1.0, u)
    position = torch.where(far, position, c_ft * torch.sinh(usual))
    slope = torch.where(far, slope, c_ft * torch.cosh(usual))
    high = _upper(half)
    rest = size - high * u - (half - high) * u - position
    delta = rest / (slope + half)
    for _ in range(2):
        square = delta * delta
        delta = (rest - position * (0.5 * square) - slope * (delta * square / 6.0)) / (slope + half)
    return u, position, slope, rest, delta


def _solve(z, g, c_ft):
    """(x, u, w) to the last digits, x = c_ft sinh(u) the root, w = c_ft cosh(u), without a graph.

    The last correction is carried beside u.
    """
    size, half = torch.abs(z), 0.5 * g
    node, position, slope, _, delta = _newton(size, g, c_ft)
    square = delta * delta
    out = position + (position * (0.5 * square) + slope * (delta + delta * square / 6.0))
    w = slope + (slope * (0.5 * square) + position * (delta + delta * square / 6.0))
    share = c_ft / (c_ft + half)
    linear = torch.where(share > 1e-290, size * share, size * c_ft / (c_ft + half))
    small = node < 1e-8
    out = torch.where(small | (half == 0.0), linear, out)
    u = torch.where(small, size / (c_ft + half), node + delta)
    out, u = (torch.where(torch.isinf(size), size, v) for v in (out, u))
    larger = torch.maximum(size, c_ft)
    w = torch.where(torch.isinf(larger), larger, w)
    return torch.copysign(out, z), torch.copysign(u, z), w


def _step(x, z, g, c_ft):
@STEP@


def _attached(x, z, g, c_ft):
    """The root with its graph: two Newton steps that start on it."""
    fine = torch.abs(x) < 1e150 * c_ft  # beyond, the graph ends here: the ratio's square overflows
    safe, *others = _keep(fine, x, z, g, c_ft)
    moved = _step(_step(safe, *others), *others)
    return x + torch.where(fine, moved - moved.detach(), 0.0)


def _pinned(value, graph):
    """The value, with the gradient of the graph."""
    moved = graph - graph.detach()
    return value + torch.where(torch.isfinite(moved), moved, 0.0)
'''

TORCH_ENVELOPE = '''def _envelope(z, g, c_ft):
    """The maximum over u of (u/2)(z - g u/4) - c_ft sinh(u/2)^2, as in `print_prox`."""
    size = torch.abs(z)
    u, position, _, rest, delta = _newton(size, g, c_ft)
    quarter, turn = 0.25 * g, 0.5 * u
    pull, high = _upper(size - quarter * u), _upper(quarter)
    low = (size - pull - high * u - (quarter - high) * u) * turn
    low = low + (0.25 * rest + position * (delta * delta / 24.0)) * delta
@LINES@
    out = pull * turn - (@CONJUGATE@) + low
    out = torch.where(u < 1e-8, size * (size / (4.0 * c_ft + 2.0 * g)), out)
    return torch.where(torch.isinf(size), size, out)'''
