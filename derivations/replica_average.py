"""The replica route up to the free energy: average over the design, replica symmetry, n -> 0, zero temperature.

Steps only; `derivations.replica` puts them before the stationarity conditions.  Conventions: energy
(1/2)|y - X beta|^2 + ridge Q(beta), inverse temperature B, X_ij ~ N(0, 1/D), `mse` the overlap of two replicas'
errors, chi/B the thermal variance, (g_hat, s_hat) the conjugate order parameters.
"""

from __future__ import annotations

import sympy as sp

from derivations.ledger.bounds import AnyOf, Signs
from derivations.ledger.proof import ByLimit, MatrixAlgebra
from derivations.ledger.step import Step, both, eq, gt, le
from derivations.mirror import potential_second_derivative
from derivations.symbols import (
    W1,
    W2,
    V,
    Z,
    alpha,
    b,
    beta,
    c,
    chi,
    covariance,
    diag,
    g_hat,
    inv_t,
    kappa,
    moment,
    mse,
    mu,
    n_zero,
    noise,
    off,
    replica_a,
    replica_b,
    replicas,
    s_hat,
    t,
    weight,
    x,
)  # fmt: skip

_REPLICA = "Rangan, Fletcher & Goyal 2012; Mezard & Montanari 2009, chapter 8"
_IDENTITY = sp.Identity(replicas)
_ONES = sp.OneMatrix(replicas, replicas)


def determinant(size: sp.Expr) -> sp.Expr:
    """det(A I + C J) for `size` replicas."""
    return diag ** (size - 1) * (diag + size * off)


def log_determinant_slope() -> sp.Expr:
    """The limit of log det / n as n -> 0."""
    return sp.log(diag) + off / diag


def exponent() -> sp.Expr:
    """log E Z^n / (n D) for n -> 0, without its single-site part."""
    mixing = log_determinant_slope().subs({diag: 1 + chi, off: inv_t * (noise + mse)}, simultaneous=True)
    return -alpha / 2 * mixing + (inv_t * (g_hat * mse - s_hat * chi) + g_hat * chi) / 2


def trick() -> list[Step]:
    """log Z from powers of Z, and the average over one row of the design."""
    logarithm = weight * sp.log(W1) + (1 - weight) * sp.log(W2)
    normal = sp.exp(-(t**2) / (2 * V)) / sp.sqrt(2 * sp.pi * V)
    return [
        Step(
            "replica trick",
            "limit",
            eq(sp.Limit(sp.log(weight * W1**n_zero + (1 - weight) * W2**n_zero) / n_zero, n_zero, 0, "+"), logarithm),
            "The mean of log W from log of the mean of W^n, here for a W with two values; the same derivative at n = "
            "0 holds for "
            "any law of W > 0.",
            _REPLICA,
            ByLimit(),
        ),
        Step(
            "continuation and exchange of limits",
            "assumption",
            eq(
                sp.Limit(sp.Limit(moment(n_zero, inv_t), inv_t, sp.oo), n_zero, 0, "+"),
                sp.Limit(sp.Limit(moment(n_zero, inv_t), n_zero, 0, "+"), inv_t, sp.oo),
            ),
            "E Z^n is computed for integer n and used near n = 0; D -> infinity, n -> 0 and B -> infinity are taken "
            "in the order "
            "that is convenient. Not proved here; the convex Gaussian min-max theorem below needs none of it.",
            _REPLICA,
        ),
        Step(
            "average over one row",
            "identity",
            eq(sp.Integral(sp.exp(-inv_t * t**2 / 2) * normal, (t, -sp.oo, sp.oo)), 1 / sp.sqrt(1 + inv_t * V)),
            "Given the replicas, the residuals of one sample are jointly Gaussian with covariance G_ab = noise + "
            "(1/D) sum_d (beta_a - beta*)_d (beta_b - beta*)_d. Along an eigenvector of G with eigenvalue V the "
            "average is this; "
            "over all of them, det(I + B G)^(-1/2) per sample.",
            _REPLICA,
        ),
    ]


def replica_matrix() -> list[Step]:
    """Inverse and determinant of A I + C J for a symbolic number of replicas, and the limit n -> 0."""
    ansatz = Step(
        "replica symmetry",
        "assumption",
        eq(
            covariance(replica_a, replica_b),
            noise + mse + sp.KroneckerDelta(replica_a, replica_b) * chi / inv_t,
        ),
        "All replicas are alike: G = (noise + mse) J + (chi/B) I, so I + B G = A I + C J with A = 1 + chi and "
        "C = B (noise + mse). The energy is strictly convex, so that at low temperature there is a single state.",
        _REPLICA,
    )
    matrix = diag * _IDENTITY + off * _ONES
    inverse = _IDENTITY / diag - off / (diag * (diag + replicas * off)) * _ONES
    total = replicas / diag - replicas**2 * off / (diag * (diag + replicas * off))
    border = diag + off - off**2 * total
    small = [sp.Matrix(size, size, lambda i, j: off + (diag if i == j else 0)) for size in (2, 3)]
    return [
        ansatz,
        Step(
            "inverse of the replica matrix",
            "identity",
            eq(matrix * inverse, _IDENTITY),
            "For any number of replicas, with J J = n J.",
            "textbook",
            MatrixAlgebra(),
        ),
        Step(
            "sum of the inverse",
            "identity",
            eq(total, replicas / (diag + replicas * off)),
            "1^T (A I + C J)^(-1) 1: n diagonal entries and n^2 entries of J.",
            "textbook",
        ),
        Step(
            "determinant: one more replica",
            "identity",
            eq(determinant(replicas + 1), determinant(replicas) * border),
            "Bordering by a row multiplies the determinant by (A + C) - C^2 1^T (A I + C J)^(-1) 1 (Schur complement).",
            "textbook",
        ),
        Step(
            "determinant: the first replicas",
            "identity",
            both(
                eq(determinant(sp.Integer(1)), sp.Determinant(sp.Matrix([[diag + off]]))),
                *(eq(sp.Determinant(m), determinant(sp.Integer(m.rows))) for m in small),
            ),
            "Start of the induction (one replica; two and three for good measure): det = A^(n-1) (A + n C) for every "
            "n.",
            "textbook",
        ),
        Step(
            "n -> 0",
            "limit",
            eq(sp.Limit(sp.log(determinant(n_zero)) / n_zero, n_zero, 0, "+"), log_determinant_slope()),
            "With A = 1 + chi, C = B (noise + mse): the energetic part is -(alpha/2)[log(1 + chi) + "
            "B (noise + mse)/(1 + chi)] per coordinate.",
            _REPLICA,
            ByLimit(),
        ),
    ]


