"""Running a sweep: hand out the blocks that are missing, keep what comes back, return the dataset."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from numerics.sweep.axes import Block, block_at
from numerics.sweep.executors import open_executor
from numerics.sweep.job import Job, Result
from numerics.sweep.spec import Sweep
from numerics.sweep.store import FAILED, FINE, STATUS, Store, attributes, describe_axes
from numerics.validate import check_callable, check_count, check_path

__all__ = ["Progress", "bar", "run_sweep", "sweep"]

#: called with (blocks done, blocks in all, settings failed so far)
Progress = Callable[[int, int, int], None]
_POLL = 0.2
#: Without a store the results live in memory: more than this belongs on disk.
_IN_MEMORY = 2 * 10**7


def sweep(
    kind: str,
    axes: Mapping[str, object],
    fixed: Mapping[str, object] | None = None,
    *,
    function: str | None = None,
    outputs: tuple[str, ...] = (),
    chunk: int | None = None,
    store: str | os.PathLike | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: Progress | bool = False,
):
    """Evaluate every combination of the axes.

    Parameters
    ----------
    kind, axes, fixed, function, outputs, chunk
        What to compute: see :meth:`Sweep.of`. Kinds: "replica", "metrics", "simulation", "function".
    store : folder, optional
        Keep results there, block by block; whatever it already holds of this sweep is not computed again.
    workers : int, optional
        Processes on this machine (default: one a core; 1: this process).
    scheduler : str, optional
        Address of a Dask scheduler; then its workers do the work.
    progress : bool or callable
        True: a line on stderr.

    Returns
    -------
    xarray.Dataset
        Over the axes: the outputs, ``status`` (1 computed, 2 failed) and ``message`` (why). With a store it reads from
        disk on access.

    Raises
    ------
    TypeError, ValueError, ImportError
        Naming the key that is wrong, before anything runs.
    """
    spec = Sweep.of(kind, axes, fixed, function=function, outputs=outputs, chunk=chunk)
    return run_sweep(spec, store, workers, scheduler, progress)


def run_sweep(
    spec: Sweep,
    store: str | os.PathLike | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: Progress | bool = False,
):
    """Run a checked sweep; arguments and result as in :func:`sweep`."""
    if store is not None:
        check_path("store", store)
    if not isinstance(progress, bool):
        check_callable("progress", progress)
    if not isinstance(scheduler, (str, type(None))):
        raise TypeError(f"scheduler must be an address such as tcp://host:8786, got {scheduler!r:.60}")
    if workers is not None:
        check_count("workers", workers, 1, 4096)
        if scheduler is not None:
            raise ValueError(f"workers = {workers} and scheduler = {scheduler!r} exclude each other: give one of them")
    report = bar(spec) if progress is True else (progress or _silent)
    execute = open_executor(_enough(spec, workers), scheduler)
    keep = _Memory(spec) if store is None else _Disk(Store(store, spec))
    spec = keep.spec  # an existing store has its own block size
    at_first = keep.done
    report(at_first, spec.count, keep.failed)
    with contextlib.closing(keep):
        jobs = (None if block is None else spec.job(block) for block in keep.missing())
        with contextlib.closing(execute(jobs)) as finished:
            for job, result in finished:
                keep.write(job, result)
                if keep.done < spec.count:
                    report(keep.done, spec.count, keep.failed)
    if at_first < spec.count:  # the last block may have been another run's
        report(keep.done, spec.count, keep.failed)
    return keep.dataset()


def _enough(spec: Sweep, workers: int | None) -> int | None:
    """One process for a sweep of one block: starting others would take longer."""
    return 1 if workers is None and spec.count == 1 else workers


class _Memory:
    """Results in arrays."""

    def __init__(self, spec: Sweep) -> None:
        if spec.size > _IN_MEMORY:
            raise ValueError(f"{spec.size} settings do not belong in memory (at most {_IN_MEMORY}): give a store")
        self.spec = spec
        self.done = self.failed = 0
        self._values = {name: np.full(spec.shape, np.nan) for name in spec.target.outputs}
        self._status = np.zeros(spec.shape, np.int8)
        self._message = np.full(spec.shape, "", object)

    def missing(self) -> Iterator[Block]:
        return self.spec.blocks()

    def write(self, job: Job, result: Result) -> None:
        part = job.block.slices
        for name, value in result.values.items():
            self._values[name][part] = value
        status, message = self._status[part].reshape(-1), self._message[part].reshape(-1)
        status[:] = FINE
        for flat, sentence in result.messages.items():
            status[flat], message[flat] = FAILED, sentence
        self._status[part], self._message[part] = status.reshape(job.block.shape), message.reshape(job.block.shape)
        self.done += 1
        self.failed += len(result.messages)

    def close(self) -> None:
        """Nothing to let go of."""

    def dataset(self):
        import xarray as xr

        dims = [axis.name for axis in self.spec.axes]
        data = {
            name: (dims, self._values[name], {"long_name": m, "units": u})
            for name, (m, u) in self.spec.target.outputs.items()
        }
        data["status"] = (dims, self._status, STATUS)
        data["message"] = (dims, self._message, {"long_name": "why it failed"})
        return xr.Dataset(data, describe_axes(self.spec), attributes(self.spec))


class _Disk:
    """Results in a store that other runs may be filling too."""

    def __init__(self, store: Store) -> None:
        self.store, self.spec = store, store.sweep
        self.done = self.failed = 0
        self._claims: dict[tuple[int, ...], object] = {}
        self._left = []  # places rather than blocks: there may be a million
        for block in store.sweep.blocks():
            if store.holds(block):
                self._count(block)
            else:
                self._left.append(block.index)

    def _count(self, block: Block) -> None:
        self.done += 1
        self.failed += self.store.failures(block)

    def missing(self) -> Iterator[Block | None]:
        """Blocks to compute, each claimed; None while all that is left is in other runs' hands."""
        left = self._left
        while left:
            busy = []
            for index in left:
                block = block_at(self.spec.axes, self.spec.chunks, index)
                claim = self.store.claim(block)
                if claim is None:
                    busy.append(index)
                elif self.store.holds(block):  # another run has finished it meanwhile
                    self.store.release(block, claim)
                    self._count(block)
                else:
                    self._claims[block.index] = claim
                    yield block
            left = busy
            if left:
                yield None
                time.sleep(_POLL)

    def write(self, job: Job, result: Result) -> None:
        self.store.write(job.block, result)
        self.store.release(job.block, self._claims.pop(job.block.index))
        self.done += 1
        self.failed += len(result.messages)

    def close(self) -> None:
        """Let go of claims that an error left behind."""
        for claim in self._claims.values():
            claim.close()

    def dataset(self):
        return self.store.dataset()


def _silent(done: int, total: int, failed: int) -> None:
    """No progress wanted."""


def bar(spec: Sweep, stream=None) -> Progress:
    """A line that is rewritten on a terminal, and at most ten lines elsewhere."""
    stream = stream or sys.stderr
    begun, state = time.monotonic(), {"at": None, "shown": -1}

    def show(done: int, total: int, failed: int) -> None:
        if state["at"] is None:
            state["at"] = done  # found in the store: they say nothing about speed
        seconds = time.monotonic() - begun
        fresh = done - state["at"]
        left = f", {seconds / fresh * (total - done):.0f} s left" if fresh and done < total else ""
        words = f"{done}/{total} blocks of {spec.size} settings, {failed} failed, {seconds:.1f} s{left}"
        tenth = 10 * done // max(1, total)
        if stream.isatty():
            stream.write(f"\r{words:<78}" + ("\n" if done == total else ""))
        elif tenth != state["shown"]:
            stream.write(words + "\n")
            state["shown"] = tenth
        stream.flush()

    return show
