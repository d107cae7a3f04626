"""Verdicts, the grid of experiments, the resumable loop, and the benchmark at both scales for a few steps."""

import importlib.util
import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from numerics.networks.claims import FAMILIES, Row, comparisons, grid, judge
from numerics.networks.experiment import Experiment, Intervention, run
from numerics.networks.presets import preset
from numerics.networks.store import key, read_records, run_missing
from numerics.networks.verdict import compare_paired, holm


def test_the_paired_test_is_the_textbook_one():
    rng = np.random.default_rng(0)
    a = rng.standard_normal(9)
    b = a + 0.3 + 0.1 * rng.standard_normal(9)
    found = compare_paired(b, a)
    expected = stats.ttest_rel(b, a)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-10)
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval()))
    assert found.effect == pytest.approx(np.mean(b - a))


def test_holm_by_hand():
    # sorted: .01 * 4, then .02 * 3, .03 * 2 raised to the one before, .5 * 1
    assert holm([0.03, 0.01, 0.5, 0.02]) == pytest.approx([0.06, 0.04, 0.5, 0.06])
    assert holm([]).shape == (0,)
    assert holm([0.9, 0.8]) == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize(
    ("differences", "direction", "word"),
    [
        ([0.1, 0.11, 0.09, 0.1], 1, "supported"),
        ([0.1, 0.11, 0.09, 0.1], -1, "not supported"),
        ([0.001, -0.001, 0.002, 0.0], 1, "not supported"),  # the interval excludes 0.01
        ([0.001, -0.001, 0.002, 0.0], -1, "not supported"),
        ([0.3, -0.2, 0.1, -0.1], 1, "undecided"),
        ([0.0, 0.0, 0.0], 1, "not supported"),
        ([0.2, 0.2], 1, "supported"),
    ],
)
def test_verdicts(differences, direction, word):
    found = compare_paired(differences, np.zeros(len(differences)), direction)
    assert found.verdict(found.p) == word


def test_judge_corrects_within_a_claim_and_takes_common_seeds():
    found = {"a": {0: {"m": 1.0}, 1: {"m": 1.1}, 2: {"m": 0.9}, 3: {"m": 1.0}}, "b": {0: {"m": 0.0}, 1: {"m": 0.0}},
             "c": {s: {"m": float("nan")} for s in range(4)}}  # fmt: skip
    found["d"] = {s: {"m": 0.1 * (-1) ** s} for s in range(4)}
    rows = [Row("C1", "one", (("a", "m", 1), ("b", "m", -1)), 1, 0.01),
            Row("C1", "two", (("a", "m", 1), ("d", "m", -1)), 1, 0.01),
            Row("C1", "broken", (("a", "m", 1), ("c", "m", -1)), 1, 0.01),
            Row("C2", "three", (("a", "m", 1), ("nowhere", "m", -1)), 1, 0.01)]  # fmt: skip
    judged = judge(rows, found)
    assert judged[0][1].pairs == 2
    assert judged[1][2] == pytest.approx(min(1, max(2 * judged[1][1].p, 0)))
    assert judged[1][3] == "supported"
    assert [row[3] for row in judged[2:]] == ["not run", "not run"]


@pytest.mark.parametrize("scale", ["quick", "paper"])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_comparison_has_its_cells_and_their_control(family, scale):
    cells = grid(family, scale, path="cifar")
    names = [c.name for c in cells]
    assert len(set(names)) == len(names)
    used = {cell for row in comparisons(family, scale) for cell, _, _ in row.terms}
    assert used <= set(names)
    assert any("scratch" in name for name in used)
    assert len({key(c.experiment, 0) for c in cells}) == len(cells)


def tiny(**changes):
    base = preset("mlp")
    data = {"dim": 6, "pt_features": 2, "ft_features": 2, "shared": 2, "n_pt": 20, "n_ft": 10, "n_test": 50}
    return replace(
        base, model={**base.model, "hidden": 8}, data=data, pt=replace(base.pt, max_steps=5),
        ft=replace(base.ft, max_steps=5), **changes,
    )  # fmt: skip


def without_times(record):
    return json.dumps({name: value for name, value in record.items() if not name.endswith("seconds")})


def test_runs_are_stored_one_by_one_and_a_cut_line_is_repeated(tmp_path):
    cells = [("a", tiny()), ("b", tiny(intervention=Intervention(scratch=True)))]
    records, left = run_missing(cells, [0, 1], tmp_path)
    assert (len(records), left) == (4, 0)
    text = (tmp_path / "records.jsonl").read_text()
    (tmp_path / "records.jsonl").write_text(text[:-40])  # what a kill in the middle of a write leaves
    assert len(read_records(tmp_path)) == 3
    done = []
    again, _ = run_missing(cells, [0, 1], tmp_path, progress=lambda *a: done.append(a))
    assert len(done) == 1
    for k, record in records.items():
        assert without_times(record) == without_times(again[k])
    assert run_missing(cells, [0, 1, 2], tmp_path, budget=0.0)[1] == 2


def test_a_record_does_not_depend_on_what_ran_before(tmp_path):
    a = run(tiny(), 3)
    run(tiny(), 1)
    b = run(tiny(), 3, cache=tmp_path)
    assert a["ft_loss"] == b["ft_loss"]
    assert a["ensd"] == b["ensd"]
    assert json.dumps(a)


