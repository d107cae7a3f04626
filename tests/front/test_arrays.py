"""Files that come in: each format read, each kind of bad file refused with its name."""

import numpy as np
import pytest

from ptft_sym.arrays import read, standardise

X = np.array([[1.0, 2.5], [3.0, -4.0], [0.0, 1e-3]])


@pytest.fixture
def folder(tmp_path):
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "column.npy", X[:, :1])
    np.save(tmp_path / "int.npy", np.arange(6, dtype=np.int16).reshape(3, 2))
    np.save(tmp_path / "nan.npy", np.array([[1.0, 2.0], [np.nan, 1.0]]))
    np.save(tmp_path / "large.npy", np.array([[1e200, 2.0], [np.inf, 1.0]]))
    np.save(tmp_path / "complex.npy", X + 1j)
    np.save(tmp_path / "text.npy", np.array(["a", "b"]))
    np.save(tmp_path / "objects.npy", np.array([{}, 1], dtype=object), allow_pickle=True)
    np.save(tmp_path / "empty.npy", np.ones((0, 2)))
    np.savez(tmp_path / "one.npz", anything=X)
    np.savez(tmp_path / "two.npz", x_pt=X, other=2 * X)
    (tmp_path / "plain.csv").write_text("1,2.5\n3,-4\n0,1e-3\n")
    (tmp_path / "names.csv").write_text("\ufeffa,b\n1, 2.5\n3,-4\n\n0,1e-3\n", encoding="utf-8")
    (tmp_path / "ragged.csv").write_text("1,2\n3\n")
    (tmp_path / "word.csv").write_text("a,b\n1,2\n3,oops\n")
    (tmp_path / "none.csv").write_text("a,b\n")
    (tmp_path / "broken.npy").write_bytes(b"\x93NUMPY broken")
    (tmp_path / "broken.npz").write_bytes(b"not a zip")
    (tmp_path / "cut.npz").write_bytes((tmp_path / "one.npz").read_bytes()[:100])
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000, 8), }".ljust(117) + b"\n"
    (tmp_path / "huge.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    (tmp_path / "image.png").write_bytes(b"x")
    return tmp_path


@pytest.mark.parametrize("name", ["x.npy", "one.npz", "two.npz", "plain.csv", "names.csv"])
def test_every_format_gives_the_array(folder, name):
    np.testing.assert_array_equal(read(folder / name, "--x-pt", 2), X)


def test_keys_columns_and_integers(folder):
    np.testing.assert_array_equal(read(f"{folder}/two.npz:other", "--x-pt", 2), 2 * X)
    np.testing.assert_array_equal(read(folder / "column.npy", "--y-pt", 1), X[:, 0])
    got = read(folder / "int.npy", "--x-pt", 2)
    assert got.dtype == np.float64
    assert got[2, 1] == 5.0


@pytest.mark.parametrize(
    ("name", "ndim", "text"),
    [
        ("absent.npy", 2, "there is no such file"),
        ("image.png", 2, r"must end in \.npy, \.npz or \.csv"),
        ("nan.npy", 2, r"1 entries are NaN or beyond ±1e\+100, the first at row 2, column 1"),
        ("large.npy", 2, r"2 entries are NaN or beyond .*row 1, column 1"),
        ("complex.npy", 2, "complex128, real numbers are needed"),
        ("text.npy", 1, "real numbers are needed"),
        ("objects.npy", 1, "not readable"),
        ("empty.npy", 2, r"shape \(0, 2\)"),
        ("x.npy", 1, r"shape \(3, 2\), \(rows,\) is needed"),
        ("ragged.csv", 2, "between 1 and 2 cells"),
        ("word.csv", 2, "row 2, column 2 is 'oops'"),
        ("none.csv", 2, "no rows of numbers"),
        ("broken.npy", 2, "not readable"),
        ("broken.npz", 2, "not readable"),
        ("cut.npz", 2, "not readable"),
        ("huge.npy", 2, "not readable"),
        ("two.npz:absent", 2, "it holds x_pt, other; say which"),
    ],
)
def test_bad_files_are_refused_by_name(folder, name, ndim, text):
    with pytest.raises((ValueError, FileNotFoundError), match=text) as refusal:
        read(f"{folder}/{name}", "--x-ft", ndim)
    assert str(refusal.value).startswith("--x-ft ")
    assert name.split(":")[0] in str(refusal.value)


def test_two_arrays_and_neither_asked_for(folder):
    with pytest.raises(ValueError, match=r"say which as two\.npz:KEY"):
        read(folder / "two.npz", "--y-ft", 2)


def test_standardise_gives_the_theory_s_units():
    rng = np.random.default_rng(0)
    x, other = rng.normal(3.0, 7.0, (50, 4)), rng.normal(0.0, 1.0, (5, 4))
    got = standardise(x, np.arange(50.0), other)
    np.testing.assert_allclose(got.x_pt.mean(axis=0), 0, atol=1e-15)
    np.testing.assert_allclose((got.x_pt**2).mean(axis=0), 1 / 4)
    assert abs(got.y_pt.mean()) < 1e-14
    np.testing.assert_allclose(got.others[0] * x.std(axis=0) * 2 + x.mean(axis=0), other)


def test_constant_columns_are_left_out_and_named():
    x = np.array([[1.0, 5.0, 0.1], [2.0, 5.0, 0.1], [4.0, 5.0, 0.1]])
    got = standardise(x, np.zeros(3), x)
    assert got.kept.tolist() == [True, False, False]
    assert got.x_pt.shape == got.others[0].shape == (3, 1)
    assert "2 of 3 columns are constant there and left out (counted from 0: 1, 2)" in got.message
    with pytest.raises(ValueError, match="all 1 columns are constant"):
        standardise(np.ones((3, 1)), np.zeros(3))
