"""Data sets in the formats their authors publish (tiny files written here), splits, and the stages made of them."""

import io
import pickle
import zipfile

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from numerics.networks.data import load, modular, modular_stages, select, split, two_stage
from numerics.networks.formats import UnsafePickleError


def python2_pickle(entries):
    """Protocol-2 bytes as Python 2 wrote CIFAR's files: keys and names are `str` of that time (SHORT_BINSTRING)."""

    def text(value):
        return b"U" + bytes([len(value)]) + value.encode("latin1")

    def array(value):
        raw, (rows, columns) = value.tobytes(), value.shape
        dtype = b"cnumpy\ndtype\n" + text("u1") + b"K\x00K\x01\x87R(K\x03" + text("|") + b"NNNJ\xff\xff\xff\xff" * 1
        dtype += b"J\xff\xff\xff\xffK\x00tb"
        head = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85" + text("b") + b"\x87R"
        shape = b"M" + rows.to_bytes(2, "little") + b"M" + columns.to_bytes(2, "little") + b"\x86"
        return head + b"(K\x01" + shape + dtype + b"\x89T" + len(raw).to_bytes(4, "little") + raw + b"tb"

    def numbers(values):
        return b"](" + b"".join(b"K" + bytes([v]) for v in values) + b"e"

    out = b"\x80\x02}("
    for key, value in entries.items():
        out += text(key) + (array(value) if isinstance(value, np.ndarray) else numbers(value))
    return out + b"u."


def cifar_rows(n=3):
    return np.random.default_rng(0).integers(0, 256, (n, 3072), dtype=np.uint8)


@pytest.mark.parametrize("writer", ["python2", "python3"])
def test_cifar100_in_its_true_format(tmp_path, writer):
    rows, labels = cifar_rows(), [7, 99, 0]
    if writer == "python2":
        content = python2_pickle({"fine_labels": labels, "data": rows, "coarse_labels": [1, 2, 3]})
    else:
        entries = {b"data": rows, b"fine_labels": labels, b"filenames": [b"a.png"] * 3, b"batch_label": b"training"}
        content = pickle.dumps(entries, protocol=2)
    (tmp_path / "train").write_bytes(content)
    meta = pickle.dumps({b"fine_label_names": [f"name{i}".encode() for i in range(100)]}, protocol=2)
    (tmp_path / "meta").write_bytes(meta)
    data = load("cifar100", tmp_path)
    assert data.x.shape == (3, 3, 32, 32)
    assert data.x.dtype == np.float32
    assert data.y.tolist() == labels
    assert data.classes[7] == "name7"
    # red, green, blue planes of 32 rows each: pixel (row 2, column 5) of the green plane
    assert data.x[1, 1, 2, 5] == pytest.approx(rows[1, 1024 + 2 * 32 + 5] / 255)
    (tmp_path / "test").write_bytes(content)
    assert len(load("cifar100", tmp_path).x) == 6
    assert len(load("cifar100", tmp_path / "train").x) == 3


class Bomb:
    def __reduce__(self):
        return (exec, ("import pathlib; pathlib.Path('exploded').touch()",))


class Encoder:
    def __reduce__(self):
        import codecs

        return (codecs.encode, ("abc", "rot13"))


@pytest.mark.parametrize("payload", [Bomb(), Encoder(), np.array([Bomb()], dtype=object)])
def test_a_pickle_that_runs_code_is_refused_and_does_not_run(tmp_path, monkeypatch, payload):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train").write_bytes(pickle.dumps({b"data": payload, b"fine_labels": []}, protocol=2))
    with pytest.raises(UnsafePickleError, match="train"):
        load("cifar100", tmp_path)
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize(
    "content",
    [b"", b"not a pickle", pickle.dumps([1, 2]), pickle.dumps({b"data": cifar_rows(), b"fine_labels": [1]}, 2),
     pickle.dumps({b"data": cifar_rows()[:, :10], b"fine_labels": [1, 2, 3]}, 2),
     pickle.dumps({b"data": cifar_rows(), b"fine_labels": [1, 2, 100]}, 2)],
)  # fmt: skip
def test_a_file_that_is_not_cifar_is_one_sentence(tmp_path, content):
    (tmp_path / "train").write_bytes(content)
    with pytest.raises(ValueError, match=r"not a CIFAR|CIFAR-100 has 0 to 99"):
        load("cifar100", tmp_path)


