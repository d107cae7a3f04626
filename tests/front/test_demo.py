"""`ptft demo`, small: the files it leaves, the numbers in them, and that it overwrites nothing."""

import csv
import math

import numpy as np
import pytest

import ptft_sym as pt
from ptft_sym import cli, demo


@pytest.fixture
def ptft(tmp_path, monkeypatch, capsys):
    """The command with one derivation and small dimensions, in an empty folder."""
    small = dict.fromkeys(demo.SIMULATED, (100, (0.1, 0.2), 0.1, 0.3))
    monkeypatch.setattr(demo, "SIMULATED", small)
    monkeypatch.setattr(pt, "derivations", lambda: ("implicit_bias",))
    monkeypatch.chdir(tmp_path)

    def run(*args):
        with pytest.raises(SystemExit) as end:
            cli.main(["demo", "--seeds", "3", "--draws", "2", *args])
        return end.value.code, *capsys.readouterr()

    return run


def test_the_whole_trip(ptft, tmp_path):
    (tmp_path / "ptft-demo").mkdir()
    (tmp_path / "ptft-demo" / "mine.txt").write_text("x")
    code, out, err = ptft()
    assert (code, err) == (0, "")
    assert [p.name for p in (tmp_path / "ptft-demo").iterdir()] == ["mine.txt"]
    folder = tmp_path / "ptft-demo-2"
    assert {p.name for p in folder.iterdir()} == {"report.md", "points.csv", "curves.png", "regimes.png", "digits.png"}
    assert all(p.read_bytes().startswith(b"\x89PNG") for p in folder.glob("*.png"))
    report = (folder / "report.md").read_text()
    for name in ("curves.png", "regimes.png", "digits.png", "points.csv"):
        assert name in report
    assert "1 derivations checked" in report
    assert "l-order 1.887, not 2" in report  # THEORY section 10
    with open(folder / "points.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4 * 4 * 2
    own = [r for r in rows if r["task"] == r["initialisation"]]
    chi = sum(float(r["z"]) ** 2 for r in own)
    assert f"chi-square {chi:.1f} for 8 points" in report
    assert f"chi-square {chi:.1f} for 8 points" in out
    _check_a_point(next(r for r in rows if (r["task"], r["initialisation"]) == ("II", "IV")))


def _check_a_point(row):
    """Of the task for II from the initialisation for IV at alpha = 0.1: mean and error of its three simulations."""
    run = pt.simulate(
        pt.Task.from_overlap(0.1, 0.1, 1.0), pt.Initialization(1e-3, -0.99), [0.1], dim=100, seeds=range(1000, 1003)
    )
    mse = run["mse"].values[:, 0]
    assert float(row["simulation"]) == pytest.approx(math.fsum(mse) / 3)
    assert float(row["standard_error"]) == pytest.approx(np.std(mse, ddof=1) / 3**0.5)


def test_a_full_folder_is_refused_before_any_work(ptft, tmp_path):
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "mine.txt").write_text("x")
    code, out, err = ptft("--out", "r")
    assert (code, out) == (2, "")
    assert "not empty" in err


def test_settings_are_those_of_the_theory():
    """THEORY section 10, and CASES: the metrics of the settings for III and IV at (1, 1)."""
    _, order, dependence, marks = demo.regime_marks()
    assert marks["III"]["ell_order"] == pytest.approx(1.9999359373197, rel=1e-12)
    assert marks["III"]["pd"] == pytest.approx(-0.019606192575616, rel=1e-12)
    assert marks["IV"]["ell_order"] == pytest.approx(1.2298515450827, rel=1e-12)
    assert marks["IV"]["pd"] == pytest.approx(-0.22962169365256, rel=1e-12)
    assert ((order >= 1) & (order <= 2) & (dependence >= -1) & (dependence <= 0)).all()
    assert demo.task("III").rho_ft == pytest.approx(0.9)
    assert demo.task("IV").omega == pytest.approx(1.0)


def test_disagreement_is_said():
    assert "DISAGREE" in demo.Agreement(60.0, 16, 5e-7, 6.0).sentence
    assert "agree" in demo.Agreement(16.0, 16, 0.45, 2.0).sentence


def test_a_failed_derivation_stops_the_demo(ptft, monkeypatch, tmp_path):
    class Bad:
        def check(self):
            return type("Ledger", (), {"ok": False, "__str__": lambda self: "bad step"})()

    monkeypatch.setattr(pt, "derive", lambda name: Bad())
    code, _, err = ptft()
    assert code == 2
    assert "implicit_bias has failed steps: bad step" in err
    assert not any(tmp_path.iterdir())
