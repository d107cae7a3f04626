"""Mixed precision: half the bits in the forward pass, all of them in the weights, and the same bits after a resume.

CUDA has not been available where this was written: its test skips, and the code it would run (autocast, gradient
scaler) is run on a CPU by force.
"""

import numpy as np
import pytest
import torch
from torch import nn

from numerics.networks.checkpoint import read_checkpoint
from numerics.networks.training import TrainConfig, _Run, evaluate, fit


def task():
    x = np.random.default_rng(0).standard_normal((64, 5)).astype(np.float32)
    return x, (x[:, 0] * x[:, 1] > 0).astype(np.int64)


def network(seed=0, dropout=0.0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(5, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(dropout), nn.Linear(16, 2))


def state(model):
    return torch.cat([v.double().flatten() for v in model.state_dict().values()])


def mixed(precision, **settings):
    """Settings of mixed precision on a CPU. fp16 is for CUDA, where it cannot be run here: the same code, by force."""
    config = TrainConfig("sgd", 0.02, batch_size=20, precision="bf16", **settings)
    object.__setattr__(config, "precision", precision)
    return config


@pytest.mark.parametrize(("precision", "kind"), [("bf16", torch.bfloat16), ("fp16", torch.float16)])
def test_mixed_precision_computes_in_half_and_keeps_weights_in_single(precision, kind):
    x, y = task()
    model, seen = network(), []
    model[0].register_forward_hook(lambda module, args, output: seen.append((module.training, output.dtype)))
    report = fit(model, x, y, mixed(precision, max_steps=600, stop_loss=0.15, clip=1.0))
    assert report.reason == "stop_loss"
    assert {dtype for training, dtype in seen if training} == {kind}
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert evaluate(model, x, y)["accuracy"] > 0.9
    assert seen[-1] == (False, torch.float32)  # evaluation is in single precision
    plain = network()
    fit(plain, x, y, mixed("float32", max_steps=report.steps))
    assert not torch.equal(state(plain), state(model))


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_mixed_precision_resumes_to_the_same_bits(tmp_path, precision):
    x, y = task()
    config, path, whole = mixed(precision, max_steps=33, clip=1.0), tmp_path / "run.pt", network(dropout=0.3)
    expected = fit(whole, x, y, config)

    def interrupt(step, total, loss):
        if step == 20:
            raise StopIteration

    with pytest.raises(StopIteration):
        fit(network(dropout=0.3), x, y, config, checkpoint=path, checkpoint_every=7, progress=interrupt)
    scaler = read_checkpoint(path)["scaler"]
    assert bool(scaler) == (precision == "fp16")  # bf16 has the range of single precision: nothing is scaled
    resumed = network(seed=9, dropout=0.3)
    assert fit(resumed, x, y, config, checkpoint=path, checkpoint_every=7).resumed_from == 14
    assert torch.equal(state(resumed), state(whole))
    assert read_checkpoint(path)["smoothed"] == expected.loss
    with pytest.raises(ValueError, match="other settings"):
        fit(network(), x, y, mixed("float32", max_steps=33, clip=1.0), checkpoint=path)


def test_the_scaler_skips_a_step_that_overflows():
    """fp16 by force: a loss beyond 65504 after scaling gives infinite gradients; weights stay, the scale halves."""
    x, y = task()
    run = _Run(network(), torch.as_tensor(x), torch.as_tensor(y), mixed("fp16", max_steps=9), None)
    run.advance()
    run.scaler.update(1e12)
    before = torch.cat([p.detach().clone().flatten() for p in run.model.parameters()])
    run.advance()
    assert torch.equal(before, torch.cat([p.detach().flatten() for p in run.model.parameters()]))
    assert run.scaler.get_scale() == pytest.approx(0.5e12, rel=1e-6)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("precision", ["float32", "bf16", "fp16"])
def test_cuda(tmp_path, precision):
    x, y = task()
    config = TrainConfig(max_steps=20, precision=precision, device="cuda")
    report = fit(network(), x, y, config, checkpoint=tmp_path / "run.pt")
    assert np.isfinite(report.loss)
    assert fit(network(), x, y, config, checkpoint=tmp_path / "run.pt").resumed_from == 20
