"""Checkpoints that survive being killed at any moment, and that are read without running anything stored in them."""

from __future__ import annotations

import os
import tempfile
import zlib
from pathlib import Path

import numpy as np
import torch

__all__ = ["fingerprint", "read_checkpoint", "write_checkpoint"]

FORMAT = 1


def write_checkpoint(path: str | Path, content: dict) -> None:
    """Write whole or not at all: a temporary file in the same folder, flushed to disk, then moved into place.

    ``content`` may hold tensors, numbers, strings, lists and dictionaries of them (what ``weights_only`` can read).
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.stem}-", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            torch.save({"format": FORMAT, **content}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the rename itself
    finally:
        os.close(folder)


def read_checkpoint(path: str | Path) -> dict:
    """The content of a checkpoint, on the CPU, with ``weights_only``.

    Raises
    ------
    ValueError
        For a file that is not a checkpoint of this package, or of another format version.
    """
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise
    except Exception as error:  # torch raises many kinds for a file that is none
        first = (str(error).strip().splitlines() or [""])[0]
        raise ValueError(f"{path}: not readable as a checkpoint ({type(error).__name__}: {first[:120]})") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"{path}: not a checkpoint of this package, format {FORMAT}")
    return content


def fingerprint(*arrays: object) -> str:
    """Shapes and a CRC-32 of the bytes: enough to notice that training would resume on other data."""
    parts = []
    for array in arrays:
        array = np.ascontiguousarray(array.cpu().numpy() if isinstance(array, torch.Tensor) else array)
        parts.append(f"{'x'.join(map(str, array.shape))}:{zlib.crc32(array.tobytes()):08x}")
    return " ".join(parts)
