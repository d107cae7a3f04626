"""How many dimensions a representation uses, and how many two representations of the same inputs share.

Let ``A`` (n, d) hold the features of n inputs, column means removed, and ``K = A A^T`` its Gram matrix with
eigenvalues ``l_i``. Normalised, ``p_i = l_i / sum l`` is a distribution over directions.

- **Participation ratio** ``PR = (tr K)^2 / tr K^2 = 1 / sum p_i^2``: the number of equal eigenvalues that would give
  the same ``sum p^2``. ``1 <= PR <= rank A`` (Cauchy-Schwarz); the rank when all non-zero eigenvalues are equal.
- **Effective number of shared dimensions** (Giaffar et al. 2023). For PR itself, ``1/PR = tr(P P)``, ``P = K / tr K``.
  Replace one factor by the other representation's ``Q = L / tr L`` and normalise so that a representation shares all of
  its dimensions with itself: ``ENSD = tr(P Q) / (tr(P P) tr(Q Q)) = PR_a PR_b tr(P Q)``. Hence ``ENSD(A, A) = PR(A)``,
  ENSD = 0 exactly when the column spaces are orthogonal, and ``ENSD <= sqrt(PR_a PR_b)`` by Cauchy-Schwarz. It may
  exceed the smaller of the two participation ratios, never their geometric mean.
- **CKA** (linear) is the normalised alignment that remains: ``CKA = ENSD / sqrt(PR_a PR_b)``, in [0, 1].

All three depend on the Gram matrices alone: they do not change under a rotation of the units, a common rescaling, a
permutation of the units, or zero units added. None is invariant under a general invertible map.

``space="units"`` compares the feature covariances ``A^T A`` of the *same* units instead (the two arrays then have equal
widths, and may come from different inputs): the form some code uses for one network before and after training. It
sees a rotation of the units as a change; ``space="samples"``, the default, does not.
"""

from __future__ import annotations

import numpy as np

from numerics.validate import as_array

__all__ = ["cka", "effective_number_of_shared_dimensions", "feature_drift", "participation_ratio"]


def participation_ratio(features: object, center: bool = True) -> float:
    """``(tr K)^2 / tr K^2`` of the Gram matrix of ``features``: between 1 and its rank.

    Parameters
    ----------
    features : (n, ...) array or tensor; everything after the first axis is flattened to units.
    center : remove the mean of each unit over the inputs (the covariance's PR); False keeps it.

    Raises
    ------
    TypeError, ValueError
        For entries that are not finite real numbers, fewer than two inputs with ``center``, or features that do not
        vary (all zero after centring): their dimension is undefined.

    Source: module docstring.
    """
    gram = _gram(_features("features", features, center))
    return float(np.trace(gram) ** 2 / np.sum(gram * gram))


def effective_number_of_shared_dimensions(
    a: object, b: object, center: bool = True, *, space: str = "samples"
) -> float:
    """``tr K tr L tr(K L) / (tr K^2 tr L^2)`` of the two Gram matrices: between 0 and ``sqrt(PR_a PR_b)``.

    Parameters
    ----------
    a, b : (n, ...) features of the same n inputs, in the same order; widths may differ (``space="samples"``).
    center : remove the mean of each unit over the inputs.
    space : "samples" compares ``a a^T`` with ``b b^T``; "units" compares ``a^T a`` with ``b^T b`` (equal widths).

    Raises
    ------
    TypeError, ValueError
        As :func:`participation_ratio`, and for numbers of inputs (or units) that differ.

    Source: Giaffar et al. 2023; derived in the module docstring.
    """
    a, b = _features("a", a, center), _features("b", b, center)
    aa, bb, ab = _overlaps(a, b, space)
    return float(np.sum(a * a) * np.sum(b * b) * (ab / aa / bb))


def cka(a: object, b: object, center: bool = True, *, space: str = "samples") -> float:
    """Linear centred kernel alignment ``tr(K L) / sqrt(tr K^2 tr L^2) = ENSD / sqrt(PR_a PR_b)``, in [0, 1].

    Arguments and errors as :func:`effective_number_of_shared_dimensions`.
    """
    aa, bb, ab = _overlaps(_features("a", a, center), _features("b", b, center), space)
    return float(min(1.0, ab / np.sqrt(aa * bb)))  # rounding alone takes it past 1


def feature_drift(before: object, after: object) -> float:
    """``||after - before|| / ||before||`` over all inputs and units; the shapes must be equal."""
    before, after = as_array("before", _numpy(before)), as_array("after", _numpy(after))
    if before.shape != after.shape:
        raise ValueError(f"before has shape {before.shape} and after {after.shape}: they must be equal")
    size = np.linalg.norm(before)
    if size == 0.0:
        raise ValueError("before = 0 in every entry is not allowed: a drift relative to it is undefined")
    return float(np.linalg.norm(after - before) / size)


def _numpy(features: object) -> object:
    """Tensors, on any device and of any float type, as arrays; everything else as it is."""
    if hasattr(features, "detach"):
        features = features.detach().cpu()
        return (features.double() if features.is_floating_point() else features).numpy()
    return features


def _features(name: str, features: object, center: bool) -> np.ndarray:
    """Checked (n, d) features, centred if asked, in units of the largest entry: the measures have no scale."""
    array = as_array(name, _numpy(features))
    if array.ndim < 2:
        raise ValueError(f"{name} has shape {array.shape}: it must have an axis of inputs and one of units")
    array = array.reshape(len(array), -1)
    if center and len(array) < 2:
        raise ValueError(f"{name} has shape {array.shape}: centring needs at least two inputs")
    size = np.abs(array).max()
    array = array / size if size > 0.0 else array
    centred = array - array.mean(axis=0) if center else array
    if np.abs(centred).max() <= 1e-14:  # what rounding leaves of a constant
        what = "do not vary over the inputs" if center else "are all zero"
        raise ValueError(f"{name}: the {array.shape[1]} units {what}, so their dimension is undefined")
    return centred / np.abs(centred).max()


def _gram(a: np.ndarray) -> np.ndarray:
    """The smaller of ``a a^T`` and ``a^T a``: both have the same non-zero eigenvalues."""
    return a @ a.T if len(a) <= a.shape[1] else a.T @ a


def _overlaps(a: np.ndarray, b: np.ndarray, space: str) -> tuple[float, float, float]:
    """``tr K^2, tr L^2, tr K L``, each as a squared Frobenius norm of the cheapest product."""
    if space not in ("samples", "units"):
        raise ValueError(f"space = {space!r} is not allowed: it must be 'samples' or 'units'")
    axis, words = (0, "inputs") if space == "samples" else (1, "units")
    if a.shape[axis] != b.shape[axis]:
        raise ValueError(f"a has {a.shape[axis]} {words} and b has {b.shape[axis]}: they must be equal")
    square_a, square_b = _gram(a), _gram(b)
    cross = a.T @ b if space == "samples" else a @ b.T
    return float(np.sum(square_a**2)), float(np.sum(square_b**2)), float(np.sum(cross**2))
