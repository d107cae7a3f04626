"""Stores: nothing lost to kill -9 but running blocks, nothing computed twice, nothing damaged believed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import ptft_sym as pt
from numerics.sweep import Sweep, run_sweep

AXES = {"x": list(range(1, 6)), "y": [0.5, 1.5, 2.5]}
CODE = """
import sys
sys.path[:0] = {path!r}
from numerics.sweep import sweep
sweep("function", {axes!r}, {fixed!r}, function="sweep_functions:product", outputs=("value", "total"), chunk=1,
      store={store!r}, workers={workers})
"""


def sweep(store, calls, axes=AXES, **options):
    return pt.sweep(
        "function", axes, {"log": calls.path}, function="sweep_functions:product", outputs=("value", "total"),
        store=store, **{"chunk": 1, "workers": 1, **options},
    )


def start(store, calls, workers, axes=AXES, **fixed):
    code = CODE.format(path=[p for p in sys.path if p], axes=axes, fixed={"log": calls.path, **fixed}, store=str(store),
                       workers=workers)
    return subprocess.Popen([sys.executable, "-c", code])


def expected(ds, axes=AXES):
    x, y = np.array(axes["x"])[:, None], np.array(axes["y"])
    np.testing.assert_array_equal(ds["value"].values, x * y + 1.0 / 3.0)
    np.testing.assert_array_equal(ds["total"].values, x + y)
    assert (ds["status"].values == 1).all()
    assert (ds["message"].values == "").all()


def test_a_rerun_computes_nothing_and_more_values_are_another_sweep(tmp_path, calls):
    first = sweep(tmp_path, calls)
    expected(first)
    assert sorted(calls.lines()) == sorted(f"{x} {y}" for x in AXES["x"] for y in AXES["y"])
    calls.fresh()
    again = sweep(tmp_path, calls, chunk=4)  # the size of a block is the store's, once it exists
    xr.testing.assert_identical(again, first)
    assert calls.lines() == []
    assert not list(tmp_path.glob("*/ledger/.*"))  # neither locks nor half-written entries are left
    other = sweep(tmp_path, calls, axes={"x": [1, 2], "y": [0.5]})
    assert other.attrs["key"] != first.attrs["key"]
    assert len(calls.lines()) == 2


def test_the_store_describes_itself(tmp_path, calls):
    path = sweep(tmp_path, calls).attrs["store"]
    raw = xr.open_zarr(Path(path) / "data.zarr", chunks=None, consolidated=False)
    expected(raw)
    assert raw["x"].values.tolist() == AXES["x"]
    assert raw.attrs["function"] == "sweep_functions:product"
    assert json.loads((Path(path) / "settings.json").read_text())["settings"]["axes"]["y"]["labels"] == AXES["y"]
    assert pt.open_sweep(path, chunked=True)["value"].chunks is not None
    with pytest.raises(FileNotFoundError, match="no sweep"):
        pt.open_sweep(tmp_path)


def test_progress_counts_what_was_there_and_ends_with_all(tmp_path, calls):
    reports = []
    sweep(tmp_path, calls, progress=lambda *numbers: reports.append(numbers))
    assert reports == [(done, 15, 0) for done in range(16)]
    again = []
    sweep(tmp_path, calls, chunk=5, progress=lambda *numbers: again.append(numbers))
    assert again == [(15, 15, 0)]


def _damage(path, how):
    files = sorted((path / "data.zarr" / "value" / "c").rglob("*"))
    chunk = next(f for f in files if f.is_file())
    entry = sorted((path / "ledger").glob("*.json"))[-1]
    data = bytearray(chunk.read_bytes())
    if how == "flipped":
        data[len(data) // 2] ^= 1
        chunk.write_bytes(data)
    elif how == "cut":
        chunk.write_bytes(data[: len(data) // 2])
    elif how == "empty":
        chunk.write_bytes(b"")
    elif how == "deleted":
        chunk.unlink()
    elif how == "swapped":  # a sound chunk, but another one's: CRC32C alone would not notice
        chunk.write_bytes(next(f for f in reversed(files) if f.is_file()).read_bytes())
    elif how == "ledger cut":
        entry.write_text(entry.read_text()[:20])
    elif how == "ledger edited":
        entry.write_text(entry.read_text().replace('"failed": 0', '"failed": 1'))
    elif how == "ledger nonsense":
        entry.write_text("[1, 2]")


@pytest.mark.parametrize(
    "how", ["flipped", "cut", "empty", "deleted", "swapped", "ledger cut", "ledger edited", "ledger nonsense"]
)
def test_one_damaged_block_is_noticed_and_computed_again(tmp_path, calls, how):
    _damage(Path(sweep(tmp_path, calls).attrs["store"]), how)
    calls.fresh()
    expected(sweep(tmp_path, calls))
    assert len(calls.lines()) == 1


@pytest.mark.parametrize("file", ["settings.json", "data.zarr/zarr.json", "data.zarr/value/zarr.json", "data.zarr/x"])
def test_damaged_metadata_are_made_anew(tmp_path, calls, file):
    import shutil

    target = Path(sweep(tmp_path, calls).attrs["store"]) / file
    shutil.rmtree(target) if target.is_dir() else target.write_text('{"zarr')
    calls.fresh()
    expected(sweep(tmp_path, calls))
    assert len(calls.lines()) == 15


@pytest.mark.parametrize("workers", [1, 2])
def test_kill_9_loses_at_most_the_running_blocks(tmp_path, calls, workers):
    axes = {"x": list(range(1, 21)), "y": [0.5, 1.5]}
    fixed = {"delay": 0.03}
    process = start(tmp_path, calls, workers, axes, **fixed)
    until = time.monotonic() + 60
    while len(list(tmp_path.glob("*/ledger/*.json"))) < 8 and time.monotonic() < until and process.poll() is None:
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    time.sleep(0.3)  # workers of the killed run end on their own
    whole, begun = len(list(tmp_path.glob("*/ledger/*.json"))), len(calls.lines())
    assert 8 <= whole < 40
    # what was begun and is not in the ledger: running, or finished and not yet written
    assert begun - whole <= 2 * workers
    calls.fresh()
    ds = pt.sweep(
        "function", axes, {"log": calls.path, **fixed}, function="sweep_functions:product", outputs=("value", "total"),
        chunk=1, store=tmp_path, workers=1,
    )
    expected(ds, axes)
    assert len(calls.lines()) == 40 - whole


def test_two_runs_on_one_store_share_the_work(tmp_path, calls):
    axes = {"x": list(range(1, 16)), "y": [0.5, 1.5, 2.5]}
    fixed = {"delay": 0.02}
    both = [start(tmp_path, calls, 1, axes, **fixed) for _ in range(2)]
    assert [process.wait(120) for process in both] == [0, 0]
    assert sorted(calls.lines()) == sorted(f"{x} {y}" for x in axes["x"] for y in axes["y"])  # each setting once
    calls.fresh()
    ds = pt.sweep(
        "function", axes, {"log": calls.path, **fixed}, function="sweep_functions:product", outputs=("value", "total"),
        chunk=1, store=tmp_path, workers=1,
    )
    expected(ds, axes)
    assert calls.lines() == []


def test_failures_are_kept_with_their_sentences_and_not_tried_again(tmp_path):
    def go(store):
        return pt.sweep("function", {"x": [1, 2, 3, 4, 5]}, {"limit": 2}, function="sweep_functions:moody",
                        outputs=("value",), store=store, workers=1, chunk=2)

    for ds in (go(None), go(tmp_path), go(tmp_path)):
        assert ds["status"].values.tolist() == [1, 2, 2, 2, 2]
        np.testing.assert_array_equal(ds["value"].values, [2.0, np.nan, np.nan, np.nan, np.nan])
        messages = [str(m) for m in ds["message"].values]
        assert messages[:2] == ["", "x = 2 is the limit"]
        assert "has not" in messages[2] or "is not a dict with the output 'value'" in messages[2]
        assert "is 'a word', which is not a number" in messages[3]
        assert messages[4] == "KeyError: 'x'"


def test_another_version_of_the_code_is_another_key(tmp_path, calls, monkeypatch):
    fixed = {"rho_pt": 0.1, "rho_ft": 0.04, "omega": 1.0, "c": 1e-3, "alpha": 0.1}
    spec = Sweep.of("replica", {"lam": [0.0, 0.5]}, fixed)
    import numerics

    monkeypatch.setattr(numerics, "__version__", "0.0.0")
    other = Sweep.of("replica", {"lam": [0.0, 0.5]}, dict(spec.fixed))
    assert spec.key != other.key
    assert spec.settings()["axes"] == other.settings()["axes"]
    ds = run_sweep(spec, tmp_path, 1)
    # and the table of THEORY section 9, through the whole machinery
    np.testing.assert_allclose(ds["mse"].values[0], 0.05592198891395467, rtol=1e-9)
