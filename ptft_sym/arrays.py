"""Reading a person's arrays from .npy, .npz and .csv, and bringing them to the theory's units."""

from __future__ import annotations

import csv
import zipfile
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

LARGEST = 1e100  # the square of an entry must be representable
# what a damaged or hostile file makes the readers raise (a header may claim more entries than there is memory for)
UNREADABLE = (ValueError, OSError, EOFError, MemoryError, csv.Error, zipfile.BadZipFile, zlib.error)


def read(text, name, ndim):
    """The array in file `text` for option `name` ("--x-pt"): float64, `ndim` dimensions (a column counts as a vector).

    An .npz may say which of its arrays: ``file.npz:key``. A .csv may begin with one line of column names.

    Raises
    ------
    FileNotFoundError, ValueError
        The sentence names the option and the file.
    """
    path, _, key = str(text).partition(".npz:")
    path, key = (Path(f"{path}.npz"), key) if key else (Path(text), "")
    if not path.is_file():
        raise FileNotFoundError(f"{name} {path}: there is no such file")
    if path.suffix.lower() not in (".npy", ".npz", ".csv"):
        raise ValueError(f"{name} {path}: its name must end in .npy, .npz or .csv")
    try:
        array = _csv(path) if path.suffix.lower() == ".csv" else _numpy(path, key, name)
    except UNREADABLE as error:
        raise ValueError(f"{name} {path}: not readable as an array of numbers ({_first_line(error)})") from None
    return _checked(array, f"{name} {path}", ndim)


def _numpy(path, key, name):
    """What np.save or np.savez wrote, whichever of the two names it has."""
    with open(path, "rb") as file:  # opened here: np.load would leave a damaged archive open
        loaded = np.load(file, allow_pickle=False)
        return loaded if isinstance(loaded, np.ndarray) else _pick(loaded, key, name, path)


def _pick(archive, key, name, path):
    """One array of an archive: the one asked for, or named like the option, or the only one."""
    with archive:
        keys = archive.files
        wanted = key or name.lstrip("-").replace("-", "_")
        if not key and wanted not in keys and len(keys) == 1:
            wanted = keys[0]
        if wanted not in keys:
            raise ValueError(f"it holds {', '.join(keys) or 'nothing'}; say which as {path.name}:KEY")
        return archive[wanted]


def _csv(path):
    with open(path, newline="", encoding="utf-8-sig") as file:
        rows = [row for row in csv.reader(file) if any(cell.strip() for cell in row)]
    if rows and not any(_is_number(cell) for cell in rows[0]):
        rows = rows[1:]  # column names
    if not rows:
        raise ValueError("it has no rows of numbers")
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise ValueError(f"its rows have between {min(widths)} and {max(widths)} cells")
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            if not _is_number(cell):
                raise ValueError(f"row {i + 1}, column {j + 1} is {cell[:30]!r}")
    return np.array([[float(cell) for cell in row] for row in rows])


def _is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _checked(array, what, ndim):
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{what}: it holds {array.dtype}, real numbers are needed")
    array = array.astype(float)
    if ndim == 1 and array.ndim == 2 and 1 in array.shape:
        array = array.ravel()
    if array.ndim != ndim or array.size == 0:
        wanted = "(rows, columns)" if ndim == 2 else "(rows,)"
        raise ValueError(f"{what}: it has shape {array.shape}, {wanted} is needed")
    bad = ~(np.abs(array) <= LARGEST)
    if bad.any():
        where = tuple(int(i) + 1 for i in np.argwhere(bad)[0])
        count = int(bad.sum())
        place = f"row {', column '.join(map(str, where))} (from 1)"
        raise ValueError(f"{what}: {count} entries are NaN or beyond ±{LARGEST:g}, the first at {place}")
    return array


def _first_line(error):
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


class Standardised(NamedTuple):
    """`x_pt` and `y_pt` in the theory's units, the other inputs likewise, ``kept`` (D,) marking the columns that
    remain, and a statement."""

    x_pt: np.ndarray
    y_pt: np.ndarray
    others: tuple
    kept: np.ndarray
    message: str


def standardise(x_pt, y_pt, *others):
    """Centre every column and scale it to variance 1/D, with the means and deviations of `x_pt` for all arrays.

    Pretraining and fine-tuning must share one coordinate system, so the same map is used for all. Columns that do not
    vary in `x_pt` carry no information there and cannot be scaled: they are left out everywhere, and the message
    names them. `y_pt` is centred too: the model has no intercept, and centred columns cannot produce a mean. The
    other targets are not touched, so the fine-tuned model is read against zero, as it was learned.

    Raises
    ------
    ValueError
        When no column varies.
    """
    mean, deviation = x_pt.mean(axis=0), x_pt.std(axis=0)
    kept = deviation > 1e-10 * np.maximum(np.abs(x_pt).max(axis=0), np.finfo(float).tiny)
    if not kept.any():
        raise ValueError(
            f"x_pt: all {x_pt.shape[1]} columns are constant over its {len(x_pt)} rows, nothing can be learned"
        )
    scale = deviation[kept] * np.sqrt(kept.sum())
    x_pt, *others = ((x[:, kept] - mean[kept]) / scale for x in (x_pt, *others))
    gone = np.flatnonzero(~kept)
    message = "columns centred and scaled to variance 1/D by their mean and deviation in x_pt, y_pt centred"
    if len(gone):
        names = ", ".join(map(str, gone[:8])) + (", ..." if len(gone) > 8 else "")
        message += f"; {len(gone)} of {len(kept)} columns are constant there and left out (counted from 0: {names})"
    return Standardised(x_pt, y_pt - y_pt.mean(), tuple(others), kept, message)
