"""Configurations: what is wrong is named by its key before anything runs; what is right runs from the command line."""

import csv
import re
import subprocess
import sys

import pytest

from numerics.sweep.config import load
from ptft_sym.cli import main

GOOD = """
kind = "replica"
[axes]
omega = [0.0, 0.5, 1.0]
lam = {start = -0.999, stop = 0.9, count = 4, spacing = "one-plus-log"}
[fixed]
rho_pt = 0.1
rho_ft = 0.05
c = 1e-3
alpha = 0.2
[best]
over = ["lam"]
[[figures]]
name = "error"
value = "mse"
contours = [0.1]
"""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("kind = ", "kid = ", "kid: unknown key; known are name, kind"),
        ('"replica"', '"replicas"', "kind = 'replicas'"),
        ('"replica"', "3", "kind = 3"),
        ("[0.0, 0.5, 1.0]", "[]", "axes.omega is empty"),
        ("[0.0, 0.5, 1.0]", "[0.0, 1.0, 0.5]", "axes.omega is not monotone"),
        ("[0.0, 0.5, 1.0]", "[0.0, nan]", "axes.omega[1] = nan"),
        ("[0.0, 0.5, 1.0]", "0.5", "axes.omega must be a list"),
        ("[0.0, 0.5, 1.0]", "[0.0, 2.0]", "axes.omega[1] = 2.0"),
        ("rho_ft = 0.05", "rho_ft = 0.5", "axes.omega: rho_pt = 0.1, rho_ft = 0.5, omega = 0.5 is infeasible"),
        ("rho_ft = 0.05", "rho_ft = nan", "fixed.rho_ft = nan"),
        ("rho_ft = 0.05", "rho_shared = 0.05", "rho_shared and rho_new, or rho_ft and omega"),
        ("rho_ft = 0.05", "", "rho_ft is missing"),
        ("alpha = 0.2", "", "alpha is missing"),
        ("alpha = 0.2", "alpha = 0.2\nlam = 0.0", "fixed.lam: axes.lam already changes it"),
        ("alpha = 0.2", "alpha = 0.2\nbeta = 0.0", "fixed.beta: unknown parameter 'beta'"),
        ("alpha = 0.2", "alpha = '0.2'", "fixed.alpha must be a real number"),
        ("alpha = 0.2", "alpha = 0.2\nft_slab = 'box:1'", "fixed.ft_slab = 'box:1'"),
        ("alpha = 0.2", "alpha = 0.2\nnoise_pt = 0.1", "noise_pt needs alpha_pt"),
        ("start = -0.999", "start = -1.0", "axes.lam: spacing 'one-plus-log' needs start and stop above -1"),
        ("count = 4", "count = 0", "axes.lam.count = 0"),
        ("count = 4,", "", "axes.lam.count is missing"),
        ("count = 4", "cnt = 4", "axes.lam.cnt: unknown key"),
        ("{start = -0.999, stop = 0.9, count = 4, spacing = \"one-plus-log\"}", "[-1.0, 0.0]", "axes.lam: lam = -1.0"),
        ('over = ["lam"]', 'over = ["omega"]', "best.over = ['omega']"),
        ('over = ["lam"]', "rich = 0.9", "best.rich = 0.9"),
        ('over = ["lam"]', "reference = [1.0]", "best.reference = [1.0]"),
        ('value = "mse"', 'value = "msee"', "figures[0].value = 'msee'"),
        ('value = "mse"', 'vale = "mse"', "figures[0].vale: unknown key"),
        ('value = "mse"', 'kind = "pie"', "figures[0].kind = 'pie'"),
        ('value = "mse"', 'x = "alpha"', "figures[0].x = 'alpha' is not an axis"),
        ('value = "mse"', 'value = "mse"\nselect = {omega = 0.5}', "figures[0]: a map needs two axes"),
        ('value = "mse"', 'value = "mse"\nselect = {c = 0.5}', "figures[0].select.c: not an axis"),
        ("contours = [0.1]", "contours = ['a']", "figures[0].contours"),
        ("[axes]", "[axes", "not a TOML file"),
        ("[fixed]", "[fixed]\n[fixed]", "not a TOML file"),
        ("kind =", "outputs = ['a']\nkind =", "need kind = 'function', got kind = 'replica'"),
        ("kind =", "chunk = 0\nkind =", "chunk = 0"),
        ("kind =", "name = '../x'\nkind =", "name = '../x'"),
    ],
)
def test_a_wrong_key_is_refused_by_name_and_nothing_runs(tmp_path, old, new, words, capsys, monkeypatch):
    assert old in GOOD
    file = tmp_path / "sweep.toml"
    file.write_text(GOOD.replace(old, new, 1))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("numerics.sweep.run.run_sweep", lambda *a, **k: pytest.fail("it ran"))
    with pytest.raises(SystemExit) as end:
        main(["sweep", "--config", str(file)])
    assert end.value.code == 2
    error = capsys.readouterr().err
    assert words in error, error
    assert error.count("\n") == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["sweep.toml"]


