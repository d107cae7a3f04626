"""`ptft train`: TOML in, table and figures out, continued after a kill."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest
import torch

from numerics.networks import training
from numerics.networks.checkpoint import read_checkpoint
from numerics.networks.config import plan_from, quick_plan, read_plan
from ptft_sym import cli
from ptft_sym.cli.train import _Progress

CONFIG = """
seeds = [0, 4]
[model]
width = 2
norm = "none"
[data]
n_ft = 12
[pretrain]
max_steps = 4
[finetune]
max_steps = 3
lr = 0.01
[[variant]]
name = "kappa .3"
kappa = 0.3
[[variant]]
name = "alone"
scratch = true
"""


@pytest.fixture
def ptft(tmp_path, monkeypatch, capsys):
    """The command in this process, in a folder of its own: (exit code, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        with pytest.raises(SystemExit) as end:
            cli.main(["train", *arguments])
        return end.value.code or 0, *capsys.readouterr()

    return call


def test_a_plan_fills_gaps_from_the_preset(tmp_path):
    (tmp_path / "a.toml").write_text(CONFIG)
    plan = read_plan(tmp_path / "a.toml", "resnet")
    assert plan.seeds == [0, 4]
    names, experiments = zip(*plan.variants, strict=True)
    assert names == ("kappa .3", "alone")
    assert experiments[0].model == {"width": 2, "norm": "none"}
    assert experiments[0].data["name"] == "digits"
    assert experiments[0].data["n_ft"] == 12
    assert (experiments[0].ft.lr, experiments[0].ft.max_steps, experiments[0].ft.stop_loss) == (0.01, 3, 0.01)
    assert experiments[0].intervention.kappa == 0.3
    assert experiments[1].intervention.scratch
    default = plan_from({}, "transformer")
    assert [name for name, _ in default.variants] == ["pretrained", "scratch"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1", "has no entry 'x'"), ("[model", "not a TOML file"), ("[pretrain]\nlr = -1", "lr = -1"),
        ("[pretrain]\nspeed = 1", r"\[pretrain\] has no entry 'speed'"), ("model = 3", "must be a table"),
        ("[[variant]]\nkapa = 1", "has no entry 'kapa'"), ("seeds = []", "seeds"), ("seeds = [1, 1]", "seeds"),
        ("variant = []", "array of tables"), ('scale = "paper"', "path must say"),
        ("[[variant]]\nname = 'a'\n[[variant]]\nname = 'a'", "must differ"),
    ],
)  # fmt: skip
def test_wrong_files_are_one_sentence(tmp_path, text, words):
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises((ValueError, TypeError), match=words):
        read_plan(tmp_path / "a.toml", "resnet")


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        ("resnet", "[model]\nwdth = 8", r"\[model\] has no entry 'wdth'; it may have width, depth, norm"),
        ("resnet", "[model]\nwidth = '8'", "width must be"), ("resnet", "[model]\nwidth = 0", "width = 0"),
        ("resnet", "[model]\nnorm = 'layer'", "norm = 'layer'"), ("resnet", "[data]\nn_fine = 3", r"\[data\] has no"),
        ("resnet", "[data]\nn_ft = 5000", "train = 5000"), ("resnet", "[data]\nname = 'mnist'", "name = 'mnist'"),
        ("resnet", "[data]\npath = 3", "path must be text"), ("resnet", "[finetune]\nlr = 'fast'", "lr must be"),
        ("resnet", "[finetune]\nbatch_size = 0", "batch_size = 0"), ("resnet", "[finetune]\nloss = 'mse'", "loss ="),
        ("resnet", "[pretrain]\ndevice = 'gpu'", "device = 'gpu'"), ("resnet", "[finetune]\nseed = -1", "seed = -1"),
        ("resnet", "[[variant]]\nkappa = 0.5\nvariant = 'plain'\nearlier = ['stm']", "'stm' is not a layer"),
        ("resnet", "[[variant]]\nkappa = 0.5", "absorbs the scale"), ("mlp", "[[variant]]\nkappa = -1", "kappa = -1"),
        ("resnet", "[[variant]]\nearlier = 'stem'", "earlier must be a list"), ("resnet", "variant = [1]", "array of"),
        ("resnet", "[[variant]]\nscratch = 'no'", "scratch must be True or False"),
        ("resnet", "[[variant]]\nmodel = 3", "model must be a table"), ("resnet", "seeds = [0.5]", "seeds"),
        ("resnet", "scale = 'large'", "scale = 'large'"), ("resnet", "seeds = [-1]", "seeds = -1"),
        ("resnet", "[model]\ndepth = 3", "depth must be a list"), ("resnet", "[data]\nft_classes = 3", "classes must"),
        ("transformer", "[model]\ncausal = 'no'", "causal must be"), ("transformer", "[model]\nheads = 5", "heads = 5"),
        ("transformer", "[data]\nft_label = 4", "label = 4"),
        ("transformer", "[data]\nname = 'digits'", r"\[data\] has no entry 'name'"),
        ("mlp", "[model]\nhidden = 7", "hidden = 7"), ("mlp", "[model]\nlam = 2", "lam = 2"),
        ("mlp", "[data]\nshared = 9", "shared = 9"), ("mlp", "[data]\nn_ft = 1.5", "n_ft"),
        ("mlp", "[data]\nnoise = -1", "noise = -1"), ("mlp", "[pretrain]\nloss = 'cross_entropy'", "loss ="),
    ],
)  # fmt: skip
def test_every_entry_is_checked_before_the_first_step(ptft, tmp_path, kind, text, words):
    (tmp_path / "a.toml").write_text(text)
    code, out, err = ptft(kind, "--config", "a.toml", "--out", "out")
    assert (code, out) == (2, "")
    assert re.search(words, err), err
    assert len(err.splitlines()) == 1
    assert err.startswith("ptft: a.toml: ")
    assert not (tmp_path / "out").exists()


