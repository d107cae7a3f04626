"""The accuracy record: what was measured when the kernels were last measured, kept beside the generator.

The headers of generated files quote it, so that regenerating a file needs no measurement and gives the same text on
every
machine.  `python -m numerics.codegen --measure` renews it; `ptft verify` measures again on this machine and compares
with the contract.
"""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path

from numerics.codegen.formulas import Formula

__all__ = ["RECORD", "load", "save", "statement"]

RECORD = Path(__file__).with_name("accuracy.json")


@cache
def load() -> dict:
    """{backend: {kernel: {"ulp": float, "points": int, ...}}, ...}; empty before the first measurement."""
    return json.loads(RECORD.read_text()) if RECORD.exists() else {}


def save(record: dict) -> None:
    """Write the record, sorted, and forget the cached one."""
    RECORD.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")
    load.cache_clear()


def statement(row: Formula, backend: str) -> str:
    """One sentence: the contract and, when there is one, the measurement behind it."""
    if row.outputs or not row.measured:
        return "error within the condition of the arguments (see docs/kernels.md); tested against mpmath at 50 digits"
    contract = f"error <= {row.ulp:g} ulp in float64 and float32 wherever the true result is normal"
    measured = load().get(backend, {}).get(row.name)
    if not measured:
        return contract
    return f"{contract}; largest measured {measured['ulp']} ulp over {measured['points']} seeded and adversarial points"


def renew(count: int = 100_000, only: tuple[str, ...] = ()) -> dict:
    """Measure all backends of all kernels (or of `only`) and write the record; figures are rounded up to a tenth."""
    import numpy as np

    from numerics.codegen.verify import compare, implementations, measurable, truth

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
