"""Downloads happen when they are asked for, through torchvision, and never otherwise."""

import pickle
import socket
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from numerics.networks.config import plan_from
from numerics.networks.data import load
from numerics.networks.downloads import fetch
from ptft_sym import cli


class FakeTorchvision:
    """The two classes that are used, with the signatures of torchvision; they write tiny files of the true format."""

    def __init__(self, monkeypatch):
        self.calls = []
        package, module = types.ModuleType("torchvision"), types.ModuleType("torchvision.datasets")
        module.CIFAR100, module.SVHN, package.datasets = self.cifar, self.svhn, module
        monkeypatch.setitem(sys.modules, "torchvision", package)
        monkeypatch.setitem(sys.modules, "torchvision.datasets", module)

    def cifar(self, root, train=True, transform=None, target_transform=None, download=False):
        self.calls.append(("cifar100", root, train, download))
        folder = Path(root) / "cifar-100-python"
        folder.mkdir()
        data = np.random.default_rng(0).integers(0, 256, (200, 3072), dtype=np.uint8)
        for name in ("train", "test"):
            content = {b"data": data, b"fine_labels": [i % 100 for i in range(200)]}
            (folder / name).write_bytes(pickle.dumps(content, protocol=2))
        names = {b"fine_label_names": [f"name{i}".encode() for i in range(100)]}
        (folder / "meta").write_bytes(pickle.dumps(names, protocol=2))

    def svhn(self, root, split="train", transform=None, target_transform=None, download=False):
        self.calls.append(("svhn", root, split, download))
        x = np.random.default_rng(1).integers(0, 256, (32, 32, 3, 20), dtype=np.uint8)
        y = (np.arange(20) % 10 + 1).astype(np.uint8)[:, None]
        savemat(Path(root) / f"{split}_32x32.mat", {"X": x, "y": y})


@pytest.fixture
def torchvision(monkeypatch):
    return FakeTorchvision(monkeypatch)


@pytest.fixture(autouse=True)
def _no_network(monkeypatch):
    """Whatever opens a connection in these tests fails them."""

    def refuse(*_):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.fixture
def without_torchvision(monkeypatch):
    monkeypatch.setitem(sys.modules, "torchvision", None)  # what `import` makes of this is ImportError


def test_cifar100_is_fetched_and_read(torchvision, tmp_path):
    data = load("cifar100", tmp_path / "sets", download=True)
    assert torchvision.calls == [("cifar100", str(tmp_path / "sets"), True, True)]
    assert data.x.shape == (400, 3, 32, 32)
    assert data.classes[7] == "name7"
    again = load("cifar100", tmp_path / "sets")  # the folder that holds it, or the data's own
    assert np.array_equal(again.x, data.x)
    assert np.array_equal(load("cifar100", tmp_path / "sets" / "cifar-100-python").x, data.x)
    assert len(torchvision.calls) == 1


def test_the_data_s_own_folder_may_be_named(torchvision, tmp_path):
    place = tmp_path / "cifar-100-python"
    assert fetch("cifar100", place) == place
    assert torchvision.calls == [("cifar100", str(tmp_path), True, True)]


@pytest.mark.parametrize(("name", "split"), [("", "train"), ("train_32x32.mat", "train"), ("test_32x32.mat", "test")])
def test_svhn_is_fetched_and_read(torchvision, tmp_path, name, split):
    data = load("svhn", tmp_path / name, download=True)
    assert torchvision.calls == [("svhn", str(tmp_path), split, True)]
    assert data.x.shape == (20, 3, 32, 32)
    assert data.y.tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 0] * 2
    if split == "train":
        assert np.array_equal(load("svhn", tmp_path).x, data.x)


def test_without_torchvision_the_error_names_the_extra(without_torchvision, tmp_path):
    for name in ("cifar100", "svhn"):
        with pytest.raises(ImportError, match=r"pip install 'ptft_sym\[vision\]'"):
            load(name, tmp_path / name, download=True)
    assert not list(tmp_path.iterdir())