def test_svhn_in_its_true_format(tmp_path):
    x = np.random.default_rng(1).integers(0, 256, (32, 32, 3, 4), dtype=np.uint8)
    savemat(tmp_path / "train_32x32.mat", {"X": x, "y": np.array([[10], [1], [9], [10]], dtype=np.uint8)})
    data = load("svhn", tmp_path / "train_32x32.mat")
    assert data.y.tolist() == [0, 1, 9, 0]  # 10 stands for the digit 0
    assert data.x.shape == (4, 3, 32, 32)
    assert data.x[2, 1, 3, 5] == pytest.approx(x[3, 5, 1, 2] / 255)
    savemat(tmp_path / "bad.mat", {"X": x, "y": np.array([[0], [1], [9], [10]])})
    with pytest.raises(ValueError, match="run from 1 to 10"):
        load("svhn", tmp_path / "bad.mat")
    (tmp_path / "text.mat").write_text("no")
    with pytest.raises(ValueError, match="not an SVHN file"):
        load("svhn", tmp_path / "text.mat")


def test_a_folder_of_images(tmp_path):
    for name, colour in (("cat", (255, 0, 0)), ("ant", (0, 0, 255))):
        (tmp_path / name).mkdir()
        Image.new("RGB", (20, 10), colour).save(tmp_path / name / "1.png")
    (tmp_path / "cat" / "notes.txt").write_text("not an image")
    data = load("folder", tmp_path, size=8)
    assert data.classes == ("ant", "cat")  # alphabetical
    assert data.x.shape == (2, 3, 8, 8)
    assert data.x[1, :, 4, 4].tolist() == [1.0, 0.0, 0.0]
    (tmp_path / "cat" / "2.png").write_text("broken")
    with pytest.raises(ValueError, match=r"2\.png: not readable"):
        load("folder", tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="no image found"):
        load("folder", tmp_path / "empty")


def test_npz(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.full((4, 5, 6), 51, np.uint8), y=np.array([0, 2, 1, 0]))
    data = load("npz", tmp_path / "a.npz")
    assert data.x.shape == (4, 1, 5, 6)
    assert data.x[0, 0, 0, 0] == pytest.approx(0.2)
    assert len(data.classes) == 3
    bad = {
        "labels.npz": {"x": np.zeros((2, 3, 3)), "y": np.array([0.0, 1.0])},
        "length.npz": {"x": np.zeros((2, 3, 3)), "y": np.array([0])},
        "nan.npz": {"x": np.full((1, 3, 3), np.nan), "y": np.array([0])},
        "missing.npz": {"x": np.zeros((2, 3, 3))},
        "pickled.npz": {"x": np.array([None, None]), "y": np.array([0, 1])},
    }
    for name, arrays in bad.items():
        np.savez(tmp_path / name, **arrays)
        with pytest.raises(ValueError, match=name):
            load("npz", tmp_path / name)
    buffer = io.BytesIO()
    zipfile.ZipFile(buffer, "w").close()
    (tmp_path / "zip.npz").write_bytes(buffer.getvalue())
    with pytest.raises(ValueError, match=r"zip\.npz"):
        load("npz", tmp_path / "zip.npz")


def test_names_and_paths_that_do_not_exist(tmp_path):
    with pytest.raises(ValueError, match="one of digits"):
        load("mnist")
    with pytest.raises(ValueError, match="nothing is downloaded"):
        load("cifar100")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        load("svhn", tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match="neither train nor test"):
        load("cifar100", tmp_path)


