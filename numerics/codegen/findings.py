"""Everything that can be measured of one kernel on this machine: what `ptft verify` prints."""

from __future__ import annotations

from numerics.codegen.condition import Conditioned, condition_errors, several
from numerics.codegen.verify import (
    Measurement,
    Opinion,
    compare,
    implementations,
    measurable,
    second_opinion,
    truth,
)

__all__ = ["findings"]


def findings(name: str, count: int = 3000, seed: int = 0) -> list[Measurement | Opinion | Conditioned]:
    """One entry for each backend of the kernel `name`; each has .kernel, .backend, .points, .contract and .holds.

    Elementwise kernels are measured in ulp at `count` seeded points and the adversarial ones, and the two oracles are
    compared; kernels of several results in roundings of their condition at a thirtieth of the points, because mpmath
    is their only oracle.  Empty for a closed form of a limit, which has no contract.
    """
    if name in several():
        return list(condition_errors(name, implementations(name), max(10, count // 30), seed).values())
    if name not in measurable():
        return []
    true = truth(name, count, seed)
    return [*compare(implementations(name), true).values(), second_opinion(true)]
