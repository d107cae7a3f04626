"""`interpolate` on random small designs: KKT, dual = primal, the least of all interpolators, and its symmetries.

The expected relations are written out here in NumPy, from THEORY sections 2 and 7; none is taken from the solver.
"""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from strategies import attempt, examples, note, problems

import ptft_sym as pt

RIDGES = st.sampled_from([0.0, 0.0, 1e-3, 0.5, 30.0])


def solve(problem, ridge=0.0):
    note(f"X, y, c_ft = {problem}.data")
    X, y, c_ft = problem.data
    note(f"reproduce: pt.interpolate(*strategies.{problem}.data, ridge={ridge})")
    return X, y, c_ft, pt.interpolate(X, y, c_ft, ridge)


def potential(beta, c_ft):
    """(c/2)(s sinh s - 2 sinh(s/2)^2), s = asinh(beta/c): THEORY section 2."""
    s = np.arcsinh(beta / c_ft)
    return 0.5 * c_ft * (s * np.sinh(s) - 2 * np.sinh(s / 2) ** 2)


@given(problems(), RIDGES)
@examples()
def test_kkt(problem, ridge):
    """q'(beta) = X^T nu and X beta + ridge nu = y."""
    X, y, c_ft, found = solve(problem, ridge)
    size = np.linalg.norm(y)
    assert np.linalg.norm(X @ found.beta + ridge * found.nu - y) <= 1e-9 * size
    angle = 0.5 * np.arcsinh(found.beta / c_ft)
    turn = max(np.max(np.abs(angle)), np.max(np.abs(X.T) @ np.abs(found.nu)))
    assert np.max(np.abs(angle - X.T @ found.nu)) <= 1e-9 * turn
    assert found.residual <= 1e-10


@given(problems(), RIDGES)
@examples()
def test_dual_value_equals_primal_value(problem, ridge):
    """sum q + ||y - X beta||^2/(2 ridge) = nu.y - sum (c/2)(cosh(2 X^T nu) - 1) - ridge ||nu||^2/2."""
    X, y, c_ft, found = solve(problem, ridge)
    primal = potential(found.beta, c_ft).sum()
    if ridge:
        primal += np.sum((y - X @ found.beta) ** 2) / (2 * ridge)
    conjugate = c_ft * np.sinh(X.T @ found.nu) ** 2  # (c/2)(cosh 2t - 1), without cancellation
    dual = found.nu @ y - conjugate.sum() - 0.5 * ridge * found.nu @ found.nu
    size = abs(found.nu) @ abs(y) + conjugate.sum() + primal
    assert abs(primal - dual) <= 1e-8 * size


@given(problems(), st.integers(0, 2**32 - 1), st.sampled_from([1e-3, 0.1, 1.0]))
@examples()
def test_no_other_interpolator_has_less_potential(problem, seed, length):
    """A feasible move (in the null space of X) of any size costs."""
    X, _, c_ft, found = solve(problem)
    _, _, right = np.linalg.svd(X)
    free = right[len(X) :]
    move = free.T @ np.random.default_rng(seed).standard_normal(len(free))
    move *= length * (np.linalg.norm(found.beta) or 1.0) / np.linalg.norm(move)
    there, here = potential(found.beta + move, c_ft).sum(), potential(found.beta, c_ft).sum()
    assert there >= here * (1 - 1e-8)


@given(problems(), RIDGES, st.randoms(use_true_random=False))
@examples(0.5)
def test_permutations_signs_and_rotations(problem, ridge, random):
    """Columns permuted and flipped permute and flip beta; rows reordered change nothing; y -> -y flips beta."""
    X, y, c_ft, found = solve(problem, ridge)
    n, dim = X.shape
    columns, rows = random.sample(range(dim), dim), random.sample(range(n), n)
    signs = np.array([random.choice((-1.0, 1.0)) for _ in range(dim)])
    close = {"rtol": 1e-7, "atol": 1e-8 * np.max(np.abs(found.beta))}
    other = pt.interpolate((X * signs)[rows][:, columns], y[rows], c_ft[columns], ridge)
    np.testing.assert_allclose(other.beta, (signs * found.beta)[columns], **close)
    np.testing.assert_allclose(pt.interpolate(X, -y, c_ft, ridge).beta, -found.beta, **close)
    rotation, _ = np.linalg.qr(np.random.default_rng(random.randrange(2**32)).standard_normal((n, n)))
    np.testing.assert_allclose(pt.interpolate(rotation @ X, rotation @ y, c_ft, ridge).beta, found.beta, **close)


@given(problems(), st.integers(-30, 30), st.integers(-10, 10), RIDGES)
@examples(0.5)
def test_scale_covariance(problem, power, other, ridge):
    """y -> t y, c -> t c, ridge -> t ridge scales beta; X -> r X, y -> r y, ridge -> r^2 ridge changes nothing."""
    X, y, c_ft, found = solve(problem, ridge)
    t, r = 2.0**power, 2.0**other
    close = {"rtol": 1e-7, "atol": 1e-9 * np.max(np.abs(found.beta))}
    np.testing.assert_allclose(pt.interpolate(X, t * y, t * c_ft, t * ridge).beta / t, found.beta, **close)
    np.testing.assert_allclose(pt.interpolate(r * X, r * y, c_ft, r * r * ridge).beta, found.beta, **close)


@given(problems(most=8))
@examples(0.3)
def test_finetune_is_two_interpolations_and_the_map_between(problem):
    """`finetune` = interpolate at c, then interpolate at c_FT(beta_PT): the same numbers through another door."""
    X, y, c_ft = problem.data
    init = pt.Initialization(float(c_ft[0]), -0.3, 0.2)
    found = attempt("finetune", X, y, X[::-1], -y, init)
    beta_pt = pt.interpolate(X, y, np.full(problem.dim, init.c)).beta
    beta = pt.interpolate(X[::-1], -y, init.c_ft(beta_pt)).beta
    close = {"rtol": 1e-6, "atol": 1e-7 * np.max(np.abs(beta_pt))}
    np.testing.assert_allclose(found.pretrained.beta, beta_pt, **close)
    np.testing.assert_allclose(found.finetuned.beta, beta, **close)
