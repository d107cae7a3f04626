"""The channel averages of even rows (a = start = 0) by shared tables: monomials of the nodes, and how they combine.

There every balanced integrand is the density times a polynomial in (sinh u, cosh u, u) whose coefficients belong to
the row. So one matrix product of densities with tabulated monomials gives all averages. In units of the standard
deviation sqrt(V) a row is p = c_ft/sqrt(V) and q = (g/2)/sqrt(V); each sinh or cosh comes with a p, each u with a q.
"""

from __future__ import annotations

import sympy as sp

from numerics.codegen.nodes import Rounded
from numerics.codegen.print_numpy import NUMPY
from numerics.codegen.program import lower
from numerics.codegen.text import statements

__all__ = ["CLASSES", "MOMENTS", "coefficients", "print_channel_table"]

#: Outputs: averages and their derivatives in (log g, log s2).
MOMENTS = ("error", "dof", "slack", "error_g", "error_s2", "dof_g", "dof_s2")
#: What a scaled monomial is multiplied by, times s2 or not: 1, tau2/V, s2/V, tau2.
CLASSES = ("one", "gain", "rest", "tau2")
_S, _C = sp.symbols("S C", real=True)
_P, _Q, _GAIN, _REST = sp.symbols("p q gain rest", positive=True)


def coefficients() -> tuple[list[tuple[int, int, int]], dict[str, dict[tuple[int, int, int], sp.Expr]], sp.Expr]:
    """(monomials, coefficients, constant): exponents of (S, C, u), and by output the factor of each scaled monomial.

    A scaled monomial is p^(i+j) q^(k+1-j) S^i C^j u^k; `constant` is common to all, gain = tau2/V, rest = s2/V.
    """
    from derivations import scalar_channel as channel
    from derivations.channel_balance import balanced
    from derivations.symbols import V, c_ft, g, s2, shift, start, tau2, u, zeta

    inner, forms = channel.integrands(), balanced()
    dof, slack = inner["channel_dof"], inner["channel_slack"]
    integrands = {
        "error": forms["balanced_error"],
        "dof": dof,
        "slack": slack,
        "error_g": g * forms["balanced_error_g"],
        "error_s2": s2 * forms["balanced_error_s2"],
        "dof_g": g * channel.along_g(dof),
        "dof_s2": s2 * channel.along_s2(dof),
    }
    variance = tau2 + s2
    density = sp.exp(-(zeta**2) / (2 * variance))
    constant = slack / density * sp.sqrt(variance) * 2 / g
    even = {start: 0, zeta: c_ft * _S + g / 2 * u, shift: c_ft * _S}
    units = {c_ft: _P * sp.sqrt(V), g: 2 * _Q * sp.sqrt(V)}
    found: dict[str, dict[tuple[int, int, int], sp.Expr]] = {}
    for name, integrand in integrands.items():
        ratio = sp.cancel(integrand / density / constant * sp.sqrt(variance))
        ratio = ratio.subs(even).subs({sp.cosh(u): _C}).subs(units)
        ratio = sp.cancel(ratio.subs({tau2: _GAIN * V, s2: _REST * V}).subs(_GAIN, 1 - _REST))
        found[name] = {}
        for powers, factor in sp.Poly(ratio / sp.sqrt(V), _S, _C, u).terms():
            i, j, k = powers
            left = sp.simplify(factor / (_P ** (i + j) * _Q ** (k + 1 - j)))
            if left.free_symbols - {_REST, V}:
                raise ArithmeticError(
                    f"{name}: the factor {factor} of S^{i} C^{j} u^{k} is not a multiple of its units"
                )
            found[name][powers] = left
    monomials = sorted({powers for row in found.values() for powers in row}, key=lambda m: (-m[1], m))
    return monomials, found, constant


def _combination(monomials, found) -> tuple[tuple[sp.Expr, ...], dict[sp.Symbol, str]]:
    """The outputs as expressions in the sums, p, q, s2, tau2."""
    from derivations.symbols import V, s2, tau2

    sums = sp.symbols(f"m:{len(monomials)}", real=True)
    scaled = {
        (i, j, k): Rounded(_P ** (i + j) * _Q ** (k + 1 - j) * value)
        for (i, j, k), value in zip(monomials, sums, strict=True)
    }
    one_v = Rounded(s2 + tau2)
    gain, rest = Rounded(tau2 / one_v), Rounded(s2 / one_v)
    outputs = []
    for row in found.values():
        groups: dict[sp.Expr, sp.Expr] = {}
        for powers, factor in row.items():
            # a factor is V or 1 times a polynomial in rest, gain = 1 - rest, written with both so that nothing cancels
            weight = _positive(factor, V, gain, rest, s2, tau2)
            for each, number in weight.items():
                groups[each] = groups.get(each, sp.Integer(0)) + number * scaled[powers]
        outputs.append(sp.Add(*(each * total for each, total in groups.items())))
    arguments = dict(zip((*sums, _P, _Q, s2, tau2), (*map(str, sums), "p", "q", "s2", "tau2"), strict=True))
    return tuple(outputs), arguments


