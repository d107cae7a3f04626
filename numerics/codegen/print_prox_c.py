"""The proximal map in C: the algorithm of `print_prox` for a block of elements at a time, so that it vectorises.

On the way to the root no library is called: logarithm and exponential are polynomials between powers of two, good to a
millionth, which is all that Halley's steps have to leave to the last evaluation.  Elements for which anything is out of
the ordinary (a ratio beyond 1e150, a result that is no number, a last correction that is not small) are solved one by
one.
"""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from numerics.codegen.formulas import Formula
from numerics.codegen.implicit import ENVELOPE, conjugate, odd_series, state, wide_state
from numerics.codegen.passes import Trace
from numerics.codegen.print_c import C, array_program, print_regions
from numerics.codegen.print_c_loops import print_loop
from numerics.codegen.program import lower
from numerics.codegen.text import decimal, filled, statements

__all__ = ["print_c_function", "print_c_solver"]

_SCRATCH = ("x", "u", "w")


def print_c_solver() -> str:
    """`ptft_roots(m, z, g, c_ft, x, u, w)`: the roots of a block, with what `print_prox` calls u and w there."""
    logarithm = [sp.Rational((-1) ** n, n + 1) for n in range(7)]  # an odd number of terms: not below it
    parts = {
        "@ODD@": _series("square", odd_series(10)),
        "@COARSE_ODD@": _series("square", odd_series(4)),
        "@EXP@": _series("rest", [1 / sp.factorial(n) for n in range(8)]),
        "@LOG@": _series("part", logarithm),
        "@LOG2@": decimal(sp.log(2)),
        "@PER_LOG2@": decimal(1 / sp.log(2)),
        "@LOG_MIDDLE@": decimal(sp.log(sp.Rational(3, 2))),
    }
    for mark, (form, names), exp, at, indent in (
        ("WIDE", wide_state(), "", "", 4),
        ("COARSE", state(), "ptft_coarse_exp({0})", "[i]", 12),
        ("FINE", state(), "e[i]", "[i]", 8),
    ):
        lines, values = _lines(form, names, {"exp": exp} if exp else {}, at, indent)
        parts |= {f"@{mark}@": lines, f"@{mark}_POSITION@": values[0], f"@{mark}_SLOPE@": values[1]}
    return filled(C_SOLVER, parts)


def _lines(form, names: dict[sp.Symbol, str], calls: dict[str, str], at: str, indent: int) -> tuple[str, list[str]]:
    """The program of `form` as indented lines and its results; `calls` replace functions, `at` follows a name."""
    program = lower(form, {symbol: name + at for symbol, name in names.items()})
    lines, values = statements(program, replace(C, calls=C.calls | calls))
    return "\n".join(" " * indent + line for line in lines), values


def _series(x: str, terms: list[sp.Expr]) -> str:
    return C.polynomial(x, [decimal(term) for term in terms])


def print_c_function(row: Formula, trace: Trace) -> str:
    """A kernel of the root, for arrays and for one value, which is a block of one."""
    name, arguments = row.name, ["z", "g", "c_ft"]
    signature = f"void ptft_{name}_array(size_t n, const double *z, const double *g, const double *c_ft, double *out)"
    if name == ENVELOPE:
        array = _envelope(signature)
    else:
        form = trace.at_root or trace
        program, repairs = array_program(f"{name}_at", form)
        opening = f"ptft_roots(m, {', '.join([*arguments, *_SCRATCH])});"
        guard = "!(c_ft[i] > 0 && g[i] >= 0)"
        array = print_loop(signature, arguments, program, ["out"], C, guard, repairs, opening, _SCRATCH)
        array = "\n\n".join([*print_regions(f"{name}_at", form, form.regions if trace.at_root else ()), array])
    return f"""{array}

double ptft_{name}(double z, double g, double c_ft)
{{
    double out;
    ptft_{name}_array(1, &z, &g, &c_ft, &out);
    return out;
}}"""


def _envelope(signature: str) -> str:
    many, (value,) = _lines(*conjugate(), {"sinh": "ptft_half_sinh(e[i], {0})"}, "[i]", 12)
    one, (single,) = _lines(*conjugate(), {"sinh": "ptft_sinh({0})"}, "", 4)
    parts = {"@SIGNATURE@": signature, "@ODD@": _series("square", odd_series(10))}
    parts |= {"@MANY@": many, "@DUAL@": value, "@ONE@": one, "@SINGLE@": single}
    return filled(C_ENVELOPE, parts)


