"""Results on disk: one Zarr array a variable, and a ledger that says which blocks are whole.

    STORE/<kind>-<key>/settings.json      what was asked (the key is its hash, with that of the code)
    STORE/<kind>-<key>/data.zarr          open it with xarray.open_zarr: coordinates, attributes, CRC32C in every chunk
    STORE/<kind>-<key>/ledger/0.3.1.json  written last: SHA-256 of each file of block (0, 3, 1), failures, seconds

Every file is written beside its place and renamed into it. A block counts when its ledger entry is sound and its files
hash to what that says; anything else (killed in between, cut off, flipped, deleted) is computed again. A block is
claimed with an advisory lock that dies with its process, so two runs on one store share the work.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from numerics.sweep.axes import Block
from numerics.sweep.job import Result
from numerics.sweep.spec import Sweep
from numerics.validate import check_flag, check_path

__all__ = ["Store", "describe_axes", "open_store", "write_atomically"]

#: Values of the variable ``status``.
MISSING, FINE, FAILED = 0, 1, 2
STATUS = {"flag_values": [MISSING, FINE, FAILED], "flag_meanings": "missing computed failed",
          "long_name": "whether the setting was computed"}
_MEANING = {
    "c": "absolute initial scale", "lam": "relative initial scale in [-1, 1]", "gamma": "readout re-initialisation",
    "alpha": "fine-tuning samples per dimension", "alpha_pt": "pretraining samples per dimension",
    "rho_pt": "share of dimensions active in pretraining", "rho_ft": "share of dimensions active in fine-tuning",
    "omega": "share of the fine-tuning dimensions that pretraining used",
    "rho_shared": "probability to be active in fine-tuning, given active in pretraining",
    "rho_new": "probability to be active in fine-tuning, given inactive in pretraining",
    "beta_pt": "pretrained weight", "beta_ft": "fine-tuned weight", "noise": "variance of the label noise",
}


def write_atomically(path: Path, data: bytes) -> None:
    """The file is the old one or the whole new one, whenever the process ends."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def describe_axes(sweep: Sweep) -> dict[str, tuple]:
    """Coordinates of the dataset: (dims, values, attrs) of every axis and of every coupled parameter."""
    coords = {}
    for axis in sweep.axes:
        for name, values in {axis.name: axis.labels, **axis.columns}.items():
            values = values.astype(str) if values.dtype.kind == "O" else values
            coords[name] = (axis.name, values, {"long_name": _MEANING.get(name, name)})
    return coords


def attributes(sweep: Sweep) -> dict[str, object]:
    """Attributes of the dataset: fixed parameters, kind, version, key."""
    given = {name: value for name, value in sweep.fixed.items() if value is not None}
    fixed = {k: v if isinstance(v, (int, float, str)) else json.dumps(v) for k, v in given.items()}
    extra = {"function": sweep.function} if sweep.function else {}
    return {"kind": sweep.kind, **extra, "version": sweep.version, "key": sweep.key, **fixed}


