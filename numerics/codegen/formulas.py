"""The registry: one row per formula drives generation, documentation, tests and the accuracy table.

A row says where the formula comes from (a derivation and the key among its `results`), what its arguments are called,
where it is defined, what it is worth at special points and how accurate its kernels promise to be.  Nothing here
imports SymPy: rows are read by people who only call a kernel.
"""

# ruff: noqa: E501  (one row a formula)
from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FORMULAS", "Formula", "formula"]

INF = float("inf")
NAN = float("nan")


@dataclass(frozen=True)
class Formula:
    """One row of the registry.

    source:    (derivation, key): `derivations.derive(derivation).results[key]`
    arguments: names in the derivation -> names of the kernel's arguments, in order
    positive:  arguments that must be > 0 (anything else is a ValueError)
    ulp:       the contract: largest error in units in the last place, float64 and float32, where the result is normal
    special:   (arguments, value) pairs that hold exactly
    outputs:   for a kernel that returns several arrays: (name, key) of each; `varying` then names the arguments that
               vary along the inner axis, so that everything else is computed once per row
    along:     differentiate the source along this argument
    measured:  whether `ulp` is measured over the whole domain (not where the problem itself is ill-conditioned)
    implicit:  the source is a function of x = prox(z, g, c_ft), not of z
    exact_roots: whether sqrt(a^2 + b^2) is computed to the last bit rather than fast
    """

    name: str
    title: str
    source: tuple[str, str]
    arguments: dict[str, str]
    positive: tuple[str, ...] = ()
    ulp: float = 4.0
    special: tuple[tuple[tuple[float, ...], float], ...] = ()
    backends: tuple[str, ...] = ("numpy", "torch", "c", "mpmath")
    doc: str = ""
    outputs: tuple[tuple[str, str], ...] = ()
    varying: tuple[str, ...] = ()
    exact_roots: bool = False
    implicit: bool = False
    measured: bool = True
    along: str = ""


PROX = {"z": "z", "g": "g", "c_ft": "c_ft"}
POTENTIAL = {"beta": "beta", "c": "c_ft"}
FINE_TUNING = {"beta_pt": "beta_pt", "c": "c", "lam": "lam", "gamma": "gamma"}
CHANNEL_OFFSET = {"delta": "delta", "u0": "u0", "c_ft": "c_ft", "g": "g"}
CHANNEL = {name: name for name in ("delta", "u0", "start", "c_ft", "g", "s2", "tau2")}
MOMENTS = ("mass", "error", "dof", "slack", "error_g", "error_s2", "dof_g", "dof_s2")

SENSITIVITIES = tuple(f"{name}_{p}" for name in ("error", "dof") for p in ("c", "a", "tau2", "start"))
MASSES = ("mass_c", "mass_g", "mass_s2")
OBSERVABLES = ("potential", "potential_slope", "forgetting")