def test_splits_are_stratified_disjoint_and_the_same_everywhere():
    y = np.repeat([0, 1, 2], [50, 30, 20])
    train, test = split(y, 20, 3)
    assert np.bincount(y[train]).tolist() == [10, 6, 4]
    assert sorted([*train, *test]) == list(range(100))
    assert split(y, 20, 3)[0].tolist() == train.tolist()
    assert split(y, 20, 4)[0].tolist() != train.tolist()
    assert split(y, 3, 0)[0].size == 3
    assert set(y[split(y, 3, 0)[0]]) == {0, 1, 2}
    # pinned: the same on every machine
    assert split(np.arange(6) % 2, 2, 0)[0].tolist() == split(np.arange(6) % 2, 0.34, 0)[0].tolist()
    for bad in (0, 100, 1.0, 0.0, -1):
        with pytest.raises(ValueError, match="train"):
            split(y, bad, 0)


def test_two_stages_share_no_image_and_know_their_labels():
    data = load("digits")
    assert data.x.shape == (1797, 1, 8, 8)
    stages = two_stage(data, 0, pt_classes=[5, 6, 7, 8, 9], ft_classes=[7, 5], n_pt=0.8, n_ft=10)
    assert (stages.pt.classes, stages.ft.classes) == (5, 2)
    assert set(stages.ft.y_test) == {0, 1}
    assert np.bincount(stages.ft.y).tolist() == [5, 5]
    rows = [{image.tobytes() for image in part} for part in (*stages.pt[:3:2], *stages.ft[:3:2])]
    pretraining, fine_tuning = rows[0] | rows[1], rows[2] | rows[3]
    assert len(pretraining & fine_tuning) == 0
    assert not rows[0] & rows[1]
    assert abs(stages.pt.x.mean()) < 1e-6
    assert stages.pt.x.std() == pytest.approx(1.0, abs=1e-5)
    again = two_stage(data, 0, pt_classes=[5, 6, 7, 8, 9], ft_classes=[7, 5], n_pt=0.8, n_ft=10)
    assert np.array_equal(again.ft.x, stages.ft.x)
    parity = two_stage(data, 0, ft_labels="parity", n_ft=30)
    assert parity.ft.classes == 2
    assert parity.pt.classes == 10


def test_fine_tuning_on_another_data_set_and_new_classes():
    data = load("digits")
    first, other = select(data, range(5)), select(data, ["7", "8"])
    stages = two_stage(first, 1, ft_data=other, n_ft=0.2)
    assert (stages.pt.classes, stages.ft.classes) == (5, 2)
    assert len(stages.ft.y) + len(stages.ft.y_test) == len(other.y)
    small = other._replace(x=other.x[:, :, :4])
    with pytest.raises(ValueError, match="both stages need the same"):
        two_stage(first, 1, ft_data=small)
    for classes in ([], [0, 0], [11], ["x"], [-1]):
        with pytest.raises(ValueError, match="classes"):
            select(data, classes)


def test_modular_arithmetic():
    data = modular(30, 6)
    assert data.x.shape == (900, 3)
    row = 17 * 30 + 29
    assert data.x[row].tolist() == [17, 29, 30]
    assert data.y[row] == (17 + 29) % 6
    with pytest.raises(ValueError, match="divide modulus"):
        modular(30, 4)
    stages = modular_stages(30, 6, 5, 300, 0)
    seen = {tuple(r) for r in stages.pt.x} | {tuple(r) for r in stages.ft.x}
    assert not seen & {tuple(r) for r in stages.ft.x_test}
    assert len(stages.ft.x_test) == 225
    assert np.array_equal(stages.ft.x_test, modular_stages(30, 6, 15, 60, 0).ft.x_test)  # for every task the same
    assert np.array_equal(stages.ft.y, stages.ft.x[:, :2].sum(1) % 5)
    with pytest.raises(ValueError, match="n_ft"):
        modular_stages(30, 6, 5, 1000, 0)
