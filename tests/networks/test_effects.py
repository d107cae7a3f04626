"""Effects large enough to be asserted, at the settings of the presets; each bound is part of what was measured."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from numerics.networks.experiment import Intervention, run
from numerics.networks.presets import preset

ALONE = Intervention(scratch=True)


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def means(experiments, cache, measure, seeds=3):
    return [np.mean([run(e, seed, cache)[measure] for seed in range(seeds)]) for e in experiments]


def two_layer(lam, **data):
    base = preset("mlp-linear")
    return replace(
        base, model={**base.model, "lam": lam}, data={**base.data, **data}, intervention=Intervention(gamma=0.0)
    )


def test_two_layer_linear_networks_follow_the_overlap(tmp_path):
    """C8 and C9: with full overlap lam near 1 is better, with none lam near -1."""
    full = {"ft_features": 4, "shared": 4, "n_ft": 12}
    small, large = means([two_layer(lam, **full) for lam in (-0.999, 0.9)], tmp_path, "ft_loss")
    assert large < 0.5 * small
    none = {"ft_features": 1, "shared": 0, "n_ft": 12}
    small, large = means([two_layer(lam, **none) for lam in (-0.999, 0.9)], tmp_path, "ft_loss")
    assert small < 0.7 * large


@pytest.mark.slow
def test_pretraining_helps_a_resnet_on_parity(tmp_path):
    base = preset("resnet")
    pretrained, alone = means([base, replace(base, intervention=ALONE)], tmp_path, "ft_accuracy", seeds=2)
    assert pretrained - alone > 0.1


@pytest.mark.slow
def test_transformer_effects(tmp_path):
    base = preset("transformer")
    shared = replace(base, data={**base.data, "ft_label": 3, "n_ft": 60})
    pretrained, alone = means([shared, replace(shared, intervention=ALONE)], tmp_path, "ft_accuracy", seeds=2)
    assert pretrained - alone > 0.15
    half = {**base.data, "ft_label": 15, "n_ft": 400}
    low, high = (replace(base, data=half, model={**base.model, "balancedness": k}) for k in (0.1, 3.0))
    low, high = means([low, high], tmp_path, "ft_accuracy")
    assert low - high > 0.1
