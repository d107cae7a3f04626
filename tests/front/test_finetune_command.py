"""`ptft finetune` as a person types it: own files, the digits, the scan, and each refusal."""

import csv

import numpy as np
import pytest

import ptft_sym as pt
from ptft_sym import cli, digits


@pytest.fixture
def ptft(capsys, tmp_path, monkeypatch):
    """Run the command in an empty folder: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PTFT_TRACEBACK", raising=False)

    def run(*args):
        with pytest.raises(SystemExit) as end:
            cli.main([str(a) for a in args])
        return end.value.code, *capsys.readouterr()

    return run


@pytest.fixture
def files(tmp_path):
    """Six small files and the arguments that name them; x_pt has a constant column."""
    rng = np.random.default_rng(0)
    beta = np.array([1.0, -2.0, 0.0, 0.0, 0.5, 0.0])
    arrays = {}
    for part, n in (("pt", 4), ("ft", 3), ("test", 30)):
        x = rng.standard_normal((n, 6)) + 1.0
        x[:, 3] = 2.0
        arrays |= {f"x_{part}": x, f"y_{part}": x @ beta}
    for name, array in arrays.items():
        np.save(tmp_path / f"{name}.npy", array)
    return arrays, [word for name in arrays for word in (f"--{name.replace('_', '-')}", tmp_path / f"{name}.npy")]


def test_own_files_give_the_solution_of_the_library(ptft, files, tmp_path):
    arrays, options = files
    code, out, err = ptft("finetune", *options, "--c", 0.5, "--lam", -0.5, "--gamma", 0.1, "--raw", "--out", "r")
    assert (code, err) == (0, "")
    assert "1 columns of x_pt are constant" in out
    expected = pt.finetune(
        arrays["x_pt"], arrays["y_pt"], arrays["x_ft"], arrays["y_ft"], pt.Initialization(0.5, -0.5, 0.1),
        x_test=arrays["x_test"], y_test=arrays["y_test"],
    )
    with np.load(tmp_path / "r" / "solution.npz") as saved:
        np.testing.assert_array_equal(saved["beta_ft"], expected.finetuned.beta)
        np.testing.assert_allclose(arrays["x_ft"] @ saved["beta_ft"], arrays["y_ft"])
        assert saved["test_mse"] == expected.test.mse
    assert f"{expected.test.mse:.4g}" in out


def test_standardised_solution_keeps_the_columns_places(ptft, files, tmp_path):
    arrays, options = files
    code, out, _ = ptft("finetune", *options, "--c", 0.5)
    assert code == 0
    assert "1 of 6 columns are constant there and left out (counted from 0: 3)" in out
    with np.load(tmp_path / "ptft-finetune" / "solution.npz") as saved:
        assert saved["kept"].tolist() == [True, True, True, False, True, True]
        assert saved["beta_ft"].shape == (6,)
        assert saved["beta_ft"][3] == 0.0
        scaled = (arrays["x_ft"] - arrays["x_pt"].mean(0)) / np.where(saved["kept"], arrays["x_pt"].std(0), 1) / 5**0.5
        np.testing.assert_allclose(scaled @ saved["beta_ft"], arrays["y_ft"])


def test_a_second_run_takes_a_new_folder(ptft, files, tmp_path):
    for _ in range(2):
        assert ptft("finetune", *files[1])[0] == 0
    assert {p.name for p in tmp_path.iterdir() if p.is_dir()} == {"ptft-finetune", "ptft-finetune-2"}
    code, _, err = ptft("finetune", *files[1], "--out", "ptft-finetune")
    assert code == 2
    assert "not empty" in err
    assert ptft("finetune", *files[1], "--out", "ptft-finetune", "--force")[0] == 0


def test_digits_scan(ptft, tmp_path):
    code, out, err = ptft("finetune", "--scan", "lam", "--draw", 3)
    assert (code, err) == (0, "")
    folder = tmp_path / "ptft-finetune"
    assert (folder / "scan.png").read_bytes().startswith(b"\x89PNG")
    with open(folder / "scan.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    wrong = [float(r["misclassified"]) for r in rows]
    assert f"best lam = {float(rows[int(np.argmin(wrong))]['lam']):g}" in out or wrong.count(min(wrong)) > 1
    assert all(1 <= float(r["ell_order"]) <= 2 and -1 <= float(r["pd"]) <= 0 for r in rows)
    d = digits.load(draw=3)
    with np.load(folder / "solution.npz") as saved:
        counted = sum(int(g * y <= 0) for g, y in zip(d.x_test @ saved["beta_ft"], d.y_test, strict=True))
        assert saved["test_misclassified"] == counted / len(d.y_test)


def test_a_scan_without_test_data_says_what_is_missing(ptft, files, tmp_path):
    code, out, _ = ptft("finetune", *files[1][:8], "--scan", "lam", "--gamma", 0.1)
    assert code == 0
    assert "no test data, so no best lam" in out
    assert (tmp_path / "ptft-finetune" / "scan.png").is_file()


def test_digits_are_disjoint_and_reproducible():
    a, b = digits.load(draw=1), digits.load(draw=1)
    np.testing.assert_array_equal(a.x_ft, b.x_ft)
    assert not np.array_equal(a.x_ft, digits.load(draw=2).x_ft)
    rows = [tuple(row) for part in (a.x_pt, a.x_ft, a.x_test) for row in part.round(9)]
    assert len(set(rows)) == len(rows)
    assert sorted(a.y_ft) == [-1, -1, -1, 1, 1, 1]
    with pytest.raises(ValueError, match="per_class = 0"):
        digits.load(per_class=0)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (["--c", 0], "c = 0.0 is not allowed"),
        (["--c", "nan"], "c = nan is not allowed"),
        (["--lam", 1.5], "lam = 1.5 is not allowed"),
        (["--lam", -1], "network cannot move"),
        (["--gamma", -1], "gamma = -1.0 is not allowed"),
        (["--ridge", -1], "ridge = -1.0 is not allowed"),
        (["--scan", "c"], "only 'lam' can be scanned"),
        (["--x-ft", "absent.npy"], "--x-ft absent.npy: there is no such file"),
        (["--y-ft", "y_pt.npy"], "--x-ft has 3 rows and --y-ft 4"),
        (["--x-ft", "y_pt.npy"], "(rows, columns) is needed"),
        (["--out", "x_pt.npy"], "there is a file of that name"),
    ],
)
def test_refusals_are_one_sentence_and_leave_nothing(ptft, files, tmp_path, change, text):
    before = set(tmp_path.iterdir())
    code, out, err = ptft("finetune", *files[1], *change)
    assert (code, out) == (2, "")
    assert text in err
    assert err.startswith("ptft: ")
    assert err.count("\n") == 1
    assert set(tmp_path.iterdir()) == before


def test_missing_partners(ptft, files):
    options = files[1]
    assert "--y-ft missing" in ptft("finetune", *options[:6])[2]
    assert "--x-test and --y-test belong together" in ptft("finetune", *options[:10])[2]
    code, _, err = ptft("finetune", "--c", "abc")
    assert code == 2
    assert "Invalid value for '--c'" in err