@pytest.mark.parametrize(
    ("function", "axes", "words"),
    [
        ("nowhere:f", "x = [1]", "cannot import 'nowhere'"),
        ("sweep_functions:nothing", "x = [1]", "there is no function 'nothing'"),
        ("sweep_functions", "x = [1]", "write it as 'module:function'"),
        ("sweep_functions:product", "z = [1]", "unexpected keyword argument 'z'|missing a required argument"),
        ("sweep_functions:product", "x = [1]", "missing a required argument: 'y'"),
    ],
)
def test_a_function_that_does_not_fit_is_refused(tmp_path, function, axes, words):
    file = tmp_path / "sweep.toml"
    file.write_text(f'kind = "function"\nfunction = "{function}"\noutputs = ["value"]\n[axes]\n{axes}\n')
    with pytest.raises((ImportError, ValueError), match=words):
        load(file)


def test_a_configuration_runs_resumes_and_writes_a_tidy_table(tmp_path, monkeypatch, capsys):
    file = tmp_path / "overlap.toml"
    file.write_text(GOOD + '[[figures]]\nname = "winner"\nkind = "regimes"\n')
    monkeypatch.chdir(tmp_path)
    for arguments in ([], ["--force", "--out", "overlap-figures"]):
        with pytest.raises(SystemExit) as end:
            main(["sweep", "--config", str(file), "--workers", "1", *arguments])
        assert not end.value.code
    told = capsys.readouterr()
    assert "written: overlap-figures/results.csv (12 rows)" in told.out
    assert "overlap: replica sweep over omega 3 x lam 4 = 12 settings in 1 blocks" in told.err
    made = sorted(p.name for p in (tmp_path / "overlap-figures").iterdir())
    assert made == ["best.csv", "error.pdf", "error.png", "error.svg", "results.csv", "winner.pdf", "winner.png",
                    "winner.svg"]
    with open(tmp_path / "overlap-figures" / "results.csv", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert len(rows) == 12
    assert list(rows[0])[:3] == ["omega", "lam", "mse"]
    assert {row["status"] for row in rows} == {"1"}
    least = min(float(row["mse"]) for row in rows if float(row["omega"]) == 0.5)
    with open(tmp_path / "overlap-figures" / "best.csv", newline="") as handle:
        best = {float(row["omega"]): row for row in csv.DictReader(handle)}
    assert float(best[0.5]["best_mse"]) == least
    assert (tmp_path / "overlap-figures" / "error.png").read_bytes()[:4] == b"\x89PNG"
    assert (tmp_path / "overlap-figures" / "error.pdf").read_bytes()[:5] == b"%PDF-"


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ('method = "flow"\nridge = 0.1', "ridge > 0 needs method = 'exact'"),
        ('method = "sgd"', "fixed.method = 'sgd'"),
        ("dim = 2", "alpha = 0.2 with dim = 2 gives no sample"),
        ("dim = 10.0", "fixed.dim must be an integer"),
        ("seed = -1", "fixed.seed = -1"),
    ],
)
def test_a_simulation_that_cannot_be_is_refused(tmp_path, extra, words):
    file = tmp_path / "sweep.toml"
    text = GOOD.replace('"replica"', '"simulation"').replace("alpha = 0.2", "alpha = 0.2\n" + extra)
    file.write_text(text.partition("[best]")[0])
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        load(file)


