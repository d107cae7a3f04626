"""Laws of the task against sampled vectors, and a person's own vectors against exact finite-size solutions."""

import numpy as np
import pytest

from numerics.diagonal import interpolate
from numerics.replica import generalization_curve
from numerics.task import Initialization, Slab, Task

INIT = Initialization(5e-2, -0.6, 0.1)


def test_own_vectors_against_exact_solutions():
    """One fixed pair of vectors, many designs: the prediction is their mean up to sampling error and 1/D."""
    dim, alpha = 400, 0.4
    rng = np.random.default_rng(3)
    pt = np.where(rng.random(dim) < 0.3, rng.standard_normal(dim), 0.0)
    ft = np.where(rng.random(dim) < 0.2, 2 * pt + rng.standard_normal(dim), 0.0)
    predicted = float(generalization_curve(Task.from_samples(pt, ft), INIT, alpha).mse[0])
    found = []
    for _ in range(24):
        X = rng.standard_normal((int(alpha * dim), dim)) / np.sqrt(dim)
        found.append(np.mean((interpolate(X, X @ ft, INIT.c_ft(pt)).beta - ft) ** 2))
    error = np.std(found, ddof=1) / np.sqrt(len(found))
    assert abs(np.mean(found) - predicted) < 3.5 * error + 0.01 * predicted
    assert error < 0.06 * predicted  # the comparison can fail


@pytest.mark.parametrize(
    "task",
    [
        Task(0.4, 0.5, 0.2),
        Task(0.4, 0.5, 0.2, Slab.gaussian(2.0), Slab.gaussian(1.5), correlation=0.8),
        Task(0.4, 0.5, 0.2, Slab.sign(2.0), Slab.sign(1.5), correlation=-1.0),
        Task(0.4, 0.5, 0.2, Slab.sign(1.0), Slab.gaussian(3.0), correlation=-0.5),
        Task(0.4, 0.9, 0.2, Slab.gaussian(1.0), Slab.point(-2.0)),
    ],
)
def test_sampled_vectors_have_the_law(task):
    """The empirical law of a long sample predicts what the task's own law predicts."""
    pt, ft = task.sample(20_000, np.random.default_rng(0))
    law = task.law
    assert law.weight.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.mean(ft**2) == pytest.approx(law.second_moment, rel=0.05)
    assert np.mean(pt**2) == pytest.approx(law.pt_second_moment, rel=0.05)
    mean = law.offset + law.slope * law.pt_mean
    product = np.sum(law.weight * (law.pt_mean * mean + law.slope * law.pt_var))
    assert np.mean(pt * ft) == pytest.approx(product, abs=0.05 * np.sqrt(law.second_moment * law.pt_second_moment))
    options = {"alpha": 0.5, "noise": 0.05, "start": 0.5}
    own = generalization_curve(task, INIT, **options)
    empirical = generalization_curve(Task.from_samples(pt[:4000], ft[:4000]), INIT, **options)
    for name in ("mse", "forgetting", "ell_order"):
        assert float(empirical[name][0]) == pytest.approx(float(own[name][0]), rel=0.08), name


def test_sign_slabs_as_gaussian_mixtures_of_zero_width():
    """A random sign is a limit of narrow Gaussians around +-a only through its two atoms: compare with from_samples."""
    atoms = [(b, x) for b in (0.0, 2.0, -2.0) for x in (0.0, 1.5, -1.5)]
    weights = {(0.0, 0.0): 12, (0.0, 1.5): 2, (0.0, -1.5): 2, (2.0, 0.0): 2, (-2.0, 0.0): 2}
    counts = [weights.get(atom, 1 if 0.0 not in atom else 0) for atom in atoms]
    pairs = np.repeat(np.array(atoms), counts, axis=0)
    total = sum(counts)
    rho_pt = sum(n for (b, _), n in zip(atoms, counts, strict=True) if b) / total
    task = Task(rho_pt, 0.5, 0.25, Slab.sign(2.0), Slab.sign(1.5))
    one = generalization_curve(task, INIT, [0.3, 0.8], noise=0.1)
    two = generalization_curve(Task.from_samples(pairs[:, 0], pairs[:, 1]), INIT, [0.3, 0.8], noise=0.1)
    np.testing.assert_allclose(one.mse, two.mse, rtol=1e-12)
    np.testing.assert_allclose(one.group_error, two.group_error, rtol=1e-12)


def test_tasks_made_from_different_vectors_differ():
    rng = np.random.default_rng(0)
    pt, ft = rng.standard_normal((2, 10))
    assert Task.from_samples(pt, ft) == Task.from_samples(pt, ft)
    assert Task.from_samples(pt, ft) != Task.from_samples(pt, 2 * ft)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Task(1.5, 0, 0), r"rho_pt = 1\.5 is not allowed: .* \[0, 1\]"),
        (lambda: Task(0.1, 0, 0), "leave no dimension"),
        (lambda: Task.from_overlap(0.1, 0.2, 1.0), r"omega\*rho_ft <= rho_pt"),
        (lambda: Task.from_overlap(0.9, 0.2, 0.0), r"\(1-omega\)\*rho_ft <= 1-rho_pt"),
        (lambda: Task(0.1, 0.1, 0.1, correlation=2), "correlation = 2"),
        (lambda: Task(0.1, 0.1, 0.1, ft_slab=Slab.point(1.0), correlation=0.5), "must be 0"),
        (lambda: Task(0.1, 0.1, 0.1, pt_slab="gaussian"), "pt_slab must be a Slab"),
        (lambda: Task.from_samples([1.0], [1.0, 2.0]), r"shape \(1,\)"),
        (lambda: Task.from_samples([1.0, np.nan], [1.0, 2.0]), "nan"),
        (lambda: Task.from_samples([1.0], [0.0]), "nothing to fine-tune"),
        (lambda: Slab("cauchy", 1.0), "kind = 'cauchy'"),
        (lambda: Slab.gaussian(0.0), r"variance = 0\.0"),
        (lambda: Slab.point(0.0), r"scale = 0\.0"),
        (lambda: Initialization(0.0), r"c = 0\.0"),
        (lambda: Initialization(1.0, 1.5), r"lam = 1\.5 is not allowed: .* \[-1, 1\]"),
        (lambda: Initialization(1.0, 0.0, -1.0), r"gamma = -1\.0"),
        (lambda: Initialization(1.0, -1.0, 0.0), "cannot move"),
        (lambda: Initialization("1"), "c must be a real number"),
        (lambda: Initialization(True), "c must be a real number"),
        (lambda: Initialization.from_weights(0.0, 0.0), "give c = 0"),
        (lambda: Initialization.from_unnormalised_lambda(1.0, 1.5), r"difference = 1\.5"),
    ],
)
def test_bad_values_are_named(make, words):
    with pytest.raises((TypeError, ValueError), match=words):
        make()


def test_named_doors_of_other_conventions():
    init = Initialization.from_weights(0.3, 0.4, readout=0.5)
    assert init.c == pytest.approx(0.25)
    assert init.lam == pytest.approx((0.09 - 0.16) / 0.25)
    assert init.gamma == pytest.approx(0.5 * np.sqrt(2))
    assert init.weights() == pytest.approx((0.3, 0.4))
    other = Initialization.from_unnormalised_lambda(0.25, -0.07)
    assert other.lam == pytest.approx(-0.28)
    assert Initialization.from_readout(1.0, 0.0, 0.5).gamma == pytest.approx(0.5 * np.sqrt(2))
