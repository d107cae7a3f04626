"""Independent routes to numbers of the theory, shared by the tests. Slow, simple, and written without the package."""

import numpy as np

# rho_pt, rho_ft, omega, c, lam, gamma, alpha, mse, s2, g  (THEORY section 9)
SECTION_9 = [
    (0.1, 0.04, 1, 1e-3, 0, 0, 0.05, 0.4163411754148325, 8.326823508296652, 3.699791064977054),
    (0.1, 0.04, 1, 1e-3, 0, 0, 0.1, 0.05592198891395467, 0.5592198891395467, 0.7842826419688179),
    (0.1, 0.04, 1, 1e-3, 0, 0, 0.3, 2.5544686192604086e-05, 8.514895397534688e-05, 0.018341212583688773),
    (0.1, 0.1, 0.5, 1e-3, 0, 0, 0.1, 0.845110563669696, 8.451105636696958, 2.0044662870200756),
    (0.1, 0.1, 0.5, 1e-3, 0, 0, 0.3, 0.09116575965807505, 0.3038858655269168, 0.2721124283844431),
    (0.1, 0.1, 0.5, 1e-3, 0, 0, 0.5, 0.0010834835707541285, 0.0021669671415082588, 0.02429919609842501),
    (0.1, 0.01, 1, 1e-6, -0.99, 0, 0.03, 0.18539250989934905, 6.179750329978302, 1.095557784492473),
    (0.1, 0.01, 1, 1e-6, -0.99, 0, 0.05, 0.006662794219709466, 0.1332558843941893, 0.15739126980313214),
]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)


def prox(z, g, c, start=0.0):
    """Root of x + (g/2)(asinh(x/c) - start) = z by bisection in u = asinh(x/c) (elementwise)."""
    z = np.asarray(z, float)
    low, high = np.full(z.shape, -800.0), np.full(z.shape, 800.0)
    for _ in range(70):
        middle = 0.5 * (low + high)
        with np.errstate(over="ignore"):
            above = c * np.sinh(middle) + 0.5 * g * (middle - start) > z
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    u = 0.5 * (low + high)
    return c * np.sinh(u), u


def panels(edges):
    """Gauss-Legendre nodes and weights on consecutive panels."""
    edges = np.asarray(edges)
    half, middle = 0.5 * np.diff(edges), 0.5 * (edges[1:] + edges[:-1])
    return (middle[:, None] + half[:, None] * _NODES).ravel(), (half[:, None] * _WEIGHTS).ravel()


def component_moments(a, tau2, c, start, s2, g):
    """E (xhat - x)^2 and E 1/(1 + g q'') for one component, by panels in z refined around the knee of the prox."""
    sd = np.sqrt(tau2 + s2)
    edges = a + sd * np.linspace(-11, 11, 221)
    centre, knee = -0.5 * g * start, 0.5 * g * np.log1p(g / c)  # xhat = 0 at the centre, bends at centre +- knee
    width = max(knee, g, c)
    scales = np.concatenate([[0.0], np.geomspace(1e-7 * width, max(4.0 * width, sd), 80)])
    extra = np.concatenate([centre + s * k + w for s in (-1, 1) for k in (0.0, knee) for w in (-scales, scales)])
    edges = np.unique(np.concatenate([edges, extra[(extra > edges[0]) & (extra < edges[-1])]]))
    z, w = panels(edges)
    x, _ = prox(z, g, c, start)
    density = w * np.exp(-0.5 * ((z - a) / sd) ** 2) / (sd * np.sqrt(2 * np.pi))
    mean = a + tau2 / (tau2 + s2) * (z - a)
    error = np.sum(density * ((x - mean) ** 2 + tau2 * s2 / (tau2 + s2)))
    root = np.hypot(c, x)
    return error, np.sum(density * 2 * root / (2 * root + g))


def mixture_moments(components, s2, g):
    """Sum over components (weight, a, tau2, c, start) of `component_moments`."""
    error = dof = 0.0
    for weight, *rest in components:
        e, d = component_moments(*rest, s2, g)
        error, dof = error + weight * e, dof + weight * d
    return error, dof


def saddle_point(components, alpha, noise=0.0, ridge=0.0, guess=(1.0, 1.0)):
    """(s2, g) by scipy's hybrid method on the two equations in logarithms."""
    from scipy.optimize import root

    def equations(v):
        s2, g = np.exp(np.clip(v, -200, 200))
        error, dof = mixture_moments(components, s2, g)
        return [v[0] - np.log((noise + error) / alpha), np.log((ridge / g + dof) / alpha)]

    found = root(equations, np.log(guess), tol=1e-13)
    return np.exp(found.x), np.max(np.abs(equations(found.x)))


def oracle_components(rho_pt, rho_ft, omega, c, lam, gamma):
    """Perfect pretraining, pretraining slab +1, fine-tuning slab N(0, 1/rho_ft): THEORY sections 3 and 5."""
    shared, new = omega * rho_ft / rho_pt, (1 - omega) * rho_ft / (1 - rho_pt)
    scale = [c * (1 + lam) * (1 + np.sqrt(1 + (b / c) ** 2)) + gamma**2 / 2 for b in (0.0, 1.0)]
    return [
        ((1 - rho_pt) * (1 - new), 0.0, 0.0, scale[0], 0.0),
        ((1 - rho_pt) * new, 0.0, 1 / rho_ft, scale[0], 0.0),
        (rho_pt * (1 - shared), 0.0, 0.0, scale[1], 0.0),
        (rho_pt * shared, 0.0, 1 / rho_ft, scale[1], 0.0),
    ]