def test_check_says_what_would_run_and_runs_nothing(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.toml").write_text(GOOD)
    with pytest.raises(SystemExit):
        main(["sweep", "--config", "a.toml", "--check"])
    assert re.search(r"12 settings in 1 blocks, key [0-9a-f]{16}\n", capsys.readouterr().err)
    assert [p.name for p in tmp_path.iterdir()] == ["a.toml"]


def test_simulation_sweeps_go_through_the_same_machinery(tmp_path):
    import numpy as np

    import ptft_sym as pt

    ds = pt.sweep("simulation", {"seed": [0, 1], "alpha": [0.2, 0.4]},
                  {"rho_pt": 0.1, "rho_ft": 0.1, "omega": 1.0, "c": 1e-3, "lam": 0.5, "dim": 60},
                  store=tmp_path, workers=1)
    task, init = pt.Task.from_overlap(0.1, 0.1, 1.0), pt.Initialization(1e-3, 0.5)
    direct = pt.simulate(task, init, [0.2, 0.4], dim=60, seeds=[0, 1])
    np.testing.assert_array_equal(ds["mse"], direct["mse"])
    np.testing.assert_array_equal(ds["iterations"], direct["iterations"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--lam=-1:0:3"], "spacing 'one-plus-log' needs"),
        (["--c", "a:b"], "--c a:b: give a number"),
        (["--alpha", "0.1"], "--alpha belongs to 'phases'"),
        (["phases", "--beta-ft", "1"], "--beta-ft belongs to 'regimes'"),
        (["atlas"], "say 'regimes' or 'phases'"),
        (["--out", "map.gif"], "must end in"),
        (["--out", "nowhere/map.png"], "no folder"),
        (["--lam=-0.9,0.9", "--value", "mse"], "--value mse: choose among regime"),
        (["--lam=-0.9,0.9"], "a map needs two axes"),
        (["--lam=-0.9,0.9", "--c", "1,2", "--tolerance", "0.7"], "= 0.7 is not allowed"),
    ],
)
def test_map_refuses_in_one_sentence(tmp_path, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as end:
        main(["map", *arguments])
    assert end.value.code == 2
    error = capsys.readouterr().err
    assert words in error, error
    assert not list(tmp_path.iterdir())


def test_map_writes_figures_and_tables(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as end:
        main(["map", "--lam=-0.999:0.9:5", "--gamma", "0:3:4", "--out", "m.png", "--out", "m.csv", "--out", "m.nc"])
    assert not end.value.code
    rows = list(csv.DictReader((tmp_path / "m.csv").read_text().splitlines()))
    assert len(rows) == 20
    assert {"lam", "gamma", "ell_order", "pd", "regime"} <= set(rows[0])
    with pytest.raises(SystemExit) as end:
        main(["map", "phases", "--rho-shared", "0.2,1", "--rho-new", "0,0.05", "--lam=-0.999:0.9:3", "--out", "p.svg",
              "--out", "p.nc", "--workers", "1"])
    assert not end.value.code
    assert (tmp_path / "p.svg").read_text().startswith("<?xml")


def test_help_imports_nothing_heavy():
    code = "import sys\nfrom ptft_sym.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\n" \
           "assert not {'numpy', 'xarray', 'zarr', 'distributed'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
