"""`ptft drift`: a table, a figure, one JSON document, and one sentence for whatever does not fit."""

import copy
import json

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from ptft_sym import cli


def pair():
    """A network, and the same with its first weights doubled and its last turned round."""
    torch.manual_seed(0)
    before = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3))
    after = copy.deepcopy(before)
    with torch.no_grad():
        after[0].weight.mul_(2.0)
        after[0].bias.mul_(2.0)
        after[2].weight.copy_(-before[2].weight)
    return before, after


def batch():
    return np.random.default_rng(0).standard_normal((12, 4)).astype(np.float32)


class Bomb:
    def __reduce__(self):
        return (exec, ("import pathlib; pathlib.Path('exploded').touch()",))


@pytest.fixture
def ptft(tmp_path, monkeypatch, capsys):
    """`ptft drift` in a folder with two checkpoints, a network and inputs: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    before, after = pair()
    torch.save(before.state_dict(), "before.pt")
    save_file(after.state_dict(), "after.safetensors")
    save_file({"other": torch.ones(2)}, "other.safetensors")
    np.save("x.npy", batch())
    np.save("long.npy", np.ones((5, 9), np.float32))
    np.savez("empty.npz")
    np.save("objects.npy", np.array([None]), allow_pickle=True)
    torch.save({"x": Bomb()}, "bomb.pt")
    (tmp_path / "x.txt").write_text("1 2")
    (tmp_path / "nets.py").write_text(
        "from torch import nn\ndef build():\n    return nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3))\n"
        "def number():\n    return 3\ndef wants(x):\n    pass\n"
    )
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")

    def call(*arguments):
        with pytest.raises(SystemExit) as end:
            cli.main(["drift", *arguments])
        return end.value.code or 0, *capsys.readouterr()

    return call


FILES = ("before.pt", "after.safetensors")
NET = (*FILES, "--model", "nets:build")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nowhere.pt", FILES[1]), "before nowhere.pt: there is no such file"),
        ((FILES[0], "x.txt"), "after x.txt: its name must end in one of"),
        ((FILES[0], "full"), "after full: the folder holds no .safetensors file"),
        (("bomb.pt", FILES[1]), "bomb.pt: not readable with weights_only"),
        ((FILES[0], "other.safetensors"), "share no floating-point tensor"),
        ((*FILES, "--batch", "x.npy"), "--model and --batch go together"),
        ((*FILES, "--layers", "0"), "--layers needs --model"),
        ((*NET, "--batch", "nowhere.npy"), "--batch nowhere.npy: there is no such file"),
        ((*NET, "--batch", "x.txt"), "--batch x.txt: its name must end in"),
        ((*NET, "--batch", "empty.npz"), "the file holds no array"),
        ((*NET, "--batch", "objects.npy"), "--batch objects.npy: not readable as an array"),
        ((*NET, "--batch", "bomb.pt"), "--batch bomb.pt: not readable with weights_only"),
        ((*NET, "--batch", "long.npy"), "mat1 and mat2"),
        ((*NET, "--batch", "x.npy", "--layers", "7"), "layers: 7 not in Sequential"),
        ((*FILES, "--model", "nets", "--batch", "x.npy"), "must read package.module:function"),
        ((*FILES, "--model", "nonets:build", "--batch", "x.npy"), "No module named 'nonets'"),
        ((*FILES, "--model", "nets:nothing", "--batch", "x.npy"), "nets has no function 'nothing'"),
        ((*FILES, "--model", "nets:number", "--batch", "x.npy"), "a function that builds one, got int"),
        ((*FILES, "--out", "full"), "--out full: the folder is not empty"),
        ((*FILES, "--out", "x.txt"), "--out x.txt: there is a file of that name"),
    ],
)
def test_the_command_refuses_in_one_sentence(ptft, tmp_path, arguments, words):
    code, out, err = ptft(*arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "exploded").exists()
    assert [p.name for p in (tmp_path / "full").iterdir()] == ["mine.txt"]


def test_a_refused_folder_is_refused_before_the_work(ptft, monkeypatch):
    monkeypatch.setattr("numerics.networks.drift.drift", lambda *_, **__: pytest.fail("the work was done"))
    assert ptft(*FILES, "--out", "full")[0] == 2


def test_json_of_the_command(ptft, tmp_path):
    code, out, err = ptft(*NET, "--batch", "x.npy", "--out", "full", "--force", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert [row["layer"] for row in found["layers"]] == ["0", "2"]
    assert found["layers"][0]["weight_drift"] == pytest.approx(1.0)
    assert found["layers"][1]["weight_cosine"] < 0.0
    assert found["written"] == ["full/drift.csv", "full/drift.png"]
    assert (tmp_path / "full" / "mine.txt").exists()
    plain = json.loads(ptft(*FILES, "--json")[1])
    assert plain["written"] == []
    assert plain["early_late_after"] == pytest.approx(2.0 * plain["early_late_before"])


def test_table_and_figure(ptft, tmp_path):
    code, out, err = ptft(*NET, "--batch", "x.npy", "--out", "out")
    assert code == 0, err
    assert "early/late scale ratio" in out
    assert (tmp_path / "out" / "drift.csv").read_text().startswith("layer,weight_drift")
    assert (tmp_path / "out" / "drift.png").stat().st_size > 10_000
