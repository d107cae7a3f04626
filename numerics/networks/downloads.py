"""Fetching CIFAR-100 and SVHN when a person asks for it, through torchvision (extra `vision`); reading stays ours.

torchvision downloads, compares checksums and unpacks; what it leaves on disk is then read by
:mod:`numerics.networks.formats` like any copy of one's own. Nothing else in this package touches the network.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

__all__ = ["DOWNLOADABLE", "fetch", "place_of"]

DOWNLOADABLE = ("cifar100", "svhn")
SVHN = "train_32x32.mat, test_32x32.mat or extra_32x32.mat"


def place_of(name: str, path: str | Path) -> Path:
    """What to read when ``path`` is a folder that holds the data set as torchvision lays it out; else ``path``."""
    path = Path(path)
    inside = path / {"cifar100": "cifar-100-python", "svhn": "train_32x32.mat"}.get(name, "")
    return inside if path.is_dir() and inside.exists() else path


def fetch(name: str, path: str | Path) -> Path:
    """Download a data set unless it is there; returns what to read.

    Parameters
    ----------
    name : "cifar100" or "svhn".
    path : a folder, created if needed; or the place of the data itself (``.../cifar-100-python``,
        ``.../train_32x32.mat``, ``.../test_32x32.mat``, ``.../extra_32x32.mat``).

    Raises
    ------
    ValueError
        For other names.
    ImportError
        Without torchvision, unless the data are there.
    RuntimeError
        When the download fails, or torchvision does not load.
    """
    if name not in DOWNLOADABLE:
        raise ValueError(f"name = {name!r} is not allowed with download: it must be one of {', '.join(DOWNLOADABLE)}")
    path = Path(path)
    root, place, parts = _layout(name, path)
    try:
        import torchvision.datasets as sets
    except ImportError:
        if place.exists():
            return place
        raise ImportError(f"{name}: a download needs torchvision: pip install 'ptft_sym[vision]'") from None
    except Exception as error:  # its compiled part was made for another torch
        if place.exists():
            return place
        raise RuntimeError(
            f"{name}: torchvision does not load beside this torch ({error}): install versions that belong together"
        ) from None
    make: Callable = {"cifar100": sets.CIFAR100, "svhn": sets.SVHN}[name]
    try:
        root.mkdir(parents=True, exist_ok=True)
        for part in parts:
            make(str(root), **part, download=True)
    except Exception as error:  # whatever the network, the disk or a checksum had to say
        first = (str(error).strip().splitlines() or [""])[0]
        raise RuntimeError(f"{name}: the download into {root} failed ({type(error).__name__}: {first[:160]})") from None
    if not place.exists():
        raise RuntimeError(f"{name}: the download into {root} left no {place.name}")
    return place


def _layout(name: str, path: Path) -> tuple[Path, Path, list[dict]]:
    """(torchvision's root, what will be read, the arguments of each part to be downloaded)."""
    if name == "cifar100":
        root = path.parent if path.name == "cifar-100-python" else path
        return root, root / "cifar-100-python", [{"train": True}]  # one archive holds train, test and meta
    if path.suffix == ".mat":
        split = path.name.removesuffix("_32x32.mat")
        if split not in ("train", "test", "extra"):
            raise ValueError(f"path = {str(path)!r} is not allowed: a download is called {SVHN}")
        return path.parent, path, [{"split": split}]
    return path, path / "train_32x32.mat", [{"split": "train"}]