class Store:
    """The folder of one sweep. Raises ImportError without zarr, ValueError for a folder that holds something else."""

    def __init__(self, root: str | os.PathLike, sweep: Sweep) -> None:
        try:
            import zarr  # noqa: F401
        except ImportError:
            raise ImportError("a store needs zarr: pip install 'ptft-sym[distributed]'") from None
        self.path = Path(root) / f"{sweep.kind}-{sweep.key}"
        self.ledger, self.data = self.path / "ledger", self.path / "data.zarr"
        self.ledger.mkdir(parents=True, exist_ok=True)
        with _locked(self.path / ".create.lock"):
            self.sweep, self._arrays = self._found(sweep) or self._create(sweep)

    def _found(self, sweep: Sweep):
        """The sweep with the block sides of the store, and its arrays; None unless everything is in order."""
        try:
            kept = json.loads((self.path / "settings.json").read_bytes())
            if kept["settings"] != json.loads(json.dumps(sweep.settings())):
                return None
            sweep = replace(sweep, chunks=tuple(kept["chunks"]))
            arrays = self._arrays_of(sweep)
            coords = zarr_group(self.data, "r")
            good = all(array.shape == sweep.shape and array.chunks == sweep.chunks for array in arrays.values())
            good &= all(coords[name].shape == values.shape for name, (_, values, _) in describe_axes(sweep).items())
            return (sweep, arrays) if good else None
        except FileNotFoundError:
            return None
        except OSError:  # unreadable just now is not damaged
            raise
        except Exception:  # damaged metadata fail in as many ways as there are bytes: all of them mean "make it anew"
            return None

    def _create(self, sweep: Sweep):
        """Settings, and the metadata of all arrays."""
        from zarr.codecs import Crc32cCodec, ZstdCodec

        group = zarr_group(self.data, "w")
        group.attrs.update(attributes(sweep))
        compressors = [ZstdCodec(level=1), Crc32cCodec()]
        dims = [axis.name for axis in sweep.axes]
        variables = {name: ("float64", np.nan, {"long_name": m, "units": u}) for name, (m, u) in
                     sweep.target.outputs.items()}
        variables |= {"status": ("int8", MISSING, STATUS), "message": (str, "", {"long_name": "why it failed"})}
        for name, (dtype, fill, attrs) in variables.items():
            group.create_array(
                name, shape=sweep.shape, chunks=sweep.chunks, dtype=dtype, fill_value=fill, compressors=compressors,
                dimension_names=dims, attributes=attrs,
            )
        for name, (dim, values, attrs) in describe_axes(sweep).items():
            dtype = str if values.dtype.kind == "U" else values.dtype
            array = group.create_array(
                name, shape=values.shape, chunks=(max(1, values.size),), dtype=dtype, dimension_names=[dim],
                attributes=attrs,
            )
            array[:] = values
        kept = {"settings": sweep.settings(), "chunks": list(sweep.chunks)}
        write_atomically(self.path / "settings.json", json.dumps(kept, indent=1).encode())
        return sweep, self._arrays_of(sweep)

    def _arrays_of(self, sweep: Sweep) -> dict:
        group = zarr_group(self.data, "r+")
        return {name: group[name] for name in (*sweep.target.outputs, "message", "status")}

    def claim(self, block: Block):
        """The lock of a block (close it to let go), or None when another run holds it."""
        return _try_lock(self._lock(block))

    def release(self, block: Block, claim) -> None:
        """Let go of a block that is whole; its lock file goes too (whoever still finds it sees the ledger entry)."""
        self._lock(block).unlink(missing_ok=True)
        claim.close()

    def write(self, block: Block, result: Result) -> None:
        """All variables of a block, then its ledger entry."""
        status = np.full(block.size, FINE, np.int8)
        message = np.full(block.size, "", object)
        for flat, sentence in result.messages.items():
            status[flat], message[flat] = FAILED, sentence
        values = {**result.values, "message": message.reshape(block.shape), "status": status.reshape(block.shape)}
        for name, array in self._arrays.items():
            array[block.slices] = values[name]
        entry = {
            "files": {name: _hash(self._file(name, block)) for name in self._arrays},
            "failed": len(result.messages), "seconds": round(result.seconds, 6),
        }
        entry["self"] = _seal(entry)
        write_atomically(self._entry(block), json.dumps(entry).encode())

    def holds(self, block: Block) -> bool:
        """Whether the block is there, whole and unchanged."""
        try:
            entry = json.loads(self._entry(block).read_bytes())
            seal = entry.pop("self")
            files = entry["files"]
            return seal == _seal(entry) and set(files) == set(self._arrays) and all(
                _hash(self._file(name, block)) == digest for name, digest in files.items()
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return False

    def failures(self, block: Block) -> int:
        """Settings of a whole block that failed."""
        return int(json.loads(self._entry(block).read_bytes())["failed"])

    def dataset(self, chunked: bool = False):
        """The results as an xarray Dataset that reads from disk when values are asked for."""
        return open_store(self.path, chunked)

    def _lock(self, block: Block) -> Path:
        return self.ledger / f".{_name(block)}.lock"

    def _entry(self, block: Block) -> Path:
        return self.ledger / f"{_name(block)}.json"

    def _file(self, name: str, block: Block) -> Path:
        return self.data / name / "c" / Path(*map(str, block.index))


def open_store(path: str | os.PathLike, chunked: bool = False):
    """Dataset of one sweep's folder. ``chunked``: dask arrays, one chunk a block; else read on access.

    Raises
    ------
    FileNotFoundError, ImportError
    """
    import xarray as xr

    check_flag("chunked", chunked)
    path = Path(check_path("path", path))
    if not (path / "data.zarr" / "zarr.json").exists():
        raise FileNotFoundError(f"path = {path}: there is no sweep in this folder (no data.zarr)")
    ds = xr.open_zarr(path / "data.zarr", chunks={} if chunked else None, consolidated=False)
    order = json.loads((path / "settings.json").read_bytes())["settings"]["outputs"]
    ds = ds[[*order, "status", "message"]]
    ds.attrs["store"] = str(path)
    return ds


def zarr_group(path: Path, mode: str):
    """The Zarr group at ``path``."""
    import zarr

    return zarr.open_group(path, mode=mode, zarr_format=3)


def _name(block: Block) -> str:
    return ".".join(map(str, block.index)) or "all"


def _hash(path: Path) -> str | None:
    """SHA-256 of a file; None where there is none (Zarr writes no chunk that holds nothing but its fill value)."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return None


def _seal(entry: dict) -> str:
    return hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()[:16]


def _try_lock(path: Path, wait: bool = False):
    """An open file with an advisory lock; None when it is taken. Without locks on this file system, just a file.

    Two runs that cannot see each other's locks do the same work twice; renames and hashes keep the results whole.
    """
    file = open(path, "ab")  # noqa: SIM115 (lives as long as the claim)
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        file.close()
        return None
    except (ImportError, OSError):
        pass
    return file


@contextlib.contextmanager
def _locked(path: Path):
    with _try_lock(path, wait=True):
        yield
