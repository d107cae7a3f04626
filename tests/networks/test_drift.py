"""Two checkpoints: numbers by hand, files of every kind, nothing unpickled, sentences for what does not fit."""

import copy

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

import ptft_sym as pt
from numerics.networks.drift import drift, import_factory
from numerics.networks.representation import participation_ratio
from numerics.networks.weights import LOADERS, open_weights, register_loader


def make():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3))


def pair():
    before = make()
    after = copy.deepcopy(before)
    with torch.no_grad():
        after[0].weight.mul_(2.0)
        after[0].bias.mul_(2.0)
        after[2].weight.copy_(-before[2].weight)
    return before, after


def batch(n=12):
    return np.random.default_rng(0).standard_normal((n, 4)).astype(np.float32)


def test_numbers_by_hand():
    before, after = pair()
    found = pt.drift(make, before, after, batch())
    first, last = found.table.loc["0"], found.table.loc["2"]
    assert first["weight_drift"] == pytest.approx(1.0)
    assert first["weight_cosine"] == pytest.approx(1.0)
    assert first["scale_after"] == pytest.approx(2 * first["scale_before"])
    assert first["feature_drift"] == pytest.approx(1.0, rel=1e-5)
    assert first["ensd"] == pytest.approx(first["pr_before"], rel=1e-5)  # a factor changes no dimension
    assert first["cka"] == pytest.approx(1.0)
    w, b = before[2].weight.detach(), before[2].bias.detach()
    assert last["weight_drift"] == pytest.approx(float(2 * w.norm() / (w.norm() ** 2 + b.norm() ** 2) ** 0.5))
    assert found.early_late_after == pytest.approx(2 * found.early_late_before)
    assert found.notes == ()
    with torch.no_grad():
        features = after[0](torch.tensor(batch())).numpy()
    assert first["pr_after"] == pytest.approx(participation_ratio(features), rel=1e-5)


def test_the_order_is_that_of_the_forward_pass():
    class Backwards(nn.Module):
        def __init__(self):
            super().__init__()
            self.late, self.early = nn.Linear(4, 2), nn.Linear(4, 4)

        def forward(self, x):
            return self.late(self.early(x))

    model = Backwards()
    assert list(drift(model, model, copy.deepcopy(model), batch()).table.index) == ["early", "late"]


@pytest.mark.parametrize("suffix", [".pt", ".safetensors", ".ckpt", "folder", "wrapped", "parallel", "old"])
def test_files_of_every_kind_give_the_same_numbers(tmp_path, suffix):
    before, after = pair()
    state = after.state_dict()
    path = tmp_path / f"after{suffix if suffix.startswith('.') else '.pt'}"
    if suffix == ".safetensors":
        save_file(state, path)
    elif suffix == "folder":
        path = tmp_path
        save_file({k: v for k, v in state.items() if k.startswith("0")}, tmp_path / "part-1.safetensors")
        save_file({k: v for k, v in state.items() if k.startswith("2")}, tmp_path / "part-2.safetensors")
    elif suffix == "wrapped":
        torch.save({"epoch": 3, "state_dict": state}, path)
    elif suffix == "parallel":
        torch.save({f"module.{k}": v for k, v in state.items()}, path)
    elif suffix == "old":
        torch.save(state, path, _use_new_zipfile_serialization=False)
    else:
        torch.save(state, path)
    expected = drift(make, before, after, batch()).table
    found = drift(make, before, path, batch()).table
    assert np.allclose(found.to_numpy(float), expected.to_numpy(float), equal_nan=True)


def test_safetensors_are_read_one_tensor_at_a_time(tmp_path, monkeypatch):
    before, after = pair()
    save_file(after.state_dict(), tmp_path / "a.safetensors")
    weights = open_weights(tmp_path / "a.safetensors")
    assert weights.shape("0.weight") == (6, 4)
    asked = []
    fetch = weights._fetch
    weights._fetch = lambda name: asked.append(name) or fetch(name)
    drift(None, {"0.weight": before[0].weight.detach()}, weights)
    assert asked == ["0.weight"]


class Bomb:
    def __reduce__(self):
        return (exec, ("import pathlib; pathlib.Path('exploded').touch()",))


