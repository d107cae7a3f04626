"""Writing results: never half a file, never over somebody's earlier results without being told to."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path):
    """A temporary path in the same folder, moved onto `path` when the block ends well and removed when it does not."""
    path = Path(path)
    handle, name = tempfile.mkstemp(prefix=f".{path.stem}-", suffix=path.suffix, dir=path.parent)
    os.close(handle)
    try:
        yield Path(name)
        os.chmod(name, 0o666 & ~_umask())  # mkstemp makes files that only their owner can read
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_text(path, text):
    """Write `text` as UTF-8, whole or not at all."""
    with replacing(path) as partial:
        partial.write_text(text, encoding="utf-8")


def output_file(name, endings=None, force=False):
    """The path of one result file, refused now rather than after the work. Without `endings` any name will do.

    Raises
    ------
    ValueError, FileExistsError, FileNotFoundError, IsADirectoryError, PermissionError
        For an ending not among `endings`, a file that is there (unless `force`), a folder that is not there or cannot
        be written to, or a path that is itself a folder.
    """
    path = Path(name)
    if endings is not None and path.suffix.lower() not in endings:
        raise ValueError(f"--out {path}: its name must end in {', '.join(endings)}")
    if path.is_dir():
        raise IsADirectoryError(f"--out {path}: there is a folder of that name; give the name of a file")
    if path.exists() and not force:
        raise FileExistsError(f"--out {path}: the file exists; give another name, or pass --force to replace it")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"--out {path}: there is no folder {path.parent}")
    _refuse_unwritable(path.parent)
    return path


def _refuse_unwritable(folder):
    """By trying: permissions say nothing about read-only disks, and nothing at all to root."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:
        raise PermissionError(
            f"the folder {folder.absolute()} is not writable: say with --out where results may go"
        ) from None


def refuse_folder(out, force=False, default=None):
    """Raise now what `result_folder` would raise after an hour's work. With neither `out` nor `default`: nothing.

    Raises
    ------
    ValueError, FileExistsError, NotADirectoryError, PermissionError
        With a sentence that says what to do.
    """
    if out is None:
        if default is not None:
            _refuse_unwritable(Path())
        return
    if not os.fspath(out):
        raise ValueError("--out '': it must be the name of a folder")
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"--out {folder}: there is a file of that name; give a folder")
    if folder.is_dir() and any(folder.iterdir()) and not force:
        raise FileExistsError(f"--out {folder}: the folder is not empty; give another one, or --force to replace files")
    there = next(place for place in (folder.absolute(), *folder.absolute().parents) if place.exists())
    if not there.is_dir():
        raise NotADirectoryError(f"--out {folder}: {there} is a file, no folder")
    _refuse_unwritable(there)


def result_folder(out, default, force=False):
    """The folder for one run's files, created; call it when there is something to put there.

    Without `out`: a new folder `default`, `default-2`, `default-3`, ... in the current one. With `out`: that folder,
    which must be new or empty unless `force`, in which case files of the same names are replaced and others stay.
    Raises as `refuse_folder`.
    """
    refuse_folder(out, force, default)
    if out is None:
        return _new_folder(default)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _new_folder(stem):
    number = 1
    while True:
        folder = Path(stem if number == 1 else f"{stem}-{number}")
        try:
            folder.mkdir()
            return folder
        except FileExistsError:
            number += 1


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask
