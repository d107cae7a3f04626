"""Every Symbol of the theory, made once.

The rest of the package imports from here, so that two derivations that speak of the same quantity speak of the
same object, with the same assumptions (SymPy compares symbols by name *and* assumptions).  `DOMAIN` narrows a
symbol further than SymPy's assumptions can say; the checker samples inside it and may use it in a proof.
Names follow the table of conventions: `lam` is the normalised relative scale, `noise` a variance, and so on.
`LATEX` decides how a name is printed; a name that it lacks is printed as SymPy prints it.
"""

from __future__ import annotations

import sympy as sp

# --- the network and its two stages -----------------------------------------------------------------------------
beta, beta_pt, beta_ft, beta0, b = sp.symbols("beta beta_pt beta_ft beta0 b", real=True)
c, c_ft, k = sp.symbols("c c_ft k", positive=True)
lam = sp.Symbol("lam", real=True)
gamma = sp.Symbol("gamma", nonnegative=True)
w0, v0, rho_w, readout = sp.symbols("w0 v0 rho_w readout", real=True)
w_ft, v_ft, lam_raw = sp.symbols("w_ft v_ft lam_raw", real=True)
wp0, vp0, wm0, vm0 = sp.symbols("wp0 vp0 wm0 vm0", real=True)  # a start whose two paths differ
w1, v1, w2, v2 = sp.symbols("w1 v1 w2 v2", real=True)  # weights of the two paths, as variables
w_p, v_p, w_m, v_m, r, R = (sp.Function(name, real=True) for name in ("w_+", "v_+", "w_-", "v_-", "r", "R"))
path = sp.Function("beta", real=True)  # the effective vector along the flow
A_p, B_p, A_m, B_m = (sp.Function(name, real=True) for name in ("A_+", "B_+", "A_-", "B_-"))

# --- data -------------------------------------------------------------------------------------------------------
n, dim = sp.symbols("n dim", positive=True, integer=True)
y, x_id, rest, nu = sp.symbols("y x_id rest nu", real=True)
X = sp.MatrixSymbol("X", n, dim)
vec_y, vec_nu = sp.MatrixSymbol("y", n, 1), sp.MatrixSymbol("nu", n, 1)
vec_b, vec_beta = sp.MatrixSymbol("b", dim, 1), sp.MatrixSymbol("beta", dim, 1)

# --- the scalar channel and the saddle point --------------------------------------------------------------------
g, s2, alpha, V = sp.symbols("g s2 alpha V", positive=True)
tau2, noise, ridge = sp.symbols("tau2 noise ridge", nonnegative=True)
x, z, a, u, u0, start, delta, zeta, shift = sp.symbols("x z a u u0 start delta zeta d", real=True)

# --- replicas ---------------------------------------------------------------------------------------------------
replicas = sp.Symbol("n_rep", positive=True, integer=True)
n_zero = sp.Symbol("n", positive=True)  # the number of replicas once it is continued to the reals
inv_t, chi, g_hat, s_hat, diag, off = sp.symbols("B chi g_hat s_hat A C", positive=True)
mse, err = sp.symbols("mse err", nonnegative=True)  # the order parameter, and the average it must equal
dof, weight = sp.symbols("dof weight", positive=True)
Z, kappa = sp.symbols("Z kappa", real=True)
tau, b_norm = sp.symbols("tau b_norm", positive=True)
W1, W2 = sp.symbols("W_1 W_2", positive=True)
site = sp.Function("Phi", real=True)  # average of the single-site minimum, less s_hat/(2 g_hat)
est = sp.Function("xhat", real=True)  # an arbitrary smooth function of the Gaussian variable

replica_a, replica_b = sp.symbols("a b", integer=True)
covariance, moment = sp.Function("G"), sp.Function("F")
primary, auxiliary = sp.symbols("Phi_X phi_gh", real=True)  # minima of the min-max problem and of its comparison

# --- task, groups, pretraining ----------------------------------------------------------------------------------
rho_pt, rho_shared, rho_new, omega = sp.symbols("rho_pt rho_shared rho_new omega", positive=True)
beta_shared, beta_new = sp.symbols("err_shared err_new", nonnegative=True)
beta_lost, beta_none = sp.symbols("err_lost err_none", nonnegative=True)
alpha_pt, s2_pt, g_pt = sp.symbols("alpha_pt s2_pt g_pt", positive=True)
noise_pt = sp.Symbol("noise_pt", nonnegative=True)
force2, curve = sp.symbols("m_1 m_2", positive=True)  # E q'(x)^2 and E q''(x)
law = sp.Function("p")
loss_weight = sp.Symbol("kappa_loss", positive=True)

# --- limits -----------------------------------------------------------------------------------------------------
power = sp.Symbol("E_x2", nonnegative=True)  # E x^2 of the task
penalty, theta = sp.symbols("r_ridge theta", positive=True)
threshold = sp.Symbol("a", positive=True)
spectral = sp.Function("m")

