"""`ptft curve`: the numbers of the library, in each format, and each refusal."""

import csv

import numpy as np
import pytest

import ptft_sym as pt
from ptft_sym import cli
from ptft_sym.cli.curve import ratios


@pytest.fixture
def ptft(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*args):
        with pytest.raises(SystemExit) as end:
            cli.main([str(a) for a in args])
        return end.value.code, *capsys.readouterr()

    return run


def test_every_format(ptft, tmp_path):
    """The first row of the reference table in THEORY section 9."""
    import xarray as xr

    names = [f"a{ending}" for ending in (".csv", ".nc", ".png", ".svg", ".pdf")]
    code, out, err = ptft("curve", "--alpha", "0.05,0.1", *(w for n in names for w in ("--out", n)))
    assert (code, err) == (0, "")
    assert "0.416341" in out
    with open("a.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert float(rows[0]["mse"]) == pytest.approx(0.4163411754148325, rel=1e-10)
    with xr.open_dataset(tmp_path / "a.nc", engine="scipy") as ds:
        assert float(ds["s2"][1]) == pytest.approx(0.5592198891395467, rel=1e-10)
        assert ds.attrs["lam"] == 0
    heads = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
    for ending, head in heads.items():
        assert (tmp_path / f"a{ending}").read_bytes().startswith(head)
    code, _, err = ptft("curve", "--out", "a.csv")
    assert code == 2
    assert "the file exists" in err
    assert ptft("curve", "--alpha", "0.1", "--out", "a.csv", "--force")[0] == 0


def test_options_reach_the_solver(ptft):
    _, out, _ = ptft("curve", "--rho-ft", 0.01, "--c", 1e-6, "--lam", -0.99, "--alpha", "0.05")
    assert "0.00666279" in out  # THEORY section 9, last row
    task, init = pt.Task.from_overlap(0.1, 0.1, 0.5), pt.Initialization(0.1, 0.5, 0.2)
    expected = pt.generalization_curve(task, init, 0.3, 0.6, 0.01, 0.02, 0.1)["mse"].item()
    _, out, _ = ptft(
        "curve", "--rho-ft", 0.1, "--omega", 0.5, "--c", 0.1, "--lam", 0.5, "--gamma", 0.2, "--alpha", 0.3,
        "--alpha-pt", 0.6, "--noise", 0.01, "--noise-pt", 0.02, "--ridge", 0.1,
    )
    assert f"{expected:.6g}" in out


def test_ratios():
    np.testing.assert_allclose(ratios("0.1:0.3:3"), [0.1, 0.2, 0.3])
    np.testing.assert_allclose(ratios("0.1,0.5"), [0.1, 0.5])


@pytest.mark.parametrize("text", ["", "a", "1:2", "0:1:0", "0:1:1e9", "1:2:3:4", "1;2"])
def test_bad_ratios(text):
    with pytest.raises(ValueError, match="START:STOP:COUNT"):
        ratios(text)


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["--alpha", "nan"], "alpha"),
        (["--alpha", "-0.1,0.2"], "alpha"),
        (["--omega", 1, "--rho-ft", 0.2], "infeasible"),
        (["--noise", -1], "noise = -1.0"),
        (["--alpha-pt", 0], "alpha_pt"),
        (["--out", "a.xlsx"], "must end in .csv"),
        (["--out", "nowhere/a.csv"], "no folder nowhere"),
    ],
)
def test_refusals(ptft, tmp_path, args, text):
    code, out, err = ptft("curve", *args)
    assert (code, out) == (2, "")
    assert text in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())
