"""The grid of a sweep: named axes, and the rectangular blocks it is computed in.

An axis usually carries one parameter under its own name; a coupled axis carries several that change together (a list
of candidate initialisations, say). Values are numbers in strictly monotone order, or distinct words.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

__all__ = ["Axis", "Block", "block_at", "blocks", "chunk_shape", "grid", "spaced"]

#: More settings than this are a typing mistake rather than a plan.
MOST_SETTINGS = 10**9
SPACINGS = ("linear", "log", "one-plus-log")


@dataclass(frozen=True)
class Axis:
    """``name`` of the dimension, ``labels`` of shape (size,), and ``columns``: parameter -> values of shape (size,)."""

    name: str
    labels: np.ndarray
    columns: dict[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.labels)


class Block(NamedTuple):
    """A rectangle of the grid: its place in chunks, its slices, and the parts of the axes inside it."""

    index: tuple[int, ...]
    slices: tuple[slice, ...]
    axes: tuple[Axis, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Settings along each axis."""
        return tuple(len(axis.labels) for axis in self.axes)

    @property
    def size(self) -> int:
        """Number of settings."""
        return math.prod(self.shape)

    def columns(self, fixed: Mapping[str, object], names: Iterator[str] | tuple[str, ...]) -> dict[str, object]:
        """The parameters ``names``, each a fixed value or an array that broadcasts against ``shape``."""
        return {name: self.column(name, fixed) for name in names if self.has(name) or name in fixed}

    def has(self, name: str) -> bool:
        """Whether the parameter changes along an axis."""
        return any(name in axis.columns for axis in self.axes)

    def column(self, name: str, fixed: Mapping[str, object]) -> object:
        """One parameter: shaped to broadcast against ``shape`` when it changes, else its fixed value."""
        for place, axis in enumerate(self.axes):
            if name in axis.columns:
                shape = [1] * len(self.axes)
                shape[place] = len(axis.labels)
                return axis.columns[name].reshape(shape)
        return fixed[name]

    def setting(self, flat: int, fixed: Mapping[str, object]) -> dict[str, object]:
        """All parameters of one setting (C order inside the block), as plain Python values."""
        where = np.unravel_index(flat, self.shape)
        values = dict(fixed)
        for axis, i in zip(self.axes, where, strict=True):
            values |= {name: _plain(column[i]) for name, column in axis.columns.items()}
        return values

    def single(self, flat: int) -> Block:
        """The block of one setting."""
        where = [int(i) for i in np.unravel_index(flat, self.shape)]
        axes = tuple(_cut(axis, slice(i, i + 1)) for axis, i in zip(self.axes, where, strict=True))
        slices = tuple(slice(s.start + i, s.start + i + 1) for s, i in zip(self.slices, where, strict=True))
        return Block(self.index, slices, axes)


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value


def _cut(axis: Axis, part: slice) -> Axis:
    return Axis(axis.name, axis.labels[part], {name: column[part] for name, column in axis.columns.items()})


def grid(axes: Mapping[str, object]) -> tuple[Axis, ...]:
    """Checked axes from ``{name: values}``, where values are numbers, words, or ``{parameter: values}`` (coupled).

    Raises
    ------
    TypeError, ValueError
        Naming the axis: no values, NaN or infinity, values that do not rise or fall strictly, repeated words,
        mixed types, or a grid of more than 1e9 settings.
    """
    if not isinstance(axes, Mapping):
        raise TypeError(f"axes must map names to values, got {axes!r:.60}")
    if not axes:
        raise ValueError("axes = {} is not allowed: a sweep must have at least one axis")
    made = tuple(_axis(name, values) for name, values in axes.items())
    count = math.prod(len(axis) for axis in made)
    if count > MOST_SETTINGS:
        sizes = " x ".join(f"{axis.name} {len(axis)}" for axis in made)
        raise ValueError(f"axes: {sizes} = {count} settings, more than {MOST_SETTINGS}: take fewer values")
    seen: dict[str, str] = {}
    for axis in made:
        for name in axis.columns:
            if name in seen:
                raise ValueError(f"axes.{axis.name}: {name} is already set by axes.{seen[name]}")
            seen[name] = axis.name
    return made


def _axis(name: str, values: object) -> Axis:
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"axes: {name!r} is not a name; use letters, digits and underscores")
    if isinstance(values, Mapping):
        return _coupled(name, values)
    column = _values(f"axes.{name}", values)
    _check_order(f"axes.{name}", column)
    return Axis(name, column, {name: column})


