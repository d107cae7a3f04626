"""The proximal map in torch and in C: the algorithm of `print_prox`, written in the two other languages.

In torch the root itself is computed without a graph; two Newton steps that start on it then carry the derivatives,
because each step that starts on a root doubles the order to which the implicit function is reproduced.
"""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from numerics.codegen.formulas import Formula
from numerics.codegen.implicit import conjugate, state
from numerics.codegen.passes import ROOTS, Trace
from numerics.codegen.print_c import C, print_value
from numerics.codegen.print_torch import TORCH, prepare, print_core, selection
from numerics.codegen.program import lower
from numerics.codegen.rules import rewrite
from numerics.codegen.text import Dialect, decimal, statements

__all__ = ["print_c_function", "print_c_solver", "print_torch_function", "print_torch_solver"]


def _state_lines(dialect: Dialect) -> tuple[list[str], list[str]]:
    expressions, arguments = state()
    return statements(lower(expressions, arguments), dialect)


def print_torch_solver() -> str:
    """`_solve(z, g, c_ft)`: xhat and u; `_attached` makes xhat differentiable twice in all three arguments."""
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
        lines = "\n".join(f"    {line}" for line in [*selection(at, names, known), "return out"])
        parts.append(f"def _{at}_root({names}):\n{lines}")
        body.append(f"out = _pinned(_{at}_root(*solved, g.detach(), c_ft.detach()), out)")
    elif row.name == ENVELOPE:
        parts.append(_conjugate_in(TORCH_ENVELOPE, TORCH))
        body.append("out = _pinned(_envelope(z.detach(), g.detach(), c_ft.detach()), out)")
    body += ["out = torch.where((c_ft > 0) & (g >= 0), out, torch.nan)", "return out.to(dtype)"]
    parts.append(f"def {row.name}(z, g, c_ft):\n" + "\n".join(f"    {line}" for line in body))
    return "\n\n\n".join(parts)


def _conjugate_in(text: str, dialect: Dialect) -> str:
    """The text with the expression of the dual's own term in it."""
    from derivations.symbols import c_ft, u

    lines, (value,) = statements(lower(conjugate(), {u: "u", c_ft: "c_ft"}), dialect)
    return text.replace("@LINES@", "\n".join(f"    {line}" for line in lines)).replace("@CONJUGATE@", value)


def print_c_solver() -> str:
    """`ptft_newton` and `ptft_solve(z, g, c_ft, &u)`, which is xhat."""
    lines, (position, slope) = _state_lines(C)
    body = [*lines, f"*position = {position};", f"*slope = {slope};"]
    text = C_SOLVER.replace("@STATE@", "\n".join(f"    {line}" for line in body))
    odd = C.polynomial("square", [decimal(1 / sp.factorial(2 * n + 3)) for n in range(8)])
    return text.replace("@ODD@", odd)


def print_c_function(row: Formula, trace: Trace) -> str:
    """A kernel of the root, for one value and for arrays."""
    form = trace.at_root or trace
    actual = ", ".join(form.arguments.values())
    if row.name == ENVELOPE:
        precise = replace(C, calls=C.calls | {"sinh": "ptft_sinh({0})"})
        inner = _conjugate_in(C_ENVELOPE, precise)
        body = "    return ptft_envelope(z, g, c_ft);"
    else:
        inner = print_value(f"{row.name}_at", form)
        unused = "" if "u" in form.arguments.values() else "\n    (void)u;"
        body = f"    double u;\n    const double x = ptft_solve(z, g, c_ft, &u);{unused}"
        body += f"\n    return {row.name}_at_value({actual});"
    formal, name = "double z, double g, double c_ft", row.name
    return f"""{inner}

static inline double {name}_value({formal})
{{
    if (c_ft <= 0 || g < 0) return NAN;
{body}
}}

double ptft_{name}({formal})
{{
    return {name}_value(z, g, c_ft);
}}

void ptft_{name}_array(size_t n, const double *z, const double *g, const double *c_ft, double *out)
{{
    for (size_t i = 0; i < n; ++i) out[i] = {name}_value(z[i], g[i], c_ft[i]);
}}"""