def _positive(factor, variance, gain, rest, s2, tau2) -> dict[sp.Expr, sp.Expr]:
    """A linear polynomial in rest times 1, V or rest V, as {weight: number} with weights among 1, gain, s2, ..."""
    absolute = factor.has(variance)
    inner = sp.expand(factor / variance) if absolute else factor
    twice = absolute and sp.degree(inner, _REST) == 2
    inner = sp.expand(inner / _REST) if twice else inner
    at_zero, at_one = inner.subs(_REST, 0), inner.subs(_REST, 1)  # linear: gain * f(0) + rest * f(1)
    if sp.expand(inner - (1 - _REST) * at_zero - _REST * at_one) != 0:
        raise ArithmeticError(f"{factor} is not linear in s2/V")
    if twice:
        pair = {s2 * gain: at_zero, s2 * rest: at_one}
    elif absolute:
        pair = {tau2: at_zero, s2: at_one}
    elif at_zero == at_one:
        pair = {sp.Integer(1): at_zero}
    else:
        pair = {gain: at_zero, rest: at_one}
    return {weight: number for weight, number in pair.items() if number != 0}


def _matrix(monomials, found) -> list[tuple[int, int, sp.Expr]]:
    """Nonzero entries (row, column, value): outputs without and with a factor s2, by class and monomial."""
    variance, gain, rest, s2, tau2 = sp.symbols("V G R s2 tau2", positive=True)
    from derivations.symbols import V

    place = {
        sp.Integer(1): (0, 0),
        gain: (0, 1),
        rest: (0, 2),
        tau2: (0, 3),
        s2: (1, 0),
        s2 * gain: (1, 1),
        s2 * rest: (1, 2),
    }
    entries = []
    for row, factors in enumerate(found.values()):
        for powers, factor in factors.items():
            for weight, number in _positive(factor.subs(V, variance), variance, gain, rest, s2, tau2).items():
                twice, column = place[weight]
                entries.append((row + twice * len(MOMENTS), column * len(monomials) + monomials.index(powers), number))
    return entries


def print_channel_table() -> str:
    """The module `numerics.kernels.channel_table`."""
    monomials, found, constant = coefficients()
    outputs, arguments = _combination(monomials, found)
    lines, results = statements(lower(outputs, arguments), NUMPY, ("np",))
    sums = [name for name in arguments.values() if name.startswith("m")]
    body = "\n".join(f"    {line}" for line in lines)
    returned = "\n".join(f"        {r},  # {name}" for r, name in zip(results, MOMENTS, strict=True))
    listed = ", ".join(map(repr, monomials))
    powers = ", ".join(repr((float(i + j), float(k + 1 - j))) for i, j, k in monomials)
    shape = (2 * len(MOMENTS), len(CLASSES) * len(monomials))
    entries = "\n".join(
        f"_MATRIX[{row}, {column}] = {NUMPY.constant(value)}"
        for row, column, value in sorted(_matrix(monomials, found), key=lambda e: e[:2])
    )
    half = len(monomials) // 2
    if monomials[:half] != [(i, j + 1, k) for i, j, k in monomials[half:]]:
        raise ArithmeticError(f"the monomials {monomials} do not come in pairs with and without cosh u")
    columns = "\n".join(_product(half + n, m) for n, m in enumerate(monomials[half:]) if any(m))
    return f'''"""Channel averages by shared tables.  Generated by `python -m numerics.codegen --write`; do not edit.

For even rows: with a = start = 0 and V = tau2 + s2, every average of `channel_moments` is a sum over nodes u of
exp(-(p sinh u + q u)^2/2) times monomials sinh(u)^i cosh(u)^j u^k, p = c_ft/sqrt(V) and q = (g/2)/sqrt(V).

Source:    derivations.scalar_channel, results balanced_error, balanced_error_g, balanced_error_s2, channel_dof,
           channel_slack, channel_dof_g, channel_dof_s2
Generator: numerics.codegen, backend numpy
"""

import numpy as np

#: Exponents (i, j, k) of the tabulated monomials.
MONOMIALS = ({listed})
#: Powers of (p, q) that scale each monomial.
_POWERS = np.array([{powers}])
#: The outputs of `combine`, first without and then with a factor s2, from (one, gain, rest, tau2) x monomials.
_MATRIX = np.zeros({shape})
{entries}


def columns(u, S, weight):
    """The monomials at nodes u, S = sinh u, times quadrature weight and normalisation: shape (monomials, *nodes)."""
    C = np.cosh(u)
    out = np.empty(({len(monomials)}, *u.shape))
    out[{half}:] = {NUMPY.constant(constant)} * weight
{columns}
    np.multiply(out[{half}:], C, out=out[:{half}])
    return out


def combine(sums, p, q, s2, tau2):
    """(error, dof, slack, error_g, error_s2, dof_g, dof_s2) of rows; the last four in (log g, log s2).

    sums: the sums over the nodes, shape (monomials, rows); everything else has shape (rows,).
    """
    {", ".join(sums)} = sums
{body}
    return (
{returned}
    )


def average(sums, log_scales, s2, weights):
    """`combine` summed over components: shape (outputs, settings), to about 1e-14.

    sums: shape (monomials, components, settings); log_scales: (2, components, settings), of p and q; s2: (settings,);
    weights: (4, components, settings), the components' weights times 1, tau2/V, s2/V, tau2.
    """
    powers = _POWERS @ log_scales.reshape(2, -1)
    scaled = np.exp(powers, out=powers).reshape(sums.shape)
    scaled *= sums
    total = np.einsum("wks,mks->wms", weights, scaled).reshape({shape[1]}, -1)
    plain = _MATRIX @ total
    return plain[:{len(MOMENTS)}] + s2 * plain[{len(MOMENTS)}:]
'''


def _product(row: int, powers: tuple[int, int, int]) -> str:
    """The line that multiplies a row of the table by sinh(u)^i u^k."""
    factors = [name for name, power in zip("Su", (powers[0], powers[2]), strict=True) for _ in range(power)]
    return f"    out[{row}] *= {' * '.join(factors)}"
