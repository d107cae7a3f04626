"""Rigorous enclosures of the saddle point: ball arithmetic, rigorous integration and a Krawczyk step.

For a solution x0 = (s2, g) and a box X around it, K(X) = x0 - C F(x0) + (I - C J(X)) (X - x0) with C close to the
inverse Jacobian. If K(X) lies inside X, then X holds exactly one root of F and K(X) encloses it. F and J are integrals
over the channel, computed by arb's rigorous quadrature on a finite range plus a bound for the Gaussian tails:

with zeta = z - a, V = tau2 + s2, p0 = (g/2)(u0 - start): both terms of z(u) grow with u, so |(g/2)(u - start)| and
|xhat - a| are at most |zeta| + |p0|, and every integrand is bounded by a polynomial in |zeta| times the density.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numerics.law import conditional_law, group_probabilities
from numerics.task import Initialization, Task

__all__ = ["BITS", "Enclosure", "enclose"]

BITS = 100
#: Half-width of the integration range in standard deviations.
_REACH = 16.0
#: Relative radii of the box X, tried in turn: balls overestimate less in a smaller one, but F must be small in it too.
_RADII = (1e-9, 1e-12, 1e-15)
#: How far (relative) the root may be from the given point.
_NEAR = 1e-7


class Enclosure(NamedTuple):
    """Lower and upper ends of s2, g and mse (floats, rounded outwards)."""

    s2: tuple[float, float]
    g: tuple[float, float]
    mse: tuple[float, float]


class _Component(NamedTuple):
    weight: object
    a: object
    tau2: object
    c: object


def enclose(
    task: Task, init: Initialization, alpha: float, s2: float, g: float, *, noise: float = 0.0, ridge: float = 0.0
) -> Enclosure:
    """Enclosure of the fixed point next to (s2, g); see :func:`numerics.replica.certify.certify`."""
    import flint

    if not all(np.isfinite(v) and v > 0.0 for v in (s2, g)):
        raise ValueError(
            f"s2 = {s2}, g = {g}: both must be positive and finite (alpha >= 1 without ridge has closed forms)"
        )
    before = flint.ctx.prec
    flint.ctx.prec = BITS
    try:
        components = _components(task, init)
        return _krawczyk(components, alpha, noise, ridge, s2, g)
    finally:
        flint.ctx.prec = before


def _components(task: Task, init: Initialization) -> list[_Component]:
    """Weights and scales as balls, from the task's own numbers (nothing is taken from rounded intermediate results)."""
    from flint import arb

    from numerics.kernels import balls

    law, (probability, _) = conditional_law(task), group_probabilities(task)
    rho, shared, new = arb(task.rho_pt), arb(task.rho_shared), arb(task.rho_new)
    groups = [(1 - rho) * (1 - new), (1 - rho) * new, rho * (1 - shared), rho * shared]
    scale = arb(task.ft_slab.scale)
    out = []
    for weight, pt_mean, _, slope, offset, ft_var, group in zip(*law, strict=True):
        if probability[group] == 0.0:
            continue
        c = balls.c_ft(arb(pt_mean), arb(init.c), arb(init.lam), arb(init.gamma))
        # on shared dimensions the law is N(+-q scale, (1 - q^2) scale^2), elsewhere N(0, scale^2), or a point
        q = arb(task.correlation) if slope != 0.0 else arb(0)
        tau2 = (1 - q * q) * scale * scale if ft_var > 0.0 else arb(0)
        out.append(_Component(groups[int(group)] * arb(weight), abs(arb(offset)) + abs(q) * scale, tau2, c))
    return out


