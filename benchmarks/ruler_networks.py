"""Networks for the ruler: what is pretrained, what is done to it, and with which probes it is asked.

Each subject is pretrained on features of known strengths (1/1.5, 1, 1.5), because the ruler needs them: directions of
a Gaussian input (two-layer networks), patterns of an image (ResNets), characters of modular arithmetic (Transformers:
:mod:`numerics.networks.modular_probes`).
Architectures and interventions are those of `benchmarks/nonlinear.py`.
"""

from typing import NamedTuple

import numpy as np
import torch

import ptft_sym as pt
from numerics.networks.interventions import absolute_scale, relative_scale
from numerics.networks.mlp import Teacher, TwoLayer
from numerics.networks.modular_probes import character_task
from numerics.networks.probes import linear_probes
from numerics.networks.resnet import ResNet
from numerics.networks.training import TrainConfig, fit
from numerics.networks.transformer import Transformer
from numerics.networks.tuner import NetworkTuner

STRENGTH = np.array([1 / 1.5, 1 / 1.5, 1.0, 1.0, 1.0, 1.5, 1.5])
SIDE = 8  # of the images
PLACES = ((0, 1), (1, 0), (1, 1), (0, 2), (2, 0), (1, 2), (2, 1))  # cosine waves of an image: downwards, across


class Subject(NamedTuple):
    """One network: `build(seed, **options)` gives a tuner and a function of the number of probes."""

    family: str
    name: str
    options: dict


def subjects():
    """All networks, in the order of the table."""
    for activation in ("linear", "relu"):
        for lam, gamma in ((-0.999, 0.0), (0.0, 0.0), (0.9, 0.0), (0.0, 3.0)):
            words = {"activation": activation, "lam": lam, "gamma": gamma}
            yield Subject("mlp", f"two-layer {activation}, lam {lam:g}, gamma {gamma:g}", words)
        words = {"activation": activation, "lam": 0.0, "gamma": 3.0, "scratch": True}
        yield Subject("mlp", f"two-layer {activation}, lam 0, gamma 3, scratch", words)
    for name, options in {
        "gamma 1": {}, "gamma .1": {"gamma": 0.1}, "gamma 10": {"gamma": 10.0}, "kappa .3": {"kappa": 0.3},
        "kappa 3": {"kappa": 3.0}, "all x.8": {"factor": 0.8}, "all x1.25": {"factor": 1.25},
        "scratch": {"scratch": True}, "batch norm": {"norm": "batch"},
        "gamma .1, labels": {"gamma": 0.1, "labels": True},
    }.items():  # fmt: skip
        yield Subject("resnet", f"ResNet, {name}", options)
    for name, options in {
        "kappa .1": {"kappa": 0.1}, "kappa 1": {}, "kappa 3": {"kappa": 3.0}, "gamma .1": {"gamma": 0.1},
        "gamma 10": {"gamma": 10.0}, "scratch": {"scratch": True}, "gamma .1, labels": {"gamma": 0.1, "labels": True},
    }.items():  # fmt: skip
        yield Subject("transformer", f"Transformer, {name}", options)


def ask(subject, seed, number, bootstrap=2000):
    """The ruler's answer for one network, as a flat record; a probe that cannot be learned is the answer then."""
    tuner, probes, amplitude = {"mlp": two_layer, "resnet": resnet, "transformer": transformer}[subject.family](
        seed, number, **subject.options
    )
    try:
        found = pt.estimate_bias(tuner, probes, amplitude=amplitude, seed=seed, bootstrap=bootstrap)
    except (RuntimeError, ValueError) as error:
        return {"regime": "none", "message": str(error)}
    names = ("ell_order", "pd", "slope", "ell_order_interval", "pd_interval", "slope_interval")
    return {n: getattr(found, n) for n in (*names, "saturated", "additivity", "regime", "message")}