def test_one_json_document_and_quiet(ptft, tmp_path):
    (tmp_path / "a.toml").write_text(CONFIG)
    code, out, err = ptft("resnet", "--config", "a.toml", "--out", "out", "--json", "--quiet")
    assert (code, err) == (0, "")
    found = json.loads(out)
    table = pd.read_csv(tmp_path / "out" / "results.csv")
    assert [run["seed"] for run in found["runs"]] == table["seed"].tolist() == [0, 4, 0, 4]
    assert [run["ft_loss"] for run in found["runs"]] == table["ft_loss"].tolist()
    assert [row["name"] for row in found["summary"]] == ["resnet: kappa .3", "resnet: alone"]
    assert found["summary"][0]["ft_loss"] == pytest.approx(table["ft_loss"][:2].mean())
    assert len(found["missed"]) == 4
    names = ["out/records.jsonl", "out/results.csv", "out/results.png", "out/signature.png"]
    assert found["written"] == names
    assert all((tmp_path / name).is_file() for name in names)


def test_progress_within_a_long_run(monkeypatch, capsys):
    clock = iter([0.0, 5.0, 11.0, 11.0, 12.0])
    monkeypatch.setattr("ptft_sym.cli.train.time.monotonic", lambda: next(clock))
    shown = _Progress("mlp", quiet=False)
    shown.step("pretraining", 20, 4000, 0.5)
    assert capsys.readouterr().err == ""
    shown.step("pretraining", 40, 4000, 0.25)
    assert capsys.readouterr().err == "mlp:   pretraining, step 40 of at most 4000, loss 0.25\n"
    shown.step("pretraining", 60, 4000, 0.25)
    assert capsys.readouterr().err == ""


def test_quick_plans_have_controls():
    for kind in ("resnet", "transformer", "mlp"):
        assert any(e.intervention.scratch for _, e in quick_plan(kind).variants)
    with pytest.raises(ValueError, match="kind"):
        quick_plan("rnn")


def test_table_figures_and_continuation(tmp_path, ptft):
    (tmp_path / "a.toml").write_text(CONFIG)
    code, out, err = ptft("resnet", "--config", "a.toml", "--out", "out")
    assert code == 0, err
    assert "resnet: kappa .3" in out
    assert "did not reach their training loss" in out  # three steps are not enough, and it says so
    table = pd.read_csv(tmp_path / "out" / "results.csv")
    assert len(table) == 4
    assert {"seed", "kappa", "scratch", "ft_accuracy", "pr_after", "ensd", "ft_reason"} <= set(table.columns)
    for name in ("results.png", "signature.png"):
        assert (tmp_path / "out" / name).stat().st_size > 5_000
    records = tmp_path / "out" / "records.jsonl"
    records.write_text("".join(records.read_text().splitlines(keepends=True)[:2]))
    assert ptft("resnet", "--config", "a.toml", "--out", "out")[2].count("resnet:") == 2  # the two that were lost
    pd.testing.assert_frame_equal(
        pd.read_csv(tmp_path / "out" / "results.csv").filter(regex="accuracy|loss|pr_|ensd"),
        table.filter(regex="accuracy|loss|pr_|ensd"),
    )