def test_nothing_is_unpickled(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for new in (True, False):
        torch.save({"w": Bomb()}, "a.pt", _use_new_zipfile_serialization=new)
        with pytest.raises(ValueError, match="not readable with weights_only"):
            drift(None, "a.pt", make())
    assert not (tmp_path / "exploded").exists()


def test_a_new_readout_is_said_and_left_out():
    before, after = pair()
    after[2] = nn.Linear(6, 5)
    found = drift(make, before, after, batch())
    assert "different shapes: 2.weight, 2.bias" in found.notes[0]
    assert "features from 2 on are not compared" in found.notes[1]
    assert list(found.table.index) == ["0"]
    assert np.isfinite(found.table.loc["0", "cka"])


def test_the_model_is_left_as_it_was():
    model = make().train()
    before = {k: v.clone() for k, v in model.state_dict().items()}
    drift(model, *pair(), batch())
    assert model.training
    assert all(torch.equal(v, before[k]) for k, v in model.state_dict().items())


def test_batch_norm_runs_on_its_own_statistics_and_keeps_them():
    model = nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1d(5))
    after = copy.deepcopy(model)
    after[1].running_mean += 1.0
    found = drift(model, model, after, batch())
    assert found.table.loc["1", "weight_drift"] == 0.0  # statistics are not weights
    assert found.table.loc["1", "feature_drift"] > 0.1
    assert not model[1].running_mean.any()


def test_constant_features_have_no_dimension_and_half_precision_is_read():
    before, after = pair()
    with torch.no_grad():
        for p in before.parameters():
            p.zero_()
    row = drift(make, before, after, batch()).table.loc["0"]
    assert np.isnan(row[["weight_drift", "pr_before", "ensd", "feature_drift"]].astype(float)).all()
    half = {k: v.half() for k, v in after.state_dict().items()}
    assert drift(None, after, half).table["weight_drift"].max() < 1e-3


def test_keyword_and_positional_inputs():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(4, 3)

        def forward(self, x, shift):
            return self.a(x) + shift

    model, after = Two(), Two()
    a = drift(model, model, after, (batch(), np.zeros((12, 3))))
    b = drift(model, model, after, {"x": batch(), "shift": np.zeros((12, 3))})
    assert a.table.equals(b.table)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda m: drift(make, m, m), ValueError, "batch must be given"),
        (lambda m: drift(None, m, m, batch()), ValueError, "need a model"),
        (lambda m: drift(None, m, {"x": torch.ones(2)}), ValueError, "share no floating-point tensor"),
        (lambda m: drift(None, m, {}), ValueError, "holds no tensors"),
        (lambda m: drift(None, m, 3), TypeError, "after must be a file"),
        (lambda m: drift(None, m, "nowhere.pt"), FileNotFoundError, "after nowhere.pt"),
        (lambda m: drift(lambda: 3, m, m, batch()), TypeError, "model must be a module"),
        (lambda m: drift("nonsense", m, m, batch()), ValueError, "package.module:function"),
        (lambda m: drift("nowhere:f", m, m, batch()), ImportError, "nowhere"),
        (lambda m: drift("json:nothing", m, m, batch()), ValueError, "no function"),
        (lambda m: drift(make, m, m, batch(), layers=["9"]), ValueError, "layers: 9 not in"),
        (lambda m: drift(lambda: nn.Linear(7, 7), m, m, batch()), ValueError, "none of its tensors fits"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call(make())


def test_files_that_are_none(tmp_path):
    (tmp_path / "a.safetensors").write_bytes(b"1234567890")
    (tmp_path / "a.pt").write_bytes(b"")
    (tmp_path / "a.h5").write_bytes(b"")
    for name, words in (("a.safetensors", "not a safetensors"), ("a.pt", "weights_only"), ("a.h5", "must end in")):
        with pytest.raises(ValueError, match=words):
            drift(None, tmp_path / name, make())
    (tmp_path / "sub").mkdir()
    with pytest.raises(ValueError, match=r"no \.safetensors"):
        drift(None, tmp_path / "sub", make())


def test_a_loader_of_ones_own(tmp_path, monkeypatch):
    monkeypatch.setattr("numerics.networks.weights.LOADERS", dict(LOADERS))
    before, after = pair()
    np.savez(tmp_path / "a.npz", **{k: v.numpy() for k, v in after.state_dict().items()})

    def loader(path):
        with np.load(path) as archive:
            return {k: torch.tensor(archive[k]) for k in archive.files}

    import numerics.networks.weights as module

    module.register_loader(".npz", loader)
    assert drift(None, before, tmp_path / "a.npz").table.loc["0", "weight_drift"] == pytest.approx(1.0)
    with pytest.raises(ValueError, match="begin with a dot"):
        register_loader("npz", loader)


def test_import_path():
    assert import_factory("torch.nn:ReLU") is nn.ReLU
