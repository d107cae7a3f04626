"""Results on disk, one line per finished cell, so that a killed simulation resumes where it stood.

A store is a folder with ``settings.json`` (what was asked, apart from which seeds and alphas) and ``cells.jsonl``.
Lines are appended and flushed to disk as cells finish; a line cut off by a kill is ignored on the next reading.
"""

from __future__ import annotations

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
    """

    def __init__(self, folder: str | os.PathLike, settings: dict) -> None:
        self.path = Path(folder)
        self.path.mkdir(parents=True, exist_ok=True)
        self._check(self.path / "settings.json", settings)
        self._cells = self.path / "cells.jsonl"
        self._mend()

    @staticmethod
    def _check(file: Path, settings: dict) -> None:
        if not file.exists():
            partial = file.with_suffix(f".{os.getpid()}.tmp")
            partial.write_text(json.dumps(settings, indent=1, sort_keys=True))
            os.replace(partial, file)
            return
        found = json.loads(file.read_text())
        differing = sorted(k for k in found.keys() | settings.keys() if found.get(k) != settings.get(k))
        if differing:
            words = ", ".join(f"{k} = {found.get(k)} there, {settings.get(k)} now" for k in differing)
            raise ValueError(f"store = {str(file.parent)!r} holds another simulation ({words}): use a new folder")

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
        with self._cells.open("a") as file:
            file.write(json.dumps(record) + "\n")
            file.flush()
            os.fsync(file.fileno())