#: The kernel that is the dual's maximum, not a value at the root.
ENVELOPE = "moreau_envelope"

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
    """(xhat, u) to the last digits, c_ft sinh(u) = xhat, without a graph: the last correction is carried beside u."""
    size, half = torch.abs(z), 0.5 * g
    node, position, slope, _, delta = _newton(size, g, c_ft)
    square = delta * delta
    out = position + (position * (0.5 * square) + slope * (delta + delta * square / 6.0))
    share = c_ft / (c_ft + half)
    linear = torch.where(share > 1e-290, size * share, size * c_ft / (c_ft + half))
    small = node < 1e-8
    out = torch.where(small | (half == 0.0), linear, out)
    u = torch.where(small, size / (c_ft + half), node + delta)
    out, u = (torch.where(torch.isinf(size), size, v) for v in (out, u))
    return torch.copysign(out, z), torch.copysign(u, z)


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

C_SOLVER = """static inline void ptft_state(double u, double c_ft, double *position, double *slope)
{
@STATE@
}

/* sinh(u) for u >= 0, by its series where a library may be two ulp off */
static inline double ptft_sinh(double u)
{
    const double square = u * u;
    return u < 1.0 ? u + u * (square * @ODD@) : sinh(u);
}

/* u has 26 bits, |z| = size is c_ft sinh(u) + (g/2) u + rest, the root u + delta */
static inline double ptft_newton(double size, double g, double c_ft, double *position, double *slope, double *rest,
                                 double *delta)
{
    const double half = 0.5 * g;
    double u = fmin(2.0 * potential_derivative_value(size, c_ft), size / (c_ft + half));
    for (int step = 0; step < 12; ++step) {
        ptft_state(u, c_ft, position, slope);
        const double along = 1.0 / (*slope + half), newton = (*position + half * u - size) * along;
        const double move = newton / (1.0 - 0.5 * newton * (*position * along)); /* Halley's step, from above */
        u -= move;
        if (!(fabs(move) > 0.08)) break; /* what it leaves is below a sixth of its cube */
    }
    u = ptft_upper(u);
    if (u > 700.0) {
        ptft_state(u, c_ft, position, slope);
    } else {
        *position = c_ft * ptft_sinh(u);
        *slope = c_ft * cosh(u);
    }
    const double high = ptft_upper(half);
    *rest = size - high * u - (half - high) * u - *position;
    *delta = *rest / (*slope + half);
    for (int step = 0; step < 2; ++step) {
        const double square = *delta * *delta;
        *delta = (*rest - *position * (0.5 * square) - *slope * (*delta * square / 6.0)) / (*slope + half);
    }
    return u;
}

/* xhat = c_ft sinh(u) */
static inline double ptft_solve(double z, double g, double c_ft, double *u)
{
    const double size = fabs(z), total = c_ft + 0.5 * g;
    *u = z;
    if (isinf(size)) return z;
    double position, slope, rest, delta, x;
    const double node = ptft_newton(size, g, c_ft, &position, &slope, &rest, &delta);
    *u = copysign(node < 1e-8 ? size / total : node + delta, z);
    if (g == 0) return z;
    if (node < 1e-8) {
        const double share = c_ft / total;
        x = share > 1e-290 ? size * share : size * c_ft / total;
    } else {
        const double square = delta * delta;
        x = position + (position * (0.5 * square) + slope * (delta + delta * square / 6.0));
    }
    return copysign(x, z);
}"""

C_ENVELOPE = """/* the maximum over u of (u/2)(z - g u/4) - c_ft sinh(u/2)^2 */
static inline double ptft_envelope(double z, double g, double c_ft)
{
    const double size = fabs(z), quarter = 0.25 * g;
    if (isinf(size)) return size;
    double position, slope, rest, delta;
    const double u = ptft_newton(size, g, c_ft, &position, &slope, &rest, &delta);
    if (u < 1e-8) return size * (size / (4.0 * c_ft + 2.0 * g));
    const double turn = 0.5 * u, pull = ptft_upper(size - quarter * u), high = ptft_upper(quarter);
    double low = (size - pull - high * u - (quarter - high) * u) * turn;
    low += (0.25 * rest + position * (delta * delta / 24.0)) * delta;
@LINES@
    return pull * turn - (@CONJUGATE@) + low;
}"""
