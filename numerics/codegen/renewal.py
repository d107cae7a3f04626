"""Measuring all kernels again and writing the accuracy record (`python -m numerics.codegen --measure`)."""

from __future__ import annotations

import math

import numpy as np

from numerics.codegen.accuracy import load, save
from numerics.codegen.verify import compare, implementations, measurable, truth

__all__ = ["renew"]


def renew(count: int = 100_000, only: tuple[str, ...] = ()) -> dict:
    """Measure all backends of all kernels (or of `only`) and write the record; figures are rounded up to a tenth."""
    record = {backend: dict(kernels) for backend, kernels in load().items()}
    for name in only or measurable():
        functions = implementations(name)
        for backend, found in compare(functions, truth(name, count)).items():
            entry = {"ulp": _up(found.ulp), "points": found.points}
            record.setdefault(backend, {})[name] = entry
            print(found, flush=True)
        single = {b: f for b, f in functions.items() if b != "c"}
        for backend, found in compare(single, truth(name, count // 5, dtype=np.float32)).items():
            record[backend][name] |= {"ulp32": _up(found.ulp), "points32": found.points}
            print(found, flush=True)
    save(record)
    return record


def _up(ulp: float) -> float:
    return math.ceil(ulp * 10) / 10
