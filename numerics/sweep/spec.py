"""What a sweep is: its kind, axes and fixed parameters, checked; the key that names its results."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from numerics.sweep.axes import Axis, Block, blocks, chunk_shape, grid
from numerics.sweep.job import Job
from numerics.sweep.parameters import check_all
from numerics.sweep.targets import Target, find, version
from numerics.validate import check_count

__all__ = ["Sweep"]


@dataclass(frozen=True)
class Sweep:
    """A checked sweep; made by :meth:`of`.

    ``fixed`` holds every parameter that no axis changes, defaults included; ``chunks`` the sides of a block.
    """

    kind: str
    axes: tuple[Axis, ...]
    fixed: dict
    function: str | None
    outputs: tuple[str, ...]
    chunks: tuple[int, ...]
    target: Target
    version: str

    @classmethod
    def of(
        cls,
        kind: str,
        axes: Mapping[str, object],
        fixed: Mapping[str, object] | None = None,
        *,
        function: str | None = None,
        outputs: tuple[str, ...] = (),
        chunk: int | None = None,
    ) -> Sweep:
        """Check everything a sweep needs.

        Parameters
        ----------
        kind : {"replica", "metrics", "simulation", "function"}
        axes : mapping of parameter to its values (see :func:`numerics.sweep.axes.grid`).
        fixed : mapping of parameter to its one value.
        function, outputs : for kind "function": ``"module:function"`` and the names of the numbers it returns.
        chunk : settings in a block, which is the unit of work, of storage and of loss; default by kind.

        Raises
        ------
        TypeError, ValueError, ImportError
            Naming the key that is wrong; nothing has been computed then.
        """
        if not isinstance(fixed, (Mapping, type(None))):
            raise TypeError(f"fixed must map names to values, got {fixed!r:.60} of type {type(fixed).__name__}")
        if isinstance(outputs, str) or not isinstance(outputs, (list, tuple)):
            raise TypeError(f"outputs must be a sequence of names, got {outputs!r:.60}")
        target = find(kind, function, tuple(outputs))
        made = grid(axes)
        fixed = dict(fixed or {})
        if target.parameters is not None:
            fixed = check_all(target.parameters, made, fixed)
        else:
            _check_free(made, fixed)
        target.check(made, fixed)
        settings = _usual(target, made) if chunk is None else check_count("chunk", chunk, 1, 10**8)
        return cls(kind, made, fixed, function, tuple(outputs), _sides(made, target, settings), target, version(target))

    @property
    def shape(self) -> tuple[int, ...]:
        """Values on each axis."""
        return tuple(len(axis) for axis in self.axes)

    @property
    def size(self) -> int:
        """Number of settings."""
        return math.prod(self.shape)

    @property
    def count(self) -> int:
        """Number of blocks."""
        return math.prod(math.ceil(n / side) for n, side in zip(self.shape, self.chunks, strict=True))

    def blocks(self) -> Iterator[Block]:
        """Every block, in C order."""
        return blocks(self.axes, self.chunks)

    def job(self, block: Block) -> Job:
        """A block as a job."""
        return Job(self.kind, self.function, self.outputs, self.fixed, block, self.version)

    def settings(self) -> dict:
        """Everything that decides the numbers, as JSON values (the size of a block does not)."""
        axes = {
            axis.name: {
                "labels": axis.labels.tolist(),
                "columns": {name: column.tolist() for name, column in axis.columns.items()},
            }
            for axis in self.axes
        }
        return {
            "kind": self.kind, "function": self.function, "outputs": list(self.target.outputs),
            "axes": axes, "order": [axis.name for axis in self.axes], "fixed": self.fixed,
            "version": self.version,
        }

    @property
    def key(self) -> str:
        """Sixteen hex digits of the settings: equal keys are equal sweeps of equal code."""
        return hashlib.sha256(json.dumps(self.settings(), sort_keys=True).encode()).hexdigest()[:16]


def _usual(target: Target, axes: tuple[Axis, ...]) -> int:
    """The usual size of a block; less for a small sweep, so that several processes have something to do."""
    size = math.prod(len(axis) for axis in axes)
    return min(target.settings, max(512, math.ceil(size / 16)))


def _sides(axes: tuple[Axis, ...], target: Target, settings: int) -> tuple[int, ...]:
    """Block sides that run first along the axes whose values are cheap together."""
    last = [i for i, axis in enumerate(axes) if target.shared & axis.columns.keys()]
    order = [*last, *(i for i in range(len(axes)) if i not in last)]
    sides = chunk_shape(tuple(len(axes[i]) for i in order), settings)
    return tuple(sides[order.index(i)] for i in range(len(axes)))


def _check_free(axes: tuple[Axis, ...], fixed: dict) -> None:
    """Fixed parameters of a function: plain values (they are the key of the results), not set twice."""
    for name, value in fixed.items():
        if any(name in axis.columns for axis in axes):
            raise ValueError(f"fixed.{name}: an axis already changes it")
        if isinstance(value, np.generic):
            fixed[name] = value = value.item()
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"fixed.{name} = {value} is not allowed: it must be finite")
        try:
            json.dumps(value)
        except TypeError:
            raise TypeError(f"fixed.{name} = {value!r:.60} must be a number, a word or a list of these") from None