def test_refusals(tmp_path, ptft):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    (tmp_path / "a.toml").write_text(CONFIG)
    for arguments, words in (
        (["resnet"], "either --config FILE or --quick"), (["rnn", "--quick"], "KIND = 'rnn'"),
        (["--config", "a.toml"], "needs KIND"), (["resnet", "--config", "b.toml"], "no such file"),
        (["resnet", "--config", "a.toml", "--out", "full"], "not empty"),
        (["resnet", "--config", "a.toml", "--quick"], "either --config FILE or --quick"),
        (["mlp", "--quick", "--device", "nonsense"], "device = 'nonsense' is not allowed: it must be 'cpu', 'cuda'"),
        (["mlp", "--quick", "--device", "cpu:0"], "device = 'cpu:0' is not allowed"),
        (["mlp", "--quick", "--seeds", "0"], "--seeds = 0 is not allowed: it must be"),
        (["mlp", "--quick", "--threads", "0"], "--threads = 0 is not allowed: it must be"),
        (["mlp", "--quick", "--download"], "--download needs --config"),
        (["mlp", "--config", "."], "no such file"), (["resnet", "--config", "full/mine.txt"], "not a TOML file"),
    ):  # fmt: skip
        code, _, err = ptft(*arguments)
        assert code == 2
        assert words in err
        assert len(err.splitlines()) == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.toml", "full"]
    assert [p.name for p in (tmp_path / "full").iterdir()] == ["mine.txt"]
    for arguments in (["mlp", "--quick", "--seeds", "many"], ["mlp", "--speed", "3"]):  # Typer's own refusals
        assert ptft(*arguments)[0] == 2


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
@pytest.mark.parametrize("device", ["cuda", "cuda:1"])
def test_cuda_without_a_device_is_one_sentence(ptft, device):
    code, _, err = ptft("mlp", "--quick", "--device", device)
    assert code == 2
    assert err == f"ptft: device = '{device}': this machine has no CUDA device that torch can use\n"


def test_device_of_the_command_replaces_that_of_the_file(tmp_path):
    (tmp_path / "a.toml").write_text("[pretrain]\nmax_steps = 3\ndevice = 'cuda:99'")
    for _, experiment in read_plan(tmp_path / "a.toml", "mlp", device="cpu").variants:
        assert (experiment.pt.device, experiment.ft.device, experiment.pt.max_steps) == ("cpu", "cpu", 3)


INTERRUPTED = """
seeds = [0]
[model]
hidden = 20
[data]
n_ft = 12
[pretrain]
max_steps = 1500
stop_loss = 0
[finetune]
max_steps = 40
"""


def table_of(folder):
    table = pd.read_csv(folder / "results.csv")
    return table.drop(columns=[c for c in table.columns if c.endswith("seconds")])


def test_interrupted_and_continued_gives_the_same_table(ptft, tmp_path, monkeypatch):
    """Stopped in the middle of a stage, just after a checkpoint."""
    (tmp_path / "a.toml").write_text(INTERRUPTED)
    write = training.write_checkpoint

    def once(*arguments):
        write(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(training, "write_checkpoint", once)
        assert ptft("mlp", "--config", "a.toml", "--out", "stopped")[0] != 0
    (saved,) = (tmp_path / "stopped" / "checkpoints").glob("pt-*.pt")
    assert read_checkpoint(saved)["step"] == 200
    for out in ("stopped", "whole"):
        code, _, err = ptft("mlp", "--config", "a.toml", "--out", out)
        assert code == 0, err
    pd.testing.assert_frame_equal(*(table_of(tmp_path / out) for out in ("stopped", "whole")), check_exact=True)


@pytest.mark.slow
def test_killed_and_continued_gives_the_same_table(tmp_path):
    """Kill -9 while a stage runs; the same command ends with the table of a run that was left alone."""
    (tmp_path / "a.toml").write_text(INTERRUPTED)
    code = "from ptft_sym.cli import main; main()"
    command = [sys.executable, "-c", code, "train", "mlp", "--config", "a.toml", "--out"]
    process = subprocess.Popen([*command, "killed"], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not list((tmp_path / "killed").glob("checkpoints/pt-*.pt")) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "killed" / "results.csv").exists()
    for out in ("killed", "whole"):
        subprocess.run([*command, out], cwd=tmp_path, check=True, capture_output=True)
    tables = [table_of(tmp_path / out) for out in ("killed", "whole")]
    assert len(tables[0]) == 2
    pd.testing.assert_frame_equal(*tables, check_exact=True)
