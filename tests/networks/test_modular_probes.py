"""The ruler on modular arithmetic: loads are as stated, and a diagonal network over characters is read off."""

import numpy as np
import pytest
import torch

from numerics.diagonal.interpolation import interpolate
from numerics.networks.estimators import estimate_bias
from numerics.networks.modular_probes import character_task, character_values
from numerics.networks.training import TrainConfig
from numerics.networks.transformer import Transformer
from numerics.networks.tuner import NetworkTuner
from numerics.task import Initialization


@pytest.mark.parametrize("modulus", [24, 30, 42])
@pytest.mark.parametrize("seed", [0, 1, 5])
def test_characters_are_orthonormal_and_the_loads_are_those_stated(modulus, seed):
    task = character_task(seed, modulus)
    assert task.values @ task.values.T / modulus**2 == pytest.approx(np.eye(4), abs=1e-12)
    assert task.values.mean(1) == pytest.approx(np.zeros(4), abs=1e-12)
    assert sorted(task.signs) == [-1, -1, 1, 1]
    assert task.targets.shape == (modulus**2, 4)
    assert task.targets.std(0) == pytest.approx(task.strength, rel=1e-6)
    for probe in task.probes(2, share=1.0, amplitude=0.3):
        assert len(probe.x) == 2 * modulus
        # signed mean of each of the four features over the examples, from the tokens
        parts = list(zip(task.signs, task.frequencies, task.shifts, strict=True))
        shown = np.array([np.mean(np.sign(probe.y) * character_values(probe.x, modulus, *p)) for p in parts])
        own = [0, 1] if probe.kind == "loading" else [2, 3]
        assert np.delete(shown, own) == pytest.approx([0.0, 0.0], abs=1e-12)
        assert sorted(np.abs(shown[own])) == pytest.approx(sorted(probe.load))
        # a function that is the first feature alone, with the sign shown, has response 1 to it and 0 to the other
        first = max(own, key=lambda k: abs(shown[k])) if probe.kind == "recruitment" else None
        if first is not None:
            alone = np.sign(shown[first]) * task.values[first]
            assert probe.responses(lambda x, f=alone: f) == pytest.approx([1.0, 0.0], abs=1e-12)
        assert np.abs(probe.y) == pytest.approx(np.full(len(probe.y), 0.3 * np.sqrt(2)))


def test_which_pairs_are_shown_is_random_and_reproducible():
    task = character_task(0)
    first, again, other = task.probes(3), task.probes(3), task.probes(3, seed=1)
    assert len(first[0].x) == 48
    assert np.array_equal(first[2].x, again[2].x)
    assert not np.array_equal(first[2].x, other[2].x)
    assert not np.array_equal(first[0].x, first[2].x)


class Diagonal:
    """A diagonal network over the four characters and ten others, fine-tuned exactly.

    All examples of a probe with share 1 have the same multiplier (the task is symmetric), so that the signed mean
    example has the same minimiser.
    """

    def __init__(self, task, init):
        self.parts = list(zip(task.signs, task.frequencies, task.shifts, strict=True))
        self.parts += [(s, k, 2) for s in (1, -1) for k in range(1, 16) if k not in task.frequencies][:10]
        self.modulus, self.init = task.modulus, init
        self.beta = np.array([*task.strength, *np.zeros(len(self.parts) - 4)])

    def features(self, x):
        return np.stack([character_values(x, self.modulus, *part) for part in self.parts], axis=1)

    def finetune(self, x, y):
        mean = np.mean(np.sign(y)[:, None] * self.features(x), axis=0)
        beta = interpolate(mean[None], np.abs(y[:1]), self.init.c_ft(self.beta)).beta
        assert self.features(x) @ beta == pytest.approx(y, abs=1e-6)  # it solves the whole task
        return lambda inputs: self.features(inputs) @ beta


@pytest.mark.parametrize(
    ("init", "name"),
    [(Initialization(1e-3, -0.99), "IV"), (Initialization(1e-3, 0.0, 10.0), "III")],
)
def test_a_diagonal_network_over_characters_is_read_off(init, name):
    task = character_task(4)
    found = estimate_bias(Diagonal(task, init), task.probes(4, share=1.0), bootstrap=200)
    c = init.c * (1 + init.lam) * (1 + np.hypot(1, 1 / init.c)) + init.gamma**2 / 2  # THEORY section 3 at beta_PT = 1
    s = np.arcsinh(1 / c)
    order = s * np.sinh(s) / (s * np.sinh(s) - 2 * np.sinh(s / 2) ** 2)
    slope = init.c * (1 + init.lam) / init.c**2 / np.hypot(1, 1 / init.c) / c
    assert found.ell_order == pytest.approx(order, abs=2e-3)
    assert found.pd == pytest.approx((1 - order) * slope, abs=5e-3)
    assert found.regime == name
    assert 0.5 < found.additivity <= 1.0 + 1e-9


def test_a_transformer_is_asked_on_tokens():
    task = character_task(0)
    torch.manual_seed(0)
    tuner = NetworkTuner(Transformer(31, 4, dim=16), TrainConfig(lr=0.01, max_steps=2, loss="mse"))
    probe = task.probes(1)[0]
    change = tuner.finetune(probe.x, probe.y)
    assert change(task.x).shape == (900,)
    assert np.isfinite(probe.responses(change)).all()


def test_classification_reads_the_logit_difference():
    task = character_task(0)
    probes = task.probes(1, labels=True)
    assert {float(v) for probe in probes for v in probe.y} == {-1.0, 1.0}
    torch.manual_seed(0)
    config = TrainConfig(lr=0.02, max_steps=2000, stop_loss=0.1)
    change = NetworkTuner(Transformer(31, 4, dim=16), config, gamma=0.1).finetune(probes[0].x, probes[0].y)
    assert np.mean(change(probes[0].x) * probes[0].y) > 1.5


def test_refusals():
    for bad in ({"modulus": 12}, {"modulus": 35}, {"strength": (1.0, 1.0, 1.0, 1.0)}, {"strength": (1.0, 2.0, 1.0)},
                {"strength": (1, 2, 1, 3)}, {"strength": (0, 1, 1, 1)}, {"seed": -1}):  # fmt: skip
        with pytest.raises(ValueError, match=next(iter(bad))):
            character_task(**{"seed": 0, **bad})
    for bad, word in ((18, "modulus"), (3, "strength")):
        with pytest.raises((ValueError, TypeError), match=word):
            character_task(0, **{word: bad})
    task = character_task(0)
    for bad in ({"number": 0}, {"amplitude": 0.0}, {"share": 0.0}, {"share": 1.5}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            task.probes(**bad)
