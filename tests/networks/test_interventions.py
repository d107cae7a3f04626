"""The algebra of interventions: inverse pairs, preserved outputs, signs, reports, refusals."""

import math

import pytest
import torch
from torch import nn

from numerics.networks.interventions import (
    absolute_scale,
    apply_exponents,
    kappa_of_lam,
    lam_of_kappa,
    refresh_statistics,
    reinitialise_readout,
    relative_scale,
    relative_scale_of,
)
from numerics.networks.mlp import TwoLayer
from numerics.networks.resnet import ResNet
from numerics.networks.transformer import Transformer


def perturbed(model, seed=0, by=0.05):
    """Every parameter moved off its special starting value (biases are zero there)."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for p in model.parameters():
            p += by * torch.randn(p.shape, generator=generator)
    return model


def plain_mlp():
    return perturbed(nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 6), nn.ReLU(), nn.Linear(6, 3)))


def images(n=4, size=8):
    return torch.randn(n, 1, size, size, generator=torch.Generator().manual_seed(1))


def weights(model):
    return torch.cat([p.detach().flatten() for p in model.parameters()])


@pytest.mark.parametrize("kappa", [0.1, 0.3, 3.0])
@pytest.mark.parametrize(
    ("make", "probe"),
    [
        (lambda: perturbed(ResNet(3, 1, 4, (1, 2), norm="none")), images()),
        (lambda: perturbed(TwoLayer(5, 8, 2), by=0.5), torch.randn(4, 5, generator=torch.Generator().manual_seed(2))),
        (lambda: perturbed(TwoLayer(5, 8, 2, "linear"), by=0.5), torch.ones(4, 5)),
    ],
)
def test_the_models_own_exponents_preserve_outputs(make, probe, kappa):
    model = make()
    before = model(probe)
    report = relative_scale(model, kappa, probe=probe)
    assert report.output_change < 1e-6
    assert torch.allclose(model(probe), before, rtol=0, atol=1e-6 * float(before.detach().abs().max()))
    assert all(report.norms[n][1] == pytest.approx(f * report.norms[n][0], rel=1e-5) for n, f in report.factors.items())


@pytest.mark.parametrize("later", [["4"], ["2", "4"]])
def test_a_chain_of_any_module_preserves_outputs_biases_included(later):
    model, x = plain_mlp(), torch.randn(6, 5, generator=torch.Generator().manual_seed(3))
    earlier = ["0", "2"] if later == ["4"] else ["0"]
    report = relative_scale(model, 0.2, earlier, later, probe=x, tolerance=1e-6)
    assert report.output_change < 1e-6
    if later == ["4"]:  # the second bias is added to a signal that carries both factors
        assert report.factors["2.bias"] == pytest.approx(0.04)
        assert report.factors["4.weight"] == pytest.approx(25.0)
        assert "4.bias" not in report.factors


@pytest.mark.parametrize("kappa", [0.3, 0.125, 7.0])
def test_kappa_then_its_inverse_is_the_identity(kappa):
    for model in (perturbed(ResNet(3, 1, 4, (1, 1), norm="none")), Transformer(7, 3, dim=8), plain_mlp()):
        names = ["0"] if isinstance(model, nn.Sequential) else None
        before = weights(model).clone()
        relative_scale(model, kappa, names)
        assert not torch.allclose(weights(model), before, rtol=1e-3)
        relative_scale(model, 1 / kappa, names)
        assert torch.allclose(weights(model), before, rtol=5e-7, atol=0)
        if math.log2(kappa).is_integer():
            assert torch.equal(weights(model), before)


def test_the_sign_convention_is_ours():
    """lam < 0 is a smaller earlier layer: opposite to codes that count later minus earlier."""
    model = TwoLayer(6, 1000, 1, "linear")
    assert relative_scale_of(model.hidden.weight, model.output.weight) == pytest.approx(0.0, abs=0.1)
    relative_scale(model, 0.5)
    found = relative_scale_of(model.hidden.weight, model.output.weight)
    assert found < -0.8
    assert found == pytest.approx(lam_of_kappa(0.5), abs=0.02)
    assert lam_of_kappa(0.5) == pytest.approx((0.25 - 4) / (0.25 + 4))  # kappa^2 and kappa^-2, by hand
    for lam in (-0.99, -0.3, 0.0, 0.7):
        assert lam_of_kappa(kappa_of_lam(lam)) == pytest.approx(lam, abs=1e-12)


def test_a_path_that_is_not_homogeneous_is_refused_and_undone():
    model = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3))
    before, x = weights(model).clone(), torch.randn(6, 5)
    with pytest.raises(ValueError, match="not positively homogeneous"):
        relative_scale(model, 0.2, ["0"], ["2"], probe=x)
    assert torch.allclose(weights(model), before, rtol=1e-6)
    assert relative_scale(model, 0.2, ["0"], probe=x).output_change > 0.01  # plain: reported, not refused


def test_batch_norm_divides_a_factor_out_in_training_and_not_in_evaluation():
    model, x = perturbed(ResNet(3, 1, 4, (1,), norm="batch")), images(16)
    model.train()
    before = model(x)
    report = relative_scale(model, 0.3, ["stem", "blocks.0.conv1"])
    assert torch.allclose(model(x), before, rtol=2e-3, atol=2e-3)  # eps inside the norm keeps it from being exact
    assert "normalisation layers" in report.message
    assert "norm" in report.normalisation
    model.eval()
    assert relative_scale(model, 3.0, ["stem"], probe=x).output_change > 0.01
    with pytest.raises(ValueError, match="affine"):
        relative_scale(model, 0.3)


def test_the_affine_variant_scales_what_the_next_layer_sees():
    model, x = perturbed(ResNet(3, 1, 4, (1,), norm="batch")).train(), images(16)
    seen = {}
    model.norm.register_forward_hook(lambda *a: seen.__setitem__("out", a[2].detach().clone()))
    model(x)
    before = seen["out"]
    report = relative_scale(model, 0.3, ["norm"], through="affine")
    model(x)
    assert torch.allclose(seen["out"], 0.3 * before, rtol=1e-5, atol=1e-6)
    assert set(report.factors) == {"norm.weight", "norm.bias"}
    with pytest.raises(ValueError, match="found no normalisation"):
        relative_scale(model, 0.3, ["stem"], through="affine")


def test_absolute_scale_of_a_homogeneous_network():
    model = TwoLayer(5, 8, 1)
    with torch.no_grad():
        model.output.weight.normal_()
    x = torch.randn(4, 5)
    before = model(x)
    report = absolute_scale(model, 3.0, probe=x)
    assert torch.allclose(model(x), 9 * before, rtol=1e-5)  # degree two
    assert report.factors == {"hidden.weight": 3.0, "output.weight": 3.0}


def test_readout_is_drawn_again_at_gamma():
    model = ResNet(3, 1, 8, (1, 1))
    reinitialise_readout(model, 2.0, outputs=500, generator=torch.Generator().manual_seed(0))
    assert model.head.weight.shape == (500, 16)
    assert float(model.head.weight.detach().std()) == pytest.approx(2.0 / 4.0, rel=0.05)
    assert not model.head.bias.any()
    first = model.head.weight.clone()
    reinitialise_readout(model, 2.0, generator=torch.Generator().manual_seed(0))
    assert torch.equal(model.head.weight, first)
    report = reinitialise_readout(model, 0.0)
    assert not model.head.weight.any()
    assert model.head.weight.requires_grad
    assert math.isnan(report.factors["head.weight"])
    named = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.ReLU(), nn.Linear(3, 4)))
    reinitialise_readout(named, 1.0, "1.1", outputs=6)
    assert named(torch.ones(1, 2)).shape == (1, 6)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda m: relative_scale(m, 0.0, ["0"]), "kappa"),
        (lambda m: relative_scale(m, math.nan, ["0"]), "kappa"),
        (lambda m: relative_scale(m, 0.5), "earlier must name"),
        (lambda m: relative_scale(m, 0.5, ["nope"]), "it has 0, 2, 4"),
        (lambda m: relative_scale(m, 0.5, ["1"]), "no parameters"),
        (lambda m: relative_scale(m, 0.5, ["0", "0"]), "each once"),
        (lambda m: relative_scale(m, 0.5, None, ["0"]), "later without earlier"),
        (lambda m: relative_scale(m, 0.5, ["0"], through="x"), "through"),
        (lambda m: apply_exponents(m, {"x": 1}, 0.5), "not a parameter"),
        (lambda m: absolute_scale(m, -1.0), "factor"),
        (lambda m: reinitialise_readout(m, 1.0), "name the readout"),
        (lambda m: reinitialise_readout(m, 1.0, "nope"), "not a layer"),
        (lambda m: reinitialise_readout(m, -1.0, "4"), "gamma"),
    ],
)
def test_refusals(call, word):
    model = plain_mlp()
    before = weights(model).clone()
    with pytest.raises(ValueError, match=word):
        call(model)
    assert torch.equal(weights(model), before)


def test_a_readout_that_is_not_linear_is_refused():
    with pytest.raises(TypeError, match=r"must be nn\.Linear"):
        reinitialise_readout(plain_mlp(), 1.0, "1")
    with pytest.raises(ValueError, match="undefined"):
        relative_scale_of(torch.zeros(2), torch.zeros(2))


def test_refreshed_statistics_make_evaluation_agree_with_training():
    model, x = perturbed(ResNet(3, 1, 4, (1,), norm="batch")), images(64)
    assert refresh_statistics(model.eval(), x, batch_size=64) == 3
    assert not any(m.training for m in model.modules())
    before = model(x)
    relative_scale(model, 0.3, ["stem"])
    assert (model(x) - before).detach().abs().max() > 0.1
    refresh_statistics(model, x, batch_size=64)
    assert torch.allclose(model(x), before, atol=2e-2)
    assert model.norm.momentum == 0.1
    assert refresh_statistics(plain_mlp(), x) == 0