C_SOLVER = """/* log(y) for y >= 1, too large by at most 3e-5: a polynomial about 3/2 between powers of two */
static inline double ptft_coarse_log(double y)
{
    uint64_t bits, power;
    memcpy(&bits, &y, sizeof bits);
    power = (bits >> 52) | 0x4330000000000000u; /* 2^52 + the exponent */
    bits = (bits & 0xfffffffffffffu) | 0x3ff0000000000000u;
    double mantissa, exponent;
    memcpy(&mantissa, &bits, sizeof bits);
    memcpy(&exponent, &power, sizeof power);
    const double part = (mantissa - 1.5) * (2.0 / 3.0);
    return (exponent - 4503599627371519.0) * @LOG2@ + (@LOG_MIDDLE@ + part * @LOG@);
}

/* exp(u) to 1e-8, for 0 <= u < 700 */
static inline double ptft_coarse_exp(double u)
{
    const double shifted = u * @PER_LOG2@ + 6755399441055744.0; /* rounds to a whole number */
    const double rest = u - (shifted - 6755399441055744.0) * @LOG2@;
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof bits);
    return power * @EXP@;
}

static inline void ptft_state(double u, double c_ft, double *position, double *slope)
{
@WIDE@
    *position = @WIDE_POSITION@;
    *slope = @WIDE_SLOPE@;
}

/* sinh(u) for u >= 0, by its series where a library may be two ulp off */
static inline double ptft_sinh(double u)
{
    const double square = u * u;
    return u < 1.5 ? u + u * (square * @ODD@) : sinh(u);
}

/* (g/2) u + c_ft sinh(u) - size is what is left of u of 26 bits, whose product with the halves of g/2 is exact */
static inline double ptft_rest(double size, double half, double u, double position)
{
    const double high = ptft_upper(half);
    return size - high * u - (half - high) * u - position;
}

/* what u falls short by: position (cosh(delta) - 1) + slope sinh(delta) + (g/2) delta = rest */
static inline double ptft_delta(double rest, double half, double position, double slope)
{
    const double along = slope + half;
    double delta = rest / along;
    for (int step = 0; step < 2; ++step) {
        const double square = delta * delta;
        delta = (rest - position * (0.5 * square) - slope * (delta * square / 6.0)) / along;
    }
    return delta;
}

/* u of 26 bits: size is c_ft sinh(u) + (g/2) u + rest, the root u + delta; for one element, of any size */
static double ptft_newton(double size, double g, double c_ft, double *position, double *slope, double *rest,
                          double *delta)
{
    const double half = 0.5 * g;
    double u = ptft_min(2.0 * potential_derivative_value(size, c_ft), size / (c_ft + half));
    for (int step = 0; step < 12; ++step) {
        ptft_state(u, c_ft, position, slope);
        const double along = *slope + half, newton = (*position + half * u - size) / along;
        const double move = newton / (1.0 - 0.5 * newton * (*position / along)); /* Halley's step, from above */
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
    *rest = ptft_rest(size, half, u, *position);
    *delta = ptft_delta(*rest, half, *position, *slope);
    return u;
}

/* The same for a block of m elements; e is exp(u), or NaN where an element was solved by itself. */
static void ptft_nodes(size_t m, const double *z, const double *g, const double *c_ft, double *u, double *e,
                       double *position, double *slope, double *rest, double *delta)
{
    double move[PTFT_BLOCK];
    for (size_t i = 0; i < m; ++i) {
        const double size = fabs(z[i]), ratio = size / c_ft[i];
        u[i] = ptft_min(ptft_coarse_log(ratio + sqrt(1.0 + ratio * ratio)), size / (c_ft[i] + 0.5 * g[i]));
        move[i] = 1.0;
    }
    for (int step = 0; step < 12; ++step) {
        for (size_t i = 0; i < m; ++i) {
@COARSE@
            const double half = 0.5 * g[i], square = u[i] * u[i], small = u[i] + u[i] * (square * @COARSE_ODD@);
            const double x = u[i] < 1.0 ? c_ft[i] * small : @COARSE_POSITION@;
            const double along = 1.0 / (@COARSE_SLOPE@ + half);
            const double newton = (x + half * u[i] - fabs(z[i])) * along;
            const double halley = newton / (1.0 - 0.5 * newton * (x * along));
            move[i] = fabs(move[i]) > 0.08 ? halley : 0.0; /* an element stops by itself, whatever its neighbours do */
            u[i] -= move[i];
        }
        int far = 0;
        for (size_t i = 0; i < m; ++i) far |= fabs(move[i]) > 0.08;
        if (!far) break;
    }
    for (size_t i = 0; i < m; ++i) u[i] = ptft_upper(u[i]);
    for (size_t i = 0; i < m; ++i) e[i] = exp(u[i]);
    for (size_t i = 0; i < m; ++i) {
@FINE@
        const double half = 0.5 * g[i], square = u[i] * u[i], small = u[i] + u[i] * (square * @ODD@);
        position[i] = u[i] < 1.5 ? c_ft[i] * small : @FINE_POSITION@;
        slope[i] = @FINE_SLOPE@;
        rest[i] = ptft_rest(fabs(z[i]), half, u[i], position[i]);
        delta[i] = ptft_delta(rest[i], half, position[i], slope[i]);
    }
    for (size_t i = 0; i < m; ++i) {
        const double size = fabs(z[i]), most = 1e-4 * ptft_min(u[i], 1.0);
        if (size < 1e150 * c_ft[i] && fabs(delta[i]) <= most) continue;
        u[i] = ptft_newton(size, g[i], c_ft[i], position + i, slope + i, rest + i, delta + i);
        e[i] = NAN;
    }
}

/* x = c_ft sinh(u) the root, u, w = c_ft cosh(u) */
static inline void ptft_roots(size_t m, const double *z, const double *g, const double *c_ft, double *x, double *u,
                              double *w)
{
    double e[PTFT_BLOCK], position[PTFT_BLOCK], slope[PTFT_BLOCK], rest[PTFT_BLOCK], delta[PTFT_BLOCK];
    ptft_nodes(m, z, g, c_ft, u, e, position, slope, rest, delta);
    for (size_t i = 0; i < m; ++i) {
        const double square = delta[i] * delta[i], odd = delta[i] + delta[i] * square / 6.0;
        x[i] = position[i] + (position[i] * (0.5 * square) + slope[i] * odd);
        w[i] = slope[i] + (slope[i] * (0.5 * square) + position[i] * odd);
        e[i] = u[i];
        u[i] = u[i] + delta[i];
    }
    for (size_t i = 0; i < m; ++i) {
        const double size = fabs(z[i]), total = c_ft[i] + 0.5 * g[i];
        if (e[i] < 1e-8) { /* sinh(u) = u */
            const double share = c_ft[i] / total;
            x[i] = share > 1e-290 ? size * share : size * c_ft[i] / total;
            u[i] = size / total;
        }
        if (g[i] == 0) x[i] = size;
        if (isinf(size)) x[i] = u[i] = size;
        if (isinf(size) || isinf(c_ft[i])) w[i] = INFINITY;
        x[i] = copysign(x[i], z[i]);
        u[i] = copysign(u[i], z[i]);
    }
}"""

