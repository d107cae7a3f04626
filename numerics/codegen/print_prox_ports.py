"""The proximal map in torch and in C: the algorithm of `print_prox`, written in the two other languages.

In torch the root itself is computed without a graph; two Newton steps that start on it then carry the derivatives,
because each step that starts on a root doubles the order to which the implicit function is reproduced.
"""

from __future__ import annotations

import sympy as sp

from numerics.codegen.formulas import Formula
from numerics.codegen.implicit import state
from numerics.codegen.passes import ROOTS, Trace
from numerics.codegen.print_c import C, print_value
from numerics.codegen.print_torch import TORCH, prepare, print_core, selection
from numerics.codegen.program import lower
from numerics.codegen.rules import rewrite
from numerics.codegen.text import Dialect, statements

__all__ = ["print_c_function", "print_c_solver", "print_torch_function", "print_torch_solver"]


def _state_lines(dialect: Dialect) -> tuple[list[str], list[str]]:
    expressions, arguments = state()
    return statements(lower(expressions, arguments), dialect)


def print_torch_solver() -> str:
    """`_root(z, g, c_ft)`: xhat, differentiable twice in all three arguments."""
    from derivations import derive
    from derivations.symbols import c_ft, g, x

    lines, (position, slope) = _state_lines(TORCH)
    stationarity = derive("scalar_channel").results["stationarity"]
    names = {x: "x", g: "g", c_ft: "c_ft"}
    expressions = tuple(rewrite(e, ROOTS) for e in (stationarity, sp.diff(stationarity, x)))
    both, (value, along) = statements(lower(expressions, names), TORCH)
    text = TORCH_SOLVER.replace("@STATE@", "\n".join(f"    {line}" for line in [*lines, f"return {position}, {slope}"]))
    return text.replace("@STEP@", "\n".join(f"    {line}" for line in [*both, f"return x - ({value} - z) / ({along})"]))


def print_torch_function(row: Formula, trace: Trace, doc: str) -> str:
    """A kernel of the root: solve, then the expression in x."""
    inner = ", ".join(trace.arguments.values())
    parts = [print_core(f"_{row.name}_{r.name}", inner, r.expression, trace) for r in trace.smooth_regions]
    parts.append(print_core(f"_{row.name}", inner, trace.expression, trace))
    body = [f'"""{doc}"""', prepare(("z", "g", "c_ft")), "x = _root(z, g, c_ft)"]
    body += selection(row.name, inner, trace) if trace.smooth_regions else [f"out = _{row.name}({inner})"]
    body += ["out = torch.where((c_ft > 0) & (g >= 0), out, torch.nan)", "return out.to(dtype)"]
    parts.append(f"def {row.name}(z, g, c_ft):\n" + "\n".join(f"    {line}" for line in body))
    return "\n\n\n".join(parts)


def print_c_solver() -> str:
    """`ptft_root(z, g, c_ft)`: xhat."""
    lines, (position, slope) = _state_lines(C)
    body = [*lines, f"*position = {position};", f"*slope = {slope};"]
    return C_SOLVER.replace("@STATE@", "\n".join(f"    {line}" for line in body))


def print_c_function(row: Formula, trace: Trace) -> str:
    """A kernel of the root, for one value and for arrays."""
    inner = print_value(f"{row.name}_at", trace)
    formal, name = "double z, double g, double c_ft", row.name
    return f"""{inner}

static inline double {name}_value({formal})
{{
    if (c_ft <= 0 || g < 0) return NAN;
    return {name}_at_value(ptft_root(z, g, c_ft), g, c_ft);
}}

double ptft_{name}({formal})
{{
    return {name}_value(z, g, c_ft);
}}

void ptft_{name}_array(size_t n, const double *z, const double *g, const double *c_ft, double *out)
{{
    for (size_t i = 0; i < n; ++i) out[i] = {name}_value(z[i], g[i], c_ft[i]);
}}"""


TORCH_SOLVER = '''def _state(u, c_ft):
@STATE@


def _solve(z, g, c_ft):
    """xhat to the last digits, without a graph: Newton from above, the last correction carried beside the root."""
    size, half = torch.abs(z), 0.5 * g
    u = torch.minimum(2.0 * potential_derivative(size, c_ft), size / (c_ft + half))
    for _ in range(12):
        position, slope = _state(u, c_ft)
        u = u - (position + half * u - size) / (slope + half)
    u = _upper(u)
    position, slope = _state(u, c_ft)
    high = _upper(half)
    left = size - high * u - (half - high) * u - position
    delta = left / (slope + half)
    for _ in range(2):
        square = delta * delta
        delta = (left - position * (0.5 * square) - slope * (delta * square / 6.0)) / (slope + half)
    square = delta * delta
    out = position + (position * (0.5 * square) + slope * (delta + delta * square / 6.0))
    share = c_ft / (c_ft + half)
    linear = torch.where(share > 1e-290, size * share, size / (c_ft + half) * c_ft)
    out = torch.where((u < 1e-8) | (half == 0.0), linear, out)
    out = torch.where(torch.isinf(size), size, out)
    return torch.copysign(out, z)


def _step(x, z, g, c_ft):
@STEP@


def _root(z, g, c_ft):
    x = _solve(z.detach(), g.detach(), c_ft.detach())
    fine = torch.abs(x) < 1e150 * c_ft  # beyond, the graph ends here: the ratio's square overflows
    safe, *others = _keep(fine, x, z, g, c_ft)
    moved = _step(_step(safe, *others), *others)
    return x + torch.where(fine, moved - moved.detach(), 0.0)
'''

C_SOLVER = """static inline void ptft_state(double u, double c_ft, double *position, double *slope)
{
@STATE@
}

static double ptft_root(double z, double g, double c_ft)
{
    const double size = fabs(z), half = 0.5 * g, total = c_ft + half;
    if (half == 0 || isinf(size)) return z;
    double u = fmin(2.0 * potential_derivative_value(size, c_ft), size / total), position, slope;
    for (int step = 0; step < 12; ++step) {
        ptft_state(u, c_ft, &position, &slope);
        const double move = (position + half * u - size) / (slope + half);
        u -= move;
        if (!(fabs(move) > 1e-9 * u && u > 1e-9)) break;
    }
    if (u < 1e-8) {
        const double share = c_ft / total;
        return copysign(share > 1e-290 ? size * share : size / total * c_ft, z);
    }
    u = ptft_upper(u);
    ptft_state(u, c_ft, &position, &slope);
    const double high = ptft_upper(half);
    const double left = size - high * u - (half - high) * u - position;
    double delta = left / (slope + half);
    for (int step = 0; step < 2; ++step) {
        const double square = delta * delta;
        delta = (left - position * (0.5 * square) - slope * (delta * square / 6.0)) / (slope + half);
    }
    const double square = delta * delta;
    return copysign(position + (position * (0.5 * square) + slope * (delta + delta * square / 6.0)), z);
}"""