def conjugates() -> list[Step]:
    """The conjugate order parameters: their coupling to the overlaps, and the single-site problem."""
    overlaps = mse * _ONES + chi / inv_t * _IDENTITY
    kernel = inv_t * g_hat * _IDENTITY - inv_t**2 * s_hat * _ONES
    on_ones = inv_t * g_hat * mse - inv_t**2 * s_hat * mse * replicas - inv_t * s_hat * chi
    per_replica = (g_hat * chi + on_ones).subs(replicas, n_zero)
    shifted = b - x - sp.sqrt(s_hat) * Z / g_hat
    normal = sp.exp(-(t**2) / 2) / sp.sqrt(2 * sp.pi)
    return [
        Step(
            "coupling of the order parameters",
            "identity",
            eq(overlaps * kernel, g_hat * chi * _IDENTITY + on_ones * _ONES),
            "The overlaps are fixed by Fourier integrals with a conjugate matrix, replica symmetric too: K = B g_hat "
            "I - B^2 s_hat J. "
            "The coupling is (D/2) trace(G K), and I and J both have trace n.",
            _REPLICA,
            MatrixAlgebra(),
        ),
        Step(
            "coupling, n -> 0",
            "limit",
            eq(sp.Limit(per_replica, n_zero, 0, "+"), g_hat * chi + inv_t * (g_hat * mse - s_hat * chi)),
            "Per replica, the term with n s_hat mse drops out.",
            _REPLICA,
            ByLimit(),
        ),
        Step(
            "decoupling the replicas",
            "identity",
            eq(sp.Integral(sp.exp(kappa * t) * normal, (t, -sp.oo, sp.oo)), sp.exp(kappa**2 / 2)),
            "Hubbard-Stratonovich: with kappa = B sqrt(s_hat) sum_a (beta_a - x), one Gaussian Z per coordinate "
            "makes the replicas "
            "of a coordinate independent.",
            _REPLICA,
        ),
        Step(
            "a scalar channel appears",
            "identity",
            eq(
                -g_hat / 2 * (b - x) ** 2 + sp.sqrt(s_hat) * Z * (b - x),
                -g_hat / 2 * shifted**2 + s_hat * Z**2 / (2 * g_hat),
            ),
            "Completing the square: each coordinate sees z = x + (sqrt(s_hat)/g_hat) Z, so s2 = s_hat/g_hat^2, and "
            "minimises "
            "(g_hat/2)(b - z)^2 + ridge q(b): the proximal map with g = ridge/g_hat.",
            _REPLICA,
        ),
    ]


def zero_temperature() -> list[Step]:
    """B -> infinity: the single-site integral becomes a minimum, the rest a functional of four numbers."""
    curvature = potential_second_derivative(beta, c)
    root = sp.sqrt(c**2 + beta**2)
    energy = alpha * (noise + mse) / (2 * (1 + chi)) - (g_hat * mse - s_hat * chi) / 2
    return [
        Step(
            "curvature is bounded",
            "inequality",
            both(gt(curvature, 0), le(curvature, 1 / (2 * c))),
            "So the single-site energy lies between two parabolas with the same minimum, of curvature mu = g_hat and "
            "mu = g_hat + ridge/(2c).",
            proof=AnyOf(Signs(), Signs(beta**2 / (2 * c * root * (root + c)))),
        ),
        Step(
            "Gaussian integral",
            "identity",
            eq(sp.Integral(sp.exp(-inv_t * mu * t**2 / 2), (t, -sp.oo, sp.oo)), sp.sqrt(2 * sp.pi / (inv_t * mu))),
            "The partition function of a parabola with minimum 0.",
            "textbook",
        ),
        Step(
            "Laplace",
            "limit",
            eq(sp.Limit(sp.log(inv_t * mu / (2 * sp.pi)) / (2 * inv_t), inv_t, sp.oo), 0),
            "Both parabolas give -(1/B) log(integral) = minimum + this, which vanishes: so does the single-site "
            "energy in between. "
            "The minimum is ridge times the Moreau envelope of q (scalar_channel).",
            "textbook",
            ByLimit(),
        ),
        Step(
            "energy of the order parameters",
            "limit",
            eq(sp.Limit(-exponent() / inv_t, inv_t, sp.oo), energy),
            "The logarithm and the term g_hat chi are of order 1, not of order B.",
            _REPLICA,
            ByLimit(),
        ),
    ]


def steps() -> list[Step]:
    """All steps of the average, in order."""
    return [*trick(), *replica_matrix(), *conjugates(), *zero_temperature()]