def _krawczyk(components, alpha, noise, ridge, s2, g) -> Enclosure:
    """Unknowns are relative: s2 (1 + e1), g (1 + e2)."""
    from flint import arb, arb_mat

    alpha, noise, ridge = arb(alpha), arb(noise), arb(ridge)

    def equations(at_s2, at_g):
        """F at thin balls, scaled, and its Jacobian in the relative unknowns."""
        error, dof, error_g, error_s2, dof_g, dof_s2 = _integrals(components, at_s2, at_g)
        mid_s2, mid_g = arb(at_s2.mid()), arb(at_g.mid())
        value = [[(alpha * at_s2 - noise - error) / (alpha * mid_s2)], [(dof + ridge / at_g - alpha) / alpha]]
        jacobian = [
            [1 - error_s2 / alpha, -error_g * mid_g / (alpha * mid_s2)],
            [dof_s2 * mid_s2 / alpha, (dof_g - ridge / (at_g * at_g)) * mid_g / alpha],
        ]
        return arb_mat(value), arb_mat(jacobian)

    point_s2, point_g, value, inverse = _polish(equations, arb(s2), arb(g))
    for radius in _RADII:
        box = arb(1, radius)
        _, jacobian = equations(point_s2 * box, point_g * box)
        image = (arb_mat([[1, 0], [0, 1]]) - inverse * jacobian) * arb_mat([[arb(0, radius)]] * 2) - inverse * value
        if all(abs(image[i, 0]) < arb(radius) for i in (0, 1)):
            break
    else:
        raise ArithmeticError(
            f"the Krawczyk test failed at s2 = {s2}, g = {g}: the image {image[0, 0]}, {image[1, 0]} is not inside "
            f"+-{radius:g}; the problem is too ill-conditioned for {BITS} bits"
        )
    new_s2, new_g = point_s2 * (1 + image[0, 0]), point_g * (1 + image[1, 0])
    return Enclosure(*(_ends(v) for v in (new_s2, new_g, alpha * new_s2 - noise)))


def _polish(equations, s2, g):
    """Newton steps beyond double precision: (s2, g, F there, approximate inverse Jacobian), all but F thin balls."""
    from flint import arb

    start = (s2, g)
    for _ in range(3):
        value, jacobian = equations(s2, g)
        inverse = _middle(_middle(jacobian).inv())
        move = _middle(inverse * value)
        if max(abs(move[0, 0]), abs(move[1, 0])) < arb(2.0**-70):
            break
        s2, g = arb((s2 * (1 - move[0, 0])).mid()), arb((g * (1 - move[1, 0])).mid())
        drift = max(abs(s2 / start[0] - 1), abs(g / start[1] - 1))
        if not drift < arb(_NEAR):
            raise ArithmeticError(
                f"the Krawczyk test failed at s2 = {start[0]}, g = {start[1]}: Newton's method leaves the point by "
                f"{drift}, more than {_NEAR:g}; it is not close enough to a root"
            )
    return s2, g, value, inverse


def _middle(matrix):
    from flint import arb, arb_mat

    return arb_mat([[arb(matrix[i, j].mid()) for j in range(matrix.ncols())] for i in range(matrix.nrows())])


def _ends(ball) -> tuple[float, float]:
    """Floats just outside the ball."""
    low, high = ball.lower(), ball.upper()
    return float(np.nextafter(float(low), -np.inf)), float(np.nextafter(float(high), np.inf))


def _integrals(components, s2, g):
    """(error, dof, error_g, error_s2, dof_g, dof_s2) over the mixture, at balls s2 and g."""
    from flint import arb

    total = [arb(0)] * 6
    for component in components:
        values = _component_integrals(component, s2, g)
        total = [t + component.weight * v for t, v in zip(total, values, strict=True)]
    return total


def _component_integrals(component: _Component, s2, g):
    from flint import acb, arb

    from numerics.kernels import balls

    u0 = _centre(component, g)
    variance = component.tau2 + s2
    half_g, deviation = g / 2, variance.sqrt()
    low, high = (_limit(component.c, half_g, u0, sign * _REACH * deviation) for sign in (-1, 1))
    parameters = [acb(v) for v in (u0, arb(0), component.c, g, s2, component.tau2)]
    picked = (1, 2, 4, 5, 6, 7)

    def integrand(which):
        return lambda delta, analytic: balls.channel_moments(delta, *parameters)[which]

    reach = [abs(_offset(component.c, half_g, u0, end)) / deviation for end in (low, high)]
    bounds = _tails(min(r.lower() for r in reach), abs(half_g * u0) / deviation, variance, g, s2)
    out = []
    for which, bound in zip(picked, bounds, strict=True):
        # split at the centre: the adaptive rule then sees each side's knee on its own
        pieces = [acb.integral(integrand(which), a, b, rel_tol=2.0**-60) for a, b in ((low, 0), (0, high))]
        out.append(sum(p.real for p in pieces) + arb(0, bound.upper()))
    return out


