"""A dataset as a tidy table: one row a setting, one column an axis or a variable."""

from __future__ import annotations

import csv
import math
from typing import TextIO

import numpy as np

__all__ = ["write_csv"]

#: Rows read at a time.
_ROWS = 2**16


def write_csv(ds, file: TextIO) -> int:
    """Write the variables of ``ds`` that have all its dimensions to an open text file; the number of rows.

    Coordinates come first, then variables in their order. Numbers are written so that they read back exactly. A stored
    dataset is read in parts. Raises ValueError for a dataset without such variables.
    """
    dims = max((array.dims for array in ds.data_vars.values()), key=len, default=())
    names = [name for name, array in ds.data_vars.items() if set(array.dims) == set(dims)]
    if not names:
        raise ValueError("the dataset holds no variable, so there is no table to write")
    coords = [*dims, *(n for n in ds.coords if n not in dims and set(ds[n].dims) <= set(dims))]
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([*coords, *names])
    rows = 0
    for part in _parts(ds[names], dims):
        shape = tuple(part.sizes[dim] for dim in dims)
        columns = [_column(part[name], dims, shape) for name in (*coords, *names)]
        writer.writerows(zip(*columns, strict=True))
        rows += math.prod(shape)
    return rows


def _parts(ds, dims: tuple[str, ...]):
    if not dims:
        yield ds
        return
    step = max(1, _ROWS // max(1, math.prod(ds.sizes[dim] for dim in dims[1:])))
    for first in range(0, ds.sizes[dims[0]], step):
        yield ds.isel({dims[0]: slice(first, first + step)})


def _column(array, dims: tuple[str, ...], shape: tuple[int, ...]) -> list:
    if array.ndim == 0:
        return [array.values.item()] * math.prod(shape)
    ordered = array.transpose(*(dim for dim in dims if dim in array.dims))
    sizes = [size if dim in array.dims else 1 for dim, size in zip(dims, shape, strict=True)]
    return np.broadcast_to(np.asarray(ordered.values).reshape(sizes), shape).reshape(-1).tolist()