def test_a_torchvision_of_another_torch_is_one_sentence(tmp_path, monkeypatch):
    """What happens when only one of the two is upgraded: the import itself raises RuntimeError."""
    (tmp_path / "torchvision").mkdir()
    (tmp_path / "torchvision" / "__init__.py").write_text("raise RuntimeError('operator nms does not exist')")
    monkeypatch.delitem(sys.modules, "torchvision", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(RuntimeError, match=r"does not load beside this torch \(operator nms"):
        fetch("cifar100", tmp_path / "sets")
    (tmp_path / "sets" / "cifar-100-python").mkdir(parents=True)
    assert fetch("cifar100", tmp_path / "sets").name == "cifar-100-python"


def test_a_copy_that_is_there_needs_no_torchvision(torchvision, tmp_path, monkeypatch):
    fetch("svhn", tmp_path)
    monkeypatch.setitem(sys.modules, "torchvision", None)
    assert len(load("svhn", tmp_path, download=True).x) == 20


def test_nothing_is_downloaded_unless_asked(torchvision, tmp_path):
    for name in ("cifar100", "svhn"):
        with pytest.raises(FileNotFoundError):
            load(name, tmp_path / "nowhere")
        with pytest.raises(ValueError, match="nothing is downloaded"):
            load(name)
    plan = plan_from({"data": {"name": "svhn", "path": str(tmp_path)}}, "resnet")
    assert plan.downloads == ()
    assert torchvision.calls == []
    assert not list(tmp_path.iterdir())


def test_a_download_that_fails_is_one_sentence(torchvision, tmp_path, monkeypatch):
    def broken(*_, **__):
        raise OSError("<urlopen error [Errno -2] Name or service not known>\nmore")

    monkeypatch.setattr(sys.modules["torchvision.datasets"], "SVHN", broken)
    with pytest.raises(RuntimeError, match=r"svhn: the download into .* failed \(OSError: <urlopen error"):
        load("svhn", tmp_path, download=True)
    monkeypatch.setattr(sys.modules["torchvision.datasets"], "SVHN", lambda *_, **__: None)
    with pytest.raises(RuntimeError, match=r"left no train_32x32\.mat"):
        load("svhn", tmp_path, download=True)


def test_what_cannot_be_downloaded_is_refused(torchvision, tmp_path):
    for name in ("digits", "folder", "npz", "mnist"):
        with pytest.raises(ValueError, match="must be one of cifar100, svhn"):
            load(name, tmp_path, download=True)
    with pytest.raises(ValueError, match="say where it is to be"):
        load("svhn", download=True)
    for path, error in ((3, TypeError), ("", ValueError)):
        with pytest.raises(error, match="path"):
            load("svhn", path, download=True)
    with pytest.raises(TypeError, match="download must be True or False"):
        load("svhn", tmp_path, download="yes")
    with pytest.raises(ValueError, match=r"train_32x32\.mat, test"):
        fetch("svhn", tmp_path / "other.mat")
    assert torchvision.calls == []


def test_the_entry_of_a_file_and_the_option(torchvision, tmp_path):
    content = {"data": {"name": "svhn", "path": str(tmp_path), "n_ft": 4}, "seeds": [0]}
    for plan in (
        plan_from({**content, "data": {**content["data"], "download": True}}, "resnet"),
        plan_from(content, "resnet", download=True),
    ):
        assert plan.downloads == (("svhn", str(tmp_path)),)
        assert all("download" not in e.data for _, e in plan.variants)  # the same runs, wherever the data came from
    both = {"name": "digits", "ft_name": "cifar100", "ft_path": str(tmp_path), "download": True}
    assert plan_from({"data": both}, "resnet").downloads == (("cifar100", str(tmp_path)),)
    for data, words in (
        ({"download": True}, "no stage has name"), ({"name": "svhn", "download": True}, "needs path"),
        ({"name": "svhn", "path": "x", "download": "yes"}, "download must be True or False"),
    ):  # fmt: skip
        with pytest.raises((ValueError, TypeError), match=words):
            plan_from({"data": data}, "resnet")


def test_the_command(torchvision, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.toml").write_text(
        "seeds = [0]\n[model]\nwidth = 2\nnorm = 'none'\n[data]\nname = 'svhn'\npath = 'sets'\nft_labels = 'classes'\n"
        "n_pt = 0.5\nn_ft = 0.5\n[pretrain]\nmax_steps = 2\n[finetune]\nmax_steps = 2\n"
    )

    def ptft(*arguments):
        with pytest.raises(SystemExit) as end:
            cli.main(["train", "resnet", "--config", "a.toml", *arguments])
        return end.value.code or 0, capsys.readouterr().err

    code, err = ptft("--out", "one")
    assert code == 2
    assert err == "ptft: path = 'sets': there is no such file or folder\n"
    assert not (tmp_path / "one").exists()
    assert torchvision.calls == []
    code, err = ptft("--out", "two", "--download")
    assert code == 0, err
    assert torchvision.calls == [("svhn", "sets", "train", True)]
    assert (tmp_path / "two" / "results.csv").exists()
