"""The accuracy record: what was measured when the kernels were last measured, kept beside the generator.

The headers of generated files quote it, so that regenerating a file needs no measurement and gives the same text on
every
machine.  `python -m numerics.codegen --measure` renews it; `ptft verify` measures again on this machine and compares
with the contract.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from numerics.codegen.formulas import Formula

__all__ = ["RECORD", "ROUNDINGS", "load", "save", "statement"]

#: The contract of kernels with several results, in roundings of the condition (`codegen.condition` measures it).
ROUNDINGS = 4.0
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
    if backend == "mpmath":
        return "to the digits asked for: the printed formula at a working precision doubled until two answers agree"
    if row.outputs:
        condition = f"{ROUNDINGS:g} roundings of the condition of the arguments (docs/kernels.md)"
        return f"error <= {condition}, against mpmath at 50 digits"
    if not row.measured:
        return "error within the condition of the arguments (see docs/kernels.md); tested against mpmath at 50 digits"
    dtypes = "float64" if backend == "c" else "float64 and float32"
    contract = f"error <= {row.ulp:g} ulp in {dtypes} wherever the true result is normal"
    measured = load().get(backend, {}).get(row.name)
    if not measured:
        return contract
    return f"{contract}; largest measured {measured['ulp']} ulp over {measured['points']} seeded and adversarial points"