def _coupled(name: str, values: Mapping) -> Axis:
    labels = np.array(values.get(name, range(len(next(iter(values.values()), [])))))
    columns = {key: _values(f"axes.{name}.{key}", column) for key, column in values.items() if key != name}
    if not columns or len({len(labels), *map(len, columns.values())}) != 1:
        raise ValueError(f"axes.{name}: its columns must be there and equally long")
    _check_order(f"axes.{name}", labels)
    return Axis(name, labels, columns)


def _values(key: str, values: object) -> np.ndarray:
    """A 1-d column of floats, integers or words."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise TypeError(f"{key} must be a list of values, got {values!r:.60}")
    items = values.tolist() if isinstance(values, np.ndarray) else list(getattr(values, "values", values))
    if not items:
        raise ValueError(f"{key} is empty: an axis needs at least one value")
    kinds = {_kind(item) for item in items}
    if kinds <= {"int", "float"}:
        column = np.array(items, dtype=float if "float" in kinds else int)
        bad = ~np.isfinite(column)
        if bad.any():
            raise ValueError(f"{key}[{int(np.argmax(bad))}] = {column[bad][0]} is not allowed: it must be finite")
        return column
    if kinds == {"str"}:
        return np.array(items, dtype=object)
    raise TypeError(f"{key} must hold numbers only or words only, got {values!r:.60}")


def _kind(item: object) -> str:
    if isinstance(item, (bool, np.bool_)):
        return "bool"
    for kind, types in (("int", (int, np.integer)), ("float", (float, np.floating)), ("str", str)):
        if isinstance(item, types):
            return kind
    return type(item).__name__


def _check_order(key: str, column: np.ndarray) -> None:
    if column.dtype.kind in "OU":
        if len(set(column.tolist())) != len(column):
            raise ValueError(f"{key} names a value twice: {', '.join(map(str, column))}")
        return
    step = np.diff(column)
    if not (np.all(step > 0) or np.all(step < 0)):
        wrong = int(np.argmax(np.sign(step) != np.sign(step[0]))) if step[0] != 0 else 0
        raise ValueError(
            f"{key} is not monotone: {column[wrong]:g} is followed by {column[wrong + 1]:g}; "
            "values must rise strictly or fall strictly"
        )


def spaced(key: str, start: float, stop: float, count: int, spacing: str = "linear") -> np.ndarray:
    """``count`` values from ``start`` to ``stop``: "linear", "log", or "one-plus-log" (equal steps in log(1 + x)).

    The last is the natural one for lam, whose effect is in ``1 + lam``. Raises ValueError naming ``key``.
    """
    if spacing not in SPACINGS:
        raise ValueError(f"{key}.spacing = {spacing!r} is not allowed: it must be one of {', '.join(SPACINGS)}")
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= 10**6:
        raise ValueError(f"{key}.count = {count!r} is not allowed: it must be an integer in [1, 1000000]")
    for name, value in (("start", start), ("stop", stop)):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise ValueError(f"{key}.{name} = {value!r} is not allowed: it must be a finite number")
    shift = {"linear": None, "log": 0.0, "one-plus-log": 1.0}[spacing]
    if shift is None:
        return np.linspace(start, stop, count)
    if min(start, stop) + shift <= 0.0:
        raise ValueError(f"{key}: spacing {spacing!r} needs start and stop above {-shift:g}, got {start} and {stop}")
    values = np.geomspace(start + shift, stop + shift, count) - shift
    values[0] = start
    if count > 1:
        values[-1] = stop
    return values


def chunk_shape(shape: tuple[int, ...], settings: int) -> tuple[int, ...]:
    """Sides of the blocks: whole trailing axes while at most ``settings`` settings fit into one block."""
    sides = [1] * len(shape)
    room = max(1, settings)
    for place in reversed(range(len(shape))):
        sides[place] = min(shape[place], max(1, room))
        room //= sides[place]
    return tuple(sides)


def blocks(axes: tuple[Axis, ...], sides: tuple[int, ...]) -> Iterator[Block]:
    """All blocks of the grid in C order."""
    counts = [math.ceil(len(axis) / side) for axis, side in zip(axes, sides, strict=True)]
    return (block_at(axes, sides, index) for index in itertools.product(*map(range, counts)))


def block_at(axes: tuple[Axis, ...], sides: tuple[int, ...], index: tuple[int, ...]) -> Block:
    """The block at ``index``, counted in blocks along each axis."""
    slices = tuple(
        slice(i * side, min((i + 1) * side, len(axis))) for i, side, axis in zip(index, sides, axes, strict=True)
    )
    return Block(index, slices, tuple(_cut(axis, s) for axis, s in zip(axes, slices, strict=True)))
