"""The theory, derived: each module has one `derive()` that returns a Derivation whose steps a checker can refuse.

    >>> import derivations
    >>> derivations.names()[0]
    'gradient_flow'

Importing this package does no work: SymPy itself is loaded by the first `derive`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from derivations.ledger.step import Derivation

_READING_ORDER = (
    "gradient_flow",
    "implicit_bias",
    "fine_tuning",
    "metrics",
    "regimes",
    "scalar_channel",
    "replica",
    "observables",
    "learned_solution",
    "sensitivity",
    "pretraining_channel",
    "limits",
    "soft_threshold",
    "bregman",
    "depth",
)


def names() -> tuple[str, ...]:
    """The names of all derivations, in reading order."""
    return _READING_ORDER


def derive(name: str) -> Derivation:
    """Build the derivation called `name` (see `names()`); nothing is checked before `.check()` or `.verdict`.

    Raises ValueError for a name that does not exist.
    """
    if name not in _READING_ORDER:
        raise ValueError(f"name = {name!r} is no derivation; choose one of {', '.join(_READING_ORDER)}")
    return import_module(f"derivations.{name}").derive()
