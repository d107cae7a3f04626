"""One block as it travels: a job to a worker, and the result that comes back."""

from __future__ import annotations

import functools
import time
from typing import NamedTuple

import numpy as np

from numerics.sweep.axes import Block
from numerics.sweep.targets import describe, find, version

__all__ = ["Job", "Result", "failed", "join", "perform", "perform_elsewhere"]


class Job(NamedTuple):
    """A block with all that a worker needs to compute it; ``version`` is what the coordinator's own code hashes to."""

    kind: str
    function: str | None
    outputs: tuple[str, ...]
    fixed: dict
    block: Block
    version: str


class Result(NamedTuple):
    """Arrays of the block's shape, sentences of failed settings by flat index, and the seconds it took."""

    values: dict[str, np.ndarray]
    messages: dict[int, str]
    seconds: float


@functools.lru_cache(maxsize=16)
def _target(kind: str, function: str | None, outputs: tuple[str, ...]):
    """The target and the version of the code as this process first saw it, which is what it has loaded."""
    target = find(kind, function, outputs)
    return target, version(target)


def perform_elsewhere(job: Job) -> Result:
    """As :func:`perform`, in a process that may have loaded other code than the one that made the job.

    Raises
    ------
    RuntimeError
        When it has: the numbers would be filed under the wrong version.
    """
    _, mine = _target(job.kind, job.function, job.outputs)
    if mine != job.version:
        raise RuntimeError(
            f"this worker's code has version {mine}, the sweep was started with {job.version}: "
            "install the same version on every machine and restart the workers"
        )
    return perform(job)


def perform(job: Job) -> Result:
    """Compute a job. Never raises for what a setting does."""
    target, _ = _target(job.kind, job.function, job.outputs)
    begun = time.perf_counter()
    try:
        values, messages = target.evaluate(job.block, job.fixed)
    except Exception as error:
        return failed(job, describe(error))
    lost = np.zeros(job.block.size, bool)
    lost[list(messages)] = True
    arrays = {}
    for name in target.outputs:
        array = np.array(values[name], dtype=float, order="C")
        array[lost.reshape(array.shape)] = np.nan
        arrays[name] = array
    return Result(arrays, messages, time.perf_counter() - begun)


def failed(job: Job, sentence: str) -> Result:
    """The result of a block of which nothing could be computed."""
    target, _ = _target(job.kind, job.function, job.outputs)
    values = {name: np.full(job.block.shape, np.nan) for name in target.outputs}
    return Result(values, dict.fromkeys(range(job.block.size), sentence), 0.0)


def join(job: Job, parts: list[Result]) -> Result:
    """The result of a block whose settings were computed one by one, in C order."""
    values = {
        name: np.array([part.values[name].item() for part in parts]).reshape(job.block.shape)
        for name in parts[0].values
    }
    messages = {i: part.messages[0] for i, part in enumerate(parts) if part.messages}
    return Result(values, messages, sum(part.seconds for part in parts))
