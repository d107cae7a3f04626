"""`ptft simulate`: table, verdict, files, resuming, and each refusal."""

import csv
from pathlib import Path

import numpy as np
import pytest

import ptft_sym as pt
from ptft_sym import cli

SMALL = ("simulate", "--dim", "40", "--seeds", "4", "--alpha", "0.1,0.3")


@pytest.fixture
def ptft(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*args):
        with pytest.raises(SystemExit) as end:
            cli.main([str(a) for a in args])
        return end.value.code, *capsys.readouterr()

    return run


def test_table_verdict_and_files_hold_the_simulation(ptft):
    code, out, err = ptft(*SMALL, "--out", "a.csv", "--out", "a.png", "--store", "kept")
    assert (code, err) == (0, "")
    assert "Theory and simulation" in out
    assert "worst KKT residual" in out
    task, init = pt.Task.from_overlap(0.1, 0.1, 0.5), pt.Initialization(1e-3)
    expected = pt.simulate(task, init, [0.1, 0.3], 40, range(4))
    with open("a.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8
    found = [float(r["mse"]) for r in rows if r["alpha"] == "0.3"]
    np.testing.assert_allclose(found, expected.mse.sel(alpha=0.3), rtol=1e-12)
    assert f"{float(expected.mse.sel(alpha=0.3).mean()):.6g}" in out
    assert Path("a.png").read_bytes()[:4] == b"\x89PNG"
    assert Path("kept/dim-40/cells.jsonl").read_text().count("\n") == 8
    code, again, _ = ptft(*SMALL, "--store", "kept")
    assert code == 0
    assert Path("kept/dim-40/cells.jsonl").read_text().count("\n") == 8  # nothing was computed again
    assert "Theory and simulation" in again


def test_several_dimensions_extrapolate_and_go_to_netcdf(ptft):
    import xarray as xr

    code, out, _ = ptft("simulate", "--dim", "40,20", "--seeds", "3", "--alpha", "0.31", "--out", "a.nc")
    assert code == 0
    assert "alpha rounded to whole samples: 0.3" in out
    assert "D -> infinity, from D = 20, 40" in out
    with xr.open_dataset("a.nc", engine="scipy") as ds:
        assert ds.mse.dims == ("dim", "seed", "alpha")
        assert ds.n.values.tolist() == [[6], [12]]


def test_one_seed_has_no_verdict(ptft):
    code, out, _ = ptft("simulate", "--dim", "40", "--seeds", "1", "--alpha", "0.3")
    assert code == 0
    assert "no standard error" in out


def test_gradient_descent_says_how_far_it_stopped(ptft):
    code, out, _ = ptft(*SMALL, "--method", "gd", "--lr", "0.5", "--stop", "1e-3", "--c", "0.1")
    assert code == 0
    assert "gd stopped at train MSE" in out
    assert "% of ||beta|| from the exact limit" in out


def test_imperfect_pretraining(ptft):
    code, out, _ = ptft(*SMALL, "--alpha-pt", "0.6", "--noise-pt", "0.1", "--noise", "0.1", "--method", "flow")
    assert code == 0
    assert "flow stopped at train MSE" in out


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--dim", "forty"], "--dim forty: give a positive integer"),
        (["--dim", "0"], "--dim 0"),
        (["--alpha", "a"], "--alpha a"),
        (["--method", "magic"], "method = 'magic'"),
        (["--lr", "0.1"], "method 'exact' has no option 'lr'"),
        (["--lam", "-1"], "cannot move"),
        (["--noise-pt", "0.1"], "need stages = 'full'"),
        (["--out", "a.txt"], "its name must end in"),
        (["--ridge", "0.1", "--method", "gd"], "only 'exact' has a ridge"),
    ],
)
def test_refusals_are_one_sentence(ptft, args, words):
    code, _, err = ptft("simulate", "--dim", "40", "--seeds", "2", *args)
    assert code == 2
    assert words in err
    assert err.startswith("ptft: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("method", "option", "value", "words"),
    [
        ("gd", "--stop", "0", "stop = 0.0 is not allowed: it must be a finite number in (0, inf)"),
        ("gd", "--stop", "nan", "stop = nan is not allowed"),
        ("gd", "--lr", "-1", "lr = -1.0 is not allowed: it must be a finite number in (0, inf)"),
        ("gd", "--lr", "1e9", "diverged"),
        ("gd", "--momentum", "1", "momentum = 1.0 is not allowed: it must be a finite number in [0, 1)"),
        ("gd", "--batch-size", "0", "batch_size = 0 is not allowed: it must be an integer in [1, 20]"),
        ("gd", "--batch-size", "21", "batch_size = 21 is not allowed: it must be an integer in [1, 20]"),
        ("gd", "--device", "nope", "device = 'nope' is not available to torch here"),
        ("gd", "--device", "meta", "device = 'meta' is not available to torch here"),
        ("flow", "--stop", "1", "stop = 1.0 is not allowed: it must be a finite number in (0, 1)"),
        ("flow", "--lr", "0.1", "method 'flow' has no option 'lr': it takes --stop"),
        ("flow", "--momentum", "0.1", "method 'flow' has no option 'momentum': it takes --stop"),
        ("flow", "--batch-size", "3", "method 'flow' has no option 'batch_size': it takes --stop"),
        ("flow", "--device", "cpu", "method 'flow' has no option 'device': it takes --stop"),
        ("exact", "--stop", "0.1", "method 'exact' has no option 'stop': it takes --device"),
        ("exact", "--device", "nope", "device = 'nope' is not available to torch here"),
        ("exact", "--seeds", "0", "--seeds = 0 is not allowed: it must be an integer in [1, inf]"),
        ("exact", "--noise-pt", "nan", "--noise-pt = nan is not allowed: it must be a finite number in [0, inf)"),
    ],
)
def test_options_of_a_method_are_refused_with_their_range(ptft, method, option, value, words):
    shared = ("--dim", "40", "--alpha", "0.5", "--seeds", "2")
    code, out, err = ptft("simulate", *shared, "--method", method, option, value)
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1