def _offset(c, half_g, u0, delta):
    """zeta at u0 + delta (the ball form of kernel ``channel_offset``)."""
    from flint import arb

    delta = arb(delta)
    return c * ((u0 + delta).sinh() - u0.sinh()) + half_g * delta


def _centre(component: _Component, g):
    """Ball around the root u0 > 0 of z(u) = c sinh u + (g/2) u = a.

    z is convex for u > 0, so to the right of ``guess - reach`` its slope is at least the one there, and the root is no
    farther from the guess than |z(guess) - a| over that slope.
    """
    from flint import arb

    if component.a == 0:
        return arb(0)
    from numerics.replica.quadrature import invert

    c, half_g = component.c, g / 2
    guess = arb(float(invert(*(np.array([float(v.mid())]) for v in (component.a, half_g, c)))[0]))
    for _ in range(3):  # beyond double precision
        step = (c * guess.sinh() + half_g * guess - component.a) / (c * guess.cosh() + half_g)
        guess = arb((guess - step).mid())
    miss = abs(c * guess.sinh() + half_g * guess - component.a)
    reach = 2 * miss / (c * guess.cosh() + half_g)
    left = guess - arb(reach.upper())
    slope = c * left.cosh() + half_g if left > 0 else c + half_g
    distance = miss / slope
    if left > 0 and not distance < arb(reach.upper()):
        distance = miss / (c + half_g)
    return arb(guess.mid(), distance.upper())


def _limit(c, half_g, u0, zeta) -> float:
    """A float delta beyond which |zeta| exceeds the wanted value (checked afterwards, so only roughly needed)."""
    from numerics.replica.quadrature import invert

    shifted = float((c * u0.sinh() + half_g * u0 + zeta).mid())
    end = invert(np.array([shifted]), np.array([float(half_g.mid())]), np.array([float(c.mid())]))[0]
    return float(end - float(u0.mid())) * (1.0 + 1e-6)


def _tails(reach, centre, variance, g, s2):
    """Bounds of the six integrands beyond ``reach`` standard deviations; ``centre`` is |p0| in the same unit.

    With t = |zeta|/sqrt(V) and q = |p0|/sqrt(V): |e|^2 <= V (t + q)^2 <= V (2 t^2 + 2 q^2) and the posterior variance
    is at most V; t (t + q) <= 2 t^2 + q^2; the moments of the Gaussian tail have closed forms.
    """
    from flint import arb

    t, q2 = arb(reach), arb(centre) ** 2
    density = (-(t * t) / 2).exp() / (2 * arb.pi()).sqrt()
    tail = (t / arb(2).sqrt()).erfc() / 2
    m0, m2, m4 = 2 * tail, 2 * (t * density + tail), 2 * ((t**3 + 3 * t) * density + 3 * tail)
    # a polynomial in t^2 is a list of coefficients
    square, error, move = [2 * q2, arb(2)], [2 * q2 + 1, arb(2)], [q2, arb(2)]

    def integral(*terms):
        total = arb(0)
        for factor, left, right in terms:
            for i, a in enumerate(left):
                for j, b in enumerate(right):
                    total += factor * a * b * (m0, m2, m4)[i + j]
        return abs(total)

    one, spread = [arb(1)], [arb(1), arb(1)]
    error_g = integral((3 * variance, error, one), (variance, error, move)) / g
    error_s2 = integral((variance / 2, spread, error), (4 * variance, square, one), (s2, one, one)) / s2
    return (
        integral((variance, error, one)),
        integral((arb(1), one, one)),
        error_g,
        error_s2,
        integral((arb(1), move, one)) / g,
        integral((arb(1) / 2, spread, one)) / s2,
    )
