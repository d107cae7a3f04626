"""`ptft train`: TOML in, table and figures out, continued after a kill."""

import pandas as pd
import pytest

from numerics.networks.config import plan_from, quick_plan, read_plan
from ptft_sym import cli

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
    ):  # fmt: skip
        code, _, err = ptft(*arguments)
        assert code == 2
        assert words in err
        assert len(err.splitlines()) == 1
    assert [p.name for p in (tmp_path / "full").iterdir()] == ["mine.txt"]
