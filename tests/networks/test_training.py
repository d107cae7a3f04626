"""The training loop: it learns, it repeats itself bit for bit, and it survives being killed."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from numerics.networks.checkpoint import read_checkpoint, write_checkpoint
from numerics.networks.training import TrainConfig, evaluate, fit


def task(n=64, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 5)).astype(np.float32)
    return x, (x[:, 0] * x[:, 1] > 0).astype(np.int64)


def network(seed=0, dropout=0.0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(5, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(dropout), nn.Linear(16, 2))


def state(model):
    return torch.cat([v.double().flatten() for v in model.state_dict().values()])


@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
@pytest.mark.parametrize("schedule", ["constant", "cosine", "linear"])
def test_it_learns_and_says_how_it_stopped(optimizer, schedule):
    x, y = task()
    config = TrainConfig(optimizer, 0.05, max_steps=600, batch_size=32, stop_loss=0.1, schedule=schedule, warmup=5)
    model = network()
    report = fit(model, x, y, config)
    assert report.reason == "stop_loss"
    assert report.loss < 0.1
    assert report.steps == report.history[-1][0] < 600
    assert evaluate(model, x, y)["accuracy"] > 0.95
    assert not model.training
    short = fit(network(), x, y, replace(config, max_steps=3))
    assert (short.reason, short.steps) == ("max_steps", 3)
    assert "not fitted" in short.message


def test_least_squares_is_reached():
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((40, 5)).astype(np.float32), np.arange(1.0, 6.0, dtype=np.float32)
    model = nn.Linear(5, 1, bias=False)
    fit(model, x, x @ w, TrainConfig(lr=0.1, max_steps=300, loss="mse"))
    assert np.allclose(model.weight.detach().numpy()[0], w, atol=1e-4)
    assert evaluate(model, x, x @ w, "mse")["loss"] < 1e-8


def test_plain_gradient_descent_step_by_hand():
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, 3.0)
    fit(model, [[2.0]], [4.0], TrainConfig(lr=0.1, momentum=0.0, max_steps=1, loss="mse", weight_decay=0.5))
    # gradient of (2w - 4)^2 is 4 (2w - 4) = 8, plus decay 0.5 * 3
    assert model.weight.item() == pytest.approx(3.0 - 0.1 * (8.0 + 1.5))


def test_rates_of_schedules():
    cosine = TrainConfig(lr=2.0, max_steps=100, schedule="cosine", warmup=10)
    assert cosine.rate(0) == pytest.approx(0.2)
    assert cosine.rate(50) == pytest.approx(1.0)
    assert TrainConfig(lr=2.0, max_steps=100, schedule="linear").rate(75) == pytest.approx(0.5)


def test_clipping_bounds_the_step():
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, 3.0)
    fit(model, [[2.0]], [400.0], TrainConfig(lr=0.1, momentum=0.0, max_steps=1, loss="mse", clip=1.0))
    assert model.weight.item() == pytest.approx(3.1, abs=1e-5)


def test_divergence_is_reported_not_hidden():
    x, y = task()
    report = fit(nn.Linear(5, 1), x, 1e30 * y, TrainConfig(lr=10.0, max_steps=50, loss="mse"))
    assert report.reason == "diverged"
    assert "smaller lr" in report.message


@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_resuming_gives_the_same_bits(tmp_path, optimizer, dropout):
    x, y = task()
    config = TrainConfig(optimizer, 0.01, max_steps=37, batch_size=20, schedule="cosine", record_every=5)

    class Stop(Exception):
        pass

    def interrupt(step, total, loss):
        if step == 25:
            raise Stop

    whole = network(dropout=dropout)
    expected = fit(whole, x, y, config)
    path = tmp_path / "run.pt"
    with pytest.raises(Stop):
        fit(network(dropout=dropout), x, y, config, checkpoint=path, checkpoint_every=7, progress=interrupt)
    resumed = network(seed=99, dropout=dropout)  # whatever it starts from, the checkpoint decides
    torch.manual_seed(12345)
    report = fit(resumed, x, y, config, checkpoint=path, checkpoint_every=7)
    assert report.resumed_from == 21
    assert torch.equal(state(resumed), state(whole))
    assert report.history == expected.history
    assert report.loss == expected.loss
    done = fit(network(seed=3), x, y, config, checkpoint=path)  # a finished run is read, not repeated
    assert (done.resumed_from, done.steps, done.loss) == (37, 37, expected.loss)


KILLED = """
import sys, torch
sys.path.insert(0, sys.argv[2])
from test_training import network, task
from numerics.networks.training import TrainConfig, fit
torch.set_num_threads(1)
fit(network(), *task(), TrainConfig(max_steps=100_000, batch_size=20), checkpoint=sys.argv[1], checkpoint_every=3)
"""


def test_kill_minus_nine_leaves_a_checkpoint_that_resumes(tmp_path, root):
    torch.set_num_threads(1)
    path = tmp_path / "run.pt"
    command = [sys.executable, "-c", KILLED, str(path), str(root / "tests" / "networks")]
    process = subprocess.Popen(command, cwd=root)
    deadline = time.monotonic() + 60
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.2)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    saved = read_checkpoint(path)
    step = saved["step"]
    assert step % 3 == 0
    x, y = task()
    config = TrainConfig(max_steps=100_000, batch_size=20)
    reached = network()
    with pytest.raises(StopIteration):  # walk to the very step at which it was killed
        fit(reached, x, y, replace(config, record_every=1), progress=_until(step))
    reached.eval()
    for name, value in reached.state_dict().items():
        assert torch.equal(value, saved["model"][name]), name


def _until(step):
    def stop(now, total, loss):
        if now == step:
            raise StopIteration

    return stop


def test_a_checkpoint_of_something_else_is_refused(tmp_path):
    x, y = task()
    config, path = TrainConfig(max_steps=4), tmp_path / "run.pt"
    fit(network(), x, y, config, checkpoint=path)
    with pytest.raises(ValueError, match="other settings"):
        fit(network(), x, y, replace(config, lr=0.01), checkpoint=path)
    with pytest.raises(ValueError, match="other data"):
        fit(network(), x + 1, y, config, checkpoint=path)
    with pytest.raises(ValueError, match="another model"):
        fit(nn.Linear(5, 2), x, y, config, checkpoint=path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(ValueError, match="not readable as a checkpoint"):
        fit(network(), x, y, config, checkpoint=path)
    torch.save({"a": torch.ones(1)}, path)
    with pytest.raises(ValueError, match="not a checkpoint of this package"):
        read_checkpoint(path)


class Bomb:
    def __reduce__(self):
        return (exec, ("import pathlib; pathlib.Path('exploded').touch()",))


def test_a_checkpoint_never_runs_code(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torch.save({"format": 1, "model": Bomb()}, tmp_path / "run.pt")
    with pytest.raises(ValueError, match="not readable"):
        read_checkpoint(tmp_path / "run.pt")
    assert not (tmp_path / "exploded").exists()


def test_a_failed_write_leaves_the_old_checkpoint(tmp_path):
    path = tmp_path / "run.pt"
    write_checkpoint(path, {"value": 1})
    with pytest.raises(Exception, match="pickle"):
        write_checkpoint(path, {"value": (i for i in range(3))})
    assert read_checkpoint(path)["value"] == 1
    assert list(tmp_path.iterdir()) == [path]


def test_the_callers_random_state_does_not_matter():
    x, y = task()
    config = TrainConfig(max_steps=10, batch_size=16)
    results = []
    for seed in (1, 2):
        model = network()
        torch.manual_seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        fit(model, x, y, config)
        results.append(state(model))
    assert torch.equal(*results)


@pytest.mark.parametrize(
    "settings",
    [
        {"optimizer": "lbfgs"}, {"lr": -1.0}, {"lr": float("nan")}, {"momentum": 1.0}, {"max_steps": 0},
        {"batch_size": 2.5}, {"schedule": "step"}, {"loss": "hinge"}, {"precision": "fp16"}, {"device": "tpu"},
        {"seed": -1}, {"stop_loss": -0.1},
    ],
)  # fmt: skip
def test_settings_are_checked(settings):
    with pytest.raises((ValueError, TypeError), match=next(iter(settings))):
        TrainConfig(**settings)


def test_arrays_are_checked():
    x, y = task()
    for bad_x, bad_y in ((x, y[:3]), (x[:0], y[:0])):
        with pytest.raises(ValueError, match="must be equal and at least 1"):
            fit(network(), bad_x, bad_y, TrainConfig(max_steps=1))
    with pytest.raises(ValueError, match="needs"):
        fit(network(), x, y.astype(float), TrainConfig(max_steps=1))
    with pytest.raises(ValueError, match="no parameter"):
        fit(nn.ReLU(), x, y, TrainConfig(max_steps=1))
