"""The bridge between theory and deep networks: two-layer linear and ReLU networks, teachers that share features.

A diagonal network has one hidden unit (two paths) for every input dimension. Here the hidden layer is free to turn: a
feature is a direction in input space, and which ones are used is learned. The knobs are the same: at the start of
pretraining the hidden weights have norm ``sqrt(c (1+lam)/2)`` and the readout ``sqrt(c (1-lam)/2)`` over each half of
the network (normalised ``lam``; negative: earlier layer smaller), and the readout is drawn again with norm
``gamma/sqrt(2)`` before fine-tuning.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from numerics.task import Initialization
from numerics.validate import check_count, check_number

__all__ = ["Teacher", "TwoLayer", "teacher_pair"]

ACTIVATIONS = {"linear": nn.Identity, "relu": nn.ReLU}


class TwoLayer(nn.Module):
    """``v . phi(W x)`` without biases; inputs (batch, dim), outputs (batch, outputs).

    Hidden units start in pairs with equal incoming weights and opposite readouts, as the two paths of the diagonal
    network do, so that the function is exactly zero at the start.

    Parameters
    ----------
    dim, hidden, outputs : sizes; ``hidden`` must be even.
    activation : "linear" or "relu".
    init : Initialization
        Over each half of the hidden layer the expected squared Frobenius norms are ``w0^2 = c (1+lam)/2`` (incoming)
        and ``v0^2 = c (1-lam)/2`` (readout), so that ``relative_scale_of(W, v)`` is about ``lam``.

    Raises
    ------
    TypeError, ValueError
        For sizes below 1, an odd hidden layer, another activation.
    """

    def __init__(
        self, dim: int, hidden: int, outputs: int = 1, activation: str = "relu", init: Initialization | None = None
    ) -> None:
        super().__init__()
        dim, hidden, outputs = check_count("dim", dim), check_count("hidden", hidden), check_count("outputs", outputs)
        if hidden % 2:
            raise ValueError(f"hidden = {hidden} is not allowed: it must be even, units come in pairs")
        if activation not in ACTIVATIONS:
            raise ValueError(f"activation = {activation!r} is not allowed: it must be 'linear' or 'relu'")
        init = Initialization(1.0) if init is None else init
        w0, v0 = init.weights()
        self.readout, self.gamma = "output", init.gamma
        self.hidden = nn.Linear(dim, hidden, bias=False)
        self.activation = ACTIVATIONS[activation]()
        self.output = nn.Linear(hidden, outputs, bias=False)
        half = hidden // 2
        with torch.no_grad():
            w = torch.randn(half, dim) * (w0 * (half * dim) ** -0.5)
            v = torch.randn(outputs, half) * (v0 * (half * outputs) ** -0.5)
            self.hidden.weight.copy_(torch.cat([w, w]))
            self.output.weight.copy_(torch.cat([v, -v], dim=1))

    @staticmethod
    def scale_exponents() -> dict[str, int]:
        """Powers of kappa that keep the outputs: the hidden layer up, the readout down."""
        return {"hidden.weight": 1, "output.weight": -1}

    def features(self, x: torch.Tensor) -> torch.Tensor:
        """Hidden activations, shape (batch, hidden)."""
        return self.activation(self.hidden(x))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.output(self.features(x))

    @torch.no_grad()
    def start_fine_tuning(self, gamma: float, generator: torch.Generator | None = None) -> None:
        """Balance the paths and draw the readout again, as THEORY section 3 does: the function is zero afterwards.

        Each pair of units takes the sum of its two incoming weight vectors; the new readout has norm ``gamma/sqrt(2)``
        over each half, opposite within a pair.
        """
        gamma = check_number("gamma", gamma, 0.0)
        half = self.output.in_features // 2
        both = self.hidden.weight[:half] + self.hidden.weight[half:]
        self.hidden.weight.copy_(torch.cat([both, both]))
        v = torch.randn(self.output.out_features, half, generator=generator)
        v *= gamma * (2 * v.numel()) ** -0.5
        self.output.weight.copy_(torch.cat([v, -v], dim=1))


class Teacher(NamedTuple):
    """``y = sum_j strength_j phi(u_j . x)``: ``directions`` (k, dim) orthonormal, ``strength`` (outputs, k)."""

    directions: np.ndarray
    strength: np.ndarray
    activation: str

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Targets (n, outputs) of inputs (n, dim)."""
        hidden = x @ self.directions.T
        return (np.maximum(hidden, 0.0) if self.activation == "relu" else hidden) @ self.strength.T


def teacher_pair(
    dim: int,
    rng: np.random.Generator,
    *,
    pt_features: int,
    ft_features: int,
    shared: int,
    activation: str = "relu",
    pt_outputs: int | None = None,
) -> tuple[Teacher, Teacher]:
    """Two teachers whose hidden features are orthonormal directions, ``shared`` of them in common.

    Parameters
    ----------
    dim : input dimension, at least ``pt_features + ft_features - shared``.
    pt_features, ft_features, shared : hidden features of each teacher and how many are the same.
    activation : "linear" or "relu".
    pt_outputs : outputs of the pretraining teacher; the default, one for each feature, makes every feature worth
        learning even without a nonlinearity (a single linear output has only one direction).

    Returns
    -------
    (Teacher, Teacher)
        Each with outputs of mean square one for x ~ N(0, 1) up to the constant of the activation.

    Raises
    ------
    ValueError
        For counts that do not fit.
    """
    dim, shared = check_count("dim", dim), check_count("shared", shared, 0)
    pt_features, ft_features = check_count("pt_features", pt_features), check_count("ft_features", ft_features)
    total = pt_features + ft_features - shared
    if not 0 <= shared <= min(pt_features, ft_features) or total > dim:
        raise ValueError(
            f"pt_features = {pt_features}, ft_features = {ft_features}, shared = {shared} do not fit dim = {dim}: need "
            "0 <= shared <= both, and at most dim different features"
        )
    basis = np.linalg.qr(rng.standard_normal((dim, total)))[0].T
    pt, ft = basis[:pt_features], basis[pt_features - shared :]
    outputs = check_count("pt_outputs", pt_features if pt_outputs is None else pt_outputs)
    if outputs == pt_features:
        strength = np.eye(pt_features)
    else:
        strength = rng.choice([-1.0, 1.0], (outputs, pt_features)) / np.sqrt(pt_features)
    signs = rng.choice([-1.0, 1.0], (1, ft_features)) / np.sqrt(ft_features)
    return Teacher(pt, strength, activation), Teacher(ft, signs, activation)
