"""The ruler on two-layer linear networks: readable without a known truth, with the sign that theory gives."""

import numpy as np
import pytest
import torch
from torch import nn

from numerics.networks.estimators import estimate_bias
from numerics.networks.mlp import Teacher, TwoLayer
from numerics.networks.probes import linear_probes
from numerics.networks.training import TrainConfig, fit
from numerics.networks.tuner import NetworkTuner
from numerics.task import Initialization

STRENGTH = np.array([1 / 1.5, 1 / 1.5, 1.0, 1.0, 1.0, 1.5, 1.5])
TUNE = TrainConfig(lr=0.01, loss="mse", max_steps=5000, stop_loss=1e-4)


def pretrained(lam):
    rng = np.random.default_rng(0)
    directions = np.linalg.qr(rng.standard_normal((20, len(STRENGTH))))[0].T
    x = rng.standard_normal((500, 20)).astype(np.float32)
    torch.manual_seed(0)
    model = TwoLayer(20, 60, len(STRENGTH), "linear", Initialization(0.01, lam))
    y = Teacher(directions, np.diag(STRENGTH), "linear")(x).astype(np.float32)
    config = TrainConfig(lr=0.02, batch_size=500, max_steps=2000, stop_loss=1e-4, loss="mse")
    assert fit(model, x, y, config).reason == "stop_loss"
    return model, directions


def test_smaller_earlier_layers_depend_less_on_pretraining():
    found = {}
    for lam in (-0.999, 0.9):
        model, directions = pretrained(lam)
        probes = linear_probes(directions, STRENGTH, at=1.0, amplitude=0.3, nuisance=0.1, number=4)
        found[lam] = estimate_bias(NetworkTuner(model, TUNE), probes, amplitude=0.3, bootstrap=300)
    assert found[-0.999].sensitivity < 0.3
    assert found[0.9].sensitivity > 0.8
    assert found[0.9].pd_interval[1] < found[-0.999].pd_interval[0]


def test_probes_train_copies_and_classification_reads_the_logit_difference():
    model, directions = pretrained(0.0)
    before = model.hidden.weight.clone()
    x, y = directions[:1] + directions[2:3], np.array([1.0])
    change = NetworkTuner(model, TUNE).finetune(x, y)
    assert change(x) == pytest.approx([1.0], abs=0.02)
    assert torch.equal(model.hidden.weight, before)
    labels = NetworkTuner(model, TrainConfig(lr=0.01, max_steps=5000, stop_loss=0.01), gamma=0.1)
    assert labels.finetune(x, y)(x)[0] > 2.0
    assert labels.finetune(x, -y)(x)[0] < -2.0
    with pytest.raises(ValueError, match=r"labels must be \+-1"):
        labels.finetune(x, np.array([0.5]))
    with pytest.raises(RuntimeError, match="was not learned"):
        NetworkTuner(model, TrainConfig(lr=1e-9, loss="mse", max_steps=3, stop_loss=1e-4)).finetune(x, y)


def test_any_module_with_a_named_readout():
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
    tuner = NetworkTuner(model, TUNE, gamma=1.0, readout="2")
    x = np.ones((1, 4))
    assert tuner.finetune(x, np.array([0.5]))(x).shape == (1,)