def two_layer(seed, number, activation, lam, gamma, amplitude=1.0, scratch=False):
    """Width 200, 20 inputs, c = 0.01; one output a feature."""
    rng = np.random.default_rng(seed)
    directions = np.linalg.qr(rng.standard_normal((20, len(STRENGTH))))[0].T
    x = rng.standard_normal((1000, 20)).astype(np.float32)
    y = Teacher(directions, np.diag(STRENGTH), activation)(x).astype(np.float32)
    torch.manual_seed(seed)
    model = TwoLayer(20, 200, len(STRENGTH), activation, pt.Initialization(0.01, lam))
    if not scratch:
        fit(model, x, y, TrainConfig(lr=0.02, batch_size=1000, max_steps=4000, stop_loss=1e-4, loss="mse"))
    tuner = NetworkTuner(model, TrainConfig(lr=0.01, loss="mse", max_steps=5000, stop_loss=1e-4), gamma, seed)
    probes = linear_probes(
        directions, STRENGTH, at=1.0, amplitude=amplitude, nuisance=0.1, number=number, seed=seed
    )
    return tuner, probes, amplitude


def patterns():
    """(7, 64) orthonormal images: products of two cosine waves."""
    waves = [np.cos(np.pi * (np.arange(SIDE) + 0.5) * k / SIDE) for k in range(3)]
    images = np.array([np.outer(waves[i], waves[j]).ravel() for i, j in PLACES])
    return images / np.linalg.norm(images, axis=1, keepdims=True)


def resnet(seed, number, gamma=1.0, kappa=1.0, factor=1.0, scratch=False, norm="none", labels=False):
    """Width 8, images of 8x8; regresses the coefficients of seven patterns from images of Gaussian pixels."""
    rng = np.random.default_rng(seed)
    directions = patterns()[rng.permutation(len(PLACES))]  # which pattern is strong differs from seed to seed
    x = rng.standard_normal((2000, SIDE * SIDE))
    x -= 0.7 * x @ (np.eye(SIDE * SIDE) - directions.T @ directions)  # the rest at 0.3 of its size
    y = (x @ directions.T * STRENGTH).astype(np.float32)
    torch.manual_seed(seed)
    model = ResNet(len(STRENGTH), 1, 8, norm=norm)
    if not scratch:
        config = TrainConfig("adamw", 2e-3, max_steps=2000, stop_loss=0.02, loss="mse", clip=1.0, seed=seed)
        fit(model, x.reshape(-1, 1, SIDE, SIDE).astype(np.float32), y, config)
    if kappa != 1.0:
        relative_scale(model, kappa)
    if factor != 1.0:
        absolute_scale(model, factor)
    probes = linear_probes(
        directions, STRENGTH, at=1.0, nuisance=0.3, number=number, seed=seed, labels=labels, paired=True,
        copies=8 if norm == "batch" else 1, shape=(1, SIDE, SIDE),
    )  # fmt: skip
    return NetworkTuner(model, tuning(max(gamma, factor**8), labels), gamma, seed), probes, 1.0


def transformer(seed, number, gamma=1.0, kappa=1.0, scratch=False, labels=False):
    """One layer, dim 48, two heads; N = 30; kappa scales embeddings up and the readout down before pretraining."""
    task = character_task(seed)
    torch.manual_seed(seed)
    model = Transformer(task.modulus + 1, len(task.values), balancedness=kappa)
    if not scratch:
        config = TrainConfig(
            "adamw", 2e-3, batch_size=256, max_steps=2000, stop_loss=0.01, loss="mse", seed=seed
        )
        fit(model, task.x, task.targets, config)
    return NetworkTuner(model, tuning(gamma, labels), gamma, seed), task.probes(number, labels=labels, seed=seed), 1.0


def tuning(size, labels=False):
    """Fine-tuning on a probe: with larger gradients smaller steps are stable, clipped at the same length.

    Labels are learned to the loss of a margin of 1.
    """
    size = max(1.0, size)
    goal = {"loss": "cross_entropy", "stop_loss": 0.313} if labels else {"loss": "mse", "stop_loss": 1e-3}
    return TrainConfig(lr=0.01 / size, max_steps=6000, clip=size, **goal)
