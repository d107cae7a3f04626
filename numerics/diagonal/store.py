"""Results on disk, one line per finished cell, so that a killed simulation resumes where it stood.

A store is a folder with ``settings.json`` (what was asked, apart from which seeds and alphas) and ``cells.jsonl``.
Lines are appended and flushed to disk as cells finish; a line cut off by a kill is ignored on the next reading.
Nothing is written before the first cell is finished: a refused simulation leaves no folder behind.
"""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

__all__ = ["CellStore"]


class CellStore:
    """Append-only store of cell records, keyed by (seed, alpha).

    Raises
    ------
    ValueError
        If the folder holds the cells of a simulation with other settings.
    OSError
        If there is no writing to that place.
    """

    def __init__(self, folder: str | os.PathLike, settings: dict) -> None:
        self.path, self._settings = Path(folder), settings
        self._cells = self.path / "cells.jsonl"
        _check_place(self.path)
        self._check_settings()
        self._mend()

    def _check_settings(self) -> None:
        file, settings = self.path / "settings.json", self._settings
        if not file.exists():
            return
        found = json.loads(file.read_text())
        differing = sorted(k for k in found.keys() | settings.keys() if found.get(k) != settings.get(k))
        if differing:
            words = ", ".join(f"{k} = {found.get(k)} there, {settings.get(k)} now" for k in differing)
            raise ValueError(f"store = {str(file.parent)!r} holds another simulation ({words}): use a new folder")

    def _begin(self) -> None:
        """The folder and its settings, before the first record."""
        self.path.mkdir(parents=True, exist_ok=True)
        file = self.path / "settings.json"
        if not file.exists():
            partial = file.with_suffix(f".{os.getpid()}.tmp")
            partial.write_text(json.dumps(self._settings, indent=1, sort_keys=True))
            os.replace(partial, file)

    def _mend(self) -> None:
        """End an unfinished last line, so that the next record starts on its own."""
        if self._cells.exists() and not self._cells.read_bytes().endswith(b"\n") and self._cells.stat().st_size:
            with self._cells.open("ab") as file:
                file.write(b"\n")

    def read(self) -> dict[tuple[int, float], dict]:
        """All complete records."""
        records = {}
        for line in self._cells.read_text().splitlines() if self._cells.exists() else ():
            try:
                record = json.loads(line)
                records[record["seed"], record["alpha"]] = record
            except (json.JSONDecodeError, KeyError, TypeError):
                continue  # cut off by a kill: the cell is computed again
        return records

    def append(self, record: dict) -> None:
        """Write one record and wait until it is on disk."""
        if not self._cells.exists():
            self._begin()
        with self._cells.open("a") as file:
            file.write(json.dumps(record) + "\n")
            file.flush()
            os.fsync(file.fileno())


def _check_place(folder: Path) -> None:
    """Refuse, before hours of work, a place where no folder can be."""
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    if not place.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(place))
    if not os.access(place, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(place))