C_ENVELOPE = """/* sinh(t) from e = exp(2 t) */
static inline double ptft_half_sinh(double e, double t)
{
    const double square = t * t, up = sqrt(e);
    return t < 1.0 ? t + t * (square * @ODD@) : 0.5 * (up - 1.0 / up);
}

static double ptft_conjugate(double u, double c_ft)
{
@ONE@
    return @SINGLE@;
}

/* the maximum over u of (u/2)(z - g u/4) - c_ft sinh(u/2)^2 */
@SIGNATURE@
{
    double u[PTFT_BLOCK], e[PTFT_BLOCK], position[PTFT_BLOCK], slope[PTFT_BLOCK], rest[PTFT_BLOCK], delta[PTFT_BLOCK];
    double product[PTFT_BLOCK], low[PTFT_BLOCK], dual[PTFT_BLOCK];
    while (n > 0) {
        const size_t m = n < PTFT_BLOCK ? n : PTFT_BLOCK;
        ptft_nodes(m, z, g, c_ft, u, e, position, slope, rest, delta);
        for (size_t i = 0; i < m; ++i) {
            const double size = fabs(z[i]), quarter = 0.25 * g[i], turn = 0.5 * u[i];
            const double pull = ptft_upper(size - quarter * u[i]), high = ptft_upper(quarter);
            low[i] = (size - pull - high * u[i] - (quarter - high) * u[i]) * turn;
            low[i] += (0.25 * rest[i] + position[i] * (delta[i] * delta[i] / 24.0)) * delta[i];
            product[i] = pull * turn;
@MANY@
            dual[i] = @DUAL@;
        }
        for (size_t i = 0; i < m; ++i) {
            const double size = fabs(z[i]);
            if (e[i] != e[i]) dual[i] = ptft_conjugate(u[i], c_ft[i]);
            double value = product[i] - dual[i] + low[i];
            if (u[i] < 1e-8) value = size * (size / (4.0 * c_ft[i] + 2.0 * g[i]));
            if (isinf(size)) value = size;
            out[i] = c_ft[i] > 0 && g[i] >= 0 ? value : NAN;
        }
        z += m;
        g += m;
        c_ft += m;
        out += m;
        n -= m;
    }
}"""