def test_scratch_uses_the_same_scales_and_no_pretraining(tmp_path):
    scratch = run(tiny(intervention=Intervention(scratch=True)), 0)
    assert scratch["ft_loss"] != run(tiny(), 0)["ft_loss"]
    longer = tiny(intervention=Intervention(scratch=True))
    longer = replace(longer, pt=replace(longer.pt, max_steps=9))
    assert run(longer, 0)["ft_loss"] == scratch["ft_loss"]  # pretraining, however long, is not seen


@pytest.fixture
def benchmark(root):
    spec = importlib.util.spec_from_file_location("nonlinear_benchmark", root / "benchmarks" / "nonlinear.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write_cifar(folder, rows=1200):
    data = np.random.default_rng(0).integers(0, 256, (rows, 3072), dtype=np.uint8)
    folder.mkdir()
    content = {b"data": data, b"fine_labels": [i % 100 for i in range(rows)]}
    (folder / "train").write_bytes(pickle.dumps(content, protocol=2))


@pytest.mark.parametrize(("scale", "seeds", "cells"), [("quick", 2, 2), ("paper", 1, 1)])
def test_the_whole_table_runs_for_a_few_steps(benchmark, tmp_path, capsys, scale, seeds, cells):
    """Every family, at both scales, two steps a stage."""
    write_cifar(tmp_path / "cifar")
    arguments = ["--scale", scale, "--steps", "2", "--batch", "8", "--cells", str(cells), "--seeds", str(seeds),
                 "--store", str(tmp_path / "store"), "--out", str(tmp_path / "page.md"), "--device", "cpu",
                 "--data", str(tmp_path / "cifar")]  # fmt: skip
    benchmark.main(arguments)
    text = (tmp_path / "page.md").read_text()
    for claim in ("C8", "C9", "C10", "C11", "C12", "C13", "C14"):
        assert f"## {claim}" in text
    assert f"{3 * cells * seeds} runs" in text
    assert capsys.readouterr().out.count("seed 0") == 3 * cells
    benchmark.main(arguments)
    assert "seed" not in capsys.readouterr().out  # everything was on disk


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_network_of_the_paper_scale_runs_for_a_few_steps(benchmark, tmp_path, family):
    """Each architecture with each intervention and optimiser once: three steps a stage, finite results."""
    write_cifar(tmp_path / "cifar")
    found = {}
    for cell in grid(family, "paper", path=str(tmp_path / "cifar"), device="cpu"):
        e = cell.experiment
        own = json.dumps([e.kind, e.model, str(e.intervention), e.pt.optimizer, e.ft.lr], sort_keys=True)
        found.setdefault(own, benchmark.shorten(cell, 3, 8, "cpu"))
    assert len(found) == {"mlp": 20, "resnet": 19, "transformer": 16}[family]
    records, left = run_missing(list(found.values()), [0], tmp_path / "store")
    assert (len(records), left) == (len(found), 0)
    for record in records.values():
        assert record["pt_steps"] == record["ft_steps"] == 3, record
        assert np.isfinite(record["ft_loss"])
    assert {r["model_width"] for r in records.values() if family == "resnet"} <= {64}


def test_the_benchmark_fetches_only_when_asked(benchmark, tmp_path, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(benchmark, "fetch", lambda *place: asked.append(place))
    small = ["--only", "mlp", "--steps", "1", "--cells", "1", "--seeds", "1", "--store", str(tmp_path),
             "--out", str(tmp_path / "page.md")]  # fmt: skip
    benchmark.main(small)
    assert asked == []
    benchmark.main([*small, "--download", "--data", "there"])
    assert asked == [("cifar100", "there")]
    with pytest.raises(SystemExit):
        benchmark.main([*small, "--download"])
    assert "--download needs --data" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["resnet", "resnet-plain", "transformer", "transformer-sgd", "mlp", "mlp-linear"])
def test_presets(kind):
    assert isinstance(preset(kind), Experiment)
    assert isinstance(preset(kind, "paper", path="x"), Experiment)


def test_refusals():
    with pytest.raises(ValueError, match="path must say"):
        preset("resnet", "paper")
    with pytest.raises(ValueError, match="scale"):
        preset("resnet", "huge")
    with pytest.raises(ValueError, match="kind"):
        preset("rnn")
    with pytest.raises(ValueError, match="family"):
        grid("rnn")
    plain = {"variant": "plain", "kappa": 0.5}  # of which layers?
    for options in ({"kappa": 0.0}, {"variant": "x"}, plain, {"gamma": -1.0}, {"factor": 0}):
        with pytest.raises(ValueError, match=r"kappa|variant|gamma|factor"):
            Intervention(**options)
    for bad in (([1.0], [2.0]), ([1.0, 2.0], [1.0]), ([1.0, np.nan], [1.0, 2.0])):
        with pytest.raises(ValueError, match=r"treatment|control"):
            compare_paired(*bad)
    with pytest.raises(ValueError, match="direction"):
        compare_paired([1.0, 2.0], [1.0, 2.0], 0)