ROWS = (
    Formula(
        "potential", "the implicit-bias potential q", ("implicit_bias", "potential"), POTENTIAL, ("c_ft",), 3.0,
        special=(((0.0, 1.0), 0.0), ((INF, 1.0), INF), ((-INF, 1.0), INF), ((NAN, 1.0), NAN)),
        doc="q(beta) = (c/2) [1 - sqrt(1 + (beta/c)^2) + (beta/c) asinh(beta/c)] with c = c_ft (the paper's k is 4 c_ft^2).",
    ),
    Formula(
        "potential_derivative", "its derivative, the mirror map", ("implicit_bias", "potential_derivative"), POTENTIAL,
        ("c_ft",), 3.0, special=(((0.0, 1.0), 0.0), ((INF, 1.0), INF), ((-INF, 1.0), -INF), ((NAN, 1.0), NAN)),
        doc="q'(beta) = asinh(beta/c_ft) / 2.",
    ),
    Formula(
        "potential_second_derivative", "its curvature", ("implicit_bias", "potential_second_derivative"), POTENTIAL,
        ("c_ft",), 3.0, special=(((0.0, 1.0), 0.5), ((INF, 1.0), 0.0), ((NAN, 1.0), NAN)),
        doc="q''(beta) = 1 / (2 sqrt(c_ft^2 + beta^2)).",
    ),
    Formula(
        "ell_order", "the l-order d log q / d log |beta|", ("metrics", "ell_order"), {"beta": "beta", "c_ft": "c_ft"},
        ("c_ft",), 3.0, special=(((0.0, 1.0), 2.0), ((INF, 1.0), 1.0), ((NAN, 1.0), NAN)),
        doc="Between 2 (|beta| << c_ft: lazy) and 1 (|beta| >> c_ft: rich).",
    ),
    Formula(
        "dual_map", "the inverse mirror map", ("implicit_bias", "dual_map"), {"t": "t", "c": "c_ft"}, ("c_ft",),
        special=(((0.0, 1.0), 0.0), ((INF, 1.0), INF), ((-INF, 1.0), -INF), ((NAN, 1.0), NAN)),
        doc="beta = c_ft sinh(2 t), where t = (X^T nu)_d is the integrated residual of the coordinate.",
    ),
    Formula(
        "c_ft", "the effective fine-tuning scale", ("fine_tuning", "c_ft"), FINE_TUNING, ("c",),
        special=(((0.0, 1.0, 0.0, 0.0), 2.0), ((3.0, 1.0, -1.0, 0.0), 0.0), ((NAN, 1.0, 0.0, 0.0), NAN)),
        doc="c_FT = c (1 + lam) (1 + sqrt(1 + (beta_pt/c)^2)) + gamma^2/2; lam is normalised, in [-1, 1].",
    ),
    Formula(
        "k", "the paper's k = 4 c_FT^2", ("fine_tuning", "k"), FINE_TUNING, ("c",),
        exact_roots=True, special=(((0.0, 1.0, 0.0, 0.0), 16.0), ((NAN, 1.0, 0.0, 0.0), NAN)),
        doc="k = (2 c (1 + lam) (1 + sqrt(1 + (beta_pt/c)^2)) + gamma^2)^2; lam is normalised, in [-1, 1].",
    ),
    Formula(
        "sensitivity", "S = d log c_FT / d log |beta_PT|", ("metrics", "sensitivity"), FINE_TUNING, ("c",),
        exact_roots=True, special=(((0.0, 1.0, 0.0, 0.0), 0.0), ((1.0, 1.0, -1.0, 1.0), 0.0), ((NAN, 1.0, 0.0, 0.0), NAN)),
        doc="Between 0 and 1; lam = -1 with gamma = 0 (a network that cannot move) gives NaN.",
    ),
    Formula(
        "pretraining_dependence", "PD = d log q / d log |beta_PT|", ("metrics", "pretraining_dependence"),
        {"beta": "beta", **FINE_TUNING}, ("c",),
        exact_roots=True, special=(((1.0, 0.0, 1.0, 0.0, 0.0), 0.0), ((NAN, 1.0, 1.0, 0.0, 0.0), NAN)),
        doc="PD = (1 - l-order) S, between -1 and 0.",
    ),
    Formula(
        "prox", "the proximal map of q", ("scalar_channel", "stationarity"), PROX, ("c_ft",), 4.0, implicit=True,
        special=(((0.0, 1.0, 1.0), 0.0), ((2.0, 0.0, 1.0), 2.0), ((INF, 1.0, 1.0), INF), ((NAN, 1.0, 1.0), NAN)),
        doc="xhat = argmin (x - z)^2/(2 g) + q(x), the root of x + (g/2) asinh(x/c_ft) = z; g >= 0.",
    ),
    Formula(
        "prox_derivative_z", "d prox / d z", ("scalar_channel", "stationarity"), PROX, ("c_ft",), 4.0,
        implicit=True, special=(((0.0, 2.0, 1.0), 0.5), ((3.0, 0.0, 1.0), 1.0)), doc="1/(1 + g q''(xhat)), between 0 and 1.",
    ),
    Formula(
        "prox_derivative_g", "d prox / d g", ("scalar_channel", "stationarity"), PROX, ("c_ft",), 4.5,
        implicit=True, special=(((0.0, 2.0, 1.0), 0.0),), doc="-q'(xhat)/(1 + g q''(xhat)).",
    ),
    Formula(
        "prox_derivative_c_ft", "d prox / d c_ft", ("scalar_channel", "stationarity"), PROX, ("c_ft",), 5.0,
        implicit=True, special=(((0.0, 2.0, 1.0), 0.0),), doc="(g/2) (xhat/c_ft) / (sqrt(c_ft^2 + xhat^2) + g/2).",
    ),
    Formula(
        "moreau_envelope", "the Moreau envelope of q", ("scalar_channel", "moreau_envelope"), PROX, ("c_ft",),
        implicit=True, special=(((0.0, 1.0, 1.0), 0.0),),
        doc="min_x (x - z)^2/(2 g) + q(x) = (g/8) asinh(xhat/c_ft)^2 + q(xhat).",
    ),
    Formula(
        "dual_map_derivative", "the slope of the inverse mirror map", ("implicit_bias", "dual_map"), {"t": "t", "c": "c_ft"},
        ("c_ft",), along="t", special=(((0.0, 1.0), 2.0), ((INF, 1.0), INF), ((NAN, 1.0), NAN)),
        doc="d beta / d t = 2 c_ft cosh(2 t).",
    ),
    Formula(
        "bregman", "the Bregman divergence of q", ("bregman", "bregman"), {"beta": "beta", "beta0": "beta0", "c": "c_ft"},
        ("c_ft",), 4.5, special=(((2.0, 2.0, 1.0), 0.0), ((0.0, 0.0, 1.0), 0.0), ((NAN, 1.0, 1.0), NAN)),
        doc="D(beta, beta0) = q(beta) - q(beta0) - q'(beta0)(beta - beta0), the penalty of a fine-tuning that starts at beta0; "
        "|beta| and |beta0| up to 1e150 c_ft.",
    ),
    Formula(
        "channel_offset", "zeta = z - a at u = u0 + delta", ("scalar_channel", "channel_offset"), CHANNEL_OFFSET, ("c_ft",),
        special=(((0.0, 1.0, 1.0, 1.0), 0.0),),
        measured=False, doc="zeta = 2 c_ft cosh(u0 + delta/2) sinh(delta/2) + (g/2) delta, where a = z(u0).",
    ),
    Formula(
        "channel_moments", "the saddle-point integrands", ("scalar_channel", "channel_mass"), CHANNEL, ("c_ft",),
        outputs=tuple((name, f"channel_{name}") for name in MOMENTS), varying=("delta",),
        doc="(" + ", ".join(MOMENTS) + ") of one component x ~ N(a, tau2) observed as z = x + sqrt(s2) N(0, 1), at u = u0 + delta "
        "with a = z(u0); their integrals over u are the expectations in the saddle point (THEORY section 6).",
    ),
    Formula(
        "channel_sensitivities", "derivatives of the saddle-point integrands", ("sensitivity", "channel_error_c"), CHANNEL,
        ("c_ft",), 32.0, outputs=tuple((name, f"channel_{name}") for name in SENSITIVITIES), varying=("delta",),
        doc="(" + ", ".join(SENSITIVITIES) + "): error and dof of `channel_moments` along c_ft, a, tau2 and start at fixed u.",
    ),
    Formula(
        "channel_mass_sensitivities", "derivatives of the mass", ("sensitivity", "channel_mass_c"), CHANNEL, ("c_ft",), 32.0,
        outputs=tuple((name, f"channel_{name}") for name in MASSES), varying=("delta",),
        doc="(" + ", ".join(MASSES) + "): the mass of `channel_moments` along c_ft, g and s2 at fixed u.",
    ),
    Formula(
        "channel_observables", "integrands of the learned solution's observables", ("learned_solution", "channel_forgetting"),
        {**CHANNEL, "pt_gap": "pt_gap", "pt_var": "pt_var", "pt_cov": "pt_cov"}, ("c_ft",), 32.0,
        outputs=tuple((name, f"channel_{name}") for name in OBSERVABLES), varying=("delta",),
        doc="(" + ", ".join(OBSERVABLES) + ") as integrands over u: q(xhat), xhat q'(xhat) and (xhat - beta*_PT)^2, where "
        "beta*_PT has mean a + pt_gap, variance pt_var and covariance pt_cov with x.",
    ),
    Formula(
        "c_ft_sensitivities", "derivatives of the effective fine-tuning scale", ("sensitivity", "c_ft_beta"), FINE_TUNING,
        ("c",), 8.0, outputs=tuple((f"c_ft_{p}", f"c_ft_{p}") for p in ("beta", "c", "lam", "gamma")), varying=("beta_pt",),
        doc="(d/d beta_pt, d/d c, d/d lam, d/d gamma) of c_FT.",
    ),
    Formula(
        "soft_error", "error of the soft threshold", ("soft_threshold", "soft_error"),
        {"theta": "theta", "s2": "s2", "tau2": "tau2"}, ("theta", "s2"), 64.0,
        measured=False, doc="E (xhat - x)^2 for x ~ N(0, tau2) seen as z = x + sqrt(s2) N(0, 1) and soft-thresholded at theta.",
    ),
    Formula(
        "soft_dof", "degrees of freedom of the soft threshold", ("soft_threshold", "soft_dof"),
        {"theta": "theta", "s2": "s2", "tau2": "tau2"}, ("theta", "s2"), 64.0,
        measured=False, doc="Probability that |z| exceeds theta, z ~ N(0, s2 + tau2).",
    ),
    Formula(
        "critical_alpha", "samples at the l1 phase transition", ("limits", "critical_alpha"), {"a": "threshold"},
        ("threshold",), 64.0, measured=False, doc="delta(a) = n/D at the transition of basis pursuit, parametrised by the threshold a.",
    ),
    Formula(
        "critical_ratio", "sparsity at the l1 phase transition", ("limits", "critical_ratio"), {"a": "threshold"},
        ("threshold",), 64.0, measured=False, doc="rho(a) = nonzeros/n at the transition of basis pursuit.",
    ),
    Formula(
        "ridge_mse", "error of ridge regression", ("limits", "ridge_mse"),
        {"alpha": "alpha", "noise": "noise", "E_x2": "power", "r_ridge": "penalty"}, ("alpha",), 64.0,
        measured=False, doc="Marchenko-Pastur closed form for the penalty (penalty/2) beta^2; power = E beta*^2.",
    ),
    Formula(
        "minimum_norm_mse", "error of minimum-l2-norm interpolation", ("limits", "min_l2_mse"),
        {"alpha": "alpha", "noise": "noise", "E_x2": "power"}, ("alpha",), 16.0,
        measured=False, doc="(1 - alpha) power + noise alpha/(1 - alpha) for alpha < 1.",
    ),
    Formula(
        "training_error", "mean squared training residual", ("learned_solution", "training_error"),
        {"s2": "s2", "pull": "pull", "alpha": "alpha"}, ("alpha",),
        measured=False, doc="s2 pull^2 / alpha with pull = ridge/g = alpha - dof.",
    ),
    Formula(
        "least_squares_s2", "channel noise of least squares", ("learned_solution", "least_squares_s2"),
        {"alpha": "alpha", "noise": "noise"}, ("alpha",),
        measured=False, doc="noise/(alpha - 1), for alpha > 1.",
    ),
)  # fmt: skip

#: name -> row, in the order in which the rows are documented
FORMULAS: dict[str, Formula] = {row.name: row for row in ROWS}


def formula(name: str) -> Formula:
    """The row called `name`; ValueError for a name that does not exist."""
    if name not in FORMULAS:
        raise ValueError(f"name = {name!r} is no kernel; choose one of {', '.join(FORMULAS)}")
    return FORMULAS[name]
