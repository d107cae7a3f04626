"""`--json`: one document on stdout and nothing else, for every command, with the numbers of the library."""

import json
import math

import numpy as np
import pytest

import derivations
import ptft_sym as pt
from ptft_sym import cli
from ptft_sym.cli.output import plain

PLAN = 'kind = "metrics"\nname = "small"\n[axes]\nlam = [-0.5, 0.5]\n[fixed]\nc = 0.001\n'
CALLS = {
    "demo": ["--seeds", "3", "--draws", "2"],
    "claims": ["C4", "C12", "--out", "page"],
    "curve": ["--alpha", "0.05,0.1", "--out", "a.csv"],
    "map": ["regimes", "--lam=-0.9,0,0.9", "--c", "0.001,1"],
    "sweep": ["--config", "plan.toml", "--workers", "1"],
    "simulate": ["--dim", "40", "--seeds", "3", "--alpha", "0.31"],
    "finetune": ["--scan", "lam"],
    "train": ["mlp", "--config", "train.toml", "--out", "t"],
    "drift": ["before.safetensors", "after.safetensors", "--out", "d"],
    "derive": ["metrics"],
    "kernels": ["potential", "ell_order", "--passes"],
    "verify": ["potential", "--points", "20"],
}
#: What a document must hold, and for some how many of them.
FIELDS = {
    "demo": {"derivations": 1, "kernels": None, "agreement": None, "points": 32, "digits": 2, "written": 5},
    "claims": {"claims": 2, "written": 3},
    "curve": {"settings": None, "rows": 2, "written": 1},
    "map": {"axes": 2, "quantities": 4, "written": 0},
    "sweep": {"axes": 1, "settings": None, "failed": None, "rows": 1, "written": 1},
    "simulate": {"rows": 1, "comparison": None, "residual": None, "steps": None, "written": 0},
    "finetune": {"pretrained": None, "finetuned": None, "test": 4, "scan": 15, "written": 3},
    "train": {"runs": 4, "summary": None, "missed": None, "written": 4},
    "drift": {"layers": 1, "early_late_before": None, "notes": None, "written": 2},
    "derive": {"steps": 20, "counts": 5, "ok": None, "written": 0},
    "kernels": {"backend": None, "kernels": 2, "written": 0},
    "verify": {"kernels": 1, "stale": None, "broken": 0, "ok": None},
}


@pytest.fixture
def ptft(tmp_path, monkeypatch, capsys):
    """Run a command with --json in a folder with its files: (exit code, the document)."""
    from ptft_sym import demo

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(demo, "SIMULATED", dict.fromkeys(demo.SIMULATED, (100, (0.1, 0.2), 0.1, 0.3)))
    monkeypatch.setattr(demo, "LAM", (-0.99, 0.0))
    monkeypatch.setattr(pt, "derivations", lambda: ("implicit_bias",))
    (tmp_path / "plan.toml").write_text(PLAN)

    def run(*args):
        with pytest.raises(SystemExit) as end:
            cli.main([*args, "--json"])
        out, err = capsys.readouterr()
        assert out, err
        return end.value.code, json.loads(out, parse_constant=_no_constant)

    return run


def _no_constant(word):
    raise AssertionError(f"{word} is not JSON")


def test_every_command_is_here():
    assert set(CALLS) == set(FIELDS) == set(cli.COMMANDS)


@pytest.mark.parametrize("name", CALLS)
def test_one_document_with_the_fields_of_the_table(ptft, name, tmp_path, root):
    if name in ("train", "drift"):
        _network_files(tmp_path)
    code, found = ptft(name, *CALLS[name])
    assert code == 0
    assert (found["command"], found["version"]) == (name, pt.__version__)
    for field, count in FIELDS[name].items():
        assert field in found
        assert count is None or len(found[field]) == count, (field, found[field])
    for path in found.get("written", []):
        assert (tmp_path / path).is_file()
    table = (root / "docs" / "cli.md").read_text(encoding="utf-8").split("## JSON")[1]
    (row,) = [line for line in table.splitlines() if line.startswith(f"| `{name}` |")]
    assert all(f"`{field}`" in row for field in set(FIELDS[name]) - {"written"})


def _network_files(folder):
    torch = pytest.importorskip("torch")
    from safetensors.torch import save_file

    save_file({"layer.weight": torch.ones(2, 2)}, folder / "before.safetensors")
    stages = "[pretrain]\nmax_steps = 3\n[finetune]\nmax_steps = 3\n"
    variants = "[[variant]]\nname = 'a'\n[[variant]]\nname = 'b'\nkappa = 3\n"
    (folder / "train.toml").write_text(f"seeds = [0, 1]\n{stages}{variants}")
    save_file({"layer.weight": 2 * torch.ones(2, 2)}, folder / "after.safetensors")


def test_numbers_keep_their_digits(ptft):
    """The first rows of the table of THEORY section 9."""
    _, found = ptft("curve", "--alpha", "0.05,0.1")
    task, init = pt.Task.from_overlap(0.1, 0.04, 1.0), pt.Initialization(1e-3)
    theory = pt.generalization_curve(task, init, [0.05, 0.1])
    assert [row["mse"] for row in found["rows"]] == theory.mse.values.tolist()
    assert found["rows"][1]["mse"] == pytest.approx(0.05592198891395467, rel=1e-10)


def test_one_seed_has_no_error_bar(ptft):
    _, found = ptft("simulate", "--dim", "40", "--seeds", "1", "--alpha", "0.3")
    assert found["comparison"] is None
    assert list(found["rows"][0]) == ["alpha", "theory", "simulation"]


def test_the_map_in_the_document_is_the_map(ptft):
    _, found = ptft("map", *CALLS["map"])
    expected = pt.regime_map(lam=[-0.9, 0.0, 0.9], c=[0.001, 1.0], chunks=None)
    order = found["quantities"]["ell_order"]
    assert order["axes"] == list(expected.ell_order.dims)
    np.testing.assert_array_equal(order["values"], expected.ell_order.values)


def test_lists_and_ledgers(ptft):
    assert len(ptft("derive")[1]["derivations"]) == len(derivations.names())
    assert ptft("sweep", "--config", "plan.toml", "--check")[1]["settings"] == 2


def test_a_failed_check_is_a_document_and_exit_code_1(ptft, monkeypatch):
    from dataclasses import replace

    from numerics.codegen.formulas import FORMULAS

    monkeypatch.setitem(FORMULAS, "potential", replace(FORMULAS["potential"], ulp=0.1))
    code, found = ptft("verify", "potential", "--points", "20")
    assert (code, found["ok"]) == (1, False)
    assert "potential (numpy)" in found["broken"]


def test_a_refusal_leaves_stdout_empty(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as end:
        cli.main(["curve", "--c=-1", "--json"])
    assert end.value.code == 2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (math.nan, None), (-math.inf, None), (np.float64("nan"), None), (np.float32(0.1), float(np.float32(0.1))),
        (np.int16(3), 3), (np.bool_(True), True), (np.array([[1.0, np.inf]]), [[1.0, None]]), ((1, "a"), [1, "a"]),
        (np.array(["x"]), ["x"]), ({1: {2.5: None}}, {"1": {"2.5": None}}), (b"x", "b'x'"), (iter([1, 2]), [1, 2]),
    ],
)  # fmt: skip
def test_plain_values(value, expected):
    found = plain(value)
    assert found == expected
    json.dumps(found, allow_nan=False)


def test_floats_survive_the_round_trip():
    numbers = [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, -0.0, 2.0**53 + 2]
    assert json.loads(json.dumps(plain(np.array(numbers)))) == numbers
