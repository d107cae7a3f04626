"""Shapes, sizes, starting scales and determinism of the models."""

import numpy as np
import pytest
import torch

from numerics.networks.data import Stage
from numerics.networks.experiment import Experiment, build
from numerics.networks.interventions import relative_scale_of
from numerics.networks.mlp import TwoLayer, teacher_pair
from numerics.networks.resnet import ResNet
from numerics.networks.transformer import Transformer
from numerics.task import Initialization


def parameters(model):
    return sum(p.numel() for p in model.parameters())


@pytest.mark.parametrize("norm", ["batch", "none"])
@pytest.mark.parametrize(("channels", "size"), [(1, 8), (3, 32), (3, 15)])
def test_resnet_shapes(norm, channels, size):
    model = ResNet(7, channels, 4, norm=norm).eval()
    x = torch.randn(2, channels, size, size)
    assert model(x).shape == (2, 7)
    assert model.features(x).shape == (2, 32)


def test_resnet_18_has_its_published_size():
    # 3x3 stem, 64 channels, (2, 2, 2, 2), 100 classes: 11 220 132 parameters in the usual CIFAR code
    assert parameters(ResNet(100, 3, 64)) == 11_220_132
    assert parameters(ResNet(10, 1, 8)) == 176_258


def test_without_norm_the_variance_of_the_stream_stays_of_order_one():
    torch.manual_seed(0)
    model = ResNet(10, 3, 32, norm="none")
    spread = model.features(torch.randn(16, 3, 32, 32)).std()
    assert 0.03 < float(spread.detach()) < 10  # after pooling; a factor 2 a block either way would be 256 or 1/256


@pytest.mark.parametrize("causal", [True, False])
def test_transformer_reads_the_last_token(causal):
    torch.manual_seed(0)
    model = Transformer(31, 6, dim=16, heads=2, layers=2, causal=causal)
    x = torch.randint(0, 31, (5, 3))
    assert model(x).shape == (5, 6)
    # the short way through the last block against the long one
    stream = model.embedding(x) + model.position(torch.arange(3))
    for block in model.blocks:
        stream = block(stream)
    assert torch.allclose(model.features(x), stream[:, -1], atol=1e-5)


def test_a_decoder_does_not_look_ahead():
    torch.manual_seed(0)
    for causal in (True, False):
        model = Transformer(31, 6, dim=16, layers=1, causal=causal)
        block = model.blocks[0]
        a = torch.randn(1, 3, 16)
        b = a.clone()
        b[:, 2] += 1.0
        same = torch.allclose(block(a)[:, :2], block(b)[:, :2], atol=1e-6)
        assert same == causal


def test_balancedness_moves_scale_from_the_ends():
    torch.manual_seed(0)
    a = Transformer(31, 6)
    torch.manual_seed(0)
    b = Transformer(31, 6, balancedness=0.1)
    assert torch.allclose(b.embedding.weight, 0.1 * a.embedding.weight)
    assert torch.allclose(b.head.weight, 10 * a.head.weight)
    assert torch.equal(b.blocks[0].up.weight, a.blocks[0].up.weight)


@pytest.mark.parametrize("lam", [-0.99, -0.5, 0.0, 0.9])
@pytest.mark.parametrize("outputs", [1, 3])
def test_two_layer_start_has_the_scales_of_the_theory(lam, outputs):
    torch.manual_seed(0)
    init = Initialization(0.04, lam)
    model = TwoLayer(30, 2000, outputs, "relu", init)
    w0, v0 = init.weights()
    half = slice(0, 1000)
    assert float(model.hidden.weight.detach()[half].norm()) == pytest.approx(w0, rel=0.03)
    assert float(model.output.weight.detach()[:, half].norm()) == pytest.approx(v0, rel=0.06)
    assert relative_scale_of(model.hidden.weight, model.output.weight) == pytest.approx(lam, abs=0.06)
    assert float(model(torch.randn(5, 30)).detach().abs().max()) < 1e-7  # the two halves cancel
    model.start_fine_tuning(0.3)
    assert float(model.output.weight.detach()[:, half].norm()) == pytest.approx(0.3 / 2**0.5, rel=0.06)
    assert float(model.hidden.weight.detach()[half].norm()) == pytest.approx(2 * w0, rel=0.03)
    assert float(model(torch.randn(5, 30)).detach().abs().max()) < 1e-6


@pytest.mark.parametrize("activation", ["linear", "relu"])
def test_teachers_share_the_features_asked_for(activation):
    rng = np.random.default_rng(0)
    pt, ft = teacher_pair(12, rng, pt_features=4, ft_features=3, shared=2, activation=activation)
    assert np.allclose(pt.directions @ pt.directions.T, np.eye(4))
    overlap = np.abs(pt.directions @ ft.directions.T)
    assert np.allclose(np.sort(overlap.max(0)), [0, 1, 1])
    x = rng.standard_normal((5, 12))
    assert pt(x).shape == (5, 4)
    hidden = x @ ft.directions.T
    hidden = np.maximum(hidden, 0) if activation == "relu" else hidden
    assert np.allclose(ft(x)[:, 0], hidden @ ft.strength[0])
    one, _ = teacher_pair(12, rng, pt_features=4, ft_features=1, shared=0, pt_outputs=1)
    assert one(x).shape == (5, 1)
    with pytest.raises(ValueError, match="do not fit"):
        teacher_pair(5, rng, pt_features=4, ft_features=3, shared=1)
    with pytest.raises(ValueError, match="do not fit"):
        teacher_pair(50, rng, pt_features=2, ft_features=3, shared=3)


def test_building_depends_on_the_seed_and_not_on_torchs_state():
    stage = Stage(np.zeros((2, 1, 8, 8), np.float32), np.zeros(2, int), None, None, 3)
    experiment = Experiment("resnet", {"width": 4})
    torch.manual_seed(5)
    before = torch.get_rng_state()
    a = build(experiment, stage, 1)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(6)
    b, c = build(experiment, stage, 1), build(experiment, stage, 2)
    assert torch.equal(a.head.weight, b.head.weight)
    assert not torch.equal(a.head.weight, c.head.weight)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ResNet(0), lambda: ResNet(3, norm="layer"), lambda: ResNet(3, depth=()), lambda: ResNet(3, width=2.5),
        lambda: Transformer(5, 3, dim=10, heads=3), lambda: Transformer(5, 3, balancedness=0.0),
        lambda: TwoLayer(3, 5), lambda: TwoLayer(3, 4, activation="tanh"), lambda: Experiment("rnn"),
    ],
)  # fmt: skip
def test_refusals(make):
    with pytest.raises((ValueError, TypeError), match="must"):
        make()
