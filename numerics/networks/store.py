"""Finished runs on disk, one line each: a loop over (cell, seed) that can be killed and continued."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from numerics.networks.experiment import Experiment, run

__all__ = ["key", "read_records", "run_missing", "write_record"]


def key(experiment: Experiment, seed: int) -> str:
    """One string for one run: every setting and the seed."""
    return json.dumps([asdict(experiment), seed], sort_keys=True)


def read_records(store: str | Path) -> dict[str, dict]:
    """Finished runs by key; a line that was cut off by a kill is left out."""
    records, path = {}, Path(store) / "records.jsonl"
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            row = json.loads(line)
            records[row["key"]] = row["record"]
        except (ValueError, KeyError, TypeError):
            continue
    return records


def write_record(store: str | Path, name: str, cell: str, record: dict) -> None:
    """Add one finished run, on disk before this returns."""
    path = Path(store) / "records.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a+b") as file:
        if file.tell():  # a cut-off last line must not swallow this one
            file.seek(-1, os.SEEK_END)
            file.write(b"" if file.read(1) == b"\n" else b"\n")
        file.write(json.dumps({"key": name, "cell": cell, "record": record}).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def run_missing(
    cells: Sequence[tuple[str, Experiment]],
    seeds: Sequence[int],
    store: str | Path,
    *,
    budget: float | None = None,
    progress: Callable[[int, int, int, str], None] | None = None,
    steps: Callable[[str, int, int, float], None] | None = None,
) -> tuple[dict[str, dict], int]:
    """Run what ``store`` lacks, seed by seed over all cells, so that an interrupted table is balanced.

    Parameters
    ----------
    cells : (name, experiment). seeds : each cell is run for every one. store : folder, created if needed.
    budget : seconds after which no further run is begun.
    progress : called with (done, missing, seed, name) after each run.
    steps : passed on to :func:`numerics.networks.experiment.run`.

    Returns
    -------
    (records by key, number of runs left)
    """
    store = Path(store)
    store.mkdir(parents=True, exist_ok=True)
    (store / "records.jsonl").touch()  # from now on the folder can be continued
    records, begun = read_records(store), time.monotonic()
    missing = [(n, e, seed) for seed in seeds for n, e in cells if key(e, seed) not in records]
    for i, (name, experiment, seed) in enumerate(missing):
        if budget is not None and time.monotonic() - begun > budget:
            return records, len(missing) - i
        record = run(experiment, seed, cache=store / "checkpoints", progress=steps)
        records[key(experiment, seed)] = record
        write_record(store, key(experiment, seed), name, record)
        if progress:
            progress(i + 1, len(missing), seed, name)
    return records, 0
