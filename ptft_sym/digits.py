"""The example for people without data: scikit-learn's digits, pretrained on 3 against 8, fine-tuned on 3 against 5.

The 8x8 images come with scikit-learn, so nothing is downloaded. The inputs are the 64 pixels and their products in
pairs, of which those are kept that are lit in at least one pretraining image in twenty.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ptft_sym.arrays import standardise

PRETRAIN, FINETUNE = (3, 8), (3, 5)


class Digits(NamedTuple):
    """Standardised arrays (see `arrays.standardise`), targets +-1 (`y_pt` centred), and a statement."""

    x_pt: np.ndarray
    y_pt: np.ndarray
    x_ft: np.ndarray
    y_ft: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray
    message: str


def load(per_class=3, draw=0):
    """The two tasks: half of all images for pretraining; `per_class` images a digit for fine-tuning, the rest tests.

    Parameters
    ----------
    per_class : fine-tuning images of each of the two digits, 1 to 50.
    draw : seed of the choice of the fine-tuning images; the halves do not depend on it.

    Raises
    ------
    ImportError, ValueError
        Without scikit-learn; for `per_class` out of range.
    """
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise ImportError("the digits example needs scikit-learn: pip install 'ptft-sym[data]'") from None
    if not 1 <= per_class <= 50:
        raise ValueError(f"per_class = {per_class} is not allowed: it must be an integer in [1, 50]")
    pixels, digit = load_digits(return_X_y=True)
    order = np.random.default_rng(2602).permutation(len(digit))
    first, second = order[: len(order) // 2], order[len(order) // 2 :]
    pretrain = first[np.isin(digit[first], PRETRAIN)]
    later = second[np.isin(digit[second], FINETUNE)]
    rng = np.random.default_rng([2602, draw])
    few = np.concatenate([rng.choice(later[digit[later] == d], per_class, replace=False) for d in FINETUNE])
    test = np.setdiff1d(later, few)
    parts = [_pairs(pixels[rows] / 16.0) for rows in (pretrain, few, test)]
    lit = (parts[0] > 0).mean(axis=0) >= 0.05
    y_pt, y_ft, y_test = (
        np.where(digit[rows] == contrast[0], 1.0, -1.0)
        for rows, contrast in ((pretrain, PRETRAIN), (few, FINETUNE), (test, FINETUNE))
    )
    ready = standardise(parts[0][:, lit], y_pt, parts[1][:, lit], parts[2][:, lit])
    message = f"digits {_words(PRETRAIN)}, then {_words(FINETUNE)}; {ready.message}"
    return Digits(ready.x_pt, ready.y_pt, ready.others[0], y_ft, ready.others[1], y_test, message)


def _pairs(x):
    """The columns of x, then their products in pairs (squares included)."""
    i, j = np.triu_indices(x.shape[1])
    return np.hstack([x, x[:, i] * x[:, j]])


def _words(contrast):
    return f"{contrast[0]} against {contrast[1]}"