# --- depth ------------------------------------------------------------------------------------------------------
excess, layer, turn = sp.symbols("m alpha_0 y", positive=True)  # excess = L - 2
walk_p, walk_m = (sp.Function(name, positive=True) for name in ("w_+", "w_-"))
clock, phase = sp.symbols("R zeta_L", real=True)  # phase = m alpha_0^m R

# --- variables of a proof ---------------------------------------------------------------------------------------
s, t, sigma, rho = sp.symbols("s t sigma rho", real=True)
p = sp.Symbol("p", nonnegative=True)
h, mu, eps = sp.symbols("h mu epsilon", positive=True)

# --- metrics ----------------------------------------------------------------------------------------------------
ell, sens = sp.symbols("ell S", real=True)
part1, part2 = (sp.Function(name, positive=True) for name in ("Q_1", "Q_2"))

#: Closed intervals narrower than the assumptions.
DOMAIN: dict[sp.Symbol, tuple[sp.Expr, sp.Expr]] = {
    lam: (sp.Integer(-1), sp.Integer(1)),
    ell: (sp.Integer(1), sp.Integer(2)),
    rho_pt: (sp.Integer(0), sp.Integer(1)),
    rho_shared: (sp.Integer(0), sp.Integer(1)),
    rho_new: (sp.Integer(0), sp.Integer(1)),
    omega: (sp.Integer(0), sp.Integer(1)),
    sens: (sp.Integer(0), sp.Integer(1)),
    phase: (sp.Integer(-1), sp.Integer(1)),
    dof: (sp.Integer(0), sp.Integer(1)),
    weight: (sp.Integer(0), sp.Integer(1)),
}

#: Symbols whose DOMAIN does not include its ends.
OPEN: frozenset[sp.Symbol] = frozenset({phase})

#: How names are printed.
LATEX: dict[sp.Basic, str] = {
    beta_pt: r"\beta_{\mathrm{PT}}",
    beta_ft: r"\beta_{\mathrm{FT}}",
    beta0: r"\beta_0",
    c_ft: r"c_{\mathrm{FT}}",
    lam: r"\lambda",
    lam_raw: r"\tilde\lambda",
    w0: r"w_0",
    v0: r"v_0",
    wp0: r"w_{+,0}",
    vp0: r"v_{+,0}",
    wm0: r"w_{-,0}",
    vm0: r"v_{-,0}",
    rho_w: r"\rho_w",
    w_ft: r"w_{\mathrm{FT}}",
    v_ft: r"v_{\mathrm{FT}}",
    ell: r"\ell",
    eps: r"\varepsilon",
    replicas: r"n",
    g_hat: r"\hat g",
    s_hat: r"\hat s",
    mse: r"\mathrm{mse}",
    err: r"\mathbb{E}(\hat x - x)^2",
    dof: r"\mathrm{df}",
    weight: r"p",
    rho_pt: r"\rho_{\mathrm{PT}}",
    rho_shared: r"\rho_{\mathrm{shared}}",
    rho_new: r"\rho_{\mathrm{new}}",
    beta_shared: r"\mathrm{mse}_{\mathrm{shared}}",
    beta_new: r"\mathrm{mse}_{\mathrm{new}}",
    beta_lost: r"\mathrm{mse}_{\mathrm{PT}}",
    beta_none: r"\mathrm{mse}_{\mathrm{none}}",
    alpha_pt: r"\alpha_{\mathrm{PT}}",
    s2_pt: r"s^2_{\mathrm{PT}}",
    g_pt: r"g_{\mathrm{PT}}",
    noise_pt: r"\sigma^2_{\mathrm{PT}}",
    force2: r"\mathbb{E} q'^2",
    curve: r"\mathbb{E} q''",
    loss_weight: r"\kappa",
    power: r"\mathbb{E} x^2",
    penalty: r"r",
    layer: r"\alpha_0",
    phase: r"\zeta",
    primary: r"\Phi(X)",
    auxiliary: r"\varphi(g, h)",
    b_norm: r"\mathsf{b}",
    x_id: r"X_{id}",
    dim: r"D",
    u0: r"u_0",
    start: r"u_{\mathrm{start}}",
    s2: r"s^2",
    tau2: r"\tau^2",
    noise: r"\sigma_\xi^2",
    ridge: r"\eta",
    readout: r"v_{\mathrm{re}}",
}

# --- two equations in two unknowns, moved by a parameter ---------------------------------------------------------
JACOBIAN = sp.symbols("F1_x F1_y F2_x F2_y", real=True)
FORCING = sp.symbols("F1_t F2_t", real=True)
MOVING = tuple(sp.Function(name, real=True) for name in "xy")

# --- what pretraining knew of a coordinate, given what it left there ---------------------------------------------
pt_gap = sp.Symbol("pt_gap", real=True)
pt_var = sp.Symbol("pt_var", nonnegative=True)
pt_cov = sp.Symbol("pt_cov", real=True)
pull = sp.Symbol("pull", nonnegative=True)
