"""How the saddle point moves: exact derivatives by the implicit function theorem.

The integrals over u are differentiated at fixed u. A parameter then acts through what it says explicitly, and through
the two quantities that hide it: zeta = z(u) - a and d = c_ft sinh(u) - a.
"""

from __future__ import annotations

import sympy as sp

from derivations.channel import channel_offset, channel_shift, integrands, posterior_residual
from derivations.fine_tuning import effective_scale
from derivations.ledger.step import Derivation, Step, both, eq
from derivations.symbols import (
    FORCING,
    JACOBIAN,
    MOVING,
    a,
    beta_pt,
    c,
    c_ft,
    delta,
    g,
    gamma,
    lam,
    s2,
    shift,
    start,
    t,
    tau2,
    u,
    u0,
    zeta,
)

#: parameter -> (d zeta, d d) at fixed u
HIDDEN = {
    c_ft: (sp.sinh(u), sp.sinh(u)),
    a: (sp.Integer(-1), sp.Integer(-1)),
    tau2: (sp.Integer(0), sp.Integer(0)),
    start: (-g / 2, sp.Integer(0)),
    g: ((u - start) / 2, sp.Integer(0)),
    s2: (sp.Integer(0), sp.Integer(0)),
}
_NAMES = {c_ft: "c", a: "a", tau2: "tau2", start: "start", g: "g", s2: "s2"}


def along(integrand: sp.Expr, parameter: sp.Symbol) -> sp.Expr:
    """d integrand / d parameter at fixed u, in (u, zeta, d)."""
    by_zeta, by_shift = HIDDEN[parameter]
    return sp.diff(integrand, parameter) + by_zeta * sp.diff(integrand, zeta) + by_shift * sp.diff(integrand, shift)


def _written_out(expr: sp.Expr) -> sp.Expr:
    return expr.subs({zeta: channel_offset(), shift: channel_shift(), u: u0 + delta}, simultaneous=True)


def scale_derivatives() -> dict[str, sp.Expr]:
    """Derivatives of c_FT, written so that nothing cancels for beta_pt >> c."""
    root = sp.sqrt(1 + (beta_pt / c) ** 2)
    return {
        "beta": (1 + lam) * beta_pt / (c * root),
        "c": (1 + lam) * (1 + 1 / root),
        "lam": c * (1 + root),
        "gamma": gamma,
    }


def results() -> dict[str, sp.Expr]:
    """Derivative integrands in (delta, u0, start, c_ft, g, s2, tau2), and the implicit derivative of log s2."""
    inner = integrands()
    formulas = {
        f"channel_{name}_{_NAMES[p]}": _written_out(along(inner[f"channel_{name}"], p))
        for name in ("error", "dof")
        for p in (c_ft, a, tau2, start)
    }
    formulas |= {f"c_ft_{name}": expr for name, expr in scale_derivatives().items()}
    formulas |= {f"channel_mass_{_NAMES[p]}": _written_out(along(inner["channel_mass"], p)) for p in (c_ft, g, s2)}
    return formulas


def _lemma() -> Step:
    return Step(
        "sum to product",
        "identity",
        eq(sp.sinh(u0 + delta), sp.sinh(u0) + 2 * sp.cosh(u0 + delta / 2) * sp.sinh(delta / 2)),
        "The difference of two hyperbolic sines as a product, which does not cancel for small delta.",
    )


def _factors() -> dict[str, tuple[sp.Expr, sp.Expr]]:
    """Factors of the integrands, each with the density it is divided by: error = mass * ratio."""
    inner = integrands()
    density = inner["channel_slack"] * 2 / g
    ratio = posterior_residual() ** 2 + tau2 * s2 / (tau2 + s2)
    return {
        "mass": (inner["channel_mass"], density),
        "dof": (inner["channel_dof"], density),
        "ratio": (ratio, sp.Integer(1)),
    }


def _residual() -> Step:
    """xhat - E[x | z] as the integrands use it, against its definition."""
    observed = shift + g / 2 * (u - start)
    return Step(
        "error per unit of mass",
        "identity",
        eq((shift - tau2 / (tau2 + s2) * observed) ** 2 + tau2 * s2 / (tau2 + s2), _factors()["ratio"][0]),
        "Squared distance to the posterior mean plus posterior variance, with zeta = d + (g/2)(u - start). "
        "The error is this times the mass, so the product rule gives its derivatives.",
    )


def _chain_rule(name: str, parameter: sp.Symbol, lemma: Step) -> Step:
    """The explicit factor in (u, a), differentiated, against `along` written in the kernel's variables."""
    explicit = {zeta: c_ft * sp.sinh(u) + g / 2 * (u - start) - a, shift: c_ft * sp.sinh(u) - a}
    factor, density = _factors()[name]
    in_full, weight = (expr.subs(explicit, simultaneous=True) for expr in (factor, density))
    at_node = {u: u0 + delta, a: c_ft * sp.sinh(u0) + g / 2 * (u0 - start)}
    direct = sp.expand(sp.diff(in_full, parameter) / weight).subs(at_node, simultaneous=True)
    by_chain = _written_out(sp.expand(along(factor, parameter) / density))
    return Step(
        f"{name} along {_NAMES[parameter]}",
        "identity",
        eq(direct, by_chain),
        "Per unit of the Gaussian density: differentiate in (u, a) at fixed u and put in the node u = u0 + delta with "
        "a = z(u0); the chain rule through zeta and d gives the same, without the cancellation.",
        given=(lemma,),
    )


def _scale() -> list[Step]:
    """The effective scale along its four arguments."""
    symbols = {"beta": beta_pt, "c": c, "lam": lam, "gamma": gamma}
    return [
        Step(
            f"effective scale along {name}",
            "identity",
            eq(sp.Derivative(effective_scale(beta_pt, c, lam, gamma), symbols[name]), expr),
            "Differentiate c_FT; for c the two large terms are combined first.",
        )
        for name, expr in scale_derivatives().items()
    ]


def _implicit() -> list[Step]:
    """Two equations F1 = F2 = 0 in (x, y) = (log s2, log g), moved by a parameter t."""
    jacobian, forcing = sp.Matrix(2, 2, JACOBIAN), sp.Matrix(FORCING)
    x, y = (function(t) for function in MOVING)
    move = -jacobian.inv() * forcing
    theorem = Step(
        "implicit function theorem",
        "definition",
        both(*(eq(sp.Derivative(v, t), m) for v, m in zip((x, y), move, strict=True))),
        "Along the solution F(x(t), y(t), t) = 0, so J (x', y') + F_t = 0; J is invertible as the fixed point is "
        "unique.",
    )
    holds = Step(
        "the moved equations still hold",
        "identity",
        both(
            *(eq(sum(jacobian[i, j] * sp.Derivative(v, t) for j, v in enumerate((x, y))), -forcing[i]) for i in (0, 1))
        ),
        "Substitute the derivatives back.",
        given=(theorem,),
    )
    return [theorem, holds]


def derive() -> Derivation:
    """Exact sensitivities of the saddle point."""
    formulas = results()
    lemma = _lemma()
    component = (c_ft, a, tau2, start)
    steps = [lemma, _residual()]
    steps += [_chain_rule("mass", p, lemma) for p in (*component, g, s2)]
    steps += [_chain_rule(name, p, lemma) for name in ("dof", "ratio") for p in component]
    return Derivation(
        "sensitivity",
        "Sensitivities of the prediction",
        (*steps, *_scale(), *_implicit()),
        formulas["channel_error_c"],
        formulas,
        "Derivatives of the two saddle-point integrals in every parameter of a component, and how the solution "
        "follows.",
    )
