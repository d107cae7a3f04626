"""Reading image sets in the formats their authors publish; every reader returns (x, y, class names).

``x`` is (n, channels, height, width) uint8, or whatever an ``.npz`` holds. CIFAR's files are pickles: they are read by
an unpickler that knows NumPy arrays and nothing else, so that a file cannot run code.
"""

from __future__ import annotations

import io
import pickle
from pathlib import Path

import numpy as np

__all__ = ["UnsafePickleError", "read_cifar100", "read_folder", "read_npz", "read_svhn"]

IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".ppm", ".webp", ".tif", ".tiff")


class UnsafePickleError(ValueError):
    """A pickle asked for something that a file of arrays and labels does not need."""


def _latin1(text: object, encoding: str = "latin1") -> bytes:
    """What Python 3 writes for bytes in protocol 2: `_codecs.encode(text, 'latin1')`, and only that."""
    if encoding != "latin1" or not isinstance(text, str):
        raise UnsafePickleError(f"the pickle encodes {type(text).__name__} as {encoding!r}, only latin1 is expected")
    return text.encode("latin1")


class _ArrayUnpickler(pickle.Unpickler):
    """Lists, dictionaries, numbers, strings, bytes and numeric NumPy arrays; any other name is refused."""

    def find_class(self, module: str, name: str) -> object:
        if module in ("numpy.core.multiarray", "numpy._core.multiarray") and name in ("_reconstruct", "scalar"):
            return getattr(np._core.multiarray, name)
        if module == "numpy" and name in ("ndarray", "dtype"):
            return getattr(np, name)
        if (module, name) == ("_codecs", "encode"):
            return _latin1
        raise UnsafePickleError(f"the pickle asks for {module}.{name}, which a file of arrays does not need: refused")

    def persistent_load(self, pid: object) -> object:
        raise UnsafePickleError("the pickle refers to objects outside itself: refused")


def _unpickle(path: Path) -> dict:
    try:
        content = _ArrayUnpickler(io.BytesIO(path.read_bytes()), encoding="bytes").load()
    except UnsafePickleError as error:
        raise UnsafePickleError(f"{path}: {error}") from None
    except Exception as error:  # a damaged pickle may raise anything at all
        raise ValueError(f"{path}: not a CIFAR file ({type(error).__name__}: {error})") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path}: not a CIFAR file (it holds {type(content).__name__}, not a dictionary)")
    return {k.decode() if isinstance(k, bytes) else k: v for k, v in content.items()}


def read_cifar100(path: Path) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """CIFAR-100, python version: one file, or the folder, whose ``train`` and ``test`` follow each other.

    Rows are 3072 bytes, red then green then blue, each 32 rows of 32. Class names come from ``meta`` beside it.
    """
    files = [path / "train", path / "test"] if path.is_dir() else [path]
    found = [f for f in files if f.is_file()]
    if not found:
        raise FileNotFoundError(f"cifar100: {path} holds neither train nor test")
    images, labels = [], []
    for file in found:
        content = _unpickle(file)
        data, fine = content.get("data"), content.get("fine_labels")
        data = np.asarray(data) if data is not None else np.empty(0)
        if data.dtype != np.uint8 or data.ndim != 2 or data.shape[1] != 3072 or fine is None or len(fine) != len(data):
            raise ValueError(f"{file}: not a CIFAR-100 file: it must hold data (n, 3072) uint8 and n fine_labels")
        images.append(data.reshape(-1, 3, 32, 32))
        labels.append(np.asarray(fine, dtype=np.int64))
    y = np.concatenate(labels)
    if y.min() < 0 or y.max() > 99:
        raise ValueError(f"{path}: labels run from {y.min()} to {y.max()}, CIFAR-100 has 0 to 99")
    meta = (path if path.is_dir() else path.parent) / "meta"
    names = _unpickle(meta).get("fine_label_names") if meta.is_file() else None
    names = [n.decode() if isinstance(n, bytes) else str(n) for n in names] if names else [str(i) for i in range(100)]
    return np.concatenate(images), y, names


def read_svhn(path: Path) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """SVHN, format 2 (``train_32x32.mat``): ``X`` (32, 32, 3, n) uint8 and ``y`` (n, 1) with 10 for the digit 0."""
    from scipy.io import loadmat

    try:
        content = loadmat(path, variable_names=["X", "y"])
        x, y = content["X"], content["y"].ravel().astype(np.int64)
    except Exception as error:  # scipy raises half a dozen kinds for a file that is none
        raise ValueError(f"{path}: not an SVHN file ({type(error).__name__}: {error})") from None
    if x.dtype != np.uint8 or x.ndim != 4 or x.shape[:3] != (32, 32, 3) or x.shape[3] != len(y):
        raise ValueError(f"{path}: not an SVHN file: X must be (32, 32, 3, n) uint8 and y (n, 1)")
    if not np.isin(y, np.arange(1, 11)).all():
        raise ValueError(f"{path}: SVHN labels run from 1 to 10 (10 is the digit 0), found {y.min()} to {y.max()}")
    return np.ascontiguousarray(x.transpose(3, 2, 0, 1)), y % 10, [str(i) for i in range(10)]


def read_folder(path: Path, size: int) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Images in one subfolder a class, in alphabetical order; colour, resized to ``size`` by ``size``."""
    try:
        from PIL import Image
    except ImportError:
        raise ImportError("a folder of images needs pillow: pip install 'ptft-sym[vision]'") from None
    classes = sorted(p.name for p in path.iterdir() if p.is_dir()) if path.is_dir() else []
    images, labels = [], []
    for label, name in enumerate(classes):
        for file in sorted(f for f in (path / name).iterdir() if f.suffix.lower() in IMAGES):
            try:
                with Image.open(file) as image:
                    pixels = image.convert("RGB").resize((size, size), Image.Resampling.BILINEAR)
                    images.append(np.asarray(pixels, dtype=np.uint8).transpose(2, 0, 1))
            except OSError as error:
                raise ValueError(f"{file}: not readable as an image ({error})") from None
            labels.append(label)
    if not images:
        raise ValueError(f"{path}: no image found in a subfolder; there must be one subfolder a class")
    return np.stack(images), np.asarray(labels, dtype=np.int64), classes


def read_npz(path: Path) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """``x`` (n, channels, height, width) or (n, height, width), numbers; ``y`` (n,) integers from 0."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            x, y = archive["x"], archive["y"]
    except (ValueError, OSError, KeyError, EOFError, AttributeError, TypeError) as error:
        raise ValueError(f"{path}: it must be an .npz of numbers with arrays x and y ({error})") from None
    x = x[:, None] if x.ndim == 3 else x
    if x.dtype.kind not in "fiu" or x.ndim != 4 or y.dtype.kind not in "iu" or y.shape != (len(x),) or not len(x):
        raise ValueError(f"{path}: x must be (n, channels, height, width) or (n, height, width), y (n,) integers")
    if y.min() < 0 or (x.dtype.kind == "f" and not np.isfinite(x).all()):
        raise ValueError(f"{path}: labels must not be negative and pixels must be finite")
    return x, y.astype(np.int64), [str(i) for i in range(int(y.max()) + 1)]
