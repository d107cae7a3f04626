"""Participation ratio, ENSD and CKA: closed forms, invariances and bounds."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from numerics.networks.representation import (
    cka,
    effective_number_of_shared_dimensions,
    feature_drift,
    participation_ratio,
)

ensd = effective_number_of_shared_dimensions


def orthonormal(n, k, seed, centred=True):
    """(n, k) orthonormal columns, orthogonal to the constant vector if asked."""
    draws = np.random.default_rng(seed).standard_normal((n, k))
    draws = draws - draws.mean(0) if centred else draws
    return np.linalg.qr(draws)[0]


def with_spectrum(scales, seed=0, n=40):
    """Features whose covariance has exactly the eigenvalues ``scales ** 2``."""
    scales = np.asarray(scales, float)
    rotation = np.linalg.qr(np.random.default_rng(seed + 1).standard_normal((len(scales),) * 2))[0]
    return orthonormal(n, len(scales), seed) * scales @ rotation


@pytest.mark.parametrize(
    ("scales", "expected"),
    [([3.0], 1.0), ([2.0] * 5, 5.0), ([2.0, 1.0], 25 / 17), ([1.0, 1.0, 0.0], 2.0), ([1e-3, 1e3], 1.0)],
)
def test_pr_of_a_known_spectrum(scales, expected):
    assert participation_ratio(with_spectrum(scales)) == pytest.approx(expected, rel=1e-9)


def test_pr_of_a_gaussian_cloud_follows_the_wishart_mean():
    # E tr C = p, E tr C^2 = p (1 + (p + 1)/n) for n inputs of p standard normal units: PR about p / (1 + p/n)
    n, p = 400, 200
    value = participation_ratio(np.random.default_rng(0).standard_normal((n, p)), center=False)
    assert value == pytest.approx(p / (1 + (p + 1) / n), rel=0.01)


def test_centring_matters_only_when_there_is_a_mean():
    x = with_spectrum([1.0, 1.0, 1.0])
    assert participation_ratio(x, center=False) == pytest.approx(3.0)
    shifted = x + 100.0
    assert participation_ratio(shifted) == pytest.approx(3.0, rel=1e-6)
    assert participation_ratio(shifted, center=False) < 1.001


def test_ensd_of_known_spectra_in_common_directions():
    # K and L share eigenvectors: ENSD = sum(p)sum(q)sum(pq) / (sum p^2 sum q^2)
    basis = orthonormal(30, 3, 4)
    p, q = np.array([3.0, 2.0, 1.0]), np.array([0.0, 1.0, 5.0])
    expected = p.sum() * q.sum() * (p @ q) / ((p @ p) * (q @ q))
    for space in ("samples", "units"):
        assert ensd(basis * np.sqrt(p), basis * np.sqrt(q), space=space) == pytest.approx(expected, rel=1e-12)


def test_ensd_counts_shared_dimensions():
    basis = orthonormal(60, 9, 5)
    assert ensd(basis[:, :6], basis[:, 4:]) == pytest.approx(2.0)  # 6 and 5 equal dimensions, 2 of them the same
    assert ensd(basis[:, :4], basis[:, 4:]) == pytest.approx(0.0, abs=1e-12)


def test_ensd_may_exceed_the_smaller_pr_but_not_the_geometric_mean():
    basis = orthonormal(30, 3, 6)
    a, b = basis * np.sqrt([10.0, 1.0, 1.0]), basis[:, :1]
    assert ensd(a, b) > participation_ratio(b) + 0.1
    assert ensd(a, b) <= np.sqrt(participation_ratio(a) * participation_ratio(b))


shapes = st.tuples(st.integers(3, 12), st.integers(1, 9), st.integers(1, 9), st.integers(0, 10_000))


@given(shapes, st.booleans())
def test_bounds_symmetry_and_invariances(shape, center):
    n, p, q, seed = shape
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((n, p)), rng.standard_normal((n, q))
    pr_a, pr_b, shared = participation_ratio(a, center), participation_ratio(b, center), ensd(a, b, center)
    assert 1 - 1e-12 <= pr_a <= min(n - center, p) + 1e-9
    assert 0 <= shared <= np.sqrt(pr_a * pr_b) * (1 + 1e-12)
    assert shared == pytest.approx(ensd(b, a, center), rel=1e-12)
    assert ensd(a, a, center) == pytest.approx(pr_a, rel=1e-12)
    assert cka(a, b, center) == pytest.approx(shared / np.sqrt(pr_a * pr_b), rel=1e-12)
    rotation = np.linalg.qr(rng.standard_normal((p, p)))[0]
    changed = np.hstack([-7.5e-9 * a @ rotation, np.zeros((n, 2))])  # rotated, rescaled, two silent units
    order = rng.permutation(n)
    assert participation_ratio(changed, center) == pytest.approx(pr_a, rel=1e-9)
    assert ensd(changed[order], b[order], center) == pytest.approx(shared, rel=1e-8)


def test_units_see_a_rotation_that_samples_do_not():
    a = with_spectrum([3.0, 1.0, 0.1, 0.1])
    turned = a[:, [1, 2, 3, 0]]
    assert ensd(a, turned) == pytest.approx(participation_ratio(a))
    assert ensd(a, turned, space="units") < 0.9 * participation_ratio(a)
    assert ensd(a, a[:20], space="units") > 0  # other inputs are allowed there


@pytest.mark.parametrize("make", [list, np.float32, torch.tensor, lambda x: torch.tensor(x, dtype=torch.bfloat16)])
def test_lists_float32_and_tensors(make):
    a = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]
    a = make(a) if make is not np.float32 else np.array(a, np.float32)
    assert participation_ratio(a) == pytest.approx(2.0)
    assert ensd(a, a) == pytest.approx(2.0)


def test_images_are_flattened_and_huge_values_do_not_overflow():
    x = np.random.default_rng(0).standard_normal((6, 2, 3, 3))
    assert participation_ratio(x * 1e200) == pytest.approx(participation_ratio(x.reshape(6, 18)))


@pytest.mark.parametrize(
    ("features", "word"),
    [
        (np.ones((4, 3)), "do not vary"), (np.zeros((1, 3)), "at least two"), (np.ones(4), "axis"),
        (np.array([[1.0, np.nan], [0, 1]]), "finite"), (np.zeros((0, 3)), "empty"),
    ],
)  # fmt: skip
def test_undefined_dimensions_are_refused(features, word):
    with pytest.raises(ValueError, match=word):
        participation_ratio(features)


def test_refusals_name_the_argument():
    a = np.random.default_rng(0).standard_normal((5, 3))
    with pytest.raises(ValueError, match="a has 5 inputs and b has 4"):
        ensd(a, a[:4])
    with pytest.raises(ValueError, match="units"):
        cka(a, a[:, :2], space="units")
    with pytest.raises(ValueError, match="space = 'x'"):
        ensd(a, a, space="x")
    with pytest.raises(TypeError, match="features"):
        participation_ratio("text")
    with pytest.raises(ValueError, match="all zero"):
        participation_ratio(np.zeros((3, 2)), center=False)


def test_feature_drift():
    a = np.array([[3.0, 0.0], [0.0, 4.0]])
    assert feature_drift(a, 2 * a) == pytest.approx(1.0)
    assert feature_drift(a, a) == 0.0
    with pytest.raises(ValueError, match="equal"):
        feature_drift(a, a[:1])
    with pytest.raises(ValueError, match="undefined"):
        feature_drift(0 * a, a)
